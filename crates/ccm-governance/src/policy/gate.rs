//! The gate of a run that obeys the policy.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::rc::Rc;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict as GateVerdict};
use ccm_expr::{Timestamp, Value};
use ccm_host::{Command, CommandOrigin, Commands, SEARCH_PATH, current_user, search_path};
use ccm_model::{ClaimKind, PathKind};
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, ConditionValues, Effect, EffectKind, GovernedChange, GuardClass,
    Lookup as _, Policy, PolicyDecision, PolicyRequest, PolicyVerdict, RequestInput, UnreadableRequest,
    Workspace, analyse,
};
use ccm_properties::{CommandPlace, CommandSubject, WrittenLine};
use ccm_shell::{ShellDialect, ShellSpan};

use super::asking::{ApprovalDesk, Question};
use super::lookup::{CachedMachine, MachineLookup, UnseenMachine};
use super::planned_questions::PlannedQuestions;
use super::reasons::{recorded_verdict, refusal_text};
use crate::audit::{ApprovalEvent, VerdictSlot};
use crate::governance::{Governance, GovernanceNotice};
use crate::signed::ManifestSignature;

/// Gate that asks the policy, and then the gate of the program.
pub struct PolicyGate<'s> {
    governance: &'s Governance,
    /// Gate of the program.
    gate: Rc<dyn DynGate + 's>,
    values: RunValues<'s>,
    /// Receives each verdict for the audit log.
    verdicts: Rc<VerdictSlot>,
    /// Names of the variables that every command has.
    base_variables: OnceCell<Vec<String>>,
    manifest: GovernedManifest<'s>,
    has_used_signature: Cell<bool>,
    desk: OnceCell<ApprovalDesk<'s>>,
}

/// Manifest whose run a policy judges, with what approves it as a whole.
#[derive(Clone, Copy, Debug)]
pub struct GovernedManifest<'s> {
    /// Name of the manifest in records.
    pub name: &'s str,
    /// Signature of the manifest, which answers every question of the policy.
    pub signature: Option<&'s ManifestSignature>,
    /// Id of the intent by which the whole manifest was approved, and whose use is on record.
    pub approved: Option<&'s str>,
    /// Name of the approved plan that the run follows, and the approver. It answers every question of the policy.
    pub plan: Option<(&'s str, &'s str)>,
    /// Questions about changes, which are left to the approval of the plan that is made of the run.
    pub planned: Option<&'s PlannedQuestions>,
}

/// Values for conditions of rules during a run.
struct RunValues<'s> {
    governance: &'s Governance,
    commands: &'s dyn Commands,
    user: OnceCell<Option<String>>,
    facts: OnceCell<Option<Value>>,
}

impl<'s> PolicyGate<'s> {
    /// Returns the gate of a run; `None` without a policy. The signature was checked before the run began.
    pub fn of_run(
        governance: &'s Governance,
        manifest: GovernedManifest<'s>,
        commands: &'s dyn Commands,
        verdicts: Rc<VerdictSlot>,
        gate: Rc<dyn DynGate + 's>,
    ) -> Option<Self> {
        governance.found_policy().ok().filter(|found| !found.is_absent())?;
        let values = RunValues { governance, commands, user: OnceCell::new(), facts: OnceCell::new() };
        Some(Self {
            governance,
            gate,
            values,
            verdicts,
            base_variables: OnceCell::new(),
            manifest,
            has_used_signature: Cell::new(false),
            desk: OnceCell::new(),
        })
    }

