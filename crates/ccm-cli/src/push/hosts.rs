//! Hosts of a push: the inventory and what is chosen of it.

use std::path::Path;

use ccm_push::{Inventory, InventoryError, MAX_INVENTORY, Selection, SelectionError};
use ccm_runtime::TextError;
use ccm_runtime::model::escape_control;

use crate::arguments::PushArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Inventory of a push that names none.
const INVENTORY: &str = "hosts.yaml";
/// Name of standard input.
const STANDARD_INPUT: &str = "-";
const CONSEQUENCE: &str = "nothing was run";

/// Returns the hosts that the command line names.
pub(super) fn selection(arguments: &PushArguments, console: &Console) -> CommandResult<Selection> {
    let inventory_path = arguments.inventory.as_deref();
    let is_list = arguments.hosts == STANDARD_INPUT;
    if is_list && inventory_path == Some(Path::new(STANDARD_INPUT)) {
        let message = "the hosts and the inventory are both read from standard input; nothing was run";
        return Err(CommandError::usage(message).hint("write one of them to a file"));
    }
    let session = session::open(console);
    let read = |path: Option<&Path>, what| {
        let text = session.read_text(
            path.filter(|path| *path != Path::new(STANDARD_INPUT)),
            MAX_INVENTORY as u64,
            what,
        );
        text.map(|(_, text)| text).map_err(|error| unreadable(&error))
    };
    let path = match inventory_path {
        Some(path) => Some(path),
        None => Some(Path::new(INVENTORY)).filter(|path| session.is_file(path)),
    };
    let inventory = match path {
        Some(path) => {
            let text = read(Some(path), "inventory")?;
            Some(Inventory::read(&text).map_err(|error| inventory_error(path, &error))?)
        }
        None => None,
    };
    let chosen = if is_list {
        Selection::of_list(&read(None, "list of hosts")?, inventory.as_ref())
    } else {
        Selection::choose(&arguments.hosts, inventory.as_ref())
    };
    chosen.map_err(|error| selection_error(&error))
}

fn unreadable(error: &TextError) -> CommandError {
    CommandError::of(error).therefore(CONSEQUENCE)
}

fn inventory_error(path: &Path, error: &InventoryError) -> CommandError {
    let name =
        if path == Path::new(STANDARD_INPUT) { "standard input".into() } else { path.display().to_string() };
    let message = match error {
        InventoryError::Read { message, place: Some((line, column)) } => {
            format!("{name}:{line}:{column}: {message}")
        }
        other => format!("{name}: {other}"),
    };
    CommandError::new(escape_control(&message)).therefore(CONSEQUENCE)
}

fn selection_error(error: &SelectionError) -> CommandError {
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
    CommandError::of(error).with_code(ccm_runtime::ExitCode::Usage).therefore(CONSEQUENCE).hints(hint)
}
