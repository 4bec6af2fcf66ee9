//! Processes by their names.

use std::path::Path;

use ccm_check::{Attribute, Fact, FactError};
use ccm_host::{Machine as _, Process, SystemMachine, running_processes};

use super::observation::{no_attribute, unreadable};

/// Length of the names that the kernel keeps, in bytes.
const KEPT: usize = 15;
/// Maximum length of the arguments that are looked at.
const MAX_ARGUMENTS: u64 = 8 << 10;

/// Running processes, read once.
#[derive(Default)]
pub(super) struct Processes(Option<Result<Vec<Process>, FactError>>);

impl Processes {
    /// Returns a value about the processes of a name.
    pub(super) fn fact(&mut self, name: &str, attribute: Attribute) -> Result<Fact, FactError> {
        if attribute != Attribute::Running {
            return Err(no_attribute(attribute));
        }
        let read = || {
            let processes = running_processes();
            processes.map_err(|error| unreadable(format!("the processes can't be read: {error}")))
        };
        let processes = self.0.get_or_insert_with(read).as_ref().map_err(Clone::clone)?;
        Ok(processes.iter().any(|process| has_name(process, name)).into())
    }
}

/// Returns `true` if a process has a name. The kernel cuts names, so that a long one is also looked up in the program
/// and its first arguments, of which the second is the script of an interpreter.
fn has_name(process: &Process, name: &str) -> bool {
    if process.name.len() < KEPT || name.len() <= KEPT {
        return process.name == name;
    }
    if !name.as_bytes().starts_with(&process.name.as_bytes()[..KEPT.min(process.name.len())]) {
        return false;
    }
    let directory = Path::new("/proc").join(process.pid.to_string());
    let is_named = |path: &Path| path.file_name().is_some_and(|last| last == name);
    let arguments = SystemMachine.read_start(&directory.join("cmdline"), MAX_ARGUMENTS).unwrap_or_default();
    let arguments = String::from_utf8_lossy(&arguments);
    process.name == name
        || SystemMachine.link(&directory.join("exe")).is_ok_and(|program| is_named(&program))
        || arguments.split('\0').take(2).any(|argument| is_named(Path::new(argument)))
}
