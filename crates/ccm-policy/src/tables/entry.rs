//! Entry of a program.

use ccm_model::{Node, SourceId};

use super::role::{ArgumentRole, OperandRole, parse_roles};
use crate::guard_class::GuardClass;
use crate::tables::find as find_entry;

/// Command line of a program, and what its parts do.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramEntry {
    pub(crate) syntax: ProgramSyntax,
    pub(crate) options: Vec<OptionSpec>,
    pub(crate) operands: Vec<OperandRole>,
    /// Classes of every call.
    pub(crate) does: Vec<GuardClass>,
    /// Changes that options make: names of options, and the entry whose operands and classes count then.
    pub(crate) with: Vec<(Vec<Box<str>>, ProgramEntry)>,
    /// Options or first operands with which the program only reports something.
    pub(crate) unless: Vec<Box<str>>,
    pub(crate) subcommands: Vec<(Vec<Box<str>>, ProgramEntry)>,
    /// Entry for an unknown subcommand.
    pub(crate) otherwise: Option<Box<ProgramEntry>>,
    /// Function that reads the arguments instead of the parts above.
    pub(crate) handler: Option<Box<str>>,
    /// The program reads code from its standard input if no script is named.
    pub(crate) reads_code: bool,
    /// The program fetches from other machines.
    pub(crate) downloads: bool,
    /// Subcommands of the program itself may follow as well: `docker container run`.
    pub(crate) inherits: bool,
    /// The name is an ordinary word, and starts no command behind a program that is not known.
    pub(crate) is_word: bool,
    /// The program changes files in its working directory that its arguments do not name.
    pub(crate) writes_here: bool,
    /// Options that the table does not list are no reason to ask.
    pub(crate) is_open: bool,
    /// What follows the first operand are arguments of another program.
    pub(crate) stops: bool,
    /// What stands in front of the name of a subcommand that has an entry of its own: `git-` of `git-push`.
    pub(crate) subcommand_prefix: Option<Box<str>>,
    pub(crate) has_operands: bool,
    /// Verdicts and commands.
    #[cfg(test)]
    pub(crate) examples: Vec<(Box<str>, Box<str>)>,
}

/// Way in which a program parses its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProgramSyntax {
    /// Options stand anywhere: `ls a -l`.
    #[default]
    Gnu,
    /// The first operand ends the options.
    Posix,
    /// Options are words with one dash: `java -jar`. They stand anywhere.
    Single,
    /// The first word may be a cluster without a dash: `tar xf`.
    Cluster,
    /// Clusters may hold options of two letters: `zip -rTTx`.
    Pairs,
    /// Long names may stand behind one dash: `npm -cache=x`.
    Nopt,
    /// No word is an option.
    Words,
}

/// Option of a program.
#[derive(Clone, Debug)]
pub(crate) struct OptionSpec {
    /// Spellings, with their dashes.
    pub(crate) names: Vec<Box<str>>,
    pub(crate) value: OptionValue,
    pub(crate) role: ArgumentRole,
    pub(crate) does: Vec<GuardClass>,
}

/// Value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionValue {
    /// None.
    None,
    /// Attached, or the next word.
    Required,
    /// That many of the next words.
    Several(u8),
    /// Only attached.
    Optional,
    /// All further words up to `;`.
    Rest,
}

/// Parses the text of an entry, which is a map with one key.
pub(crate) fn parse(text: &str) -> Result<ProgramEntry, String> {
    let node = ccm_yaml::parse(SourceId::default(), text, &ccm_yaml::Limits::default())
        .map_err(|errors| errors.first().map_or_else(String::new, |error| error.message.clone()))?;
    let map = node.as_ref().and_then(Node::as_map).ok_or("is no map")?;
    let [entry] = map.entries() else { return Err("has several keys".to_owned()) };
    parse_entry(&entry.value)
}

