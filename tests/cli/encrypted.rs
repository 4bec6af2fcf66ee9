//! Encrypted values, from the command that encrypts them to the file that a run writes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::{Called, Scratch, shell};
use serde_json::Value;
use ssh_key::private::Ed25519Keypair;
use ssh_key::{LineEnding, PrivateKey};

use crate::ccm;
use crate::expect::expect_output;
use crate::releases::{FROM, publish, succeeded};

const SECRET: &str = "s3cret-word-of-web1";

/// Writes the private and the public key of a host.
pub(crate) fn key(scratch: &Scratch, name: &str, seed: u8) -> String {
    let mut key = PrivateKey::from(Ed25519Keypair::from_seed(&[seed; 32]));
    key.set_comment(name);
    scratch.write(name, key.to_openssh(LineEnding::LF).expect("a key").as_str());
    let path = scratch.path().join(name);
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("a private key");
    let public = key.public_key().to_openssh().expect("a public key");
    scratch.write(&format!("{name}.pub"), format!("{public}\n"));
    public
}

/// Runs a command without the keys and hosts of whoever runs the test.
fn run(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, args).variable("HOME", &scratch.at("home")).run()
}

pub(crate) fn encrypted(scratch: &Scratch, args: &[&str], value: &str) -> String {
    let args = [&["secret", "encrypt"], args].concat();
    let called = ccm(scratch, &args).variable("HOME", &scratch.at("home")).input(value).run();
    assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    called.stdout
}

/// Writes a manifest with an encrypted value, an encrypted file, and commands that would show both.
fn site(scratch: &Scratch) {
    key(scratch, "web1", 1);
    key(scratch, "web2", 2);
    let value = encrypted(scratch, &["--to", "web1.pub", "--as", "password"], SECRET);
    scratch.write("token", format!("{SECRET}-token\nline two {SECRET}\n"));
    let out = scratch.at("token.age");
    let written = run(scratch, &["secret", "encrypt", "--to", "web1.pub", "token", "--out", &out]);
    expect_output(&written, 0, &["1 key opens it"]);
    let dir = scratch.path().display().to_string();
    let manifest = format!(
        "data:\n{value}ccm:\n  name: site\n  resources:\n    - file:\n        - {dir}/app.conf: {{content: \"password={{{{ \
         Data.password }}}}\\n\", mode: \"0600\"}}\n        - {dir}/app.token: {{source: token.age, mode: \"0600\"}}\n    \
         - exec:\n        - show: {{command: \"cat {dir}/app.conf {dir}/app.token\", logoutput: true}}\n        - fail: \
         {{command: \"cat {dir}/app.conf {dir}/gone\"}}\n"
    );
    scratch.write("m.yaml", manifest);
}

#[test]
fn an_encrypted_value_is_used_and_never_shown() {
    let scratch = Scratch::new();
    site(&scratch);
    for (args, code) in [
        (&["validate", "m.yaml"][..], 0),
        (&["validate", "m.yaml", "--identity", "web1"], 0),
        (&["apply", "--noop", "--diff", "-vv", "m.yaml", "--identity", "web1"], 0),
        (&["apply", "--noop", "--output", "jsonl", "m.yaml", "--identity", "web1"], 0),
        (&["apply", "--render", "m.yaml", "--identity", "web1"], 0),
        (&["apply", "--diff", "-vv", "--events-file", "events", "m.yaml", "--identity", "web1"], 4),
        (&["apply", "--output", "json", "m.yaml", "--identity", "web1"], 4),
        (&["apply", "m.yaml", "--identity", "web2"], 1),
        (&["history", "last"], 0),
        (&["graph", "m.yaml", "--identity", "web1"], 0),
        (&["eval", "file('token.age')", "--identity", "web1"], 0),
        (&["hiera", "parse", "m.yaml", "--identity", "web1"], 0),
        (&["hiera", "parse", "m.yaml", "--explain", "--identity", "web1"], 0),
    ] {
        let called = run(&scratch, args);
        assert_eq!(called.code, code, "{args:?}: {}", called.shown());
        assert!(!called.shown().contains(SECRET), "{args:?}: {}", called.shown());
    }
    assert_eq!(scratch.read("app.conf"), Some(format!("password={SECRET}\n")));
    // Byte for byte, with its last line end.
    assert_eq!(scratch.read("app.token"), scratch.read("token"));
    assert!(!scratch.read("events").expect("the events").contains(SECRET));
    let mut left: Vec<_> = vec![scratch.state()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                std::fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()),
            );
        } else {
            let content = std::fs::read(&path).expect("a file");
            assert!(!String::from_utf8_lossy(&content).contains(SECRET), "{}", path.display());
        }
    }
    let shown = run(&scratch, &["hiera", "parse", "m.yaml", "--identity", "web1", "--show-sensitive"]);
    expect_output(&shown, 0, &[SECRET]);
}

