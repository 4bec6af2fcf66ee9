//! Provider systemd: a transient unit that waits for the end of the run, and `shutdown`.

use std::path::Path;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{Exit, Host, Role, own_process};
use ccm_model::Failure;

use super::decide::{DesiredReboot, RebootKind, RebootState};
use crate::parts::systemd::suitability;
use crate::support::program::Program;

/// Time limit of a call. None waits for the reboot.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Files that exist in containers.
const CONTAINER_MARKS: [&str; 3] = ["/run/systemd/container", "/.dockerenv", "/run/.containerenv"];

/// Files that exist while a shutdown is scheduled, or while the unit waits for the end of a run.
const SCHEDULED: [&str; 2] = ["/run/systemd/shutdown/scheduled", "/run/systemd/transient/ccm-reboot.service"];

/// File of the Debian family that exists while the system waits for a reboot, and the packages that want it.
const REQUIRED: &str = "/run/reboot-required";
const REQUIRED_BY: &str = "/run/reboot-required.pkgs";

/// Maximum size of the list of packages, and number of those that are shown.
const MAX_LIST: u64 = 1 << 16;
const MAX_SHOWN: usize = 5;

/// Program of the Red Hat family that exits with 1 if the system waits for a reboot.
const NEEDS_RESTARTING: &str = "needs-restarting";

/// Waits for the end of ccm, whose number is the first argument, and schedules the reboot.
const SCRIPT: &str = r#"tail --pid="$1" -f /dev/null; exec shutdown -r "+$2" "$3""#;

pub(crate) struct SystemdReboot;

impl Provider<RebootKind> for SystemdReboot {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        if is_container(host) {
            // The decision says why nothing is done.
            return Suitability::Suits(1);
        }
        suitability(host)
    }

    async fn status(
        &self,
        reboot: &DesiredReboot,
        _: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<RebootState, Failure> {
        let files = context.host.files;
        let exists = |path: &str| files.exists(Path::new(path)).unwrap_or_default();
        let mut state = RebootState {
            is_container: is_container(context.host),
            is_scheduled: SCHEDULED.iter().any(|path| exists(path)),
            pending: None,
        };
        if state.is_container || reboot.is_always {
            return Ok(state);
        }
        if exists(REQUIRED) {
            let list = files.content(Path::new(REQUIRED_BY), MAX_LIST).ok().flatten().unwrap_or_default();
            let list = String::from_utf8_lossy(&list).into_owned();
            let mut names: Vec<&str> = list.lines().map(str::trim).filter(|name| !name.is_empty()).collect();
            names.dedup();
            names.truncate(MAX_SHOWN);
            state.pending = Some(if names.is_empty() { REQUIRED.to_owned() } else { names.join(", ") });
            return Ok(state);
        }
        let program = Program::new(NEEDS_RESTARTING).with(["-r"]).time_limit(TIMEOUT);
        if program.is_installed(context.host) {
            let finished = program.finish(Role::Query, &*context).await?;
            match program.failure(&finished) {
                None => {}
                Some(_) if finished.exit == Exit::Code(1) => {
                    state.pending = Some(format!("`{NEEDS_RESTARTING} -r`"));
                }
                Some(failure) => return Err(failure),
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        reboot: &DesiredReboot,
        _: &RebootState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let (own, minutes) = (own_process().0.to_string(), reboot.minutes.to_string());
        let args = [
            "--quiet",
            "--collect",
            "--unit=ccm-reboot",
            "--description=Reboot after a run of ccm",
            "--",
            "/bin/sh",
            "-c",
            SCRIPT,
            "sh",
            &own,
            &minutes,
            &reboot.message,
        ];
        Program::new("systemd-run").with(args).time_limit(TIMEOUT).run(&*context).await
    }
}

fn is_container(host: Host<'_>) -> bool {
    CONTAINER_MARKS.iter().any(|path| host.files.exists(Path::new(path)).unwrap_or_default())
}
