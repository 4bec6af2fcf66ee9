//! Health checks of resources, as a manifest writes them.

use std::collections::HashSet;
use std::time::Duration;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeMap, ShellSyntaxKind, Span, SplitErrorKind,
    escape_control, shell_syntax, split_words,
};

use crate::{
    CommandPlace, CommandSubject, Exposure, Integer, Located, PositiveDuration, PropertyKind,
    PropertySet as _, PropertyValue, Text, TextSyntax, WrittenCommand, WrittenLine, decode_record, expected,
    properties, words,
};

/// Name of the property with the health checks of a resource.
pub const HEALTH_CHECKS: &str = "health_checks";

/// Rules of Goss: a map of kinds, each with a map of rules.
pub const GOSS_RULES: PropertyKind = PropertyKind::Map {
    keys: Some(
        "^(addr|command|dns|file|group|http|interface|kernel-param|matching|mount|package|port|process|service|user)$",
    ),
    values: &PropertyKind::Map { keys: None, values: &PropertyKind::JsonMap, min: 0 },
    min: 1,
};

/// List of health checks.
pub const HEALTH_CHECKS_KIND: PropertyKind =
    PropertyKind::List(&PropertyKind::Record { properties: HealthCheckProperties::PROPERTIES, min: 1 });

/// Names of the properties of which a check has one.
const SUBJECTS: [&str; 3] = ["command", "nagios", "goss_rules"];

const DEFAULT_TRY_SLEEP: Duration = Duration::from_secs(1);
const LITERAL: &str = "put this text in single quotes to pass it as it is";

properties! {
    /// Properties of a health check; their documentation is the reference for users.
    #[derive(Clone, Debug, Default)]
    pub struct HealthCheckProperties {
        /// Name of the check in reports and metrics, unique in its resource.
        name: Located<String> { default: Some("the name of the program, or `goss`") },
        /// Command that checks. Its exit code is the status: 0 is ok, 1 a warning, 2 critical, anything else unknown. The first
        /// line of its standard output is the summary; numbers behind a `|` in it are values.
        command: Text {
            exposure: Exposure::Arguments,
            sensitive: true,
            syntax: TextSyntax::Argv,
            foreign_names: &["cmd", "exec", "run", "script", "check"],
        },
        /// The same as `command`, for a plugin of Nagios.
        nagios: Text {
            exposure: Exposure::Arguments,
            sensitive: true,
            syntax: TextSyntax::Argv,
            foreign_names: &["plugin"],
        },
        /// Rules of Goss: a map of kinds, each with a map of rules. A rule that fails is critical.
        goss_rules: RulesNode { foreign_names: &["goss", "rules", "gossfile"] },
        /// Way to start the command: `posix` splits it into words, `shell` passes it whole to `/bin/sh -c`.
        provider: CheckProvider { default: Some("`posix`") },
        /// Maximum number of tries until the check is ok, for a resource that was not changed.
        tries: Integer<1, 1000> { default: Some("`1`"), foreign_names: &["retries", "attempts"] },
        /// Pause between two tries.
        try_sleep: Duration { default: Some("`1s`"), foreign_names: &["interval", "delay", "sleep"] },
        /// Time limit of a try. After a change or a refresh: time in which the check has to become ok.
        timeout: PositiveDuration { default: Some("`10s`; after a change or a refresh `30s`") },
        /// What a check that fails does to the refresh that was just done: `keep` leaves it done, `retry_refresh` lets the next
        /// run refresh the resource again.
        on_failure: OnFailure { default: Some("`keep`") },
    }
}

words! {
    /// Way to start the command of a check.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CheckProvider {
        /// Program and arguments.
        #[default]
        Posix = "posix",
        /// Text for `/bin/sh`.
        Shell = "shell",
    }
}

words! {
    /// Effect of a failed check on the refresh of its resource.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum OnFailure {
        /// The refresh is done.
        #[default]
        Keep = "keep",
        /// The next run refreshes again.
        RetryRefresh = "retry_refresh",
    }
}