#[test]
fn an_error_names_what_can_not_be_opened_and_why() {
    let scratch = Scratch::new();
    site(&scratch);
    let manifest = scratch.read("m.yaml").expect("the manifest");
    let lines: Vec<&str> = manifest.lines().collect();
    let cut = [&lines[..5], &lines[6..]].concat().join("\n");
    scratch.write("cut.yaml", cut);
    scratch.write("plain.yaml", "data:\n  # @encrypted\n  p: hunter2-hunter2\nccm: {resources: []}\n");
    scratch.write("key.pem", "-----BEGIN RSA PRIVATE KEY-----\n");
    for (args, message, hint) in [
        (
            &["apply", "m.yaml", "--identity", "web2"][..],
            "it is not encrypted to the key that is named",
            "rekey --add web2.pub",
        ),
        (&["apply", "m.yaml", "--identity", "gone"], "the key gone can't be read", "--identity"),
        (
            &["apply", "m.yaml", "--identity", "key.pem"],
            "it is no private key of OpenSSH",
            "name another key",
        ),
        (
            &["apply", "m.yaml", "--identity", "web1.pub"],
            "it is no private key of OpenSSH",
            "name another key",
        ),
        (&["apply", "cut.yaml", "--identity", "web1"], "the encrypted value can't be opened", ""),
        (&["validate", "cut.yaml"], "the encrypted value can't be opened", ""),
        (
            &["validate", "plain.yaml"],
            "it does not begin with the line `-----BEGIN AGE ENCRYPTED FILE-----`",
            "ccm secret encrypt",
        ),
    ] {
        let called = run(&scratch, args);
        assert_eq!(called.code, 1, "{args:?}: {}", called.shown());
        for part in [message, hint] {
            assert!(called.stderr.contains(part), "{args:?}: {part}: {}", called.shown());
        }
        assert!(!called.shown().contains("hunter2"), "{args:?}: {}", called.shown());
    }
}

