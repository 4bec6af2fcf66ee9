//! Signals that ask ccm to end.

use ccm_host::signals::{Signal, Signals};
use ccm_testkit::isolated_after;
use nix::sys::signal::{Signal as Number, raise};

use crate::block_on;

/// Shell commands that restore the default effects: a shell ignores some signals in its background jobs.
const AT_DEFAULT: &str = r#"exec env --default-signal=INT,TERM,HUP "$0" "$@""#;
const WITHOUT_HUP: &str = r#"exec env --default-signal=INT,TERM --ignore-signal=HUP "$0" "$@""#;

#[test]
fn signals_have_names() {
    isolated_after(AT_DEFAULT, "signals::signals_have_names", || {
        block_on(async {
            let signals = Signals::listen().expect("to listen");
            for (number, name) in
                [(Number::SIGHUP, "SIGHUP"), (Number::SIGINT, "SIGINT"), (Number::SIGTERM, "SIGTERM")]
            {
                raise(number).expect("to raise");
                assert_eq!(signals.next().await.expect("a signal"), Signal { name, number: number as i32 });
            }
        });
    });
}

#[test]
fn ignored_signal_stays_ignored() {
    isolated_after(WITHOUT_HUP, "signals::ignored_signal_stays_ignored", || {
        block_on(async {
            let signals = Signals::listen().expect("to listen");
            raise(Number::SIGHUP).expect("to raise");
            raise(Number::SIGINT).expect("to raise");
            assert_eq!(signals.next().await.expect("a signal").name, "SIGINT");
        });
    });
}
