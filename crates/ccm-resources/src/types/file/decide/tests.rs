use ccm_host::{PathInfo, TreeSize};

use super::super::properties::FileProperties;
use super::super::state::Desired;
use super::super::values::LinkTarget;
use super::*;
use crate::parts::tree::Rendered;
use crate::support::decision_table::assert_rows;
use crate::support::values::file_mode::FileMode;
use crate::support::values::principal::Principal;

const TABLE: &str = include_str!("../decide_table.txt");

fn file(ensure: &str, asks: &str) -> DesiredFile {
    let asks = |what: &str| asks.split(',').any(|asked| asked == what);
    let properties = FileProperties {
        content: asks("content").then(|| "wanted\n".into()),
        mode: asks("mode").then_some(FileMode(0o644)),
        owner: asks("owner").then(|| Principal("root".to_owned())),
        force: asks("force").then_some(true),
        backup: asks("backup").then_some(true),
        target: (ensure == "link").then(|| LinkTarget("to".to_owned())),
        ..FileProperties::default()
    };
    DesiredFile::build("/d/f", Some(ensure), properties, Rendered::default()).unwrap()
}

fn state(file: &DesiredFile, found: &str, differs: &str) -> FileState {
    let differs = |what: &str| differs.split(',').any(|differing| differing == what);
    let (link, kind) = match found.split_once('>') {
        Some((_, kind)) => (true, kind),
        None => (false, found),
    };
    let kind = match kind {
        "file" | "mounted" => Some(FileKind::File),
        "empty" => Some(FileKind::Directory { empty: Some(true) }),
        "unreadable" => Some(FileKind::Directory { empty: None }),
        "full" | "top" => Some(FileKind::Directory { empty: Some(false) }),
        "device" => Some(FileKind::Special("a device")),
        _ => None,
    };
    let target = kind.map(|kind| FileInfo {
        kind,
        mode: match file.mode {
            _ if differs("set-id") => 0o6755,
            _ if differs("mode") => 0o600,
            mode => mode.unwrap_or(0o640),
        },
        uid: if differs("owner") { 7 } else { 0 },
        gid: 0,
        size: 7,
        sha256: Some(if differs("content") { "old" } else { "new" }.to_owned()),
        content: Some(b"old\n".to_vec()),
        is_same: false,
    });
    let desired = Desired {
        uid: file.owner.as_ref().map(|_| 0),
        sha256: file.content.as_ref().map(|_| "new".to_owned()),
        size: if file.content.is_some() { 4 } else { 0 },
        content: file.content.as_ref().map(|_| b"new\n".to_vec()),
        ..Desired::default()
    };
    let names = Some((if differs("owner") { "app" } else { "root" }.into(), "root".into()));
    let is_link = link && file.ensure == FileEnsure::Link;
    let text = is_link.then(|| if found == "link>other" { "other" } else { "to" }.into());
    let mount = (found == "mounted").then(|| file.path.clone());
    let untrusted_owner = (found == "link>stranger").then_some(1001);
    let missing_parents = if found == "no-parent" { vec!["/d".into()] } else { Vec::new() };
    let is_top_level = found == "top";
    let tree = file.force.then_some(TreeSize { files: 2, bytes: 1, is_partial: found == "unreadable" });
    let new_names = Some(("root".into(), "root".into()));
    let found = PathInfo { link, untrusted_owner, target, parent_missing: found == "no-parent" };
    FileState {
        found,
        link: text,
        names,
        new_names,
        desired,
        missing_parents,
        is_top_level,
        tree,
        mount,
        ..FileState::default()
    }
}

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, asks, found, differs]| {
        let file = file(ensure, asks);
        decide(&file, &state(&file, found, differs))
    });
    assert_eq!(rows, 82);
}

#[test]
fn advice_never_empties_a_directory_at_the_top() {
    for (path, advises) in [("/etc", false), ("/srv/app", true)] {
        let file =
            DesiredFile::build(path, Some("absent"), FileProperties::default(), Rendered::default()).unwrap();
        let state = FileState { is_top_level: !advises, ..state(&file, "full", "-") };
        let FilePlan::Fail(failure) = plan(&file, &state) else { panic!("{path}") };
        assert_eq!(failure.hints.iter().any(|hint| hint.contains("force")), advises, "{path}");
    }
}

