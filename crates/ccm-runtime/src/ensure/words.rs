//! Words of a command line that declare a resource.

use ccm_data::interpolation::{SplitText, TextPart, split};
use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, SourceId, Span, quote_words,
};
use ccm_properties::{CommonProperty, HEALTH_CHECKS, PropertySpec, SENSITIVE, TypeSpec};

use super::DeclaredResource;
use super::assigned_value::{AssignmentFault, assign};
use super::options::{OptionTarget, flag_words, target};
use super::tree::{WrittenName, manifest_of, record_name};

/// Words that mean noop, as they do for `ccm apply`.
const NOOP: &str = "check";

/// Words of a command line behind the options of the run.
#[derive(Clone, Debug)]
pub struct DeclaredWords {
    /// The type.
    pub type_name: String,
    /// The name, the state and the options of the resource.
    pub words: Vec<String>,
    /// Returns the options of the run, without dashes, which stand before the type. Only errors need them.
    pub run_options: fn() -> Vec<String>,
}

/// Returns `true` if words that declare a resource of a type ask for the help. The value of an option does not.
pub fn asks_for_help(type_name: &str, words: &[String]) -> bool {
    let spec = ccm_resources::types().into_iter().find(|found| found.name() == type_name);
    let spec = spec.map(|found| found as &dyn TypeSpec);
    let takes_value = |option: &str| match target(spec, option) {
        Some(OptionTarget::Property(property)) => flag_words(&property.kind).is_none(),
        Some(_) => true,
        None => false,
    };
    let mut is_value = false;
    for word in words {
        let option = word.strip_prefix("--");
        if word == "--help" || (word == "-h" && !is_value) {
            return true;
        }
        is_value = option.is_some_and(takes_value);
    }
    false
}

/// Returns `true` if words that declare a resource ask for noop.
pub fn asks_for_noop(words: &[String]) -> bool {
    words.iter().skip(1).any(|word| word.strip_prefix("--") == Some(NOOP))
}

/// A word with its place in the command line.
#[derive(Clone, Debug)]
struct WrittenWord {
    text: String,
    span: Span,
}

/// An option with its value.
struct GivenOption {
    name: String,
    span: Span,
    value: WrittenWord,
    target: Option<OptionTarget>,
}

/// A command line: its text, and its words in it.
struct CommandLine {
    text: String,
    type_name: WrittenName,
    words: Vec<WrittenWord>,
}

impl CommandLine {
    fn of(given: &DeclaredWords) -> Self {
        let mut text = "ccm ensure".to_owned();
        let mut add = |word: &str| {
            text.push(' ');
            let start = text.len();
            text += &shown_word(word);
            Span::new(SourceId::default(), start, text.len())
        };
        let type_name = WrittenName { span: add(&given.type_name), text: given.type_name.clone() };
        let words = given.words.iter().map(|word| WrittenWord { span: add(word), text: word.clone() });
        let words = words.collect();
        Self { text, type_name, words }
    }
}

impl DeclaredWords {
    /// Returns the text of the command line, and the resource that it declares or the errors in its words.
    pub(super) fn declare(
        &self,
        specs: &[&'static dyn TypeSpec],
    ) -> (String, Result<DeclaredResource, Vec<Diagnostic>>) {
        let spec = specs.iter().copied().find(|spec| spec.name() == self.type_name);
        let line = CommandLine::of(self);
        let mut reader = WordReader { spec, given: self, faults: Vec::new() };
        let declared = reader.declare(&line);
        let WordReader { faults, .. } = reader;
        let text = line.text;
        if !faults.is_empty() {
            return (text, Err(faults));
        }
        let (root, name) = declared;
        let declared = DeclaredResource {
            text_name: super::COMMAND_LINE.to_owned(),
            text: text.as_str().into(),
            root,
            record_name: record_name(&self.type_name, &name),
        };
        (text, Ok(declared))
    }
}

struct WordReader<'a> {
    /// `None` for a type that does not exist, which is reported when the resource is loaded.
    spec: Option<&'a dyn TypeSpec>,
    given: &'a DeclaredWords,
    faults: Vec<Diagnostic>,
}

