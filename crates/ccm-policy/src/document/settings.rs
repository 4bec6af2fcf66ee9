//! Sections of a policy file besides its rules.

use std::collections::BTreeMap;
use std::time::Duration;

use ccm_model::{Diagnostic, DiagnosticKind, Node, Span, closest, escape_control};
use ccm_properties::{Integer, Located, PositiveDuration, section, words};

use super::given;
use super::values::{
    ApproverGroups, AuditReceiver, ByteSize, CallRate, Paths, PolicyPath, PolicyProfiles, ProgramSet,
    RetiredSetting, SignatureLocation, ToolUsers,
};

section! {
    /// Directory in which callers work.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct WorkspaceSettings = "the workspace" {
        /// Absolute path of the workspace.
        path: PolicyPath as Option<String>,
        /// Deny commands that use paths outside the workspace.
        restrict: bool { default: Some("`false`") },
    }
}

impl WorkspaceSettings {
    /// Reports a restriction to a workspace without a path, and a workspace that is the whole machine.
    pub(super) fn check(&self, node: &Node, errors: &mut Vec<Diagnostic>) {
        if let (Some("/"), Some(path)) = (self.path.as_deref(), given(node, "path")) {
            let message = "the workspace can't be `/`: everything would be inside";
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, path.value.span, message);
            errors.push(error.with_hint("write the directory in which commands may delete and write"));
        }
        let restrict = given(node, "restrict").filter(|_| self.restrict);
        if let (Some(restrict), None) = (restrict, given(node, "path")) {
            let message = "`restrict` needs the path of a workspace";
            let error = Diagnostic::error(DiagnosticKind::Missing, restrict.key.span, message);
            errors.push(error.with_hint("add `path` to `workspace`"));
        }
    }
}

words! {
    /// Mode of the guard for a caller.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum GuardMode {
        /// Guard classes and rules decide.
        #[default]
        Standard = "standard",
        /// Verdicts are reported, and nothing is refused.
        Audit = "audit",
        /// Guard classes are skipped; rules, patterns, whitelist and workspace decide.
        Off = "off",
    }
}

words! {
    /// Calls of governed tools that need an approval.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ApprovalMode {
        /// Every call.
        #[default]
        MustRequire = "must_require",
        /// Calls whose verdict is ask.
        OnAsk = "on_ask",
    }
}

words! {
    /// Set of tools.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ToolSet {
        /// Tools that only read.
        Read = "read",
        /// Tools that run commands.
        GovernedExecute = "governed-execute",
        /// Tools that apply manifests.
        Apply = "apply",
    }
}

section! {
    /// Settings of each kind of caller.
    #[derive(Debug, Default)]
    pub(crate) struct CallerSections = "callers" {
        /// `ccm apply`, which runs the commands of a manifest.
        apply: Option<Located<ApplySettings>>,
        /// Governed tools, whose commands come from an agent.
        tool: Option<Located<ToolSettings>>,
    }
}

section! {
    /// Settings of the caller `apply`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ApplySettings = "settings of the caller" {
        /// `standard` enforces the guard classes, `audit` reports verdicts and refuses nothing, `off` skips the guard
        /// classes.
        guard: GuardMode { default: Some("`standard`") },
        /// `required` applies only manifests with a signature.
        signed: SignatureLocation as Option<Span>,
        /// `required` applies only plans that an approver has signed. Noop is free.
        plan: SignatureLocation as Option<Span>,
        /// Time in which a request for approval can be approved.
        pending: PositiveDuration as Option<Duration> { default: Some("24h") },
        /// Time in which an approval can be used.
        valid: PositiveDuration as Option<Duration> { default: Some("24h") },
    }
}

section! {
    /// Settings of the caller `tool`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ToolSettings = "settings of the caller" {
        /// `standard` enforces the guard classes, `audit` reports verdicts and refuses nothing, `off` skips the guard
        /// classes.
        guard: GuardMode { default: Some("`standard`") },
        /// `must_require` asks for an approval of every call, `on_ask` only where the verdict is ask.
        approval: ApprovalMode { default: Some("`must_require`") },
        /// Sets of tools to offer: `read`, `governed-execute`, `apply`.
        tools: Vec<ToolSet> { noun: Some("a list of sets of tools"), default: Some("`read`") },
        /// Users who may call the tools.
        users: ToolUsers as Vec<String> { noun: Some("a list of users"), default: Some("every user") },
        /// Time in which a request for approval can be approved.
        pending: PositiveDuration as Option<Duration> { default: Some("15m") },
        /// Time in which an approval can be used.
        valid: PositiveDuration as Option<Duration> { default: Some("5m") },
    }
}

section! {
    /// Approvers, and the conditions of an approval.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ApprovalSettings = "settings of approvals" {
        /// File of approvers in the format of `allowed_signers`.
        approvers: PolicyPath as String { default: Some("`/etc/ccm/approvers`") },
        /// Groups of approvers, by name.
        groups: ApproverGroups as BTreeMap<String, Vec<String>>,
        /// The approver may not be the caller.
        four_eyes: bool { default: Some("`true`") },
        /// Has no effect: each approval is a signature with a key. Removed in the next release.
        via: Option<RetiredSetting>,
    }
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            approvers: "/etc/ccm/approvers".to_owned(),
            groups: BTreeMap::new(),
            four_eyes: true,
            via: None,
        }
    }
}

