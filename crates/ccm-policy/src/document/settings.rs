//! Sections of a policy file besides its rules.

use std::collections::BTreeMap;
use std::time::Duration;

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeValue, ScalarKind, Span, closest, escape_control};

use super::fields::{FieldReader, Located};
use super::keys;

/// Directory in which callers work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkspaceSettings {
    /// Absolute path.
    pub path: Option<String>,
    /// Commands may use only paths of the workspace.
    pub restrict: bool,
}

/// Mode of the guard for a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuardMode {
    /// Guard classes and rules decide.
    #[default]
    Standard,
    /// Verdicts are reported, and nothing is refused.
    Audit,
    /// Guard classes are skipped; rules, patterns, whitelist and workspace decide.
    Off,
}

impl GuardMode {
    pub(crate) const WORDS: [(&'static str, Self); 3] =
        [("standard", Self::Standard), ("audit", Self::Audit), ("off", Self::Off)];

    /// Returns the mode as a policy file names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Audit => "audit",
            Self::Off => "off",
        }
    }
}

/// Calls of governed tools that need an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalMode {
    /// Every call.
    #[default]
    MustRequire,
    /// Calls whose verdict is ask.
    OnAsk,
}

/// Set of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// Tools that only read.
    Read,
    /// Tools that run commands.
    GovernedExecute,
    /// Tools that apply manifests.
    Apply,
}

impl ToolSet {
    /// Every set.
    pub const ALL: [Self; 3] = [Self::Read, Self::GovernedExecute, Self::Apply];

    /// Returns the name in a policy file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::GovernedExecute => "governed-execute",
            Self::Apply => "apply",
        }
    }
}

/// Times of an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalTimes {
    /// Time in which a request can be approved.
    pub pending: Option<Duration>,
    /// Time in which an approval can be used.
    pub valid: Option<Duration>,
}

/// Settings of the caller `apply`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApplySettings {
    /// Mode of the guard.
    pub guard: GuardMode,
    /// Location of `signed: required`, if manifests need a signature.
    pub signed: Option<Span>,
    /// Times of approvals.
    pub times: ApprovalTimes,
}

/// Settings of the caller `tool`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSettings {
    /// Mode of the guard.
    pub guard: GuardMode,
    /// Calls that need an approval.
    pub approval: ApprovalMode,
    /// Sets of tools to offer, besides `read`.
    pub tools: Vec<ToolSet>,
    /// Users who may call; empty for every user.
    pub users: Vec<String>,
    /// Times of approvals.
    pub times: ApprovalTimes,
}

/// Channel of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalChannel {
    /// Signature with an SSH key.
    Ssh,
    /// Question of an MCP client.
    Elicitation,
}

const CHANNELS: [(&str, ApprovalChannel); 2] =
    [("ssh", ApprovalChannel::Ssh), ("elicitation", ApprovalChannel::Elicitation)];

/// Approvers, and the conditions of an approval.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalSettings {
    /// File of approvers.
    pub approvers: String,
    /// Groups of approvers.
    pub groups: BTreeMap<String, Vec<String>>,
    /// The approver may not be the caller.
    pub four_eyes: bool,
    /// Channels of approvals.
    pub via: Vec<ApprovalChannel>,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            approvers: "/etc/ccm/approvers".to_owned(),
            groups: BTreeMap::new(),
            four_eyes: true,
            via: vec![ApprovalChannel::Ssh],
        }
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

/// Sandbox profile of a policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyProfile {
    /// The network is allowed.
    pub network: bool,
    /// Sockets of this machine are allowed.
    pub unix_sockets: bool,
    /// Directories that may be written.
    pub write: Vec<String>,
    /// Directories that may be read; `None` for all.
    pub read: Option<Vec<String>>,
    /// Limit of memory in bytes.
    pub memory: Option<u64>,
    /// Limit of processes.
    pub processes: Option<i64>,
    /// Programs that may start.
    pub programs: Option<ProgramSet>,
}

/// Names of the profiles that every policy has.
pub const BUILT_IN_PROFILES: [&str; 4] =
    ["read_only_local", "no_network_compute", "restricted_remote", "privileged_operator_approved"];

/// Profile that needs a proxy and is not supported.
const RESTRICTED_REMOTE: &str = "restricted_remote";

