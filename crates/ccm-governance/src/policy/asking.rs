//! Questions of the policy during a run: what an approver would have to approve.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ccm_approval::{IntendedAction, IntendedProgram, IntendedSandbox, IntentContent};
use ccm_engine::{ChangeRequest, CommandRequest, Verdict as GateVerdict};
use ccm_host::{OtherWriters, Role, sha256, started_by, uid_of};
use ccm_model::{Intent, REDACTED};
use ccm_policy::{Analysis, ApprovalConditions, Policy, PolicyDecision};

use super::covered_files::{CoveredCommand, CoveredFiles};
use super::intended::{approval_demands, asking_rules, grant_limits, intended_commands, unknown_parts};
use super::policy_digest;
use crate::approval::{APPLY_TIME, ApprovalAnswer, RunIntents, apply_caller};
use crate::audit::VerdictSlot;
use crate::governance::Governance;

/// Maximum length of what an approver is shown, in characters.
const MAX_SHOWN: usize = 16_000;

/// Asks for approvals during a run.
pub(super) struct ApprovalDesk<'s> {
    governance: &'s Governance,
    policy: &'s Policy,
    manifest: String,
    policy_digest: String,
    intents: RunIntents<'s>,
    covered: CoveredFiles<'s>,
    /// What was approved in this run, with the id of the approval: a command that is tried again is still the same use.
    approved: RefCell<Vec<(ApprovedAction, String)>>,
    /// Receives the approvals for the audit log.
    verdicts: Rc<VerdictSlot>,
}

/// Purpose and resource, the action, its programs and its sandbox.
type ApprovedAction = (String, IntendedAction, Vec<IntendedProgram>, IntendedSandbox);

/// Question of the policy about a command or a change.
pub(super) struct Question<'q> {
    pub decision: &'q PolicyDecision,
    pub analysis: &'q Analysis,
    pub reason: String,
    pub hints: Vec<String>,
    pub noop: bool,
}

impl<'s> ApprovalDesk<'s> {
    pub(super) fn new(
        governance: &'s Governance,
        policy: &'s Policy,
        manifest: &str,
        verdicts: Rc<VerdictSlot>,
    ) -> Self {
        Self {
            governance,
            policy,
            manifest: manifest.to_owned(),
            policy_digest: policy_digest(policy),
            intents: RunIntents::new(governance),
            covered: CoveredFiles::new(governance.doors.files()),
            approved: RefCell::default(),
            verdicts,
        }
    }

