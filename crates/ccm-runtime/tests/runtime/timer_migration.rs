//! Timers of the package's template: listed, and turned into timers of ccm, with a systemctl that keeps states in files.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ccm_runtime::Session;
use ccm_runtime::timer::{
    MigrationPlan, MigrationWarning, SystemdPaths, TimerError, TimerKind, TimerName, Timers, UnitScope,
};
use ccm_testkit::Scratch;

use crate::timers::request;
use crate::{block_on, session};

/// Keeps links of enabled timers in the directory of units, and a file for each active unit. Like that of systemd, it
/// disables nothing without a unit file. A call that a line of the file `failing` begins fails.
const SYSTEMCTL: &str = r#"#!/bin/sh
cd '[dir]' || exit
shift 2
[ "$1" = show ] || echo "$*" >> calls
while read -r failing; do
    case "$*" in "$failing"*) echo "Failed to $1 unit: no." >&2; exit 5 ;; esac
done < failing
verb=$1 now=
shift
if [ "$verb" = show ]; then
    shift
    for unit; do
        case $unit in *'*'*) set -- "$@" $(ls active | grep '^ccm-apply@') ;; *) set -- "$@" "$unit" ;; esac
        shift
    done
    for unit; do
        state=inactive
        [ ! -e "active/$unit" ] || state=active
        printf 'Id=%s\nActiveState=%s\n' "$unit" "$state"
        [ ! -e "more/$unit" ] || cat "more/$unit"
        echo
    done
    exit
fi
if [ "$1" = --now ]; then now=yes; shift; fi
case $verb in
    enable | disable)
        template=$(echo "$1" | sed 's/@.*\./@./')
        if [ ! -e "units/$template" ] && [ ! -e "lib/$template" ]; then
            echo "Failed to $verb unit: Unit file $1 does not exist." >&2
            exit 1
        fi
        mkdir -p units/timers.target.wants
        if [ "$verb" = enable ]; then ln -sf "/lib/$template" "units/timers.target.wants/$1"; else rm -f "units/timers.target.wants/$1"; fi
        [ -n "$now" ] || exit 0
        if [ "$verb" = enable ]; then touch "active/$1"; else rm -f "active/$1"; fi
        ;;
    start) touch "active/$1" ;;
    stop) rm -f "active/$1" ;;
esac
"#;

const OLD: &str = "ccm-apply@site.timer";
const NEW: &str = "ccm-site.timer";

/// A scratch directory with a systemctl and the template, of which an instance is enabled or active.
fn scratch(is_enabled: bool, is_active: bool) -> Scratch {
    let scratch = Scratch::new();
    for directory in ["bin", "running", "units/timers.target.wants", "lib", "active", "more"] {
        std::fs::create_dir_all(scratch.path().join(directory)).expect("a directory");
    }
    scratch.write_program("bin/systemctl", &SYSTEMCTL.replace("[dir]", &scratch.path().to_string_lossy()));
    for name in ["calls", "failing"] {
        scratch.write(name, "");
    }
    for (unit, text) in [
        ("service", include_str!("../../../../packaging/systemd/ccm-apply@.service")),
        ("timer", include_str!("../../../../packaging/systemd/ccm-apply@.timer")),
    ] {
        scratch.write(&format!("lib/ccm-apply@.{unit}"), text);
    }
    if is_enabled {
        enable(&scratch, OLD);
    }
    if is_active {
        scratch.write(&format!("active/{OLD}"), "");
    }
    scratch
}

fn enable(scratch: &Scratch, unit: &str) {
    let link = scratch.path().join("units/timers.target.wants").join(unit);
    symlink("/lib/ccm-apply@.timer", link).expect("a link");
}

fn timers<'s>(session: &'s Session, scratch: &Scratch) -> Timers<'s> {
    let paths = SystemdPaths {
        units: scratch.path().join("units"),
        others: vec![scratch.path().join("run"), scratch.path().join("lib")],
        defaults: scratch.path().join("defaults"),
        running: scratch.path().join("running"),
        search_path: Some(format!("{}:/usr/bin:/bin", scratch.at("bin"))),
    };
    session.timers_at(UnitScope::System, paths)
}

