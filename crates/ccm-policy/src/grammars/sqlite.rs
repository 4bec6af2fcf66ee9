//! Texts of sqlite: SQL, and commands of its shell.

use super::statements::{check_words, words};
use super::{NotExact, TextAction};

/// Commands of the sqlite shell that print or set how something is printed.
const SQLITE_COMMANDS: [&str; 28] = [
    "bail",
    "binary",
    "changes",
    "databases",
    "dbinfo",
    "dump",
    "echo",
    "eqp",
    "exit",
    "explain",
    "fullschema",
    "headers",
    "help",
    "indexes",
    "indices",
    "limit",
    "mode",
    "nullvalue",
    "parameter",
    "print",
    "quit",
    "schema",
    "separator",
    "show",
    "stats",
    "tables",
    "timeout",
    "timer",
];

/// Words of SQL with which sqlite opens files or loads code.
const SQLITE_WORDS: [&str; 8] =
    ["attach", "edit", "fsdir", "load_extension", "readfile", "writefile", "zipfile", "fts3_tokenizer"];

/// Commands of the sqlite shell whose words are only printed.
const PRINTED: [&str; 4] = ["echo", "help", "print", "separator"];

/// Returns the actions of a word for sqlite: one command of its shell, or SQL.
pub(crate) fn read_sqlite(text: &str) -> Result<Vec<TextAction>, NotExact> {
    let Some(command) = text.strip_prefix('.') else {
        let actions = read_functions(text)?;
        let all: Vec<String> = words(text).collect();
        let writes =
            all.windows(2).any(|pair| matches!(pair, [one, other] if one == "vacuum" && other == "into"));
        return if writes { Err(NotExact("a statement that writes a file")) } else { Ok(actions) };
    };
    let has_quotes = command.contains(['"', '\'', '\\']);
    let mut parts = command.split_ascii_whitespace();
    let name = parts.next().unwrap_or_default();
    let arguments: Vec<&str> = parts.collect();
    let object = |at: usize| arguments.get(at).map(ToString::to_string).filter(|_| !has_quotes);
    match (name, &*arguments) {
        ("shell" | "system", _) => Ok(vec![TextAction::Shell(
            Some(arguments.join(" ")).filter(|text| !has_quotes && !text.is_empty()),
        )]),
        ("read", [file]) if !file.starts_with(['|', '"', '\'']) => Ok(vec![TextAction::Script(object(0))]),
        ("import", [file, _]) if !file.starts_with(['|', '"', '\'', '-']) => {
            Ok(vec![TextAction::Read(object(0))])
        }
        ("output" | "once", [file]) if !file.starts_with(['|', '"', '\'', '-']) => {
            Ok(vec![TextAction::Write(object(0))])
        }
        // The words behind the bar are joined again, for a shell.
        ("output" | "once", [program, rest @ ..])
            if program.starts_with('|') && !text.contains(['"', '\'', '\\']) =>
        {
            let mut command = program.trim_start_matches('|').to_owned();
            for word in rest {
                command.push(' ');
                command += word;
            }
            Ok(vec![TextAction::Piped(Some(command))])
        }
        ("output", []) => Ok(Vec::new()),
        ("backup" | "save" | "clone" | "open", [file]) if !file.starts_with('-') => {
            Ok(vec![TextAction::Write(object(0))])
        }
        // The value of a parameter is an expression of SQL, and so may be words of others.
        (name, _) if PRINTED.contains(&name) => Ok(Vec::new()),
        (name, _) if SQLITE_COMMANDS.contains(&name) && !command.contains('\\') => {
            read_functions(&command.replace('"', " "))
        }
        _ => Err(NotExact("a command of sqlite that is not known")),
    }
}

/// Returns `true` if a word for sqlite changes no database.
pub(crate) fn only_reads_sqlite(text: &str) -> bool {
    if text.starts_with('.') {
        return read_sqlite(text).is_ok_and(|actions| actions.is_empty());
    }
    let text = text.trim();
    let is_single = !text.trim_end_matches(';').contains(';');
    let first = words(text).next().unwrap_or_default();
    is_single && matches!(&*first, "select" | "explain" | "values")
        || first == "pragma" && is_single && !text.contains(['=', '('])
}

