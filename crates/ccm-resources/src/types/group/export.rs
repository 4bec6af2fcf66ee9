//! Export of groups.

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::GroupType;
use crate::parts::accounts::lookup::Accounts;
use crate::parts::accounts::{GroupLine, LocalAccounts};
use crate::support::export::{is_personal, no_form};

impl Export for GroupType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let accounts = LocalAccounts::of(context).await?;
        let is_listed = |group: &&GroupLine| scope == InstanceScope::All || is_personal(group.gid);
        Ok(accounts
            .groups()
            .iter()
            .filter(is_listed)
            .map(|group| group.name.clone())
            .collect::<Vec<_>>()
            .into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let local = LocalAccounts::of(context).await?;
        let Some(group) = local.group(name) else {
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            let of_service = Accounts::of(context).await.group(name).ok().flatten().filter(|_| !is_number);
            return match of_service {
                Some(_) => {
                    Err(no_form(format!("group `{name}` comes from a name service, not from /etc/group")))
                }
                None => Ok(None),
            };
        };
        let state = ExportedState::default();
        let is_personal = is_personal(group.gid);
        let state = if is_personal { state.with("gid", group.gid) } else { state };
        let members = Some(group.members.clone()).filter(|members| !members.is_empty());
        let state = state.with_some("members", members);
        Ok(Some(match (is_personal, group.gid) {
            (true, _) => state,
            (false, 0) => state.read_only("gid", "0"),
            (false, gid) => state.with("system", true).read_only("gid", gid.to_string()),
        }))
    }
}
