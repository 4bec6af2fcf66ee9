//! Groups.

use crate::accounts::machine::{append, assert_changes, field, line, on_a_copy};
use crate::build::resource;
use crate::local_run::{applied, outcome, run_here};

#[test]
fn group_is_made_changed_and_removed() {
    on_a_copy(|| {
        assert_changes(&[resource("group", "web", &[("gid", "500")])]);
        assert_eq!(field("/etc/group", "web", 2), "500");
        assert_changes(&[resource("group", "web", &[("gid", "501")])]);
        assert_eq!(field("/etc/group", "web", 2), "501");
        assert_changes(&[resource("group", "daemons", &[("system", "true")])]);
        assert!(field("/etc/group", "daemons", 2).parse::<u32>().is_ok_and(|gid| gid < 1000));
        assert_changes(&[resource("group", "web", &[("ensure", "absent")])]);
        assert_eq!((line("/etc/group", "web"), line("/etc/gshadow", "web")), (None, None));
    });
}

#[test]
fn members_are_added_and_removed() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100::/home/ada:/bin/sh");
        assert_changes(&[resource("group", "docker", &[("members", "[ada|root]")])]);
        assert_eq!(field("/etc/group", "docker", 3), "ada,root");
        assert_changes(&[resource("group", "docker", &[("members", "[nobody]")])]);
        assert_eq!(field("/etc/group", "docker", 3), "ada,root,nobody");
        let exclusive = [("members", "[ada]"), ("members_exclusive", "true")];
        assert_changes(&[resource("group", "docker", &exclusive)]);
        assert_eq!(field("/etc/group", "docker", 3), "ada");
        // A member that does not exist any more can be removed.
        append("/etc/group", "old:x:700:ghost,ada");
        append("/etc/gshadow", "old:!::ghost,ada");
        assert_changes(&[resource("group", "old", &exclusive)]);
        assert_changes(&[resource("group", "new", &[("members", "[ada]"), ("gid", "800")])]);
        assert_eq!(field("/etc/group", "new", 3), "ada");
    });
}

#[test]
fn group_of_two_sources_is_removed_here() {
    on_a_copy(|| {
        append("/etc/group", "ldapgroup:x:8100:");
        append("/etc/gshadow", "ldapgroup:!::");
        let absent = || vec![resource("group", "ldapgroup", &[("ensure", "absent")])];
        let told = "the name service `extra` still has the group `ldapgroup`: ccm removes only what is in the files of this machine";
        for (noop, expected) in
            [(true, "Would have removed"), (false, "changed"), (false, "unchanged"), (true, "unchanged")]
        {
            let done = run_here(absent(), noop).remove(0);
            assert_eq!((&*outcome(&done), &*done.warnings), (expected, &[told.to_owned()][..]));
        }
        assert_eq!(line("/etc/group", "ldapgroup"), None);
    });
}

#[test]
fn group_of_a_name_service_is_not_made_twice() {
    on_a_copy(|| {
        assert_eq!(applied(vec![resource("group", "ldapgroup", &[("gid", "7000")])]), ["unchanged"]);
        let of_service = "group `ldapgroup` comes from a name service, not from /etc/group";
        assert_eq!(applied(vec![resource("group", "ldapgroup", &[("gid", "7001")])]), [of_service]);
        assert_eq!(line("/etc/group", "ldapgroup"), None);
    });
}
