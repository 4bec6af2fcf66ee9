//! From states to a manifest and back.

use std::path::Path;

use ccm_engine::{ExportRemark, ExportedState, ExportedValue, NotExported, NotExportedKind};
use ccm_model::{Node, ResourceId};
use ccm_properties::PropertyValue as _;
use serde_json::{Value, json};

use super::manifest::manifest_text;
use super::{PresentResource, PresentState, ResourcePresence, Unseen};
use crate::input::{GivenValues, ManifestSource};
use crate::session::{Config, Session};

/// Types whose resources leave no state.
const WITHOUT_STATE: [&str; 8] =
    ["exec", "line", "block", "setting", "archive", "scaffold", "reboot", "apply"];

/// Texts that YAML or expressions could take for something else.
const TRICKY: [&str; 12] = [
    "{{ Facts.os }}",
    "${HOME} \\${X}",
    "yes",
    "0644",
    "1e3",
    "null",
    "# no comment",
    "a: b",
    "- x",
    "quote \" and ' and \\",
    "größe",
    "two\nlines\n\n",
];

fn resource(type_name: &str, name: &str, state: ExportedState) -> PresentResource {
    PresentResource {
        id: ResourceId::new(type_name, name),
        state: ResourcePresence::Present(state),
        require: Vec::new(),
        subscribe: Vec::new(),
    }
}

