//! The pure decision about a part of a file.

use std::marker::PhantomData;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Undescribed, Verified};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb};

use super::rules::{PartCondition, PartRule};
use super::state::{PartState, describe};
use super::{FilePart, PartChange, PartChangeKind, PartPlan};
use crate::parts::diff::{ChangedContent, DiffScope};
use crate::support::file_failure::mount_point;
use crate::support::values::canonical_path::directory_of;

pub(crate) struct PartKind<P>(PhantomData<P>);

/// Plan for a file; an error is a conflict.
#[derive(Debug)]
pub(crate) enum EditPlan {
    Keep,
    Create(PartChange),
    Edit(PartChange),
}

impl<P: FilePart> ResourceKind for PartKind<P> {
    type Properties = P;
    type State = PartState;
    type Effect = ();
    type Rule = PartRule;

    fn decide(part: &P, state: &PartState, _: Option<&Trigger>) -> Decision<PartRule> {
        decide(part, state)
    }

    fn verify(part: &P, state: &PartState, (): &()) -> Result<Verified<PartRule>, Failure> {
        let as_desired = |failure: Failure| {
            let path = part.target().path.display();
            let failure =
                failure.because_of(format!("\"{path}\" is not in the desired state after the change"));
            Failure { kind: FailureKind::Verification, ..failure }
                .with_hint("check whether another program changes this file at the same time")
        };
        match plan(part, state) {
            Ok(EditPlan::Keep) => Ok(Verified::Changed),
            Ok(EditPlan::Create(_) | EditPlan::Edit(_)) => {
                let is = if part.target().is_absent { "is still in the file" } else { "is not in the file" };
                let message = format!("the {} {is}", P::NAME);
                Err(as_desired(Failure::new(FailureKind::Verification, message)))
            }
            Err(failure) => Err(as_desired(failure)),
        }
    }

    fn describe(part: &P, state: &PartState, _: &str) -> Described {
        describe(part, state)
    }

    fn undescribed(_: &P, state: &PartState) -> Undescribed {
        // A file that does not exist is described as absent.
        Undescribed { found: state.content().to_vec(), desired: Vec::new() }
    }
}

pub(crate) fn decide<P: FilePart>(part: &P, state: &PartState) -> Decision<PartRule> {
    let target = part.target();
    let rule = |condition| PartRule { part: P::NAME, condition };
    let (change, is_new) = match plan(part, state) {
        Ok(EditPlan::Keep) => {
            let condition = if target.is_absent { PartCondition::Absent } else { PartCondition::AsDesired };
            return Decision::Keep { reason: rule(condition) };
        }
        Err(failure) => return Decision::Fail { reason: rule(PartCondition::Conflict), failure },
        Ok(EditPlan::Create(change)) => (change, true),
        Ok(EditPlan::Edit(change)) => (change, false),
    };
    let path = target.path.display().to_string();
    let lines = change.lines;
    let action = Action::new(if is_new { Verb::Create } else { Verb::Change }).of(path);
    let action = if target.sensitive {
        action.changing("content", None, None)
    } else {
        action.changing_lines("content", lines)
    };
    let diff = state.diff.then(|| {
        let old = state.content.as_ref().map(|content| content.as_slice());
        let scope = DiffScope {
            path: &target.path,
            sensitive: target.sensitive,
            holds_secret: state.holds_secret,
            size: old.map_or(0, <[u8]>::len).max(change.content.len()) as u64,
            hidden_lines: &state.hidden_lines,
        };
        scope.diff(ChangedContent { old, new: &change.content })
    });
    let condition = match change.kind {
        _ if is_new => PartCondition::NoFile,
        PartChangeKind::Add => PartCondition::Missing,
        PartChangeKind::Replace => PartCondition::Differs(change.at),
        PartChangeKind::Remove => PartCondition::Present(change.at),
    };
    Decision::Change { reason: rule(condition), action, diff }
}

pub(crate) fn plan<P: FilePart>(part: &P, state: &PartState) -> Result<EditPlan, Failure> {
    if state.is_as_desired {
        return Ok(EditPlan::Keep);
    }
    let target = part.target();
    if state.content.is_none() {
        if target.is_absent {
            return Ok(EditPlan::Keep);
        }
        if state.parent_missing {
            return Err(parent_missing(part));
        }
        if !target.create {
            return Err(no_file(part));
        }
    }
    let change = match part.plan(state.content()) {
        Ok(PartPlan::Keep) => return Ok(EditPlan::Keep),
        Ok(PartPlan::Change(change)) => change,
        Err(conflict) => return Err(conflict.failure(target)),
    };
    if let Some(mount) = &state.mount {
        return Err(mount_point(mount));
    }
    if state.content.is_none() {
        return Ok(EditPlan::Create(change));
    }
    if target.backup && !state.can_back_up {
        let failure = Failure::conflict("`backup` needs a state directory");
        return Err(failure
            .of_property("backup")
            .with_hint("set HOME or XDG_STATE_HOME, or remove `backup`"));
    }
    Ok(EditPlan::Edit(change))
}

