//! Errors in the inputs of a manifest: facts, values, templates, variables and child manifests. Each is reported at
//! its location, and nothing is run.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use ccm_testkit::{Called, Scratch, needs_root, skipped};
use insta::assert_snapshot;

use crate::expect::{Expected, expect_error, expect_errors, expect_warnings};
use crate::{ccm, in_place};

/// A manifest whose first resource would leave a trace if it were run.
fn manifest(before: &str, resources: &str) -> String {
    format!("{before}ccm:\n  resources:\n    - exec:\n        - touch trace: {{cwd: \"[dir]\"}}\n{resources}")
}

fn run(scratch: &Scratch, text: &str, options: &[&str]) -> Called {
    scratch.write("m.yaml", in_place(scratch, text));
    let call = ccm(scratch, &["apply", "m.yaml"]).args(options);
    call.variable("XDG_CONFIG_HOME", &scratch.at("config")).run()
}

/// Applies a manifest that must be refused before anything is run, with these errors.
#[track_caller]
fn refused(scratch: &Scratch, text: &str, options: &[&str], expected: &[Expected]) -> Called {
    let called = run(scratch, text, options);
    expect_errors(&called, 1, expected);
    assert!(!scratch.has("trace"), "{text}\nwas run");
    called
}

#[test]
fn expressions_that_can_not_be_evaluated_are_refused() {
    let expect = |resource: &str, expected: &[Expected]| {
        let resource = format!("        - a: {resource}\n");
        refused(&Scratch::new(), &manifest("data: {timeout: 30s}\n", &resource), &[], expected);
    };
    expect("{creates: \"{{ trimm('/x') }}\"}", &[("m.yaml:6:28", &["function `trimm`"], &["`trim`"])]);
    expect("{timeout: \"{{ Data.timeuot }}\"}", &[("m.yaml:6:33", &["no `Data.timeuot`"], &["`timeout`"])]);
    let fact: Expected = ("m.yaml:6:44", &["no `Facts.host.info.platfrom`"], &["`platform`"]);
    expect("{timeout: \"{{ Facts.host.info.platfrom }}\"}", &[fact]);
    let hints = &["`data.timeout`", "`lookup('data.timeuot', '')`"];
    let path: Expected = ("m.yaml:6:28", &["no `data.timeuot`"], hints);
    expect("{timeout: \"{{ lookup('data.timeuot') }}\"}", &[path]);
    expect(
        "{returns: \"{{ Data.timeout }}\", timeout: \"{{ Data }}\"}",
        &[
            ("m.yaml:6:24", &["a list", "text `30s`"], &["`[30s]`", "value of the expression"]),
            ("m.yaml:6:55", &["text", "a map"], &["value of the expression"]),
        ],
    );
}

#[test]
fn errors_outside_the_manifest_are_counted_where_they_are() {
    let text = manifest("", "        - a: {}\n");
    let scratch = Scratch::new();
    scratch.write("bad.yaml", "role: web\nports: [80\n");
    scratch.write("latin.yaml", b"role: caf\xe9\n");
    let relative = "relative to the current directory";
    for (option, file, expected, total) in [
        (
            "--facts",
            "bad.yaml",
            ("bad.yaml:2:8", &["unclosed bracket"][..], &[][..]),
            "bad.yaml, used for m.yaml",
        ),
        ("--hiera", "bad.yaml", ("bad.yaml:2:8", &["unclosed bracket"], &[]), "bad.yaml, used for m.yaml"),
        (
            "--facts",
            "latin.yaml",
            ("", &["the facts file latin.yaml", "line 1, column 10: the byte 0xE9"], &[]),
            "the values for m.yaml",
        ),
        (
            "--facts",
            "nosuch.yaml",
            ("", &["the facts file nosuch.yaml can't be read"], &[relative]),
            "the values for m.yaml",
        ),
    ] {
        let called = refused(&scratch, &text, &[option, file], &[expected]);
        let end = format!("error: 1 error in {total}; nothing was run\n");
        assert!(called.stderr.ends_with(&end), "{}", called.shown());
    }
    for (file, part, hints) in [
        ("latin.yaml", "line 1, column 10: the byte 0xE9", &[][..]),
        ("nosuch.yaml", "can't be read", &[relative]),
    ] {
        let called = run(&scratch, &text, &["--hiera", file]);
        expect_error(&called, 1, "", &[&format!("--hiera {file}"), part], hints);
    }
}

