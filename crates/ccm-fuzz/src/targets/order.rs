//! What a launcher is told, and what it answers.

use ccm_host::launcher::{answer_read_back, order_read_back};

pub(super) const WORDS: &[&str] =
    &["+\0", ".\0", "\0", "ready\0", "code\0", "text\0", "not found\0", "4294967295\0", "103\0"];

pub(super) fn run(input: &[u8]) {
    if let Some(order) = order_read_back(input) {
        assert_eq!(order_read_back(&order).as_ref(), Some(&order));
    }
    if let Some(answer) = answer_read_back(input) {
        assert_eq!(answer_read_back(&answer).as_ref(), Some(&answer));
    }
}
