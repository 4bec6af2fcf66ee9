//! Hosts of a push: the inventory and what is chosen of it.

use std::path::Path;

use ccm_push::{Inventory, MAX_INVENTORY, Selection};
use ccm_runtime::TextError;

use crate::arguments::PushArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::inventory::{INVENTORY, STANDARD_INPUT, inventory_error, selection_error};
use crate::session;

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
            let inventory = Inventory::read(&text);
            Some(inventory.map_err(|error| inventory_error(path, &error).therefore(CONSEQUENCE))?)
        }
        None => None,
    };
    let chosen = if is_list {
        Selection::of_list(&read(None, "list of hosts")?, inventory.as_ref())
    } else {
        Selection::choose(&arguments.hosts, inventory.as_ref())
    };
    chosen.map_err(|error| selection_error(&error).therefore(CONSEQUENCE))
}

fn unreadable(error: &TextError) -> CommandError {
    CommandError::of(error).therefore(CONSEQUENCE)
}
