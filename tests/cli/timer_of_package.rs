//! Timers of the unit template of the package: `ccm timer list` and `ccm timer migrate`, and what the package does to timers.

use ccm_testkit::{Scratch, is_root, repository};

use crate::ccm;
use crate::expect::expect_error;
use crate::timer::{can_fake_systemd, with_fake_systemd};

/// A scratch directory with the template of the package, of which the instance `site` is enabled and runs, and a systemctl that
/// only records its calls.
fn with_template() -> Scratch {
    let scratch = Scratch::new();
    for name in ["bin", "units/timers.target.wants", "units/ccm-apply@site.timer.d"] {
        std::fs::create_dir_all(scratch.path().join(name)).expect("a directory");
    }
    for unit in ["ccm-apply@.service", "ccm-apply@.timer"] {
        let text = std::fs::read_to_string(repository(&format!("packaging/systemd/{unit}")));
        scratch.write(&format!("units/{unit}"), text.expect("the unit"));
    }
    let link = scratch.path().join("units/timers.target.wants/ccm-apply@site.timer");
    std::os::unix::fs::symlink("/usr/lib/systemd/system/ccm-apply@.timer", link).expect("a link");
    scratch.write("units/ccm-apply@site.timer.d/times.conf", "[Timer]\nOnCalendar=\nOnCalendar=hourly\n");
    let shown = "Id=ccm-apply@site.timer\\nActiveState=active\\nNextElapseUSecRealtime=Fri 2026-11-20 04:00:00 UTC\\n\\n\
                 Id=ccm-apply@site.service\\nResult=success\\nExecMainExitTimestamp=Fri 2026-11-20 03:30:00 UTC\\n";
    let fake = format!(
        "#!/bin/sh\ncase \"$*\" in\n*' show --property'*) printf '{shown}' ;;\n*show*) echo '{{ OnCalendar=hourly }}' ;;\n\
         *list-units*) echo 'ccm-apply@lost.timer loaded active elapsed lost' ;;\n*) echo \"$*\" >> /usr/local/sbin/calls ;;\nesac\n"
    );
    scratch.write_program("bin/systemctl", &fake);
    scratch
}

const BOOTED: &str = "mkdir -p /run/systemd/system";

