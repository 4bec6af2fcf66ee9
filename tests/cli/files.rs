//! The file resource.

use std::os::unix::fs::chown;

use ccm_testkit::{Scratch, needs_own_mounts, needs_root, skipped};
use insta::assert_snapshot;

use crate::expect::{Expected, expect_errors, expect_output, json_lines, outcomes};
use crate::{apply, apply_files, ccm, in_place, owner};

/// A directory, a file in it that stands before it, and one that has to go.
const SITE: &str = "
        - '[dir]/site/app.conf':
            content: |
              listen 80
              workers 4
              log info
            mode: 0640
        - '[dir]/site': {ensure: directory, mode: '0750'}
        - '[dir]/old.conf': {ensure: absent}
";

#[test]
fn files_are_created_once() {
    let scratch = Scratch::new();
    scratch.write("old.conf", "old\n");
    let expect = |options: &[&str], outcome: &str| {
        let called = apply_files(&scratch, SITE, &[options, &["--output", "jsonl"]].concat());
        let expected =
            ["site", "site/app.conf", "old.conf"].map(|name| format!("file#[dir]/{name} {outcome}"));
        assert_eq!((called.code, outcomes(&called)), (0, expected.to_vec()));
        let events = json_lines(&called.stdout).into_iter();
        let ensures = events.filter_map(|event| Some(event["final_ensure"].as_str()?.to_owned()));
        ensures.collect::<Vec<_>>()
    };
    assert_eq!(expect(&["--noop"], "would_change"), ["absent", "absent", "present"]);
    assert_eq!(scratch.names(), ["manifest.yaml", "old.conf"]);
    assert_eq!(expect(&[], "changed"), ["directory", "present", "absent"]);
    assert_eq!(scratch.names(), ["manifest.yaml", "site"]);
    assert_eq!(scratch.read("site/app.conf").as_deref(), Some("listen 80\nworkers 4\nlog info\n"));
    expect(&[], "unchanged");
}

#[test]
fn the_template_of_an_unmanaged_file_is_not_read() {
    let scratch = Scratch::new();
    for control in ["if: 'false'", "unless: 'true'"] {
        let file = format!("\n        - '[dir]/off': {{source: gone.j2, control: {{{control}}}}}\n");
        let applied = apply_files(&scratch, &file, &[]);
        assert_eq!(applied.code, 0, "{control}: {}", applied.shown());
        assert!(applied.stdout.contains("1 skipped"), "{control}: {}", applied.shown());
    }
    let both = "\n        - '[dir]/on': {source: gone.j2, content: x}\n";
    let refused = apply_files(&scratch, both, &[]);
    assert_eq!(refused.code, 1, "{}", refused.shown());
    assert!(refused.stderr.contains("`content` and `source` exclude each other"), "{}", refused.shown());
    assert!(!refused.stderr.contains("not supported"), "{}", refused.shown());
}

#[test]
fn a_diff_shows_planned_and_done_changes() {
    let scratch = Scratch::new();
    scratch.write("site/app.conf", "listen 80\nworkers 2\nlog \x1b[31minfo\n");
    scratch.write("old.conf", "old\n");
    let noop = apply_files(&scratch, SITE, &["--noop", "--diff"]);
    assert_snapshot!("diff", noop.shown());
    let applied = apply_files(&scratch, SITE, &["--diff"]);
    assert!(applied.stdout.contains("      -workers 2\n"), "{}", applied.shown());
    let again = apply_files(&scratch, SITE, &["--diff"]);
    assert!(!again.stdout.contains("---"), "{}", again.shown());
}