/// Sandboxes of governed tools.
#[derive(Clone, Debug, PartialEq)]
pub struct SandboxSettings {
    /// Profile for commands without a rule that names one.
    pub default: Located<String>,
    /// Programs that may start.
    pub programs: ProgramSet,
    /// Profiles of the policy.
    pub profiles: BTreeMap<String, PolicyProfile>,
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

/// Limits of governed tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolLimits {
    /// Time limit of a command, unless the call has one.
    pub timeout: Duration,
    /// Longest time limit that a call can ask for.
    pub max_timeout: Duration,
    /// Number of characters of output that a caller gets.
    pub output: i64,
    /// Number of calls in a time.
    pub calls: Option<(i64, Duration)>,
    /// Number of calls at the same time.
    pub parallel: Option<i64>,
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

/// Audit log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditSettings {
    /// Nothing runs that can't be recorded: the value with its location, if it is given.
    pub required: Option<Located<bool>>,
    /// Receivers of seals.
    pub forward: Vec<AuditReceiver>,
}

impl FieldReader<'_> {
    pub(super) fn workspace(&mut self, node: &Node) -> Option<WorkspaceSettings> {
        let map = self.map(node, "the workspace", keys::WORKSPACE)?;
        let path = Self::given(map, "path").and_then(|entry| self.path(&entry.value));
        let restrict = Self::given(map, "restrict");
        let is_restricted = restrict.and_then(|entry| self.boolean(&entry.value)).unwrap_or(false);
        if let Some(restrict) = restrict.filter(|_| is_restricted && Self::given(map, "path").is_none()) {
            let message = "`restrict` needs the path of a workspace";
            let error = Diagnostic::error(DiagnosticKind::Missing, restrict.key.span, message);
            self.push(error.with_hint("add `path` to `workspace`"));
        }
        Some(WorkspaceSettings { path: path.map(|path| path.value), restrict: is_restricted })
    }

    pub(super) fn apply_settings(&mut self, node: &Node) -> Option<ApplySettings> {
        let map = self.map(node, "settings of the caller", keys::CALLER_APPLY)?;
        let guard = Self::given(map, "guard").and_then(|entry| self.word(&entry.value, &GuardMode::WORDS));
        let signed = Self::given(map, "signed");
        let signed =
            signed.and_then(|entry| self.word(&entry.value, &[("required", true), ("optional", false)]));
        Some(ApplySettings {
            guard: guard.map_or_else(GuardMode::default, |guard| guard.value),
            signed: signed.filter(|signed| signed.value).map(|signed| signed.span),
            times: self.approval_times(map),
        })
    }

    pub(super) fn tool_settings(&mut self, node: &Node) -> Option<ToolSettings> {
        let map = self.map(node, "settings of the caller", keys::CALLER_TOOL)?;
        let guard = Self::given(map, "guard").and_then(|entry| self.word(&entry.value, &GuardMode::WORDS));
        let modes = [("must_require", ApprovalMode::MustRequire), ("on_ask", ApprovalMode::OnAsk)];
        let approval = Self::given(map, "approval").and_then(|entry| self.word(&entry.value, &modes));
        let sets = ToolSet::ALL.map(|set| (set.as_str(), set));
        let mut tools = Vec::new();
        if let Some(entry) = Self::given(map, "tools") {
            for node in self.list(&entry.value, "a list of sets of tools") {
                tools.extend(self.word(node, &sets).map(|set| set.value));
            }
        }
        let users = Self::given(map, "users").map(|entry| self.texts(&entry.value, "a list of users"));
        Some(ToolSettings {
            guard: guard.map_or_else(GuardMode::default, |guard| guard.value),
            approval: approval.map_or_else(ApprovalMode::default, |mode| mode.value),
            tools,
            users: users.unwrap_or_default().into_iter().map(|user| user.value).collect(),
            times: self.approval_times(map),
        })
    }

    pub(super) fn approval_times(&mut self, map: &ccm_model::NodeMap) -> ApprovalTimes {
        let mut time = |key: &str| Self::given(map, key).and_then(|entry| self.duration(&entry.value));
        ApprovalTimes { pending: time("pending"), valid: time("valid") }
    }

    pub(super) fn channels(&mut self, node: &Node) -> Vec<ApprovalChannel> {
        let nodes = self.list(node, "a list of channels");
        nodes.iter().filter_map(|node| Some(self.word(node, &CHANNELS)?.value)).collect()
    }

    pub(super) fn approval_settings(&mut self, node: &Node) -> Option<ApprovalSettings> {
        let map = self.map(node, "settings of approvals", keys::APPROVAL)?;
        let mut settings = ApprovalSettings::default();
        if let Some(path) = Self::given(map, "approvers").and_then(|entry| self.path(&entry.value)) {
            settings.approvers = path.value;
        }
        if let Some(entry) = Self::given(map, "groups") {
            let NodeValue::Map(groups) = &entry.value.value else {
                self.expected("groups of approvers by name", &entry.value);
                return Some(settings);
            };
            for group in groups.entries() {
                let members = self.texts(&group.value, "a list of approvers");
                if members.is_empty() {
                    let message = format!("group `{}` has no member", escape_control(&group.key.text));
                    self.push(Diagnostic::error(DiagnosticKind::Missing, group.key.span, message));
                }
                let mut names: Vec<String> = members.into_iter().map(|member| member.value).collect();
                names.sort();
                names.dedup();
                settings.groups.insert(group.key.text.to_string(), names);
            }
        }
        if let Some(value) = Self::given(map, "four_eyes").and_then(|entry| self.boolean(&entry.value)) {
            settings.four_eyes = value;
        }
        if let Some(entry) = Self::given(map, "via") {
            settings.via = self.channels(&entry.value);
        }
        Some(settings)
    }

    fn programs(&mut self, node: &Node) -> Option<ProgramSet> {
        if node.as_list().is_some() {
            let NodeValue::List(list) = &node.value else { return None };
            let paths = list.iter().filter_map(|node| Some(self.path(node)?.value)).collect();
            return Some(ProgramSet::Listed(paths));
        }
        let words = [("analysed", true), ("any", false)];
        let word = self.word(node, &words)?;
        Some(if word.value { ProgramSet::Analysed } else { ProgramSet::Any })
    }

    pub(super) fn sandbox_settings(&mut self, node: &Node) -> Option<SandboxSettings> {
        let map = self.map(node, "settings of sandboxes", keys::SANDBOX)?;
        let mut settings = SandboxSettings::default();
        if let Some(entry) = Self::given(map, "programs")
            && let Some(programs) = self.programs(&entry.value)
        {
            settings.programs = programs;
        }
        if let Some(entry) = Self::given(map, "profiles") {
            match &entry.value.value {
                NodeValue::Map(profiles) => {
                    for profile in profiles.entries() {
                        let name = profile.key.text.to_string();
                        if BUILT_IN_PROFILES.contains(&&*name) {
                            let message = format!("`{name}` is a profile of ccm and can't be changed");
                            self.push(
                                Diagnostic::error(DiagnosticKind::ReservedName, profile.key.span, message)
                                    .with_hint("give the profile a name of its own"),
                            );
                            continue;
                        }
                        let found = self.profile(&profile.value).unwrap_or_default();
                        settings.profiles.insert(name, found);
                    }
                }
                _ => self.expected("sandbox profiles by name", &entry.value),
            }
        }
        if let Some(default) =
            Self::given(map, "default").and_then(|entry| self.text_of(&entry.value, "the name of a profile"))
        {
            self.check_profile(&default, &settings);
            settings.default = default;
        }
        Some(settings)
    }

    fn profile(&mut self, node: &Node) -> Option<PolicyProfile> {
        let map = self.map(node, "a sandbox profile", keys::PROFILE)?;
        let mut profile = PolicyProfile::default();
        let mut flag = |key: &str| Self::given(map, key).and_then(|entry| self.boolean(&entry.value));
        profile.network = flag("network").unwrap_or(false);
        profile.unix_sockets = flag("unix_sockets").unwrap_or(false);
        let mut paths = |key: &str| {
            let entry = Self::given(map, key)?;
            let nodes = self.list(&entry.value, "a list of directories");
            Some(nodes.iter().filter_map(|node| Some(self.path(node)?.value)).collect::<Vec<_>>())
        };
        profile.write = paths("write").unwrap_or_default();
        profile.read = paths("read");
        profile.memory = Self::given(map, "memory").and_then(|entry| self.size(&entry.value));
        profile.processes =
            Self::given(map, "processes").and_then(|entry| self.integer(&entry.value, 1, 1_000_000));
        profile.programs = Self::given(map, "programs").and_then(|entry| self.programs(&entry.value));
        Some(profile)
    }

    /// Reports the name of a profile that does not exist.
    pub(crate) fn check_profile(&mut self, name: &Located<String>, settings: &SandboxSettings) {
        let known = || {
            let built_in = BUILT_IN_PROFILES.into_iter();
            built_in.chain(settings.profiles.keys().map(String::as_str))
        };
        if name.value == RESTRICTED_REMOTE {
            let message = format!("profile `{RESTRICTED_REMOTE}` is not supported: it needs a proxy");
            let error = Diagnostic::error(DiagnosticKind::Unsupported, name.span, message);
            self.push(
                error.with_hint("use `no_network_compute`, or a profile of your own with `network: true`"),
            );
        } else if !known().any(|found| found == name.value) {
            let message = format!("there is no sandbox profile `{}`", escape_control(&name.value));
            let error = Diagnostic::error(DiagnosticKind::UnknownReference, name.span, message);
            self.push(match closest(&name.value, known()) {
                Some(nearest) => error.with_suggestion(Some(nearest)),
                None => error.with_hint("define the profile below `sandbox: profiles:`"),
            });
        }
    }

    pub(super) fn limits(&mut self, node: &Node) -> Option<ToolLimits> {
        let map = self.map(node, "limits", keys::LIMITS)?;
        let mut limits = ToolLimits::default();
        let timeout = Self::given(map, "timeout");
        if let Some(value) = timeout.and_then(|entry| self.duration(&entry.value)) {
            limits.timeout = value;
        }
        if let Some(value) = Self::given(map, "max_timeout").and_then(|entry| self.duration(&entry.value)) {
            limits.max_timeout = value;
        }
        if let Some(timeout) = timeout.filter(|_| limits.timeout > limits.max_timeout) {
            self.invalid(
                timeout.value.span,
                "`timeout` is longer than `max_timeout`",
                "raise `max_timeout`, or shorten `timeout`",
            );
        }
        if let Some(value) =
            Self::given(map, "output").and_then(|entry| self.integer(&entry.value, 1, 10_000_000))
        {
            limits.output = value;
        }
        limits.calls = Self::given(map, "calls").and_then(|entry| self.rate(&entry.value));
        limits.parallel = Self::given(map, "parallel").and_then(|entry| self.integer(&entry.value, 1, 1000));
        Some(limits)
    }

    fn rate(&mut self, node: &Node) -> Option<(i64, Duration)> {
        let text = node.as_text().unwrap_or_default();
        let parsed = text.split_once('/').and_then(|(count, time)| {
            let count = count.trim().parse().ok().filter(|count| (1..=1_000_000).contains(count))?;
            let time = ccm_model::parse_duration(time.trim()).ok().filter(|time| !time.is_zero())?;
            Some((count, time))
        });
        if parsed.is_none() {
            let message = format!("expected a number of calls in a time, found {}", node.describe());
            self.invalid(node.span, message, "write the number and the time, such as `60/1m`");
        }
        parsed
    }

    pub(super) fn audit_settings(&mut self, node: &Node) -> Option<AuditSettings> {
        let map = self.map(node, "settings of the audit log", keys::AUDIT)?;
        let required = Self::given(map, "required");
        let required = required
            .and_then(|entry| Some(Located { value: self.boolean(&entry.value)?, span: entry.value.span }));
        let mut forward = Vec::new();
        if let Some(entry) = Self::given(map, "forward") {
            for node in self.list(&entry.value, "a list of receivers") {
                forward.extend(self.receiver(node));
            }
        }
        Some(AuditSettings { required, forward })
    }

    fn receiver(&mut self, node: &Node) -> Option<AuditReceiver> {
        let Some(map) = node.as_map() else {
            return self.word(node, &[("journald", ())]).map(|_| AuditReceiver::Journald);
        };
        match map.entries() {
            [entry] if &*entry.key.text == "file" => {
                Some(AuditReceiver::File(self.path(&entry.value)?.value))
            }
            [entry] if &*entry.key.text == "command" => {
                let words = self.texts(&entry.value, "a program and its arguments");
                if words.is_empty() {
                    self.expected("a program and its arguments", &entry.value);
                }
                Some(AuditReceiver::Command(words.into_iter().map(|word| word.value).collect()))
            }
            _ => {
                self.expected("`journald`, `{file: PATH}` or `{command: [PROGRAM]}`", node);
                None
            }
        }
    }

    /// Reads the version of the format.
    pub(super) fn version(&mut self, node: &Node) {
        match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ScalarKind::Int(1)) => {}
            Some(ScalarKind::Int(version)) => {
                let message = format!("version {version} of the policy format is not supported");
                let error = Diagnostic::error(DiagnosticKind::Unsupported, node.span, message);
                self.push(error.with_hint("write `ccm_policy: 1`, or use a newer ccm"));
            }
            _ => self.expected("the version 1", node),
        }
    }
}