fn site() -> TimerName {
    "site".parse().expect("a name")
}

fn planned(timers: &Timers<'_>, force: bool) -> Result<Option<MigrationPlan>, TimerError> {
    block_on(timers.plan_migration(&site(), force))
}

fn migrate(timers: &Timers<'_>) -> Result<(), TimerError> {
    let plan = planned(timers, false)?.expect("something to migrate");
    block_on(timers.migrate(&plan))
}

/// Returns everything in the directory of units, with contents and modes, and the active units.
fn machine(scratch: &Scratch) -> Vec<String> {
    fn add(directory: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let mode = path.symlink_metadata().expect("a file").permissions().mode() & 0o777;
            let content = if path.is_symlink() {
                path.read_link().expect("a link").display().to_string()
            } else if path.is_dir() {
                add(&path, found);
                String::new()
            } else {
                String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned()
            };
            found.push(format!("{} {mode:o} {content}", path.display()));
        }
    }
    let mut found = Vec::new();
    add(&scratch.path().join("units"), &mut found);
    add(&scratch.path().join("active"), &mut found);
    found.sort();
    found
}

/// Takes the calls of systemctl that changed something.
fn calls(scratch: &Scratch) -> Vec<String> {
    let calls = scratch.read("calls").expect("the calls");
    scratch.write("calls", "");
    calls.lines().map(str::to_owned).collect()
}

fn is_enabled(scratch: &Scratch, unit: &str) -> bool {
    scratch.path().join("units/timers.target.wants").join(unit).is_symlink()
}

fn is_active(scratch: &Scratch, unit: &str) -> bool {
    scratch.has(&format!("active/{unit}"))
}

/// Returns the options in the command of the new service.
fn command(scratch: &Scratch) -> String {
    let service = scratch.read("units/ccm-site.service").expect("the service");
    let line = service.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/ccm apply "));
    line.expect("a command").to_owned()
}

#[test]
fn both_kinds_of_timers_are_listed_with_their_states() {
    let scratch = scratch(true, true);
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    migrate(&timers).expect("a migration");
    enable(&scratch, "ccm-apply@stopped.timer");
    enable(&scratch, "ccm-apply@web.timer");
    for unit in ["ccm-apply@web.timer", "ccm-apply@once.timer"] {
        scratch.write(&format!("active/{unit}"), "");
    }
    scratch.write("more/ccm-apply@web.timer", "NextElapseUSecRealtime=Fri 2026-11-20 04:00:00 UTC\n");
    scratch.write(
        "more/ccm-apply@web.service",
        "Result=exit-code\nExecMainStatus=4\nExecMainExitTimestamp=Fri 2026-11-20 03:30:00 UTC\n",
    );
    std::fs::create_dir_all(scratch.path().join("run/ccm-apply@once.timer.d")).expect("a directory");
    scratch.write("run/ccm-apply@once.timer.d/x.conf", "[Timer]\nOnBootSec=5min\n");
    let listed = block_on(timers.list()).expect("a list");
    let shown: Vec<_> = listed
        .iter()
        .map(|timer| {
            (
                &*timer.name,
                timer.kind,
                timer.is_enabled,
                timer.is_active,
                timer.has_other_times,
                timer.is_stalled,
            )
        })
        .collect();
    let template = TimerKind::Template;
    assert_eq!(
        shown,
        [
            ("site", TimerKind::Installed, true, Some(true), false, true),
            ("ccm-apply@once", template, false, Some(true), true, false),
            ("ccm-apply@stopped", template, true, Some(false), false, true),
            ("ccm-apply@web", template, true, Some(true), false, false),
        ]
    );
    let web = listed.last().expect("a timer");
    assert_eq!((&*web.every, &*web.unit), ("30m", "ccm-apply@web.timer"));
    assert_eq!(web.manifest, Some(PathBuf::from("/etc/ccm/web.yaml")));
    assert_eq!(web.next.as_deref(), Some("2026-11-20 04:00:00"));
    let last = web.last.as_ref().map(|last| (&*last.result, last.code));
    assert_eq!(last, Some(("exit-code", Some(4))));
    assert_eq!(timers.enabled_templates(), ["ccm-apply@stopped", "ccm-apply@web"]);
    for (manifest, expected) in [("/etc/ccm/web.yaml", Some("ccm-apply@web")), ("/etc/ccm/site.yaml", None)] {
        assert_eq!(timers.template_of(&request("other", manifest)).as_deref(), expected, "{manifest}");
    }

    std::fs::remove_dir(scratch.path().join("running")).expect("a directory");
    let listed = block_on(timers.list()).expect("a list");
    let shown: Vec<_> =
        listed.iter().map(|timer| (&*timer.name, timer.is_enabled, timer.is_active)).collect();
    let expected = [("site", true, None), ("ccm-apply@stopped", true, None), ("ccm-apply@web", true, None)];
    assert_eq!(shown, expected);
}

