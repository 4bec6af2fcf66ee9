//! Timers of systemd, with a systemctl that only records its calls.

use std::path::PathBuf;
use std::time::Duration;

use ccm_runtime::Session;
use ccm_runtime::timer::{
    OnFailure, Schedule, SystemdPaths, TimerError, TimerName, TimerRequest, Timers, UnitScope,
};
use ccm_testkit::{Scratch, needs_ordinary_user};

use crate::{block_on, session};

/// Writes its arguments to the file `calls`. A call that a line of the file `failing` begins fails.
const SYSTEMCTL: &str = "#!/bin/sh
cd '[dir]' || exit
shift 2
echo \"$*\" >> calls
if [ \"$1\" = show ]; then cat shown; fi
while read -r failing; do
    case \"$*\" in \"$failing\"*) echo \"Failed to $1 unit: no.\" >&2; exit 5 ;; esac
done < failing
";

/// A scratch directory with a systemctl, a directory of units and a manifest.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("bin")).expect("a directory");
    std::fs::create_dir(scratch.path().join("running")).expect("a directory");
    scratch.write_program("bin/systemctl", &SYSTEMCTL.replace("[dir]", &scratch.path().to_string_lossy()));
    for name in ["calls", "failing", "shown"] {
        scratch.write(name, "");
    }
    scratch
}

fn timers<'s>(session: &'s Session, scratch: &Scratch) -> Timers<'s> {
    let paths = SystemdPaths {
        units: scratch.path().join("config/units"),
        others: vec![scratch.path().join("run"), scratch.path().join("lib")],
        defaults: scratch.path().join("defaults"),
        running: scratch.path().join("running"),
        search_path: Some(format!("{}:/usr/bin:/bin", scratch.at("bin"))),
    };
    session.timers_at(UnitScope::System, paths)
}

fn name(name: &str) -> TimerName {
    name.parse().expect("a name")
}

pub(crate) fn request(timer: &str, manifest: &str) -> TimerRequest {
    TimerRequest {
        source: None,
        name: name(timer),
        manifest: manifest.to_owned(),
        schedule: Schedule::every(Duration::from_secs(1800)).expect("a schedule"),
        jitter: Duration::from_secs(300),
        options: Vec::new(),
        program: "/usr/bin/ccm".to_owned(),
        has_state_directory: false,
        credentials: Vec::new(),
        on_failure: OnFailure::default(),
        force: false,
    }
}

fn install(timers: &Timers<'_>, request: &TimerRequest) -> Result<(), TimerError> {
    let plan = timers.plan(request)?;
    block_on(timers.install(&plan))
}

/// Takes the calls of systemctl so far.
fn calls(scratch: &Scratch) -> Vec<String> {
    let calls = scratch.read("calls").expect("the calls");
    scratch.write("calls", "");
    calls.lines().map(str::to_owned).collect()
}

const SERVICE: &str = "config/units/ccm-site.service";
const TIMER: &str = "config/units/ccm-site.timer";

