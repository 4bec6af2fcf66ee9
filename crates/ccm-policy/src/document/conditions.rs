//! Values of rules: what a rule matches, lifts and asks for.

use std::time::Duration;

use ccm_model::{
    Diagnostic, DiagnosticKind, Glob, GlobKind, Node, Scalar, ScalarKind, ScalarStyle, escape_control,
};
use ccm_properties::{
    Integer, OneOrMany, PositiveDuration, PropertyKind, PropertyValue, Text, TextKind, TextValue, ValueError,
    expected, section,
};

use super::given;
use super::mistaken_globs::program_warning;
use crate::condition::{RuleCondition, RuleConditionError};
use crate::guard_class::GuardClass;
use crate::rule::{ApprovalConditions, ApproverSet, ArgumentPattern, Grant, OptionPattern};

const MAX_GRANT: Duration = Duration::from_secs(8 * 3600);

fn parse_glob(text: &str, kind: GlobKind) -> Result<Glob, ValueError> {
    let (reason, hint) = match Glob::parse(text, kind) {
        Ok(glob) if kind == GlobKind::Text || glob.begins_at_root() => return Ok(glob),
        Ok(_) => (
            "a path begins with `/` or `**`".to_owned(),
            "write the path from `/` on; `~` and variables are not expanded".to_owned(),
        ),
        Err(error) => (error.to_string(), error.hint()),
    };
    let message = format!("`{}` is not a glob: {reason}", escape_control(text));
    Err(ValueError::new(message).with_hint(hint))
}

/// Declares globs of a kind of text, each with its check.
macro_rules! globs {
    ($($(#[doc = $line:literal])* $name:ident($kind:expr, $check:expr);)*) => {$(
        $(#[doc = $line])*
        #[derive(Debug)]
        pub(crate) struct $name(pub Glob);

        impl TextValue for $name {
            const KIND: PropertyKind = PropertyKind::Text($kind);

            fn from_text(text: &str) -> Result<Self, ValueError> {
                let check: fn(&str) -> Result<Glob, ValueError> = $check;
                String::from_text(text).and_then(|text| check(&text)).map(Self)
            }
        }
    )*};
}

globs! {
    /// Name of a program, or its absolute path.
    ProgramGlob(TextKind::FILLED, program_glob);
    /// Absolute path.
    PathGlob(TextKind::STRICT.matching("^[/*{]"), path_glob);
    /// Resource such as `service#nginx`.
    ResourceGlob(TextKind::STRICT.matching("#"), resource_glob);
}

/// Name of a program, or its absolute path, or a list of them.
#[derive(Debug)]
pub(crate) struct ProgramGlobs(pub Vec<Glob>);

impl PropertyValue for ProgramGlobs {
    const KIND: PropertyKind = OneOrMany::<ProgramGlob>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let globs = OneOrMany::<ProgramGlob>::decode(node, errors)?;
        let nodes = node.as_list().unwrap_or(std::slice::from_ref(node));
        errors.extend(nodes.iter().filter_map(program_warning));
        Some(Self(globs.0.into_iter().map(|glob| glob.0).collect()))
    }
}

fn program_glob(text: &str) -> Result<Glob, ValueError> {
    if text.contains('/') {
        if !text.starts_with(['/', '*']) {
            let message = format!("`{}` is a relative path", escape_control(text));
            let hint = "write the name of the program, or its path from `/` on";
            return Err(ValueError::new(message).with_hint(hint));
        }
        return parse_glob(text, GlobKind::Path);
    }
    if let Some((program, arguments)) = text.split_once(char::is_whitespace) {
        let message = format!("`{}` is not the name of a program", escape_control(text));
        if text.contains(',') || arguments.trim().is_empty() {
            let names: Vec<&str> =
                text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).collect();
            let names = escape_control(&names.join(", ")).into_owned();
            let names = if names.contains(',') { format!("[{names}]") } else { names };
            return Err(ValueError::new(message).with_hint(format!("write `program: {names}`")));
        }
        let (program, arguments) = (escape_control(program), escape_control(arguments.trim()));
        let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(", ");
        let hint = format!("write `{{program: {program}, args: [{arguments}, \"**\"]}}`");
        return Err(ValueError::new(message).with_hint(hint));
    }
    parse_glob(text, GlobKind::Text)
}

