//! The policy file: text to typed sections, or every error with its location.

mod authority;
mod conditions;
mod guard;
mod mistaken_globs;
mod patterns;
mod rules;
mod settings;
mod values;
mod written;

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, SourceId, Span};
use ccm_properties::{Located, PropertyValue as _, section};
use ccm_yaml::typographic::{self, CommandKeys};

use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

pub use authority::FileAuthority;
pub(crate) use conditions::{Count, OptionPatterns, PathGlob, ProgramGlobs, ResourceGlob};
use guard::GuardVerdicts;
use patterns::{OlderExecSection, OlderToolsSection, PatternSection};
pub use patterns::{PolicyPattern, Whitelist, WhitelistEntry};
use rules::RuleList;
use settings::CallerSections;
pub use settings::{
    ApplySettings, ApprovalMode, ApprovalSettings, AuditSettings, BUILT_IN_PROFILES, GuardMode,
    PolicyProfile, SandboxSettings, ToolLimits, ToolSet, ToolSettings, WorkspaceSettings,
};
use values::FormatVersion;
pub use values::{AuditReceiver, ProgramSet, RetiredSetting};

/// Keys of a policy whose texts are commands or parts of commands.
const COMMANDS: CommandKeys = CommandKeys {
    values: &["program", "args", "deny", "allow", "whitelist", "yes", "no"],
    names: &["option"],
};

/// Limits on the cost of a hostile file.
const LIMITS: ccm_yaml::Limits = ccm_yaml::Limits { depth: 32, nodes: 200_000, repeated: 10_000 };

section! {
    /// Rules about the commands that ccm and its tools may run.
    #[derive(Debug, Default)]
    pub(crate) struct PolicyDocument = "a policy" {
        /// Version of the format: 1.
        version: Option<FormatVersion> { name: "ccm_policy", required: true },
        /// Names of files in `policy.d` that may allow something. The other files can only be stricter.
        trusted: Vec<Located<String>> { noun: Some("a list of file names") },
        /// Directory in which callers work.
        workspace: Option<Located<WorkspaceSettings>>,
        /// Settings of each kind of caller.
        callers: CallerSections,
        /// Verdicts of guard classes, instead of those of the standard guard.
        guard: GuardVerdicts as Vec<(GuardClass, Located<PolicyVerdict>)>,
        /// Rules. The strictest verdict of all rules that match a command decides.
        rules: RuleList,
        /// Regular expressions that are searched for in each simple command, as its words joined by one blank.
        patterns: PatternSection,
        /// Commands that are allowed; every other command is denied. A command is compared word by word.
        whitelist: Option<Whitelist> { noun: Some("a list of commands") },
        /// Approvers, and the conditions of an approval.
        approval: Option<Located<ApprovalSettings>>,
        /// Sandboxes of governed tools.
        sandbox: Option<Located<SandboxSettings>>,
        /// Limits of governed tools.
        limits: Option<Located<ToolLimits>>,
        /// Audit log.
        audit: Option<Located<AuditSettings>>,
        /// Settings of the exec tool in their older form.
        tools: OlderToolsSection,
        /// `false` is the same as `guard: off` for the caller `tool`.
        enable_deny_patterns: Option<Located<bool>>,
        /// The same as `deny` below `patterns`.
        custom_deny_patterns: Vec<PolicyPattern> { noun: Some("a list of regular expressions") },
        /// The same as `allow` below `patterns`.
        custom_allow_patterns: Vec<PolicyPattern> { noun: Some("a list of regular expressions") },
    }
}

/// Parses a policy file. Errors and warnings are added to `found`.
pub(crate) fn parse(
    source: SourceId,
    text: &str,
    authority: FileAuthority,
    found: &mut Vec<Diagnostic>,
) -> PolicyDocument {
    let root = match ccm_yaml::parse_with_duplicates(source, text, &LIMITS) {
        Ok((root, duplicates)) => {
            found.extend(duplicates);
            root
        }
        Err(errors) => {
            found.extend(errors);
            return PolicyDocument::default();
        }
    };
    let Some(root) = root.filter(|root| !root.is_null()) else {
        let beginning = Span::new(source, 0, 0);
        let error = Diagnostic::error(DiagnosticKind::Missing, beginning, "the policy is empty");
        found.push(error.with_hint("begin the file with `ccm_policy: 1`"));
        return PolicyDocument::default();
    };
    found.extend(typographic::check(&root, text, COMMANDS));
    let mut document = PolicyDocument::decode(&root, found).unwrap_or_default();
    if document.version.is_none() && root.as_map().is_some() {
        let start = Span { end: root.span.start, ..root.span };
        let error = Diagnostic::error(DiagnosticKind::Missing, start, "`ccm_policy` is missing");
        found.push(error.with_hint("begin the file with `ccm_policy: 1`"));
    }
    authority.check(&root, found);
    document.check(&root, text, found);
    document.add_older_form();
    document
}

/// Returns the entry of a key of a map, unless it is null.
fn given<'n>(node: &'n Node, key: &str) -> Option<&'n NodeEntry> {
    node.as_map()?.entry(key).filter(|entry| !entry.value.is_null())
}

impl PolicyDocument {
    /// Reports what fields of different sections, or the text of the file, make wrong.
    fn check(&mut self, root: &Node, text: &str, found: &mut Vec<Diagnostic>) {
        if let (Some(workspace), Some(entry)) = (&self.workspace, given(root, "workspace")) {
            workspace.value.check(&entry.value, found);
        }
        if let Some(Located { value: sandbox, .. }) = &self.sandbox {
            found.extend(sandbox.check_profile(&sandbox.default));
        }
        if let (Some(limits), Some(entry)) = (&self.limits, given(root, "limits")) {
            limits.value.check(&entry.value, found);
        }
        for (node, error) in self.rules.invalid_conditions.drain(..) {
            let span = node.locate(text, error.range.start, error.range.end);
            let diagnostic = Diagnostic::error(error.kind, span, error.message);
            found.push(error.hints.into_iter().fold(diagnostic, Diagnostic::with_hint));
        }
    }

    /// Adds the settings of the exec tool that ccm's policy replaces, at the top and below `tools: exec:`.
    fn add_older_form(&mut self) {
        let top = OlderExecSection {
            enable_deny_patterns: self.enable_deny_patterns.take(),
            custom_deny_patterns: std::mem::take(&mut self.custom_deny_patterns),
            custom_allow_patterns: std::mem::take(&mut self.custom_allow_patterns),
        };
        for block in [top, std::mem::take(&mut self.tools.exec)] {
            self.patterns.deny.extend(block.custom_deny_patterns);
            self.patterns.allow.extend(block.custom_allow_patterns);
            let Some(Located { value: is_enabled, span }) = block.enable_deny_patterns else { continue };
            let tool = &mut self
                .callers
                .tool
                .get_or_insert_with(|| Located { value: ToolSettings::default(), span })
                .value;
            if !is_enabled && tool.guard == GuardMode::Standard {
                tool.guard = GuardMode::Off;
            }
        }
    }
}