/// Rules that their own reader decodes.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesNode(pub Node);

impl PropertyValue for RulesNode {
    const KIND: PropertyKind = GOSS_RULES;

    fn decode(node: &Node, _: &mut Vec<Diagnostic>) -> Option<Self> {
        Some(Self(node.clone()))
    }
}

/// Health check, complete but for its rules, which have their own reader.
#[derive(Clone, Debug, PartialEq)]
pub struct HealthCheck {
    /// Name, unique in the resource.
    pub name: String,
    /// What is checked.
    pub subject: CheckSubject,
    /// Maximum number of tries for a resource that was not changed.
    pub tries: u32,
    /// Pause between two tries.
    pub try_sleep: Duration,
    /// Time limit, if one is given.
    pub timeout: Option<Duration>,
    /// A failure leaves the refresh of the resource pending.
    pub retries_refresh: bool,
}

/// What a health check looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckSubject {
    /// Exit code and output of a command.
    Command(CheckCommand),
    /// Rules of Goss, as they are written.
    Rules(Node),
}

/// Command of a health check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckCommand {
    /// The command as it is written.
    pub text: String,
    /// Program and arguments, or text for a shell.
    pub line: WrittenLine,
    /// Location.
    pub span: Span,
}

impl HealthCheck {
    /// Reads the checks of a resource, or returns every error. Rules are not read.
    pub fn read_all(node: &Node) -> Result<Vec<Self>, Vec<Diagnostic>> {
        Self::read_in(node, "")
    }

    /// Reads the checks, with errors at their places in the text of the source.
    fn read_in(node: &Node, source_text: &str) -> Result<Vec<Self>, Vec<Diagnostic>> {
        let Some(elements) = node.as_list() else { return Err(vec![expected("a list", node)]) };
        let (mut checks, mut errors) = (Vec::with_capacity(elements.len()), Vec::new());
        let mut names = HashSet::new();
        for element in elements {
            let Some(map) = element.as_map() else {
                let error = expected("a map", element);
                let is_command = element.as_text().is_some();
                let hint = is_command.then(|| "write the command behind `command: `".to_owned());
                errors.push(hint.into_iter().fold(error, Diagnostic::with_hint));
                continue;
            };
            let before = errors.len();
            let written = decode_record::<HealthCheckProperties>(element, &mut errors);
            let subject = subject(element, map, source_text, &mut errors);
            if let (Some(written), Some(subject), true) = (written, subject, errors.len() == before) {
                checks.extend(Self::named(written, subject, &mut names, &mut errors));
            }
        }
        if errors.is_empty() { Ok(checks) } else { Err(errors) }
    }

    fn named(
        written: HealthCheckProperties,
        subject: CheckSubject,
        names: &mut HashSet<String>,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let name = match written.name {
            Some(Located { value, span }) if names.contains(&value) => {
                let message = format!("a health check `{}` exists already", escape_control(&value));
                let error = Diagnostic::error(DiagnosticKind::Conflict, span, message);
                errors.push(error.with_hint("give each check of a resource a name of its own"));
                return None;
            }
            Some(name) => name.value,
            None => {
                let usual = subject.usual_name();
                let further = (2..).map(|number| format!("{usual} ({number})"));
                std::iter::once(usual.clone()).chain(further).find(|name| !names.contains(name))?
            }
        };
        names.insert(name.clone());
        Some(Self {
            name,
            subject,
            tries: written.tries.map_or(1, |tries| u32::try_from(tries.0).unwrap_or(1)),
            try_sleep: written.try_sleep.unwrap_or(DEFAULT_TRY_SLEEP),
            timeout: written.timeout.map(|timeout| timeout.0),
            retries_refresh: written.on_failure == Some(OnFailure::RetryRefresh),
        })
    }

