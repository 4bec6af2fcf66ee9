//! Groups of resources: the manifest of the run, and each child manifest in it.
//!
//! [`Groups`] holds the policy of each group, resolved once. [`GroupProgress`] holds the outcomes of its
//! members.

use std::path::Path;

use ccm_model::{Catalog, Failure, FailureKind, GroupIndex, Outcome, ResourceIndex};

use crate::names::NameList;
use crate::rules::EngineRule;
use crate::run::Run;

/// Maximum number of failed members that the failure of a group names.
const MAX_NAMED: usize = 5;

/// Position of the group of all resources, which is the run itself.
const RUN: usize = 0;

/// Policy of a group, with that of the groups around it and of the run.
pub(crate) struct GroupPolicy<'a> {
    /// The group is in noop in this run.
    pub noop: bool,
    /// The group is in noop in every run.
    pub is_always_noop: bool,
    /// A member that fails ends the group, or a group around it.
    pub ends_on_failure: bool,
    /// Directory that relative paths of members start from.
    pub directory: &'a Path,
    /// A member that fails ends this group.
    fail_on_error: bool,
    parent: Option<usize>,
    node: Option<ResourceIndex>,
    /// Number of resources in the group and in the groups in it.
    resources: usize,
}

/// Policies of all groups of a run.
pub(crate) struct Groups<'a> {
    catalog: &'a Catalog,
    policies: Vec<GroupPolicy<'a>>,
}

impl<'a> Groups<'a> {
    pub(crate) fn new(run: &Run<'a>) -> Self {
        let catalog = run.catalog;
        let fail_on_error = run.fail_on_error || catalog.fail_on_error;
        let mut policies = vec![GroupPolicy {
            noop: run.noop,
            is_always_noop: false,
            ends_on_failure: fail_on_error,
            directory: run.directory,
            fail_on_error,
            parent: None,
            node: None,
            resources: catalog.resources.len(),
        }];
        for (group, node) in catalog.groups.iter().zip(catalog.group_nodes()) {
            let parent = group.parent.map_or(RUN, position);
            let around = &policies[parent];
            policies.push(GroupPolicy {
                noop: around.noop || group.noop,
                is_always_noop: around.is_always_noop || group.noop,
                ends_on_failure: around.ends_on_failure || group.fail_on_error,
                directory: &group.directory,
                fail_on_error: group.fail_on_error,
                parent: Some(parent),
                node,
                resources: 0,
            });
        }
        let mut groups = Self { catalog, policies };
        if !catalog.groups.is_empty() {
            groups.count();
        }
        groups
    }

    fn count(&mut self) {
        for index in self.catalog.indices() {
            let around: Vec<usize> = self.groups_of(index).filter(|group| *group != RUN).collect();
            for group in around {
                self.policies[group].resources += 1;
            }
        }
    }

    /// Returns the policy of the run.
    pub(crate) fn of_run(&self) -> &GroupPolicy<'a> {
        &self.policies[RUN]
    }

    /// Returns the policy that a resource is subject to. The node of a group shares the policy of its
    /// members.
    pub(crate) fn policy(&self, of: ResourceIndex) -> &GroupPolicy<'a> {
        let resource = self.catalog.resource(of);
        &self.policies[resource.node_of.or(resource.group).map_or(RUN, position)]
    }

    /// Returns `true` if `on` is in noop in every run while `index` is not, so that `index` can't rely on a
    /// change there.
    pub(crate) fn is_never_done_for(&self, on: ResourceIndex, index: ResourceIndex) -> bool {
        self.policy(on).is_always_noop && !self.policy(index).is_always_noop
    }

    /// Returns the nodes of the groups that a resource is a member of, outwards. A change of the resource
    /// counts as a change of these nodes.
    pub(crate) fn nodes_around(&self, of: ResourceIndex) -> impl Iterator<Item = ResourceIndex> {
        self.groups_of(of).filter_map(|group| self.policies[group].node)
    }

    /// Returns the groups that a resource is a member of, outwards.
    fn groups_of(&self, of: ResourceIndex) -> impl Iterator<Item = usize> {
        let first = self.catalog.resource(of).group.map_or(RUN, position);
        std::iter::successors(Some(first), |group| self.policies[*group].parent)
    }
}

