//! Export of kernel parameters.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::SysctlType;
use super::boot_files::BootFiles;
use super::decide::DEFAULT_FILE;
use super::procfs::running_value;
use super::properties::are_equal;
use crate::parts::packages::owned_paths;
use crate::parts::parameter_key::ParameterKey;
use crate::support::export::no_form;

impl Export for SysctlType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let parameters = BootFiles::of(context).await.of_administrator();
        let owned = match scope {
            InstanceScope::All => None,
            InstanceScope::MadeByHand => Some(owned_paths(context).await?),
        };
        let is_listed = |path: &Path| owned.as_ref().is_none_or(|owned| !owned.has_as_shipped(path, context));
        // A value that somebody saved and never set is described by its file alone.
        let is_set = |key: &ParameterKey, value: &str| {
            scope == InstanceScope::All
                || running_value(key, context)
                    .is_ok_and(|found| found.is_some_and(|found| are_equal(&found, value)))
        };
        let listed =
            parameters.into_iter().filter(|(key, value, path)| is_listed(path) && is_set(key, value));
        Ok(listed.map(|(key, ..)| shown_name(&key)).collect::<Vec<_>>().into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let Some(key) = ParameterKey::parse(name) else {
            return Err(no_form(format!("`{}` is not the name of a kernel parameter", name.escape_debug())));
        };
        let Some(running) = running_value(&key, context)? else { return Ok(None) };
        let saved = BootFiles::of(context).await.of_administrator();
        let saved = saved.into_iter().find(|(found, ..)| *found == key);
        let state = ExportedState::default().with("value", &*running);
        Ok(Some(match saved {
            None => state.read_only("at boot", "not set by a file below /etc"),
            Some((_, value, path)) => {
                let is_default = path == Path::new(DEFAULT_FILE);
                let state = state.with_some("file", (!is_default).then(|| path.display().to_string()));
                if are_equal(&running, &value) { state } else { state.read_only("at boot", value) }
            }
        }))
    }
}

/// Returns the name as `sysctl -a` prints it. A part with a dot needs slashes between the parts.
fn shown_name(key: &ParameterKey) -> String {
    let key = key.to_string();
    if key.contains('.') { key } else { key.replace('/', ".") }
}
