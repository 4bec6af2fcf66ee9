//! Jobs of cron.

use std::fs::{
    Permissions, create_dir, metadata, read_dir, read_link, read_to_string, remove_dir, set_permissions,
    write,
};
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::Path;

use ccm_redaction::Secrets;

use crate::build::{errors_of, resource};
use crate::encodings::assert_right_or_refused;
use crate::local_run::{applied, assert_changes, in_noop, run_here, run_on_machine};
use crate::run::Manner;
use crate::scheduled::machine::{on_a_copy, shell};

const FILE: &str = "/etc/cron.d/backup";
const COMMENT: &str = "# Managed by ccm; changes are overwritten.\n";

/// Comment of the job `backup` with the checksum of `0 2 * * * a`.
const SIGNED: &str = "# ccm cron: backup 5a56be01564f58f3\n";

#[test]
fn job_in_a_file_is_made_changed_mended_and_removed() {
    on_a_copy(|| {
        let job = |properties: &[(&str, &str)]| {
            let properties =
                [&[("command", "date +%F >> /var/log/a"), ("minute", "30")], properties].concat();
            resource("cron", "backup", &properties)
        };
        assert_changes(&job(&[("hour", "[2|14]")]));
        let text = read_to_string(FILE).expect("a file");
        assert!(text.ends_with("\n30 2,14 * * * root date +\\%F >> /var/log/a\n"), "{text}");
        assert_eq!(metadata(FILE).expect("a file").permissions().mode() & 0o777, 0o644);
        let weekly = job(&[("weekday", "Mon"), ("user", "ada")]);
        assert_changes(&weekly);
        for spoil in [
            (|| write(FILE, format!("{COMMENT}30 * * * mon ada x\n")).expect("a file")) as fn(),
            || write(FILE, format!("{COMMENT}# nothing\n")).expect("a file"),
            || write(FILE, "").expect("a file"),
            || set_permissions(FILE, Permissions::from_mode(0o666)).expect("a file"),
            || std::fs::remove_file(FILE).expect("a file"),
        ] {
            spoil();
            assert_changes(&weekly);
        }
        assert_eq!(applied(vec![job(&[("user", "nobody-here")])]), ["user `nobody-here` does not exist"]);
        assert_changes(&resource("cron", "backup", &[("ensure", "absent")]));
        assert_eq!(read_dir("/etc/cron.d").expect("a directory").count(), 0);
        remove_dir("/etc/cron.d").expect("a directory");
        assert_eq!(applied(vec![job(&[])]), ["the directory \"/etc/cron.d\" does not exist"]);
    });
}

#[test]
fn without_a_daemon_a_job_is_made_with_a_warning() {
    on_a_copy(|| {
        let job = resource("cron", "backup", &[("command", "a"), ("minute", "30")]);
        let warnings = |noop| run_here(vec![job.clone()], noop).remove(0).warnings;
        assert_eq!(warnings(true), [""; 0]);
        shell(
            "rm /usr/local/sbin/cron
            for name in cron crond fcron bcron-start; do
                for directory in /usr/sbin /usr/bin /usr/local/bin; do
                    [ ! -e $directory/$name ] || mount --bind /dev/null $directory/$name
                done
            done",
        );
        let told = "no cron daemon is installed, so nothing runs the job; Debian has it in the package `cron`, the Red Hat \
                    family in `cronie`";
        assert_eq!((warnings(true), warnings(false)), (vec![told.to_owned()], vec![told.to_owned()]));
        assert!(Path::new(FILE).exists());
    });
}

#[test]
fn directory_of_jobs_may_be_behind_a_link_of_root_alone() {
    on_a_copy(|| {
        remove_dir("/etc/cron.d").expect("a directory");
        create_dir("/run/jobs").expect("a directory");
        symlink("/run/jobs", "/etc/cron.d").expect("a link");
        let job = resource("cron", "backup", &[("command", "a"), ("minute", "30")]);
        lchown("/etc/cron.d", Some(4242), None).expect("an owner");
        let told = "the link \"/etc/cron.d\", on the way to \"/etc/cron.d/backup\", belongs to uid 4242 and is not followed";
        assert_eq!(applied(vec![job.clone()]), [told]);
        lchown("/etc/cron.d", Some(0), None).expect("an owner");
        assert_changes(&job);
        assert!(Path::new("/run/jobs/backup").exists());
    });
}