#[test]
fn a_timer_keeps_whether_it_is_enabled_and_running() {
    for (enabled, active, started) in [
        (true, true, "enable --now ccm-site.timer"),
        (true, false, "enable ccm-site.timer"),
        (false, true, "start ccm-site.timer"),
    ] {
        for has_template in [true, false] {
            let scratch = scratch(enabled, active);
            if !has_template {
                std::fs::remove_file(scratch.at("lib/ccm-apply@.timer")).expect("the template");
            }
            let session = session(&scratch);
            let timers = timers(&session, &scratch);
            let before = machine(&scratch);
            let plan = planned(&timers, false).expect("a plan").expect("something to migrate");
            assert_eq!(machine(&scratch), before, "a plan changes nothing");
            assert_eq!((plan.is_enabled, plan.is_active), (enabled, active));
            block_on(timers.migrate(&plan)).expect("a migration");
            let made = calls(&scratch);
            assert_eq!(made[..2], ["daemon-reload", started], "{enabled} {active} {has_template}");
            let new = (is_enabled(&scratch, NEW), is_active(&scratch, NEW));
            assert_eq!(new, (enabled, active), "{made:?}");
            assert!(!is_enabled(&scratch, OLD) && !is_active(&scratch, OLD), "{made:?}");
            assert_eq!(
                command(&scratch),
                "--output log --honour-pause --lock-wait 5m --timeout 20m /etc/ccm/site.yaml"
            );
            let after = machine(&scratch);
            assert_eq!(planned(&timers, false).expect("a plan"), None, "a second time");
            assert_eq!(machine(&scratch), after);
        }
    }
}

#[test]
fn a_timer_that_is_neither_enabled_nor_running_is_named() {
    let scratch = scratch(false, false);
    enable(&scratch, "ccm-apply@web.timer");
    let session = session(&scratch);
    let error = planned(&timers(&session, &scratch), false).expect_err("no timer");
    let TimerError::NoTemplateTimer { unit, known } = &error else { panic!("{error}") };
    assert_eq!((&**unit, &**known), (OLD, &["ccm-apply@web".to_owned()][..]));
}

