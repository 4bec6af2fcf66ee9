//! Suggestions for misspelt names.

/// Returns the candidate that is most similar to a misspelt word.
///
/// A third of the letters may differ, in a short word one. Two swapped neighbours count as one.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long names, such as commands, would make the comparison slow and the hint useless.
    const MAX_LENGTH: usize = 200;
    if word.len() > MAX_LENGTH {
        return None;
    }
    let limit = (word.chars().count() / 3).max(1);
    let folded = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_LENGTH && *candidate != word)
        .map(|candidate| {
            let distance = strsim::osa_distance(&folded, &candidate.to_lowercase().replace('-', "_"));
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns a list of names with a word before the last one: "`a`, `b` and `c`".
pub fn listed(names: &[&str], last: &str) -> String {
    joined(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(), last)
}

/// Returns a list of words with a word before the last one: "uid, home and shell".
pub fn joined<S: AsRef<str>>(words: &[S], last: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn only_similar_words_are_suggested() {
        let words = ["refresh_only", "refreshonly", "returns", "cwd", "command", "onlyif"];
        for (word, expected) in [
            ("refresh_onyl", Some("refresh_only")),
            ("refresh-only", Some("refresh_only")),
            ("Command", Some("command")),
            ("comand", Some("command")),
            ("only_if", Some("onlyif")),
            ("cdw", Some("cwd")),
            ("retruns", Some("returns")),
            ("banana", None),
            ("x", None),
        ] {
            assert_eq!(closest(word, words), expected, "{word}");
        }
    }
}
