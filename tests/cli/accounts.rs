//! Users, groups and keys: the example and the manifest for them, on copies of the files with accounts.

use ccm_testkit::{Called, Scratch, needs_own_mounts, repository};

use crate::ccm;

/// Copies the files with accounts to the directory of the test, and mounts the copies in their place. A checkout in `/home`
/// stays there.
const MOUNTS: &str = "
if ! test -e etc; then
    cp -a /etc etc
    mkdir home
    chmod 755 . home
fi
mkdir -p etc/sudoers.d
mount --bind etc /etc
case $0 in
    /home/*)
        kept=${0#/home/}
        kept=${kept%%/*}
        mkdir -p \"home/$kept\"
        mount --rbind \"/home/$kept\" \"home/$kept\" ;;
esac
mount --rbind home /home
mount -t tmpfs tmpfs /var/mail
";

fn apply(scratch: &Scratch, options: &[&str]) -> Called {
    ccm(scratch, &["apply", "-v", "manifest.yaml"]).args(options).after_mounting(MOUNTS).run()
}

/// Applies a manifest in noop, twice, and after a change by hand.
fn check(manifest: &str, spoil: impl FnOnce(&Scratch), mended: &str) -> Option<Scratch> {
    if !needs_own_mounts() {
        return None;
    }
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", manifest);
    let noop = apply(&scratch, &["--noop", "--detailed-exitcodes"]);
    assert_eq!(noop.code, 2, "{}", noop.shown());
    let first = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!(first.code, 2, "{}", first.shown());
    assert!(noop.stdout.contains("would create"), "{}", noop.shown());
    let second = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!(second.code, 0, "{}", second.shown());
    spoil(&scratch);
    let third = apply(&scratch, &["--detailed-exitcodes"]);
    assert!(third.code == 2 && third.stdout.contains(mended), "{}", third.shown());
    let last = apply(&scratch, &["--detailed-exitcodes"]);
    assert_eq!(last.code, 0, "{}", last.shown());
    Some(scratch)
}

#[test]
fn the_example_makes_a_user_with_a_key() {
    let text = std::fs::read_to_string(repository("examples/users.yaml")).expect("the example");
    let spoil = |scratch: &Scratch| {
        let path = "home/ccm-example/.ssh/authorized_keys";
        let keys = scratch.read(path).expect("the keys");
        assert!(keys.starts_with("no-port-forwarding ssh-ed25519 "), "{keys}");
        let other = keys.replace("no-port-forwarding ", "").replace("vm3kG", "vm3kH");
        scratch.write(path, keys + &other);
    };
    let scratch = check(&text, spoil, "keys");
    let keys = scratch.and_then(|scratch| scratch.read("home/ccm-example/.ssh/authorized_keys"));
    assert!(keys.is_none_or(|keys| keys.lines().count() == 1));
}

#[test]
fn the_administrators_are_set_up_and_mended() {
    let text = std::fs::read_to_string(repository("manifests/admins.yaml")).expect("the manifest");
    // The packages of this machine are left alone.
    let text = text.replace("    - package:\n        - sudo:\n", "").replace("package#sudo, ", "");
    let text = text.replace("visudo -cf %s", "grep -q NOPASSWD %s");
    let spoil = |scratch: &Scratch| {
        let passwd = scratch.read("etc/passwd").expect("the users");
        let group = scratch.read("etc/group").expect("the groups");
        assert!(passwd.contains(":Ada Lovelace:/home/ada:/bin/bash\n"), "{passwd}");
        assert!(
            group.lines().any(|line| line.starts_with("admins:") && line.ends_with(":ada,grace")),
            "{group}"
        );
        scratch.write(
            "etc/passwd",
            passwd.replace("/home/ada:/bin/bash", "/home/ada:/bin/sh")
                + "bob:x:7777:100::/home/bob:/bin/sh\n",
        );
        scratch.write("etc/group", group.replace(":ada,grace", ":grace"));
    };
    let scratch = check(&text, spoil, "groups");
    let passwd = scratch.and_then(|scratch| scratch.read("etc/passwd"));
    assert!(passwd.is_none_or(|passwd| !passwd.contains("bob:") && passwd.contains("/home/ada:/bin/bash")));
}

#[test]
fn noop_on_a_new_host_shows_what_belongs_to_users_who_are_still_to_be_made() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    let srv = scratch.at("srv");
    let manifest = format!(
        r#"
ccm:
  resources:
    - group: [newapp]
    - user: [newapp: {{gid: newapp}}]
    - file:
        - {srv}: {{ensure: directory, owner: newapp, group: newapp, mode: "0750"}}
        - {srv}/conf: {{content: "a=1\nb=2\n", owner: newapp, group: newapp, mode: "0640"}}
        - {srv}/tree: {{ensure: directory, source: tree, owner: newapp}}
    - cron: [job: {{user: newapp, command: /bin/true, minute: 5, provider: cron_d}}]
"#
    );
    scratch.write("manifest.yaml", manifest);
    scratch.write("tree/f", "hi\n");
    let noop = apply(&scratch, &["--noop", "--diff"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    for part in [
        "would create: gid that of the new group",
        "would create: 0750 newapp:newapp",
        "would create: 0640 newapp:newapp, 8 bytes",
        "+b=2",
        "would create: 0644 newapp, 3 bytes",
        "user newapp, command /bin/true",
    ] {
        assert!(noop.stdout.contains(part), "{part}: {}", noop.shown());
    }
    assert!(!noop.stdout.contains("not known before"), "{}", noop.shown());
    let done = apply(&scratch, &["--verify-idempotent"]);
    assert_eq!(done.code, 0, "{}", done.shown());
    // A user whom nothing makes is an error as ever.
    scratch.write(
        "manifest.yaml",
        format!("ccm: {{resources: [{{file: [{srv}/x: {{content: x, owner: gone}}]}}]}}\n"),
    );
    let failed = apply(&scratch, &["--noop"]);
    assert!(failed.stdout.contains("user `gone` does not exist"), "{}", failed.shown());
}
