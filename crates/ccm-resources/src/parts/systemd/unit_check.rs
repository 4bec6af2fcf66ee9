//! Lines of units that systemd ignores: misspelt settings and sections, and settings in the section of others.

use std::ops::Range;

use ccm_model::closest;

/// Sections with their settings.
const SETTINGS: &str = include_str!("unit_settings.txt");

/// Sections whose units run commands.
const WITH_COMMANDS: [&str; 4] = ["Service", "Socket", "Mount", "Swap"];

/// Sections whose units have resources of their own.
const WITH_RESOURCES: [&str; 6] = ["Service", "Socket", "Mount", "Swap", "Slice", "Scope"];

/// Line that systemd ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoredLine {
    /// Bytes of the line in the text.
    pub range: Range<usize>,
    pub reason: String,
    pub hint: Option<String>,
}

/// Returns the first line of a unit that systemd ignores, as far as the settings of systemd 252 say so. Unknown settings that
/// resemble none may be those of a newer one.
pub(crate) fn ignored_line(text: &str) -> Option<IgnoredLine> {
    let mut section: Option<&str> = None;
    let (mut at, mut continues) = (0, false);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim();
        let goes_on = line.ends_with('\\');
        if std::mem::replace(&mut continues, goes_on) || line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let found = match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => {
                section = Some(name);
                unknown_section(name)
            }
            None => ignored_setting(line, section),
        };
        if let Some((reason, hint)) = found {
            let begin = start + text[start..].find(line).unwrap_or_default();
            return Some(IgnoredLine { range: begin..begin + line.len(), reason, hint });
        }
    }
    None
}

type Ignored = (String, Option<String>);

fn unknown_section(name: &str) -> Option<Ignored> {
    if name.starts_with("X-") || is_section(name) {
        return None;
    }
    let meant = closest(name, sections());
    // Sections of newer versions, and of other programs, are none of ccm's business.
    let meant = meant?;
    Some((format!("systemd knows no section `[{name}]`"), Some(format!("did you mean `[{meant}]`?"))))
}

fn ignored_setting(line: &str, section: Option<&str>) -> Option<Ignored> {
    if section.is_some_and(|section| !is_section(section)) {
        return None;
    }
    let Some((key, _)) = line.split_once('=') else {
        return Some((format!("`{line}` is no setting"), Some("write `KEY=VALUE`".to_owned())));
    };
    let key = key.trim_end();
    let Some(section) = section else {
        return Some((
            format!("`{key}` stands above the first section"),
            Some("write `[Service]` or another section above it".to_owned()),
        ));
    };
    if key.starts_with("X-") || has(section, key) {
        return None;
    }
    let others: Vec<&str> = sections().filter(|other| has(other, key)).collect();
    if let Some(other) = others.first() {
        let owner = if others.contains(&"Service") { "Service" } else { other };
        return Some((
            format!("`{key}` is no setting of `[{section}]`"),
            Some(format!("write it below `[{owner}]`")),
        ));
    }
    let meant = settings_of(section).find(|known| known.eq_ignore_ascii_case(key) || is_slip(key, known))?;
    Some((format!("systemd knows no setting `{key}`"), Some(format!("did you mean `{meant}`?"))))
}

/// Returns `true` for a word with one letter too many, too few or wrong, or with two of them exchanged.
fn is_slip(written: &str, known: &str) -> bool {
    let (written, known) = (written.as_bytes(), known.as_bytes());
    if written.len().abs_diff(known.len()) > 1 || known.len() < 4 {
        return false;
    }
    let same = written.iter().zip(known).take_while(|(one, other)| one == other).count();
    let (written, known) = (&written[same..], &known[same..]);
    match (written, known) {
        ([], []) => false,
        ([first, second, rest @ ..], [one, other, end @ ..])
            if first == other && second == one && rest == end =>
        {
            true
        }
        _ => {
            let tail = |text: &[u8], skipped: usize| text.get(skipped..).map(<[u8]>::to_vec);
            tail(written, 1) == tail(known, 1) && !written.is_empty() && !known.is_empty()
                || tail(written, 1).as_deref() == Some(known)
                || tail(known, 1).as_deref() == Some(written)
        }
    }
}