#[test]
fn drop_ins_are_carried_over() {
    for (files, expected) in [
        // Of the instance and of the template, in all directories; the first of a name counts.
        (
            &[
                ("units/ccm-apply@site.timer.d/a.conf", "[Timer]\nOnCalendar=\nOnCalendar=hourly\n"),
                ("lib/ccm-apply@.timer.d/a.conf", "[Timer]\nOnCalendar=daily\n"),
                ("run/ccm-apply@.timer.d/b.conf", "[Timer]\nPersistent=false\n"),
                ("units/ccm-apply@.timer.d/README", "not a drop-in"),
                ("units/ccm-apply@web.timer.d/c.conf", "[Timer]\nOnCalendar=weekly\n"),
            ][..],
            &[
                ("ccm-site.timer.d/a.conf", "[Timer]\nOnCalendar=\nOnCalendar=hourly\n"),
                ("ccm-site.timer.d/b.conf", "[Timer]\nPersistent=false\n"),
            ][..],
        ),
        // The instance of specifiers.
        (
            &[(
                "units/ccm-apply@.service.d/x.conf",
                "[Unit]\nOnFailure=notify@%n.service\n[Service]\nLoadCredential=db:/etc/ccm/%i/db\n",
            )],
            &[(
                "ccm-site.service.d/x.conf",
                "[Unit]\nOnFailure=notify@%n.service\n[Service]\nLoadCredential=db:/etc/ccm/site/db\n",
            )],
        ),
        // A command of its own needs the variables of the template.
        (
            &[(
                "units/ccm-apply@site.service.d/x.conf",
                "[Service]\nExecStart=\nExecStart=/usr/bin/ccm apply $CCM_OPTIONS /x\n",
            )],
            &[
                (
                    "ccm-site.service.d/00-ccm-apply.conf",
                    "# Defaults of ccm-apply@.service, for the command in another drop-in.\n[Service]\nEnvironment=CCM_LOCK_WAIT=5m \
                     CCM_TIMEOUT=20m CCM_OPTIONS=\n",
                ),
                (
                    "ccm-site.service.d/x.conf",
                    "[Service]\nExecStart=\nExecStart=/usr/bin/ccm apply $CCM_OPTIONS /x\n",
                ),
            ],
        ),
    ] {
        let scratch = scratch(true, true);
        for (path, text) in files {
            let path = scratch.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            std::fs::write(&path, text).expect("a file");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("a mode");
        }
        let session = session(&scratch);
        migrate(&timers(&session, &scratch)).expect("a migration");
        for &(path, text) in expected {
            assert_eq!(scratch.read(&format!("units/{path}")).as_deref(), Some(text), "{path}");
        }
        let carried = machine(&scratch)
            .into_iter()
            .filter(|entry| entry.contains("units/ccm-site.") && entry.contains(".conf "));
        let carried: Vec<String> = carried.collect();
        assert_eq!(carried.len(), expected.len(), "{carried:?}");
        assert!(
            carried
                .iter()
                .all(|entry| entry.contains(".conf 600 ") || entry.contains("/00-ccm-apply.conf 644 ")),
            "who can read it: {carried:?}"
        );
        assert!(files.iter().all(|(path, _)| scratch.has(path)), "those before stay");
    }
}

#[test]
fn a_masked_drop_in_is_left_out() {
    let scratch = scratch(true, true);
    for directory in ["units/ccm-apply@site.timer.d", "lib/ccm-apply@.timer.d"] {
        std::fs::create_dir_all(scratch.path().join(directory)).expect("a directory");
    }
    symlink("/dev/null", scratch.path().join("units/ccm-apply@site.timer.d/x.conf")).expect("a link");
    scratch.write("lib/ccm-apply@.timer.d/x.conf", "[Timer]\nOnCalendar=daily\n");
    let session = session(&scratch);
    let plan = planned(&timers(&session, &scratch), false).expect("a plan").expect("something to migrate");
    assert_eq!(plan.drop_ins, []);
}

#[test]
fn variables_become_options() {
    for (defaults, drop_in, expected) in [
        ("CCM_TIMEOUT=10m\nCCM_LOCK_WAIT=1m\n", "", "--lock-wait 1m --timeout 10m"),
        (
            "CCM_OPTIONS=--fail-on-error --data 'motd=a b'\n",
            "",
            "--lock-wait 5m --timeout 20m --fail-on-error --data \"motd=a b\"",
        ),
        (
            "",
            "Environment=CCM_TIMEOUT=7m \"CCM_OPTIONS=--diff --keep-runs 3\"",
            "--lock-wait 5m --timeout 7m --diff --keep-runs 3",
        ),
        // Files win over variables, and later ones over earlier ones.
        ("CCM_TIMEOUT=10m\n", "Environment=CCM_TIMEOUT=7m", "--lock-wait 5m --timeout 10m"),
        ("CCM_TIMEOUT=10m\n", "EnvironmentFile=-[dir]/own", "--lock-wait 5m --timeout 3m"),
        (
            "CCM_TIMEOUT=10m\n",
            "EnvironmentFile=\nEnvironmentFile=-[dir]/gone",
            "--lock-wait 5m --timeout 20m",
        ),
        ("# CCM_TIMEOUT=10m\nCCM_KEEP_RUNS=3\n", "", "--lock-wait 5m --timeout 20m"),
    ] {
        let scratch = scratch(true, true);
        scratch.write("defaults", defaults);
        scratch.write("own", "CCM_TIMEOUT=3m\n");
        std::fs::create_dir(scratch.path().join("units/ccm-apply@site.service.d")).expect("a directory");
        let drop_in = drop_in.replace("[dir]", &scratch.path().to_string_lossy());
        scratch.write("units/ccm-apply@site.service.d/x.conf", format!("[Service]\n{drop_in}\n"));
        let session = session(&scratch);
        migrate(&timers(&session, &scratch)).expect("a migration");
        let expected = format!("--output log --honour-pause {expected} /etc/ccm/site.yaml");
        assert_eq!(command(&scratch), expected, "{defaults} {drop_in}");
    }
}

