//! `ccm timer`. No call here reaches the systemd of this machine: it is hidden, or the call is in noop.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use ccm_testkit::{Called, Ccm, Scratch, is_root, needs_own_mounts, skipped};

use crate::ccm;
use crate::expect::expect_error;

const MANIFEST: &str =
    "data: {port: 80}\nccm: {resources: [{file: [{/srv/x: {content: '{{ Data.port }}'}}]}]}\n";

pub(crate) fn install(scratch: &Scratch, args: &[&str]) -> Ccm {
    scratch.write("site.yaml", MANIFEST);
    ccm(scratch, &["timer", "install", "site.yaml"]).args(args)
}

/// Returns the units that noop shows, each with its path.
pub(crate) fn units(called: &Called) -> Vec<(String, String)> {
    let mut units: Vec<(String, String)> = Vec::new();
    for line in called.stdout.lines() {
        if let Some(path) = line.strip_prefix("would write ") {
            units.push((path.trim_end_matches(':').to_owned(), String::new()));
        } else if let Some((_, text)) = units.last_mut() {
            *text += line.strip_prefix("  ").unwrap_or_default();
            text.push('\n');
        }
    }
    units
}

#[test]
fn noop_shows_the_units() {
    let scratch = Scratch::new();
    let called = install(&scratch, &["--noop"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let shown = units(&called);
    let paths: Vec<&str> = shown.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["/etc/systemd/system/ccm-site.service", "/etc/systemd/system/ccm-site.timer"]);
    let service = &shown[0].1;
    assert!(
        service.contains(" apply --output log --honour-pause --lock-wait 5m --timeout 20m [dir]/site.yaml\n"),
        "{service}"
    );
    assert!(service.contains("\n# manifest: \"[dir]/site.yaml\"\n# every: 30m\n"), "{service}");
    let timer = &shown[1].1;
    assert!(timer.contains("\nOnCalendar=*-*-* *:00/30:00\n"), "{timer}");
    assert!(timer.contains("\nRandomizedDelaySec=300s\n"), "{timer}");
    assert_eq!(scratch.names(), ["site.yaml"]);
}

#[test]
fn a_manifest_that_others_can_change_is_a_risk_for_root() {
    let scratch = Scratch::new();
    scratch.write("site.yaml", MANIFEST);
    std::fs::set_permissions(scratch.at("site.yaml"), Permissions::from_mode(0o646)).expect("a mode");
    let warned = |path: &str, args: &[&str]| {
        let warning = format!(
            "warning: others than root can change {path}, and the timer runs as root what is there\nhint: keep \
             manifest and ccm where only root can change them"
        );
        let call = ccm(&scratch, &["timer", "install", "site.yaml", "--noop"]).args(args);
        call.variable("HOME", "/home/ada").run().stderr.contains(&warning)
    };
    let set_mode = |path: &str, mode| {
        std::fs::set_permissions(scratch.at(path), Permissions::from_mode(mode)).expect("a mode");
    };
    assert!(warned("[dir]/site.yaml", &[]));
    assert!(!warned("[dir]/site.yaml", &["--user"]));
    set_mode("site.yaml", 0o644);
    assert_eq!(warned("[dir]/site.yaml", &[]), !is_root());
    // Whoever can exchange the file can change what runs.
    for (mode, is_exposed) in [(0o777, true), (0o1777, false), (0o755, false)] {
        set_mode("", mode);
        assert_eq!(warned("[dir]", &[]), is_exposed || !is_root(), "{mode:o}");
    }
}

#[test]
fn options_and_variables_are_passed_on() {
    let scratch = Scratch::new();
    scratch.write("values.yaml", "data: {port: 81}\n");
    let options =
        ["--every", "2h", "--jitter", "90s", "--name", "web", "--data", "port=a b", "--fail-on-error"];
    let call = install(&scratch, &["-n"]).args(&options).variable("CCM_STATE_DIR", "/state");
    let called = call.variable("CCM_HIERA_DATA", "values.yaml").run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let shown = units(&called);
    let line = "apply --output log --honour-pause --data \"port=a b\" --fail-on-error --state-dir /state --hiera [dir]/values.yaml \
                --lock-wait 5m --timeout 1h20m [dir]/site.yaml\n";
    assert!(shown[0].1.contains(line), "{}", shown[0].1);
    assert!(!shown[0].1.contains("StateDirectory"), "{}", shown[0].1);
    assert!(shown[1].0.ends_with("/ccm-web.timer") && shown[1].1.contains("\nRandomizedDelaySec=90s\n"));
    let kept = "note: the timer keeps options of your environment: CCM_STATE_DIR, CCM_HIERA_DATA\n";
    assert!(called.stderr.contains(kept), "{}", called.shown());
    let user = install(&scratch, &["-n", "--user"]).variable("XDG_CONFIG_HOME", "/config").run();
    assert!(units(&user)[0].0.starts_with("/config/systemd/user/"), "{}", user.shown());
    let user = install(&scratch, &["-n", "--user"]).variable("HOME", "/home/ada").run();
    assert!(units(&user)[0].0.starts_with("/home/ada/.config/systemd/user/"), "{}", user.shown());
}

/// Returns the command of the service that noop shows, without the program.
fn command(called: &Called) -> String {
    let service = &units(called)[0].1;
    let line = service.lines().find(|line| line.starts_with("ExecStart=")).expect("a command");
    line.split_once(" apply --output log --honour-pause ").expect("options").1.to_owned()
}

#[test]
fn options_of_the_environment_yield_to_those_of_the_command_line() {
    let environment = [
        ("CCM_LOCK_WAIT", "90s"),
        ("CCM_KEEP_RUNS", "7"),
        ("CCM_EVENTS_FILE", "events.jsonl"),
        ("CCM_LOG", "off"),
    ];
    let call = |args: &[&str]| {
        let scratch = Scratch::new();
        let call = environment
            .iter()
            .fold(install(&scratch, &["-n"]), |call, (name, value)| call.variable(name, value));
        let called = call.args(args).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        (command(&called), called.stderr)
    };
    let (kept, note) = call(&[]);
    assert_eq!(
        kept,
        "--events-file [dir]/events.jsonl --keep-runs 7 --lock-wait 1m30s --timeout 20m [dir]/site.yaml"
    );
    assert!(note.ends_with(": CCM_EVENTS_FILE, CCM_KEEP_RUNS, CCM_LOCK_WAIT\n"), "{note}");
    let (given, note) = call(&["--keep-runs", "3", "--events-file", "/e", "--lock-wait", "0"]);
    assert!(given.contains("--keep-runs 3 ") && given.contains("--events-file /e "), "{given}");
    assert!(given.contains("--lock-wait 0 ") && !given.contains("90s"), "{given}");
    assert!(!note.contains("keeps options"), "{note}");
    let scratch = Scratch::new();
    for (name, value) in [("CCM_LOCK_WAIT", "30"), ("CCM_KEEP_RUNS", "many"), ("CCM_EVENTS_FILE", "-")] {
        let refused = install(&scratch, &["-n"]).variable(name, value).run();
        expect_error(&refused, 64, "", &[&format!("{name} can't be used")], &[]);
    }
}

#[test]
fn a_timer_of_a_user_keeps_the_state_directory_of_the_shell() {
    let scratch = Scratch::new();
    let of_user = |args: &[&str]| {
        let call = install(&scratch, &["-n", "--user"]).variable("HOME", "/home/ada");
        let called = call.variable("XDG_STATE_HOME", "/home/ada/state").args(args).run();
        command(&called)
    };
    // Root has the state directory of the system.
    assert_eq!(of_user(&[]).contains("--state-dir /home/ada/state/ccm "), !is_root());
    assert!(of_user(&["--state-dir", "/s"]).contains("--state-dir /s "));
    let of_system = install(&scratch, &["-n"]).variable("XDG_STATE_HOME", "/home/ada/state").run();
    assert!(!command(&of_system).contains("--state-dir"), "{}", of_system.shown());
}

#[test]
fn a_manifest_that_uses_the_environment_is_warned_about() {
    let scratch = Scratch::new();
    let warned = |content: &str| {
        let manifest = format!("ccm: {{resources: [{{file: [{{/srv/x: {{content: \"{content}\"}}}}]}}]}}\n");
        scratch.write("own.yaml", manifest);
        let called = ccm(&scratch, &["timer", "install", "own.yaml", "-n"]).variable("ROLE", "web").run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called.stderr
    };
    assert!(!warned("{{ Facts.host.info.hostname }}").contains("environment variables"));
    let warning = warned("{{ Environ.ROLE }}");
    assert!(warning.contains("warning: the manifest uses environment variables"), "{warning}");
    assert!(warning.contains("hint: ") && warning.contains("`.env`"), "{warning}");
}

#[test]
fn systemd_accepts_the_units_of_a_timer() {
    for (every, manifest, data) in [
        ("1m", "site.yaml", "port=1"),
        ("30m", "my site 50% $HOME.yaml", "port=\"$x\" %n 'y' \\z;"),
        ("45m", "größe.yaml", "port=;"),
        ("1d", "site.yaml", "port={a}"),
        ("7d", "site.yaml", "port=a\tb"),
    ] {
        let scratch = Scratch::new();
        scratch.write(manifest, MANIFEST);
        let args = ["timer", "install", manifest, "-n", "--name", "x", "--every", every, "--data", data];
        let called = ccm(&scratch, &args).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        let place = |text: &str| text.replace("[dir]", &scratch.path().to_string_lossy());
        let paths: Vec<String> = units(&called)
            .iter()
            .map(|(path, text)| {
                let name = path.rsplit('/').next().expect("a name");
                scratch.write(name, place(text));
                scratch.at(name)
            })
            .collect();
        let mut verify = Command::new("systemd-analyze");
        let output = match verify.args(["verify", "--man=no", "--recursive-errors=no"]).args(&paths).output()
        {
            Ok(output) => output,
            Err(error) => return skipped(&format!("systemd-analyze does not run: {error}")),
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let ours: Vec<&str> = said.lines().filter(|line| line.contains("ccm-x")).collect();
        assert_eq!(ours, [""; 0], "{every} {manifest}");
        assert!(output.status.success(), "{said}");
    }
}

#[test]
fn wrong_arguments_of_a_timer_are_named() {
    let scratch = Scratch::new();
    let expect = |args: &[&str], code: i32, message: &[&str], hints: &[&str]| {
        let mut called = install(&scratch, args).args(&["--noop"]).run();
        if args.contains(&"json") {
            assert!(std::mem::take(&mut called.stdout).contains("`--output`"), "{}", called.shown());
        }
        expect_error(&called, code, "", message, hints);
    };
    expect(&["--every", "0"], 64, &["'--every <DURATION>'", "once a minute"], &[]);
    expect(&["--every", "7m"], 64, &["divide a day", "6m or 8m"], &[]);
    expect(&["--every", "soon"], 64, &["'soon'"], &[]);
    let mistake = ["`--jitter 30m` is not shorter than `--every 30m`"];
    expect(&["--jitter", "30m"], 64, &mistake, &["a shorter delay"]);
    for name in ["a/b", "50%", "", "-x", "a b"] {
        expect(&[&format!("--name={name}")], 64, &["'--name <NAME>'", "letters"], &[]);
    }
    for option in [&["--quiet"][..], &["--output", "json"]] {
        expect(option, 64, &[&format!("`{}`", option[0]), "journal"], &[]);
    }
    expect(&["--only", "file#/other"], 64, &["`file#/other`", "not in the manifest"], &[]);
    expect(&["--facts", "missing.yaml"], 1, &["missing.yaml"], &["check the path"]);
}

#[test]
fn a_manifest_that_can_not_be_applied_gets_no_timer() {
    let scratch = Scratch::new();
    scratch.write("bad.yaml", "ccm: {resources: [{file: [{x: {}}]}]}\n");
    scratch.write("my site.yaml", MANIFEST);
    let call = |args: &[&str]| ccm(&scratch, &["timer", "install", "--noop"]).args(args).run();
    let bad = call(&["bad.yaml"]);
    assert_eq!((bad.code, &*bad.stdout), (1, ""), "{}", bad.shown());
    assert!(bad.stderr.contains("bad.yaml"), "{}", bad.shown());
    expect_error(&call(&["missing.yaml"]), 1, "", &["missing.yaml"], &["did you mean `my site.yaml`?"]);
    expect_error(&call(&["-"]), 64, "", &["standard input"], &[]);
    expect_error(&call(&["my site.yaml"]), 64, "", &["my site.yaml", "no name"], &["--name"]);
    scratch.write("secret.yaml", "data:\n  # @sensitive\n  key: none-yet\nccm: {resources: []}\n");
    let secret = call(&["secret.yaml", "--data", "key=correct-horse"]);
    expect_error(&secret, 1, "", &["sensitive"], &["--hiera"]);
    assert!(!secret.stderr.contains("correct-horse"), "{}", secret.shown());
}

#[test]
fn credentials_of_a_manifest_become_those_of_the_service() {
    let scratch = Scratch::new();
    let manifest =
        "ccm: {resources: [{file: [{/srv/x: {content: \"{{ credential('db') }}\", mode: '0600'}}]}]}\n";
    scratch.write("secret.yaml", manifest);
    std::fs::create_dir(scratch.path().join("secrets")).expect("a directory");
    scratch.write("secrets/db", "correct-horse\n");
    std::os::unix::fs::symlink("secrets/db", scratch.path().join("link")).expect("a link");
    let call = |args: &[&str], directory: &str| {
        let call = ccm(&scratch, &["timer", "install", "secret.yaml", "-n"]).args(args);
        let called = call.variable("CREDENTIALS_DIRECTORY", directory).run();
        assert!(!called.shown().contains("correct-horse"), "{}", called.shown());
        called
    };
    for (args, directory, expected) in [
        (&["--credential", "db=secrets/db"][..], "", "LoadCredential=db:[dir]/secrets/db\n"),
        (&["--credential", "db=link"], "", "LoadCredential=db:[dir]/link\n"),
        (&["--credential=db=secrets/db", "--credential=other=/gone"], "", "db\nLoadCredential=other:/gone\n"),
        (&[], &scratch.at("secrets"), "LoadCredential=db:[dir]/secrets/db\n"),
        (&["--credential", "db=link"], &scratch.at("secrets"), "LoadCredential=db:[dir]/link\n"),
    ] {
        let called = call(args, directory);
        assert_eq!(called.code, 0, "{args:?}: {}", called.shown());
        let service = &units(&called)[0].1;
        assert!(service.contains(expected), "{args:?}: {service}");
        let noted =
            called.stderr.contains("note: the timer gets credentials from CREDENTIALS_DIRECTORY: db\n");
        assert_eq!(noted, args.is_empty(), "{}", called.shown());
    }
    let add = "add `--credential db=PATH`";
    for (args, directory, code, message, hint) in [
        (&[][..], "", 1, "the service gets no credential `db`", add),
        (&[], "/run/credentials/x.service", 1, "the service gets no credential `db`", add),
        (&[], "/gone", 1, "the service gets no credential `db`", add),
        (
            &["--credential", "db=gone"],
            "",
            1,
            "there is no file \"[dir]/gone\" for the credential `db`",
            "check the path",
        ),
    ] {
        let called = call(args, directory);
        assert_eq!(called.code, code, "{}", called.shown());
        for text in [message, hint] {
            assert!(called.stderr.contains(text), "{text}: {}", called.shown());
        }
    }
    for (argument, message) in [
        ("db", "NAME=PATH"),
        ("d b=/x", "the name of a credential has"),
        ("db=a/../b", "the path of a credential is"),
        ("db=/x\\", "the path of a credential is"),
    ] {
        let called = call(&["--credential", argument], "");
        assert_eq!(called.code, 64, "{}", called.shown());
        assert!(called.stderr.contains(message), "{argument}: {}", called.shown());
    }
    let twice = call(&["--credential", "db=/a", "--credential", "db=/b"], "");
    expect_error(&twice, 64, "", &["`--credential db=/b`", "given twice"], &[]);
    // A secret of the service stays out of its options.
    scratch.write("data.yaml", format!("data: {{key: none}}\n{manifest}"));
    let call = ccm(&scratch, &["timer", "install", "data.yaml", "-n", "--credential", "db=secrets/db"]);
    expect_error(
        &call.args(&["--data", "key=correct-horse"]).run(),
        1,
        "",
        &["`--data`", "sensitive"],
        &["--hiera"],
    );
}

#[test]
fn drop_ins_of_a_timer_of_a_user_give_credentials() {
    let scratch = Scratch::new();
    scratch.write(
        "secret.yaml",
        "ccm: {resources: [{file: [{/srv/x: {content: \"{{ credential('db') }}\", mode: '0600'}}]}]}\n",
    );
    scratch.write("db", "correct-horse");
    let drop_ins = "config/systemd/user/ccm-secret.service.d";
    std::fs::create_dir_all(scratch.path().join(drop_ins)).expect("a directory");
    for (setting, code) in [
        (format!("LoadCredential=db:{}", scratch.at("db")), 0),
        ("SetCredential=db:correct-horse".to_owned(), 0),
        // What only the service can read is not checked.
        ("LoadCredentialEncrypted=db:/etc/credstore.encrypted/db".to_owned(), 0),
        (format!("LoadCredential=db:{}", scratch.at("gone")), 1),
        ("SetCredential=other:x".to_owned(), 1),
    ] {
        scratch.write(&format!("{drop_ins}/x.conf"), format!("[Service]\n{setting}\n"));
        let call = ccm(&scratch, &["timer", "install", "secret.yaml", "-n", "--user"]);
        let called = call.variable("XDG_CONFIG_HOME", &scratch.at("config")).run();
        assert_eq!(called.code, code, "{setting}: {}", called.shown());
        assert!(!called.shown().contains("correct-horse"), "{}", called.shown());
    }
}

#[test]
fn lists_and_removals_need_no_systemd() {
    let scratch = Scratch::new();
    let call = |args: &[&str]| ccm(&scratch, args).variable("HOME", &scratch.at("home")).run();
    assert_eq!(call(&["timer", "list", "--user"]).stdout, "no timers\n");
    assert_eq!(call(&["timer", "list", "--user", "--output", "json"]).stdout, "[]\n");
    let none = call(&["timer", "remove", "--user", "ccm-test-none"]);
    expect_error(&none, 1, "", &["`ccm-test-none`", "nothing was changed"], &["`ccm timer list`"]);
    let relative = ccm(&scratch, &["timer", "list", "--user"]).variable("HOME", "home").run();
    expect_error(&relative, 1, "", &["XDG_CONFIG_HOME", "HOME"], &["HOME"]);
}

/// Hides the systemd of this machine behind a fake one, whose units are in the directory.
pub(crate) fn with_fake_systemd(call: Ccm, scratch: &Scratch, run: &str) -> Called {
    let [bin, units] = ["bin", "units"].map(|name| scratch.at(name));
    call.after_mounting(&format!(
        "mount --bind '{units}' /etc/systemd/system; mount --bind '{bin}' /usr/local/sbin; mount -t tmpfs tmpfs /run; {run}"
    ))
    .run()
}

pub(crate) fn can_fake_systemd() -> bool {
    let is_there = |path: &str| Path::new(path).is_dir();
    if !needs_own_mounts() {
        return false;
    }
    let can = is_there("/etc/systemd/system") && is_there("/usr/local/sbin");
    if !can {
        skipped("there is no directory of units");
    }
    can
}

#[test]
fn a_timer_of_the_system_is_installed_listed_and_removed() {
    if !can_fake_systemd() {
        return;
    }
    let scratch = Scratch::new();
    for name in ["bin", "units"] {
        std::fs::create_dir(scratch.path().join(name)).expect("a directory");
    }
    let shown = "Id=ccm-site.timer\\nNextElapseUSecRealtime=Fri 2026-11-20 04:00:00 UTC\\n\\nId=ccm-site.service\\n\
                 ActiveState=activating\\nExecMainStartTimestamp=Fri 2026-11-20 03:30:00 UTC\\n";
    let fake = format!("#!/bin/sh\ncase \"$*\" in *show*) printf '{shown}' ;; esac\n");
    scratch.write_program("bin/systemctl", &fake);
    let call = |call: Ccm| with_fake_systemd(call, &scratch, "mkdir -p /run/systemd/system");
    let timer = |args: &[&str]| call(ccm(&scratch, &["timer"]).args(args));
    let packaged =
        "mkdir -p /run/systemd/system /run/systemd/generator; touch /run/systemd/generator/ccm-site.service";
    let hides = with_fake_systemd(install(&scratch, &[]), &scratch, packaged);
    let told = ["would replace /run/systemd/generator/ccm-site.service", "nothing was changed"];
    expect_error(&hides, 1, "", &told, &["--name"]);
    let installed = call(install(&scratch, &[]));
    assert_eq!(installed.code, 0, "{}", installed.shown());
    let lines: Vec<&str> = installed.stdout.lines().collect();
    let expected = [
        "wrote /etc/systemd/system/ccm-site.service",
        "wrote /etc/systemd/system/ccm-site.timer",
        "ccm-site.timer applies [dir]/site.yaml every 30m; next run: 2026-11-20 04:00:00",
        "run it now:  systemctl start ccm-site.service",
    ];
    assert_eq!(lines, expected);
    let listed = timer(&["list"]);
    let row = "site  30m    disabled  2026-11-20 04:00:00  running, 2026-11-20 03:30:00  [dir]/site.yaml\n";
    assert!(listed.stdout.ends_with(row), "{}", listed.shown());
    let state = scratch.at("paused");
    let pause = ["pause", "--for", "1h", "--reason", "disk", "--state-dir", &state];
    assert_eq!(call(ccm(&scratch, &pause)).code, 0);
    let of_root = format!(
        "mkdir -p /run/systemd/system; mount -t tmpfs tmpfs /var/lib; mkdir /var/lib/ccm; mount --bind '{state}' /var/lib/ccm"
    );
    let paused = with_fake_systemd(ccm(&scratch, &["timer", "list"]), &scratch, &of_root);
    let note = "disk; until then, runs of timers do nothing\nhint: `ccm pause --end` ends the pause\n";
    assert!(
        paused.stderr.starts_with("note: paused until ") && paused.stderr.ends_with(note),
        "{}",
        paused.shown()
    );
    assert_eq!(timer(&["list"]).stderr, "");
    let json = timer(&["list", "--output", "json"]).stdout;
    assert!(json.contains("\"next\": \"2026-11-20 04:00:00\""), "{json}");
    let completed = call(ccm(&scratch, &["__complete", "fish", "--", "timer", "remove", ""]));
    assert_eq!(completed.stdout, "words\nsite\t\n");

    let text = scratch.read("units/ccm-site.timer").expect("the unit");
    scratch.write("units/ccm-site.timer", text.replace("Persistent=true", "Persistent=false"));
    let edited = ["ccm-site.timer was edited", "nothing was changed"];
    expect_error(&call(install(&scratch, &[])), 1, "", &edited, &["--force"]);
    expect_error(&timer(&["remove", "site"]), 1, "", &edited, &["--force"]);
    assert!(timer(&["list"]).stdout.contains("\nsite (edited)  "));
    assert_eq!(call(install(&scratch, &["--force"])).code, 0);
    for unit in ["ccm-site.timer", "ccm-site.service"] {
        std::fs::remove_file(scratch.at(&format!("units/{unit}"))).expect("the unit");
        let listed = timer(&["list"]);
        assert!(listed.stdout.contains("\nsite (incomplete)  "), "{}", listed.shown());
        let warning = format!(
            "warning: the timer `site` is incomplete: /etc/systemd/system/{unit} is missing\nhint: `ccm timer install \
             [dir]/site.yaml --name site` writes both units anew"
        );
        assert!(listed.stderr.starts_with(&warning), "{}", listed.shown());
        assert_eq!(call(install(&scratch, &[])).code, 0);
    }
    scratch.write("other.yaml", MANIFEST);
    let other = timer(&["install", "other.yaml", "--name", "site"]);
    expect_error(&other, 1, "", &["`site`", "site.yaml", "nothing was changed"], &["--name"]);

    std::fs::remove_file(scratch.at("site.yaml")).expect("the manifest");
    assert!(timer(&["list"]).stdout.contains("/site.yaml (missing)\n"));
    let removed = timer(&["remove", "site"]);
    let expected =
        "removed /etc/systemd/system/ccm-site.timer\nremoved /etc/systemd/system/ccm-site.service\n";
    assert_eq!((removed.code, &*removed.stdout), (0, expected), "{}", removed.shown());
    assert_eq!(std::fs::read_dir(scratch.at("units")).expect("the units").count(), 0);
}

#[test]
fn without_systemd_a_crontab_line_is_shown() {
    if !can_fake_systemd() {
        return;
    }
    let scratch = Scratch::new();
    for name in ["bin", "units"] {
        std::fs::create_dir(scratch.path().join(name)).expect("a directory");
    }
    let called = with_fake_systemd(install(&scratch, &["--data", "port=50%"]), &scratch, "true");
    assert_eq!((called.code, &*called.stdout), (1, ""), "{}", called.shown());
    assert!(called.stderr.contains("systemd is not running"), "{}", called.shown());
    let line =
        " apply --quiet --honour-pause --data port=50\\\\% --lock-wait 5m --timeout 20m [dir]/site.yaml\n";
    assert!(called.stderr.contains("\n  */30 * * * * "), "{}", called.shown());
    assert!(called.stderr.contains(&line.replace("\\\\", "\\")), "{}", called.shown());
    assert_eq!(std::fs::read_dir(scratch.at("units")).expect("the units").count(), 0);
}