fn is_section(name: &str) -> bool {
    sections().any(|known| known == name)
}

/// Returns the names of the sections.
fn sections() -> impl Iterator<Item = &'static str> {
    let names = SETTINGS.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
    names.filter(|name| !matches!(*name, "Commands" | "Resources"))
}

fn has(section: &str, key: &str) -> bool {
    settings_of(section).any(|known| known == key)
}

/// Returns the settings of a section, with those that it shares with others.
fn settings_of(section: &str) -> impl Iterator<Item = &'static str> {
    let commands = WITH_COMMANDS.contains(&section).then_some("Commands");
    let resources = WITH_RESOURCES.contains(&section).then_some("Resources");
    let shared = commands.into_iter().chain(resources).flat_map(words_of);
    words_of(section).chain(shared)
}

fn words_of(section: &str) -> impl Iterator<Item = &'static str> {
    let head = format!("[{section}]");
    let lines = SETTINGS.lines().skip_while(move |line| *line != head).skip(1);
    lines.take_while(|line| !line.starts_with('[')).flat_map(str::split_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_systemd_ignores_are_found() {
        for (text, line, hint) in [
            ("[Servce]\nExecStart=/bin/true\n", "[Servce]", "did you mean `[Service]`?"),
            ("[service]\n", "[service]", "did you mean `[Service]`?"),
            ("[Service]\nRestrat=always\n", "Restrat=always", "did you mean `Restart`?"),
            ("[Service]\nExecstart=/bin/true\n", "Execstart=/bin/true", "did you mean `ExecStart`?"),
            ("[Service]\nEnviroment=A=1\n", "Enviroment=A=1", "did you mean `Environment`?"),
            ("[Unit]\nRestart=always\n", "Restart=always", "write it below `[Service]`"),
            (
                "[Service]\nWantedBy=multi-user.target\n",
                "WantedBy=multi-user.target",
                "write it below `[Install]`",
            ),
            ("[Service]\nAfter=network.target\n", "After=network.target", "write it below `[Unit]`"),
            ("[Unit]\nUser=app\n", "User=app", "write it below `[Service]`"),
            ("[Timer]\nOnCalender=daily\n", "OnCalender=daily", "did you mean `OnCalendar`?"),
            ("ExecStart=/bin/true\n", "ExecStart=/bin/true", "write `[Service]` or another section above it"),
            ("[Service]\nExecStart /bin/true\n", "ExecStart /bin/true", "write `KEY=VALUE`"),
            ("[Service]\n  Typ = simple\n", "Typ = simple", "did you mean `Type`?"),
        ] {
            let found = ignored_line(text).expect(text);
            assert_eq!((&text[found.range], found.hint.as_deref()), (line, Some(hint)), "{text}");
        }
    }

    #[test]
    fn what_systemd_reads_is_fine() {
        for text in [
            "",
            "# a comment\n; another\n\n[Unit]\nDescription=x\n[Service]\nUser=app\nMemoryMax=1G\nExecStart=/bin/sh \\\n  -c true\n",
            "[Service]\nExecStart=/bin/sh -c 'a' \\\nno setting\nType=simple\n",
            "[Install]\nWantedBy=multi-user.target\n",
            "[X-Own]\nanything\n[Unit]\nX-Own=1\n",
            // Of a newer systemd.
            "[Service]\nRestartSteps=3\nMemoryZSwapWriteback=no\n",
            "[Mount]\nWhat=/dev/sda\nWhere=/mnt\nEnvironment=A=1\n",
            "[Timer]\nOnCalendar=daily\nPersistent=true\n",
            "[Slice]\nCPUWeight=10\n",
            "[Network]\nDHCP=yes\n",
        ] {
            assert_eq!(ignored_line(text), None, "{text}");
        }
    }
}