impl WordReader<'_> {
    fn declare(&mut self, line: &CommandLine) -> (Node, String) {
        let mut words = line.words.iter().peekable();
        let name = words.next_if(|word| self.spec.is_none() || !word.text.starts_with("--"));
        let name = if let Some(name) = name {
            WrittenName { text: name.text.clone(), span: name.span }
        } else {
            let span = line.type_name.span;
            self.fault(DiagnosticKind::Missing, span, "the name of the resource is missing");
            line.type_name.clone()
        };
        let ensure = words.next_if(|word| !word.text.starts_with('-'));
        let options = self.options(words);
        let mut properties = NodeMap::default();
        if let Some(ensure) = ensure {
            let key = NodeKey { text: CommonProperty::Ensure.spec().name.into(), span: ensure.span };
            properties.push(NodeEntry { key, value: Node::text(&*ensure.text, ensure.span) });
        }
        let is_sensitive =
            options.iter().any(|option| option.name == SENSITIVE && option.value.text == "true");
        let mut checks = HealthCheckOptions::default();
        for option in options {
            self.add(&mut properties, &mut checks, option, is_sensitive);
        }
        match checks.into_entry() {
            Ok(entry) => entry.into_iter().for_each(|entry| properties.push(entry)),
            Err(span) => {
                self.fault(
                    DiagnosticKind::Missing,
                    span,
                    "there is no health check that this option could be of",
                );
                self.hint("write `--health-check COMMAND` as well");
            }
        }
        (manifest_of(&line.type_name, &name, properties), name.text)
    }

    /// Reads the words behind the state as options with their values.
    fn options<'w>(
        &mut self,
        mut words: std::iter::Peekable<impl Iterator<Item = &'w WrittenWord>>,
    ) -> Vec<GivenOption> {
        let mut options = Vec::new();
        while let Some(word) = words.next() {
            let Some(written) = word.text.strip_prefix("--").filter(|written| !written.is_empty()) else {
                self.stray(word);
                continue;
            };
            let (name, value) = match written.split_once('=') {
                Some((name, value)) => (name, Some(WrittenWord { text: value.to_owned(), span: word.span })),
                None => (written, None),
            };
            if name == NOOP && value.is_none() {
                if words.next_if(|next| !next.text.starts_with("--")).is_some() {
                    self.fault(
                        DiagnosticKind::InvalidValue,
                        word.span,
                        "`--check` has no value: it means noop",
                    );
                    self.hint("write `--health-check COMMAND` for a health check");
                }
                continue;
            }
            let target = target(self.spec, name);
            let flag_words = match target {
                Some(OptionTarget::Property(property)) => flag_words(&property.kind),
                _ => None,
            };
            if target.is_none() && (self.given.run_options)().iter().any(|option| option == name) {
                self.fault(
                    DiagnosticKind::Misplaced,
                    word.span,
                    format!("`--{name}` is an option of the run"),
                );
                self.hint(format!(
                    "write it before the type: `ccm ensure --{name} {} …`",
                    self.given.type_name
                ));
                words.next_if(|next| !next.text.starts_with("--"));
                continue;
            }
            let value = value.or_else(|| {
                if let Some(known) = flag_words {
                    let is_value = |text: &str| known.contains(&text) || !is_literal(text);
                    let given = words.next_if(|next| is_value(&next.text)).cloned();
                    return given.or_else(|| Some(WrittenWord { text: "true".to_owned(), span: word.span }));
                }
                words.next_if(|next| !next.text.starts_with("--")).cloned()
            });
            match value {
                Some(value) => {
                    options.push(GivenOption { name: name.to_owned(), span: word.span, value, target });
                }
                None if target.is_none() => {
                    let value = WrittenWord { text: "true".to_owned(), span: word.span };
                    options.push(GivenOption { name: name.to_owned(), span: word.span, value, target });
                }
                None => {
                    self.fault(DiagnosticKind::Missing, word.span, format!("`--{name}` needs a value"));
                    if words.peek().is_some() {
                        self.hint(format!("write `--{name}=VALUE` for a value that begins with `--`"));
                    }
                }
            }
        }
        options
    }

    /// Reports a word that is neither an option nor the value of one.
    fn stray(&mut self, word: &WrittenWord) {
        let is_option = word.text.starts_with('-');
        self.fault(DiagnosticKind::Misplaced, word.span, "this word belongs to no option");
        if is_option {
            self.hint(format!(
                "write options of the run before the type: `ccm ensure … {} …`",
                self.given.type_name
            ));
        } else {
            self.hint("quote a value with blanks, and write the state directly behind the name");
        }
    }

    fn add(
        &mut self,
        properties: &mut NodeMap,
        checks: &mut HealthCheckOptions,
        option: GivenOption,
        is_sensitive: bool,
    ) {
        let GivenOption { name, span, value, target } = option;
        match target {
            Some(OptionTarget::HealthCheck(property)) => checks.add(property, span, &value),
            Some(OptionTarget::Condition(condition)) => {
                let control = CommonProperty::Control.spec();
                let text = format!("{condition}={}", value.text);
                let entry = WrittenWord { text, span: value.span };
                self.assign(properties, control, (&name, span), &entry);
            }
            Some(OptionTarget::Property(property)) => {
                if (property.secret || (property.sensitive && is_sensitive)) && is_literal(&value.text) {
                    self.fault(
                        DiagnosticKind::ExposedSecret,
                        span,
                        format!(
                            "`{}` is secret, and everybody on this machine can read a command line",
                            property.name
                        ),
                    );
                    self.hint(format!(
                        "write `--{name} '{{{{ credential(\"NAME\") }}}}'`, or `'{{{{ file(\"/PATH\") }}}}'`"
                    ));
                    return;
                }
                self.assign(properties, property, (&name, span), &value);
            }
            None => {
                let key = NodeKey { text: name.replace('-', "_").into(), span };
                if properties.entry(&key.text).is_none() {
                    properties.push(NodeEntry { key, value: Node::text(value.text, value.span) });
                }
            }
        }
    }

    /// Adds the value of an option to a property.
    fn assign(
        &mut self,
        properties: &mut NodeMap,
        property: &'static PropertySpec,
        (option, span): (&str, Span),
        value: &WrittenWord,
    ) {
        let present = properties.take(property.name);
        let key =
            present.as_ref().map_or(NodeKey { text: property.name.into(), span }, |entry| entry.key.clone());
        let first = present.as_ref().map(|entry| entry.key.span);
        let fault = match assign(&property.kind, present.map(|entry| entry.value), &value.text, value.span) {
            Ok(value) => {
                properties.push(NodeEntry { key, value });
                return;
            }
            Err(fault) => fault,
        };
        match fault {
            AssignmentFault::GivenTwice => {
                self.fault(DiagnosticKind::DuplicateKey, span, format!("`--{option}` is given twice"));
                if let (Some(first), Some(fault)) = (first, self.faults.last_mut()) {
                    *fault = fault.clone().with_label(first, "the first");
                }
            }
            AssignmentFault::NoEquals => {
                self.fault(
                    DiagnosticKind::Syntax,
                    value.span,
                    format!("`--{option}` has no `=` between key and value"),
                );
                self.hint(format!("write `--{option} KEY=VALUE`, once for each key"));
            }
            AssignmentFault::InvalidKey => {
                self.fault(
                    DiagnosticKind::Syntax,
                    value.span,
                    format!("the key of `--{option}` is empty or too deep"),
                );
                self.hint(format!("write `--{option} KEY=VALUE`"));
            }
        }
    }

    fn fault(&mut self, kind: DiagnosticKind, span: Span, message: impl Into<String>) {
        self.faults.push(Diagnostic::error(kind, span, message));
    }

    /// Adds a hint to the last error.
    fn hint(&mut self, hint: impl Into<String>) {
        if let Some(last) = self.faults.pop() {
            self.faults.push(last.with_hint(hint));
        }
    }
}