#[test]
fn job_in_a_crontab_leaves_other_lines_alone() {
    on_a_copy(|| {
        let job = |properties: &[(&str, &str)]| {
            let properties = [&[("provider", "crontab"), ("user", "ada")], properties].concat();
            resource("cron", "backup", &properties)
        };
        write("/run/crontab-ada", "MAILTO=ada\n1 1 * * * other\n").expect("a file");
        let nightly = job(&[("command", "a"), ("minute", "0"), ("hour", "2")]);
        assert_changes(&nightly);
        let text = read_to_string("/run/crontab-ada").expect("a file");
        assert_eq!(text, format!("MAILTO=ada\n1 1 * * * other\n{SIGNED}0 2 * * * a\n"));
        assert_changes(&job(&[("command", "b"), ("special", "reboot")]));
        let text = read_to_string("/run/crontab-ada").expect("a file");
        assert!(text.ends_with("\n@reboot b\n"), "{text}");
        assert_changes(&nightly);
        let told = applied(vec![job(&[("command", "refused"), ("minute", "0")])]);
        assert_eq!(told, ["crontab failed with exit code 1: errors in crontab file"]);
        assert_changes(&job(&[("ensure", "absent")]));
        let text = read_to_string("/run/crontab-ada").expect("a file");
        assert_eq!(text, "MAILTO=ada\n1 1 * * * other\n");
        assert_changes(&resource("cron", "a", &[("provider", "crontab"), ("command", "a"), ("minute", "1")]));
        assert!(Path::new("/run/crontab-root").exists());
    });
}

#[test]
fn bytes_of_other_jobs_stay() {
    on_a_copy(|| {
        let job = |properties: &[(&str, &str)]| {
            let properties = [&[("provider", "crontab"), ("user", "ada")], properties].concat();
            resource("cron", "backup", &properties)
        };
        let crontab = || std::fs::read("/run/crontab-ada").expect("a file");
        write("/run/crontab-ada", b"# caf\xe9\r\n1 1 * * * \xe9\0\n# ccm cron: backup\n0 2 * * * a")
            .expect("a file");
        assert_changes(&job(&[("command", "a"), ("minute", "0"), ("hour", "2")]));
        let signed = [b"# caf\xe9\r\n1 1 * * * \xe9\0\n", SIGNED.as_bytes(), b"0 2 * * * a\n"].concat();
        assert_eq!(crontab(), signed);
        assert_changes(&job(&[("ensure", "absent")]));
        assert_eq!(crontab(), b"# caf\xe9\r\n1 1 * * * \xe9\0\n");
        write("/run/crontab-ada", b"\xff\xfea\0").expect("a file");
        let told = applied(vec![job(&[("command", "a"), ("minute", "0")])]);
        assert_eq!(told, ["the crontab of `ada` is UTF-16 text, whose lines can't be edited"]);
        // A mark in front keeps no job.
        write("/run/crontab-ada", [b"\xff\xfe\n", SIGNED.as_bytes(), b"0 2 * * * a\n"].concat())
            .expect("a file");
        assert_changes(&job(&[("ensure", "absent")]));
        assert_eq!(crontab(), b"\xff\xfe\n");
    });
}

#[test]
fn secrets_of_other_jobs_stay() {
    on_a_copy(|| {
        write("/run/crontab-ada", "1 1 * * * curl -u s3cret-word\n").expect("a file");
        let properties =
            [("provider", "crontab"), ("user", "ada"), ("command", "a"), ("minute", "0"), ("hour", "2")];
        let secrets = Secrets::new();
        secrets.add(["s3cret-word"]);
        run_on_machine(
            vec![resource("cron", "backup", &properties)],
            &Manner { secrets, ..Manner::default() },
        );
        let text = read_to_string("/run/crontab-ada").expect("a file");
        assert_eq!(text, format!("1 1 * * * curl -u s3cret-word\n{SIGNED}0 2 * * * a\n"));
    });
}

#[test]
fn links_of_root_to_a_job_are_followed() {
    on_a_copy(|| {
        write("/etc/backup-job", "").expect("a file");
        symlink("../backup-job", FILE).expect("a link");
        let job = || resource("cron", "backup", &[("command", "a"), ("minute", "0"), ("hour", "2")]);
        assert_changes(&job());
        assert!(read_to_string("/etc/backup-job").expect("a file").ends_with("\n0 2 * * * root a\n"));
        assert!(read_link(FILE).is_ok());
        lchown(FILE, Some(65534), Some(65534)).expect("an owner");
        let told = format!("\"{FILE}\" is a link owned by uid 65534 and is not followed");
        assert_eq!(applied(vec![job()]), [told]);
        let absent = || resource("cron", "backup", &[("ensure", "absent")]);
        assert_eq!(applied(vec![absent()]), [format!("\"{FILE}\" was not written by ccm")]);
        lchown(FILE, Some(0), Some(0)).expect("an owner");
        assert_changes(&absent());
        assert!(read_link(FILE).is_err() && Path::new("/etc/backup-job").exists());
    });
}

#[test]
fn files_of_others_are_neither_replaced_nor_removed() {
    on_a_copy(|| {
        let present = || vec![resource("cron", "backup", &[("command", "a"), ("minute", "0")])];
        let absent = || vec![resource("cron", "backup", &[("ensure", "absent")])];
        let told = format!("\"{FILE}\" was not written by ccm");
        for content in ["30 3 * * 0 root x\n10 3 * * * root y\n", "0 * * * * root a\n", "# Mine.\n"] {
            write(FILE, content).expect("a file");
            for manifest in [present(), absent()] {
                assert_eq!(in_noop(manifest.clone()), [&*told], "{content}");
                assert_eq!(applied(manifest), [&*told], "{content}");
            }
            assert_eq!(read_to_string(FILE).expect("a file"), content);
        }
        std::fs::remove_file(FILE).expect("a file");
        create_dir(FILE).expect("a directory");
        assert_eq!((applied(absent()), applied(present())), (vec![told.clone()], vec![told]));
    });
}

