//! Late values of the tests.

use ccm_engine::{LateValues, Resolved, RunProgress};
use ccm_model::{Control, Failure, Resource, ResourceIndex};

/// Late values whose conditions do not hold.
pub(crate) struct Off;

impl LateValues for Off {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(
        &self,
        _: ResourceIndex,
        resource: &Resource,
        _: &dyn RunProgress,
    ) -> Result<Resolved, Failure> {
        Ok(match resource.control {
            Control::Late => Resolved::NotManaged { reason: "`if` is false".to_owned() },
            _ => Resolved::AsWritten,
        })
    }
}
