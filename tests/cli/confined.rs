//! Commands that run as another user or in a sandbox, from the manifest to the kernel.

mod kernel;
mod programs;
mod server;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

use ccm_testkit::{Called, Scratch, needs_ordinary_user, needs_root, skipped};
use serde_json::Value;

use crate::{apply_execs, ccm, ended_by_limit, without_limit};

/// Applies execs with private directories in a place of the test's own.
fn apply_private(scratch: &Scratch, execs: &str, options: &[&str]) -> Called {
    let place = scratch.path().join("private");
    if !place.exists() {
        fs::create_dir(&place).expect("a directory");
        fs::set_permissions(&place, PermissionsExt::from_mode(0o1777)).expect("open to all");
    }
    let execs = execs.replace("[dir]", &scratch.path().to_string_lossy());
    scratch.write("manifest.yaml", format!("ccm:\n  executors: {{bare: {{kind: native, default_env: {{A: b}}}}}}\n  resources:\n    - exec:\n{execs}"));
    let mut called = ccm(scratch, &["apply", "manifest.yaml"])
        .variable("TMPDIR", &scratch.at("private"))
        .variable("INHERITED", "yes")
        .args(options)
        .run();
    let left: Vec<_> = fs::read_dir(&place).expect("the place").flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?} is left: {}", called.shown());
    called.stdout = without_number(&called.stdout);
    called
}

/// The names of private directories are drawn by lot.
fn without_number(text: &str) -> String {
    let mut parts = text.split("ccm-private-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "PRIVATE" + part.get(32..).unwrap_or_default())
}

fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").expect("the mounts")
}

/// Returns `true` if this kernel can enforce a sandbox for the user of the tests.
pub(crate) fn kernel_can(scratch: &Scratch) -> bool {
    let called = apply_private(scratch, "        - a: {command: 'true', sandbox: {}}\n", &[]);
    if called.stdout.contains("this kernel can't enforce the sandbox") {
        skipped("this kernel can't enforce a sandbox");
        return false;
    }
    assert_eq!(called.code, 0, "{}", called.shown());
    true
}

/// Has to succeed; returns the lines that the command printed.
fn lines(scratch: &Scratch, command: &str, properties: &str) -> Vec<String> {
    let command = Value::from(command);
    let execs =
        format!("        - a: {{command: {command}, provider: shell, logoutput: true, {properties}}}\n");
    let called = apply_private(scratch, &execs, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let line = |line: &str| line.split_once("exec#a stdout | ").map(|(_, line)| line.to_owned());
    called.stdout.lines().filter_map(line).collect()
}

/// Has to fail; returns the report.
fn failed(scratch: &Scratch, exec: &str) -> String {
    let called = apply_private(scratch, exec, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    called.stdout
}

#[test]
fn a_command_runs_as_the_user_it_names() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("place/.keep", "");
    fs::set_permissions(scratch.path().join("place"), PermissionsExt::from_mode(0o777)).expect("open");
    let does = "id -u; id -g; id -G; echo $HOME $USER $LOGNAME $SHELL; umask; touch [dir]/place/made"
        .replace("[dir]", &scratch.at(""));
    let told = lines(&scratch, &does, "user: nobody, group: daemon, umask: '027', cwd: /");
    let entry = fs::read_to_string("/etc/passwd").expect("the users");
    let nobody = entry.lines().find(|line| line.starts_with("nobody:")).expect("nobody");
    let fields: Vec<&str> = nobody.split(':').collect();
    let home = format!("{} nobody nobody {}", fields[5], fields[6]);
    assert_eq!(told[..2], [fields[2].to_owned(), "1".to_owned()]);
    assert!(!told[2].split(' ').any(|group| group == "0"), "{told:?}");
    assert!(told[2].split(' ').any(|group| group == fields[3]), "{told:?}");
    assert_eq!(told[3..], [home, "0027".to_owned()]);
    let made = fs::metadata(scratch.path().join("place/made")).expect("it was made");
    assert_eq!((made.uid().to_string(), made.gid(), made.mode() & 0o777), (fields[2].to_owned(), 1, 0o640));
    assert_eq!(lines(&scratch, "id -u; id -g", "group: daemon"), ["0", "1"]);
}

#[test]
fn guards_and_program_lookup_run_as_the_user() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write_program("closed/tool", "#!/bin/sh\necho tool\n");
    fs::set_permissions(scratch.path().join("closed"), PermissionsExt::from_mode(0o700)).expect("closed");
    let said = failed(&scratch, "        - a: {command: tool, path: '[dir]/closed', user: nobody}\n");
    assert!(said.contains("\"tool\" not found in PATH"), "{said}");
    let execs = "        - a: {command: 'true', user: nobody, umask: '077', provider: shell, onlyif: 'test $(id -un) = nobody && test $(umask) = 0077'}\n";
    for options in [&["--noop"][..], &[]] {
        let called = apply_private(&scratch, execs, options);
        assert_eq!(called.code, 0, "{}", called.shown());
        assert!(called.reported().contains("change"), "{}", called.shown());
    }
}