fn path_glob(text: &str) -> Result<Glob, ValueError> {
    let refused = |message: &str, hint: String| {
        let message = format!("`{}` never matches: {message}", escape_control(text));
        Err(ValueError::new(message).with_hint(hint))
    };
    if text.split('/').any(|part| matches!(part, "." | "..")) {
        return refused("paths of effects have no `.` and `..`", "write the path without them".to_owned());
    }
    match text.trim_end_matches('/') {
        directory if !directory.is_empty() && directory.len() < text.len() => {
            let directory = escape_control(directory);
            let hint = format!("write `{directory}/**` for what is below it, or `{directory}` for itself");
            refused("a path does not end with `/`", hint)
        }
        _ => parse_glob(text, GlobKind::Path),
    }
}

fn resource_glob(text: &str) -> Result<Glob, ValueError> {
    if !text.contains('#') {
        let message = format!("`{}` is not a resource", escape_control(text));
        return Err(ValueError::new(message).with_hint("write type and name: `service#nginx`"));
    }
    parse_glob(text, GlobKind::Text)
}

impl PropertyValue for ArgumentPattern {
    const KIND: PropertyKind = PropertyKind::TEXT;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        // An empty argument is an argument.
        let text = Text::decode(node, errors)?;
        if &*text == "**" {
            return Some(Self::Rest);
        }
        if &*text == "..." && node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Plain) {
            let error = ValueError::new("`...` does not stand for further arguments").with_hint(
                "write `\"**\"` for any number of arguments, or `\"...\"` for the argument itself",
            );
            errors.push(error.at(node.span));
            return None;
        }
        if let Some((first, _)) = text.split_once(' ').filter(|(first, _)| !first.is_empty())
            && !text.contains('*')
        {
            let message = format!("this is one argument with a blank in it: `{}`", escape_control(&text));
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message);
            let words = text.split_whitespace().map(escape_control).collect::<Vec<_>>().join(", ");
            let first = escape_control(first);
            let hint = format!("if `{first}` is an argument of its own, write `{words}`");
            errors.push(warning.with_hint(hint));
        }
        parse_glob(&text, GlobKind::Text)
            .map(Self::Word)
            .map_err(|error| errors.push(error.at(node.span)))
            .ok()
    }
}

/// Options with globs of their values.
#[derive(Debug)]
pub(crate) struct OptionPatterns(pub Vec<OptionPattern>);

impl PropertyValue for OptionPatterns {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: Some("^-[^=]+$"),
        values: &PropertyKind::Text(TextKind {
            types: &["string", "number", "boolean", "null"],
            ..TextKind::ANY
        }),
        min: 0,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            let first = node.as_list().map_or(Some(node), <[Node]>::first).and_then(Node::as_text);
            let option = first.filter(|option| option.starts_with('-') && !option.contains(['=', ' ']));
            let option = escape_control(option.unwrap_or("--context")).into_owned();
            let hint =
                format!("write `option: {{{option}: null}}`, or a glob of its value in place of `null`");
            errors.push(expected("options with globs of their values", node).with_hint(hint));
            return None;
        };
        let mut options = Vec::new();
        for entry in map.entries() {
            let name = &*entry.key.text;
            if !name.starts_with('-') || name.len() < 2 || name.contains('=') {
                let error = ValueError::new(format!("`{}` is not an option", escape_control(name)));
                errors.push(
                    error.with_hint("write the option with its dashes: `--context`").at(entry.key.span),
                );
                continue;
            }
            let mut option = OptionPattern { name: name.to_owned(), value: None };
            if !entry.value.is_null() {
                let Some(text) = String::decode(&entry.value, errors) else { continue };
                match parse_glob(&text, GlobKind::Text) {
                    Ok(glob) => option.value = Some(glob),
                    Err(error) => errors.push(error.at(entry.value.span)),
                }
            }
            options.push(option);
        }
        Some(Self(options))
    }
}

/// Guard classes that a rule lifts.
#[derive(Debug)]
pub(crate) struct LiftedClasses(pub Vec<GuardClass>);

