//! The provider of holds, shared by the package tools.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::Host;
use ccm_model::{Failure, FailureKind};

use super::decide::{DesiredHold, HoldState};
use crate::parts::packages::{CommandLimits, HoldTool, Presence, run_waiting_for_locks, shared_database};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::program::ProgramScope;

/// Time limit of a change.
const TIMEOUT: Duration = Duration::from_secs(600);

pub(crate) struct PackageHolds<T>(pub T);

/// Holds of the run so far, with the name that all spellings of their package have.
#[derive(Default)]
struct HoldsOfRun(RefCell<HashMap<String, DesiredHold>>);

/// Returns the failure of a hold that contradicts an earlier one of the same package under another name.
fn check_duplicates(hold_name: &str, hold: &DesiredHold, context: &Context<'_>) -> Result<(), Failure> {
    let holds: Rc<HoldsOfRun> = context.run_cache();
    let mut holds = holds.0.borrow_mut();
    let first = holds.entry(hold_name.to_owned()).or_insert_with(|| hold.clone());
    if first.is_absent == hold.is_absent {
        return Ok(());
    }
    let message = format!(
        "package_hold#{} and package_hold#{} are the hold of one package on this machine and contradict each other",
        hold.name, first.name
    );
    let hint = "keep one of them, or limit each to some machines with `control`";
    Err(Failure::conflict(message).with_hint(hint))
}

impl<T: HoldTool> Provider<Object<DesiredHold>> for PackageHolds<T> {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        self.0.suitability(host)
    }

    async fn status(
        &self,
        hold: &DesiredHold,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<HoldState, Failure> {
        let database = shared_database(&self.0, context).await?;
        if reading.is_before() {
            check_duplicates(self.0.hold_name(&database, &hold.name), hold, context)?;
        }
        let version = match self.0.find(&database, &hold.name).presence {
            Presence::Installed(version) => Some(self.0.scheme().shown(&version).to_owned()),
            _ => None,
        };
        let is_held = self.0.is_held(&database, &hold.name);
        let mut providers = Vec::new();
        if version.is_none() && !is_held && reading.is_before() {
            let scope = ProgramScope::from(&*context);
            let mut by_name = self.0.providers(scope, &database, &[&hold.name]).await?;
            providers = by_name.remove(&hold.name).unwrap_or_default();
        }
        let held_providers =
            providers.iter().filter(|provider| self.0.is_held(&database, provider)).cloned().collect();
        let state = HoldState { version, is_held, providers, held_providers };
        if reading.is_before() && !matches!(hold.plan(&state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_))
        {
            self.0.check_holds(context)?;
        }
        Ok(state)
    }

    async fn execute(
        &self,
        hold: &DesiredHold,
        state: &HoldState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let holds = match hold.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Create(_) | ObjectPlan::Change(_) => true,
            ObjectPlan::Remove => false,
        };
        if !context.host.system.own_identity().is_ok_and(|identity| identity.uid == 0) {
            let message = "only root can hold packages";
            return Err(Failure::new(FailureKind::Change, message).with_hint("run ccm as root"));
        }
        let call = self.0.hold(context.host, &hold.name, holds);
        let limits = CommandLimits { work: Some(TIMEOUT), lock: hold.lock_timeout };
        run_waiting_for_locks(&call, limits, context).await
    }
}
