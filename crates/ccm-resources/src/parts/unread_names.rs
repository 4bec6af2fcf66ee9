//! Names of files that the program of their directory does not read, such as `/etc/cron.d/backup.sh`.

mod table;

use ccm_model::{Diagnostic, DiagnosticKind, Span, closest, escape_control, listed};

use table::{DIRECTORIES, EXECUTABLES, EndingRule, NameRule, ReadDirectory};

/// Endings of names that are not to be read for now, or never.
const SET_ASIDE: [&str; 16] = [
    "~",
    ".bak",
    ".backup",
    ".disable",
    ".disabled",
    ".dist",
    ".example",
    ".inactive",
    ".md",
    ".off",
    ".old",
    ".orig",
    ".sample",
    ".save",
    ".swp",
    ".template",
];

/// Endings that people write in place of others.
const CONFUSED: [&str; 27] = [
    "bash", "cer", "cert", "cfg", "cnf", "conf", "config", "cron", "crt", "csh", "env", "ini", "json", "key",
    "list", "local", "pem", "pref", "repo", "rule", "rules", "sh", "sources", "toml", "txt", "yaml", "yml",
];

/// Endings of files that others name, such as `Include`, `EnvironmentFile` and `ssl_certificate`.
const NAMED_BY_OTHERS: [&str; 14] =
    ["crt", "csr", "env", "ext", "htm", "html", "inc", "include", "key", "lua", "map", "pem", "py", "sh"];

/// Returns the warning about a file that the program of its directory does not read because of its name.
pub(crate) fn warning(path: &str, span: Span) -> Option<Diagnostic> {
    let (directory, name) = path.rsplit_once('/')?;
    let found = DIRECTORIES.iter().find(|known| known.holds(directory))?;
    if is_set_aside(name, found) || found.rule.reads(name) {
        return None;
    }
    let (program, shown) = (found.program, escape_control(path));
    let message = format!("{program} does not read `{shown}`: {}", found.rule.explanation());
    let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
    let better = found.rule.better_name(name);
    Some(match better.filter(|better| found.rule.reads(better)) {
        Some(better) => warning.with_hint(format!("call it `{directory}/{}`", escape_control(&better))),
        None => warning,
    })
}

/// Returns `true` for a path in a directory whose files are started.
pub(crate) fn is_program(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(directory, name)| {
        !is_set_aside_anywhere(name) && EXECUTABLES.iter().any(|known| is_at(directory, known.directory))
    })
}

/// Returns the warning about a new file without permission to execute, in a directory whose files are started.
pub(crate) fn not_executable(path: &str, mode: Option<u32>, span: Span) -> Option<Diagnostic> {
    let (directory, name) = path.rsplit_once('/')?;
    if mode.is_some_and(|mode| mode & 0o111 != 0) || name.starts_with('.') {
        return None;
    }
    let found = EXECUTABLES.iter().find(|known| is_at(directory, known.directory))?;
    // A mode that is written for a program is meant, such as that of a library of shell functions.
    if mode.is_some() && !found.is_skipped || is_set_aside_anywhere(name) {
        return None;
    }
    let shown = escape_control(path);
    let mode = mode.unwrap_or(0o644);
    let effect = if found.is_skipped {
        "what is there is only started if it is executable"
    } else {
        "a program has to be executable"
    };
    let message = format!("`{shown}` is made with mode {mode:04o}, and {effect}");
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, span, message).with_hint("write `mode: \"0755\"`"))
}

fn is_set_aside(name: &str, found: &ReadDirectory) -> bool {
    match found.rule {
        // These names are of the program's own choosing.
        NameRule::AllBut(_) => name.ends_with(".disabled"),
        NameRule::Ending(["conf" | "service", ..]) => {
            let is_named = name.rsplit_once('.').is_some_and(|(_, ending)| NAMED_BY_OTHERS.contains(&ending));
            is_named || name.contains("passwd") || is_set_aside_anywhere(name)
        }
        _ => is_set_aside_anywhere(name),
    }
}

fn is_set_aside_anywhere(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name.starts_with('.')
        || lower.starts_with("readme")
        || SET_ASIDE.iter().any(|ending| lower.ends_with(ending))
        || [".dpkg-", ".rpm", ".ucf-"].iter().any(|part| lower.contains(part))
}

