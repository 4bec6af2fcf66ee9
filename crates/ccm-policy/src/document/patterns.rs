//! Regular expressions, the whitelist, and the older form of both.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeKey, NodeMap, Span, split_words};

use super::fields::{FieldReader, Located};
use super::settings::{GuardMode, ToolSettings};
use super::{PolicyDocument, keys};

/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 4096;

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

impl FieldReader<'_> {
    pub(super) fn patterns(&mut self, map: &NodeMap, document: &mut PolicyDocument) {
        if let Some(entry) = Self::given(map, "patterns")
            && let Some(patterns) = self.map(&entry.value, "patterns", keys::PATTERNS)
        {
            if let Some(entry) = Self::given(patterns, "deny") {
                self.expressions(&entry.value, &mut document.deny_patterns);
            }
            if let Some(entry) = Self::given(patterns, "allow") {
                if self.is_stricter_only() {
                    self.refuse_lifting(entry.key.span, "`allow`");
                }
                self.expressions(&entry.value, &mut document.allow_patterns);
            }
        }
    }

    /// Reads the settings of the exec tool that ccm's policy replaces, at the top and below `tools: exec:`.
    pub(super) fn older_form(&mut self, map: &NodeMap, document: &mut PolicyDocument) {
        let mut blocks = vec![map];
        if let Some(tools) = Self::given(map, "tools")
            && let Some(tools) = self.map(&tools.value, "settings of tools", keys::TOOLS)
            && let Some(exec) = Self::given(tools, "exec")
            && let Some(exec) = self.map(&exec.value, "settings of the exec tool", keys::TOOLS_EXEC)
        {
            blocks.push(exec);
        }
        for block in blocks {
            if let Some(entry) = Self::given(block, "custom_deny_patterns") {
                self.expressions(&entry.value, &mut document.deny_patterns);
            }
            if let Some(entry) = Self::given(block, "custom_allow_patterns") {
                self.expressions(&entry.value, &mut document.allow_patterns);
            }
            let Some(entry) = Self::given(block, "enable_deny_patterns") else { continue };
            let Some(is_enabled) = self.boolean(&entry.value) else { continue };
            let tool = document
                .tool
                .get_or_insert_with(|| Located { value: ToolSettings::default(), span: entry.key.span });
            if !is_enabled && tool.value.guard == GuardMode::Standard {
                tool.value.guard = GuardMode::Off;
            }
        }
    }

    fn expressions(&mut self, node: &Node, patterns: &mut Vec<PolicyPattern>) {
        for Located { value, span } in self.texts(node, "a list of regular expressions") {
            if value.len() <= MAX_PATTERN {
                patterns.push(PolicyPattern { text: value, span });
                continue;
            }
            let error = Diagnostic::error(
                DiagnosticKind::LimitExceeded,
                span,
                "this regular expression is too large",
            );
            self.push(error.with_hint("write several shorter expressions"));
        }
    }

    pub(super) fn whitelist(&mut self, key: &NodeKey, node: &Node) -> Option<Whitelist> {
        let mut commands = Vec::new();
        for text in self.texts(node, "a list of commands") {
            match split_words(&text.value) {
                Ok(words) if !words.is_empty() => commands.push(WhitelistEntry { words, span: text.span }),
                Ok(_) => {}
                Err(error) => self.invalid(text.span, format!("not a command: {error}"), "close the quotes"),
            }
        }
        node.as_list()?;
        Some(Whitelist { commands, span: key.span })
    }
}