section! {
    /// Sandbox profile of a policy.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct PolicyProfile = "a sandbox profile" {
        /// Allow the network.
        network: bool { default: Some("`false`") },
        /// Allow sockets of this machine.
        unix_sockets: bool { default: Some("`false`") },
        /// Directories that may be written.
        write: Paths as Vec<String> { noun: Some("a list of directories"), default: Some("none") },
        /// Directories that may be read beside the workspace and those of programs.
        read: Paths as Option<Vec<String>> {
            noun: Some("a list of directories"),
            default: Some("`/etc`, `/home`, `/media`, `/mnt`, `/opt`, `/root`, `/srv`, `/var`"),
        },
        /// Limit of memory, such as `2GiB`.
        memory: ByteSize as Option<u64> { default: Some("no limit") },
        /// Limit of processes.
        processes: Integer<1, 1_000_000> as Option<i64> { default: Some("no limit") },
        /// Programs that may start: `analysed`, `any`, or a list of paths.
        programs: Option<ProgramSet> { default: Some("as `sandbox: programs`") },
    }
}

/// Names of the profiles that every policy has.
pub const BUILT_IN_PROFILES: [&str; 4] =
    ["read_only_local", "no_network_compute", "restricted_remote", "privileged_operator_approved"];

/// Profile that needs a proxy and is not supported.
const RESTRICTED_REMOTE: &str = "restricted_remote";

section! {
    /// Sandboxes of governed tools.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SandboxSettings = "settings of sandboxes" {
        /// Profile for commands without a rule that names one.
        default: Located<String> { default: Some("`no_network_compute`") },
        /// Programs that may start: `analysed` (those of the command), `any`, or a list of paths.
        programs: ProgramSet,
        /// Profiles of your own, by name.
        profiles: PolicyProfiles as BTreeMap<String, PolicyProfile>,
    }
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            default: Located { value: "no_network_compute".to_owned(), span: Span::default() },
            programs: ProgramSet::default(),
            profiles: BTreeMap::new(),
        }
    }
}

impl SandboxSettings {
    /// Returns the error of the name of a profile that does not exist.
    pub(crate) fn check_profile(&self, name: &Located<String>) -> Option<Diagnostic> {
        let known = || BUILT_IN_PROFILES.into_iter().chain(self.profiles.keys().map(String::as_str));
        if name.value == RESTRICTED_REMOTE {
            let message = format!("profile `{RESTRICTED_REMOTE}` is not supported: it needs a proxy");
            let error = Diagnostic::error(DiagnosticKind::Unsupported, name.span, message);
            let hint = "use `no_network_compute`, or a profile of your own with `network: true`";
            return Some(error.with_hint(hint));
        }
        if known().any(|found| found == name.value) {
            return None;
        }
        let message = format!("there is no sandbox profile `{}`", escape_control(&name.value));
        let error = Diagnostic::error(DiagnosticKind::UnknownReference, name.span, message);
        Some(match closest(&name.value, known()) {
            None => error.with_hint("define the profile below `sandbox: profiles:`"),
            nearest => error.with_suggestion(nearest),
        })
    }
}

section! {
    /// Limits of governed tools.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ToolLimits = "limits" {
        /// Time limit of a command, unless the call has one.
        timeout: PositiveDuration as Duration { default: Some("60s") },
        /// Longest time limit that a call can ask for.
        max_timeout: PositiveDuration as Duration { default: Some("300s") },
        /// Number of characters of output that a caller gets.
        output: Integer<1, 10_000_000> as i64 { default: Some("10000") },
        /// Number of calls in a time, such as `60/1m`.
        calls: CallRate as Option<(i64, Duration)> { default: Some("no limit") },
        /// Number of calls at the same time.
        parallel: Integer<1, 1000> as Option<i64> { default: Some("no limit") },
    }
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(300),
            output: 10_000,
            calls: None,
            parallel: None,
        }
    }
}

impl ToolLimits {
    /// Reports a time limit above the longest one.
    pub(super) fn check(&self, node: &Node, errors: &mut Vec<Diagnostic>) {
        if let Some(timeout) = given(node, "timeout")
            && self.timeout > self.max_timeout
        {
            let message = "`timeout` is longer than `max_timeout`";
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, timeout.value.span, message);
            errors.push(error.with_hint("raise `max_timeout`, or shorten `timeout`"));
        }
    }
}

section! {
    /// Audit log.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct AuditSettings = "settings of the audit log" {
        /// Run nothing that can't be recorded.
        required: Option<Located<bool>> { default: Some("`true`") },
        /// Receivers of seals: `journald`, `{file: PATH}` or `{command: [PROGRAM, ARGUMENT]}`.
        forward: Vec<AuditReceiver> { noun: Some("a list of receivers") },
    }
}
