//! Regular expressions, the whitelist, and the older form of both.

use ccm_model::{Diagnostic, DiagnosticKind, Node, Span, split_words};
use ccm_properties::{Located, PropertyKind, PropertyValue, TextKind, ValueError, section};

/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 4096;

const EXPRESSIONS: Option<&str> = Some("a list of regular expressions");

section! {
    /// Regular expressions that are searched for in each simple command, as its words joined by one blank.
    #[derive(Debug, Default)]
    pub(crate) struct PatternSection = "patterns" {
        /// Patterns that deny a command, whatever the case of its letters.
        deny: Vec<PolicyPattern> { noun: EXPRESSIONS },
        /// Patterns that lift guard classes, `deny` patterns and rules with `deny: true` for a command. They lift no
        /// other rule, no restriction to the workspace, and nothing for text that can't be read.
        allow: Vec<PolicyPattern> { noun: EXPRESSIONS },
    }
}

section! {
    /// Settings of tools that the policy replaces.
    #[derive(Debug, Default)]
    pub(crate) struct OlderToolsSection = "settings of tools" {
        /// Settings of the exec tool.
        exec: OlderExecSection,
    }
}

section! {
    /// Settings of the exec tool that the policy replaces.
    #[derive(Debug, Default)]
    #[expect(clippy::struct_field_names, reason = "these are the keys of the older form")]
    pub(crate) struct OlderExecSection = "settings of the exec tool" {
        /// `false` is the same as `guard: off` for the caller `tool`.
        enable_deny_patterns: Option<Located<bool>>,
        /// The same as `deny` below `patterns`.
        custom_deny_patterns: Vec<PolicyPattern> { noun: EXPRESSIONS },
        /// The same as `allow` below `patterns`.
        custom_allow_patterns: Vec<PolicyPattern> { noun: EXPRESSIONS },
    }
}

/// Regular expression of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPattern {
    pub(crate) text: String,
    /// Location in the policy.
    pub span: Span,
}

impl PolicyPattern {
    /// Returns the expression as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PropertyValue for PolicyPattern {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::FILLED);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let text = String::decode(node, errors)?;
        if text.len() > MAX_PATTERN {
            let message = "this regular expression is too large";
            let error = Diagnostic::error(DiagnosticKind::LimitExceeded, node.span, message);
            errors.push(error.with_hint("write several shorter expressions"));
            return None;
        }
        Some(Self { text, span: node.span })
    }
}

/// Commands that are allowed, of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Whitelist {
    /// The commands.
    pub commands: Vec<WhitelistEntry>,
    /// Location in the policy.
    pub span: Span,
}

/// Command of a whitelist.
#[derive(Clone, Debug, PartialEq)]
pub struct WhitelistEntry {
    /// Words of the command.
    pub words: Vec<String>,
    /// Location in the policy.
    pub span: Span,
}

impl PropertyValue for WhitelistEntry {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::FILLED);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let text = String::decode(node, errors)?;
        match split_words(&text) {
            Ok(words) => Some(Self { words, span: node.span }),
            Err(error) => {
                let error = ValueError::new(format!("not a command: {error}")).with_hint("close the quotes");
                errors.push(error.at(node.span));
                None
            }
        }
    }
}

impl PropertyValue for Whitelist {
    const KIND: PropertyKind = Vec::<WhitelistEntry>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let commands: Vec<WhitelistEntry> = Vec::decode(node, errors)?;
        if commands.is_empty() && node.as_list().is_some_and(<[Node]>::is_empty) {
            let message = "the whitelist is empty, so that every command is denied";
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message);
            errors.push(warning.with_hint("list the commands that are allowed, or remove `whitelist`"));
        }
        Some(Self { commands, span: node.span })
    }

    fn decode_entry(entry: &ccm_properties::NodeEntry, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        Self::decode(&entry.value, errors).map(|list| Self { span: entry.key.span, ..list })
    }
}