#[test]
fn what_can_not_be_carried_over_is_an_error() {
    for (prepare, is_error) in [
        (
            (|scratch: &Scratch| {
                scratch.write("defaults", "CCM_OPTIONS=--data password=x\n");
                std::fs::set_permissions(scratch.at("defaults"), std::fs::Permissions::from_mode(0o640))
                    .expect("a mode");
            }) as fn(&Scratch),
            (|error: &TimerError| matches!(error, TimerError::HiddenOptions(path) if path.ends_with("defaults")))
                as fn(&TimerError) -> bool,
        ),
        (
            |scratch| {
                std::fs::create_dir(scratch.path().join("units/ccm-apply@site.service.d"))
                    .expect("a directory");
                scratch.write(
                    "units/ccm-apply@site.service.d/x.conf",
                    "[Service]\nEnvironmentFile=/etc/ccm/*.env\n",
                );
            },
            |error| matches!(error, TimerError::PatternOfVariables(_)),
        ),
        (
            |scratch| {
                std::fs::create_dir(scratch.path().join("units/ccm-apply@site.service.d"))
                    .expect("a directory");
                scratch.write("units/ccm-apply@site.service.d/x.conf", [0xff]);
            },
            |error| matches!(error, TimerError::NoText(_)),
        ),
        (
            |scratch| {
                for (unit, text) in [
                    ("ccm-apply@site", "[Timer]\nOnCalendar=daily\n"),
                    ("ccm-site", "[Timer]\nOnCalendar=weekly\n"),
                ] {
                    std::fs::create_dir(scratch.path().join(format!("units/{unit}.timer.d")))
                        .expect("a directory");
                    scratch.write(&format!("units/{unit}.timer.d/x.conf"), text);
                }
            },
            |error| matches!(error, TimerError::OtherDropIn(path) if path.ends_with("ccm-site.timer.d/x.conf")),
        ),
        (
            |scratch| {
                scratch.write("units/ccm-site.service", "[Service]\nExecStart=/bin/true\n");
            },
            |error| matches!(error, TimerError::Foreign(_)),
        ),
    ] {
        let scratch = scratch(true, true);
        prepare(&scratch);
        let session = session(&scratch);
        let before = machine(&scratch);
        let error = planned(&timers(&session, &scratch), false).expect_err("an error");
        assert!(is_error(&error), "{error:?}");
        assert_eq!(machine(&scratch), before);
    }
}

#[test]
fn a_timer_with_other_settings_is_replaced_by_force() {
    let scratch = scratch(true, true);
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    migrate(&timers).expect("a migration");
    // Somebody enables the old one again, with other options.
    enable(&scratch, OLD);
    scratch.write(&format!("active/{OLD}"), "");
    scratch.write("defaults", "CCM_TIMEOUT=1m\n");
    let refused = planned(&timers, false);
    assert!(matches!(refused, Err(TimerError::OtherSettings { .. })), "{refused:?}");
    let plan = planned(&timers, true).expect("a plan").expect("something to migrate");
    calls(&scratch);
    block_on(timers.migrate(&plan)).expect("a migration");
    assert!(command(&scratch).contains("--timeout 1m "));
    assert_eq!(
        calls(&scratch)[..3],
        ["daemon-reload", "enable --now ccm-site.timer", "restart ccm-site.timer"]
    );
}