    /// Returns the policy. If its files were judged before an earlier run, the first question reads them; a mistake in
    /// them then refuses whatever is asked about.
    fn policy(&self) -> Result<&'s Policy, GateVerdict> {
        match self.governance.policy() {
            Ok(Some(checked)) => Ok(&checked.policy),
            Ok(None) => Err(unusable("there is none")),
            Err(error) => Err(unusable(&ccm_model::error_layers(&*error).join(": "))),
        }
    }

    fn desk(&self, policy: &'s Policy) -> &ApprovalDesk<'s> {
        self.desk.get_or_init(|| {
            ApprovalDesk::new(self.governance, policy, self.manifest.name, Rc::clone(&self.verdicts))
        })
    }

    /// Returns `true` if an approver has signed the manifest, and the statement has not ended yet. The statement is then
    /// recorded as the approval.
    fn is_signed(&self) -> bool {
        if let Some(intent) = self.manifest.approved {
            self.verdicts.approve(intent);
            return true;
        }
        if let Some((plan, approver)) = self.manifest.plan {
            self.verdicts.approve(plan);
            if !self.has_used_signature.replace(true) {
                let (intent, reason) = (plan.to_owned(), Some("approved plan".to_owned()));
                let approver = Some(approver.to_owned());
                self.verdicts.add([ApprovalEvent { intent, event: "used", approver, reason }]);
            }
            return true;
        }
        let signature =
            self.manifest.signature.filter(|signature| self.governance.doors.clock().now() < signature.end);
        let Some(signature) = signature else { return false };
        let id = format!("sha256:{}", signature.digest);
        self.verdicts.approve(&id);
        if !self.has_used_signature.replace(true) {
            let approver = Some(signature.signer.principal.clone());
            let reason = Some("signed manifest".to_owned());
            self.verdicts.add([ApprovalEvent { intent: id, event: "used", approver, reason }]);
        }
        true
    }

    /// Returns the verdict for the engine. Under `guard: audit`, a refusal is only reported.
    fn verdict(
        &self,
        policy: &Policy,
        what: &str,
        (decision, analysis): (&PolicyDecision, &Analysis),
        is_sensitive: bool,
        noop: bool,
        ask: impl FnOnce(Question<'_>) -> GateVerdict,
    ) -> GateVerdict {
        self.verdicts.set(recorded_verdict(policy, decision, analysis, is_sensitive));
        if decision.verdict == PolicyVerdict::Allow {
            return GateVerdict::Allow;
        }
        let (reason, hints) = refusal_text(policy, decision, &analysis.commands, is_sensitive);
        let redact = |text: String| self.governance.secrets.redact(&text).into_owned();
        let (reason, hints) = (redact(reason), hints.into_iter().map(redact).collect());
        if decision.is_allowed() {
            let (resource, verdict) = (redact(what.to_owned()), decision.verdict.name());
            self.governance.doors.notice(&GovernanceNotice::Policy {
                resource: &resource,
                verdict,
                reason: &reason,
            });
            return GateVerdict::Allow;
        }
        match decision.verdict {
            PolicyVerdict::Ask if self.is_signed() => GateVerdict::Allow,
            PolicyVerdict::Ask => ask(Question { decision, analysis, reason, hints, noop }),
            _ => GateVerdict::Deny { reason, hints },
        }
    }

    fn judge_command(&self, request: &CommandRequest<'_>) -> GateVerdict {
        let command = request.command;
        // The resource of a tool is judged before its change.
        if command.origin == CommandOrigin::Ccm {
            return GateVerdict::Allow;
        }
        let policy = match self.policy() {
            Ok(policy) => policy,
            Err(refusal) => return refusal,
        };
        let base = self.base_variables.get_or_init(|| {
            self.values.commands.base_environment().into_iter().map(|(name, _)| name).collect()
        });
        let analysis = analysis_of(workspace_of(policy), command, base);
        let decision = policy.decide(&analysis, Caller::Apply, &self.values);
        let resource = request.resource.id().to_string();
        let judged = (&decision, &analysis);
        self.verdict(policy, &resource, judged, command.sensitive, request.noop, |question| {
            let planned = self.manifest.planned.filter(|_| question.noop);
            let left = planned.and_then(|planned| planned.answer(request.change.is_none()));
            left.unwrap_or_else(|| self.desk(policy).ask_command(request, question))
        })
    }

    fn judge_change(&self, request: &ChangeRequest<'_>) -> GateVerdict {
        let policy = match self.policy() {
            Ok(policy) => policy,
            Err(refusal) => return refusal,
        };
        let id = request.resource.id();
        let change = GovernedChange {
            type_name: id.type_name.to_string(),
            name: id.name.to_string(),
            other_names: request.resource.aliases().map(str::to_owned).collect(),
            effects: effects_of(request),
        };
        let changed = policy.decide_change(&change, Caller::Apply, &self.values);
        let (decision, analysis) = self.with_later_commands(policy, changed, request);
        let is_sensitive = !analysis.commands.is_empty() && is_sensitive(request);
        let judged = (&decision, &analysis);
        self.verdict(policy, &id.to_string(), judged, is_sensitive, request.noop, |question| {
            let planned = self.manifest.planned.filter(|_| question.noop);
            let left = planned.and_then(|planned| planned.answer(false));
            left.unwrap_or_else(|| self.desk(policy).ask_change(request, question))
        })
    }
}

impl<'s> PolicyGate<'s> {
    /// Adds the decisions on the commands that a resource writes for others to run, in front of the decision on its
    /// change.
    fn with_later_commands(
        &self,
        policy: &'s Policy,
        changed: PolicyDecision,
        request: &ChangeRequest<'_>,
    ) -> (PolicyDecision, Analysis) {
        let (mut decision, mut analysis) = (changed, Analysis::default());
        for command in request.resource.later_commands() {
            let found = analysis_of_written(&command.subject, workspace_of(policy));
            let judged = policy.decide(&found, Caller::Apply, &self.values);
            let position = analysis.commands.len();
            // The positions of parents are those within the own analysis, which nothing here looks at.
            analysis.commands.extend(found.commands);
            analysis.unreadable = analysis.unreadable.or(found.unreadable);
            decision.commands.splice(position..position, judged.commands);
            decision.unreadable = decision.unreadable.or(judged.unreadable);
            decision.verdict = decision.verdict.max(judged.verdict);
        }
        (decision, analysis)
    }
}

impl Gate for PolicyGate<'_> {
    async fn before_command(&self, request: &CommandRequest<'_>) -> GateVerdict {
        match self.judge_command(request) {
            GateVerdict::Allow => self.gate.before_command(request).await,
            refusal => refusal,
        }
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> GateVerdict {
        match self.judge_change(request) {
            GateVerdict::Allow => self.gate.before_change(request).await,
            refusal => refusal,
        }
    }
}

impl ConditionValues for RunValues<'_> {
    fn user(&self) -> Option<String> {
        let find = || self.commands.account(&current_user().to_string()).ok().map(|account| account.name);
        self.user.get_or_init(find).clone()
    }

    fn facts(&self) -> Option<Value> {
        self.facts.get_or_init(|| self.governance.doors.facts()).clone()
    }

    fn now(&self) -> Timestamp {
        Timestamp::try_from(self.governance.doors.clock().now()).unwrap_or_default()
    }
}

