//! Sections of dnf's files with repositories, and other sections of the same name.

use std::path::Path;

use super::rivals::{DefinitionFile, Rival, RivalKind};

/// Keys of which two sections of one name should have the same values.
const KEYS: [&str; 6] = ["baseurl", "metalink", "mirrorlist", "enabled", "gpgcheck", "gpgkey"];

/// Section of a file: the line of its head, and its keys with their lines and values.
struct Section<'a> {
    path: &'a Path,
    line: usize,
    name: &'a str,
    values: Vec<(&'a str, usize, String)>,
}

/// Finds the sections of other files that have the name of one in the file `own`. dnf reads the first of them alone.
pub(crate) fn rivals(files: &[DefinitionFile], own: &Path) -> Vec<Rival> {
    let all: Vec<Section<'_>> = files.iter().flat_map(sections).collect();
    let mut found = Vec::new();
    for section in all.iter().filter(|section| section.path == own) {
        for other in all.iter().filter(|other| other.path != own && other.name == section.name) {
            let rival = |line, kind| Rival {
                path: other.path.to_owned(),
                line,
                repository: format!("`{}`", section.name),
                kind,
                is_planned: false,
            };
            let before = found.len();
            for key in KEYS {
                let (there, here) = (other.value(key), section.value(key));
                let is_same = there.map(|(_, value)| value) == here.map(|(_, value)| value);
                if !is_same {
                    let line = there.map_or(other.line, |(line, _)| line);
                    let shown = |value: Option<(usize, &str)>| value.map(|(_, value)| value.to_owned());
                    let (there, here) = (shown(there), shown(here));
                    found.push(rival(line, RivalKind::Contradiction { option: key, there, here }));
                }
            }
            if found.len() == before {
                found.push(rival(other.line, RivalKind::Twin));
            }
        }
    }
    found
}

impl Section<'_> {
    /// Returns the line and the value of a key; defaults of dnf count as not set.
    fn value(&self, key: &str) -> Option<(usize, &str)> {
        let (_, line, value) = self.values.iter().rev().find(|(found, ..)| *found == key)?;
        let value = match (key, &*value.to_ascii_lowercase()) {
            ("enabled", "1" | "true" | "yes" | "on") => return None,
            ("enabled" | "gpgcheck", "0" | "false" | "no" | "off") => "0",
            ("gpgcheck", "1" | "true" | "yes" | "on") => "1",
            _ => value,
        };
        Some((*line, value)).filter(|(_, value)| !value.is_empty())
    }
}

fn sections(file: &DefinitionFile) -> Vec<Section<'_>> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let number = index + 1;
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            all.push(Section { path: &file.path, line: number, name, values: Vec::new() });
        } else if let Some(section) = all.last_mut() {
            if line.starts_with([' ', '\t']) {
                // A value goes on in an indented line.
                if let Some((_, _, value)) = section.values.last_mut() {
                    format!("{value} {}", line.trim()).trim().clone_into(value);
                }
            } else if let Some((key, value)) = line.split_once('=') {
                section.values.push((key.trim(), number, value.trim().to_owned()));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_of_the_same_name_in_another_file_is_found() {
        let own = "# c\n[vendor]\nname=v\nbaseurl=https://a/el9\nenabled=1\ngpgcheck=1\ngpgkey=file:///k\n";
        for (other, expected) in [
            ("[other]\nbaseurl=https://a/el9\n", ""),
            ("# [vendor]\n;[vendor]\n[main]\nvendor=1\n", ""),
            ("\n[vendor]\nname = w\nbaseurl = https://a/el9\ngpgcheck = yes\ngpgkey=file:///k\n", "2"),
            ("[vendor]\nbaseurl=\n  https://a/el9\nenabled=true\ngpgcheck=True\ngpgkey=\n file:///k\n", "1"),
            (
                "[x]\n[vendor]\nbaseurl=https://b\ngpgcheck=0\n",
                "3 baseurl Some(\"https://b\"), 4 gpgcheck Some(\"0\"), 2 gpgkey None",
            ),
            (
                "[vendor]\nmetalink=https://m\nenabled=0\ngpgcheck=1\ngpgkey=file:///k",
                "1 baseurl None, 2 metalink Some(\"https://m\"), 3 enabled Some(\"0\")",
            ),
        ] {
            let file = |path: &str, text: &str| DefinitionFile { path: path.into(), text: text.to_owned() };
            let found = rivals(&[file("/a.repo", other), file("/own.repo", own)], Path::new("/own.repo"));
            let found = found.iter().map(|rival| match &rival.kind {
                RivalKind::Twin => rival.line.to_string(),
                RivalKind::Contradiction { option, there, .. } => {
                    format!("{} {option} {there:?}", rival.line)
                }
            });
            assert_eq!(found.collect::<Vec<_>>().join(", "), expected, "{other}");
        }
    }
}
