//! Export of packages. Their versions are remarks: a manifest that names one holds the machine back.

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::PackageType;
use crate::parts::packages::{
    Apt, Dnf, Installation, OwnTool, Pacman, Presence, Tool, manual_packages, name_error, shared_database,
};
use crate::support::export::no_form;

impl Export for PackageType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        if scope == InstanceScope::MadeByHand {
            return Ok(manual_packages(context).await?.into());
        }
        match own_tool(context)? {
            OwnTool::Apt => installed(&Apt, context).await,
            OwnTool::Dnf => installed(&Dnf, context).await,
            OwnTool::Pacman => installed(&Pacman, context).await,
        }
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if let Some((message, _)) = name_error(name) {
            return Err(no_form(message));
        }
        match own_tool(context)? {
            OwnTool::Apt => found(&Apt, name, context).await,
            OwnTool::Dnf => found(&Dnf, name, context).await,
            OwnTool::Pacman => found(&Pacman, name, context).await,
        }
    }
}

fn own_tool(context: &Context<'_>) -> Result<OwnTool, NotExported> {
    OwnTool::of(context.host).ok_or_else(|| no_form("none of the package tools that ccm knows is here"))
}

async fn installed<T: Tool>(tool: &T, context: &Context<'_>) -> Result<Instances, NotExported> {
    let database = shared_database(tool, context).await?;
    let mut names: Vec<String> = tool.installed(&database).map(|name| tool.base(name).to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names.into())
}

async fn found<T: Tool>(
    tool: &T,
    name: &str,
    context: &Context<'_>,
) -> Result<Option<ExportedState>, NotExported> {
    let database = shared_database(tool, context).await?;
    let Installation { presence, arch, elsewhere, .. } = tool.find(&database, name);
    match presence {
        Presence::Installed(version) => {
            let state = ExportedState::default().read_only("version", tool.scheme().shown(&version));
            Ok(Some(match arch {
                Some(arch) => state.read_only("architecture", arch),
                None => state,
            }))
        }
        Presence::Unfinished(status) => {
            Err(no_form(format!("package `{name}` is only partly installed ({status})")))
        }
        Presence::Gone | Presence::ConfigFiles if elsewhere.is_empty() => Ok(None),
        Presence::Gone | Presence::ConfigFiles => {
            let name = name.split(':').next().unwrap_or(name);
            let hint = elsewhere.first().map(|arch| format!("name the package `{name}:{arch}`"));
            let reason =
                format!("package `{name}` is installed for another architecture: {}", elsewhere.join(", "));
            Err(hint.into_iter().fold(no_form(reason), NotExported::with_hint))
        }
    }
}
