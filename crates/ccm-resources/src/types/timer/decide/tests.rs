use std::path::Path;

use ccm_engine::ResourceKind as _;

use super::*;
use crate::parts::systemd::failure_actions::{FailureAction, OnFailure};
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;
use crate::types::timer::units::TimerUnits;

fn units(words: &str) -> TimerUnits {
    let has = |word: &str| words.split(',').any(|found| found == word);
    let actions = if has("tells") { &["tell.service", "mail root"][..] } else { &[] };
    let actions = actions.iter().map(|text| FailureAction::parse(text).expect("an action")).collect();
    TimerUnits {
        command: vec![if has("other") { "/bin/false" } else { "/bin/true" }.to_owned()],
        times: vec![if has("late") { "23:00" } else { "02:30" }.to_owned()],
        jitter: if has("jitter") { 60 } else { 0 },
        user: has("user").then(|| "ada".to_owned()),
        persistent: !has("forgets"),
        on_failure: OnFailure { actions, ..OnFailure::default() },
    }
}

fn desired(words: &str) -> DesiredTimer {
    let units = Some(units(words)).filter(|_| words != "absent");
    let user = words.contains("user").then(|| "ada".to_owned());
    DesiredTimer { name: "backup".to_owned(), units, times: Vec::new(), user }
}

fn state(words: &str) -> TimerState {
    let has = |word: &str| words.split(',').any(|found| found == word);
    let other = |kind: &str| {
        let unit = format!("backup.{kind}");
        let at = |directory: &str| Path::new(directory).join(&unit);
        let elsewhere =
            has(&format!("packaged-{kind}")).then(|| OtherUnit::Elsewhere(at("/usr/lib/systemd/system")));
        let in_place = has(&format!("edited-{kind}")).then(|| OtherUnit::InPlace(at("/etc/systemd/system")));
        let mask = has(&format!("masked-{kind}")).then(|| OtherUnit::Mask(at("/etc/systemd/system")));
        elsewhere.or(in_place).or(mask)
    };
    let others = TimerState {
        other_service: other("service"),
        other_timer: other("timer"),
        user_missing: has("nobody"),
        ..TimerState::default()
    };
    if has("missing") || has("nobody") {
        return others;
    }
    let old = units(words);
    TimerState {
        service: (!has("half")).then(|| old.service("backup")),
        timer: Some(old.timer("backup") + if has("edited") { "#\n" } else { "" }),
        is_enabled: !has("disabled"),
        is_active: !has("stopped"),
        needs_reload: has("unread"),
        ..others
    }
}

#[test]
fn timer_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        r#"
        absent missing | keep | it does not exist
        absent there | removed | it exists
        absent half | removed | it exists
        any missing | created: command /bin/true, times 02:30 | it does not exist
        user nobody | fail, missing | user `ada` does not exist
        any there | keep | it is in the desired state
        any other | changed: command /bin/false to /bin/true | it differs in command
        late,jitter there | changed: times 02:30 to 23:00, jitter none to 60s | it differs in times and jitter
        user there | changed: user none to ada | it differs in user
        tells there | changed: on_failure none to tell.service, on_failure none to mail root | it differs in on_failure and on_failure
        forgets there | changed: persistent true to false | it differs in persistent
        any half | changed: command none to /bin/true | it differs in command
        any edited | changed: timer unit | it differs in timer unit
        any unread | changed: loaded unit | it differs in loaded unit
        any missing,packaged-service | fail, missing | the units of the timer `backup` would replace "/usr/lib/systemd/system/backup.service", which ccm did not write
        any missing,packaged-timer | fail, missing | the units of the timer `backup` would replace "/usr/lib/systemd/system/backup.timer", which ccm did not write
        any there,packaged-service | fail, missing | the units of the timer `backup` would replace "/usr/lib/systemd/system/backup.service", which ccm did not write
        any missing,edited-service | fail, missing | "/etc/systemd/system/backup.service" was not written by ccm
        any missing,edited-timer | fail, missing | "/etc/systemd/system/backup.timer" was not written by ccm
        any missing,masked-timer | fail, missing | the link "/etc/systemd/system/backup.timer" masks the unit
        absent missing,packaged-service | keep | it does not exist
        absent missing,packaged-timer | keep | it does not exist
        absent there,packaged-timer | removed | it exists
        absent missing,edited-service | keep | it does not exist
        absent half,edited-service | removed | it exists
        absent missing,edited-timer | fail, missing | "/etc/systemd/system/backup.timer" was not written by ccm
        absent missing,masked-timer | fail, missing | the link "/etc/systemd/system/backup.timer" masks the unit
        any disabled,stopped | changed: enabled no to yes, active no to yes | it differs in enabled and active
        "#,
        |[wanted, found]| Object::decide(&desired(wanted), &state(found), None),
    );
    assert_eq!(rows, 28);
}