#[test]
fn a_timer_of_the_package_is_listed_and_migrated() {
    if !can_fake_systemd() {
        return;
    }
    let scratch = with_template();
    let call = |args: &[&str]| with_fake_systemd(ccm(&scratch, args), &scratch, BOOTED);
    let listed = call(&["timer", "list"]);
    let row = "ccm-apply@site  drop-in  enabled  2026-11-20 04:00:00  success, 2026-11-20 03:30:00  /etc/ccm/site.yaml (missing)\n";
    assert!(listed.stdout.ends_with(row), "{}", listed.shown());
    let warning =
        "warning: ccm-apply@site.timer goes with the next release of ccm\nhint: `ccm timer migrate site` ";
    assert!(listed.stderr.starts_with(warning), "{}", listed.shown());
    let json: serde_json::Value =
        serde_json::from_str(&call(&["timer", "list", "--output", "json"]).stdout).expect("JSON");
    for (key, value) in [
        ("name", serde_json::json!("ccm-apply@site")),
        ("kind", serde_json::json!("template")),
        ("is_enabled", serde_json::json!(true)),
        ("is_active", serde_json::json!(true)),
        ("next", serde_json::json!("2026-11-20 04:00:00")),
    ] {
        assert_eq!(json[0][key], value, "{key}: {json}");
    }
    let status = call(&["status"]);
    assert_eq!(status.stderr.contains(warning), is_root(), "{}", status.shown());
    let completed = call(&["__complete", "fish", "--", "timer", "migrate", ""]);
    assert_eq!(completed.stdout, "words\nsite\t\n");

    expect_error(
        &call(&["timer", "migrate", "web"]),
        1,
        "",
        &["ccm-apply@web.timer is neither"],
        &["use one of: site"],
    );
    let before = std::fs::read_dir(scratch.at("units")).expect("the units").count();
    let noop = call(&["timer", "migrate", "site", "--noop"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    for text in [
        "would write /etc/systemd/system/ccm-site.service:\n",
        "would write /etc/systemd/system/ccm-site.timer.d/times.conf, from /etc/systemd/system/ccm-apply@site.timer.d/times.conf\n",
        "would run `systemctl daemon-reload`, `systemctl enable --now ccm-site.timer` and `systemctl disable --now ccm-apply@site.timer`\n",
    ] {
        assert!(noop.stdout.contains(text), "{text}: {}", noop.shown());
    }
    assert_eq!(std::fs::read_dir(scratch.at("units")).expect("the units").count(), before);
    assert!(!scratch.has("bin/calls"), "noop calls nothing");

    let migrated = call(&["timer", "migrate", "site"]);
    let expected = "wrote /etc/systemd/system/ccm-site.timer.d/times.conf\nwrote /etc/systemd/system/ccm-site.service\n\
                    wrote /etc/systemd/system/ccm-site.timer\n\
                    ccm-site.timer applies /etc/ccm/site.yaml; ccm-apply@site.timer is disabled\n\
                    /etc/systemd/system/ccm-apply@site.timer.d is used no more; remove it once all is well\n";
    assert_eq!((migrated.code, &*migrated.stdout), (0, expected), "{}", migrated.shown());
    let calls = scratch.read("bin/calls").expect("the calls");
    let calls: Vec<&str> =
        calls.lines().map(|call| call.trim_start_matches("--no-ask-password --no-pager ")).collect();
    let expected = [
        "daemon-reload",
        "enable --now ccm-site.timer",
        "disable --now ccm-apply@site.timer",
        "clean --what=state ccm-apply@site.timer",
    ];
    assert_eq!(calls, expected);
    let listed = call(&["timer", "list"]);
    let both = "warning: ccm-apply@site.timer and ccm-site.timer apply the same manifest\n";
    assert!(listed.stderr.contains(both), "the fake has disabled nothing: {}", listed.shown());
}

#[test]
fn a_package_leaves_timers_alone() {
    if !can_fake_systemd() {
        return;
    }
    let scratch = with_template();
    for unit in ["service", "timer"] {
        let text = "# ccm timer; sha256 of the lines below: 0\n[Service]\nExecStart=/usr/bin/ccm apply /etc/ccm/own.yaml\n";
        scratch.write(&format!("units/ccm-own.{unit}"), text);
    }
    let link = scratch.path().join("units/timers.target.wants/ccm-own.timer");
    std::os::unix::fs::symlink("/etc/systemd/system/ccm-own.timer", link).expect("a link");
    let files = || {
        let directories = ["units", "units/timers.target.wants", "units/ccm-apply@site.timer.d"];
        let entries = directories.iter().flat_map(|directory| {
            std::fs::read_dir(scratch.path().join(directory))
                .expect("a directory")
                .map(|entry| entry.expect("an entry").path())
        });
        let mut files: Vec<_> =
            entries.map(|path| (std::fs::read_to_string(&path).unwrap_or_default(), path)).collect();
        files.sort();
        files
    };
    let before = files();
    let script = |path: &str, argument: &str| {
        // The states of this machine are not to be purged.
        let run = format!(
            "{BOOTED}; mount -t tmpfs tmpfs /var/lib; mkdir /var/lib/ccm; sh '{}' {argument}",
            repository(path).display()
        );
        let called = with_fake_systemd(ccm(&scratch, &["--version"]), &scratch, &run);
        assert_eq!(called.code, 0, "{path} {argument}: {}", called.shown());
        let calls = scratch.read("bin/calls").unwrap_or_default();
        scratch.write("bin/calls", "");
        (called.stdout, calls)
    };
    let reload = "--system daemon-reload\n";
    let tools = "--system stop ccm-tool.socket\n--system stop ccm-tool@*.service\n";
    // Only what lost its times is started again.
    let installed = format!("{reload}--system restart ccm-apply@lost.timer\n");
    for (path, argument, expected, says) in [
        ("packaging/deb/prerm", "upgrade", "", false),
        ("packaging/deb/prerm", "remove", tools, true),
        ("packaging/deb/postrm", "remove", reload, false),
        ("packaging/deb/postrm", "purge", reload, false),
        ("packaging/deb/postinst", "configure", &installed, false),
        ("packaging/rpm/preun", "1", "", false),
        ("packaging/rpm/preun", "0", tools, true),
        ("packaging/rpm/postun", "0", reload, false),
        ("packaging/rpm/post", "1", &installed, false),
    ] {
        let (stdout, calls) = script(path, argument);
        assert_eq!(calls, expected, "{path} {argument}");
        assert_eq!(files(), before, "{path} {argument}");
        let said = stdout.contains("these timers stay, and their runs do nothing until ccm is installed again: ccm-own.timer ccm-apply@site.timer\n");
        assert_eq!(said, says, "{path} {argument}: {stdout}");
    }
}
