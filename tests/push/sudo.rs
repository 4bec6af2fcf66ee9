//! Rights of root on a host, its password, and installations.

use ccm_testkit::{Scratch, needs_root, shell};

use crate::stand_in::{document, host, push, site};

const PASSWORD: &str = "correct-horse-7";

/// Writes a stand-in of sudo that knows a password.
fn sudo(scratch: &Scratch, needs_password: bool) {
    let refuse = if needs_password { "echo 'sudo: a password is required' >&2; exit 1" } else { ":" };
    let text = format!(
        "#!/bin/sh
case $1 in
    -n) shift 2; {refuse} ;;
    -S) prompt=$3; shift 4
        printf %s \"$prompt\" >&2; read -r password
        if [ \"$password\" != {PASSWORD} ]; then
            printf 'Sorry, try again.\\n%s' \"$prompt\" >&2; read -r password; echo 'sudo: no password' >&2; exit 1
        fi ;;
esac
command -v \"$1\" >/dev/null || {{ echo \"sudo: $1: command not found\" >&2; exit 1; }}
exec \"$@\"
"
    );
    scratch.write_program("sudo", &text);
}

#[test]
fn sudo_needs_no_password_or_is_given_one_by_a_person() {
    let names = ["web1", "nosudo1", "bare1"];
    let scratch = site(&names);
    let run = |words: &[&str], input: &str| {
        let words = [&["*", "site/site.yaml", "--json"], words].concat();
        let called = push(&scratch, &words).input(input).run();
        let document = document(&called);
        let kind = |name| match &host(&document, name)["failure"]["kind"] {
            serde_json::Value::String(kind) => kind.clone(),
            _ => host(&document, name)["outcome"].as_str().unwrap_or_default().to_owned(),
        };
        names.map(kind)
    };
    sudo(&scratch, false);
    assert_eq!(run(&["--sudo"], ""), ["changed", "no_sudo", "sudo_refused"]);
    sudo(&scratch, true);
    assert_eq!(run(&["--sudo"], ""), ["sudo_refused", "no_sudo", "sudo_refused"]);
    let typed = format!("{PASSWORD}\n");
    assert_eq!(run(&["--ask-sudo"], &typed)[..2], ["unchanged", "no_sudo"]);
    assert_eq!(run(&["--ask-sudo"], "wrong\n")[..2], ["wrong_password", "no_sudo"]);
    // It is in no record and in no command.
    assert_eq!(
        shell(
            &format!("grep -rl --exclude=sudo {PASSWORD} hosts state home 2>/dev/null || :"),
            scratch.path()
        ),
        ""
    );
}

#[test]
fn the_program_is_installed_where_it_is_missing() {
    let scratch = site(&["bare1", "web1"]);
    let called = push(&scratch, &["*", "site/site.yaml", "--install"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let installed =
        shell("find hosts/*/home -type f -perm 700 -name ccm -o -type f -name 'ccm.*'", scratch.path());
    assert_eq!(installed.lines().count(), 0, "{installed}");
    let installed = shell("find hosts/*/home -type f -name 'ccm*'", scratch.path());
    assert!(
        installed.starts_with("hosts/bare1/home/.cache/ccm/") && installed.lines().count() == 1,
        "{installed}"
    );
    // It is found without the option.
    let called = push(&scratch, &["*", "site/site.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn root_gets_the_program_into_a_directory_of_root() {
    if !needs_root() {
        return;
    }
    let scratch = site(&["bareroot1"]);
    sudo(&scratch, false);
    let called = push(&scratch, &["*", "site/site.yaml", "--sudo", "--install"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let line = scratch.read("hosts/bareroot1/installed").unwrap_or_default();
    assert_eq!(line.trim(), "755 0 0 /usr/local/bin/ccm");
    assert!(!scratch.has("hosts/bareroot1/home/.cache"), "{}", shell("find hosts", scratch.path()));
}