#[test]
fn who_can_open_a_value_is_shown_and_changed() {
    let scratch = Scratch::new();
    site(&scratch);
    let hosts: String = ["web1", "web2"]
        .map(|name| format!("{name} {}", scratch.read(&format!("{name}.pub")).expect("a key")))
        .concat();
    scratch.write("known", hosts);
    scratch.write("hosts.yaml", "hosts: {web1: {groups: [web]}, web2: {groups: [web]}, db1: }\n");
    let opens =
        |identity: &str| run(&scratch, &["apply", "--noop", "m.yaml", "--identity", identity]).code == 0;
    let who = || {
        let called =
            run(&scratch, &["secret", "who", "m.yaml", "token.age", "--known-hosts", "known", "--json"]);
        let document: Value = serde_json::from_str(&called.stdout).expect("a document");
        let names = |value: &Value| {
            let recipients = value["recipients"].as_array().expect("recipients");
            recipients.iter().map(|one| one["name"].as_str().unwrap_or("?").to_owned()).collect::<Vec<_>>()
        };
        document["values"].as_array().expect("values").iter().map(names).collect::<Vec<_>>()
    };
    assert_eq!(who(), [["web1"], ["web1"]]);
    let rekey = |args: &[&str]| {
        let files = ["secret", "rekey", "m.yaml", "token.age", "--known-hosts", "known"];
        run(&scratch, &[&files, args].concat())
    };
    let before = scratch.read("m.yaml");
    // Nothing is written unless all of it can be.
    for (args, message) in [
        (&["--add", "web2", "--identity", "web2"][..], "can't be opened"),
        (&["--add", "db1", "--identity", "web1"], "no Ed25519 key of db1 is known"),
        (&["--add", "db9", "--identity", "web1"], "has no host `db9`"),
        (&["--add", "@db", "--identity", "web1"], "has no group `db`"),
        (&["--add", "gone.pub", "--identity", "web1"], "there is no file gone.pub"),
        (&["--remove", "web1", "--identity", "web1"], "nobody could open m.yaml:4 any more"),
    ] {
        let called = rekey(args);
        assert_ne!(called.code, 0, "{args:?}: {}", called.shown());
        assert!(called.stderr.contains(message), "{args:?}: {}", called.shown());
        assert_eq!(scratch.read("m.yaml"), before, "{args:?}");
    }
    expect_output(
        &rekey(&["--add", "web2", "--identity", "web1"]),
        0,
        &["m.yaml: 1 value", "token.age: 1 value"],
    );
    assert_eq!(who(), [["web1", "web2"], ["web1", "web2"]]);
    assert!(opens("web1") && opens("web2"));
    expect_output(&rekey(&["--remove", "web1.pub", "--identity", "web2"]), 0, &[]);
    assert!(!opens("web1") && opens("web2"));
    expect_output(&rekey(&["--to", "@web", "--identity", "web2"]), 0, &[]);
    assert_eq!(who(), [["web1", "web2"], ["web1", "web2"]]);
    // All else in the file is as it was.
    let rest =
        |text: Option<String>| text.expect("a manifest").split_once("END AGE").expect("a value").1.to_owned();
    assert_eq!(rest(scratch.read("m.yaml")), rest(before));
}

#[test]
fn an_encrypted_file_is_edited_in_memory() {
    let scratch = Scratch::new();
    site(&scratch);
    let edit = |editor: &str, args: &[&str]| {
        let args =
            [&["secret", "edit", "token.age", "--key", "web1.pub", "--identity", "web1"], args].concat();
        ccm(&scratch, &args).variable("HOME", &scratch.at("home")).variable("EDITOR", editor).run()
    };
    let content =
        || run(&scratch, &["eval", "file('token.age')", "--identity", "web1", "--show-sensitive"]).stdout;
    let before = scratch.read("token.age");
    expect_output(&edit("true", &[]), 0, &["nothing was changed"]);
    for (editor, code, message) in [
        ("false", 1, "the editor ended with exit status: 1; nothing was changed"),
        ("no-such-editor -x", 1, "the editor `no-such-editor` does not start"),
        ("'", 1, "a quote without an end"),
        ("rm", 1, "the text can't be handed to the editor"),
    ] {
        let called = edit(editor, &[]);
        assert_eq!(called.code, code, "{editor}: {}", called.shown());
        assert!(called.stderr.contains(message), "{editor}: {}", called.shown());
        assert_eq!(scratch.read("token.age"), before, "{editor}");
    }
    // The text is in memory, in a file that nobody else can read, below a directory that nobody else can enter.
    let look = format!(
        "sh -c 'stat -c \"%a %n\" \"$1\" \"${{1%/*}}\" > {}/seen; echo new > \"$1\"' -",
        scratch.path().display()
    );
    expect_output(&edit(&look, &[]), 0, &["1 key opens it"]);
    let seen = scratch.read("seen").expect("what the editor saw");
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with("600 /") && lines[0].ends_with("/token"), "{seen}");
    assert!(lines[1].starts_with("700 /"), "{seen}");
    let directory = lines[1].split_once(' ').expect("a path").1;
    assert!(!std::path::Path::new(directory).exists(), "{directory}");
    assert_eq!(content(), "\"new\\n\"\n");
    // In a file with several values, the line chooses.
    let value = encrypted(&scratch, &["--to", "web1.pub", "--as", "other"], "x");
    scratch.write("two.yaml", format!("data:\n{value}{value}"));
    let two = ["secret", "edit", "two.yaml", "--key", "web1.pub", "--identity", "web1"];
    let called = run(&scratch, &two);
    assert!(called.code == 64 && called.stderr.contains("--line 4|"), "{}", called.shown());
}