#[test]
fn backup_needs_a_state_directory() {
    let file = file("present", "content,backup");
    let state = FileState { can_back_up: true, ..state(&file, "file", "content") };
    assert!(matches!(plan(&file, &state), FilePlan::Update(_)));
}

fn diff(
    ensure: &str,
    asks: &str,
    found: &str,
    differs: &str,
    change: impl FnOnce(&mut FileState),
) -> Option<String> {
    let file = file(ensure, asks);
    let mut state = FileState { diff: true, ..state(&file, found, differs) };
    change(&mut state);
    match decide(&file, &state) {
        Decision::Change { diff, .. } => diff,
        other => panic!("{other:?}"),
    }
}

#[test]
fn diff_shows_content_if_requested() {
    let as_is = |_: &mut FileState| ();
    let shown = |ensure, asks, found, differs| diff(ensure, asks, found, differs, as_is);
    assert_eq!(
        shown("present", "content", "file", "content").as_deref(),
        Some("--- /d/f\n+++ /d/f\n@@ -1 +1 @@\n-old\n+new\n")
    );
    assert_eq!(
        shown("present", "content", "nothing", "-").as_deref(),
        Some("--- /dev/null\n+++ /d/f\n@@ -0,0 +1 @@\n+new\n")
    );
    assert_eq!(
        shown("absent", "-", "file", "-").as_deref(),
        Some("--- /d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n")
    );
    assert_eq!(shown("present", "mode", "file", "mode"), None);
    assert_eq!(shown("absent", "-", "link>file", "-"), None);
    assert_eq!(shown("directory", "-", "nothing", "-"), None);
    assert_eq!(diff("present", "content", "file", "content", |state| state.diff = false), None);
}

#[test]
fn diff_explains_missing_lines() {
    let with = |change: fn(&mut FileState)| diff("present", "content", "file", "content", change).unwrap();
    let binary = with(|state| state.desired.content = Some(vec![0xff, 0]));
    assert_eq!(binary, "binary content differs (sha256 old → new)\n");
    let unreadable = with(|state| state.desired.content = None);
    assert_eq!(unreadable, "content differs (sha256 old → new)\n");
    let long = with(|state| (state.desired.content, state.desired.size) = (None, (1 << 20) + 1));
    assert_eq!(long, "content of more than 1 MiB differs (sha256 old → new)\n");
    let without_content = |state: &mut FileState| {
        let target = state.found.target.as_mut().unwrap();
        (target.sha256, target.content) = (None, None);
    };
    let removed = diff("absent", "-", "file", "-", without_content);
    assert_eq!(removed.as_deref(), Some("content is removed\n"));
    let made = diff("present", "content", "nothing", "-", |state| state.desired.content = Some(vec![0]));
    assert_eq!(made.as_deref(), Some("binary content is new (sha256 new)\n"));
}

#[test]
fn diff_shows_carriage_returns() {
    let shown = diff("present", "content", "file", "content", |state| {
        state.desired.content = Some(b"a\nb\rc\nold\r".to_vec());
        let target = state.found.target.as_mut().unwrap();
        target.content = Some(b"a\r\nb\nold\r".to_vec());
    });
    let expected =
        "--- /d/f\n+++ /d/f\n@@ -1,3 +1,3 @@\n-a\\r\n-b\n+a\n+b\\rc\n old\\r\n\\ No newline at end of file\n";
    assert_eq!(shown.as_deref(), Some(expected));
}

#[test]
fn undesired_state_after_a_change_is_a_failure() {
    let file = file("present", "content,mode");
    let done = FileEffect { sha256: Some("new".to_owned()), size: 7, parents: 0 };
    assert_eq!(FileResource::verify(&file, &state(&file, "file", "-"), &done), Ok(Verified::Changed));
    let failure = FileResource::verify(&file, &state(&file, "file", "content,mode"), &done).unwrap_err();
    assert_eq!(
        failure.chain,
        [
            "\"/d/f\" is not in the desired state after the change",
            "the content differs; the mode is 0600, not 0644"
        ]
    );
}
