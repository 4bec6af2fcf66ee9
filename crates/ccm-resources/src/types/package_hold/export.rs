//! Export of holds.

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported, Suitability};

use super::PackageHoldType;
use crate::parts::packages::{Apt, Dnf, HoldTool, Presence, Tool, shared_database};
use crate::support::export::no_form;

impl Export for PackageHoldType {
    async fn instances(&self, _: InstanceScope, context: &mut Context<'_>) -> Result<Instances, NotExported> {
        if has_apt(context)? { held(&Apt, context).await } else { held(&Dnf, context).await }
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if has_apt(context)? { found(&Apt, name, context).await } else { found(&Dnf, name, context).await }
    }
}

/// Returns `true` if apt holds packages here, and `false` if dnf does.
fn has_apt(context: &Context<'_>) -> Result<bool, NotExported> {
    match (Apt.suitability(context.host), Dnf.suitability(context.host)) {
        (Suitability::Suits(apt), Suitability::Suits(dnf)) => Ok(apt <= dnf),
        (Suitability::Suits(_), _) => Ok(true),
        (_, Suitability::Suits(_)) => Ok(false),
        _ => Err(no_form("no package tool that can hold packages is here")),
    }
}

async fn held<T: HoldTool>(tool: &T, context: &Context<'_>) -> Result<Instances, NotExported> {
    let database = shared_database(tool, context).await?;
    let installed = tool.installed(&database).map(|name| tool.base(name));
    let mut names: Vec<String> =
        installed.filter(|name| tool.is_held(&database, name)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names.into())
}

async fn found<T: HoldTool>(
    tool: &T,
    name: &str,
    context: &Context<'_>,
) -> Result<Option<ExportedState>, NotExported> {
    let database = shared_database(tool, context).await?;
    if !tool.is_held(&database, name) {
        return Ok(None);
    }
    let state = ExportedState::default();
    Ok(Some(match tool.find(&database, name).presence {
        Presence::Installed(version) => state.read_only("version", tool.scheme().shown(&version)),
        _ => state,
    }))
}