fn no_file(part: &impl FilePart) -> Failure {
    let path = &part.target().path;
    Failure::conflict(format!("the file \"{}\" does not exist", path.display()))
        .of_property("path")
        .with_missing(MissingPrerequisite::Path(path.clone()))
        .with_hint("check the path, or set `create: true` to make the file")
}

fn parent_missing(part: &impl FilePart) -> Failure {
    let directory = directory_of(&part.target().path);
    let message = format!("the directory \"{}\" does not exist", directory.display());
    Failure::conflict(message)
        .of_property("path")
        .with_missing(MissingPrerequisite::Path(directory.to_owned()))
        .with_hint("manage the directory with a file resource and `ensure: directory`")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::rc::Rc;

    use super::super::{PartConflict, PartTarget, TextLines, several_matches};
    use super::*;
    use crate::support::decision_table::assert_rows;

    const TABLE: &str = include_str!("decide_table.txt");

    struct NewForOld(PartTarget);

    impl FilePart for NewForOld {
        const NAME: &'static str = "line";

        fn target(&self) -> &PartTarget {
            &self.0
        }

        fn texts(&self) -> Vec<&str> {
            vec!["new"]
        }

        fn plan(&self, content: &[u8]) -> Result<PartPlan, PartConflict> {
            let lines = TextLines::parse(content)?;
            let [new, old] = [&b"new"[..], b"old"].map(|text| lines.positions(|line| line == text));
            match (self.0.is_absent, &new[..], &old[..]) {
                (true, ..) => Ok(PartPlan::remove(lines, new)),
                (false, [_, ..], _) => Ok(PartPlan::Keep),
                (false, [], []) => Ok(PartPlan::add(lines, &[0], &[b"new"])),
                (false, [], [_]) => Ok(PartPlan::replace(lines, old, b"new")),
                (false, [], several) => Err(several_matches("match", several)),
            }
        }
    }

    fn part(ensure: &str, asks: &str) -> NewForOld {
        let asks = |what: &str| asks.split(',').any(|asked| asked == what);
        NewForOld(PartTarget {
            resource_name: "name".to_owned(),
            path: PathBuf::from("/d/f"),
            is_absent: ensure == "absent",
            create: asks("create"),
            backup: asks("backup"),
            sensitive: asks("sensitive"),
            validators: Vec::new(),
        })
    }

    fn state(found: &str, has_state: &str) -> PartState {
        let (kind, lines) = found.split_once('>').unwrap_or(("", found));
        let content = lines.split(',').fold(String::new(), |content, line| content + line + "\n");
        let is_there = !matches!(lines, "nothing" | "no-parent");
        PartState {
            content: is_there.then(|| Rc::new(content.into_bytes())),
            parent_missing: lines == "no-parent",
            mount: (kind == "mount").then(|| PathBuf::from("/d/f")),
            can_back_up: has_state == "yes",
            ..PartState::default()
        }
    }

    #[test]
    fn decisions_are_as_in_the_table() {
        let rows = assert_rows(TABLE, |[ensure, asks, found, has_state]| {
            decide(&part(ensure, asks), &state(found, has_state))
        });
        assert!(rows >= 25, "{rows} rows");
    }

    #[test]
    fn content_that_was_found_as_desired_is_not_searched_again() {
        for (ensure, condition) in [("present", PartCondition::AsDesired), ("absent", PartCondition::Absent)]
        {
            // This content would be changed.
            let found = if ensure == "present" { "x" } else { "new" };
            let state = PartState { is_as_desired: true, ..state(found, "yes") };
            let kept = decide(&part(ensure, "-"), &state);
            assert_eq!(kept, Decision::Keep { reason: PartRule { part: "line", condition } });
            assert_eq!(describe(&part(ensure, "-"), &state).ensure, ensure);
        }
    }

    #[test]
    fn a_part_is_verified_by_the_decision() {
        for (ensure, found, message) in [
            ("present", "x", Some("the line is not in the file")),
            ("present", "new", None),
            ("absent", "new", Some("the line is still in the file")),
            ("absent", "x", None),
        ] {
            let verified = PartKind::verify(&part(ensure, "-"), &state(found, "yes"), &());
            let failure = verified.err();
            assert_eq!(failure.as_ref().map(|failure| &*failure.chain[1]), message);
            assert!(failure.is_none_or(|failure| failure.kind == FailureKind::Verification));
        }
    }
}
