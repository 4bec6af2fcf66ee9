//! Inventories of hosts: their place, and what is wrong with them.

use std::path::Path;

use ccm_push::{InventoryError, SelectionError};
use ccm_runtime::model::escape_control;

use crate::error::CommandError;

/// Inventory of a command that names none.
pub(crate) const INVENTORY: &str = "hosts.yaml";
/// Name of standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// Returns the error of an inventory.
pub(crate) fn inventory_error(path: &Path, error: &InventoryError) -> CommandError {
    let name =
        if path == Path::new(STANDARD_INPUT) { "standard input".into() } else { path.display().to_string() };
    let message = match error {
        InventoryError::Read { message, place: Some((line, column)) } => {
            format!("{name}:{line}:{column}: {message}")
        }
        other => format!("{name}: {other}"),
    };
    CommandError::new(escape_control(&message))
}

/// Returns the error of hosts that are named.
pub(crate) fn selection_error(error: &SelectionError) -> CommandError {
    let hint = match error {
        SelectionError::NoHost { similar: Some(name), .. } => Some(format!("did you mean {name}?")),
        SelectionError::NoGroup { similar: Some(name), .. } => Some(format!("did you mean @{name}?")),
        SelectionError::NoInventory(_) => {
            Some(format!("write the hosts to {INVENTORY}, or name a file with `--inventory`"))
        }
        SelectionError::NoHost { .. } | SelectionError::NoMatch(_) => {
            Some("add the host to the inventory, or write its name as it is there".to_owned())
        }
        _ => None,
    };
    CommandError::of(error).with_code(ccm_runtime::ExitCode::Usage).hints(hint)
}