/// Returns the refusal of a policy that can't be used.
fn unusable(reason: &str) -> GateVerdict {
    let hints = vec!["run `ccm policy check`".to_owned()];
    GateVerdict::Deny { reason: format!("the policy can't be used: {reason}"), hints }
}

/// Returns the effects of a change: on what the resource claims, and on everything in the directories that it fills.
fn effects_of(request: &ChangeRequest<'_>) -> Vec<Effect> {
    let everything =
        |kind, path: &str| Effect { is_recursive: true, ..Effect::on_path(kind, path, &MachineLookup) };
    let claims = request.resource.claims();
    let mut effects: Vec<Effect> = claims.iter().filter_map(effect).collect();
    for (path, is_purged) in request.resource.reaches() {
        effects.push(everything(EffectKind::Write, path));
        if is_purged {
            effects.push(everything(EffectKind::Delete, path));
        }
    }
    effects
}

/// Returns the effect of a change on what a resource claims.
fn effect(claim: &ccm_model::Claim<'_>) -> Option<Effect> {
    let key = claim.key.to_string();
    let effect = |kind| Some(Effect::new(kind, Some(key.clone())));
    match claim.kind {
        ClaimKind::Path if claim.desired == PathKind::Nothing => {
            Some(Effect { is_recursive: true, ..Effect::on_path(EffectKind::Delete, key, &MachineLookup) })
        }
        ClaimKind::Path => Some(Effect::on_path(EffectKind::Write, key, &MachineLookup)),
        ClaimKind::Unit => effect(EffectKind::Service),
        ClaimKind::Package => effect(EffectKind::Package),
        ClaimKind::User | ClaimKind::Group => effect(EffectKind::Account),
        ClaimKind::AuthorizedKey => {
            let user = key.split_once(' ').map_or(&*key, |(user, _)| user);
            Some(Effect::new(EffectKind::Account, Some(user.to_owned())))
        }
        ClaimKind::KernelParameter | ClaimKind::KernelModule => effect(EffectKind::Kernel),
        ClaimKind::MountPoint => effect(EffectKind::System),
        // The file has a claim of its own.
        _ => None,
    }
}

