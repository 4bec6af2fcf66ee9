use ccm_engine::ResourceKind as _;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

fn entry(words: &str) -> CronEntry {
    let has = |word: &str| words.split(',').any(|found| found == word);
    CronEntry {
        times: if has("late") {
            "0 23 * * *"
        } else if has("daily") {
            "@daily"
        } else {
            "0 2 * * *"
        }
        .to_owned(),
        command: if has("other") { "b" } else { "a" }.to_owned(),
    }
}

fn user(words: &str) -> String {
    if words.split(',').any(|word| word == "ada") { "ada" } else { "root" }.to_owned()
}

#[test]
fn job_is_decided_by_the_first_row_that_matches() {
    let rows = assert_rows(
        r#"
        absent missing | keep | it does not exist
        absent there | removed | it exists
        absent foreign | fail, missing | "/etc/cron.d/job" was not written by ccm
        any foreign | fail, missing | "/etc/cron.d/job" was not written by ccm
        absent other-line | fail | line 2 of the crontab of `root`, below the comment of the job `job`, is not the one that ccm wrote
        any other-line | fail | line 2 of the crontab of `root`, below the comment of the job `job`, is not the one that ccm wrote
        any old-line | fail | line 2 of the crontab of `root`, below the comment of the job `job`, may be somebody else's, because the comment has no checksum
        any unsigned | changed: comment | it differs in comment
        late unsigned | changed: times 0 2 * * * to 0 23 * * * | it differs in times
        absent unsigned | removed | it exists
        daily missing | created: times @daily, user root, command a | it does not exist
        daily there | changed: times 0 2 * * * to @daily | it differs in times
        daily daily | keep | it is in the desired state
        mail missing | created: times 0 2 * * *, user root, command a, environment MAILTO=x | it does not exist
        mail there | changed: environment MAILTO=x | it differs in environment
        any mail | changed: environment MAILTO=x to none | it differs in environment
        mail mail | keep | it is in the desired state
        any missing | created: times 0 2 * * *, user root, command a | it does not exist
        ada nobody | fail, missing | user `ada` does not exist
        any there | keep | it is in the desired state
        late,ada other | changed: times 0 2 * * * to 0 23 * * *, user root to ada, command b to a | it differs in times, user and command
        any strange | changed: content | it differs in content
        any open | changed: permissions | it differs in permissions
        "#,
        |[wanted, found]| {
            let entry_of = Some(entry(wanted)).filter(|_| wanted != "absent");
            let environment = |words: &str| {
                if words == "mail" { vec!["MAILTO=x".to_owned()] } else { Vec::new() }
            };
            let job = DesiredJob {
                name: "job".to_owned(),
                entry: entry_of,
                environment: environment(wanted),
                user: user(wanted),
            };
            let line = |has_checksum| StrangerJob::Line { number: 2, has_checksum };
            let exists = !matches!(found, "missing" | "nobody");
            let state = CronState {
                exists,
                found: (exists && found != "strange").then(|| (user(found), entry(found))),
                environment: environment(found),
                content: None,
                is_open: found == "open",
                user_missing: found == "nobody",
                lacks_daemon: false,
                is_unsigned: found == "unsigned",
                stranger: match found {
                    "foreign" => Some(StrangerJob::File("/etc/cron.d/job".into())),
                    "other-line" => Some(line(true)),
                    "old-line" => Some(line(false)),
                    _ => None,
                },
            };
            Object::decide(&job, &state, None)
        },
    );
    assert_eq!(rows, 23);
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
    assert_eq!(parse_entry(b"@daily a b", false), Some((None, entry("@daily", "a b"))));
    for line in ["@daily", "", "PATH=/bin", "# 0 2 * * * root a", "0 2 * * *"] {
        assert!(parse_entry(line.as_bytes(), true).is_none(), "{line}");
    }
}
