//! Programs that a command starts, for a sandbox that executes no others.

use crate::analysis::{AnalysedCommand, Analysis, ProgramReference};
use crate::guard_class::GuardClass;

impl Analysis {
    /// Returns the programs that the commands start, also through wrappers such as `timeout`: absolute paths, and names,
    /// which are looked up on the search path. What a program starts by itself, such as `make` a compiler, is not known
    /// and not among them.
    ///
    /// The error is a reason for which programs of the commands are not known, as a clause in lower case.
    pub fn started_programs(&self) -> Result<Vec<String>, String> {
        if let Some(unreadable) = &self.unreadable {
            return Err(unreadable.message.clone());
        }
        let mut programs = Vec::new();
        // A suspected command that is one after all is refused by the sandbox.
        for command in self.commands.iter().filter(|command| !command.is_suspected) {
            let unknown = |class| command.findings.iter().find(|finding| finding.class == class);
            if let Some(finding) = unknown(GuardClass::Eval).or_else(|| unknown(GuardClass::ProgramUnknown)) {
                return Err(finding.what.clone());
            }
            let Some(program) = &command.program else { continue };
            for path in paths(command, program)? {
                if !programs.contains(&path) {
                    programs.push(path);
                }
            }
        }
        Ok(programs)
    }
}

/// Returns the names and paths by which a program may be found.
fn paths(command: &AnalysedCommand, program: &ProgramReference) -> Result<Vec<String>, String> {
    let Some(name) = &program.name else {
        // What is piped into an interpreter has a finding of another class.
        let finding = command.findings.first().map(|finding| finding.what.clone());
        return Err(finding.unwrap_or_else(|| "a program is not known".to_owned()));
    };
    let location = program.location.as_ref().map(|location| location.path.clone());
    if name.starts_with('/') {
        return Ok(vec![name.clone()]);
    }
    if !name.contains('/') {
        // The sandbox may have another program of this name, and the search path of the text may be another.
        return Ok([name.clone()].into_iter().chain(location).collect());
    }
    let below =
        |directory: &String| format!("{}/{}", directory.trim_end_matches('/'), name.trim_start_matches("./"));
    location
        .or_else(|| command.directory.as_ref().map(below))
        .map(|path| vec![path])
        .ok_or_else(|| format!("`{name}` is run in a directory that is not known"))
}
