//! What a service does after a failure: it starts units, and hands a summary to commands.

use std::fmt;
use std::str::FromStr;

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

use super::one_command::OneCommand;
use super::unit_words::systemd_word;
use super::units::UnitText;

/// Maximum length of the name of a unit in bytes.
const MAX_NAME: usize = 255;
/// Kinds of units that a failure may start.
const FAILURE_KINDS: [&str; 5] = ["service", "target", "timer", "socket", "path"];
/// Specifiers of systemd in the name of a unit, such as `%n` for the name of the service that failed.
const SPECIFIERS: &str = "nNpPiIjJHmbuU";

/// What a service does after a failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnFailure {
    /// Units and commands.
    pub actions: Vec<FailureAction>,
    /// Form of the summary that commands get.
    pub format: SummaryFormat,
}

/// Unit or command for a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureAction {
    /// Unit that systemd starts.
    Unit(FailureUnit),
    /// Program and arguments. The program gets a summary of the failure on its standard input.
    Command(Vec<String>),
}

ccm_properties::words! {
    /// Form of the summary of a failure.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum SummaryFormat {
        /// Lines for people.
        #[default]
        Text = "text",
        /// A JSON object whose `text` has these lines.
        Json = "json",
    }
}

impl OnFailure {
    /// Returns the units.
    pub fn units(&self) -> impl Iterator<Item = &FailureUnit> {
        self.actions.iter().filter_map(|action| match action {
            FailureAction::Unit(unit) => Some(unit),
            FailureAction::Command(_) => None,
        })
    }

    /// Returns the first unit that is the service itself, which would start itself for ever.
    pub fn own_unit(&self, service: &str) -> Option<&FailureUnit> {
        self.units().find(|unit| matches!(&*unit.0, "%n") || unit.0 == service)
    }

    /// Adds the units to the section `Unit`.
    pub fn in_unit_section(&self, text: UnitText) -> UnitText {
        let units: Vec<&str> = self.units().map(|unit| &*unit.0).collect();
        // Their names may have specifiers.
        if units.is_empty() { text } else { text.lines(&format!("OnFailure={}\n", units.join(" "))) }
    }

    /// Adds the commands to the section `Service`. `notifier` has the words of a program that gives the command behind
    /// them a summary, if the service has failed.
    pub fn in_service_section(&self, text: UnitText, notifier: &str) -> UnitText {
        let format = if self.format == SummaryFormat::Json { " --format json" } else { "" };
        self.actions.iter().fold(text, |text, action| match action {
            FailureAction::Unit(_) => text,
            FailureAction::Command(words) => {
                let words: Vec<String> = words.iter().map(|word| systemd_word(word)).collect();
                let line = format!("ExecStopPost={notifier}{format} %n -- {}\n", words.join(" "));
                text.lines(&line)
            }
        })
    }
}

impl FailureAction {
    /// Reads the name of a unit, or a command: it has the path of its program, or arguments.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        if text.contains('/') || text.trim().contains(char::is_whitespace) {
            return OneCommand::from_text(text).map(|command| Self::Command(command.0));
        }
        let unit = text.parse().map_err(|error: FailureUnitError| {
            let found = ValueError::new(error.to_string());
            match error {
                FailureUnitError::Kind => found
                    .with_hint("write the path of the program if this is a command, such as /usr/bin/notify"),
                _ => found,
            }
        });
        unit.map(Self::Unit)
    }
}

impl TextValue for FailureAction {
    const KIND: PropertyKind = PropertyKind::Text(TextKind { min_length: 1, ..TextKind::STRICT });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        Self::parse(text)
    }
}

/// Unit that systemd starts after a failure. Its name may have specifiers: `notify@%n.service`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureUnit(String);

/// Reason why a text is no unit that a failure can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureUnitError {
    /// The name does not end with a kind of unit.
    #[error("the name of a unit ends with its kind, such as `notify.service`")]
    Kind,
    /// The name is a template without an instance.
    #[error("a template needs an instance, such as `notify@%n.service`")]
    Template,
    /// The name has characters that units don't have.
    #[error(
        "the name of a unit has letters, digits, `:`, `-`, `_`, `.` and `@`, and specifiers of systemd such as `%n`"
    )]
    Characters,
}

impl FailureUnit {
    /// Returns the names of the unit files that systemd may load the unit from; none if a specifier decides about them.
    pub fn files(&self) -> Vec<String> {
        let (stem, kind) = self.0.rsplit_once('.').unwrap_or((&self.0, ""));
        match stem.split_once('@') {
            Some((prefix, _)) if prefix.contains('%') => Vec::new(),
            Some((prefix, instance)) => {
                let own = (!instance.contains('%')).then(|| self.0.clone());
                own.into_iter().chain([format!("{prefix}@.{kind}")]).collect()
            }
            None if stem.contains('%') => Vec::new(),
            None => vec![self.0.clone()],
        }
    }
}

