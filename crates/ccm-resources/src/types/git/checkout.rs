//! Provider git: the program of that name.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{
    Account, AccountError, ChangedPart, FileInfo, FileKind, Files, InspectOptions, PathTrust, WalkStep,
};
use ccm_model::{Failure, FailureKind, MissingPrerequisite};

use super::clone::clone;
use super::decide::CheckoutEffect;
use super::desired::DesiredCheckout;
use super::git_tool::GitTool;
use super::repository::{PorcelainStatus, STATUS, origin, outdated_submodules};
use super::revision::GitRevision;
use super::stale_references::blocking_branches;
use super::state::{CheckoutPresence, CheckoutState, RevisionTarget, TargetKind};
use super::stored_references::stored_references;
use super::update::{is_begun, is_interrupted, resolve, update};
use crate::parts::path_walk::{FOR_PROGRAM, WalkedPath};
use crate::support::file_failure::{check_writable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

pub(crate) struct GitCheckouts;

impl Provider<Object<DesiredCheckout>> for GitCheckouts {
    async fn status(
        &self,
        desired: &DesiredCheckout,
        reading: ReadPurpose<'_, CheckoutEffect>,
        context: &mut Context<'_>,
    ) -> Result<CheckoutState, Failure> {
        let done = match reading {
            ReadPurpose::Before { .. } => None,
            ReadPurpose::After(effect) => Some(effect),
        };
        let files = context.host.files;
        let mut state = CheckoutState::default();
        let found =
            files.inspect(&desired.path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
        let parent = desired
            .path
            .parent()
            .filter(|parent| found.parent_missing && !context.would_be_directory(parent));
        state.missing_parent = parent.map(Path::to_owned);
        let repository = desired.path.join(".git");
        let mut owner = found.target.as_ref().map(|target| target.uid);
        state.presence = match found.target.map(|target| target.kind) {
            _ if found.link => CheckoutPresence::Occupied("a symbolic link"),
            None => CheckoutPresence::Missing,
            Some(FileKind::File) => CheckoutPresence::Occupied("a file"),
            Some(FileKind::Special(what)) => CheckoutPresence::Occupied(what),
            Some(FileKind::Directory { empty: Some(true) }) => CheckoutPresence::Empty,
            Some(FileKind::Directory { .. }) => {
                let found = files.inspect(&repository, InspectOptions::default());
                let found = found.map_err(|error| file_failure(&error))?;
                match found.target.filter(|_| !found.link) {
                    Some(FileInfo { kind: FileKind::Directory { empty }, uid, .. }) => {
                        let is_begun = empty == Some(true) || is_begun(&repository, files);
                        if !is_begun {
                            owner = Some(uid);
                            CheckoutPresence::Repository
                        } else if has_one_entry(&desired.path, files)? {
                            CheckoutPresence::Empty
                        } else {
                            CheckoutPresence::Occupied("a directory with other files")
                        }
                    }
                    _ => CheckoutPresence::Occupied("a directory with other files"),
                }
            }
        };
        if matches!(state.presence, CheckoutPresence::Empty | CheckoutPresence::Repository)
            && let Some(owner) = owner
        {
            read_owner(owner, desired, &mut state, context)?;
        }
        let runs_git = match state.presence {
            CheckoutPresence::Repository => state.foreign_owner.is_none(),
            CheckoutPresence::Missing => !desired.is_absent,
            CheckoutPresence::Empty => !desired.is_absent && state.foreign_owner.is_none(),
            CheckoutPresence::Occupied(_) => false,
        };
        if runs_git {
            check_way(desired, &state, context)?;
        }
        if state.presence == CheckoutPresence::Repository && state.foreign_owner.is_none() {
            read_repository(desired, &repository, done, &mut state, context).await?;
        }
        if done.is_none() {
            let changed = match (desired.plan(&state), &state.presence) {
                (ObjectPlan::Keep { .. } | ObjectPlan::Fail(_), _) => return Ok(state),
                (ObjectPlan::Create(_), CheckoutPresence::Missing) => ChangedPart::NewDirectory,
                (ObjectPlan::Remove, _) => ChangedPart::Entry,
                (ObjectPlan::Create(_) | ObjectPlan::Change(_), _) => ChangedPart::Inside,
            };
            check_writable(&desired.path, changed, files)?;
            check_entered(desired, context)?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        desired: &DesiredCheckout,
        state: &CheckoutState,
        context: &mut Context<'_>,
    ) -> Result<CheckoutEffect, Failure> {
        match desired.plan(state) {
            ObjectPlan::Keep { .. } => Ok(CheckoutEffect::default()),
            ObjectPlan::Fail(failure) => Err(failure),
            ObjectPlan::Create(_) => clone(desired, state, context).await,
            ObjectPlan::Change(differences) => update(desired, state, &differences, context).await,
            ObjectPlan::Remove => {
                let removed = context.host.files.remove(&desired.path, true);
                removed.map_err(|error| file_failure(&error))?;
                Ok(CheckoutEffect::default())
            }
        }
    }

    async fn preflight(
        &self,
        desired: &DesiredCheckout,
        state: &CheckoutState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        if let ObjectPlan::Create(_) = desired.plan(state) {
            resolve(desired, &GitTool::of(desired, Path::new("/")), context).await?;
        }
        Ok(Vec::new())
    }
}

fn has_one_entry(directory: &Path, files: &dyn Files) -> Result<bool, Failure> {
    let found = files.walk(directory, &|_, _| WalkStep::List).map_err(|error| file_failure(&error))?;
    Ok(found.is_some_and(|found| found.len() == 1))
}

/// Reads what the owner of the directory or repository means for the user who runs git.
fn read_owner(
    owner: u32,
    desired: &DesiredCheckout,
    state: &mut CheckoutState,
    context: &Context<'_>,
) -> Result<(), Failure> {
    if owner == run_uid(desired, context)? || desired.is_absent && state.presence == CheckoutPresence::Empty {
        return Ok(());
    }
    if state.presence == CheckoutPresence::Empty && owner == own_uid(context)? {
        state.is_given = true;
        return Ok(());
    }
    let name = context.host.files.user_name(owner).ok().flatten();
    state.foreign_owner = Some(name.unwrap_or_else(|| owner.to_string()));
    Ok(())
}

/// Returns the failure of running git in a directory that a stranger could exchange. With the rights of `user` alone, git
/// can do what that user can do.
fn check_way(desired: &DesiredCheckout, state: &CheckoutState, context: &Context<'_>) -> Result<(), Failure> {
    let trust = PathTrust { user: run_uid(desired, context).ok(), ..FOR_PROGRAM };
    let path = match state.presence {
        CheckoutPresence::Missing | CheckoutPresence::Occupied(_) => desired.path.clone(),
        // The directory itself is on the way.
        CheckoutPresence::Empty | CheckoutPresence::Repository => desired.path.join(".git"),
    };
    let refusal = WalkedPath::of(&path, trust, context.host.files).refusal;
    refusal.map_or(Ok(()), |refusal| {
        let hint = "use a directory that nobody else can change, or set `user` to its owner, so that git has no other rights";
        Err(Failure { hints: vec![hint.to_owned()], ..refusal }.of_property("path"))
    })
}

/// Returns the failure of a git whose user may not enter the directory of the checkout. What ccm makes there belongs to
/// the user.
fn check_entered(desired: &DesiredCheckout, context: &Context<'_>) -> Result<(), Failure> {
    let files = context.host.files;
    let above = desired.path.parent().unwrap_or(&desired.path);
    let Some(account) = account(desired, context)? else { return Ok(()) };
    let Some(closed) = files.closed_directory(&account.identity, above, false) else { return Ok(()) };
    let owner = files.user_name(closed.owner).ok().flatten().unwrap_or_else(|| closed.owner.to_string());
    let (directory, user) = (closed.path.display(), &account.name);
    let message =
        format!("\"{directory}\" belongs to `{owner}`, and `{user}`, who runs git, may not enter it");
    Err(Failure::conflict(message)
        .of_property("user")
        .with_missing(MissingPrerequisite::Path(closed.path.clone()))
        .with_hint(format!("use a `path` that `{user}` may enter, or another `user`")))
}

async fn read_repository(
    desired: &DesiredCheckout,
    repository: &Path,
    done: Option<&CheckoutEffect>,
    state: &mut CheckoutState,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let files = context.host.files;
    let tool = GitTool::of(desired, &desired.path);
    state.is_interrupted = is_interrupted(repository, files);
    state.url = origin(repository, files)?;
    let submodules =
        if desired.submodules { "--ignore-submodules=untracked" } else { "--ignore-submodules=all" };
    let printed = tool.read(&[&STATUS[..], &[submodules]].concat(), context).await?;
    PorcelainStatus { commit: state.commit, branch: state.branch, changed_files: state.changed_files } =
        PorcelainStatus::parse(&printed);
    if desired.is_absent {
        if state.commit.is_some() {
            let all = ["HEAD", "--branches"];
            state.local_commits = local_commits(&all, &tool, context).await?;
        }
        return Ok(());
    }
    if desired.submodules {
        let printed = tool.read(&["submodule", "status", "--recursive"], context).await?;
        state.outdated_submodules = outdated_submodules(&printed);
    }
    state.target = match done {
        Some(done) if desired.revision.is_some() => done.target.clone(),
        // A clone that was interrupted has no commit yet, and gets that of the default branch.
        _ if desired.revision.is_none()
            && (done.is_some() || state.commit.is_some() || !state.is_interrupted) =>
        {
            None
        }
        _ => target(desired, state, &tool, context).await?,
    };
    if let Some(RevisionTarget { kind: TargetKind::Branch(name), commit }) = &state.target
        && done.is_none()
    {
        let branch = format!("refs/heads/{name}");
        let own = match &state.branch {
            Some(current) if current == name => state.commit.clone(),
            _ => {
                state.blocking_branches = blocking_branches(name, &tool, context).await?;
                references(&[&branch], state, desired, &tool, context).await?.pop().flatten()
            }
        };
        let moved = own.filter(|own| own != commit).map(|_| &branch);
        let lost: Vec<&str> = moved.into_iter().chain(&state.blocking_branches).map(String::as_str).collect();
        if !lost.is_empty() {
            state.local_commits = local_commits(&lost, &tool, context).await?;
        }
    }
    Ok(())
}

/// Returns the number of commits that neither a branch of the repository nor a tag has.
async fn local_commits(of: &[&str], tool: &GitTool, context: &Context<'_>) -> Result<usize, Failure> {
    let args = [&["rev-list", "--count"], of, &["--not", "--remotes", "--tags"]].concat();
    Ok(tool.read(&args, context).await?.trim().parse().unwrap_or(1))
}

/// Resolves the desired revision. A tag that was fetched is not asked for again.
async fn target(
    desired: &DesiredCheckout,
    state: &CheckoutState,
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<Option<RevisionTarget>, Failure> {
    let is_same_url = desired.url.as_ref().is_none_or(|url| state.url.as_deref() == Some(&*url.0));
    let tag = match &desired.revision {
        Some(GitRevision::Tag(name)) => Some(name),
        Some(GitRevision::Named(name)) if state.branch.as_ref() != Some(name) => Some(name),
        _ => None,
    };
    if let Some(name) = tag.filter(|_| is_same_url) {
        let reference = format!("refs/tags/{name}");
        // A branch of the same name has precedence.
        let branch = matches!(desired.revision, Some(GitRevision::Named(_)))
            .then(|| format!("refs/remotes/origin/{name}"));
        let names: Vec<&str> = [&reference].into_iter().chain(&branch).map(String::as_str).collect();
        let found = references(&names, state, desired, tool, context).await?;
        if let [Some(commit)] | [Some(commit), None] = &found[..] {
            let (kind, commit) = (TargetKind::Tag(name.clone()), commit.clone());
            return Ok(Some(RevisionTarget { kind, commit }));
        }
    }
    resolve(desired, tool, context).await
}

/// Returns the commits of references of the checkout. git is only started if the files of the repository do not have
/// them in a form that ccm reads.
async fn references(
    names: &[&str],
    state: &CheckoutState,
    desired: &DesiredCheckout,
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<Vec<Option<String>>, Failure> {
    let (repository, head) = (desired.path.join(".git"), state.commit.as_deref());
    if let Some(known) = stored_references(&repository, names, head, context.host.files) {
        return Ok(known);
    }
    let format = "--format=%(refname) %(objectname) %(*objectname)";
    let printed = tool.read(&[&["for-each-ref", format], names].concat(), context).await?;
    let find = |name: &&str| {
        printed.lines().find_map(|line| {
            let mut words = line.split(' ');
            let (found, commit) = (words.next()?, words.next()?);
            let peeled = words.next().filter(|peeled| !peeled.is_empty());
            (found == *name).then(|| peeled.unwrap_or(commit).to_owned())
        })
    };
    Ok(names.iter().map(find).collect())
}

/// Returns the account that git runs as; `None` for the user who runs ccm.
pub(super) fn account(desired: &DesiredCheckout, context: &Context<'_>) -> Result<Option<Account>, Failure> {
    let Some(user) = &desired.user else { return Ok(None) };
    context.host.system.account(user).map(Some).map_err(|error| {
        let failure = Failure::from_error(FailureKind::Read, &error).of_property("user");
        match error {
            AccountError::NoUser { .. } => failure
                .with_missing(MissingPrerequisite::Principal(user.clone()))
                .with_hint(format!("add a `user` resource for `{user}`")),
            _ => failure,
        }
    })
}

fn run_uid(desired: &DesiredCheckout, context: &Context<'_>) -> Result<u32, Failure> {
    if let Some(account) = account(desired, context)? {
        return Ok(account.identity.uid);
    }
    own_uid(context)
}

fn own_uid(context: &Context<'_>) -> Result<u32, Failure> {
    let own = context.host.system.own_identity();
    own.map(|own| own.uid).map_err(|error| Failure::from_error(FailureKind::Read, &error))
}
