//! Commands of debuggers: those that only report, and those that run other programs.

use super::{TextAction, shell_of_command};

/// Commands of gdb as they may be written.
const GDB: [&str; 34] = [
    "bt",
    "bt full",
    "backtrace",
    "backtrace full",
    "where",
    "thread apply all bt",
    "thread apply all bt full",
    "thread apply all backtrace",
    "t a a bt",
    "info threads",
    "info registers",
    "info locals",
    "info args",
    "info frame",
    "info sharedlibrary",
    "info signals",
    "info source",
    "info line",
    "info files",
    "info proc mappings",
    "info program",
    "disassemble",
    "list",
    "l",
    "up",
    "down",
    "set pagination off",
    "set confirm off",
    "set width 0",
    "set height 0",
    "set print pretty on",
    "set print pretty",
    "quit",
    "q",
];

/// Commands of gdb with a number.
const WITH_NUMBER: [&str; 8] = ["bt", "backtrace", "frame", "f", "up", "down", "list", "thread"];

/// Commands of lldb.
const LLDB: [&str; 9] = [
    "bt",
    "bt all",
    "thread backtrace",
    "thread backtrace all",
    "thread list",
    "frame info",
    "image list",
    "quit",
    "q",
];

/// Returns `true` for a command of a debugger that shows the state of the program and changes nothing.
pub(crate) fn only_reports(debugger: &str, command: &str) -> bool {
    let command = command.trim_matches(' ');
    if debugger.starts_with("lldb") {
        return LLDB.contains(&command);
    }
    let with_number = command.split_once(' ').is_some_and(|(name, number)| {
        let digits = number.strip_prefix('-').unwrap_or(number);
        WITH_NUMBER.contains(&name) && is_number(digits)
    });
    GDB.contains(&command) || with_number || shows_value(command)
}

/// Returns what a command of a debugger runs in a shell, or reads as further commands.
pub(crate) fn debugger_action(debugger: &str, command: &str) -> Option<TextAction> {
    let command = command.trim();
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = rest.trim();
    let shell = |text: &str| TextAction::Shell(Some(text.trim().to_owned()).filter(|text| !text.is_empty()));
    if debugger.starts_with("lldb") {
        let (second, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_platform = is_short_for(name, "platform", 2) && is_short_for(second, "shell", 2);
        // Options may stand in front of the text.
        let text = |rest: &str| {
            if rest.trim_start().starts_with('-') { TextAction::Shell(None) } else { shell(rest) }
        };
        return if is_platform {
            Some(text(rest))
        } else if is_short_for(name, "shell", 2) {
            Some(text(command.get(name.len()..).unwrap_or_default()))
        } else {
            shell_of_command(command)
        };
    }
    if let Some(piped) = command.strip_prefix('|') {
        return Some(piped_to(piped.trim_start()));
    }
    match name {
        _ if command.starts_with('!') => Some(shell(command.trim_start_matches('!'))),
        _ if is_short_for(name, "shell", 3) => Some(shell(rest)),
        _ if is_short_for(name, "pipe", 2) => Some(piped_to(rest)),
        "make" => Some(shell(&format!("make {rest}"))),
        "source" => Some(TextAction::Script(Some(rest.to_owned()))),
        // `target remote | program` talks to a program.
        _ if is_short_for(name, "target", 3) => rest.split_once('|').map(|(_, text)| shell(text)),
        _ => shell_of_command(command),
    }
}

/// Returns the shell behind the mark of a pipe: `bt | less`, `-d @ bt @ less`.
fn piped_to(text: &str) -> TextAction {
    let (mark, text) = match text.strip_prefix("-d ").map(str::trim_start) {
        Some(text) => text.split_once(' ').unwrap_or((text, "")),
        None => ("|", text),
    };
    let shell = text.split_once(mark).map(|(_, shell)| shell.trim().to_owned());
    TextAction::Shell(shell.filter(|shell| !shell.is_empty()))
}

fn is_short_for(name: &str, whole: &str, least: usize) -> bool {
    name.len() >= least && whole.starts_with(name)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `true` for `print EXPRESSION` and its like, without a call and without an assignment.
fn shows_value(command: &str) -> bool {
    let Some((name, expression)) = command.split_once(' ') else { return false };
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '[' | ']' | '*' | '&');
    let is_show = |name: &str| matches!(name, "print" | "p" | "ptype" | "whatis");
    let (name, format) = name.split_once('/').unwrap_or((name, "x"));
    is_show(name)
        && format.len() <= 2
        && format.bytes().all(|byte| byte.is_ascii_lowercase())
        && !expression.is_empty()
        && expression.replace("->", ".").chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_only_report_are_known() {
        for command in [
            "bt",
            "bt full",
            "bt 5",
            "bt -3",
            "thread apply all bt",
            "info registers",
            "frame 2",
            "p x",
            "p/x $rax",
            "p *list->head.next[3]",
            "ptype x",
            " quit",
        ] {
            assert!(only_reports("gdb", command), "{command}");
        }
        for command in ["bt", "bt all", "quit"] {
            assert!(only_reports("lldb", command), "{command}");
        }
    }

    #[test]
    fn commands_that_run_a_shell_are_found() {
        let shell = |text: &str| Some(TextAction::Shell(Some(text.to_owned())));
        for (debugger, command, expected) in [
            ("gdb", "!id -u", shell("id -u")),
            ("gdb", " shell id | cat", shell("id | cat")),
            ("gdb", "she id", shell("id")),
            ("gdb", "pipe bt | id", shell("id")),
            ("gdb", "| bt|id", shell("id")),
            ("gdb", "pipe -d @ bt @ id", shell("id")),
            ("gdb", "pipe bt", Some(TextAction::Shell(None))),
            ("gdb", "target remote | id", shell("id")),
            ("gdb", "tar ext |id", shell("id")),
            ("gdb", "make x", shell("make x")),
            ("gdb", "source x", Some(TextAction::Script(Some("x".to_owned())))),
            ("gdb", "bt", None),
            ("gdb", "target core x", None),
            ("lldb", "platform shell id", shell("id")),
            ("lldb", "plat sh id", shell("id")),
            ("lldb", "shell id", shell("id")),
            ("lldb", "platform shell -h -- id", Some(TextAction::Shell(None))),
            ("lldb", "bt all", None),
        ] {
            assert_eq!(debugger_action(debugger, command), expected, "{command}");
        }
    }

    #[test]
    fn everything_else_is_not_known() {
        for command in [
            "shell id",
            "!id",
            "bt\nshell id",
            "bt | id",
            "pipe bt | id",
            "| bt | id",
            "p system(\"id\")",
            "p (int)x",
            "p x=1",
            "p $_shell(\"id\")",
            "p x++",
            "print",
            "p",
            "p/abc x",
            "python import os",
            "python",
            "source x.gdb",
            "run > /etc/x",
            "run",
            "call f()",
            "set logging file /etc/x",
            "set logging on",
            "set var x=1",
            "dump memory x 0 1",
            "generate-core-file x",
            "gcore",
            "make",
            "define x",
            "thread apply all shell id",
            "thread apply all",
            "frame apply all shell id",
            "info registers | id",
            "info locals;shell id",
            "target remote | id",
            "exec-file /srv/x",
            "file /srv/x",
            "load",
            "save breakpoints x",
            "bt full 5; x",
            "list x.c:1",
            "add-auto-load-safe-path /",
            "",
        ] {
            assert!(!only_reports("gdb", command), "{command}");
        }
        for command in ["p x", "p x()", "platform shell id", "script import os", "bt 5", "command source x"] {
            assert!(!only_reports("lldb", command), "{command}");
        }
    }
}