#[test]
fn an_unknown_user_is_named() {
    let scratch = Scratch::new();
    for (properties, property, expected) in [
        ("user: no-such-user", "user", "user \"no-such-user\" does not exist"),
        ("group: no-such-group", "group", "group \"no-such-group\" does not exist"),
    ] {
        let exec = format!("        - a: {{command: 'true', {properties}}}\n");
        let said = failed(&scratch, &exec);
        assert!(said.contains("x exec     a "), "{said}");
        assert!(
            said.contains(&format!(
                "`{property}` can't be used\n      command: true\n      caused by: {expected}\n"
            )),
            "{said}"
        );
        let noop = apply_private(&scratch, &exec, &["--noop"]);
        assert_eq!(noop.code, 0, "{}", noop.shown());
        assert!(noop.stdout.contains(&format!("a run would fail now: `{property}`")), "{}", noop.shown());
    }
    for guard in ["onlyif: 'true', ", ""] {
        let later = format!(
            "        - make: {{command: 'true'}}\n        - a: {{command: 'true', user: no-such-user, {guard}require: [exec#make]}}\n"
        );
        let noop = apply_private(&scratch, &later, &["--noop"]);
        assert_eq!(noop.code, 0, "{}", noop.shown());
        assert!(noop.stdout.contains("not known before exec#make"), "{}", noop.shown());
        assert!(!noop.stdout.contains("would fail now"), "{}", noop.shown());
    }
    let digits = failed(&scratch, "        - a: {command: 'true', user: '54321'}\n");
    assert!(digits.contains("uid 54321 has no entry in the user database"), "{digits}");
}

#[test]
fn only_root_can_run_as_another_user() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    for (properties, property) in [("user: root", "user"), ("group: root", "group")] {
        let said = failed(&scratch, &format!("        - a: {{command: 'true', {properties}}}\n"));
        assert!(said.contains(&format!("`{property}` can't be changed: only root can")), "{said}");
        assert!(said.contains("      at manifest.yaml:5:32\n"), "{said}");
    }
    assert_eq!(lines(&scratch, "umask", "umask: '077'"), ["0077"]);
}

