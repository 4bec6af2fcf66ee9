//! The files of the log.

const PREFIX: &str = "audit-";
const SUFFIX: &str = ".jsonl";

/// Returns the name of a file of the log.
pub(crate) fn name(segment: u32) -> String {
    format!("{PREFIX}{segment:06}{SUFFIX}")
}

/// Returns the numbers of the files among these names, in order.
pub(crate) fn numbers<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
    let mut numbers: Vec<u32> = names.into_iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

fn number(file: &str) -> Option<u32> {
    let number = file.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()?;
    (name(number) == file && number > 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_ccm_writes_are_files_of_the_log() {
        let names =
            ["audit-000002.jsonl", "key", "audit-1.jsonl", "audit-000001.jsonl", "audit-000000.jsonl"];
        assert_eq!(numbers(names), [1, 2]);
        assert_eq!(numbers([&*name(1_234_567)]), [1_234_567]);
    }
}