/// Returns `true` for a path of a pattern, in which `*` stands for any text within one part.
fn is_at(directory: &str, pattern: &str) -> bool {
    // Every file is compared with all patterns, and nearly all of them differ before a star.
    let bytes = directory.bytes().zip(pattern.bytes());
    match bytes.take_while(|(_, of_pattern)| *of_pattern != b'*').position(|(one, other)| one != other) {
        Some(_) => return false,
        None if directory == pattern => return true,
        None => {}
    }
    let (mut parts, mut patterns) = (directory.split('/'), pattern.split('/'));
    loop {
        match (parts.next(), patterns.next()) {
            (None, None) => return true,
            (Some(part), Some(pattern)) => {
                let fits = match pattern.split_once('*') {
                    Some((start, end)) => {
                        part.len() >= start.len() + end.len()
                            && part.starts_with(start)
                            && part.ends_with(end)
                    }
                    None => part == pattern,
                };
                if !fits {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

impl ReadDirectory {
    fn holds(&self, directory: &str) -> bool {
        self.directories.iter().any(|pattern| is_at(directory, pattern))
    }
}

impl NameRule {
    fn reads(self, name: &str) -> bool {
        let is_word = |part: char| part.is_ascii_alphanumeric() || matches!(part, '_' | '-');
        match self {
            Self::Ending(endings) => endings.iter().any(|ending| has_ending(name, ending)),
            Self::Plain => name.chars().all(is_word),
            // The names of the Linux Standard Base, as `run-parts --lsbsysinit` reads them.
            Self::SmallOrDomain => {
                let is_small = |part: char| part.is_ascii_lowercase() || part.is_ascii_digit();
                let is_domain = |(start, end): (&str, &str)| {
                    let has_parts = start.split('-').all(|part| !part.is_empty());
                    let is_read = |part: char| is_small(part) || matches!(part, '_' | '.' | '-');
                    has_parts && start.chars().all(is_read) && !end.is_empty() && end.chars().all(is_small)
                };
                let is_plain =
                    name.starts_with(is_small) && name.chars().all(|part| is_small(part) || part == '-');
                is_plain || name.rsplit_once('-').is_some_and(is_domain)
            }
            Self::Dotless => !name.contains('.') && !name.ends_with('~'),
            Self::AllBut(endings) => !endings.iter().any(|ending| name.ends_with(ending)),
            Self::Apt(EndingRule { endings, is_required }) => {
                let has_no_ending = !is_required && !name.contains('.');
                name.chars().all(|part| is_word(part) || part == '.')
                    && (has_no_ending || endings.iter().any(|ending| has_ending(name, ending)))
            }
        }
    }

    /// Returns what the program reads or skips.
    fn explanation(self) -> String {
        let endings = |endings: &[&str]| {
            let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
            listed(&endings.iter().map(String::as_str).collect::<Vec<_>>(), "or")
        };
        match self {
            Self::Ending([first, second, third, _, ..]) => {
                let known = endings(&[first, second, third]);
                format!("it reads names with other endings, such as {known}")
            }
            Self::Ending(known) => format!("it reads names that end with {}", endings(known)),
            Self::Plain => {
                "it skips names with other characters than letters, digits, `_` and `-`".to_owned()
            }
            Self::SmallOrDomain => {
                "it skips names with other characters than small letters, digits and `-`".to_owned()
            }
            Self::Dotless => "it skips names with `.` or `~`".to_owned(),
            Self::AllBut(known) => format!("it skips names that end with {}", listed(known, "or")),
            Self::Apt(EndingRule { endings: known, is_required }) => {
                let or_none = if is_required { "" } else { " or no ending" };
                format!(
                    "it reads names of letters, digits, `_`, `-` and `.` with {}{or_none}",
                    endings(known)
                )
            }
        }
    }

    /// Returns a similar name that the program may read.
    fn better_name(self, name: &str) -> Option<String> {
        let words = |text: &str, kept: &[char]| {
            let word = |part: char| {
                if part.is_ascii_alphanumeric() || kept.contains(&part) { part } else { '-' }
            };
            text.chars().map(word).collect::<String>().trim_matches('-').to_owned()
        };
        let stem = match name.rsplit_once('.') {
            Some((stem, ending)) if CONFUSED.contains(&ending.to_ascii_lowercase().as_str()) => stem,
            _ => name,
        };
        let better = match self {
            Self::Ending(endings) => with_ending(name, stem, endings),
            Self::Plain => words(stem, &['_', '-']),
            Self::SmallOrDomain => words(stem, &['-']).to_lowercase(),
            Self::Dotless => name.replace(['.', '~'], "-").trim_end_matches('-').to_owned(),
            Self::AllBut(endings) => {
                let ending = endings.iter().find(|ending| name.ends_with(**ending))?;
                name.strip_suffix(ending)?.to_owned()
            }
            Self::Apt(EndingRule { endings, is_required }) => {
                let stem = words(stem, &['_', '-', '.']);
                if is_required {
                    with_ending(&words(name, &['_', '-', '.']), &stem, endings)
                } else {
                    stem.replace('.', "-")
                }
            }
        };
        (!better.is_empty()).then_some(better)
    }
}

/// Returns a name with the ending that is nearest to its own, or else with the first of them.
fn with_ending(name: &str, stem: &str, endings: &[&str]) -> String {
    let near = name
        .rsplit_once('.')
        .and_then(|(stem, ending)| Some((stem, closest(ending, endings.iter().copied())?)));
    match near {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}.{ending}"),
        _ => format!("{stem}.{}", endings[0]),
    }
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.strip_suffix(ending).and_then(|rest| rest.strip_suffix('.')).is_some_and(|stem| !stem.is_empty())
}

#[cfg(test)]
mod tests;