#[test]
fn templates_that_can_not_be_rendered_are_refused() {
    let scratch = Scratch::new();
    scratch.write("loop.j2", "{% include 'round.j2' %}\n");
    scratch.write("round.j2", "one\n{% include 'loop.j2' %}\n");
    scratch.write("binary.j2", b"\x7fELF\x00\xff\xfe");
    scratch.write("broken.j2", "first\n{{ Data.nothing }}\n");
    let expect = |name: &str, locations: &str, message: &[&str]| {
        let resource = format!("    - file:\n        - [dir]/x:\n            source: {name}.j2\n");
        refused(&scratch, &manifest("", &resource), &[], &[(locations, message, &[])])
    };
    let includes = "m.yaml:7:21 [dir]/round.j2:2:4 [dir]/loop.j2:1:4";
    expect("loop", includes, &["template `loop.j2`", "nested too deep"]);
    expect("missing", "m.yaml:7:21", &["`[dir]/missing.j2`", "does not exist"]);
    expect("binary", "m.yaml:7:21", &["`[dir]/binary.j2`", "UTF-8"]);
    let locations = "m.yaml:7:21 [dir]/broken.j2:2:4";
    let called = expect("broken", locations, &["template `broken.j2`", "`Data.nothing`"]);
    assert_snapshot!("error_in_template", called.shown());
}

#[test]
fn facts_that_can_not_be_read_are_refused() {
    let scratch = Scratch::new();
    scratch.write("facts.yaml", "role: web\nsite: {name: south\n");
    let names = manifest("", "        - echo {{ Facts.role }}: {}\n");
    let open: Expected = ("facts.yaml:2:7", &["bracket", "`{`"], &[]);
    refused(&scratch, &names, &["--facts", "facts.yaml"], &[open]);
    let missing: Expected = ("", &["none.yaml", "No such file"], &["check the path"]);
    refused(&scratch, &names, &["--facts", "none.yaml"], &[missing]);
    scratch.write("config/ccm/facts.yaml", "role web\n");
    let text: Expected = ("[dir]/config/ccm/facts.yaml:1:1", &["map of facts", "text `role web`"], &[]);
    refused(&scratch, &names, &[], &[text]);
}

#[test]
fn untrusted_files_of_custom_facts_are_skipped_with_a_warning() {
    let scratch = Scratch::new();
    let real = scratch.write("real.yaml", "role: linked\n");
    scratch.write("config/ccm/facts.d/huge.yaml", "x: 1\n".repeat(300_000));
    symlink(real, scratch.path().join("config/ccm/facts.d/link.yaml")).expect("a link");
    let names = manifest("", "        - echo {{ Facts.role }}: {}\n");
    let called = refused(&scratch, &names, &[], &[("m.yaml:5:25", &["no `Facts.role`"], &["??"])]);
    expect_warnings(
        &called,
        &[
            ("", &["\"[dir]/config/ccm/facts.d/huge.yaml\"", "1048576 bytes"], &[]),
            ("", &["\"[dir]/config/ccm/facts.d/link.yaml\"", "symbolic link"], &[]),
        ],
    );
}

#[test]
fn all_invalid_values_are_reported_and_sensitive_ones_redacted() {
    let data = "\
data:
  # @validate isIPv4(value)
  address: 10.0.0.999
  # @require
  # @validate isHostname(value)
  host: -bad-
  # @validate isDuration(value)
  # @sensitive
  wait: hunter22
";
    let expected: [Expected; 3] = [
        ("m.yaml:3:3", &["`address`", "`isIPv4(value)`", "value is `10.0.0.999`"], &[]),
        ("m.yaml:6:3", &["`host`", "`isHostname(value)`", "value is `-bad-`"], &[]),
        ("m.yaml:9:3", &["`wait`", "`isDuration(value)`"], &[]),
    ];
    let called = refused(&Scratch::new(), &manifest(data, ""), &[], &expected);
    assert!(called.stderr.contains("\n9 |   wait: [redacted]\n"), "{}", called.shown());
    assert!(!called.stderr.contains("hunter22"), "{}", called.shown());
}

