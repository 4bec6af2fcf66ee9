use ccm_engine::ResourceKind as _;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

fn entry(words: &str) -> CronEntry {
    let has = |word: &str| words.split(',').any(|found| found == word);
    CronEntry {
        times: if has("late") { "0 23 * * *" } else { "0 2 * * *" }.to_owned(),
        command: if has("other") { "b" } else { "a" }.to_owned(),
    }
}

fn user(words: &str) -> String {
    if words.split(',').any(|word| word == "ada") { "ada" } else { "root" }.to_owned()
}

#[test]
fn job_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        "
        absent missing | keep | it does not exist
        absent there | removed | it exists
        any missing | created: times 0 2 * * *, user root, command a | it does not exist
        ada nobody | fail, missing | user `ada` does not exist
        any there | keep | it is in the desired state
        late,ada other | changed: times 0 2 * * * to 0 23 * * *, user root to ada, command b to a | it differs in times, user and command
        any strange | changed: content | it differs in content
        any open | changed: permissions | it differs in permissions
        ",
        |[wanted, found]| {
            let entry_of = Some(entry(wanted)).filter(|_| wanted != "absent");
            let job = DesiredJob { name: "job".to_owned(), entry: entry_of, user: user(wanted) };
            let exists = !matches!(found, "missing" | "nobody");
            let state = CronState {
                exists,
                found: (exists && found != "strange").then(|| (user(found), entry(found))),
                content: None,
                is_open: found == "open",
                user_missing: found == "nobody",
            };
            Object::decide(&job, &state, None)
        },
    );
    assert_eq!(rows, 8);
}

#[test]
fn entries_are_read() {
    let entry =
        |times: &str, command: &str| CronEntry { times: times.to_owned(), command: command.to_owned() };
    assert_eq!(
        parse_entry(b"0\t2 * *  * root  a b", true),
        Some((Some("root".to_owned()), entry("0 2 * * *", "a b")))
    );
    assert_eq!(parse_entry(b"0 2 * * * a", false), Some((None, entry("0 2 * * *", "a"))));
    for line in ["", "PATH=/bin", "# 0 2 * * * root a", "0 2 * * *"] {
        assert!(parse_entry(line.as_bytes(), true).is_none(), "{line}");
    }
}