    /// Returns the commands of checks without errors, for a policy. They run on this machine, as the user who runs ccm.
    pub fn commands(node: &Node) -> Vec<WrittenCommand> {
        let checks = Self::read_all(node).unwrap_or_default();
        let commands = checks.iter().filter_map(|check| check.subject.command());
        let written = commands.map(|command| WrittenCommand {
            span: command.span,
            subject: CommandSubject {
                line: command.line.clone(),
                directory: "/".to_owned(),
                environment: Vec::new(),
                input: None,
                place: CommandPlace::Host,
            },
            properties: &[],
        });
        written.collect()
    }

    /// Returns the texts that a shell will read.
    pub fn shell_texts(node: &Node) -> impl Iterator<Item = &Node> {
        let maps = node.as_list().unwrap_or_default().iter().filter_map(Node::as_map);
        let of_shell = maps.filter(|map| {
            map.get("provider").and_then(Node::as_text).and_then(CheckProvider::parse)
                == Some(CheckProvider::Shell)
        });
        of_shell.flat_map(|map| ["command", "nagios"].into_iter().filter_map(|name| map.get(name))).filter(
            // Another text has its error already.
            |node| node.as_text().is_some_and(|text| !text.trim().is_empty()),
        )
    }

    /// Finds every error and warning in the checks of a resource, but for those in its rules.
    pub fn check_all(node: &Node, source_text: &str, secrets: &[String]) -> Vec<Diagnostic> {
        let checks = match Self::read_in(node, source_text) {
            Ok(checks) => checks,
            Err(errors) => return errors,
        };
        let commands = checks.iter().filter_map(|check| check.subject.command());
        commands.flat_map(|command| command.warnings(source_text, secrets)).collect()
    }
}

impl CheckSubject {
    /// Returns the command.
    pub fn command(&self) -> Option<&CheckCommand> {
        match self {
            Self::Command(command) => Some(command),
            Self::Rules(_) => None,
        }
    }

    /// Returns the name of a check that has none: that of its program, without the directory.
    fn usual_name(&self) -> String {
        let program = match self {
            Self::Rules(_) => "goss",
            Self::Command(CheckCommand { line: WrittenLine::Shell(_), .. }) => "shell",
            Self::Command(CheckCommand { line: WrittenLine::Words(words), .. }) => {
                let program = words.first().map_or("", String::as_str);
                program.rsplit('/').next().unwrap_or(program)
            }
        };
        program.to_owned()
    }
}

impl CheckCommand {
    fn warnings(&self, source_text: &str, secrets: &[String]) -> Vec<Diagnostic> {
        let node = Node::text(&*self.text, self.span);
        let mut warnings = Vec::new();
        if secrets.iter().any(|secret| self.text.contains(secret)) {
            let message = "this health check holds a sensitive value, which every user can read in the list of processes while its \
                           command runs";
            let warning = Diagnostic::warning(DiagnosticKind::ExposedSecret, self.span, message);
            warnings.push(warning.with_hint("let the command read the value from a file"));
        }
        let found = match self.line {
            WrittenLine::Words(_) => shell_syntax(&self.text).filter(|found| !found.kind.needs_shell()),
            WrittenLine::Shell(_) => None,
        };
        if let Some(found) = found {
            let shown = self.text.get(found.range.clone()).map(escape_control).unwrap_or_default();
            let message = match found.kind {
                ShellSyntaxKind::LineEnd => "these lines are one command to the posix provider".to_owned(),
                _ => format!("`{shown}` is plain text to the posix provider"),
            };
            let span = node.locate(source_text, found.range.start, found.range.end);
            let hint = format!("add `provider: shell` if a shell should read this text, or {LITERAL}");
            warnings.push(Diagnostic::warning(DiagnosticKind::NoEffect, span, message).with_hint(hint));
        }
        warnings
    }
}