    /// Asks for the approval of a command.
    pub(super) fn ask_command(&self, request: &CommandRequest<'_>, question: Question<'_>) -> GateVerdict {
        let (resource, command) = (&*request.resource.id().to_string(), request.command);
        let purpose = match command.role {
            Role::Guard => "guard",
            Role::Check => "check",
            _ => "command",
        };
        let words =
            std::iter::once(command.program.as_os_str()).chain(command.args.iter().map(|word| &**word));
        let argv: Option<Vec<String>> = words.map(|word| word.to_str().map(str::to_owned)).collect();
        let Some(argv) = argv.filter(|_| !command.sensitive) else { return unshowable(question) };
        let stdin = command.stdin.clone().map(String::from_utf8).transpose();
        let Ok(stdin) = stdin else { return unshowable(question) };
        let private = command.sandbox.as_ref().and_then(|sandbox| sandbox.private.as_deref());
        // The name of a private directory is another one in each run.
        let stable = |text: &str| match private.and_then(Path::to_str) {
            Some(private) => text.replace(private, "PRIVATE"),
            None => text.to_owned(),
        };
        let uses_up = !question.noop;
        let environment = command
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), self.intents.hash(uses_up, name, &stable(value))));
        let digest = command.sandbox.as_ref().map(|sandbox| {
            let text = serde_json::to_string(sandbox).unwrap_or_default();
            format!("sha256:{}", sha256(stable(&text).as_bytes()))
        });
        let action = IntendedAction {
            argv: argv.iter().map(|word| stable(word)).collect(),
            shell: None,
            change: Vec::new(),
            image: command.image.clone(),
            cwd: stable(&command.cwd.to_string_lossy()),
            user: command
                .identity
                .as_ref()
                .map(|identity| format!("uid {}, gid {}", identity.uid, identity.gid)),
            env: environment.collect(),
            env_values: BTreeMap::new(),
            stdin_sha256: stdin.as_ref().map(|text| sha256(text.as_bytes())),
            stdin,
            timeout_ms: command.timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok()),
            properties: further_properties(request),
        };
        let run = CoveredCommand {
            program: command.program.to_str(),
            analysis: question.analysis,
            variables: &command.environment,
        };
        let covered = match command.image {
            Some(_) => Ok(BTreeMap::new()),
            None => self.covered.of(run),
        };
        let programs = match covered {
            Ok(programs) => programs,
            Err(error) => {
                let hints = std::iter::once(error.hint()).chain(question.hints).collect();
                let cause = ccm_model::error_layers(&error).join(": ");
                return uncovered(Question { hints, ..question }, &cause);
            }
        };
        if command.image.is_none() {
            let trusted = trusted(command.identity.as_ref().map(|identity| identity.uid));
            let open = self.covered.exchangeable(run, &programs, &trusted);
            if let Some((path, writer)) = open {
                let cause = format!("{writer} can exchange {} before it runs", path.display());
                let hint = "run a copy in a directory that only root can change".to_owned();
                let hints = std::iter::once(hint).chain(question.hints).collect();
                return uncovered(Question { hints, ..question }, &cause);
            }
        }
        self.ask((resource, purpose), (action, programs, IntendedSandbox { profile: None, digest }), question)
    }

    /// Asks for the approval of a change.
    pub(super) fn ask_change(&self, request: &ChangeRequest<'_>, question: Question<'_>) -> GateVerdict {
        let change = request.change;
        let resource = request.resource.id().to_string();
        let mut lines = vec![format!("provider {}", change.provider), change.message.clone()];
        let mut programs = BTreeMap::new();
        let properties = request.resource.properties();
        for entry in properties.given() {
            let value = serde_json::to_string(&ccm_data::nodes::to_value(&entry.value)).unwrap_or_default();
            if &*entry.key.text == "source"
                && let Some(source) = entry.value.as_text().filter(|source| !source.contains("://"))
            {
                let path = request.resource.directory().join(source);
                let open = OtherWriters::than(&trusted(None)).of(&path);
                if let Some((path, writer)) = open {
                    let cause = format!("{writer} can exchange {} before it is copied", path.display());
                    let hint = "keep the source in a directory that only root can change".to_owned();
                    let hints = std::iter::once(hint).chain(question.hints).collect();
                    return uncovered(Question { hints, ..question }, &cause);
                }
                match self.governance.doors.files().read(&path, 0) {
                    Ok(read) => programs.insert(path.display().to_string(), read.sha256),
                    // What is in a directory can't be shown.
                    Err(_) => return unshowable(question),
                };
            }
            lines.push(format!("{}: {value}", entry.key.text));
        }
        lines.extend(change.diff.iter().cloned());
        let action = IntendedAction {
            argv: Vec::new(),
            shell: None,
            change: lines,
            image: None,
            cwd: "/".to_owned(),
            user: None,
            env: BTreeMap::new(),
            env_values: BTreeMap::new(),
            stdin: None,
            stdin_sha256: None,
            timeout_ms: None,
            properties: BTreeMap::new(),
        };
        let sandbox = IntendedSandbox { profile: None, digest: None };
        self.ask((&resource, "change"), (action, programs, sandbox), question)
    }

    fn ask(
        &self,
        (resource, purpose): (&str, &str),
        (action, programs, sandbox): (IntendedAction, BTreeMap<String, String>, IntendedSandbox),
        question: Question<'_>,
    ) -> GateVerdict {
        let shown = || {
            std::iter::once(resource)
                .chain(action.argv.iter().chain(&action.change).chain(&action.stdin).map(|text| &**text))
                .chain(action.properties.values().map(|text| &**text))
        };
        let length: usize = shown().map(|text| text.chars().count()).sum();
        let is_secret =
            |text: &str| text.contains(REDACTED) || *self.governance.secrets.redact(text) != *text;
        if length > MAX_SHOWN || shown().any(is_secret) {
            return unshowable(question);
        }
        let programs = programs.into_iter().map(|(path, sha256)| IntendedProgram { path, sha256 });
        let programs: Vec<IntendedProgram> = programs.collect();
        let key = (format!("{purpose} {resource}"), action.clone(), programs.clone(), sandbox.clone());
        if let Some((_, id)) = self.approved.borrow().iter().find(|(approved, _)| *approved == key) {
            self.verdicts.approve(id);
            return GateVerdict::Allow;
        }
        let Question { decision, analysis, mut reason, mut hints, noop } = question;
        let conditions: Vec<ApprovalConditions> =
            decision.needs(self.policy).into_iter().map(|need| need.conditions).collect();
        let unknown = unknown_parts(analysis);
        let times = self.policy.apply_settings();
        let least = |of_rule: fn(&ApprovalConditions) -> Option<Duration>, of_caller: Option<Duration>| {
            let of_rules = conditions.iter().filter_map(of_rule).min();
            of_rules.or(of_caller).unwrap_or(APPLY_TIME)
        };
        let pending = least(|conditions| conditions.pending, times.pending);
        let valid = least(|conditions| conditions.valid, times.valid);
        let content = IntentContent {
            caller: apply_caller(),
            tool: "apply".to_owned(),
            class: "execute".to_owned(),
            resource_class: "execution-node".to_owned(),
            resource: Some(resource.to_owned()),
            manifest: Some(self.manifest.clone()),
            purpose: Some(purpose.to_owned()),
            reason: None,
            action,
            commands: intended_commands(self.policy, decision, analysis),
            programs,
            policy: self.policy_digest.clone(),
            decision: decision.verdict.name().to_owned(),
            rules: asking_rules(self.policy, decision),
            sandbox,
            requires: approval_demands(self.policy, &decision.needs(self.policy)),
            valid_ms: u64::try_from(valid.as_millis()).unwrap_or(u64::MAX).max(1000),
            grant: grant_limits(&conditions).filter(|_| unknown.is_empty()),
            unknown,
        };
        let mut events = Vec::new();
        let answer = self.intents.answer(content, pending, !noop, &mut events);
        self.verdicts.add(events);
        match answer {
            // Noop runs guards and checks, and must not do so without using the approval up.
            Ok(ApprovalAnswer::Approved { .. }) if noop && matches!(purpose, "guard" | "check") => {
                GateVerdict::Wait { reason, hints, intent: None }
            }
            Ok(ApprovalAnswer::Approved { id }) => {
                self.verdicts.approve(&id);
                self.approved.borrow_mut().push((key, id));
                GateVerdict::Allow
            }
            Ok(ApprovalAnswer::Waits { id, notes, hints: further }) => {
                for note in notes {
                    reason = format!("{reason}; {note}");
                }
                hints.splice(0..0, further);
                GateVerdict::Wait { reason, hints, intent: id.map(Intent) }
            }
            Ok(ApprovalAnswer::Closed { notes, hints }) => {
                let reason = std::iter::once(reason).chain(notes).collect::<Vec<_>>().join("; ");
                GateVerdict::Wait { reason, hints, intent: None }
            }
            // What is too long, or hides a part of itself, can't be shown.
            Err(error) if error.is_unshowable() => {
                unshowable(Question { decision, analysis, reason, hints, noop })
            }
            Err(error) => {
                if error.is_full() {
                    hints.insert(0, "approve or reject what waits: `ccm approvals`".to_owned());
                }
                let causes = ccm_model::error_layers(&*error).join(": ");
                GateVerdict::Wait { reason: format!("{reason}; {causes}"), hints, intent: None }
            }
        }
    }
}

