use ccm_engine::ResourceKind as _;
use ccm_host::Identity;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const BLOB: &str = "AAAAC3NzaC1lZDI1NTE5AAAAIGAbLmuMIVT/jf24lgRRDjCBFZWm9GBlBgxHGGCvm3kG";

const TABLE: &str = include_str!("../decide_table.txt");

fn key(ensure: &str, options: &str) -> DesiredKey {
    let (ensure, has_key) = match ensure {
        "nameless" => ("absent", false),
        other => (other, true),
    };
    DesiredKey {
        name: "ada".to_owned(),
        is_absent: ensure == "absent",
        user: "web".to_owned(),
        key: has_key.then(|| SshPublicKey { kind: "ssh-ed25519".to_owned(), blob: BLOB.to_owned() }),
        options: match options {
            "-" => None,
            "[]" => Some(String::new()),
            other => Some(other.to_owned()),
        },
    }
}

/// Returns a state with a file; `K` is the key, `_` a blank, `/` a line end.
fn state(content: &str) -> KeyState {
    let text = content.replace('K', &format!("ssh-ed25519 {BLOB}")).replace('_', " ").replace('/', "\n");
    let text = text.replace(&BLOB.replace('/', "\n"), BLOB);
    KeyState {
        account: (content != "no-user").then(|| Account {
            name: "web".to_owned(),
            home: "/home/web".into(),
            shell: "/bin/sh".into(),
            identity: Identity { uid: 7, gid: 7, groups: vec![7] },
        }),
        content: (!["no-user", "no-home", "-"].contains(&content)).then(|| text.replace('!', "").into()),
        is_private: !content.contains('!'),
        home_missing: content == "no-home",
    }
}

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, options, content]| {
        Object::decide(&key(ensure, options), &state(content), None)
    });
    assert_eq!(rows, 17);
}

#[test]
fn new_content_converges() {
    for ensure in ["present", "absent"] {
        for options in ["-", "[]", "no-pty", "no-pty,from=\"a\""] {
            for content in
                ["-", "", "K_ada", "K_bob/", "#x/no-agent_K/K_c/K", "garbage", "!K_ada/", "ssh-rsa_AAAA_x"]
            {
                let (key, before) = (key(ensure, options), state(content));
                let after = KeyState {
                    content: Some(new_content(&key, &before)),
                    is_private: true,
                    ..before.clone()
                };
                let again = key.plan(&after);
                assert!(matches!(again, ObjectPlan::Keep { .. }), "{ensure} {options} {content}: {again:?}");
                let text = |state: &KeyState| {
                    String::from_utf8(state.content.clone().unwrap_or_default()).expect("text")
                };
                for line in text(&before).lines().filter(|line| !line.contains(BLOB)) {
                    assert!(text(&after).lines().any(|new| new == line));
                }
            }
        }
    }
}