#[test]
fn noop_reports_files_in_a_directory_that_does_not_exist_yet() {
    let scratch = Scratch::new();
    let files = "
        - '[dir]/a/b/f': {content: \"x\\n\"}
        - '[dir]/a': {ensure: directory}
        - '[dir]/a/b': {ensure: directory}
        - '[dir]/c/f': {content: x}
";
    let noop = apply_files(&scratch, files, &["--noop", "--diff"]);
    let owner = owner();
    let shown = format!(
        "would create: 0644 {owner}, 2 bytes\n      --- /dev/null\n      +++ [dir]/a/b/f\n      @@ -0,0 +1 @@\n      +x\n"
    );
    assert!(noop.stdout.contains(&shown), "{}", noop.shown());
    assert!(noop.stdout.contains("the directory \"[dir]/c\" does not exist"), "{}", noop.shown());
    assert_eq!(scratch.names(), ["manifest.yaml"]);
    assert_eq!(apply_files(&scratch, files, &[]).code, 4);
    assert_eq!(scratch.read("a/b/f").as_deref(), Some("x\n"));
}

#[test]
fn a_directory_is_made_with_those_above_it() {
    let scratch = Scratch::new();
    // The noop of the file knows the directories that would be made.
    let files = "
        - '[dir]/a/b/leaf': {ensure: directory, mode: \"0700\"}
        - '[dir]/a/b/f': {content: \"x\\n\", require: ['file#[dir]/a/b/leaf']}
        - '[dir]/a/other': {ensure: directory, require: ['file#[dir]/a/b/leaf']}
";
    let noop = apply_files(&scratch, files, &["--noop", "--output", "json"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    let document: serde_json::Value = serde_json::from_str(&noop.stdout).expect("a document");
    let of = |field: &str| -> Vec<String> {
        let events = document["events"].as_array().expect("the events").iter();
        events.map(|event| event[field].as_str().unwrap_or_default().to_owned()).collect()
    };
    let (owner, created) = (owner(), "Would have created:");
    let expected = [
        format!("{created} 0700 {owner}, and 2 directories above it"),
        format!("{created} 0644 {owner}, 2 bytes"),
        format!("{created} 0755 {owner}"),
    ];
    assert_eq!(of("noop_message"), expected);
    assert_eq!(scratch.names(), ["manifest.yaml"]);
    assert_eq!(apply_files(&scratch, files, &[]).code, 0);
    assert_eq!(scratch.read("a/b/f").as_deref(), Some("x\n"));
}

#[test]
fn a_directory_directly_below_the_root_is_not_removed_by_force() {
    let scratch = Scratch::new();
    let files = "        - /srv: {ensure: absent, force: true}\n";
    let expected: [Expected; 1] =
        [("manifest.yaml:4:41", &["`force`", "`/srv`", "directly below `/`"], &["remove `force`"])];
    for options in [&[][..], &["--noop"]] {
        expect_errors(&apply_files(&scratch, files, options), 1, &expected);
    }
}

#[test]
fn binary_content_is_not_printed() {
    let scratch = Scratch::new();
    scratch.write("f", [0, 1, 2]);
    let files = "        - '[dir]/f': {content: text}\n";
    let called = apply_files(&scratch, files, &["--noop", "--diff"]);
    let hashes = ["file#[dir]/f would change", "binary", "sha256 ae4b3280e56e", "982d9e3eb996", "1 resource"];
    expect_output(&called, 0, &hashes);
    assert!(!called.stdout.contains("@@"), "{}", called.shown());
}

#[test]
fn failures_are_reported_with_cause_and_hint() {
    let scratch = Scratch::new();
    scratch.write("full/f", "");
    scratch.write("g", "");
    let files = "
        - '[dir]/full': {ensure: absent}
        - '[dir]/g': {ensure: directory}
        - '[dir]/no/f': {content: x}
        - '[dir]/a': {owner: nosuchuser}
        - '[dir]/b': {source: full}
        - '[dir]/c': {content: x, require: ['file#[dir]/a']}
";
    assert_snapshot!("failures", apply_files(&scratch, files, &[]).shown());
    assert_eq!(scratch.names(), ["full", "g", "manifest.yaml"]);
}

#[test]
fn errors_in_properties_are_located() {
    let scratch = Scratch::new();
    let files = "
        - etc/motd: {content: a, source: b}
        - /etc/motd: {mode: u+x, ensure: directory}
        - /etc/../motd: {force: true}
";
    let expected: [Expected; 6] = [
        ("manifest.yaml:5:11", &["`etc/motd`", "absolute path"], &["full path"]),
        ("manifest.yaml:5:42", &["`content`", "`source`", "exclude each other"], &["one of them"]),
        ("manifest.yaml:5:42", &["does not exist"], &["earlier resource"]),
        ("manifest.yaml:6:29", &["`u+x`", "mode", "octal"], &["`0644`"]),
        ("manifest.yaml:7:11", &["`/etc/../motd`", "`..`"], &["shortest form"]),
        ("manifest.yaml:7:33", &["`force`", "`ensure: absent`"], &["remove `force`"]),
    ];
    expect_errors(&apply_files(&scratch, files, &[]), 1, &expected);
}

#[test]
fn wrong_values_of_ensure_come_with_the_right_one() {
    let scratch = Scratch::new();
    for (written, hint) in [
        ("dir", "write `ensure: directory`"),
        ("file", "write `ensure: present`"),
        ("symlink", "write `ensure: link`"),
    ] {
        let called = apply_files(&scratch, &format!("        - /f: {{ensure: {written}}}\n"), &[]);
        let hints = called.stderr.lines().filter(|line| line.contains("hint: "));
        assert_eq!(hints.collect::<Vec<_>>(), [format!("  = hint: {hint}")], "{}", called.shown());
    }
}

#[test]
fn a_source_is_relative_to_the_manifest() {
    let scratch = Scratch::new();
    scratch.write("files/motd", "hello\n");
    let target = scratch.at("motd");
    let manifest = format!("ccm: {{resources: [{{file: {{name: '{target}', source: files/motd}}}}]}}");
    scratch.write("manifests/site.yaml", &manifest);
    scratch.write("manifests/files/motd", "beside the manifest\n");
    let called = ccm(&scratch, &["apply", "manifests/site.yaml"]).run();
    assert_eq!((called.code, scratch.read("motd").as_deref()), (0, Some("beside the manifest\n")));
    let called = ccm(&scratch, &["apply", "-"]).input(manifest).run();
    assert_eq!((called.code, scratch.read("motd").as_deref()), (0, Some("hello\n")));
}

/// A steady run must not read each source twice.
#[test]
fn a_source_is_searched_for_expressions_until_it_is_copied() {
    let scratch = Scratch::new();
    scratch.write("app.conf", "listen {{ Data.port }}\n");
    let manifest =
        format!("ccm: {{resources: [{{file: [{{'{}': {{source: app.conf}}}}]}}]}}", scratch.at("copy"));
    let warned = |called: &ccm_testkit::Called| called.stderr.contains("is copied as it is");
    scratch.write("m.yaml", &manifest);
    for (arguments, expected) in [
        (&["apply", "m.yaml", "--noop"][..], true),
        (&["apply", "m.yaml"], true),
        (&["apply", "m.yaml"], false),
        (&["validate", "m.yaml"], true),
    ] {
        let called = ccm(&scratch, arguments).run();
        assert_eq!((called.code, warned(&called)), (0, expected), "{arguments:?}: {}", called.shown());
    }
    scratch.write("app.conf", "listen {{ Data.port }} {{ Data.address }}\n");
    let called = ccm(&scratch, &["apply", "m.yaml"]).run();
    assert!(warned(&called), "{}", called.shown());
}

#[test]
fn a_changed_file_triggers_its_subscribers() {
    let scratch = Scratch::new();
    let path = scratch.at("f");
    let manifest = |content: &str| {
        format!(
            "ccm:\n  resources:\n    - exec: {{name: echo reloaded, refresh_only: true, subscribe: ['file#{path}']}}\n\
             \x20   - file: {{name: '{path}', content: {content}}}\n"
        )
    };
    for (content, refreshed) in [("one", true), ("one", false), ("two", true)] {
        let called = apply(&scratch, &manifest(content), &[]);
        let line = "exec#echo reloaded refreshed";
        assert_eq!(called.reported().contains(line), refreshed, "{}", called.shown());
    }
}

#[test]
fn noop_reports_a_missing_directory_for_backups() {
    let scratch = Scratch::new();
    let files = format!("{{'{}': {{ensure: absent, backup: true}}}}", scratch.write("f", "").display());
    scratch.write("manifest.yaml", format!("ccm: {{resources: [{{file: [{files}]}}]}}"));
    let noop = || ccm(&scratch, &["apply", "manifest.yaml", "--noop"]);
    let called = noop().variable("HOME", &scratch.at("home")).default_state().run();
    assert_eq!((called.code, scratch.has("home")), (0, false), "{}", called.shown());
    assert!(called.stdout.contains("would remove: file, 0 bytes"), "{}", called.shown());
    if !ccm_testkit::is_root() {
        let called = noop().default_state().run();
        assert!(called.stdout.contains("hint: set HOME or XDG_STATE_HOME"), "{}", called.shown());
    }
}

#[test]
fn the_state_directory_of_the_run_is_not_removed() {
    let scratch = Scratch::new();
    scratch.write("f", "");
    let files = "        - '[dir]': {ensure: absent, force: true}\n";
    let expected = "can't remove \"[dir]\", which is or contains the state directory of this run";
    for options in [&["--state-dir", "state"][..], &["--state-dir", "state", "--noop"]] {
        let called = apply_files(&scratch, files, options);
        assert_eq!((called.code, called.stdout.contains(expected)), (4, true), "{}", called.shown());
    }
    assert!(scratch.has("f"));
}

#[test]
fn a_backup_is_kept_in_a_linked_state_directory() {
    let scratch = Scratch::new();
    scratch.write("f", "one\n");
    std::fs::create_dir(scratch.path().join("real")).expect("a directory");
    std::os::unix::fs::symlink("real", scratch.path().join("link")).expect("a link");
    let files = "        - '[dir]/f': {content: \"two\\n\", backup: true}\n";
    let called = apply_files(&scratch, files, &["--state-dir", "link/state"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(std::fs::read_dir(scratch.path().join("real/state/backups")).expect("backups").count(), 2);
}

#[test]
fn a_backup_of_a_file_with_a_secret_name_can_be_found() {
    let scratch = Scratch::new();
    scratch.write("hunter2hunter2", "one\n");
    let manifest = "
data:
  # @sensitive
  name: hunter2hunter2
ccm: {resources: [{file: [{'[dir]/hunter2hunter2': {content: two, backup: true}}]}]}
";
    let called = apply(&scratch, &in_place(&scratch, manifest), &[]);
    let mut kept = std::fs::read_dir(scratch.state().join("backups")).expect("the backups").flatten();
    let name = kept.next().expect("a backup").file_name().into_string().expect("a name");
    let note = format!("backed up the old content to [state]/backups/{name}\n");
    assert!(called.stdout.contains(&note), "{}", called.shown());
}

#[test]
fn a_backup_is_kept_if_the_manifest_asks_for_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    scratch.write("f", "one\n");
    let files = "        - '[dir]/f': {content: \"two\\n\", backup: true}\n";
    let noop = apply_files(&scratch, files, &["--noop"]);
    assert!(noop.stdout.contains("would change: content (+1 -1)"), "{}", noop.shown());
    assert!(!noop.stdout.contains("kept in") && !scratch.state().exists(), "{}", noop.shown());
    let called = apply_files(&scratch, files, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let kept = called
        .stdout
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("backed up the old content to "));
    let kept = kept.and_then(|kept| kept.strip_prefix("[state]/backups/")).expect("the report says where");
    let note = format!("      backed up the old content to [state]/backups/{kept}\n");
    let run = std::fs::read_dir(scratch.state().join("runs")).expect("runs").flatten().next().expect("a run");
    let shown = ccm(&scratch, &["history", &run.file_name().to_string_lossy()]).run();
    assert!(shown.stdout.contains(&note), "{}", shown.shown());
    let kept = scratch.state().join("backups").join(kept);
    assert_eq!(std::fs::read_to_string(&kept).expect("the backup"), "one\n");
    assert_eq!(std::fs::metadata(&kept).expect("the backup").permissions().mode() & 0o7777, 0o600);
    assert_eq!(scratch.read("f").as_deref(), Some("two\n"));
    let again = apply_files(&scratch, files, &[]);
    assert!(!again.stdout.contains("kept in"), "{}", again.shown());
}

#[test]
fn a_mode_from_an_expression_is_text() {
    let scratch = Scratch::new();
    for (mode, valid) in [
        ("0644", true),
        ("'{{ \"0644\" }}'", true),
        ("'{{ Data.text }}'", true),
        ("'0{{ 644 }}'", true),
        ("'{{ Data.nothing ?? nil }}'", true),
        ("'{{ 644 }}'", false),
        ("'{{ Data.number }}'", false),
    ] {
        let files = format!("[{{'{}': {{mode: {mode}}}}}]", scratch.at("f"));
        let data = "data: {text: 0644, number: 644, nothing: ~}";
        scratch.write("manifest.yaml", format!("{data}\nccm: {{resources: [{{file: {files}}}]}}"));
        let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
        assert_eq!(called.code == 0, valid, "{mode}: {}", called.shown());
        assert!(valid || called.stderr.contains("expected a mode as text"), "{mode}: {}", called.shown());
    }
}

#[test]
fn a_full_disk_leaves_whole_files_only() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    let disk = scratch.at("disk");
    scratch.write("disk/.keep", "");
    let content = |number: usize| number.to_string().repeat(20_000);
    let file = |number: usize| format!("        - {disk}/n{number}: {{content: \"{}\"}}\n", content(number));
    let files: String = (0..8).map(file).collect();
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - file:\n{files}"));
    // The disk goes with the mount namespace, so what is on it after the first run is copied.
    let script = format!(
        "mount -t tmpfs -o size=64k,mode=0755 tmpfs {disk}\nprintf old > {disk}/n7\n\
         \"$0\" \"$@\" > first 2>&1 || echo $? > code\ncp -r {disk} copy\nmount -o remount,size=1m {disk}"
    );
    let second = ccm(&scratch, &["apply", "manifest.yaml"]).after_mounting(&script).run();
    let first = scratch.read("first").unwrap_or_default();
    assert_eq!(scratch.read("code").as_deref(), Some("4\n"), "{first}");
    assert!(first.contains("caused by: No space left on device"), "{first}");
    assert!(!first.contains("something may have been changed"), "{first}");
    let copied = std::fs::read_dir(scratch.at("copy")).expect("the copy").flatten();
    let mut names: Vec<String> =
        copied.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(names.len() > 1 && names.len() < 8, "{names:?}");
    for name in names.iter().filter(|name| *name != "n7") {
        let number = name.trim_start_matches('n').parse().expect("nothing is left beside a file");
        assert_eq!(scratch.read(&format!("copy/{name}")), Some(content(number)));
    }
    assert_eq!(scratch.read("copy/n7").as_deref(), Some("old"));
    assert_eq!(second.code, 0, "{}", second.shown());
    assert!(
        second.stdout.contains(&format!("; created {}, changed 1 (run ", 7 - (names.len() - 1))),
        "{}",
        second.shown()
    );
}

#[test]
fn a_new_file_has_the_label_of_the_policy_before_it_appears() {
    const LABEL: &str = "system_u:object_r:name_specific_t:s0";
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("out/existing", "old\n");
    scratch.write_program(
        "matchpathcon",
        &format!("#!/bin/sh\necho \"$*\" >> {}\necho {LABEL}\n", scratch.at("asked")),
    );
    let machine = format!(
        "mount -t tmpfs tmpfs /sys/fs\nmkdir /sys/fs/selinux\necho 1 > /sys/fs/selinux/enforce\n\
         mount -t tmpfs tmpfs /usr/local/sbin\ncp {} /usr/local/sbin/",
        scratch.at("matchpathcon")
    );
    let files = "- [dir]/out: {ensure: directory}\n        - [dir]/out/existing: {content: new}\n        \
                 - [dir]/out/new: {content: new}\n        - [dir]/out/below: {ensure: directory}\n        \
                 - [dir]/out/link: {ensure: link, target: new}\n";
    let manifest = format!("ccm:\n  resources:\n    - file:\n        {files}");
    scratch.write("manifest.yaml", in_place(&scratch, &manifest));
    let call = || ccm(&scratch, &["apply", "manifest.yaml"]).after_mounting(&machine).run();
    let called = call();
    assert_eq!(called.code, 0, "{}", called.shown());
    let asked = scratch.read("asked").unwrap_or_default().replace(&scratch.at("out"), "out");
    assert_eq!(asked, "-n -m file out/new\n-n -m dir out/below\n-n -m lnk_file out/link\n");
    let label = |name: &str| {
        let mut buffer = [0; 256];
        let length = rustix::fs::lgetxattr(scratch.at(name), "security.selinux", &mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..length]).trim_end_matches('\0').to_owned())
    };
    if label("out/new").is_none() {
        skipped("this file system has no labels");
    } else {
        for name in ["out/new", "out/below", "out/link"] {
            assert_eq!(label(name).as_deref(), Some(LABEL), "{name}");
        }
    }
    let called = call();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(scratch.read("asked").map(|asked| asked.lines().count()), Some(3), "{}", called.shown());
}

#[test]
fn a_tree_that_others_can_change_while_it_is_copied_is_warned_of() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("theirs/conf/a", "a");
    chown(scratch.path().join("theirs"), Some(4401), None).expect("an owner");
    let warned = |name: &str, properties: &str| {
        let tree = scratch.at(name);
        scratch.write(
            "m.yaml",
            format!(
                "ccm:\n  resources:\n    - file: [{tree}: {{ensure: directory, source: theirs/conf{properties}}}]\n"
            ),
        );
        let called = ccm(&scratch, &["apply", "m.yaml"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called.shown().contains("uid 4401 can change what is copied from [dir]/theirs")
    };
    assert!(warned("copy", ""));
    // What is there already is not copied again.
    assert!(!warned("copy", ""));
    // Who gets the copy may have written it.
    assert!(!warned("given", ", owner: '4401'"));
    chown(scratch.path().join("theirs"), Some(0), None).expect("an owner");
    assert!(!warned("ours", ""));
}
