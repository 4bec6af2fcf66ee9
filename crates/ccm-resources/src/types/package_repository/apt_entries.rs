//! Entries of apt's files with sources, of one line or of a paragraph each, and what contradicts in them.

use std::collections::HashMap;
use std::path::Path;

use super::rivals::{DefinitionFile, Rival, RivalKind};

/// Source in a file of apt: one address and one suite.
#[derive(Debug)]
struct AptEntry<'a> {
    path: &'a Path,
    line: usize,
    /// Type, such as `deb`.
    kind: &'a str,
    uri: &'a str,
    suite: &'a str,
    components: Vec<&'a str>,
    /// Values by the names of the format of one line, with their lines.
    options: HashMap<String, (String, usize)>,
}

/// Rule by which apt compares values of an option.
#[derive(Clone, Copy)]
enum OptionRule {
    /// Yes, no or not set, which all differ.
    ThreeStates,
    /// Yes, or anything else.
    Flag,
    /// Text or number; what the first sources do not set, a later one may.
    Text,
}

/// Options that all sources of one address and suite share: name in a line, name in a paragraph, and the rule.
const OPTIONS: [(&str, &str, OptionRule); 10] = [
    ("signed-by", "Signed-By", OptionRule::Text),
    ("trusted", "Trusted", OptionRule::ThreeStates),
    ("check-valid-until", "Check-Valid-Until", OptionRule::ThreeStates),
    ("check-date", "Check-Date", OptionRule::ThreeStates),
    ("valid-until-max", "Valid-Until-Max", OptionRule::Text),
    ("valid-until-min", "Valid-Until-Min", OptionRule::Text),
    ("date-max-future", "Date-Max-Future", OptionRule::Text),
    ("allow-insecure", "", OptionRule::Flag),
    ("allow-weak", "", OptionRule::Flag),
    ("allow-downgrade-to-insecure", "", OptionRule::Flag),
];

/// Finds what other files say about the sources in the file `own`, in the order in which apt reads the files.
pub(crate) fn rivals(files: &[DefinitionFile], own: &Path) -> Vec<Rival> {
    let entries: Vec<AptEntry<'_>> = files.iter().flat_map(entries).collect();
    let mut by_release: HashMap<String, Vec<&AptEntry<'_>>> = HashMap::new();
    for entry in &entries {
        by_release.entry(entry.release()).or_default().push(entry);
    }
    let mut found: Vec<Rival> = Vec::new();
    let own_entries = entries.iter().filter(|entry| entry.path == own);
    for entry in own_entries {
        let same = &by_release[&entry.release()];
        found.extend(OPTIONS.iter().filter_map(|option| contradiction(same, entry, *option)));
        found.extend(same.iter().filter_map(|other| entry.twin(other)));
    }
    found.dedup();
    found
}

/// Returns the contradiction of an option that involves the own entry, if apt finds one.
fn contradiction(
    entries: &[&AptEntry<'_>],
    own: &AptEntry<'_>,
    (name, title, rule): (&'static str, &'static str, OptionRule),
) -> Option<Rival> {
    let mut first: Option<&AptEntry<'_>> = None;
    for entry in entries {
        let Some(earlier) = first else {
            // Text that is not set is left to later entries.
            if !matches!(rule, OptionRule::Text) || entry.value(name, rule).is_some() {
                first = Some(entry);
            }
            continue;
        };
        let other = match (earlier.path == own.path, entry.path == own.path) {
            (true, false) => entry,
            (false, true) => earlier,
            _ => continue,
        };
        let (there, here) = (other.value(name, rule), own.value(name, rule));
        if there != here {
            let line = other.options.get(name).map_or(other.line, |(_, line)| *line);
            let option = if title.is_empty() { name } else { title };
            return Some(Rival {
                path: other.path.to_owned(),
                line,
                repository: own.shown(),
                kind: RivalKind::Contradiction { option, there, here },
                is_planned: false,
            });
        }
    }
    None
}

impl AptEntry<'_> {
    fn shown(&self) -> String {
        format!("`{} {}`", self.uri, self.suite)
    }

    /// Returns what apt names the release of the source by: neither the protocol nor a login counts.
    fn release(&self) -> String {
        let address = self.uri.split_once(':').map_or(self.uri, |(_, rest)| rest);
        let address = match address.strip_prefix("//") {
            Some(rest) => {
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                format!("{}{path}", host.rsplit_once('@').map_or(host, |(_, host)| host))
            }
            None => address.to_owned(),
        };
        let address = address.strip_suffix('/').unwrap_or(&address);
        match self.suite {
            "/" => format!("{address}/"),
            flat if flat.ends_with('/') => format!("{address}/{flat}"),
            suite => format!("{address}/dists/{suite}/"),
        }
    }

    /// Returns the value of an option in the form in which values are compared.
    fn value(&self, name: &str, rule: OptionRule) -> Option<String> {
        let value = &self.options.get(name)?.0;
        let is_true = truth(value) == Some(true);
        match rule {
            OptionRule::ThreeStates => Some(if is_true { "yes" } else { "no" }.to_owned()),
            OptionRule::Flag => is_true.then(|| "yes".to_owned()),
            OptionRule::Text => {
                Some(value.trim_end_matches(',').to_owned()).filter(|value| !value.is_empty())
            }
        }
    }

    /// Returns another entry that makes apt read the same index twice.
    fn twin(&self, other: &Self) -> Option<Rival> {
        let words = |entry: &Self, name: &str| -> Option<Vec<String>> {
            let (text, _) = entry.options.get(name)?;
            Some(text.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect())
        };
        let share_architecture = match (words(self, "arch"), words(other, "arch")) {
            (Some(one), Some(other)) => one.iter().any(|arch| other.contains(arch)),
            _ => true,
        };
        let same_components = self.components.iter().any(|component| other.components.contains(component))
            || (self.components.is_empty() && other.components.is_empty());
        let is_twin =
            other.path != self.path && other.kind == self.kind && same_components && share_architecture;
        is_twin.then(|| Rival {
            path: other.path.to_owned(),
            line: other.line,
            repository: self.shown(),
            kind: RivalKind::Twin,
            is_planned: false,
        })
    }
}

