//! Units of systemd, read by one call for all rules.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use ccm_check::{Attribute, Fact, FactError, Subject};
use ccm_model::FailureKind;

use super::observation::{Observation, no_attribute, unreadable, within};
use super::{CheckScope, PlacedRule};
use crate::parts::systemd::SYSTEMD_RUNNING;
use crate::parts::systemd::systemctl::Systemctl;

/// Properties that are read.
const PROPERTIES: &str = "--property=LoadState,ActiveState,UnitFileState";

/// State of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitState {
    name: String,
    exists: bool,
    is_enabled: bool,
    is_running: bool,
}

impl Observation for UnitState {
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError> {
        let value = match attribute {
            Attribute::Enabled => self.is_enabled,
            Attribute::Running => self.is_running,
            other => return Err(no_attribute(other)),
        };
        let warning = (!self.exists).then(|| format!("the unit {} does not exist", self.name));
        Ok(Fact { warning, ..value.into() })
    }
}

/// Units of all rules.
pub(super) struct Services<'r> {
    names: Vec<&'r str>,
    states: OnceCell<Option<HashMap<&'r str, UnitState>>>,
}

impl<'r> Services<'r> {
    /// Collects the names of the rules that are judged.
    pub(super) fn of(rules: &[PlacedRule<'r>]) -> Self {
        let names = rules.iter().filter(|placed| !placed.rule.skip).filter_map(|placed| {
            let Subject::Service(name) = &placed.rule.subject else { return None };
            is_name(name).then_some(&**name)
        });
        Self { names: names.collect(), states: OnceCell::new() }
    }

    /// Reads the state of a unit.
    pub(super) async fn observe(
        &self,
        name: &str,
        limit: Duration,
        scope: &CheckScope<'_>,
    ) -> Result<UnitState, FactError> {
        if !is_name(name) {
            return Err(unreadable(format!("`{}` is no name of a unit", name.escape_debug())));
        }
        let unsupported = |reason: String| FactError::Unsupported(reason);
        if !scope.host.files.is_directory(Path::new(SYSTEMD_RUNNING)).unwrap_or(false) {
            return Err(unsupported("systemd does not run on this machine".to_owned()));
        }
        let systemctl = Systemctl::of(false, scope.host);
        let systemctl = systemctl.map_err(|failure| match failure.kind {
            FailureKind::Start => unsupported(failure.one_line()),
            _ => unreadable(failure.one_line()),
        })?;
        if self.states.get().is_none() {
            // One name that systemd refuses makes the call fail for all; then each is read by itself.
            let all = within(limit, scope, show(&self.names, &systemctl, scope)).await?.ok();
            let states = all.map(|states| self.names.iter().copied().zip(states).collect());
            let _set = self.states.set(states);
        }
        if let Some(Some(states)) = self.states.get()
            && let Some(state) = states.get(name)
        {
            return Ok(state.clone());
        }
        let one = within(limit, scope, show(&[name], &systemctl, scope)).await??;
        one.into_iter().next().ok_or_else(|| unreadable("systemctl printed nothing"))
    }
}

/// Returns `true` for a name that is neither an option nor a pattern, nor several names.
fn is_name(name: &str) -> bool {
    let is_part = |letter: char| !letter.is_whitespace() && !letter.is_control() && !"*?[]/".contains(letter);
    !name.is_empty() && name.chars().all(is_part)
}

async fn show(
    names: &[&str],
    systemctl: &Systemctl,
    scope: &CheckScope<'_>,
) -> Result<Vec<UnitState>, FactError> {
    let arguments: Vec<&str> = ["show", PROPERTIES, "--"].into_iter().chain(names.iter().copied()).collect();
    let printed = systemctl.query(&arguments, scope).await;
    let printed = printed.map_err(|failure| unreadable(failure.one_line()))?;
    let blocks = printed.split("\n\n").filter(|block| !block.trim().is_empty());
    let states: Vec<UnitState> = names.iter().zip(blocks).map(|(name, block)| unit(name, block)).collect();
    if states.len() == names.len() { Ok(states) } else { Err(unreadable("systemctl left units out")) }
}

/// Reads the properties of a unit. `systemctl is-enabled` and `is-active` succeed for the same words.
fn unit(name: &str, block: &str) -> UnitState {
    let value = |property: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(property)?.strip_prefix('='));
        line.unwrap_or_default()
    };
    UnitState {
        name: name.to_owned(),
        exists: value("LoadState") != "not-found",
        is_enabled: matches!(
            value("UnitFileState"),
            "enabled" | "enabled-runtime" | "alias" | "static" | "indirect" | "generated" | "transient"
        ),
        is_running: matches!(value("ActiveState"), "active" | "reloading" | "refreshing"),
    }
}
