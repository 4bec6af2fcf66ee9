//! Values of settings.

use std::collections::BTreeMap;
use std::time::Duration;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, SIZE_PATTERN, Span, escape_control, parse_duration, parse_size,
};
use ccm_properties::{PropertyKind, PropertyValue, TextKind, TextValue, ValueError, expected, section};

use super::settings::{BUILT_IN_PROFILES, PolicyProfile};

/// Absolute path without `.` and `..`.
#[derive(Debug)]
pub(crate) struct PolicyPath(pub String);

impl TextValue for PolicyPath {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ABSOLUTE_PATH);

    const NOUN: &'static str = "an absolute path";

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let is_plain = text.split('/').skip(1).all(|part| !matches!(part, "." | ".."));
        if !text.starts_with('/') || !is_plain {
            let message = format!("expected an absolute path without `..`, found `{}`", escape_control(text));
            return Err(ValueError::new(message).with_hint("write the path from `/` on"));
        }
        let trimmed = text.trim_end_matches('/');
        Ok(Self(if trimmed.is_empty() { "/" } else { trimmed }.to_owned()))
    }
}

/// List of absolute paths.
#[derive(Debug)]
pub(crate) struct Paths(pub Vec<String>);

impl PropertyValue for Paths {
    const KIND: PropertyKind = Vec::<PolicyPath>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let paths = Vec::<PolicyPath>::decode(node, errors)?;
        Some(Self(paths.into_iter().map(|path| path.0).collect()))
    }
}

/// Size in bytes above zero.
#[derive(Debug)]
pub(crate) struct ByteSize(pub u64);

impl TextValue for ByteSize {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::DIGITS.matching(SIZE_PATTERN));

    const NOUN: &'static str = "a size such as `256MiB`";

    fn from_text(text: &str) -> Result<Self, ValueError> {
        parse_size(text).filter(|size| *size > 0).map(Self).ok_or_else(|| {
            let message = format!("`{}` is not a size", escape_control(text));
            ValueError::new(message).with_hint("write a size such as `256MiB`")
        })
    }
}

/// Number of calls in a time.
#[derive(Debug)]
pub(crate) struct CallRate(pub (i64, Duration));

impl TextValue for CallRate {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("^\\s*[0-9]+\\s*/"));

    const NOUN: &'static str = "a number of calls in a time such as `60/1m`";

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let parsed = text.split_once('/').and_then(|(count, time)| {
            let count = count.trim().parse().ok().filter(|count| (1..=1_000_000).contains(count))?;
            let time = parse_duration(time.trim()).ok().filter(|time| !time.is_zero())?;
            Some(Self((count, time)))
        });
        parsed.ok_or_else(|| {
            let message = format!("expected a number of calls in a time, found `{}`", escape_control(text));
            ValueError::new(message).with_hint("write the number and the time, such as `60/1m`")
        })
    }
}

/// Users who may call tools. An empty list is refused: it would let every user call them.
#[derive(Debug)]
pub(crate) struct ToolUsers(pub Vec<String>);

impl PropertyValue for ToolUsers {
    const KIND: PropertyKind = Vec::<String>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let users: Vec<String> = Vec::decode(node, errors)?;
        if node.as_list().is_some_and(<[Node]>::is_empty) {
            let message = "`users` names nobody, and would let every user call the tools";
            let error = Diagnostic::error(DiagnosticKind::Missing, node.span, message);
            errors.push(error.with_hint("name the users, or remove `users` for every user"));
            return None;
        }
        Some(Self(users))
    }
}

/// Location of `required`, if manifests need a signature.
#[derive(Debug)]
pub(crate) struct SignatureLocation(pub Option<Span>);

impl PropertyValue for SignatureLocation {
    const KIND: PropertyKind = PropertyKind::Words(&["required", "optional"]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match node.as_text() {
            Some("required") => return Some(Self(Some(node.span))),
            Some("optional") => return Some(Self(None)),
            Some(text) => errors.push(ValueError::not_one_of(text, &["required", "optional"]).at(node.span)),
            None => errors.push(expected("`required` or `optional`", node)),
        }
        None
    }
}

/// Groups of approvers, by name.
#[derive(Debug)]
pub(crate) struct ApproverGroups(pub BTreeMap<String, Vec<String>>);

impl PropertyValue for ApproverGroups {
    const KIND: PropertyKind =
        PropertyKind::Map { keys: None, values: &<Vec<String> as PropertyValue>::KIND, min: 0 };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.push(expected("groups of approvers by name", node));
            return None;
        };
        let mut groups = BTreeMap::new();
        for group in map.entries() {
            let mut names = Vec::new();
            if group.value.as_list().is_none() {
                errors.push(expected("a list of approvers", &group.value));
            } else if group.value.as_list().is_some_and(<[Node]>::is_empty) {
                let message = format!("group `{}` has no member", escape_control(&group.key.text));
                errors.push(Diagnostic::error(DiagnosticKind::Missing, group.key.span, message));
            } else {
                names.extend(Vec::<String>::decode(&group.value, errors).unwrap_or_default());
            }
            names.sort();
            names.dedup();
            groups.insert(group.key.text.to_string(), names);
        }
        Some(Self(groups))
    }
}

