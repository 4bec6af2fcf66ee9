use super::super::properties::ServiceProperties;
use super::super::values::OnRefresh;
use super::*;
use crate::support::decision_table::assert_rows;

const TABLE: &str = include_str!("../decide_table.txt");

fn service(ensure: &str, asks: &str) -> Service {
    let asks = |what: &str| asks.split(',').any(|asked| asked == what);
    let either = |yes, no| if asks(yes) { Some(true) } else { asks(no).then_some(false) };
    let refreshes = [("reload", UnitVerb::Reload), ("reload-or-restart", UnitVerb::ReloadOrRestart)];
    let properties = ServiceProperties {
        enable: either("enable", "disable"),
        masked: either("mask", "unmask"),
        on_refresh: refreshes.into_iter().find(|(word, _)| asks(word)).map(|(_, verb)| OnRefresh(verb)),
        ..ServiceProperties::default()
    };
    Service::build("web", Some(ensure), &properties).unwrap()
}

fn state(unit: &str, file: &str, triggered: bool) -> ServiceState {
    let mut words = unit.split(',');
    let activity = words.next().unwrap_or_default();
    let is = |what: &str| unit.split(',').any(|word| word == what);
    let load = match () {
        () if is("not-found") || is("unread") => Load::NotFound,
        () if is("masked") => Load::Masked,
        () if is("bad") => Load::Bad("bad setting".to_owned()),
        () => Load::Loaded,
    };
    let unit = Unit {
        id: "web.service".to_owned(),
        load,
        activity: match activity {
            "running" => Activity::Running,
            "failed" => Activity::Failed,
            "restarting" => Activity::Restarting,
            "activating" | "working" => Activity::Activating,
            "deactivating" => Activity::Deactivating,
            "reloading" => Activity::Reloading,
            _ => Activity::Stopped,
        },
        words: ("a".to_owned(), "b".to_owned()),
        file_state: file.replace('-', ""),
        needs_reload: is("changed"),
        can_reload: is("reloads"),
        is_oneshot: matches!(activity, "working" | "done"),
        reports_start: true,
        result: if activity == "failed" { "exit-code" } else { "success" }.to_owned(),
        ..Unit::default()
    };
    let mask_obstacle = (is("occupied") || is("linked"))
        .then(|| MaskObstacle { path: "/etc/systemd/system/web.service".into(), is_link: is("linked") });
    let enablement = match () {
        () if is("script-on") => Enablement::Script { is_enabled: true },
        () if is("script-off") => Enablement::Script { is_enabled: false },
        () if is("others-on") => Enablement::Others { has_enabled: true, has_disabled: false },
        () if is("others-off") => Enablement::Others { has_enabled: false, has_disabled: true },
        () if is("others-mixed") => Enablement::Others { has_enabled: true, has_disabled: true },
        () if is("no-install") => Enablement::NotInstallable,
        () if is("links-missing") => Enablement::LinksMissing,
        () => Enablement::AsReported,
    };
    let mask = is("packaged").then(|| "/usr/lib/systemd/system/web.service".into());
    let waited = Some(Duration::from_secs(90));
    ServiceState {
        unit,
        triggered,
        has_new_file: is("unread"),
        mask_obstacle,
        enablement,
        mask,
        is_rightly_missing: is("gone"),
        waited,
        ..ServiceState::default()
    }
}

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, asks, unit, file, trigger]| {
        let is_triggered = trigger == "yes";
        let trigger = is_triggered.then_some(Trigger::Changed);
        ServiceKind::decide(&service(ensure, asks), &state(unit, file, is_triggered), trigger.as_ref())
    });
    assert_eq!(rows, 94);
}

#[test]
fn effects_are_verified() {
    let verified = |ensure, unit, file, verb| {
        let done = ServiceEffect { verb, ..ServiceEffect::default() };
        ServiceKind::verify(&service(ensure, "-"), &state(unit, file, false), &done)
            .map_err(|failure| failure.chain.join(": "))
    };
    let started = Some(UnitVerb::Start);
    assert_eq!(verified("running", "running", "disabled", started), Ok(Verified::Changed));
    assert_eq!(verified("running", "done", "static", started), Ok(Verified::Changed));
    assert_eq!(verified("stopped", "stopped", "disabled", Some(UnitVerb::Stop)), Ok(Verified::Changed));
    assert_eq!(
        verified("running", "failed", "disabled", started).unwrap_err(),
        "`web.service` is not in the desired state after the change: it has failed: result: exit-code"
    );
    assert_eq!(
        verified("running", "stopped", "disabled", started).unwrap_err(),
        "`web.service` is not in the desired state after the change: it is not running"
    );
    assert_eq!(
        verified("running", "done", "static", None).unwrap_err(),
        "`web.service` is not in the desired state after the change: it is not running"
    );
    let nothing = ServiceEffect { unneeded: Some(Unneeded::Reload), ..ServiceEffect::default() };
    let verified = ServiceKind::verify(&service("running", "-"), &state("running", "-", false), &nothing);
    assert!(matches!(verified, Ok(Verified::Unchanged(_))), "{verified:?}");
}

#[test]
fn exit_of_a_process_is_described() {
    let result_text = |activity, result: &str, main: Option<&str>| {
        let main_process = main.map(str::to_owned);
        exit_description(&Unit { activity, result: result.to_owned(), main_process, ..Unit::default() })
    };
    let code = "its main process ended with exit code 3";
    assert_eq!(
        result_text(Activity::Failed, "exit-code", Some(code)),
        Some(format!("{code} (result: exit-code)"))
    );
    assert_eq!(result_text(Activity::Failed, "timeout", None), Some("result: timeout".to_owned()));
    assert_eq!(result_text(Activity::Stopped, "success", Some(code)), Some(code.to_owned()));
    assert_eq!(result_text(Activity::Stopped, "success", None), None);
    assert_eq!(result_text(Activity::Running, "exit-code", Some(code)), None);
}