/// Returns the actions of the standard input of sqlite.
pub(crate) fn read_sqlite_input(text: &str) -> Result<Vec<TextAction>, NotExact> {
    let mut actions = Vec::new();
    let mut sql = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with('.') {
            actions.extend(read_sqlite(line.trim_start())?);
        } else {
            sql += line;
            sql.push('\n');
        }
    }
    actions.extend(read_sqlite(sql.trim_start_matches('.'))?);
    Ok(actions)
}

/// Returns what the functions of SQL do that open files, load code or run programs, if their arguments are texts.
fn read_functions(sql: &str) -> Result<Vec<TextAction>, NotExact> {
    let mut actions = Vec::new();
    let lower = sql.to_ascii_lowercase();
    let mut rest = sql.to_owned();
    for (name, position) in [("edit", 1), ("readfile", 0), ("writefile", 0)] {
        for (at, _) in lower.match_indices(name).collect::<Vec<_>>() {
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let before = lower.get(..at).and_then(|before| before.chars().next_back());
            let Some((arguments, _)) = sql
                .get(at + name.len()..)
                .filter(|_| !is_part(before))
                .and_then(|behind| behind.strip_prefix('('))
                .and_then(|behind| behind.split_once(')'))
            else {
                continue;
            };
            let Some(value) = plain_argument(arguments, position) else { continue };
            actions.push(match name {
                "edit" => TextAction::Shell(Some(format!("{value} file"))),
                "readfile" => TextAction::Read(Some(value)),
                _ => TextAction::Write(Some(value)),
            });
            // What is read exactly is no reason to refuse the rest.
            let blank = " ".repeat(name.len() + arguments.len() + 2);
            rest.replace_range(at..at + blank.len(), &blank);
        }
    }
    check_words(&rest, &SQLITE_WORDS)?;
    Ok(actions)
}

/// Returns an argument of a function that is a text, if no argument is more than a text or a number.
fn plain_argument(arguments: &str, position: usize) -> Option<String> {
    let mut values = Vec::new();
    for argument in arguments.split(',') {
        let argument = argument.trim();
        let text = argument.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        let text = text.filter(|text| !text.contains('\''));
        let is_number = !argument.is_empty() && argument.bytes().all(|byte| byte.is_ascii_digit());
        values.push(text.or_else(|| is_number.then_some(argument))?.to_owned());
    }
    values.get(position).filter(|value| !value.is_empty()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_exactly_or_refused() {
        let shell = |text: &str| Ok(vec![TextAction::Shell(Some(text.to_owned()))]);
        let write = |file: &str| Ok(vec![TextAction::Write(Some(file.to_owned()))]);
        let script = |file: &str| Ok(vec![TextAction::Script(Some(file.to_owned()))]);
        let unknown = || Ok(vec![TextAction::Shell(None)]);
        let harmless = || Ok(Vec::new());
        for (text, expected) in [
            ("select * from t where note = 'credit'", harmless()),
            (".shell rm -r x", shell("rm -r x")),
            (".system echo \"a b\"", unknown()),
            (".tables", harmless()),
            (".mode csv", harmless()),
            (".print edit('x','y')", harmless()),
            (".read x.sql", script("x.sql")),
            (".output /etc/x", write("/etc/x")),
            (".once |sort -u", Ok(vec![TextAction::Piped(Some("sort -u".to_owned()))])),
            (".import f t", Ok(vec![TextAction::Read(Some("f".to_owned()))])),
            (".parameter set @a 5", harmless()),
            (".parameter set @a \"edit('x','ls; true')\"", shell("ls; true file")),
            (".parameter set @a writefile('/etc/x',1)", write("/etc/x")),
            ("SELECT ReadFile('a')", Ok(vec![TextAction::Read(Some("a".to_owned()))])),
            ("select edit('x', 'vi')", shell("vi file")),
        ] {
            assert_eq!(read_sqlite(text), expected, "{text}");
        }
        assert_eq!(read_sqlite_input("select 1;\n  .shell ls\n"), shell("ls"));
        for text in [
            "select writefile('/etc/' || x, 1)",
            "select edit('x', y)",
            "select load_extension('x')",
            "SELECT \"Load_Extension\"('x')",
            ".parameter set @a \"edit('x', y)\"",
            ".parameter set @a edit('x'||'y','z')",
            ".dump 'edit(x)'",
            "select writefile('a','b'), writefile(c,'d')",
            "attach '/etc/x' as y",
            "vacuum into 'x'",
            ".sh ls",
            ".read '|ls'",
            ".once -e",
            ".output |'ls'",
        ] {
            assert!(read_sqlite(text).is_err(), "{text}");
        }
    }
}