impl PropertyValue for LiftedClasses {
    const KIND: PropertyKind = PropertyKind::List(&PropertyKind::Words(GuardClass::LIFTABLE));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        if matches!(node.as_scalar().map(Scalar::kind), Some(ScalarKind::Bool(_))) {
            let message = "`allow` needs the guard classes that the rule lifts";
            let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
            let hint = "write the classes as `ccm policy explain` shows them: `allow: [publish]`";
            errors.push(error.with_hint(hint));
            return None;
        }
        let Some(list) = node.as_list() else {
            errors.push(expected("a list of guard classes", node));
            return None;
        };
        if list.is_empty() {
            let message = "`allow` names no guard class";
            errors.push(Diagnostic::error(DiagnosticKind::Missing, node.span, message));
        }
        let mut classes = Vec::new();
        for node in list {
            let Some(class) = GuardClass::decode(node, errors) else { continue };
            let advice = match class {
                GuardClass::OutsideWorkspace => "set `restrict: false` below `workspace`",
                _ if class.is_unreadable() => "write the command so that it can be read",
                _ => {
                    classes.push(class);
                    continue;
                }
            };
            let error = ValueError::new(format!("no rule can lift `{class}`")).with_hint(advice);
            errors.push(error.at(node.span));
        }
        Some(Self(classes))
    }
}

/// Conditions of the approval that a rule asks for; `true` for those of the policy.
#[derive(Debug)]
pub(crate) struct Ask(pub ApprovalConditions);

impl PropertyValue for Ask {
    const KIND: PropertyKind =
        PropertyKind::Either(&[PropertyKind::Words(&["true"]), ApprovalConditions::KIND]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let kind = match node.as_scalar().map(Scalar::kind) {
            None => return ApprovalConditions::decode(node, errors).map(Self),
            Some(ScalarKind::Bool(true)) => return Some(Self(ApprovalConditions::default())),
            Some(kind) => kind,
        };
        let error = expected("`true` or the conditions of an approval", node);
        let group = node.as_text().filter(|text| kind == ScalarKind::Text && !text.contains(' '));
        errors.push(match group {
            Some(group) if !matches!(group, "yes" | "true" | "always" | "final") => {
                error.with_hint(format!("write `ask: {{approvers: {}}}`", escape_control(group)))
            }
            _ => error.with_hint("write `ask: true`, or name the approvers: `ask: {approvers: ops}`"),
        });
        None
    }
}

impl PropertyValue for ApproverSet {
    const KIND: PropertyKind = PropertyKind::OneOrMany(&<String as TextValue>::KIND);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match node.as_list() {
            Some(_) => Vec::decode(node, errors).map(Self::Listed),
            None => String::decode(node, errors).map(Self::Group),
        }
    }
}

/// Number from 1 on.
#[derive(Debug)]
pub(crate) struct Count<const MAX: i64>(pub u32);

impl<const MAX: i64> PropertyValue for Count<MAX> {
    const KIND: PropertyKind = Integer::<1, MAX>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Integer(count) = Integer::<1, MAX>::decode(node, errors)?;
        Some(Self(u32::try_from(count).unwrap_or(u32::MAX)))
    }
}

section! {
    /// Several uses of one approval.
    #[derive(Debug, Default)]
    struct WrittenGrant = "a grant" {
        /// Number of uses, at most 1000.
        uses: Count<1000> as Option<u32> { required: true },
        /// Time for the uses, at most 8h.
        time: GrantTime as Option<Duration> { name: "for", required: true },
    }
}

/// Time for the uses of an approval.
#[derive(Debug)]
struct GrantTime(Duration);

impl TextValue for GrantTime {
    const KIND: PropertyKind = <PositiveDuration as TextValue>::KIND;

    const NOUN: &'static str = PositiveDuration::NOUN;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match PositiveDuration::from_text(text)? {
            PositiveDuration(time) if time <= MAX_GRANT => Ok(Self(time)),
            _ => Err(ValueError::new("a grant lasts at most 8h").with_hint("write a shorter time")),
        }
    }
}

impl PropertyValue for Grant {
    const KIND: PropertyKind = WrittenGrant::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let WrittenGrant { uses, time } = WrittenGrant::decode(node, errors)?;
        if given(node, "uses").is_none() || given(node, "for").is_none() {
            let message = "a grant needs `uses` and `for`";
            errors.push(Diagnostic::error(DiagnosticKind::Missing, node.span, message));
        }
        Some(Self { uses: uses?, time: time? })
    }
}

/// Expression of a rule. Its error is located with the text of the file.
#[derive(Debug)]
pub(crate) struct WrittenCondition {
    pub node: Node,
    pub parsed: Result<RuleCondition, RuleConditionError>,
}

impl PropertyValue for WrittenCondition {
    const KIND: PropertyKind = <String as TextValue>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let text = String::decode(node, errors)?;
        Some(Self { node: node.clone(), parsed: RuleCondition::parse(&text) })
    }
}