/// Properties of `exec` that are parts of the command itself, or change what is printed alone.
const OF_COMMAND: [&str; 14] = [
    "args",
    "command",
    "cwd",
    "environment",
    "executor",
    "group",
    "logoutput",
    "path",
    "provider",
    "stdin",
    "timeout",
    "sandbox",
    "sensitive",
    "user",
];

/// Returns the properties of an `exec` that say how and when its command runs, beside the command itself.
fn further_properties(request: &CommandRequest<'_>) -> BTreeMap<String, String> {
    if request.resource.id().type_name.to_string() != "exec" {
        return BTreeMap::new();
    }
    let properties = request.resource.properties();
    let further = properties.given().filter(|entry| !OF_COMMAND.contains(&&*entry.key.text));
    let json = |entry: &ccm_model::Node| {
        serde_json::to_string(&ccm_data::nodes::to_value(entry)).unwrap_or_default()
    };
    further.map(|entry| (entry.key.text.to_string(), json(&entry.value))).collect()
}

/// Returns the users who may change what ccm runs: root, the user who runs ccm, who called sudo, and the user of a command.
fn trusted(user: Option<u32>) -> Vec<u32> {
    let by = started_by();
    let sudo = by.sudo_user.as_deref().and_then(uid_of);
    [0, by.uid].into_iter().chain(user).chain(sudo).collect()
}

/// Returns the refusal of a command whose files no approval can cover.
fn uncovered(question: Question<'_>, cause: &str) -> GateVerdict {
    let Question { reason, hints, .. } = question;
    GateVerdict::Wait { reason: format!("{reason}; nobody can approve it: {cause}"), hints, intent: None }
}

/// Returns the refusal of what can't be shown whole, so that nobody could know what he approves.
fn unshowable(question: Question<'_>) -> GateVerdict {
    let Question { reason, mut hints, .. } = question;
    hints.insert(0, "sign the manifest: `ccm approve --manifest MANIFEST --until 30d`".to_owned());
    let reason = format!("{reason}; nobody can approve what can't be shown whole");
    GateVerdict::Wait { reason, hints, intent: None }
}
