//! The sandbox of a call: the profile of the policy, as far as the analysis of the command needs it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ccm_host::{AllowedPrograms, SandboxLimit, SandboxLimits, SandboxRequest, Workdir, canonical_path};
use ccm_policy::{Analysis, EffectKind, Policy, PolicyDecision, PolicyProfile, ProgramSet};
use serde_json::{Value, json};

/// Profile without a sandbox.
pub(crate) const PRIVILEGED: &str = "privileged_operator_approved";
const READ_ONLY: &str = "read_only_local";
const NO_NETWORK: &str = "no_network_compute";

/// Files of a repository whose change would run programs later.
const FIXED: [&str; 2] = [".git/hooks", ".git/config"];

/// Directories of the root that a profile without a list for reading opens.
const READABLE: [&str; 8] = ["/etc", "/home", "/media", "/mnt", "/opt", "/root", "/srv", "/var"];

const APT: [&str; 4] =
    ["/var/lib/dpkg", "/var/lib/apt/lists", "/var/lib/apt/extended_states", "/var/cache/apt"];

const MANUALS: [&str; 4] = ["/etc/groff", "/etc/man_db.conf", "/etc/manpath.config", "/var/cache/man"];

/// Programs that show packages and pages of manuals, and the databases that they read. They hold no secrets.
const DATABASES: [(&str, &[&str]); 11] = [
    ("dpkg", &["/var/lib/dpkg"]),
    ("dpkg-query", &["/var/lib/dpkg"]),
    ("apt", &APT),
    ("apt-cache", &APT),
    ("apt-mark", &APT),
    ("apt-get", &APT),
    ("rpm", &["/var/lib/rpm"]),
    ("pacman", &["/var/lib/pacman"]),
    ("man", &MANUALS),
    ("apropos", &MANUALS),
    ("whatis", &MANUALS),
];

/// Sandbox of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallSandbox {
    /// Name of the profile.
    pub(crate) profile: String,
    /// Confinement; `None` only for the profile without one.
    pub(crate) request: Option<SandboxRequest>,
    /// Programs that may be started; `None` is any.
    pub(crate) programs: Option<AllowedPrograms>,
}

/// Chooses the sandbox of a command. A profile that a rule names counts only if all commands of the text have it.
pub(crate) fn choose(
    policy: &Policy,
    analysis: &Analysis,
    decision: &PolicyDecision,
    workspace: &Path,
) -> CallSandbox {
    let profile = profile_name(policy, decision);
    let settings = policy.sandbox();
    if profile == PRIVILEGED {
        return CallSandbox { profile: profile.to_owned(), request: None, programs: None };
    }
    let own = settings.profiles.get(profile);
    let programs = own.and_then(|own| own.programs.as_ref()).unwrap_or(&settings.programs);
    let base = SandboxRequest { fixed: FIXED.map(PathBuf::from).into(), ..SandboxRequest::default() };
    let request = match (profile, own) {
        (READ_ONLY, _) => SandboxRequest {
            workdir: Workdir::Private,
            read: vec![workspace.to_owned()],
            fixed: Vec::new(),
            ..base
        },
        (NO_NETWORK, _) | (_, None) => SandboxRequest { workdir: Workdir::At(workspace.to_owned()), ..base },
        (_, Some(own)) => of_profile(own, analysis, workspace, base),
    };
    let read = [request.read, databases(analysis)].concat();
    let request = SandboxRequest { read, ..request };
    CallSandbox {
        profile: profile.to_owned(),
        request: Some(request),
        programs: allowed_programs(programs, analysis),
    }
}

/// Returns the databases that the commands read, as far as this machine has them.
fn databases(analysis: &Analysis) -> Vec<PathBuf> {
    let names: Vec<&str> = analysis.commands.iter().filter_map(|command| command.base_name()).collect();
    let listed = DATABASES.iter().filter(|(name, _)| names.contains(name));
    let databases: BTreeSet<PathBuf> =
        listed.flat_map(|(_, paths)| paths.iter().map(PathBuf::from)).collect();
    databases.into_iter().filter(|path| canonical_path(path).is_some()).collect()
}

