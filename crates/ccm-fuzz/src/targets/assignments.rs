//! `KEY=VALUE` of the command line, and durations.

use ccm_data::assignment;
use ccm_model::{display_duration, parse_duration};

pub(super) const WORDS: &[&str] = &[
    "a=b",
    "a.b.c=",
    "=",
    ".",
    "\\.",
    "[1, 2]",
    "{a: b}",
    "1h30m",
    "1.5h",
    "500ms",
    "0",
    "-1s",
    "1us",
    "1M",
    "18446744073709551615s",
    "0.000000001h",
];

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    match assignment::read(&text) {
        Ok(value) => assert!(matches!(value, ccm_expr::Value::Map(_)), "{value:?}"),
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
    match parse_duration(&text) {
        Ok(duration) => {
            let shown = display_duration(duration);
            let again = parse_duration(&shown).unwrap_or_else(|error| panic!("{shown}: {error}"));
            assert_eq!(display_duration(again), shown);
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}
