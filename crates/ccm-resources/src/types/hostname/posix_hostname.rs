//! Provider posix: the name of the kernel, changed by hostname, and the file `/etc/hostname`.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};

use ccm_model::{Failure, FailureKind};

use super::decide::{DesiredHostname, HostnameDifference, HostnameState};
use crate::parts::text::{TextFile, read_text};
use crate::support::object_plan::{Object, ObjectType};
use crate::support::program::Program;

pub(super) const FILE: &str = "/etc/hostname";
const KERNEL_OPTIONS: &str = "/proc/cmdline";
pub(super) const RUNNING: &str = "/proc/sys/kernel/hostname";

pub(crate) struct PosixHostname;

impl Provider<Object<DesiredHostname>> for PosixHostname {
    async fn status(
        &self,
        name: &DesiredHostname,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<HostnameState, Failure> {
        let running = read_text(Path::new(RUNNING), context)?.unwrap_or_default();
        let file = TextFile::read(Path::new(FILE), context)?;
        // Only a warning depends on it.
        let kernel_options = read_text(Path::new(KERNEL_OPTIONS), context).ok().flatten().unwrap_or_default();
        let state = HostnameState { running: running.trim_end().to_owned(), file, kernel_options };
        let is_saved =
            |difference: &HostnameDifference| matches!(difference, HostnameDifference::Saved { .. });
        if reading.is_before() && name.plan(&state).differences().iter().any(is_saved) {
            state.file.check_replaceable(context)?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        name: &DesiredHostname,
        state: &HostnameState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let Some(differences) = name.plan(state).differences_of_permanent()? else { return Ok(()) };
        let mut running_before = None;
        for difference in differences {
            match difference {
                HostnameDifference::Running { from, to } => {
                    set(&to, context).await.map_err(|failure| match failure.kind {
                        FailureKind::Exit => failure.with_hint(
                            "set the name of a container where it is made, or add `control` to leave it out here",
                        ),
                        _ => failure,
                    })?;
                    running_before = Some(from);
                }
                HostnameDifference::Saved { to, .. } => {
                    let written = state.file.write(state.with(&to), context);
                    if let (Err(failure), Some(before)) = (&written, &running_before) {
                        let is_undone = set(before, context).await.is_ok();
                        return Err(Failure { changed: !is_undone, ..failure.clone() });
                    }
                    written?;
                }
            }
        }
        Ok(())
    }
}

/// Sets the name of the kernel.
async fn set(name: &str, context: &Context<'_>) -> Result<(), Failure> {
    Program::new("hostname").in_package("`hostname`").with([name]).run(context).await
}