#[test]
fn a_hierarchy_names_existing_facts() {
    let order = "hierarchy: {order: [\"os:{{ Facts.host.info.oss }}\"]}\ndata: {a: 1}\noverrides: {role:web: {a: 2}}\n";
    let fact: Expected = ("m.yaml:1:44", &["no `Facts.host.info.oss`"], &["`os`"]);
    refused(&Scratch::new(), &manifest(order, ""), &[], &[fact]);
}

#[test]
fn files_of_values_exist_on_this_machine() {
    let url: Expected = ("", &["--hiera https://example.net/x.yaml", "URL"], &["file"]);
    refused(&Scratch::new(), &manifest("", ""), &["--hiera", "https://example.net/x.yaml"], &[url]);
    let missing: Expected = ("", &["--hiera x.yaml", "No such file"], &["check the path"]);
    refused(&Scratch::new(), &manifest("", ""), &["--hiera", "x.yaml"], &[missing]);
}

#[test]
fn the_environment_names_a_file_of_values() {
    let scratch = Scratch::new();
    scratch.write("values.yaml", "data: {port: 1}");
    scratch.write("other.json", r#"{"data": {"port": 2}}"#);
    scratch.write("m.yaml", "data: {port: 0}\nccm: {resources: [exec: ['/bin/true {{ Data.port }}': ]]}\n");
    let rendered = |called: Called| (called.code, called.stdout.replace('"', ""));
    for (args, expected) in [
        (&["eval", "Data.port"][..], "1\n"),
        (&["eval", "Data.port", "--hiera", "other.json"], "2\n"),
        (&["eval", "Data.port", "--data", "port=3"], "3\n"),
        (&["hiera", "parse"], "{\n  port: 1\n}\n"),
        (&["hiera", "parse", "role=web"], "{\n  port: 1\n}\n"),
        (&["hiera", "parse", "other.json"], "{\n  port: 2\n}\n"),
    ] {
        let called = ccm(&scratch, args).variable("CCM_HIERA_DATA", "values.yaml").run();
        assert_eq!(rendered(called), (0, expected.to_owned()), "{args:?}");
    }
    let called =
        ccm(&scratch, &["apply", "m.yaml", "--render"]).variable("CCM_HIERA_DATA", "values.yaml").run();
    assert!(called.stdout.contains("/bin/true 1"), "{}", called.shown());
    for args in [&["validate", "m.yaml"][..], &["apply", "m.yaml"], &["eval", "1"]] {
        let called = ccm(&scratch, args).variable("CCM_HIERA_DATA", "gone.yaml").run();
        expect_error(&called, 1, "", &["CCM_HIERA_DATA gone.yaml", "No such file"], &["check the path"]);
    }
    let called = ccm(&scratch, &["hiera", "parse"]).variable("CCM_HIERA_DATA", "gone.yaml").run();
    expect_error(&called, 1, "", &["gone.yaml", "No such file"], &["check the path"]);
    expect_error(
        &ccm(&scratch, &["hiera", "parse"]).run(),
        64,
        "",
        &["no file of values"],
        &["CCM_HIERA_DATA"],
    );
}

#[test]
fn assignments_need_a_key_of_the_data() {
    let text = manifest("data: {worker: 4}\n", "");
    let unknown: Expected = ("", &["--data", "`workers`"], &["`worker`", "--data-any"]);
    refused(&Scratch::new(), &text, &["--data", "workers=8"], &[unknown]);
    let called = run(&Scratch::new(), &text, &["--data", "workers=8", "--data-any"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let scratch = Scratch::new();
    scratch.write("d.yaml", "data: {worker: 4}");
    let parse = |options: &[&str]| ccm(&scratch, &["hiera", "parse", "d.yaml"]).args(options).run();
    expect_error(&parse(&["--data", "workers=8"]), 1, "", &["`workers`"], &["`worker`", "--data-any"]);
    assert_eq!(parse(&["--data", "workers=8", "--data-any"]).code, 0);
}

#[test]
fn facts_are_never_evaluated() {
    let scratch = Scratch::new();
    let text = manifest("", "    - file:\n        - [dir]/x: {content: '{{ Facts.note }}'}\n");
    let called = run(&scratch, &text, &["--fact", "note={{ 1 + 1 }} ${ Data.x }"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(scratch.read("x").as_deref(), Some("{{ 1 + 1 }} ${ Data.x }"));
}

#[test]
fn child_manifests_are_checked_before_anything_is_run() {
    let scratch = Scratch::new();
    let applies = |path: &str| format!("ccm: {{resources: [{{apply: {{name: {path}}}}}]}}\n");
    scratch.write("loop.yaml", applies("round.yaml"));
    scratch.write("round.yaml", applies("loop.yaml"));
    scratch.write("broken.yaml", "ccm:\n  resources:\n    - exec:\n        - a: {tmieout: 1s}\n");
    for depth in 0..12 {
        scratch.write(&format!("deep{depth}.yaml"), applies(&format!("deep{}.yaml", depth + 1)));
    }
    let expect = |name: &str, location: &str, message: &[&str], hints: &[&str]| {
        let text = manifest("", &format!("    - apply: {{name: {name}.yaml}}\n"));
        refused(&scratch, &text, &[], &[(location, message, hints)]);
    };
    expect("missing", "m.yaml:5:21", &["`[dir]/missing.yaml`", "does not exist"], &["from [dir]"]);
    let round = "[dir]/loop.yaml → [dir]/round.yaml → [dir]/loop.yaml";
    expect("loop", "[dir]/round.yaml:1:34", &["applies itself", round], &[]);
    expect("deep0", "[dir]/deep9.yaml:1:34", &["nested", "10 deep"], &[]);
    expect("broken", "[dir]/broken.yaml:4:15", &["property `tmieout`"], &["`timeout`"]);
}

#[test]
fn variables_come_from_the_env_file_unless_no_env_is_given() {
    let scratch = Scratch::new();
    scratch.write(".env", "export WORD='from the file'\n");
    let text = manifest("", "    - file:\n        - [dir]/x: {content: \"{{ Environ.WORD ?? 'none' }}\"}\n");
    assert_eq!(
        run(&scratch, &text, &["-q"]),
        Called { code: 0, stdout: String::new(), stderr: String::new() }
    );
    assert_eq!(scratch.read("x").as_deref(), Some("from the file"));
    assert_eq!(run(&scratch, &text, &["--no-env"]).code, 0);
    assert_eq!(scratch.read("x").as_deref(), Some("none"));
    let other = Scratch::new();
    other.write(".env", "GOOD=1\nWORD='open\n");
    refused(&other, &text, &[], &[("[dir]/.env:2:6", &["quote is not closed"], &[])]);
    std::fs::remove_file(other.path().join(".env")).expect("it was there");
    std::fs::create_dir(other.path().join(".env")).expect("a directory");
    refused(&other, &text, &[], &[("", &["\"[dir]/.env\" is a directory"], &["`--no-env`"])]);
}

#[test]
fn root_takes_no_variables_that_another_user_wrote() {
    if !needs_root() {
        return;
    }
    let plant = |plant: &str| {
        let scratch = Scratch::new();
        scratch.write(
            "m.yaml",
            "ccm: {resources: [{exec: {name: 'echo at ${ Environ.TARGET }', logoutput: true}}]}\n",
        );
        scratch.write("own", "TARGET=the-root\n");
        let apply = ccm(&scratch, &["apply", "m.yaml"]).variable("TARGET", "the-caller");
        let called = apply.after(&format!("chmod 1777 .; {plant}")).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called
    };
    let write = "echo TARGET=the-stranger >.env; chown 65534 .env";
    for (script, reason) in [
        (write, "belongs to uid 65534, not to root"),
        ("mkfifo .env; chown 65534 .env", "belongs to uid 65534, not to root"),
        ("ln -s own .env; chown -h 65534 .env", "belongs to uid 65534, not to root"),
        ("echo TARGET=the-stranger >.env; chmod 666 .env", "may be written by everybody (mode 0666)"),
        (
            "echo TARGET=the-stranger >.env; chgrp 12 .env; chmod 664 .env",
            "may be written by the group with gid 12 (mode 0664)",
        ),
        ("echo TARGET=the-stranger >x; chown 65534 x; ln -s x .env", "belongs to uid 65534, not to root"),
    ] {
        let called = plant(script);
        assert!(called.stdout.contains("at the-caller"), "{script}: {}", called.shown());
        assert!(
            called.stderr.contains(&format!("warning: `.env` is left out: \"[dir]/.env\" {reason}")),
            "{script}: {}",
            called.shown()
        );
    }
    for script in ["cp own .env; chmod 600 .env", "chmod 644 own; ln -s own .env"] {
        let called = plant(script);
        assert!(
            called.stdout.contains("at the-root") && called.stderr.is_empty(),
            "{script}: {}",
            called.shown()
        );
    }
}

#[test]
fn root_follows_no_links_of_a_stranger_to_directories_and_programs() {
    if !needs_root() {
        return;
    }
    let called = |owner: u32, exec: &str| {
        let scratch = Scratch::new();
        scratch
            .write("m.yaml", in_place(&scratch, &format!("ccm: {{resources: [{{exec: [{{{exec}}}]}}]}}\n")));
        let prepare = "chmod 755 .; mkdir real; printf '#!/bin/sh\\n>[dir]/ran\\n' >real/tool; chmod 755 real/tool; \
                       ln -s real link; ln -s real/tool tool";
        let links = format!("chown -h {owner} link tool");
        let prepare = in_place(&scratch, &format!("{prepare}; {links}"));
        let called = ccm(&scratch, &["apply", "m.yaml"]).after(&prepare).run();
        (called, scratch.has("ran") || scratch.has("real/ran"))
    };
    for (exec, part) in [
        ("a: {command: touch ran, cwd: '[dir]/link'}", "working directory"),
        ("a: {command: touch ran, cwd: '[dir]/link/../real'}", "working directory"),
        ("a: {command: '[dir]/tool'}", "tool\" could not be started"),
        ("a: {command: ./tool, cwd: '[dir]'}", "tool\" could not be started"),
        ("a: {command: link/tool, cwd: '[dir]', user: root}", "tool\" could not be started"),
        ("a: {command: 'touch [dir]/ran', onlyif: '[dir]/tool'}", "`onlyif`"),
        ("a: {command: 'touch [dir]/ran', creates: '[dir]/link/absent'}", "`creates`"),
        ("a: {command: 'touch [dir]/ran', creates: '[dir]/tool'}", "`creates`"),
    ] {
        let (refused, ran) = called(54_321, exec);
        assert_eq!((refused.code, ran), (4, false), "{exec}: {}", refused.shown());
        let shown = refused.shown();
        assert!(shown.contains("a symbolic link of another user (uid 54321)"), "{exec}: {shown}");
        assert!(shown.contains(part), "{exec}: {shown}");
        let (applied, ran) = called(0, exec);
        let satisfied = exec.ends_with("creates: '[dir]/tool'}");
        assert_eq!((applied.code, ran), (0, !satisfied), "{exec}: {}", applied.shown());
    }
    // Another user follows the link with his own rights.
    let (applied, _) =
        called(54_321, "a: {command: 'true', cwd: '[dir]/link', creates: '[dir]/tool', user: nobody}");
    assert_eq!(applied.code, 0, "{}", applied.shown());
    let (applied, _) = called(54_321, "a: {command: 'true', cwd: '[dir]/link', user: nobody}");
    assert_eq!(applied.code, 0, "{}", applied.shown());
}

#[test]
fn files_of_a_manifest_that_others_can_change_are_named_once() {
    let scratch = Scratch::new();
    let resource = |name: &str| format!("    - file: [{}: {{ensure: absent}}]\n", scratch.at(name));
    scratch.write("m.yaml", format!("ccm:\n  resources:\n    - apply: [child.yaml]\n{}", resource("a")));
    scratch.write("child.yaml", format!("ccm:\n  resources:\n{}", resource("b")));
    scratch.write("other.yaml", format!("ccm:\n  resources:\n{}", resource("c")));
    let warning = |arguments: &[&str]| {
        let called = ccm(&scratch, arguments).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        let warnings = called.stderr.lines().filter(|line| line.starts_with("warning: others can change"));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(warning(&["apply", "m.yaml", "other.yaml"]), [""; 0]);
    let set_mode = |name: &str, mode: u32| {
        std::fs::set_permissions(scratch.path().join(name), Permissions::from_mode(mode)).expect("a mode");
    };
    set_mode("child.yaml", 0o646);
    set_mode("other.yaml", 0o666);
    let both = "warning: others can change what this manifest does: [dir]/child.yaml (every user), [dir]/other.yaml (every user)";
    assert_eq!(warning(&["apply", "m.yaml", "other.yaml"]), [both]);
    assert_eq!(warning(&["apply", "--noop", "m.yaml", "other.yaml"]), [""; 0]);
    set_mode("child.yaml", 0o644);
    set_mode("", 0o777);
    let directory = "warning: others can change what this manifest does: [dir] (every user)";
    assert_eq!(warning(&["apply", "m.yaml"]), [directory]);
    // In a sticky directory others can't replace what is not theirs.
    set_mode("", 0o1777);
    assert_eq!(warning(&["apply", "m.yaml"]), [""; 0]);
    if !needs_root() {
        return;
    }
    std::os::unix::fs::chown(scratch.path().join("child.yaml"), Some(4401), None).expect("an owner");
    let owner = "warning: others can change what this manifest does: [dir]/child.yaml (uid 4401)";
    assert_eq!(warning(&["apply", "m.yaml"]), [owner]);
    std::os::unix::fs::chown(scratch.path().join("child.yaml"), Some(0), None).expect("an owner");
    // Owner, another user, group, mask, others.
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, id) in [(1_u16, u32::MAX), (2, 4401), (4, u32::MAX), (0x10, u32::MAX), (0x20, u32::MAX)] {
        let rights = if tag == 0x20 { 4_u16 } else { 6 };
        list.extend(tag.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(id.to_le_bytes()));
    }
    let child = scratch.path().join("child.yaml");
    let flags = rustix::fs::XattrFlags::empty();
    if let Err(error) = rustix::fs::setxattr(&child, "system.posix_acl_access", &list, flags) {
        return skipped(&format!("a list can't be set here: {error}"));
    }
    let listed = "warning: others can change what this manifest does: [dir]/child.yaml (uid 4401, by an access control list)";
    assert_eq!(warning(&["apply", "m.yaml"]), [listed]);
}

#[test]
fn a_source_in_the_directory_of_another_user_is_warned_of() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("theirs/file", "x");
    scratch.write("tree/file", "x");
    scratch.write("made/file", "x");
    for directory in ["theirs", "tree"] {
        std::os::unix::fs::chown(scratch.path().join(directory), Some(4401), None).expect("an owner");
    }
    let of = |source: &str| {
        let properties = match source {
            "tree" => "ensure: directory, ",
            _ => "",
        };
        let manifest =
            format!("ccm: {{resources: [{{file: [{{[dir]/to: {{{properties}source: {source}}}}}]}}]}}\n");
        scratch.write("m.yaml", manifest.replace("[dir]/", &scratch.at("")));
        ccm(&scratch, &["apply", "m.yaml"]).run().stderr
    };
    assert_eq!(of("made/file"), "");
    for source in ["theirs/file", &scratch.at("theirs/file")] {
        let warning = "warning: others can change what this manifest does: [dir]/theirs (uid 4401)";
        assert!(of(source).contains(warning), "{}", of(source));
    }
    std::fs::remove_file(scratch.path().join("to")).expect("a file");
    let warning = "warning: others can change what this manifest does: [dir]/tree (uid 4401)";
    assert!(of("tree").contains(warning), "{}", of("tree"));
}

#[test]
fn manifest_below_the_directory_of_another_user_is_warned_of() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("theirs/site/m.yaml", "ccm: {resources: []}\n");
    std::os::unix::fs::chown(scratch.path().join("theirs"), Some(4401), None).expect("an owner");
    let called = ccm(&scratch, &["apply", "theirs/site/m.yaml"]).run();
    let warning = "warning: others can change what this manifest does: [dir]/theirs (uid 4401)";
    assert!(called.stderr.contains(warning), "{}", called.shown());
}