/// Reads a truth value as apt does; `None` for other text.
fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "true" | "with" | "on" | "enable" | "1" => Some(true),
        "no" | "false" | "without" | "off" | "disable" | "0" => Some(false),
        _ => None,
    }
}

fn entries(file: &DefinitionFile) -> Vec<AptEntry<'_>> {
    let is_paragraphs = file.path.extension().is_some_and(|extension| extension == "sources");
    if is_paragraphs {
        paragraphs(&file.text).flat_map(|paragraph| paragraph_entries(&file.path, &paragraph)).collect()
    } else {
        let lines = file.text.lines().enumerate();
        lines.filter_map(|(index, line)| line_entry(&file.path, index + 1, line)).collect()
    }
}

/// Parses `TYPE [OPTIONS] URI SUITE COMPONENT…`.
fn line_entry<'a>(path: &'a Path, number: usize, line: &'a str) -> Option<AptEntry<'a>> {
    let (kind, mut rest) = without_comment(line).trim().split_once([' ', '\t'])?;
    rest = rest.trim_start();
    let mut options = HashMap::new();
    if let Some(in_brackets) = rest.strip_prefix('[') {
        let (inside, behind) = in_brackets.split_once(']')?;
        let values = inside.split_whitespace().filter_map(|option| option.split_once('='));
        options.extend(
            values.map(|(name, value)| (name.to_owned(), (value.trim_matches('"').to_owned(), number))),
        );
        rest = behind;
    }
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    Some(AptEntry { path, line: number, kind, uri, suite, components: words.collect(), options })
}

/// Returns a line without its comment; a `#` among the options begins none.
fn without_comment(line: &str) -> &str {
    let mut depth = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b'#' if depth <= 0 => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Fields of a paragraph: name in lower case, line, and text of one or more lines.
type Paragraph<'a> = Vec<(String, usize, Vec<&'a str>)>;

fn paragraphs(text: &str) -> impl Iterator<Item = Paragraph<'_>> {
    let mut all: Vec<Paragraph<'_>> = vec![Vec::new()];
    for (index, line) in text.lines().enumerate() {
        let current = all.last_mut();
        if line.trim().is_empty() {
            all.push(Vec::new());
        } else if line.starts_with('#') {
            // Comments may stand anywhere.
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, _, values)) = current.and_then(|fields| fields.last_mut()) {
                values.push(line.trim());
            }
        } else if let (Some((name, value)), Some(fields)) = (line.split_once(':'), current) {
            fields.push((name.trim().to_ascii_lowercase(), index + 1, vec![value.trim()]));
        }
    }
    all.into_iter().filter(|fields| !fields.is_empty())
}

/// Returns an entry for each type, address and suite of a paragraph that is enabled.
fn paragraph_entries<'a>(path: &'a Path, paragraph: &Paragraph<'a>) -> Vec<AptEntry<'a>> {
    let field = |wanted: &str| {
        paragraph
            .iter()
            .find(|(name, ..)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, line, values)| (*line, values))
    };
    let words = |wanted: &str| -> Vec<&'a str> {
        let values = field(wanted).map(|(_, values)| &values[..]).unwrap_or_default();
        values.iter().flat_map(|value| value.split_whitespace()).collect()
    };
    let joined = |values: &[&str]| values.join("\n").trim().to_owned();
    if field("Enabled").is_some_and(|(_, values)| truth(&joined(values)) == Some(false)) {
        return Vec::new();
    }
    let arch = [("arch", "Architectures", OptionRule::Text)];
    let named = OPTIONS.iter().chain(&arch).filter(|(_, title, _)| !title.is_empty());
    let options: HashMap<String, (String, usize)> = named
        .filter_map(|(name, title, _)| {
            let (line, values) = field(title)?;
            Some(((*name).to_owned(), (joined(values), line)))
        })
        .collect();
    let line = paragraph.first().map_or(1, |(_, line, _)| *line);
    let (uris, suites, components) = (words("URIs"), words("Suites"), words("Components"));
    let mut found = Vec::new();
    for kind in words("Types") {
        for uri in &uris {
            for suite in &suites {
                let (options, components) = (options.clone(), components.clone());
                found.push(AptEntry { path, line, kind, uri, suite, components, options });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