/// Reads what a check looks at, or finds every error in it.
fn subject(
    element: &Node,
    map: &NodeMap,
    source_text: &str,
    errors: &mut Vec<Diagnostic>,
) -> Option<CheckSubject> {
    let given = |name: &str| map.entry(name).filter(|entry| !entry.value.is_null());
    let mut subjects = SUBJECTS.into_iter().filter_map(|name| Some((name, given(name)?)));
    let Some((name, entry)) = subjects.next() else {
        // An unknown key may stand for the command.
        if map.entries().iter().all(|entry| is_known(&entry.key.text)) {
            let message = "this health check has nothing to check";
            let error = Diagnostic::error(DiagnosticKind::Missing, element.span, message);
            errors.push(error.with_hint("write its `command`, or `goss_rules`"));
        }
        return None;
    };
    let others: Vec<_> = subjects.collect();
    for (other, entry) in &others {
        let message = format!("`{name}` and `{other}` are both given");
        let error = Diagnostic::error(DiagnosticKind::Conflict, entry.key.span, message);
        errors.push(error.with_hint("keep one of them, or write two health checks"));
    }
    if !others.is_empty() {
        return None;
    }
    let provider = given("provider");
    if name == "goss_rules" {
        if let Some(provider) = provider {
            let message = "`provider` has no meaning for `goss_rules`";
            errors.push(
                Diagnostic::error(DiagnosticKind::Conflict, provider.key.span, message)
                    .with_hint("leave it out"),
            );
        }
        return Some(CheckSubject::Rules(entry.value.clone()));
    }
    let provider = provider.and_then(|entry| CheckProvider::parse(entry.value.as_text()?));
    command(name, entry, provider.unwrap_or_default(), source_text, errors).map(CheckSubject::Command)
}

fn is_known(key: &str) -> bool {
    HealthCheckProperties::PROPERTIES.iter().any(|property| property.name == key)
}

fn command(
    property: &'static str,
    entry: &NodeEntry,
    provider: CheckProvider,
    source_text: &str,
    errors: &mut Vec<Diagnostic>,
) -> Option<CheckCommand> {
    let node = &entry.value;
    // Another kind of value has its error already.
    let text = node.as_text()?;
    let mut refuse = |kind, span, message: String, hint: String| {
        let mut error = Diagnostic::error(kind, span, message).with_hint(hint);
        error.property = Some(property.into());
        errors.push(error);
        None
    };
    if text.trim().is_empty() {
        let hint = "write a command such as `curl -fsS http://localhost/`".to_owned();
        return refuse(DiagnosticKind::Missing, node.span, format!("`{property}` is empty"), hint);
    }
    let line = match provider {
        CheckProvider::Shell => WrittenLine::Shell(text.to_owned()),
        CheckProvider::Posix => match split_words(text) {
            Ok(words) => WrittenLine::Words(words),
            Err(error) => {
                let hint = match error.kind {
                    SplitErrorKind::Backslash => "write `\\\\` for a backslash",
                    _ => "close the quote, or put a backslash before it",
                };
                let span = node.locate(source_text, error.at, error.at + 1);
                let message = format!("`{property}` can't be split into words: {error}");
                return refuse(DiagnosticKind::Syntax, span, message, hint.to_owned());
            }
        },
    };
    let needs_shell = |found: &ccm_model::ShellSyntax| found.kind.needs_shell();
    if provider == CheckProvider::Posix
        && let Some(found) = shell_syntax(text).filter(needs_shell)
    {
        // The value may be a secret.
        let shown = text.get(found.range.clone()).unwrap_or_default();
        let shown = match found.kind {
            ShellSyntaxKind::Assignment => shown.split_inclusive('=').take(1).collect::<String>() + "…",
            _ => escape_control(shown).into_owned(),
        };
        let message =
            format!("`{shown}` needs a shell, and the posix provider starts the program without one");
        let span = node.locate(source_text, found.range.start, found.range.end);
        let hint = format!("add `provider: shell` to the health check, or {LITERAL}");
        return refuse(DiagnosticKind::Syntax, span, message, hint);
    }
    Some(CheckCommand { text: text.to_owned(), line, span: node.span })
}
