//! Texts of psql, mysql and `dc`: SQL, and commands of the client itself.

use super::{NotExact, TextAction};

/// Words of SQL with which the server of psql opens files or runs programs.
const POSTGRES_WORDS: [&str; 14] = [
    "dblink",
    "extension",
    "lo_export",
    "lo_import",
    "load",
    "pg_ls_dir",
    "pg_read_binary_file",
    "pg_read_file",
    "pg_stat_file",
    "plperlu",
    "plpython3u",
    "plpythonu",
    "plsh",
    "program",
];

/// Words of SQL with which mysql and its server open files or load code.
const MYSQL_WORDS: [&str; 6] = ["dumpfile", "infile", "load_file", "outfile", "plugin", "soname"];

/// Returns the words of SQL, in lower case.
pub(super) fn words(sql: &str) -> impl Iterator<Item = String> {
    let parts = sql.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
}

/// Refuses SQL with one of some words, wherever the word stands.
pub(super) fn check_words(sql: &str, refused: &[&str]) -> Result<(), NotExact> {
    if words(sql).any(|word| refused.contains(&&*word)) {
        return Err(NotExact("a statement that opens files, loads code or runs programs"));
    }
    Ok(())
}

/// Returns the actions of `psql -c`: one command of psql, or SQL for the server.
pub(crate) fn read_psql(text: &str) -> Result<Vec<TextAction>, NotExact> {
    let Some(command) = text.strip_prefix('\\') else {
        return read_postgres(text);
    };
    let (name, arguments) = command.split_once([' ', '\t']).unwrap_or((command, ""));
    if name == "!" {
        let text = Some(arguments.trim().to_owned());
        return Ok(vec![TextAction::Shell(text.filter(|text| !text.is_empty() && !text.contains('\n')))]);
    }
    if arguments.contains(['\\', '`', '|', ':', '\n']) {
        return Err(NotExact("a command of psql with more than plain words"));
    }
    let plain = name.trim_end_matches(['+', 'S']);
    let is_plain = plain.chars().all(|c| c.is_ascii_alphabetic());
    let file = Some(arguments.trim().to_owned()).filter(|file| !file.contains(['\'', '"', ' ']));
    match plain {
        "i" | "ir" | "include" | "include_relative" => Ok(vec![TextAction::Script(file)]),
        "l" | "list" | "timing" | "conninfo" | "x" | "z" | "sf" | "sv" | "encoding" | "a" | "t" | "h"
        | "q" => Ok(Vec::new()),
        _ if is_plain && plain.starts_with('d') => Ok(Vec::new()),
        _ => Err(NotExact("a command of psql that is not known")),
    }
}

/// Returns the actions of the standard input of psql, in which a command may stand anywhere.
pub(crate) fn read_psql_input(text: &str) -> Result<Vec<TextAction>, NotExact> {
    if text.contains('\\') { Err(NotExact("commands of psql")) } else { read_postgres(text) }
}

fn read_postgres(sql: &str) -> Result<Vec<TextAction>, NotExact> {
    check_words(sql, &POSTGRES_WORDS)?;
    let all: Vec<String> = words(sql).collect();
    let is_copy = all.iter().any(|word| word == "copy")
        && !all.iter().any(|word| matches!(&**word, "stdin" | "stdout"));
    let is_system =
        all.windows(2).any(|pair| matches!(pair, [one, other] if one == "alter" && other == "system"));
    if is_copy || is_system {
        return Err(NotExact("a statement that opens files, or changes the server"));
    }
    Ok(Vec::new())
}

/// Returns the actions of `mysql -e`, or of its standard input: SQL with commands of the client.
pub(crate) fn read_mysql(text: &str) -> Result<Vec<TextAction>, NotExact> {
    if let Some(command) = text.strip_prefix("\\!").or_else(|| text.strip_prefix("system ")) {
        let is_single = !command.contains(['\n', '\\']);
        let command = command.trim().to_owned();
        return Ok(vec![TextAction::Shell(Some(command).filter(|command| is_single && !command.is_empty()))]);
    }
    if text.contains('\\') {
        return Err(NotExact("a backslash, which may begin a command of mysql"));
    }
    check_words(text, &MYSQL_WORDS)?;
    let commands = ["system", "source", "tee", "pager", "edit", "delimiter", "connect", "sandbox"];
    let is_command = |part: &str| {
        let first = words(part).next().unwrap_or_default();
        commands.contains(&&*first)
    };
    if text.split(['\n', ';']).any(is_command) {
        return Err(NotExact("a command of mysql"));
    }
    Ok(Vec::new())
}