impl FromStr for FailureUnit {
    type Err = FailureUnitError;

    fn from_str(text: &str) -> Result<Self, FailureUnitError> {
        let (stem, kind) = text.rsplit_once('.').ok_or(FailureUnitError::Kind)?;
        if !FAILURE_KINDS.contains(&kind) {
            return Err(FailureUnitError::Kind);
        }
        let mut parts = stem.chars();
        let mut is_valid = text.len() <= MAX_NAME
            && stem.starts_with(|part: char| part.is_ascii_alphanumeric() || part == '%');
        while let Some(part) = parts.next() {
            is_valid &= match part {
                '%' => parts.next().is_some_and(|specifier| SPECIFIERS.contains(specifier)),
                part => part.is_ascii_alphanumeric() || ":-_.@".contains(part),
            };
        }
        if !is_valid {
            return Err(FailureUnitError::Characters);
        }
        if stem.ends_with('@') {
            return Err(FailureUnitError::Template);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for FailureUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_units_or_commands() {
        let command = |words: &[&str]| {
            Some(FailureAction::Command(words.iter().map(|word| (*word).to_owned()).collect()))
        };
        for (text, expected) in [
            ("notify@%n.service", "notify@%n.service".parse().ok().map(FailureAction::Unit)),
            ("/usr/local/bin/notify", command(&["/usr/local/bin/notify"])),
            ("mail -s 'it failed' root", command(&["mail", "-s", "it failed", "root"])),
            ("a b.service", command(&["a", "b.service"])),
            ("notify", None),
            ("notify.servce", None),
            ("", None),
            (" ", None),
            ("mail root | tee x", None),
            ("./notify x", None),
            ("mail 'x", None),
        ] {
            assert_eq!(FailureAction::parse(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn actions_are_lines_of_the_service() {
        let actions = ["a.service", "mail -s '50% of $HOME' root", "b@%n.service", "/bin/true"];
        let actions = actions.iter().map(|text| FailureAction::parse(text).expect("an action")).collect();
        let on_failure = OnFailure { actions, format: SummaryFormat::Json };
        assert_eq!(
            on_failure.in_unit_section(UnitText::new("")).finish(),
            "OnFailure=a.service b@%n.service\n"
        );
        let expected = "\
ExecStopPost=-ccm notify --format json %n -- mail -s \"50%% of $$HOME\" root
ExecStopPost=-ccm notify --format json %n -- /bin/true
";
        assert_eq!(on_failure.in_service_section(UnitText::new(""), "-ccm notify").finish(), expected);
        assert_eq!(OnFailure::default().in_service_section(UnitText::new(""), "x").finish(), "");
        let own = |unit: &str| OnFailure {
            actions: vec![FailureAction::parse(unit).expect("a unit")],
            ..OnFailure::default()
        };
        assert!(own("backup.service").own_unit("backup.service").is_some());
        assert!(own("%n.service").own_unit("backup.service").is_none());
        assert!(own("other.service").own_unit("backup.service").is_none());
    }

    #[test]
    fn units_of_a_failure_are_checked() {
        use FailureUnitError::{Characters, Kind, Template};
        for (text, expected) in [
            ("notify.service", Ok(&["notify.service"][..])),
            ("alert.target", Ok(&["alert.target"])),
            ("notify@site.service", Ok(&["notify@site.service", "notify@.service"])),
            ("notify@%n.service", Ok(&["notify@.service"])),
            ("notify@%N:%H.service", Ok(&["notify@.service"])),
            ("%p-failed.service", Ok(&[])),
            ("%p@x.service", Ok(&[])),
            ("notify", Err(Kind)),
            ("", Err(Kind)),
            ("notify.servce", Err(Kind)),
            ("notify.device", Err(Kind)),
            ("notify@.service", Err(Template)),
            ("@x.service", Err(Characters)),
            (".service", Err(Characters)),
            ("-x.service", Err(Characters)),
            ("a b.service", Err(Characters)),
            ("a/b.service", Err(Characters)),
            ("a\n[Service].service", Err(Characters)),
            ("notify@%.service", Err(Characters)),
            ("notify@%q.service", Err(Characters)),
        ] {
            let found = text.parse::<FailureUnit>();
            let expected =
                expected.map(|files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect());
            assert_eq!(found.map(|unit| unit.files()), expected, "{text}");
        }
    }
}
