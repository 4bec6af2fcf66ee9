//! Regular expressions, the whitelist, and the older form of both.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeKey, NodeMap, Span, escape_control, split_words};
use regex::{Regex, RegexBuilder};

use super::fields::{FieldReader, Located};
use super::settings::{GuardMode, ToolSettings};
use super::{PolicyDocument, keys};

/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 4096;
/// Maximum size of a compiled pattern in bytes.
const MAX_COMPILED: usize = 1 << 20;

/// Regular expression of a policy.
#[derive(Clone, Debug)]
pub struct PolicyPattern {
    /// Compiled expression.
    pub(crate) regex: Regex,
    /// Location in the policy.
    pub span: Span,
}

impl PolicyPattern {
    /// Returns the expression as it is written.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternUse {
    /// Letters match in either case.
    Deny,
    Allow,
}

impl FieldReader<'_> {
    pub(super) fn patterns(&mut self, map: &NodeMap, document: &mut PolicyDocument) {
        if let Some(entry) = Self::given(map, "patterns")
            && let Some(patterns) = self.map(&entry.value, "patterns", keys::PATTERNS)
        {
            if let Some(entry) = Self::given(patterns, "deny") {
                self.compile_all(&entry.value, PatternUse::Deny, &mut document.deny_patterns);
            }
            if let Some(entry) = Self::given(patterns, "allow") {
                if self.is_stricter_only {
                    self.refuse_lifting(entry.key.span, "`allow`");
                }
                self.compile_all(&entry.value, PatternUse::Allow, &mut document.allow_patterns);
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
                self.compile_all(&entry.value, PatternUse::Deny, &mut document.deny_patterns);
            }
            if let Some(entry) = Self::given(block, "custom_allow_patterns") {
                self.compile_all(&entry.value, PatternUse::Allow, &mut document.allow_patterns);
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

    fn compile_all(&mut self, node: &Node, purpose: PatternUse, patterns: &mut Vec<PolicyPattern>) {
        for text in self.texts(node, "a list of regular expressions") {
            patterns.extend(self.compile(&text, purpose));
        }
    }

    fn compile(&mut self, text: &Located<String>, purpose: PatternUse) -> Option<PolicyPattern> {
        let too_large = "this regular expression is too large";
        let error = if text.value.len() > MAX_PATTERN {
            Diagnostic::error(DiagnosticKind::LimitExceeded, text.span, too_large)
                .with_hint("write several shorter expressions")
        } else {
            let compiled = RegexBuilder::new(&text.value)
                .case_insensitive(purpose == PatternUse::Deny)
                .size_limit(MAX_COMPILED)
                .dfa_size_limit(MAX_COMPILED)
                .nest_limit(100)
                .build();
            match compiled {
                // An empty match is in every command.
                Ok(regex) if regex.is_match("") => {
                    let message = "this regular expression matches the empty text, and so every command";
                    Diagnostic::error(DiagnosticKind::InvalidValue, text.span, message)
                        .with_hint("write at least one character that has to be there")
                }
                Ok(regex) => return Some(PolicyPattern { regex, span: text.span }),
                Err(regex::Error::CompiledTooBig(_)) => {
                    Diagnostic::error(DiagnosticKind::LimitExceeded, text.span, too_large)
                        .with_hint("use smaller repetitions, such as `{1,10}`")
                }
                Err(error) => {
                    let message = error.to_string();
                    let cause = message.trim_end().lines().next_back().unwrap_or_default();
                    let cause = escape_control(cause.strip_prefix("error: ").unwrap_or(cause)).into_owned();
                    let message = format!("this regular expression is not valid: {cause}");
                    Diagnostic::error(DiagnosticKind::InvalidValue, text.span, message)
                }
            }
        };
        self.push(error);
        None
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