#[test]
fn a_migration_that_was_killed_is_completed() {
    let scratch = scratch(true, true);
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    std::fs::create_dir(scratch.path().join("units/ccm-apply@site.timer.d")).expect("a directory");
    scratch.write("units/ccm-apply@site.timer.d/x.conf", "[Timer]\nOnCalendar=hourly\n");
    migrate(&timers).expect("a migration");
    let after = machine(&scratch);
    for lost in [&[][..], &["ccm-site.timer"], &["ccm-site.timer", "ccm-site.service"]] {
        enable(&scratch, OLD);
        scratch.write(&format!("active/{OLD}"), "");
        for unit in lost {
            std::fs::remove_file(scratch.path().join("units").join(unit)).expect("a unit");
        }
        migrate(&timers).expect("the rest");
        assert_eq!(machine(&scratch), after, "{lost:?}");
    }
}

#[test]
fn a_failed_migration_leaves_both_timers_as_they_were() {
    for failing in ["daemon-reload", "enable --now ccm-site.timer", "disable --now ccm-apply@site.timer"] {
        let scratch = scratch(true, true);
        std::fs::create_dir(scratch.path().join("units/ccm-apply@site.timer.d")).expect("a directory");
        scratch.write("units/ccm-apply@site.timer.d/x.conf", "[Timer]\nOnCalendar=hourly\n");
        let session = session(&scratch);
        let before = machine(&scratch);
        scratch.write("failing", format!("{failing}\n"));
        let error = migrate(&timers(&session, &scratch)).expect_err("a failure");
        assert!(matches!(error, TimerError::Systemctl(_)), "{error:?}");
        // systemctl makes its directory of links, which exists here.
        assert_eq!(machine(&scratch), before, "{failing}");
    }
    // Without the template, links are put back by hand.
    let scratch = scratch(true, true);
    std::fs::remove_file(scratch.at("lib/ccm-apply@.timer")).expect("the template");
    let session = session(&scratch);
    let before = machine(&scratch);
    scratch.write("failing", "stop ccm-apply@site.timer\n");
    migrate(&timers(&session, &scratch)).expect_err("a failure");
    assert_eq!(machine(&scratch), before);
}

#[test]
fn what_was_changed_by_hand_is_a_warning() {
    let scratch = scratch(true, true);
    let template = scratch.read("lib/ccm-apply@.service").expect("the template");
    // An older package is no change.
    let older =
        template.lines().filter(|line| !line.starts_with("ExecStartPre=")).collect::<Vec<_>>().join("\n");
    scratch.write("units/ccm-apply@.service", older);
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    let warnings = || planned(&timers, false).expect("a plan").expect("something to migrate").warnings;
    let no_manifest = MigrationWarning::NoManifest(PathBuf::from("/etc/ccm/site.yaml"));
    assert_eq!(warnings(), std::slice::from_ref(&no_manifest));
    let template = template.replace(
        "Environment=CCM_LOCK_WAIT=5m CCM_TIMEOUT=20m",
        "Environment=CCM_LOCK_WAIT=9m CCM_TIMEOUT=8m",
    );
    scratch.write("units/ccm-apply@.service", template);
    std::fs::create_dir(scratch.path().join("units/ccm-apply@site.timer.d")).expect("a directory");
    scratch.write("units/ccm-apply@site.timer.d/x.conf", "[Unit]\nAfter=ccm-apply@web.service\n");
    let expected = [
        MigrationWarning::ChangedTemplate(scratch.path().join("units/ccm-apply@.service")),
        MigrationWarning::NamesTemplate(scratch.path().join("units/ccm-apply@site.timer.d/x.conf")),
        no_manifest,
    ];
    assert_eq!(warnings(), expected);
    migrate(&timers).expect("a migration");
    assert!(command(&scratch).contains("--lock-wait 9m --timeout 8m "), "its variables count");
}

#[test]
fn without_systemd_a_migration_changes_nothing() {
    let scratch = scratch(true, false);
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    std::fs::remove_dir(scratch.path().join("running")).expect("a directory");
    let before = machine(&scratch);
    let plan = planned(&timers, false).expect("a plan").expect("something to migrate");
    let error = block_on(timers.migrate(&plan)).expect_err("no systemd");
    assert!(matches!(error, TimerError::NoSystemd), "{error}");
    assert_eq!(machine(&scratch), before);
}
