//! Shell text.

use ccm_shell::{
    CommandRole, MAX_NODES, ShellBudget, ShellContext, ShellDialect, ShellInput, ShellReading, ShellSpan,
    check, read,
};

pub(crate) const WORDS: &[&str] = &[
    "if ",
    "then ",
    "else ",
    "elif ",
    "fi",
    "for i in ",
    "while ",
    "until ",
    "do ",
    "done",
    "case x in ",
    "esac",
    ";;",
    "{ ",
    "}",
    "(",
    ")",
    "((",
    "))",
    "[[ ",
    " ]]",
    "$(",
    "${",
    "$((",
    "`",
    "$x",
    "${x:-",
    "${x%",
    "\"",
    "'",
    "\\",
    "\n",
    " | ",
    " && ",
    " || ",
    " & ",
    "; ",
    "<<E\n",
    "E\n",
    "<<<",
    ">",
    "2>&1",
    "&>",
    "<(",
    "$'",
    "{a,b}",
    "~",
    "*",
    "f() ",
    "function ",
    "eval ",
    "trap '",
    "cd ",
    "export ",
    "read ",
    "set -e",
    "exec ",
    "command ",
    "time ",
    "x=",
    "! ",
];

pub(crate) fn run(input: &[u8]) {
    let text = super::text(input);
    let context = ShellContext { directory: "/w", variables: vec![("HOME", "/home/agent")] };
    let mut accepted = Vec::new();
    for dialect in [ShellDialect::Sh, ShellDialect::Bash] {
        let reading = read(&text, dialect, &context, &mut ShellBudget::default());
        assert_eq!(reading, read(&text, dialect, &context, &mut ShellBudget::default()));
        let checked = check(&text, dialect);
        match &reading {
            Ok(reading) => {
                assert_eq!(checked, Ok(()));
                check_reading(&text, reading);
            }
            Err(error) => {
                check_span(&text, error.span);
                assert!(!error.message.is_empty());
            }
        }
        if let Err(error) = checked {
            check_span(&text, error.span);
        }
        accepted.push(reading.is_ok());
    }
    // The dialect of both shells is a part of that of bash.
    assert!(!accepted[0] || accepted[1], "bash refuses what sh accepts");
}

fn check_span(text: &str, span: ShellSpan) {
    assert!(text.get(span.range()).is_some(), "{span:?} is not within the text");
}

fn check_reading(text: &str, reading: &ShellReading) {
    let count = reading.commands.len();
    assert!(count <= MAX_NODES as usize * 2);
    for command in &reading.commands {
        check_span(text, command.span);
        assert!(command.words.is_empty() == (command.role == CommandRole::Construct));
        if let ShellInput::Pipe(range) = &command.input {
            assert!(range.end <= count);
        }
        for path in &command.directories.paths {
            assert!(path.starts_with('/') && !path.split('/').any(|part| part == ".."), "{path}");
        }
        let targets = command.redirections.iter().map(|redirection| &redirection.target);
        let values = command.assignments.iter().filter_map(|assignment| assignment.value.as_ref());
        for word in command.words.iter().chain(targets).chain(values) {
            check_span(text, word.span);
            assert!(word.sources().all(|range| range.end <= count));
            let whole = word.text();
            assert!(whole.is_none_or(|whole| whole == word.known_prefix()));
        }
    }
}