#[test]
fn recipients_are_files_keys_and_known_hosts() {
    let scratch = Scratch::new();
    let public = key(&scratch, "web1", 1);
    let bare = public.rsplit_once(' ').expect("a comment").0.to_owned();
    scratch.write("team", format!("# people\n{public}\n\n"));
    scratch.write("home/.ssh/known_hosts", format!("web1,10.0.0.1 {bare}\n"));
    scratch.write("rsa.pub", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAwEAAQ== a\n");
    for to in ["web1.pub", "team", &bare, "web1", "10.0.0.1"] {
        assert!(encrypted(&scratch, &["--to", to], "x").starts_with("-----BEGIN AGE"), "{to}");
    }
    for (to, message) in [
        ("rsa.pub", "rsa.pub:1 is no key to encrypt to"),
        ("web2", "no Ed25519 key of web2 is known in"),
        ("@web", "there is no"),
        ("-oProxyCommand=x", ""),
        ("ssh-ed25519 AAAA", "is no key to encrypt to"),
    ] {
        let called = run(&scratch, &["secret", "encrypt", &format!("--to={to}")]);
        assert_ne!(called.code, 0, "{to}: {}", called.shown());
        assert!(called.stderr.contains(message), "{to}: {}", called.shown());
    }
    let called = run(&scratch, &["secret", "encrypt", "--to", "web1.pub", "--as", "a b"]);
    assert_eq!(called.code, 64, "{}", called.shown());
}

#[test]
fn a_release_carries_encrypted_values_that_each_machine_opens() {
    let scratch = crate::releases::site();
    key(&scratch, "web1", 1);
    key(&scratch, "web2", 2);
    let value = encrypted(&scratch, &["--to", "web1.pub", "--as", "password"], SECRET);
    let app = scratch.at("app.conf");
    scratch.write(
        "site/site.yaml",
        format!(
            "data:\n{value}ccm: {{resources: [{{file: [{{{app}: {{content: \"{{{{ Data.password }}}}\", mode: \"0600\"}}}}]}}]}}\n"
        ),
    );
    // Whoever builds a release has no key of the machines.
    publish(&scratch, "1", &[]);
    assert!(
        !shell("tar -tf base.release >list 2>&1 || :; cat base.release", scratch.path()).contains(SECRET)
    );
    let apply = |identity: &str, options: &[&str]| {
        run(&scratch, &[&["apply", "--identity", identity], &FROM[..], options].concat())
    };
    let other = apply("web2", &[]);
    assert_eq!(other.code, 1, "{}", other.shown());
    assert!(other.stderr.contains("not encrypted to the key that is named"), "{}", other.shown());
    assert!(!scratch.has("app.conf"));
    for options in [&["--noop", "--diff", "-vv"][..], &["--diff", "-vv"], &["--output", "json"]] {
        let called = apply("web1", options);
        assert_eq!(called.code, 0, "{options:?}: {}", called.shown());
        assert!(!called.shown().contains(SECRET), "{}", called.shown());
    }
    assert_eq!(scratch.read("app.conf").as_deref(), Some(SECRET));
    // Another value is a change, which the next version brings.
    let value = encrypted(&scratch, &["--to", "web1.pub", "--to", "web2.pub", "--as", "password"], "other");
    let manifest = scratch.read("site/site.yaml").expect("the manifest");
    let rest = manifest.split_once("ccm:").expect("resources").1;
    scratch.write("site/site.yaml", format!("data:\n{value}ccm:{rest}"));
    publish(&scratch, "2", &[]);
    let called = succeeded(apply("web2", &["--diff"]));
    assert!(!called.shown().contains(SECRET), "{}", called.shown());
    assert_eq!(scratch.read("app.conf").as_deref(), Some("other"));
    assert_eq!(shell(&format!("grep -rl {SECRET} . || :"), &scratch.state()), "");
}
