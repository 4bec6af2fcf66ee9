//! The `[Install]` section of a unit file, which says what `systemctl enable` makes.

/// What the `[Install]` sections of a unit file and its drop-ins say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InstallSection {
    /// Links that enable the unit, as paths in a directory of units: `multi-user.target.wants/a.service`, or an alias.
    pub links: Vec<String>,
    /// Units that are enabled and disabled together with this one.
    pub also: Vec<String>,
}

/// Keys whose units get a link in a directory, with the ending of its name.
const DIRECTORIES: [(&str, &str); 3] =
    [("WantedBy", "wants"), ("RequiredBy", "requires"), ("UpheldBy", "upholds")];

impl InstallSection {
    /// Reads the texts of a unit file and of its drop-ins, in their order. Values with specifiers that depend on the
    /// machine are left out.
    pub(crate) fn of(unit: &str, texts: &[String]) -> Self {
        let mut found = Vec::new();
        for text in texts {
            read(text, &mut found);
        }
        let mut section = Self::default();
        for (key, value) in found {
            let Some(value) = expanded(&value, unit) else { continue };
            let directory = DIRECTORIES.iter().find(|(known, _)| *known == key);
            match (directory, &*key) {
                // A link of a template needs an instance that the file alone does not tell.
                (Some(_), _) if value.contains("@.") => {}
                (Some((_, ending)), _) => section.links.push(format!("{value}.{ending}/{unit}")),
                (None, "Alias") if value != unit => section.links.push(value),
                (None, "Also") => section.also.push(value),
                _ => {}
            }
        }
        section
    }

    /// Returns `true` if enabling does nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.also.is_empty()
    }
}

/// Adds keys and values of the section, a value for each word. An empty value takes back those before it.
fn read(text: &str, found: &mut Vec<(String, String)>) {
    let text = text.replace("\\\n", " ");
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_inside = line == "[Install]";
        }
        let Some((key, value)) = line.split_once('=').filter(|_| is_inside && !line.starts_with(['#', ';']))
        else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        if value.is_empty() {
            found.retain(|(known, _)| known != key);
        }
        found.extend(value.split_whitespace().map(|word| (key.to_owned(), word.to_owned())));
    }
}

/// Fills in the specifiers that the name of the unit tells; `None` if there are others.
fn expanded(value: &str, unit: &str) -> Option<String> {
    if !value.contains('%') {
        return Some(value.to_owned());
    }
    let (stem, _) = unit.rsplit_once('.')?;
    let (prefix, instance) = stem.split_once('@').unwrap_or((stem, ""));
    let mut expanded = String::new();
    let mut rest = value.chars();
    while let Some(next) = rest.next() {
        match (next, (next == '%').then(|| rest.next()).flatten()) {
            ('%', Some('i')) => expanded += instance,
            ('%', Some('p')) => expanded += prefix,
            ('%', Some('n')) => expanded += unit,
            ('%', Some('N')) => expanded += stem,
            ('%', Some('%')) => expanded.push('%'),
            ('%', _) => return None,
            (other, _) => expanded.push(other),
        }
    }
    Some(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_follow_from_the_section() {
        for (unit, text, links, also) in [
            (
                "a.service",
                "[Install]\nWantedBy=multi-user.target\n",
                &["multi-user.target.wants/a.service"][..],
                &[][..],
            ),
            ("a.service", "[Unit]\nWantedBy=x.target\n[Service]\nExecStart=x\n", &[], &[]),
            (
                "a.service",
                "[Install]\nWantedBy = one.target two.target\nRequiredBy=r.target\nUpheldBy=u.service\n",
                &[
                    "one.target.wants/a.service",
                    "two.target.wants/a.service",
                    "r.target.requires/a.service",
                    "u.service.upholds/a.service",
                ],
                &[],
            ),
            (
                "a.service",
                "[Install]\nAlias=b.service a.service\nAlso=a.socket\n",
                &["b.service"],
                &["a.socket"],
            ),
            ("a.service", "[Install]\n# WantedBy=x.target\n;WantedBy=y.target\n", &[], &[]),
            (
                "a.service",
                "[Install]\nWantedBy=x.target \\\n  y.target\n",
                &["x.target.wants/a.service", "y.target.wants/a.service"],
                &[],
            ),
            (
                "a@b.service",
                "[Install]\nWantedBy=dev-%i.device %p.target\nDefaultInstance=c\n",
                &["dev-b.device.wants/a@b.service", "a.target.wants/a@b.service"],
                &[],
            ),
            (
                "a.service",
                "[Install]\nWantedBy=%H.target getty@.service x.target\n",
                &["x.target.wants/a.service"],
                &[],
            ),
        ] {
            let section = InstallSection::of(unit, &[text.to_owned()]);
            assert_eq!(
                (&*section.links, &*section.also),
                (
                    links.iter().map(|link| (*link).to_owned()).collect::<Vec<_>>().as_slice(),
                    also.iter().map(|unit| (*unit).to_owned()).collect::<Vec<_>>().as_slice()
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn a_drop_in_adds_and_takes_back() {
        let file = "[Install]\nWantedBy=one.target\n".to_owned();
        for (drop_in, links) in [
            (
                "[Install]\nWantedBy=two.target\n",
                &["one.target.wants/a.service", "two.target.wants/a.service"][..],
            ),
            ("[Install]\nWantedBy=\nWantedBy=two.target\n", &["two.target.wants/a.service"]),
            ("[Install]\nWantedBy=\n", &[]),
        ] {
            let section = InstallSection::of("a.service", &[file.clone(), drop_in.to_owned()]);
            assert_eq!(section.links, links);
        }
        assert!(InstallSection::of("a.service", &["[Service]\n".to_owned()]).is_empty());
    }
}
