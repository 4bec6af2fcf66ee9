//! The policy file: text to typed sections, or every error with its location.

mod fields;
pub(crate) mod keys;
mod patterns;
mod rules;
mod settings;
mod written;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeMap, NodeValue, SourceId, Span, closest, escape_control,
};

use crate::guard_class::GuardClass;
use crate::rule::PolicyRule;
use crate::verdict::PolicyVerdict;

pub(crate) use fields::FieldReader;
pub use fields::Located;
pub use patterns::{PolicyPattern, Whitelist, WhitelistEntry};
pub use settings::{
    ApplySettings, ApprovalChannel, ApprovalMode, ApprovalSettings, ApprovalTimes, AuditReceiver,
    AuditSettings, BUILT_IN_PROFILES, GuardMode, PolicyProfile, ProgramSet, SandboxSettings, ToolLimits,
    ToolSet, ToolSettings, WorkspaceSettings,
};

/// Limits on the cost of a hostile file.
const LIMITS: ccm_yaml::Limits = ccm_yaml::Limits { depth: 32, nodes: 200_000, repeated: 10_000 };

/// Sections of one policy file. A section that the file does not have is `None` or empty.
#[derive(Debug, Default)]
pub(crate) struct PolicyDocument {
    pub trusted: Vec<Located<String>>,
    pub workspace: Option<Located<WorkspaceSettings>>,
    pub apply: Option<Located<ApplySettings>>,
    pub tool: Option<Located<ToolSettings>>,
    pub guard: Vec<(GuardClass, Located<PolicyVerdict>)>,
    pub rules: Vec<PolicyRule>,
    pub deny_patterns: Vec<PolicyPattern>,
    pub allow_patterns: Vec<PolicyPattern>,
    pub whitelist: Option<Whitelist>,
    pub approval: Option<Located<ApprovalSettings>>,
    pub sandbox: Option<Located<SandboxSettings>>,
    pub limits: Option<Located<ToolLimits>>,
    pub audit: Option<Located<AuditSettings>>,
}

/// What a file may do to the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAuthority {
    /// The file may allow and deny.
    Full,
    /// The file may only make the policy stricter.
    OnlyStricter,
    /// The file belongs to the user of the run, and may only make the policy stricter.
    OfUser,
}

impl FileAuthority {
    /// Returns the advice on what such a file can't have.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::OfUser => "remove it: your own policy adds to that of the system, and can't change it",
            Self::Full | Self::OnlyStricter => {
                "move it to policy.yaml, or list this file below `trusted` there"
            }
        }
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
    let mut reader = FieldReader::new(text, authority);
    let beginning = Span::new(source, 0, 0);
    let document = if let Some(root) = &root {
        reader.document(root)
    } else {
        let error = Diagnostic::error(DiagnosticKind::Missing, beginning, "the policy is empty");
        reader.push(error.with_hint("begin the file with `ccm_policy: 1`"));
        PolicyDocument::default()
    };
    found.append(&mut reader.found);
    document
}

fn located<T>(entry: &NodeEntry, value: Option<T>) -> Option<Located<T>> {
    value.map(|value| Located { value, span: entry.key.span })
}