/// Programs that a sandbox may start.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ProgramSet {
    /// Programs that the analysis of the command found.
    #[default]
    Analysed,
    /// Every program.
    Any,
    /// These programs.
    Listed(Vec<String>),
}

impl ProgramSet {
    const WORDS: &[&str] = &["analysed", "any"];
}

impl PropertyValue for ProgramSet {
    const KIND: PropertyKind = PropertyKind::Either(&[PropertyKind::Words(Self::WORDS), Paths::KIND]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        if node.as_list().is_some() {
            return Paths::decode(node, errors).map(|paths| Self::Listed(paths.0));
        }
        match node.as_text() {
            Some("analysed") => return Some(Self::Analysed),
            Some("any") => return Some(Self::Any),
            Some(text) => errors.push(ValueError::not_one_of(text, Self::WORDS).at(node.span)),
            None => errors.push(expected("`analysed`, `any` or a list of paths", node)),
        }
        None
    }
}

/// Sandbox profiles of a policy, by name.
#[derive(Debug)]
pub(crate) struct PolicyProfiles(pub BTreeMap<String, PolicyProfile>);

impl PropertyValue for PolicyProfiles {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: None,
        values: &PropertyKind::Either(&[PolicyProfile::KIND, PropertyKind::Text(TextKind::NULL)]),
        min: 0,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.push(expected("sandbox profiles by name", node));
            return None;
        };
        let mut profiles = BTreeMap::new();
        for entry in map.entries() {
            let name = &*entry.key.text;
            if BUILT_IN_PROFILES.contains(&name) {
                let message = format!("`{name}` is a profile of ccm and can't be changed");
                let error = Diagnostic::error(DiagnosticKind::ReservedName, entry.key.span, message);
                errors.push(error.with_hint("give the profile a name of its own"));
                continue;
            }
            let given = Some(&entry.value).filter(|value| !value.is_null());
            let profile = given.and_then(|value| PolicyProfile::decode(value, errors));
            profiles.insert(name.to_owned(), profile.unwrap_or_default());
        }
        Some(Self(profiles))
    }
}

section! {
    /// File that receives seals.
    #[derive(Debug, Default)]
    struct FileReceiver = "a file that receives seals" {
        /// Absolute path.
        file: PolicyPath as String { required: true },
    }
}

section! {
    /// Command that receives seals.
    #[derive(Debug, Default)]
    struct CommandReceiver = "a command that receives seals" {
        /// Program and its arguments.
        command: Vec<String> { required: true, noun: Some("a list of a program and its arguments") },
    }
}

/// Receiver of the seals of the audit log.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditReceiver {
    /// The system's journal.
    Journald,
    /// A file.
    File(String),
    /// A command.
    Command(Vec<String>),
}

impl PropertyValue for AuditReceiver {
    const KIND: PropertyKind = PropertyKind::Either(&[
        PropertyKind::Words(&["journald"]),
        FileReceiver::KIND,
        CommandReceiver::KIND,
    ]);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let key = match node.as_map().map(ccm_model::NodeMap::entries) {
            Some([entry]) if !entry.value.is_null() => Some(&*entry.key.text),
            _ => None,
        };
        match (node.as_text(), key) {
            (Some("journald"), _) => Some(Self::Journald),
            (_, Some("file")) => FileReceiver::decode(node, errors).map(|receiver| Self::File(receiver.file)),
            (_, Some("command")) => {
                let before = errors.len();
                let command = CommandReceiver::decode(node, errors)?.command;
                if command.is_empty() && errors.len() == before {
                    errors.push(expected("a program and its arguments", node));
                }
                Some(Self::Command(command))
            }
            _ => {
                errors.push(expected("`journald`, `{file: PATH}` or `{command: [PROGRAM]}`", node));
                None
            }
        }
    }
}

/// Version of the format. Errors in it are reported.
#[derive(Debug)]
pub(crate) struct FormatVersion;

impl PropertyValue for FormatVersion {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(1), max: Some(1) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let written = node.as_scalar().map(ccm_model::Scalar::kind);
        match written {
            Some(ccm_model::ScalarKind::Int(1)) => {}
            Some(ccm_model::ScalarKind::Int(version)) => {
                let message = format!("version {version} of the policy format is not supported");
                let error = Diagnostic::error(DiagnosticKind::Unsupported, node.span, message);
                errors.push(error.with_hint("write `ccm_policy: 1`, or use a newer ccm"));
            }
            _ => errors.push(expected("the version 1", node)),
        }
        Some(Self)
    }
}

/// Value of a setting that has no effect any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetiredSetting;

impl PropertyValue for RetiredSetting {
    const KIND: PropertyKind = PropertyKind::List(&PropertyKind::Words(&["ssh", "elicitation"]));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let message = "this has no effect: each approval is a signature with the key of an approver";
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message);
        errors.push(warning.with_hint("remove it: the next release does not know it"));
        Some(Self)
    }
}