#[test]
fn a_sandbox_has_access_to_its_own_directory_only() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("outside", "secret\n");
    scratch.write("open/file", "open\n");
    let before = mounts();
    let told = lines(
        &scratch,
        "pwd; env | cut -d= -f1 | sort | tr '\\n' ' '; echo; echo own > own; cat own",
        "sandbox: {}",
    );
    assert_eq!(told, ["[dir]/private/PRIVATE/work", "HOME PATH PWD TMPDIR ", "own"]);
    let told = lines(
        &scratch,
        "test $HOME = $TMPDIR && test $HOME = $PWD && stat -c '%a %u' . && id -u",
        "sandbox: {}",
    );
    assert_eq!(told[0], format!("700 {}", told[1]));
    let outside = scratch.at("");
    for command in [
        format!("cat {outside}/outside"),
        "echo x > /etc/ccm-test".to_owned(),
        format!("echo x > {outside}/open/new"),
        "cat /etc/shadow".to_owned(),
    ] {
        let command = Value::from(command);
        let exec = format!(
            "        - a: {{command: {command}, provider: shell, sandbox: {{read: ['[dir]/open']}}}}\n"
        );
        let said = failed(&scratch, &exec);
        assert!(said.contains("not in allowed returns"), "{said}");
    }
    assert!(!Path::new("/etc/ccm-test").exists() && !scratch.has("open/new"));
    // The `/tmp` that it may write is its own.
    lines(&scratch, &format!("mkdir -p {outside}; echo x > {outside}/new || true"), "sandbox: {}");
    assert!(!scratch.has("new"));
    let opened = format!("sandbox: {{read: [./open/file], write: [{}]}}", scratch.at("open"));
    assert_eq!(
        lines(&scratch, &format!("cat {outside}open/file; echo x > {outside}open/new"), &opened),
        ["open"]
    );
    assert_eq!(scratch.read("open/new").as_deref(), Some("x\n"));
    assert_eq!(mounts(), before);
}

#[test]
fn a_sandbox_has_no_network_by_default() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // Perl is in every Debian.
    let exec = |sandbox: &str| {
        format!(
            "        - a: {{command: perl, args: [-MIO::Socket::INET, -e, 'IO::Socket::INET->new(\"127.0.0.1:{port}\") or die \"refused\"'], sandbox: {sandbox}}}\n"
        )
    };
    let said = failed(&scratch, &exec("{}"));
    assert!(said.contains("refused"), "{said}");
    let called = apply_private(&scratch, &exec("{network: true}"), &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn the_environment_and_the_directory_of_a_sandbox_can_be_chosen() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("work/.keep", "");
    let does = "pwd; echo $HOME $TMPDIR $INHERITED; touch made; touch $TMPDIR/x";
    assert_eq!(
        lines(&scratch, does, "sandbox: {workdir: manifest, env: inherit}"),
        ["[dir]", "[dir] [dir]/private/PRIVATE/work yes"]
    );
    assert_eq!(
        lines(&scratch, does, "sandbox: {workdir: ./work}"),
        ["[dir]/work", "[dir]/work [dir]/private/PRIVATE/work"]
    );
    assert!(scratch.has("made") && scratch.has("work/made"));
    assert_eq!(lines(&scratch, "pwd", "cwd: /usr, sandbox: {}"), ["/usr"]);
    let told =
        lines(&scratch, "echo $A $B ${LANG:-none}", "executor: bare, environment: {B: c}, sandbox: {}");
    assert_eq!(told, ["b c none"]);
}

#[test]
fn a_sandbox_starts_programs_of_the_manifest_directory() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write_program("bin/tool", "#!/bin/sh\necho tool $1\n");
    std::os::unix::fs::symlink("/usr/bin/env", scratch.path().join("bin/link")).expect("a link");
    for (command, expected) in [
        ("./bin/tool x", Ok("tool x")),
        ("bin/tool y", Ok("tool y")),
        ("[dir]/bin/tool z", Ok("tool z")),
        ("./bin/none", Err("\"./bin/none\" not found")),
        (
            "./bin/link",
            Err("\"./bin/link\" is outside the directories from which this sandbox may start programs"),
        ),
        (
            "bin/../../../../../../../../usr/bin/env",
            Err("is outside the directories from which this sandbox may start programs"),
        ),
        (
            "/usr/bin/env",
            Err("\"/usr/bin/env\" is outside the directories from which this sandbox may start programs"),
        ),
    ] {
        let exec = format!("        - a: {{command: '{command}', logoutput: true, sandbox: {{}}}}\n");
        let called = apply_private(&scratch, &exec, &[]);
        assert_eq!(called.code == 0, expected.is_ok(), "{command}: {}", called.shown());
        let (Ok(text) | Err(text)) = expected;
        assert!(called.stdout.contains(text), "{command}: {}", called.shown());
    }
    let said = failed(&scratch, "        - a: {command: /usr/bin/env, sensitive: true, sandbox: {}}\n");
    assert!(
        said.contains("is outside the directories from which this sandbox may start programs")
            && !said.contains("bin/env"),
        "{said}"
    );
}