#[test]
fn a_timer_is_installed_changed_listed_and_removed() {
    let scratch = scratch();
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    let first = request("site", "/srv/site.yaml");
    let plan = timers.plan(&first).expect("a plan");
    assert!(!scratch.has("config"), "a plan writes nothing");
    assert!(plan.units.iter().all(|unit| unit.is_changed));
    block_on(timers.install(&plan)).expect("an installation");
    let start = ["daemon-reload", "enable --now ccm-site.timer"];
    assert_eq!(calls(&scratch), start);
    for (file, unit) in [SERVICE, TIMER].into_iter().zip(&plan.units) {
        assert_eq!(scratch.read(file).as_ref(), Some(&unit.text));
    }

    install(&timers, &first).expect("the same again");
    assert_eq!(calls(&scratch), start, "nothing is written again");
    let hourly = Schedule::every(Duration::from_secs(3600)).expect("a schedule");
    install(&timers, &TimerRequest { schedule: hourly, ..first.clone() }).expect("other times");
    assert!(scratch.read(TIMER).is_some_and(|text| text.contains("OnCalendar=*-*-* *:00:00\n")));
    assert_eq!(calls(&scratch), [start[0], start[1], "restart ccm-site.timer"]);

    scratch.write(
        "shown",
        "Id=ccm-site.timer\nNextElapseUSecRealtime=Fri 2026-11-20 04:00:00 UTC\n\nId=ccm-site.service\nResult=exit-code\n\
         ExecMainStatus=1\nExecMainExitTimestamp=Fri 2026-11-20 03:30:00 UTC\n",
    );
    scratch.write("config/units/ccm-apply@.timer", "[Timer]\n");
    scratch.write("config/units/ccm-mine.timer", "[Timer]\n");
    let listed = block_on(timers.list()).expect("a list");
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&*listed[0].name, &*listed[0].every, listed[0].is_edited), ("site", "1h", false));
    assert_eq!(listed[0].manifest, Some(PathBuf::from("/srv/site.yaml")));
    assert!(listed[0].is_manifest_missing);
    assert_eq!(listed[0].next.as_deref(), Some("2026-11-20 04:00:00"));
    let last = listed[0].last.as_ref().map(|last| (&*last.result, last.code));
    assert_eq!(last, Some(("exit-code", Some(1))));
    calls(&scratch);

    block_on(timers.remove(&name("site"), false)).expect("a removal");
    assert_eq!(
        calls(&scratch),
        [
            "disable --now ccm-site.timer",
            "clean --what=state ccm-site.timer",
            "daemon-reload",
            "reset-failed ccm-site.timer ccm-site.service"
        ]
    );
    assert_eq!((scratch.has(SERVICE), scratch.has(TIMER)), (false, false));
    let error = block_on(timers.remove(&name("site"), false)).expect_err("a second removal");
    assert!(matches!(error, TimerError::Missing { .. }), "{error}");
    assert_eq!(calls(&scratch), [""; 0]);
}

#[test]
fn edited_and_foreign_units_are_kept() {
    let scratch = scratch();
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    let first = request("site", "/srv/site.yaml");
    install(&timers, &first).expect("an installation");
    let edited = scratch.read(TIMER).expect("a unit").replace("300s", "7s");
    scratch.write(TIMER, &edited);
    calls(&scratch);
    for refused in [timers.plan(&first).map(|_| ()), block_on(timers.remove(&first.name, false)).map(|_| ())]
    {
        assert!(
            matches!(&refused, Err(TimerError::Edited(path)) if path.ends_with("ccm-site.timer")),
            "{refused:?}"
        );
    }
    assert_eq!(scratch.read(TIMER), Some(edited));
    assert!(block_on(timers.list()).expect("a list")[0].is_edited);
    install(&timers, &TimerRequest { force: true, ..first.clone() }).expect("a forced installation");
    assert!(scratch.read(TIMER).is_some_and(|text| text.contains("=300s\n")));

    scratch.write(SERVICE, "[Service]\nExecStart=/bin/true\n");
    for force in [false, true] {
        let refused = timers.plan(&TimerRequest { force, ..first.clone() });
        assert!(matches!(refused, Err(TimerError::Foreign(_))), "{refused:?}");
        let refused = block_on(timers.remove(&first.name, force));
        assert!(matches!(refused, Err(TimerError::Foreign(_))), "{refused:?}");
    }
    assert!(scratch.has(TIMER) && scratch.has(SERVICE));
    std::fs::remove_file(scratch.at(SERVICE)).expect("a file");
    std::os::unix::fs::symlink("/dev/null", scratch.at(SERVICE)).expect("a link");
    assert!(matches!(timers.plan(&first), Err(TimerError::Foreign(_))), "a masked unit");
}