#[test]
fn lines_of_others_below_a_comment_stay() {
    on_a_copy(|| {
        let job = |properties: &[(&str, &str)]| {
            vec![resource(
                "cron",
                "backup",
                &[&[("provider", "crontab"), ("user", "ada")], properties].concat(),
            )]
        };
        let present = || job(&[("command", "a"), ("minute", "0"), ("hour", "2")]);
        let absent = || job(&[("ensure", "absent")]);
        let other = "line 2 of the crontab of `ada`, below the comment of the job `backup`, is not the one that ccm wrote";
        let old = "line 2 of the crontab of `ada`, below the comment of the job `backup`, may be somebody else's, because the comment has no checksum";
        for (crontab, told) in [
            ("# ccm cron: backup\n@daily a\n9 9 * * * other\n".to_owned(), old),
            ("# ccm cron: backup\n9 9 * * * other\n".to_owned(), old),
            (format!("{SIGNED}@daily a\n9 9 * * * other\n"), other),
            (format!("{SIGNED}9 9 * * * other\n"), other),
            (format!("{SIGNED}MAILTO=x\n0 2 * * * a\n"), other),
            (format!("{SIGNED}\n0 2 * * * a\n"), other),
            (format!("{SIGNED}0 3 * * * a\n"), other),
        ] {
            write("/run/crontab-ada", &crontab).expect("a file");
            for manifest in [present(), absent()] {
                assert_eq!(in_noop(manifest.clone()), [told], "{crontab}");
                assert_eq!(applied(manifest), [told], "{crontab}");
            }
            assert_eq!(read_to_string("/run/crontab-ada").expect("a file"), crontab);
        }
    });
}

#[test]
fn variables_and_names_of_times_are_written() {
    on_a_copy(|| {
        let job = |properties: &[(&str, &str)]| {
            resource("cron", "backup", &[&[("command", "a ${HOME} +%F")], properties].concat())
        };
        assert_changes(&job(&[("special", "daily"), ("environment", "{MAILTO=ada|A= b}")]));
        let text = read_to_string(FILE).expect("a file");
        assert_eq!(text, format!("{COMMENT}MAILTO=ada\nA=\" b\"\n@daily root a ${{HOME}} +\\%F\n"));
        assert_changes(&job(&[("special", "daily"), ("environment", "{MAILTO=}")]));
        assert_changes(&job(&[("special", "hourly")]));
        assert_eq!(
            read_to_string(FILE).expect("a file"),
            format!("{COMMENT}@hourly root a ${{HOME}} +\\%F\n")
        );
    });
}

#[test]
fn properties_of_jobs_are_checked_at_load() {
    let errors =
        |name: &str, properties: &[(&str, &str)]| errors_of(&resource("cron", name, properties)).len();
    let command = ("command", "a | b");
    assert_eq!(errors("a", &[command, ("minute", "5")]), 0);
    assert_eq!(errors("a.b", &[command, ("minute", "5")]), 1);
    assert_eq!(errors("a", &[command]), 1);
    assert_eq!(errors("a", &[("minute", "5")]), 1);
    assert_eq!(errors("a", &[command, ("minute", "60")]), 1);
    assert_eq!(errors("a", &[command, ("hour", "[]")]), 1);
    assert_eq!(errors("a", &[command, ("weekday", "8")]), 1);
    assert_eq!(errors("a", &[("command", "a\nb"), ("minute", "5")]), 1);
    assert_eq!(errors("a", &[("ensure", "absent")]), 0);
    assert_eq!(errors("a", &[command, ("special", "daily")]), 0);
    assert_eq!(errors("a", &[command, ("special", "@daily")]), 1);
    assert_eq!(errors("a", &[command, ("special", "daily"), ("hour", "3")]), 1);
    let mail = ("environment", "{MAILTO=ada}");
    assert_eq!(errors("a", &[command, ("minute", "5"), mail]), 0);
    assert_eq!(errors("a", &[command, ("minute", "5"), mail, ("provider", "crontab")]), 1);
    assert_eq!(errors("a", &[command, ("minute", "5"), ("environment", "{LOGNAME=ada}")]), 1);
}

#[test]
fn crontabs_are_edited_rightly_or_refused() {
    on_a_copy(|| {
        let properties = [("provider", "crontab"), ("user", "ada"), ("command", "a"), ("hour", "1")];
        let job = resource("cron", "backup", &properties);
        assert_right_or_refused("/run/crontab-ada", "the crontab of `ada`", &job);
    });
}