#[test]
fn missing_paths_are_named_with_their_property() {
    let scratch = Scratch::new();
    for (sandbox, property) in
        [("read: [/no/such]", "read"), ("write: [/no/such]", "write"), ("workdir: /no/such", "workdir")]
    {
        let said = failed(&scratch, &format!("        - a: {{command: 'true', sandbox: {{{sandbox}}}}}\n"));
        let expected = format!("`{property}` of the sandbox: \"/no/such\" can't be opened\n");
        assert!(said.contains("x exec     a ") && said.contains(&expected), "{said}");
        assert!(said.contains("No such file or directory"), "{said}");
        assert!(said.contains("      at manifest.yaml:5:32\n"), "{said}");
    }
}

#[test]
fn paths_that_an_earlier_resource_creates_are_accepted() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    let exec = "        - a: {command: 'true', sandbox: {read: ['[dir]/made']}, require: ['file#[dir]/made']}\n    - file:\n        - [dir]/made: {content: x}\n";
    let noop = apply_private(&scratch, exec, &["--noop"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    assert!(noop.stdout.contains("not known before file#"), "{}", noop.shown());
    assert!(!noop.stdout.contains("would fail now"), "{}", noop.shown());
}

#[test]
fn noop_creates_no_private_directory() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    let place = fs::File::open(scratch.path().join("private")).expect("the place");
    for properties in ["{}", "{workdir: manifest}", "{workdir: '[dir]', advisory: true}"] {
        place.set_modified(SystemTime::UNIX_EPOCH).expect("an old time");
        let exec = format!("        - a: {{command: 'true', sandbox: {properties}}}\n");
        let noop = apply_private(&scratch, &exec, &["--noop"]);
        assert_eq!(noop.code, 0, "{}", noop.shown());
        assert!(!noop.stdout.contains("would fail now"), "{}", noop.shown());
        let modified =
            place.metadata().and_then(|found| found.modified()).expect("the time of the last change");
        assert_eq!(modified, SystemTime::UNIX_EPOCH, "something was made in the place, {properties}");
    }
    // A run makes one there.
    apply_private(&scratch, "        - a: {command: 'true', sandbox: {}}\n", &[]);
    let modified = place.metadata().and_then(|found| found.modified()).expect("the time of the last change");
    assert_ne!(modified, SystemTime::UNIX_EPOCH);
}

#[test]
fn noop_reports_a_private_directory_that_can_not_be_created() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: [{a: {command: 'true', sandbox: {}}}]}]}\n");
    let noop =
        ccm(&scratch, &["apply", "manifest.yaml", "--noop"]).variable("TMPDIR", &scratch.at("gone")).run();
    let expected = "a run would fail now: the private directory of the sandbox can't be created";
    assert!(noop.stdout.contains(expected), "{}", noop.shown());
}

#[test]
fn noop_reports_paths_that_a_sandbox_can_not_see() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write_program("hidden/tool", "#!/bin/sh\n");
    for (properties, expected) in [
        ("command: 'true', cwd: '[dir]/hidden'", "hidden\" is not open in the sandbox"),
        ("command: tool, path: '[dir]/hidden'", "hidden/tool\" can't be seen from inside the sandbox"),
    ] {
        let exec = format!("        - a: {{{properties}, sandbox: {{}}}}\n");
        let noop = apply_private(&scratch, &exec, &["--noop"]);
        assert_eq!(noop.code, 0, "{}", noop.shown());
        assert!(noop.stdout.contains("a run would fail now"), "{}", noop.shown());
        assert!(noop.stdout.contains(expected), "{}", noop.shown());
        let said = failed(&scratch, &exec);
        assert!(said.contains(expected) && said.contains("`read`"), "{said}");
    }
}

