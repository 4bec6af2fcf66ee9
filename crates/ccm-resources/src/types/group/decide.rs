//! The pure decision about a group.

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite, Resource};
use ccm_properties::PropertyError;

use super::properties::GroupProperties;
use crate::parts::accounts::{GroupLine, name_list, still_known};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// The desired group, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredGroup {
    pub name: String,
    pub is_absent: bool,
    pub gid: Option<u32>,
    pub members: Option<Vec<String>>,
    pub members_exclusive: bool,
    pub system: bool,
}

impl DesiredGroup {
    pub(crate) fn build(resource: &Resource, written: GroupProperties) -> Result<Self, Vec<PropertyError>> {
        if written.members_exclusive == Some(true) && written.members.is_none() {
            let message = "`members_exclusive` needs `members`";
            return Err(vec![PropertyError::conflict(
                "members_exclusive",
                message,
                "write `members`; an empty list removes all members",
            )]);
        }
        Ok(Self {
            name: resource.id.name.to_string(),
            is_absent: resource.is_absent(),
            gid: written.gid.map(|gid| gid.0),
            members: written.members.map(|members| members.into_iter().map(|member| member.0).collect()),
            members_exclusive: written.members_exclusive.unwrap_or_default(),
            system: written.system.unwrap_or_default(),
        })
    }
}

/// State of a group, with the obstacles to a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupState {
    /// The group in `/etc/group`.
    pub found: Option<GroupLine>,
    /// Number of the group, if only a name service has it.
    pub service_gid: Option<u32>,
    /// Name service that has a group that is to be absent.
    pub remaining_service: Option<String>,
    /// Another group with the desired number.
    pub gid_owner: Option<String>,
    /// Desired members that do not exist.
    pub missing_members: Vec<String>,
    /// User whose primary group has its number.
    pub primary_of: Option<String>,
    /// Another group with its number.
    pub same_number: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GroupDifference {
    Gid { from: Option<u32>, to: u32 },
    Members { added: Vec<String>, removed: Vec<String>, from: Vec<String>, to: Vec<String> },
}

impl ObjectDifference for GroupDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Gid { .. } => "gid",
            Self::Members { .. } => "members",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Gid { from, to } => (from.map(|from| from.to_string()), Some(to.to_string())),
            Self::Members { from, to, .. } => (Some(name_list(from)), Some(name_list(to))),
        }
    }
}

impl ObjectType for DesiredGroup {
    type State = GroupState;
    type Difference = GroupDifference;
    type Effect = ();

    fn plan(&self, state: &GroupState) -> ObjectPlan<GroupDifference> {
        let differences = differences(self, state);
        let found = match (&state.found, state.service_gid) {
            (Some(found), _) => found,
            (None, Some(_)) if !self.is_absent && differences.is_empty() => {
                return ObjectPlan::Keep { exists: true };
            }
            (None, _) if self.is_absent => return ObjectPlan::Keep { exists: false },
            (None, Some(_)) => return ObjectPlan::Fail(of_service(self)),
            (None, None) => {
                return obstacle(self, state, &differences)
                    .map_or(ObjectPlan::Create(differences), ObjectPlan::Fail);
            }
        };
        if self.is_absent {
            return match &state.primary_of {
                Some(user) => ObjectPlan::Fail(primary_group(found, user, state.same_number.as_deref())),
                None => ObjectPlan::Remove,
            };
        }
        if differences.is_empty() {
            return ObjectPlan::Keep { exists: true };
        }
        obstacle(self, state, &differences).map_or(ObjectPlan::Change(differences), ObjectPlan::Fail)
    }

    fn shown(&self) -> String {
        format!("group `{}`", self.name)
    }

    fn warnings(&self, state: &GroupState) -> Vec<String> {
        let service = state.remaining_service.as_deref();
        let is_known = self.is_absent && (service.is_some() || state.service_gid.is_some());
        is_known.then(|| still_known("group", &self.name, service)).into_iter().collect()
    }

    fn describe(&self, state: &GroupState) -> Described {
        let gid = state.found.as_ref().map(|found| found.gid).or(state.service_gid);
        let ensure = if gid.is_some() { "present" } else { "absent" };
        let members = state.found.as_ref().map(|found| found.members.clone()).unwrap_or_default();
        Described::new(ensure).with("gid", gid).with("members", members)
    }
}

fn differences(group: &DesiredGroup, state: &GroupState) -> Vec<GroupDifference> {
    let from = state.found.as_ref().map(|found| found.gid).or(state.service_gid);
    let gid = group.gid.filter(|gid| Some(*gid) != from).map(|to| GroupDifference::Gid { from, to });
    gid.into_iter().chain(members(group, state)).collect()
}

fn members(group: &DesiredGroup, state: &GroupState) -> Option<GroupDifference> {
    let desired = group.members.as_ref()?;
    let from = state.found.as_ref().map(|found| found.members.clone()).unwrap_or_default();
    let mut added: Vec<String> = Vec::new();
    for member in desired {
        if !from.contains(member) && !added.contains(member) {
            added.push(member.clone());
        }
    }
    let is_extra = |member: &&String| group.members_exclusive && !desired.contains(member);
    let removed: Vec<String> = from.iter().filter(is_extra).cloned().collect();
    let kept = from.iter().filter(|member| !removed.contains(member));
    let to = kept.chain(&added).cloned().collect();
    let differs = !added.is_empty() || !removed.is_empty();
    differs.then_some(GroupDifference::Members { added, removed, from, to })
}

/// Returns the failure if something prevents the change.
fn obstacle(group: &DesiredGroup, state: &GroupState, differences: &[GroupDifference]) -> Option<Failure> {
    differences.iter().find_map(|difference| match difference {
        GroupDifference::Gid { to, .. } => {
            let owner = state.gid_owner.as_ref()?;
            let failure = Failure::conflict(format!("gid {to} belongs to group `{owner}`"))
                .of_property("gid")
                .with_hint(format!(
                    "use another `gid`, or change the number of `{owner}` with an earlier resource"
                ));
            Some(failure.with_missing(MissingPrerequisite::Principal(owner.clone())))
        }
        GroupDifference::Members { added, .. } => {
            let missing = state.missing_members.iter().find(|missing| added.contains(missing))?;
            let failure =
                Failure::conflict(format!("user `{missing}`, a member of `{}`, does not exist", group.name));
            Some(
                failure
                    .of_property("members")
                    .with_missing(MissingPrerequisite::Principal(missing.clone()))
                    .with_hint(format!("add a `user` resource for `{missing}`, or remove the name")),
            )
        }
    })
}

fn of_service(group: &DesiredGroup) -> Failure {
    Failure::conflict(format!("group `{}` comes from a name service, not from /etc/group", group.name))
        .with_hint("change the group where it is managed")
}

/// Returns the failure of removing a primary group. The tools go by its number, whatever other name that has.
fn primary_group(group: &GroupLine, user: &str, same_number: Option<&str>) -> Failure {
    let GroupLine { name, gid, .. } = group;
    let failure = match same_number {
        None => Failure::conflict(format!("group `{name}` is the primary group of user `{user}`"))
            .with_hint("remove the user first, or give it another `gid`"),
        Some(other) => Failure::conflict(format!(
            "group `{name}` has gid {gid}, that of the primary group of user `{user}`, as has group `{other}`"
        ))
        .with_hint(format!("give `{name}` another number first, with `groupmod --gid NUMBER {name}`")),
    };
    failure.with_missing(MissingPrerequisite::Principal(user.to_owned()))
}

#[cfg(test)]
mod tests;
