//! Ids and codes of intents.

use std::time::SystemTime;

use crate::intent::{CODE_LENGTH, DIGITS, ID_LENGTH, milliseconds};

/// Returns an id: the time, and random digits.
pub(crate) fn new_id(now: SystemTime, random: u128) -> String {
    let time = milliseconds(now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
    digits(u128::from(time) << 80 | random >> 48, ID_LENGTH)
}

/// Returns a code of random digits.
pub(crate) fn new_code(random: u128) -> String {
    digits(random, CODE_LENGTH)
}

fn digits(number: u128, length: usize) -> String {
    let digit = |place: usize| char::from(DIGITS[(number >> (5 * place) & 31) as usize]);
    (0..length).rev().map(digit).collect()
}

/// Returns a code or an id as a person may have typed it: in capitals, `O` as 0, `I` and `L` as 1.
pub(crate) fn normalised(text: &str) -> String {
    let digit = |character: char| match character.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let text = text.trim();
    // A whole name is the code, a hyphen and the id.
    text.rsplit_once('-').map_or(text, |(_, id)| id).chars().map(digit).collect()
}