#[test]
fn working_directories_of_the_caller_are_not_inherited() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write(
        "env.yaml",
        "ccm: {resources: [{exec: [{a: {command: env, logoutput: true, sandbox: {env: inherit, workdir: manifest}}}]}]}",
    );
    let called = ccm(&scratch, &["apply", "env.yaml"])
        .variable("PWD", "/of-ccm")
        .variable("OLDPWD", "/of-ccm")
        .variable("_", "/of-ccm")
        .run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(!called.stdout.contains("/of-ccm"), "{}", called.shown());
    assert!(called.stdout.contains(" PWD="), "{}", called.shown());
}

#[test]
fn errors_in_a_sandbox_are_found_before_anything_runs() {
    let scratch = Scratch::new();
    for (properties, expected) in [
        ("sandbox: {read: ['/']}", "`/` can't be opened in a sandbox"),
        ("sandbox: {write: [/proc]}", "`/proc` can't be opened in a sandbox"),
        ("environment: {PATH: 'bin:/bin'}", "`bin` in the search path is not an absolute path"),
        ("cwd: /, sandbox: {workdir: private}", "`cwd` and `workdir` of the sandbox are both given"),
        (
            "sandbox: {mode: docker}",
            "name an executor of the kind `docker` with `executor` in place of `sandbox`",
        ),
        ("sandbox: {netwrok: true}", "did you mean `network`?"),
        ("sandbox: {env: minimum}", "did you mean `minimal`?"),
        ("sandbox: {workdir: privat}", "did you mean `private`?"),
        ("sandbox: {read: ['~/x']}", "`~` is not expanded"),
        ("umask: '{{ 18 }}'", "expected a umask as text, found the number `18`"),
        ("umask: rwx", "`rwx` is not a umask in octal digits"),
        ("user: 'a:b'", "`a:b` contains a character that no user or group name may contain"),
    ] {
        let called = apply_execs(&scratch, &format!("        - a: {{command: 'true', {properties}}}\n"), &[]);
        assert_eq!(called.code, 1, "{properties}: {}", called.shown());
        assert!(called.stderr.contains(expected), "{properties}: {}", called.shown());
    }
}

#[test]
fn guards_run_in_the_same_sandbox_also_in_noop() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("outside", "");
    let exec = "        - a: {command: 'true', provider: shell, sandbox: {}, onlyif: 'test $PWD = $HOME && touch x', unless: 'test -e [dir]/outside'}\n";
    for (options, expected) in [(&["--noop"][..], "would change"), (&[], "changed")] {
        let called = apply_private(&scratch, exec, options);
        assert!(called.reported().contains(&format!("exec#a {expected}")), "{}", called.shown());
    }
}

