//! Messages between ccm and the launcher of a command.

use ccm_host::launch_messages_again;

pub(super) const WORDS: &[&str] = &[
    "\"program\":",
    "\"Unix\":[47]",
    "\"arguments\":",
    "\"identity\":null",
    "\"sandbox\":",
    "\"limits\":",
    "\"Ready\":",
    "\"Failed\":",
    "\"NotEnforceable\":",
    "\"missing\":",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "-1",
    "1e99",
];

pub(super) fn run(input: &[u8]) {
    for message in launch_messages_again(input).into_iter().flatten() {
        let again = launch_messages_again(&message);
        assert!(again.contains(&Some(message)), "{again:?}");
    }
}
