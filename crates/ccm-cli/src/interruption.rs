//! Message about the end of a run that somebody or its time limit asked for.

use std::time::Duration;

use ccm_runtime::model::{StopCause, display_duration};

/// Time between TERM and KILL when a command is ended.
const UNTIL_KILL: &str = "2s";

/// State of a run that is to be ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted<'a> {
    /// Resource whose work has begun, for display.
    pub running: Option<&'a str>,
    /// Time that is left to a tool that must not be interrupted.
    pub patience: Option<Duration>,
    /// The command is killed at once.
    pub is_urgent: bool,
}

/// Returns what is ended, how long that may take and what another signal does.
pub(crate) fn message(cause_of: &StopCause, run: Interrupted<'_>) -> String {
    let cause = match cause_of {
        StopCause::Signal { name, .. } => format!("interrupted by {name}"),
        StopCause::Timeout { after } => format!("--timeout of {} reached", in_short(*after)),
        StopCause::Failed { .. } => "stopped".to_owned(),
    };
    let next =
        if matches!(cause_of, StopCause::Signal { .. }) { "a second interrupt" } else { "an interrupt" };
    let Interrupted { running, patience, is_urgent } = run;
    let action = match (running, patience, is_urgent) {
        (None, _, true) => "ending the run now".to_owned(),
        (None, _, false) => "ending the run; nothing else is started".to_owned(),
        (Some(name), Some(_), true) => {
            format!("killing the package tool of {name} now; packages may be left half installed")
        }
        (Some(name), None, true) => format!("killing {name} now"),
        (Some(name), Some(patience), false) => format!(
            "waiting up to {} for the package tool of {name} to finish; {next} kills the tool and may \
             leave packages broken",
            in_short(patience)
        ),
        (Some(name), None, false) => {
            format!("ending {name} (TERM, then KILL in {UNTIL_KILL}); {next} kills it at once")
        }
    };
    format!("{cause}: {action}")
}

/// Returns a duration, whole minutes without seconds.
fn in_short(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        _ => display_duration(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_is_ended_how_long_it_takes_and_what_a_second_signal_does() {
        let signal = StopCause::Signal { name: "SIGINT".to_owned(), number: 2 };
        let timeout = StopCause::Timeout { after: Duration::from_mins(20) };
        let patience = Some(Duration::from_mins(5));
        for (cause, running, patience, is_urgent, expected) in [
            (
                &signal,
                Some("exec#build"),
                None,
                false,
                "interrupted by SIGINT: ending exec#build (TERM, then KILL in 2s); a second interrupt kills it at once",
            ),
            (
                &timeout,
                Some("exec#build"),
                None,
                false,
                "--timeout of 20m reached: ending exec#build (TERM, then KILL in 2s); an interrupt kills it at once",
            ),
            (
                &signal,
                Some("package#nginx"),
                patience,
                false,
                "interrupted by SIGINT: waiting up to 5m for the package tool of package#nginx to finish; a second \
                 interrupt kills the tool and may leave packages broken",
            ),
            (&signal, Some("exec#build"), None, true, "interrupted by SIGINT: killing exec#build now"),
            (
                &signal,
                Some("package#nginx"),
                patience,
                true,
                "interrupted by SIGINT: killing the package tool of package#nginx now; packages may be left half \
                 installed",
            ),
            (&signal, None, None, false, "interrupted by SIGINT: ending the run; nothing else is started"),
            (&signal, None, None, true, "interrupted by SIGINT: ending the run now"),
        ] {
            assert_eq!(message(cause, Interrupted { running, patience, is_urgent }), expected);
        }
    }
}