#[test]
fn a_timeout_in_a_sandbox_leaves_nothing_behind() {
    if !kernel_can(&Scratch::new()) {
        return;
    }
    let before = mounts();
    // No other test at the same time runs such a command.
    let sleep = format!("sleep 4711.{}", std::process::id());
    let call = |scratch: &Scratch, limit: &str| {
        scratch.write("shared/.keep", "");
        let exec = format!(
            "        - a: {{command: 'mkdir -p d/e && touch d/e/f && chmod 0 d/e d; setsid {sleep} & touch [dir]/shared/begun; {sleep}', provider: shell, timeout: {limit}, sandbox: {{write: ['[dir]/shared']}}}}\n"
        );
        apply_private(scratch, &exec, &[])
    };
    let (_scratch, called) = ended_by_limit(call, |scratch, _| scratch.has("shared/begun"));
    assert_eq!(called.code, 4, "{}", called.shown());
    let said = without_limit(called).stdout;
    assert!(said.contains("command timed out after [limit]"), "{said}");
    assert_eq!(mounts(), before);
    let line = sleep.replace(' ', "\0") + "\0";
    let sleeps = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line.as_bytes())
    };
    let left: Vec<_> = fs::read_dir("/proc").expect("the processes").flatten().filter(sleeps).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn leftovers_of_a_killed_run_are_removed_by_the_next() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    let place = scratch.path().join("private");
    let exec = format!(
        "ccm: {{resources: [{{exec: [{{a: {{command: 'touch {}/begun; exec sleep 30', provider: shell, sandbox: {{write: [{}]}}}}}}]}}]}}",
        scratch.at("shared"),
        scratch.at("shared")
    );
    scratch.write("shared/.keep", "");
    scratch.write("sleep.yaml", exec);
    let running = ccm(&scratch, &["apply", "sleep.yaml"]).variable("TMPDIR", &scratch.at("private")).start();
    ccm_testkit::wait_until("the command runs", || scratch.has("shared/begun"));
    let children =
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.pid())).expect("children");
    running.signal("KILL");
    for child in children.split_whitespace() {
        let status = std::process::Command::new("kill").args(["-KILL", child]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
    running.finish();
    assert_eq!(fs::read_dir(&place).expect("the place").count(), 1);
    // This checks that nothing is left.
    apply_private(&scratch, "        - a: {command: 'true'}\n", &[]);
}

#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("shared/.keep", "");
    let shared = scratch.at("shared");
    let exec = format!(
        "ccm: {{resources: [{{exec: [{{a: {{command: 'touch {shared}/begun; sleep 30', provider: shell, sandbox: {{write: [{shared}]}}}}}}]}}]}}"
    );
    scratch.write("sleep.yaml", exec);
    let running = ccm(&scratch, &["apply", "sleep.yaml"]).variable("TMPDIR", &scratch.at("private")).start();
    ccm_testkit::wait_until("the command runs", || scratch.has("shared/begun"));
    running.signal("INT");
    let called = running.finish();
    assert_eq!(called.code, 130, "{}", called.shown());
    assert_eq!(fs::read_dir(scratch.path().join("private")).expect("the place").count(), 0);
}

#[test]
fn a_link_of_another_user_is_not_followed() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("open/file", "open\n");
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink("open", &link).expect("a link");
    let read = "sandbox: {read: [./link]}";
    assert_eq!(lines(&scratch, &format!("cat {}/file", scratch.at("open")), read), ["open"]);
    if !needs_root() {
        return;
    }
    std::os::unix::fs::lchown(&link, Some(65534), None).expect("a stranger's link");
    let said = failed(&scratch, &format!("        - a: {{command: 'true', {read}}}\n"));
    assert!(
        said.contains("`read` of the sandbox") && said.contains("a symbolic link of another user"),
        "{said}"
    );
}

#[test]
fn user_and_sandbox_can_be_combined() {
    let scratch = Scratch::new();
    if !needs_root() || !kernel_can(&scratch) {
        return;
    }
    let told = lines(
        &scratch,
        "id -un; stat -c %U .; echo $HOME; touch x; stat -c %U x",
        "user: nobody, sandbox: {}",
    );
    assert_eq!(told, ["nobody", "nobody", "[dir]/private/PRIVATE/work", "nobody"]);
}

#[test]
fn script_that_ccm_interprets_in_a_sandbox_can_not_change_ccm() {
    let (scratch, elsewhere) = (Scratch::new(), Scratch::new());
    if !kernel_can(&scratch) {
        return;
    }
    let script = "#!/proc/self/exe apply\n\
                  ccm: {resources: [exec: [a: {command: 'chmod 0777 /proc/$PPID/exe; echo reached; exit 3', provider: shell}]]}\n";
    scratch.write_program("script", script);
    let execs = "ccm:\n  resources:\n    - exec:\n        \
                 - attack: {command: ./script, args: [--state-dir, ./inner], sandbox: {workdir: manifest}}\n";
    scratch.write("manifest.yaml", execs);
    let copy = elsewhere.at("ccm");
    let called = ccm(&scratch, &["apply", "manifest.yaml"])
        .after(&format!("cp \"$0\" {copy}; chmod 755 {copy}; exec {copy} \"$@\""))
        .run();
    // With Landlock the kernel does not even start the script, because ccm is none of the opened paths.
    let was_refused = called.stdout.contains("its interpreter \"/proc/self/exe\": Permission denied");
    assert!(was_refused || called.stdout.contains("reached"), "{}", called.shown());
    assert_eq!(fs::metadata(&copy).expect("a copy").mode() & 0o7777, 0o755);
}
