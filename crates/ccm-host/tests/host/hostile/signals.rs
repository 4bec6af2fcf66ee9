//! Signals that ask ccm to end.

use ccm_host::signals::{Signal, Signals};
use ccm_testkit::isolated_with_setup;
use nix::sys::signal::{Signal as Number, raise};

use crate::hostile::block_on;

/// Shell commands that restore the default effects: a shell ignores some signals in its background jobs.
const AT_DEFAULT: &str = r#"exec env --default-signal=INT,TERM,HUP "$0" "$@""#;
const ALL_IGNORED: &str = "trap '' HUP INT QUIT TERM";

#[test]
fn signals_have_names() {
    isolated_with_setup(AT_DEFAULT, || {
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
fn only_ignored_hup_and_int_stay_ignored() {
    isolated_with_setup(ALL_IGNORED, || {
        block_on(async {
            let signals = Signals::listen().expect("to listen");
            for (name, ignored) in [("SIGTERM", Number::SIGHUP), ("SIGQUIT", Number::SIGINT)] {
                raise(ignored).expect("to raise");
                raise(name.parse().expect("a signal")).expect("to raise");
                assert_eq!(signals.next().await.expect("a signal").name, name);
            }
        });
    });
}