/// Options of health checks. What is no command is of all checks.
#[derive(Default)]
struct HealthCheckOptions {
    commands: Vec<NodeEntry>,
    of_all: Vec<NodeEntry>,
}

impl HealthCheckOptions {
    fn add(&mut self, property: &'static PropertySpec, span: Span, value: &WrittenWord) {
        let Ok(node) = assign(&property.kind, None, &value.text, value.span) else { return };
        let entry = NodeEntry { key: NodeKey { text: property.name.into(), span }, value: node };
        if property.name == "command" { self.commands.push(entry) } else { self.of_all.push(entry) }
    }

    /// Returns the property with the checks, or the place of an option without a check.
    fn into_entry(self) -> Result<Option<NodeEntry>, Span> {
        let Some(first) = self.commands.first() else {
            return self.of_all.first().map_or(Ok(None), |option| Err(option.key.span));
        };
        let span = first.key.span;
        let checks = self.commands.into_iter().map(|command| {
            let span = command.value.span;
            let entries = std::iter::once(command).chain(self.of_all.iter().cloned()).collect();
            Node { value: NodeValue::Map(NodeMap::new(entries)), span }
        });
        let value = Node { value: NodeValue::List(checks.collect()), span };
        Ok(Some(NodeEntry { key: NodeKey { text: HEALTH_CHECKS.into(), span }, value }))
    }
}

/// Returns a word with the quotes that it needs. One with line ends is written in one line, as bash reads it.
fn shown_word(word: &str) -> String {
    if !word.chars().any(char::is_control) {
        return quote_words([word]);
    }
    let escape = |character: char| match character {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{character}"),
        other if other.is_control() => format!("\\x{:02x}", u32::from(other)),
        other => other.to_string(),
    };
    format!("$'{}'", word.chars().map(escape).collect::<String>())
}

/// Returns `true` for a text without an expression.
fn is_literal(text: &str) -> bool {
    match split(text, false) {
        SplitText::Parts(parts) => !parts.iter().any(|part| matches!(part, TextPart::Expression { .. })),
        _ => true,
    }
}
