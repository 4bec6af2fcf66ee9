//! Containers that a run left behind because it was killed.

use ccm_host::ClosedPlan;

use crate::answers::ListedContainer;
use crate::engine_use::EngineUse;
use crate::labels::{KEEP, OWNER, RESOURCE, RUN, RunLabels};

/// Removes the containers that earlier runs of the same state directory left at an Engine, once in a run. Only one
/// run of a state directory exists at a time, so none of them belongs to a run that still lives. A container that is
/// to be kept is stopped, and stays.
pub(crate) async fn once(used: &EngineUse, labels: &RunLabels<'_>, report: &mut ClosedPlan) {
    if used.is_swept.replace(true) {
        return;
    }
    let owner = match labels.owner() {
        Ok(owner) => owner,
        Err(error) => {
            report.warnings.push(format!(
                "ccm can't tell which containers earlier runs left behind, because the state directory has no id: {error}"
            ));
            return;
        }
    };
    // The first command reports an Engine that does not answer.
    let Ok(listed) = used.engine.list(&format!("{OWNER}={owner}")).await else { return };
    for container in listed.iter().filter(|container| container.label(RUN) != labels.run_id()) {
        match sweep(used, container).await {
            Ok(warning) => report.warnings.extend(warning),
            Err(error) => report.warnings.push(format!(
                "the container {} of an earlier run could not be removed: {error}",
                container.name()
            )),
        }
    }
}

/// Removes or stops a container, and returns what is to be reported.
async fn sweep(
    used: &EngineUse,
    container: &ListedContainer,
) -> Result<Option<String>, crate::error::EngineError> {
    let (name, resource, run) = (container.name(), container.label(RESOURCE), container.label(RUN));
    let left = format!("the container {name}, which {resource} of the run {run} left running");
    if container.label(KEEP) != "true" {
        used.engine.remove(&container.id).await?;
        return Ok(Some(format!(
            "removed the container {name}, which {resource} of the run {run} left behind"
        )));
    }
    if container.state != "running" {
        return Ok(None);
    }
    used.engine.signal(&container.id, "SIGKILL").await?;
    Ok(Some(format!("stopped and kept {left}")))
}