#[test]
fn a_name_belongs_to_one_manifest() {
    let scratch = scratch();
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    install(&timers, &request("site", "/srv/site.yaml")).expect("an installation");
    let other = request("site", "/srv/other.yaml");
    let refused = timers.plan(&other);
    assert!(
        matches!(&refused, Err(TimerError::OtherManifest { manifest, .. }) if manifest.ends_with("site.yaml"))
    );
    install(&timers, &TimerRequest { force: true, ..other }).expect("a forced installation");
    assert!(scratch.read(SERVICE).is_some_and(|text| text.contains(" /srv/other.yaml\n")));
    let refused =
        timers.plan(&TimerRequest { program: "/opt/my ccm".to_owned(), ..request("x", "/srv/x.yaml") });
    assert!(matches!(refused, Err(TimerError::Program(_))), "{refused:?}");
    let refused = timers.plan(&request("x", "/dev/stdin"));
    assert!(matches!(refused, Err(TimerError::Transient(_))), "{refused:?}");
    session.secrets().add(["correct-horse"]);
    let options = vec!["--data".to_owned(), "password=correct-horse".to_owned()];
    let refused = timers.plan(&TimerRequest { options, ..request("x", "/srv/x.yaml") });
    assert!(matches!(refused, Err(TimerError::Secret(ref option)) if option == "--data"), "{refused:?}");
}

#[test]
fn a_failed_installation_leaves_everything_as_it_was() {
    for failing in ["daemon-reload", "enable", "restart"] {
        let scratch = scratch();
        let session = session(&scratch);
        let timers = timers(&session, &scratch);
        if failing != "restart" {
            scratch.write("failing", format!("{failing}\n"));
            let error = install(&timers, &request("site", "/srv/site.yaml")).expect_err("a failure");
            assert!(
                error.to_string().ends_with(&format!(" failed: Failed to {failing} unit: no")),
                "{error}"
            );
            assert!(!scratch.has("config"), "{failing}: {:?}", scratch.names());
            let made = calls(&scratch);
            assert_eq!(
                made[made.len() - 2..],
                ["disable --now ccm-site.timer", "daemon-reload"],
                "{failing}"
            );
        }
        scratch.write("failing", "");
        install(&timers, &request("site", "/srv/site.yaml")).expect("an installation");
        let units = [SERVICE, TIMER].map(|unit| scratch.read(unit));
        scratch.write("failing", format!("{failing}\n"));
        calls(&scratch);
        let hourly = Schedule::every(Duration::from_secs(3600)).expect("a schedule");
        let changed = TimerRequest { schedule: hourly, ..request("site", "/srv/site.yaml") };
        install(&timers, &changed).expect_err("a failure");
        assert_eq!([SERVICE, TIMER].map(|unit| scratch.read(unit)), units, "{failing}");
        let made = calls(&scratch);
        assert_eq!(made.last().map(String::as_str), Some("daemon-reload"), "{failing}");
        assert!(!made.iter().any(|call| call.starts_with("disable")), "the timer before goes on: {made:?}");
    }
}

#[test]
fn without_systemd_nothing_is_written() {
    let scratch = scratch();
    let session = session(&scratch);
    let timers = timers(&session, &scratch);
    std::fs::remove_dir(scratch.path().join("running")).expect("a directory");
    let error = install(&timers, &request("site", "/srv/site.yaml")).expect_err("no systemd");
    assert!(matches!(error, TimerError::NoSystemd), "{error}");
    assert!(!scratch.has("config"));
    assert_eq!(block_on(timers.list()).expect("a list"), []);
}

#[test]
fn a_directory_that_can_not_be_written_is_an_error() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = scratch();
    let session = session(&scratch);
    let paths = SystemdPaths {
        units: "/etc/systemd/system".into(),
        others: Vec::new(),
        defaults: scratch.path().join("defaults"),
        running: scratch.path().join("running"),
        search_path: Some(scratch.at("bin")),
    };
    let error = install(&session.timers_at(UnitScope::System, paths), &request("ccm-test", "/srv/site.yaml"));
    assert!(matches!(error, Err(TimerError::File(_) | TimerError::Directory { .. })), "{error:?}");
    assert_eq!(calls(&scratch), [""; 0]);
}