/// Position of a group among the policies, behind that of the run.
fn position(group: GroupIndex) -> usize {
    group.get() + 1
}

/// Group that ended because a member failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndedGroup {
    /// All resources of the run.
    Run {
        /// The member that failed.
        culprit: ResourceIndex,
    },
    /// A child manifest.
    Group {
        /// The member that failed.
        culprit: ResourceIndex,
    },
}

#[derive(Clone, Default)]
struct MemberOutcomes {
    /// A member changed or, if the group is in noop, would have.
    has_changed: bool,
    /// A member changed, or may have been changed before it failed.
    may_have_changed: bool,
    /// Members that failed, including those of nested groups, but not the nodes of nested groups.
    failed: Vec<ResourceIndex>,
    /// The first member that failed, if that ends the group.
    ended_by: Option<ResourceIndex>,
}

/// Outcomes of the members of each group so far.
pub(crate) struct GroupProgress<'a> {
    groups: &'a Groups<'a>,
    progress: Vec<MemberOutcomes>,
}

impl<'a> GroupProgress<'a> {
    pub(crate) fn new(groups: &'a Groups<'a>) -> Self {
        Self { groups, progress: vec![MemberOutcomes::default(); groups.policies.len()] }
    }

    /// Records the outcome of a resource for the groups that it is a member of.
    pub(crate) fn record(&mut self, index: ResourceIndex, outcome: &Outcome) {
        let failure = match outcome {
            Outcome::Failed(failure) => Some(failure),
            _ => None,
        };
        if failure.is_none() && !outcome.is_change() {
            return;
        }
        let is_always_noop = self.groups.policy(index).is_always_noop;
        let may_have_changed = failure
            .map_or(matches!(outcome, Outcome::Changed | Outcome::Refreshed), |failure| failure.changed);
        // A group fails with its members, which were recorded before.
        let fails = failure.is_some_and(|failure| failure.kind != FailureKind::Child);
        for group in self.groups.groups_of(index) {
            let policy = &self.groups.policies[group];
            let progress = &mut self.progress[group];
            progress.has_changed |= outcome.is_change() && (!is_always_noop || policy.is_always_noop);
            progress.may_have_changed |= may_have_changed;
            if fails {
                progress.failed.push(index);
                if policy.fail_on_error {
                    progress.ended_by.get_or_insert(index);
                }
            }
        }
    }

    /// Returns the outermost group around a resource that has ended.
    pub(crate) fn ended(&self, index: ResourceIndex) -> Option<EndedGroup> {
        let ended = self.groups.groups_of(index).filter_map(|group| {
            let culprit = self.progress[group].ended_by?;
            Some(if group == RUN { EndedGroup::Run { culprit } } else { EndedGroup::Group { culprit } })
        });
        ended.last()
    }

    /// Returns `true` if a member of the group failed.
    pub(crate) fn has_failed(&self, group: GroupIndex) -> bool {
        !self.progress[position(group)].failed.is_empty()
    }

    /// Returns the outcome of the node of a group after all its members, and the rule that led to it.
    pub(crate) fn outcome(&self, group: GroupIndex) -> (Outcome, Option<EngineRule<'static>>) {
        let (policy, progress) = (&self.groups.policies[position(group)], &self.progress[position(group)]);
        if !progress.failed.is_empty() {
            let names = NameList::new(self.groups.catalog, &progress.failed, MAX_NAMED);
            let message = match policy.resources {
                1 => format!("its only resource failed: {names}"),
                all => format!("{} of its {all} resources failed: {names}", progress.failed.len()),
            };
            let mut failure = Failure::new(FailureKind::Child, message);
            failure.changed = progress.may_have_changed;
            return (Outcome::Failed(Box::new(failure)), None);
        }
        match (progress.has_changed, policy.noop) {
            (false, _) => (Outcome::Unchanged, Some(EngineRule::ChildUnchanged)),
            (true, false) => (Outcome::Changed, Some(EngineRule::ChildChanged)),
            (true, true) => {
                // That of the action.
                let message = String::new();
                (Outcome::WouldChange { message }, Some(EngineRule::ChildChanged))
            }
        }
    }
}
