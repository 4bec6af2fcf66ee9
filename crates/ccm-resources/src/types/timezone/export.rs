//! Export of the time zone.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};

use super::TimezoneType;
use super::decide::LocalTime;
use super::posix_timezone::LOCAL_TIME;
use crate::support::export::no_form;
use crate::support::file_failure::file_failure;

/// Zones of a machine for which nobody chose one.
const DEFAULTS: [&str; 4] = ["Etc/UTC", "UTC", "Etc/UCT", "Universal"];

impl Export for TimezoneType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        let zone = zone(context)?;
        let is_listed = |zone: &String| scope == InstanceScope::All || !DEFAULTS.contains(&&**zone);
        Ok(zone.filter(is_listed).into_iter().collect::<Vec<_>>().into())
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        Ok(zone(context)?.filter(|zone| zone == name).map(|_| ExportedState::default()))
    }
}

/// Returns the zone; `None` if the machine has none.
fn zone(context: &Context<'_>) -> Result<Option<String>, NotExported> {
    let (files, path) = (context.host.files, Path::new(LOCAL_TIME));
    let target = files.link_target(path).map_err(|error| file_failure(&error))?;
    match target.map(LocalTime::Link) {
        Some(link) => match link.zone() {
            Some(zone) => Ok(Some(zone.to_owned())),
            None => {
                Err(no_form(format!("\"{LOCAL_TIME}\" does not lead to a zone of the time zone database")))
            }
        },
        None if files.exists(path).unwrap_or(false) => {
            Err(no_form(format!("\"{LOCAL_TIME}\" is a copy of a zone, and does not have its name")))
        }
        None => Ok(None),
    }
}
