//! The pure decision about a scaffold.

use std::path::{Path, PathBuf};

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Undescribed, Verified};
use ccm_host::{FileKind, PathInfo};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb};

use super::desired::DesiredScaffold;
use super::rules::ScaffoldRule;
use crate::parts::tree::plan::TreeChange;
use crate::parts::tree::{TreeState, plan as tree_plan, report};

pub(crate) struct ScaffoldResource;

/// State of the directory and of what is in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScaffoldState {
    pub root: PathInfo,
    /// Missing directories above the directory, the outermost first.
    pub missing_parents: Vec<PathBuf>,
    pub tree: TreeState,
    pub is_top_level: bool,
    pub can_back_up: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScaffoldPlan {
    Keep(ScaffoldRule),
    Make { is_new: bool, changes: Vec<TreeChange> },
    Remove { changes: Vec<TreeChange>, removes_root: bool },
    Fail(Failure),
}

impl ResourceKind for ScaffoldResource {
    type Properties = DesiredScaffold;
    type State = ScaffoldState;
    type Effect = ();
    type Rule = ScaffoldRule;

    fn decide(
        scaffold: &DesiredScaffold,
        state: &ScaffoldState,
        _: Option<&Trigger>,
    ) -> Decision<ScaffoldRule> {
        let diff = || state.tree.details.diff.clone();
        match plan(scaffold, state) {
            ScaffoldPlan::Keep(reason) => Decision::Keep { reason },
            ScaffoldPlan::Fail(failure) => Decision::Fail { reason: ScaffoldRule::Conflict, failure },
            ScaffoldPlan::Make { is_new, changes } => {
                let (reason, verb) = if is_new {
                    (ScaffoldRule::Missing, Verb::Create)
                } else {
                    (ScaffoldRule::Differs(changes.len()), Verb::Change)
                };
                let action = report::add_entries(Action::new(verb), &changes, &state.tree);
                Decision::Change { reason, action, diff: diff() }
            }
            ScaffoldPlan::Remove { changes, .. } => {
                let action = report::add_entries(Action::new(Verb::Remove), &changes, &state.tree);
                Decision::Change { reason: ScaffoldRule::Present(changes.len()), action, diff: diff() }
            }
        }
    }

    fn verify(
        scaffold: &DesiredScaffold,
        state: &ScaffoldState,
        (): &(),
    ) -> Result<Verified<ScaffoldRule>, Failure> {
        let wrong = match plan(scaffold, state) {
            ScaffoldPlan::Keep(_) => return Ok(Verified::Changed),
            ScaffoldPlan::Fail(failure) => failure,
            ScaffoldPlan::Make { changes, .. } | ScaffoldPlan::Remove { changes, .. } => {
                let first = changes.first().map_or(&*scaffold.path, |change| &change.path);
                let message = format!("`{}` in it is not as it should be", first.display());
                Failure::new(FailureKind::Verification, message)
            }
        };
        let message = format!("\"{}\" is not in the desired state after the change", scaffold.path.display());
        Err(Failure { kind: FailureKind::Verification, ..wrong.because_of(message) }
            .with_hint("check whether another program changes this path at the same time"))
    }

    fn describe(_: &DesiredScaffold, state: &ScaffoldState, _: &str) -> Described {
        let ensure = if state.root.target.is_some() { "present" } else { "absent" };
        Described::new(ensure).with("entries", state.tree.found.len())
    }

    fn undescribed(_: &DesiredScaffold, state: &ScaffoldState) -> Undescribed {
        let tree = &state.tree;
        Undescribed::found(&(&state.root, &tree.found)).desired(&(&tree.desired, tree.uid, tree.gid))
    }
}

pub(crate) fn plan(scaffold: &DesiredScaffold, state: &ScaffoldState) -> ScaffoldPlan {
    let path = &scaffold.path;
    let is_there = match state.root.target.as_ref().map(|target| target.kind) {
        _ if state.root.link => {
            return fail(path, "is a symbolic link", "use the path that the link leads to");
        }
        Some(FileKind::Directory { .. }) => true,
        Some(_) if scaffold.is_absent => return ScaffoldPlan::Keep(ScaffoldRule::Absent),
        Some(FileKind::File) => {
            return fail(path, "is a file, not a directory", "move away what is at this path");
        }
        Some(FileKind::Special(_)) => {
            return fail(path, "is a special file, not a directory", "move away what is at this path");
        }
        None => false,
    };
    if scaffold.rules.purge && state.is_top_level {
        return fail(path, "is a directory directly below `/`", "purge a directory in it");
    }
    let plan = if scaffold.is_absent {
        absent(&state.tree)
    } else {
        match tree_plan::changes(path, &scaffold.rules, &state.tree) {
            Err(failure) => return ScaffoldPlan::Fail(failure),
            Ok(changes) if is_there && changes.is_empty() => ScaffoldPlan::Keep(ScaffoldRule::AsDesired),
            Ok(changes) => ScaffoldPlan::Make { is_new: !is_there, changes },
        }
    };
    match plan {
        ScaffoldPlan::Make { .. } | ScaffoldPlan::Remove { .. } if scaffold.backup && !state.can_back_up => {
            let failure = Failure::conflict("`backup` needs a state directory");
            let failure = failure.of_property("backup");
            ScaffoldPlan::Fail(failure.with_hint("set HOME or XDG_STATE_HOME, or remove `backup`"))
        }
        plan => plan,
    }
}

/// Plans the removal of what the templates make, and of directories that become empty.
fn absent(tree: &TreeState) -> ScaffoldPlan {
    let changes = tree_plan::removals(tree);
    if changes.is_empty() {
        return ScaffoldPlan::Keep(ScaffoldRule::Absent);
    }
    let removes_root = changes.len() == tree.found.len() && tree.managed.paths().next().is_none();
    ScaffoldPlan::Remove { changes, removes_root }
}

fn fail(path: &Path, what: &str, hint: &str) -> ScaffoldPlan {
    let failure = Failure::conflict(format!("\"{}\" {what}", path.display()));
    ScaffoldPlan::Fail(failure.with_missing(MissingPrerequisite::Path(path.to_owned())).with_hint(hint))
}
