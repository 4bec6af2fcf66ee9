//! Provider shadow: groupadd, groupmod, groupdel and gpasswd.

use ccm_engine::{Context, Provider, ReadPurpose};

use ccm_model::Failure;

use super::decide::{DesiredGroup, GroupDifference, GroupState};
use crate::parts::accounts::lookup::Accounts;
use crate::parts::accounts::{AccountDatabase, AccountFile, AccountTool, LocalAccounts, check_account_files};
use crate::support::file_failure::file_failure;
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

pub(crate) struct ShadowGroups;

impl Provider<Object<DesiredGroup>> for ShadowGroups {
    async fn status(
        &self,
        group: &DesiredGroup,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<GroupState, Failure> {
        let local = LocalAccounts::of(context).await?;
        let mut state = GroupState { found: local.group(&group.name).cloned(), ..GroupState::default() };
        let lookup_failure = |error| file_failure(&error);
        let accounts = Accounts::of(context).await;
        if state.found.is_none() {
            state.service_gid = accounts.group(&group.name).map_err(lookup_failure)?;
        }
        if group.is_absent && (state.found.is_some() || state.service_gid.is_some()) {
            state.remaining_service = AccountDatabase::Groups.other_service_with(&group.name, context).await;
        }
        match (&state.found, group.is_absent) {
            (Some(found), true) => {
                state.primary_of = local.with_primary_group(found.gid).map(|user| user.name.clone());
                let others = local.groups_with(found.gid).find(|other| other.name != found.name);
                state.same_number = others.map(|other| other.name.clone());
            }
            (_, true) => {}
            (found, false) => {
                let is_other = group.gid.filter(|gid| found.as_ref().is_none_or(|found| found.gid != *gid));
                if let Some(gid) = is_other {
                    let owner = local.group_of(gid).map(|owner| owner.name.clone());
                    let service_owner = || {
                        let name = accounts.group_name(gid);
                        (*name != *gid.to_string() && *name != *group.name).then(|| name.to_string())
                    };
                    state.gid_owner = owner.or_else(service_owner);
                }
                for member in group.members.iter().flatten() {
                    let is_member = found.as_ref().is_some_and(|found| found.members.contains(member));
                    let exists = is_member
                        || local.user(member).is_some()
                        || accounts.user(member).map_err(lookup_failure)?.is_some();
                    if !exists {
                        state.missing_members.push(member.clone());
                    }
                }
            }
        }
        if reading.is_before() && !matches!(group.plan(&state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_))
        {
            check_account_files(AccountFile::GROUPS, context.host.files)?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        group: &DesiredGroup,
        state: &GroupState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let name = ["--", &*group.name];
        let (differences, is_new) = match group.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Remove => return AccountTool::new("groupdel").with(name).run(context).await,
            ObjectPlan::Create(differences) => (differences, true),
            ObjectPlan::Change(differences) => (differences, false),
        };
        let mut changed = false;
        if is_new {
            let create = AccountTool::new("groupadd")
                .with(group.system.then_some("--system"))
                .with_value("--gid", group.gid.map(|gid| gid.to_string()));
            create.with(name).run(context).await?;
            changed = true;
        }
        for difference in differences {
            match difference {
                GroupDifference::Gid { .. } if is_new => {}
                GroupDifference::Gid { to, .. } => {
                    let tool = AccountTool::new("groupmod").with_value("--gid", Some(to.to_string()));
                    tool.with(name).run(context).await?;
                    changed = true;
                }
                GroupDifference::Members { added, removed, .. } => {
                    let added = added.iter().map(|member| ("--add", member));
                    for (option, member) in added.chain(removed.iter().map(|member| ("--delete", member))) {
                        let tool = AccountTool::new("gpasswd").with_value(option, Some(member)).with(name);
                        tool.run(context).await.map_err(|failure| Failure { changed, ..failure })?;
                        changed = true;
                    }
                }
            }
        }
        Ok(())
    }
}
