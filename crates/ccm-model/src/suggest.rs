//! "Did you mean …".

/// Finds the candidate that a misspelt word most likely meant.
///
/// The distance counts swapped neighbours once; a third of the word may differ, one letter of a short one.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long names (a command as a name) would make the comparison slow, and a hint useless.
    const LONGEST: usize = 200;
    if word.len() > LONGEST {
        return None;
    }
    let limit = (word.chars().count() / 3).max(1);
    let folded = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST && *candidate != word)
        .map(|candidate| {
            let distance = strsim::osa_distance(&folded, &candidate.to_lowercase().replace('-', "_"));
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lists names: "`a`, `b` and `c`".
pub fn listed(names: &[&str], last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
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