fn parse_entry(node: &Node) -> Result<ProgramEntry, String> {
    let mut entry = ProgramEntry::default();
    let Some(map) = node.as_map() else {
        if node.is_null() {
            return Ok(entry);
        }
        // `rm: read*` is short for `rm: {operands: read*}`.
        let text = node.as_text().ok_or("is neither a map nor roles")?;
        (entry.operands, entry.does) = parse_roles(text)?;
        entry.has_operands = !entry.operands.is_empty();
        return Ok(entry);
    };
    for part in map.entries() {
        let value = &part.value;
        let text = || value.as_text().ok_or_else(|| format!("`{}` is no text", part.key.text));
        match &*part.key.text {
            "syntax" => {
                entry.syntax = match text()? {
                    "gnu" => ProgramSyntax::Gnu,
                    "posix" => ProgramSyntax::Posix,
                    "single" => ProgramSyntax::Single,
                    "cluster" => ProgramSyntax::Cluster,
                    "words" => ProgramSyntax::Words,
                    "pairs" => ProgramSyntax::Pairs,
                    "nopt" => ProgramSyntax::Nopt,
                    other => return Err(format!("syntax {other} is unknown")),
                }
            }
            "options" => {
                for (names, value) in pairs(value)? {
                    entry.options.extend(parse_option(names, value)?);
                }
            }
            "harmless" => {
                for name in text()?.split_ascii_whitespace() {
                    entry.options.push(harmless_option(name));
                }
            }
            "operands" => {
                let classes;
                (entry.operands, classes) = parse_roles(text()?)?;
                entry.does.extend(classes);
                entry.has_operands = true;
            }
            "does" => {
                for name in text()?.split_ascii_whitespace() {
                    entry
                        .does
                        .push(GuardClass::parse(name).ok_or_else(|| format!("class {name} is unknown"))?);
                }
            }
            "with" => {
                for (names, value) in pairs(value)? {
                    entry.with.push((words(names), parse_entry(value)?));
                }
            }
            "unless" => entry.unless = words(text()?),
            "subcommands" => {
                for (names, value) in pairs(value)? {
                    entry.subcommands.push((words(names), parse_entry(value)?));
                }
            }
            "otherwise" => entry.otherwise = Some(Box::new(parse_entry(value)?)),
            "handler" => entry.handler = Some(text()?.into()),
            "reads_code" => entry.reads_code = text()? == "true",
            "downloads" => entry.downloads = text()? == "true",
            "inherits" => entry.inherits = text()? == "true",
            "is_word" => entry.is_word = text()? == "true",
            "writes_here" => entry.writes_here = text()? == "true",
            "open" => entry.is_open = text()? == "true",
            "stops" => entry.stops = text()? == "true",
            "subcommand_prefix" => entry.subcommand_prefix = Some(text()?.into()),
            #[cfg(test)]
            "examples" => {
                for (verdict, commands) in pairs(value)? {
                    let list = commands.as_list().ok_or("examples are no list")?;
                    for command in list {
                        let command = command.as_text().ok_or("an example is no text")?;
                        entry.examples.push((verdict.into(), command.into()));
                    }
                }
            }
            other => return Err(format!("key {other} is unknown")),
        }
    }
    Ok(entry)
}

fn pairs(node: &Node) -> Result<Vec<(&str, &Node)>, String> {
    let map = node.as_map().ok_or("is no map")?;
    Ok(map.entries().iter().map(|entry| (&*entry.key.text, &entry.value)).collect())
}

fn words(text: &str) -> Vec<Box<str>> {
    text.split_ascii_whitespace().map(Into::into).collect()
}

/// Parses options such as `-o= --output=: write`, `--bind==: text` with two values, `-i? --in-place?: text` and `--privileged: does:container_open`.
fn parse_option(names: &str, value: &Node) -> Result<Vec<OptionSpec>, String> {
    let text = if value.is_null() { "" } else { value.as_text().ok_or("an option is no text")? };
    let (roles, does) = parse_roles(text)?;
    let role = roles.first().map_or(ArgumentRole::Text, |role| role.role);
    let mut specs: Vec<OptionSpec> = Vec::new();
    for name in names.split_ascii_whitespace() {
        let (name, value) = option_value(name);
        // A long name behind a short name means the same.
        let is_same = |spec: &OptionSpec| {
            spec.value == value
                && spec.names.len() == 1
                && spec.names.iter().all(|name| !name.starts_with("--"))
        };
        match specs.last_mut().filter(|spec| name.starts_with("--") && is_same(spec)) {
            Some(spec) => spec.names.push(name.into()),
            None => specs.push(OptionSpec { names: vec![name.into()], value, role, does: does.clone() }),
        }
    }
    Ok(specs)
}

/// Splits the name of an option from the mark of its value.
fn option_value(name: &str) -> (&str, OptionValue) {
    let plain = name.trim_end_matches('=');
    match (name.len() - plain.len(), name.strip_suffix('=')) {
        (count @ 2.., _) => (plain, OptionValue::Several(u8::try_from(count).unwrap_or(u8::MAX))),
        (_, Some(name)) => (name, OptionValue::Required),
        (_, None) => match (name.strip_suffix('?'), name.strip_suffix('*')) {
            (Some(name), _) => (name, OptionValue::Optional),
            (None, Some(name)) => (name, OptionValue::Rest),
            (None, None) => (name, OptionValue::None),
        },
    }
}

fn harmless_option(name: &str) -> OptionSpec {
    let (names, value) = option_value(name);
    // `-v/--verbose`
    let names = names.split('/').map(Into::into).collect();
    OptionSpec { names, value, role: ArgumentRole::Text, does: Vec::new() }
}

impl ProgramEntry {
    /// Returns the entry of a subcommand.
    pub(crate) fn subcommand(&'static self, name: &str) -> Option<&'static Self> {
        let find = |(names, _): &&(Vec<Box<str>>, Self)| names.iter().any(|known| **known == *name);
        let own = self.subcommands.iter().find(find).map(|(_, entry)| entry);
        let apart =
            || self.subcommand_prefix.as_deref().and_then(|prefix| find_entry(&format!("{prefix}{name}")));
        own.or_else(apart).or(self.otherwise.as_deref())
    }

    pub(crate) fn has_subcommands(&self) -> bool {
        !self.subcommands.is_empty() || self.otherwise.is_some() || self.subcommand_prefix.is_some()
    }
}

impl OptionSpec {
    /// Returns `true` if a name is a dash and this letter.
    pub(crate) fn has_letter(&self, letter: char) -> bool {
        self.names.iter().any(|name| {
            name.len() == 1 + letter.len_utf8() && name.starts_with('-') && name.ends_with(letter)
        })
    }

    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|known| **known == *name)
    }
}