/// Returns the profile of a decision.
fn profile_name<'p>(policy: &'p Policy, decision: &PolicyDecision) -> &'p str {
    let default = &policy.sandbox().default.value;
    let of_rule = |rule: Option<usize>| {
        let rule = policy.rules().get(rule?)?;
        rule.sandbox.as_ref().map(|sandbox| &*sandbox.value)
    };
    let mut names = decision.commands.iter().map(|command| of_rule(command.sandbox_rule));
    match names.next() {
        Some(Some(first)) if names.all(|name| name == Some(first)) => first,
        _ => default,
    }
}

fn of_profile(
    profile: &PolicyProfile,
    analysis: &Analysis,
    workspace: &Path,
    base: SandboxRequest,
) -> SandboxRequest {
    let paths = |paths: &[String]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
    let mut read = match &profile.read {
        Some(read) => paths(read),
        None => READABLE.iter().map(PathBuf::from).collect(),
    };
    let write = paths(&profile.write);
    let may_write = write.iter().any(|path| workspace.starts_with(path));
    if !may_write {
        read.push(workspace.to_owned());
    }
    let mut limits = SandboxLimits::default();
    if let Some(memory) = profile.memory {
        limits.memory = SandboxLimit::requested(memory);
    }
    if let Some(processes) = profile.processes.and_then(|processes| u64::try_from(processes).ok()) {
        limits.processes = SandboxLimit::requested(processes);
    }
    SandboxRequest {
        workdir: if may_write { Workdir::At(workspace.to_owned()) } else { Workdir::Private },
        network: profile.network && needs_network(analysis),
        unix_sockets: profile.unix_sockets,
        read,
        write,
        limits,
        ..base
    }
}

/// Returns `true` unless every command is known to do without a network.
fn needs_network(analysis: &Analysis) -> bool {
    is_open(analysis)
        || analysis.commands.iter().flat_map(|command| &command.effects).any(|effect| {
            matches!(
                effect.kind,
                EffectKind::Network
                    | EffectKind::Remote
                    | EffectKind::Publish
                    | EffectKind::Package
                    | EffectKind::Container
            )
        })
        || analysis.commands.iter().any(|command| {
            // A program without effects of its own is one that the tables do not know.
            command.program.is_some() && command.effects.iter().all(|effect| effect.kind == EffectKind::Run)
        })
}

/// Returns `true` if commands run what the analysis does not see: code, build tools, programs that are not known.
fn is_open(analysis: &Analysis) -> bool {
    let effects = analysis.commands.iter().flat_map(|command| &command.effects);
    effects.into_iter().any(|effect| {
        effect.kind == EffectKind::Code || (effect.kind == EffectKind::Run && effect.object.is_none())
    })
}

fn allowed_programs(set: &ProgramSet, analysis: &Analysis) -> Option<AllowedPrograms> {
    let programs: BTreeSet<PathBuf> = match set {
        ProgramSet::Any => return None,
        ProgramSet::Listed(paths) => paths.iter().map(PathBuf::from).collect(),
        ProgramSet::Analysed if is_open(analysis) => return None,
        ProgramSet::Analysed => {
            let locations =
                analysis.commands.iter().filter_map(|command| command.program.as_ref()?.location.as_ref());
            let helpers = analysis.helper_programs()?;
            locations.map(|location| &*location.path).chain(helpers).map(PathBuf::from).collect()
        }
    };
    Some(AllowedPrograms { programs: programs.into_iter().collect(), are_analysed: true })
}

impl CallSandbox {
    /// Returns the sandbox as an object that approvers see.
    pub(crate) fn json(&self) -> Value {
        let paths =
            |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let Some(request) = &self.request else {
            return json!({ "profile": self.profile, "confined": false });
        };
        json!({
            "profile": self.profile,
            "confined": true,
            "network": request.network,
            "unix_sockets": request.unix_sockets,
            "workdir": match &request.workdir {
                Workdir::At(path) => path.display().to_string(),
                Workdir::Private | Workdir::Manifest => "private".to_owned(),
            },
            "read": paths(&request.read),
            "write": paths(&request.write),
            "memory": request.limits.memory.max,
            "processes": request.limits.processes.max,
            "programs": self.programs.as_ref().map(|programs| paths(&programs.programs)),
        })
    }
}
