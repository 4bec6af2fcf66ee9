//! Export of the name of the machine.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::HostnameType;
use super::decide::HostnameState;
use super::posix_hostname::{FILE, RUNNING};
use crate::parts::text::{TextFile, read_text};

/// Names of a machine that nobody named.
const UNNAMED: [&str; 5] = ["", "localhost", "localhost.localdomain", "(none)", "debian"];

impl Export for HostnameType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let state = read(context)?;
        let name = state.saved().unwrap_or(state.running);
        let is_listed = scope == InstanceScope::All || !UNNAMED.contains(&&*name);
        Ok(is_listed.then_some(name).into_iter().collect::<Vec<_>>().into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let state = read(context)?;
        let saved = state.saved();
        if state.running != name && saved.as_deref() != Some(name) {
            return Ok(None);
        }
        let other = [Some(state.running), saved].into_iter().flatten().find(|other| other != name);
        let found = ExportedState::default();
        Ok(Some(match other {
            Some(other) => found.read_only("other name", other),
            None => found,
        }))
    }
}

fn read(context: &Context<'_>) -> Result<HostnameState, NotExported> {
    let running = read_text(Path::new(RUNNING), context)?.unwrap_or_default().trim_end().to_owned();
    let file = TextFile::read(Path::new(FILE), context)?;
    Ok(HostnameState { running, file, ..HostnameState::default() })
}