impl FieldReader<'_> {
    fn document(&mut self, root: &Node) -> PolicyDocument {
        let mut document = PolicyDocument::default();
        let Some(map) = self.map(root, "a policy", keys::DOCUMENT) else { return document };
        if let Some(entry) = Self::given(map, "ccm_policy") {
            self.version(&entry.value);
        } else {
            let start = Span { end: root.span.start, ..root.span };
            let error = Diagnostic::error(DiagnosticKind::Missing, start, "`ccm_policy` is missing");
            self.push(error.with_hint("begin the file with `ccm_policy: 1`"));
        }
        if self.is_stricter_only() {
            self.check_only_stricter(map);
        }
        if let Some(entry) = Self::given(map, "trusted") {
            document.trusted = self.texts(&entry.value, "a list of file names");
        }
        if let Some(entry) = Self::given(map, "workspace") {
            document.workspace = located(entry, self.workspace(&entry.value));
        }
        if let Some(entry) = Self::given(map, "callers") {
            self.callers(&entry.value, &mut document);
        }
        if let Some(entry) = Self::given(map, "guard") {
            document.guard = self.guard_classes(&entry.value);
        }
        if let Some(entry) = Self::given(map, "approval") {
            document.approval = located(entry, self.approval_settings(&entry.value));
        }
        if let Some(entry) = Self::given(map, "sandbox") {
            document.sandbox = located(entry, self.sandbox_settings(&entry.value));
        }
        if let Some(entry) = Self::given(map, "limits") {
            document.limits = located(entry, self.limits(&entry.value));
        }
        if let Some(entry) = Self::given(map, "audit") {
            document.audit = located(entry, self.audit_settings(&entry.value));
        }
        self.patterns(map, &mut document);
        self.older_form(map, &mut document);
        if let Some(entry) = Self::given(map, "whitelist") {
            document.whitelist = self.whitelist(&entry.key, &entry.value);
        }
        if let Some(entry) = Self::given(map, "rules") {
            document.rules = self.rules(&entry.value);
        }
        document
    }

    /// Reports keys that a file without full authority can't have.
    fn check_only_stricter(&mut self, map: &NodeMap) {
        for entry in map.entries() {
            let key = &*entry.key.text;
            let is_known = keys::DOCUMENT.iter().any(|(name, _)| *name == key);
            if is_known && !keys::ONLY_STRICTER.contains(&key) {
                let message =
                    format!("`{key}` is not allowed in this file, which can only make the policy stricter");
                let error = Diagnostic::error(DiagnosticKind::Misplaced, entry.key.span, message);
                let advice = self.authority.advice();
                self.push(error.with_hint(advice));
            }
        }
    }

    pub(super) fn refuse_lifting(&mut self, span: Span, what: &str) {
        let message = format!("{what} is not allowed in this file, which can only make the policy stricter");
        let error = Diagnostic::error(DiagnosticKind::Misplaced, span, message);
        let advice = self.authority.advice();
        self.push(error.with_hint(advice));
    }

    fn callers(&mut self, node: &Node, document: &mut PolicyDocument) {
        let Some(map) = self.map(node, "callers", keys::CALLERS) else { return };
        if let Some(entry) = Self::given(map, "apply") {
            document.apply = located(entry, self.apply_settings(&entry.value));
        }
        if let Some(entry) = Self::given(map, "tool") {
            document.tool = located(entry, self.tool_settings(&entry.value));
        }
    }

    /// Returns a guard class by its name.
    pub(super) fn guard_class(&mut self, name: &str, span: Span) -> Option<GuardClass> {
        let class = GuardClass::parse(name);
        if class.is_none() {
            let message = format!("unknown guard class `{}`", escape_control(name));
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, span, message);
            self.push(match closest(name, GuardClass::all().map(GuardClass::name)) {
                Some(nearest) => error.with_suggestion(Some(nearest)),
                None => error.with_hint("`ccm policy show --classes` lists the guard classes"),
            });
        }
        class
    }

    fn guard_classes(&mut self, node: &Node) -> Vec<(GuardClass, Located<PolicyVerdict>)> {
        let NodeValue::Map(map) = &node.value else {
            let message = format!("expected guard classes with their verdicts, found {}", node.describe());
            let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
            let mode = node.as_text().filter(|text| matches!(*text, "standard" | "audit" | "off"));
            self.push(match mode {
                Some(mode) => error.with_hint(format!(
                    "write the mode below a caller: `callers: {{apply: {{guard: {mode}}}}}`"
                )),
                None => error.with_hint("write classes and verdicts: `guard: {package: ask}`"),
            });
            return Vec::new();
        };
        let words = PolicyVerdict::ALL.map(|verdict| (verdict.name(), verdict));
        let mut classes = Vec::new();
        for entry in map.entries().iter().filter(|entry| !entry.value.is_null()) {
            let class = self.guard_class(&entry.key.text, entry.key.span);
            let verdict = self.word(&entry.value, &words);
            let (Some(class), Some(verdict)) = (class, verdict) else { continue };
            if class.is_unreadable() && verdict.value != PolicyVerdict::Deny {
                let message = format!("`{class}` can't be changed: nobody can judge text that can't be read");
                let error = Diagnostic::error(DiagnosticKind::InvalidValue, verdict.span, message);
                self.push(error.with_hint("remove the line"));
                continue;
            }
            if self.is_stricter_only() && verdict.value == PolicyVerdict::Allow {
                self.refuse_lifting(verdict.span, "`allow`");
                continue;
            }
            classes.push((class, verdict));
        }
        classes
    }
}
