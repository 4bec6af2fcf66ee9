//! Dialects, and the words that mean something to a shell.

/// Shell that a text is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShellDialect {
    /// `/bin/sh`, which is dash on some machines and bash on others. Only texts that both read in the same way are
    /// accepted.
    Sh,
    /// bash.
    Bash,
}

/// Words that begin, part or end a construct in every shell.
pub(crate) const RESERVED: [&str; 16] = [
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while",
    "{", "}",
];

/// Words that begin a construct in bash, and name a program in dash.
pub(crate) const RESERVED_IN_BASH: [&str; 6] = ["[[", "]]", "coproc", "function", "select", "time"];

/// Builtins of both shells.
const BUILTINS: [&str; 41] = [
    ".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit",
    "export", "false", "fg", "getopts", "hash", "jobs", "kill", "local", "printf", "pwd", "read", "readonly",
    "return", "set", "shift", "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset",
    "wait", "fc", "chdir", "newgrp",
];

/// Builtins of bash alone that change how bash reads or runs what follows.
const BASH_STATE_BUILTINS: [&str; 20] = [
    "bind",
    "builtin",
    "compgen",
    "complete",
    "compopt",
    "declare",
    "dirs",
    "enable",
    "help",
    "history",
    "let",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "source",
    "suspend",
    "typeset",
    "caller",
];

/// Returns `true` for a builtin of the shells that a text may be run by.
pub(crate) fn is_builtin(name: &str, dialect: ShellDialect) -> bool {
    match name {
        "chdir" | "newgrp" => false,
        "disown" | "logout" => dialect == ShellDialect::Bash,
        _ if BUILTINS.contains(&name) => true,
        _ => dialect == ShellDialect::Bash && BASH_STATE_BUILTINS.contains(&name),
    }
}

/// Returns `true` for a name that only one of the shells has a builtin for, with effects on the text itself.
pub(crate) fn is_builtin_of_one(name: &str) -> bool {
    matches!(name, "chdir") || BASH_STATE_BUILTINS.contains(&name) && !matches!(name, "help" | "caller")
}

/// Returns `true` for a name that no function may have: the reading of a text would change.
pub(crate) fn is_protected(name: &str) -> bool {
    RESERVED.contains(&name)
        || RESERVED_IN_BASH.contains(&name)
        || BUILTINS.contains(&name)
        || BASH_STATE_BUILTINS.contains(&name)
}

/// Returns `true` for a name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(is_name_start) && bytes.all(is_name_byte)
}

pub(crate) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns `true` for a builtin behind which assignments stay, in POSIX mode.
pub(crate) fn is_special(name: &str) -> bool {
    matches!(
        name,
        ":" | "."
            | "break"
            | "continue"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "source"
            | "times"
            | "trap"
            | "unset"
    )
}
