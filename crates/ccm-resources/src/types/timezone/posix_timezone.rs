//! Provider posix: the link `/etc/localtime`, and `/etc/timezone` where it exists.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{FileKind, InspectOptions};
use ccm_model::Failure;

use super::decide::{DesiredTimezone, LocalTime, TimezoneDifference, TimezoneState};
use crate::parts::text::TextFile;
use crate::support::file_failure::{check_replaceable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

pub(super) const LOCAL_TIME: &str = "/etc/localtime";
pub(super) const FILE: &str = "/etc/timezone";

pub(crate) struct PosixTimezone;

impl Provider<Object<DesiredTimezone>> for PosixTimezone {
    async fn status(
        &self,
        zone: &DesiredTimezone,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<TimezoneState, Failure> {
        let files = context.host.files;
        let failure = |error| file_failure(&error);
        let path = Path::new(LOCAL_TIME);
        let inspect = |path| files.inspect(path, InspectOptions::default()).map_err(failure);
        let local_time = match files.link_target(path).map_err(failure)? {
            Some(target) => LocalTime::Link(target),
            None if inspect(path)?.target.is_some() => LocalTime::File,
            None => LocalTime::Missing,
        };
        let file = TextFile::read(Path::new(FILE), context)?;
        let mut state = TimezoneState { local_time, file, zone_exists: true };
        if !matches!(zone.plan(&state), ObjectPlan::Keep { .. }) {
            let found = inspect(&zone.file())?.target;
            state.zone_exists = found.is_some_and(|file| file.kind == FileKind::File);
        }
        if reading.is_before() {
            for difference in zone.plan(&state).differences() {
                match difference {
                    TimezoneDifference::Zone { .. } => check_replaceable(path, files)?,
                    TimezoneDifference::Saved { .. } => state.file.check_replaceable(context)?,
                }
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        zone: &DesiredTimezone,
        state: &TimezoneState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Some(differences) = zone.plan(state).differences_of_permanent()? else { return Ok(()) };
        let mut changed = false;
        for difference in differences {
            let done = match difference {
                TimezoneDifference::Zone { .. } => {
                    let made = context.host.files.make_link(Path::new(LOCAL_TIME), &zone.file(), true);
                    made.map_err(|error| file_failure(&error))
                }
                TimezoneDifference::Saved { to, .. } => {
                    state.file.write(format!("{to}\n").into(), context).map(drop)
                }
            };
            done.map_err(|failure| Failure { changed: changed || failure.changed, ..failure })?;
            changed = true;
        }
        Ok(())
    }
}