/// Returns a resource with these properties.
fn of(
    type_name: &str,
    name: &str,
    ensure: Option<&str>,
    properties: &[(&'static str, Value)],
) -> PresentResource {
    let state = ExportedState { ensure: ensure.map(str::to_owned), ..ExportedState::default() };
    let state = properties.iter().fold(state, |state, (name, value)| state.with(name, value.clone()));
    resource(type_name, name, state)
}

/// Returns a state of each type that has one.
fn states() -> Vec<PresentResource> {
    let contents = TRICKY.iter().enumerate().map(|(index, text)| {
        of(
            "file",
            &format!("/etc/tricky-{index}"),
            None,
            &[("content", json!(text)), ("mode", json!("0600"))],
        )
    });
    names_and_packages().into_iter().chain(settings_and_jobs()).chain(contents).collect()
}

fn names_and_packages() -> Vec<PresentResource> {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    vec![
        of("hostname", "web-1.example.com", None, &[]),
        of("timezone", "Europe/Berlin", None, &[]),
        of("locale", "de_DE.UTF-8", None, &[("categories", json!({ "LC_TIME": "C.UTF-8" }))]),
        of("host", "db", None, &[("ip", json!("10.0.0.2")), ("host_aliases", json!(["db1", "db2"]))]),
        of(
            "package_repository",
            "app",
            None,
            &[
                ("uris", json!(["https://example.com/debian"])),
                ("suites", json!(["stable"])),
                ("components", json!(["main"])),
                ("trusted", json!(true)),
                ("description", json!("{{ x }} # y")),
            ],
        ),
        of("package", "nginx", None, &[]),
        of("package_hold", "nginx", None, &[]),
        of("group", "web", None, &[("gid", json!(1500)), ("members", json!(["ada"]))]),
        of(
            "user",
            "ada",
            None,
            &[
                ("uid", json!(1500)),
                ("gid", json!("1500")),
                ("home", json!("/home/{{ ada }}")),
                ("comment", json!("Ada ${X} yes")),
                ("password_hash", json!("*")),
                ("expires", json!("2031-12-31")),
            ],
        ),
        of(
            "authorized_key",
            "ada@laptop",
            None,
            &[
                ("user", json!("ada")),
                ("key", json!(key)),
                ("options", json!(["command=\"a, b\"", "no-pty"])),
            ],
        ),
    ]
}

fn settings_and_jobs() -> Vec<PresentResource> {
    vec![
        of("kernel_module", "br_netfilter", None, &[("boot", json!(true)), ("options", json!("a=1"))]),
        of("kernel_module", "floppy", Some("absent"), &[("blacklist", json!(true))]),
        of(
            "sysctl",
            "vm.swappiness",
            None,
            &[("value", json!("10")), ("file", json!("/etc/sysctl.d/a.conf"))],
        ),
        of(
            "mount",
            "/srv/a b",
            Some("unmounted"),
            &[
                ("device", json!("UUID=a")),
                ("fstype", json!("ext4")),
                ("options", json!("ro")),
                ("pass", json!(2)),
            ],
        ),
        of("file", "/etc/{{ x }}", Some("directory"), &[("mode", json!("0755"))]),
        of("file", "/etc/link", Some("link"), &[("target", json!("${a}"))]),
        of(
            "git",
            "/srv/app",
            None,
            &[("url", json!("https://example.com/app.git")), ("revision", json!("main"))],
        ),
        of(
            "cron",
            "backup",
            None,
            &[
                ("command", json!("date +%F > \"${X}\" # {{ y }}")),
                ("minute", json!("0")),
                ("weekday", json!("1-5")),
                ("environment", json!({ "MAILTO": "yes" })),
            ],
        ),
        of(
            "timer",
            "backup",
            None,
            &[
                ("command", json!("/usr/bin/backup '${X} {{ y }}'")),
                ("on_calendar", json!(["*-*-* 02:30", "Sun 12:00"])),
                ("jitter", json!("900s")),
                ("persistent", json!(false)),
            ],
        ),
        of("service", "nginx", Some("stopped"), &[("enable", json!(false))]),
    ]
}

fn json_of(node: &Node) -> Value {
    Value::decode(node, &mut Vec::new()).unwrap_or_default()
}

#[test]
fn states_of_all_types_survive_the_manifest() {
    let session = Session::open(Config::default());
    let state = PresentState { resources: states(), unseen: Vec::new() };
    for name in session.type_names() {
        let is_covered = state.resources.iter().any(|resource| &*resource.id.type_name == name);
        assert!(is_covered != WITHOUT_STATE.contains(&name), "{name}");
    }
    let text = manifest_text(&state, &session);
    let source = ManifestSource::File(Path::new("/nowhere/site.yaml").to_owned());
    let values = GivenValues { no_dotenv: true, ..GivenValues::default() };
    let read = session.read_with(
        source,
        &values,
        1 << 20,
        (Some(("site.yaml".into(), text.as_str().into())), false),
    );
    let input = read.expect("an input");
    let manifest = session.load(&input).unwrap_or_else(|errors| panic!("{}\n{text}", errors.text()));
    assert_eq!(manifest.catalog().resources.len(), state.resources.len(), "{text}");
    for resource in &state.resources {
        let mut found = manifest.catalog().resources.iter();
        let loaded = found.find(|loaded| loaded.id == resource.id);
        let loaded = loaded.unwrap_or_else(|| panic!("{} is missing\n{text}", resource.id));
        let ResourcePresence::Present(expected) = &resource.state else { continue };
        assert_eq!(loaded.ensure.as_ref().map(|ensure| &ensure.value), expected.ensure.as_ref());
        assert_eq!(loaded.properties.given().count(), expected.properties.len(), "{}", resource.id);
        for (name, value) in &expected.properties {
            let node = loaded.properties.get(name).expect("a property");
            assert_eq!(ExportedValue::Json(json_of(node)), *value, "{} {name}", resource.id);
        }
    }
}

#[test]
fn comments_say_what_is_left_out() {
    let session = Session::open(Config::default());
    let secret = ExportRemark::Secret { property: "password_hash" };
    let state = ExportedState::default().read_only("version", "1.0\nevil: true").remark(secret);
    let reason = NotExported::new(NotExportedKind::NoForm, "no form").with_hint("look");
    let refused = PresentResource {
        state: ResourcePresence::NotExported(reason.clone()),
        ..resource("file", "/b", ExportedState::default())
    };
    let absent = PresentResource { state: ResourcePresence::Absent, ..refused.clone() };
    let running = PresentResource { id: ResourceId::new("service", "x"), ..absent.clone() };
    let resources = vec![resource("user", "ada", state), refused, absent, running];
    let unseen = vec![Unseen { type_name: "cron".to_owned(), reason }];
    let text = manifest_text(&PresentState { resources, unseen }, &session);
    let expected = "\
# Written by `ccm resource`. Applied on this machine, it changes nothing.
# cron: not everything could be seen: no form
ccm:
  resources:
    - user:
        - ada: {}
            # version: 1.0\\nevil: true
            # password_hash is left out, because it may be a secret: \"{{ credential('ada-password-hash') }}\"
    # file#/b is not exported: no form
    #   look
    - file:
        - /b:
            ensure: absent
    # service#x does not exist
";
    assert_eq!(text, expected);
}

#[test]
fn nothing_is_a_manifest_as_well() {
    let session = Session::open(Config::default());
    let text = manifest_text(&PresentState::default(), &session);
    assert!(text.ends_with("ccm:\n  resources: []\n"), "{text}");
}

#[test]
fn documents_fit_their_schema() {
    let mut state = PresentState { resources: states(), unseen: Vec::new() };
    let content = ExportedState::default().with_content("content", b"\xff".to_vec(), false);
    state.resources.push(resource("file", "/binary", content));
    let document = state.json();
    assert_eq!(document["protocol"], super::PRESENT_STATE_PROTOCOL);
    let last = document["resources"].as_array().and_then(|all| all.last()).expect("a resource");
    assert!(last["unread"]["content"].is_string() && last["properties"]["content"].is_null(), "{last}");
}
