//! Provider docker: as posix, in a container. Only resources that name the provider use it; an `executor` alone
//! suffices for the others.

use ccm_model::{DiagnosticKind, NodeMap, escape_control};
use ccm_properties::PropertyError;

use super::executor::ExecutorSettings;
use super::properties::ExecProperties;

pub(crate) const NAME: &str = "docker";

/// Returns the error of an exec that names this provider without an executor of its kind.
pub(crate) fn executor_error(
    provider: Option<&str>,
    written: &ExecProperties,
    settings: &NodeMap,
) -> Option<PropertyError> {
    if provider != Some(NAME) {
        return None;
    }
    let Some(name) = written.executor.as_deref() else {
        let message = "`provider: docker` needs an `executor` of the kind `docker`";
        let hint = "declare the executor in `executors` below `ccm`, and name it with `executor`";
        return Some(PropertyError::new(DiagnosticKind::Missing, "executor", message).with_hint(hint));
    };
    // An executor that is missing or invalid is another error.
    let executor = ExecutorSettings::find(settings, name).ok().filter(|found| found.container().is_none())?;
    let name = escape_control(&executor.name);
    let message = format!(
        "`provider: docker` needs an executor of the kind `docker`, and `{name}` starts commands on this host"
    );
    let hint = "leave out `provider`, or name another executor";
    Some(PropertyError::conflict("executor", message, hint))
}