/// Returns `true` if a resource hides its properties.
fn is_sensitive(request: &ChangeRequest<'_>) -> bool {
    let properties = request.resource.properties();
    properties.given().any(|entry| &*entry.key.text == "sensitive" && entry.value.as_text() == Some("true"))
}

/// Returns the workspace of the policy.
pub(super) fn workspace_of(policy: &Policy) -> Option<Workspace> {
    let workspace = policy.workspace();
    workspace.path.clone().map(|path| Workspace { path, is_restricted: workspace.restrict })
}

/// Analyses a command that a resource writes for others to run. Only root's home directory is known.
fn analysis_of_written(command: &CommandSubject, workspace: Option<Workspace>) -> Analysis {
    let request = match &command.line {
        WrittenLine::Words(words) => PolicyRequest::words(words.iter().cloned(), &*command.directory),
        WrittenLine::Shell(text) => PolicyRequest::text(&**text, ShellDialect::Sh, &*command.directory),
    };
    let home = (command.place == CommandPlace::Host).then(|| ("HOME".to_owned(), "/root".to_owned()));
    let base = [("PATH".to_owned(), SEARCH_PATH.to_owned())].into_iter().chain(home);
    let request = PolicyRequest {
        environment: base.chain(command.environment.iter().cloned()).collect(),
        added_variables: command.environment.clone(),
        input: command.input.clone().map_or(RequestInput::Empty, RequestInput::Text),
        workspace,
        ..request
    };
    analyse(&request, &CachedMachine::default(), &AnalysisLimits::default())
}

/// Analyses a command that is about to start. Variables besides those of the base environment are judged as well.
pub(super) fn analysis_of(
    workspace: Option<Workspace>,
    command: &Command,
    base_variables: &[String],
) -> Analysis {
    let machine = CachedMachine::default();
    let directory = command.cwd.to_str().filter(|directory| directory.starts_with('/')).unwrap_or("/");
    let request = if let Some(text) = command.shell_text() {
        PolicyRequest::text(text, dialect(&command.program), directory)
    } else {
        let arguments: Option<Vec<&str>> = command.args.iter().map(|argument| argument.to_str()).collect();
        let program = written_program(command, &machine);
        let Some((program, arguments)) = program.zip(arguments) else { return not_utf8() };
        let words = std::iter::once(program).chain(arguments);
        PolicyRequest::words(words, directory)
    };
    let request = PolicyRequest {
        environment: command.environment.clone(),
        added_variables: command
            .environment
            .iter()
            .filter(|(name, _)| !base_variables.contains(name))
            .cloned()
            .collect(),
        input: command.stdin.clone().map_or(RequestInput::Empty, |bytes| {
            String::from_utf8(bytes).map_or(RequestInput::Unknown, RequestInput::Text)
        }),
        workspace,
        ..request
    };
    let limits = AnalysisLimits::default();
    if command.image.is_some() {
        analyse(&request, &UnseenMachine, &limits)
    } else {
        analyse(&request, &machine, &limits)
    }
}

/// Returns the program of a command as a manifest writes it: the name alone, if the search path leads to the program.
fn written_program<'c>(command: &'c Command, machine: &CachedMachine) -> Option<&'c str> {
    let path = command.program.to_str()?;
    let Some(name) = command.called_as.as_deref() else { return Some(path) };
    let search_path = search_path(&command.environment).unwrap_or_default();
    let directory = command.cwd.to_str().unwrap_or("/");
    let found = machine.find_program(name, search_path, directory);
    Some(if found.is_some_and(|found| found.path == path) { name } else { path })
}

/// Returns the dialect of a shell.
fn dialect(shell: &Path) -> ShellDialect {
    match shell.file_name().and_then(std::ffi::OsStr::to_str) {
        Some("bash") => ShellDialect::Bash,
        _ => ShellDialect::Sh,
    }
}

fn not_utf8() -> Analysis {
    Analysis {
        commands: Vec::new(),
        unreadable: Some(UnreadableRequest {
            class: GuardClass::Unreadable,
            message: "an argument is not UTF-8 text".to_owned(),
            hint: None,
            span: ShellSpan::default(),
        }),
    }
}