/// Returns the actions of a program of `dc`, in which `!` runs the rest of the line.
pub(crate) fn read_dc(text: &str) -> Result<Vec<TextAction>, NotExact> {
    if text.contains('?') {
        return Err(NotExact("a command that runs a line of the input"));
    }
    let mut actions = Vec::new();
    let has_strings = text.contains(['[', '#']);
    for line in text.lines() {
        let mut rest = line;
        while let Some((_, behind)) = rest.split_once('!') {
            // `!<`, `!>` and `!=` compare.
            if behind.starts_with(['<', '>', '=']) {
                rest = behind.get(1..).unwrap_or_default();
                continue;
            }
            actions.push(TextAction::Shell(Some(behind.to_owned()).filter(|_| !has_strings)));
            break;
        }
    }
    Ok(actions)
}

/// Returns the shell that a command of vi or gdb starts, such as `:!ls`, `w !ls` or `shell ls`.
pub(crate) fn shell_of_command(text: &str) -> Option<TextAction> {
    let text = text.trim_start_matches([':', ' ', '\t']);
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '%' | ',' | '$' | '.'));
    let shell = ["shell ", "w !", "write !", "r !", "read !", "!"]
        .iter()
        .find_map(|start| text.strip_prefix(start))?;
    // The editor replaces names of files, and the last command.
    let is_plain = !shell.contains(['%', '#', '!', '\\', '<', '\n', '|']);
    Some(TextAction::Shell(Some(shell.trim().to_owned()).filter(|shell| is_plain && !shell.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = fn(&str) -> Result<Vec<TextAction>, NotExact>;

    #[test]
    fn texts_are_read_exactly_or_refused() {
        let shell = |text: &str| Ok(vec![TextAction::Shell(Some(text.to_owned()))]);
        let unknown = || Ok(vec![TextAction::Shell(None)]);
        let harmless = || Ok(Vec::new());
        for (read, text, expected) in [
            (read_psql as Read, "select 1; update t set a = 2", harmless()),
            (read_psql, "\\! rm -r x", shell("rm -r x")),
            (read_psql, "\\!", unknown()),
            (read_psql, "\\dt+ public.*", harmless()),
            (read_psql, "\\i x.sql", Ok(vec![TextAction::Script(Some("x.sql".to_owned()))])),
            (read_psql, "copy t to stdout", harmless()),
            (read_mysql, "show databases; select 1", harmless()),
            (read_mysql, "\\! id", shell("id")),
            (read_mysql, "system id", shell("id")),
            (read_dc, "2 3 + p", harmless()),
            (read_dc, "1 2 !<a p", harmless()),
            (read_dc, "!id\n1p", shell("id")),
            (read_dc, "[!id]x", unknown()),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        for (read, text) in [
            (read_psql as Read, "\\d x \\! id"),
            (read_psql, "\\o |id"),
            (read_psql, "\\echo `id`"),
            (read_psql, "\\copy t from program 'id'"),
            (read_psql, "COPY t FROM PROGRAM 'id'"),
            (read_psql, "copy t to '/etc/x'"),
            (read_psql_input, "select 1 \\g |id"),
            (read_mysql, "select 1 \\! id"),
            (read_mysql, "select 1;\nsystem id"),
            (read_mysql, "pager id"),
            (read_dc, "?"),
            (read_mysql, "select 1 into outfile 'x'"),
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn commands_of_editors_and_debuggers_that_start_a_shell_are_found() {
        for (text, expected) in [
            (":!id", Some(Some("id"))),
            ("%!sort -u", Some(Some("sort -u"))),
            ("w !sh", Some(Some("sh"))),
            ("shell id", Some(Some("id"))),
            ("!echo %", Some(None)),
            ("wq", None),
            ("set ft=sh", None),
        ] {
            let expected = expected.map(|shell| TextAction::Shell(shell.map(str::to_owned)));
            assert_eq!(shell_of_command(text), expected, "{text}");
        }
    }
}
