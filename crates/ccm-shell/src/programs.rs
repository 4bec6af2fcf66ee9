//! Programs that a text may start.

use std::sync::Arc;

use crate::reading::{CommandRole, DoubtKind, ShellDirectories, ShellReading, ShellSearchPath};
use crate::span::ShellSpan;

/// Program that a text may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellProgram {
    /// Name or path, as the text has it.
    pub name: String,
    /// Search path for a name without a slash.
    pub search_path: Arc<ShellSearchPath>,
    /// Directories that a relative path may start in.
    pub directories: Arc<ShellDirectories>,
    /// Location of the command.
    pub span: ShellSpan,
}

/// Reason why the programs of a text are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct UnknownProgram {
    /// Location in the text.
    pub span: ShellSpan,
    /// The reason, in words.
    pub reason: &'static str,
}

impl ShellReading {
    /// Returns the programs that the text itself may start, without builtins and functions. Programs that those start
    /// in turn are not among them.
    pub fn programs(&self) -> Result<Vec<ShellProgram>, UnknownProgram> {
        let mut programs: Vec<ShellProgram> = Vec::new();
        for command in &self.commands {
            if let Some(doubt) = command.doubts.iter().find(|doubt| doubt.kind != DoubtKind::ForkBomb) {
                return Err(UnknownProgram { span: doubt.span, reason: reason(doubt.kind) });
            }
            if !matches!(command.role, CommandRole::Program | CommandRole::PossibleFunction) {
                continue;
            }
            let unknown = |reason| UnknownProgram { span: command.span, reason };
            let Some(first) = command.words.first() else { continue };
            let name = first.text().filter(|_| !first.is_many());
            let name =
                name.ok_or_else(|| unknown("the program of this command is known only when it runs"))?;
            let is_relative = name.contains('/') && !name.starts_with('/');
            if is_relative && command.directories.is_unknown {
                return Err(unknown("the directory of this command is known only when it runs"));
            }
            if !name.contains('/') && *command.search_path == ShellSearchPath::Unknown {
                return Err(unknown("PATH of this command is known only when it runs"));
            }
            let program = ShellProgram {
                name: name.into_owned(),
                search_path: Arc::clone(&command.search_path),
                directories: Arc::clone(&command.directories),
                span: command.span,
            };
            let is_same = |known: &ShellProgram| {
                known.name == program.name
                    && known.search_path == program.search_path
                    && (!is_relative || known.directories == program.directories)
            };
            if !programs.iter().any(is_same) {
                programs.push(program);
            }
        }
        Ok(programs)
    }
}

impl ShellProgram {
    /// Returns the absolute paths that the program may have, and a name where the initial search path counts.
    pub fn candidates(&self) -> Vec<String> {
        let name = self.name.trim_start_matches("./");
        let below = |directory: &str| format!("{}/{name}", directory.trim_end_matches('/'));
        if self.name.starts_with('/') {
            return vec![self.name.clone()];
        }
        if self.name.contains('/') {
            return self.directories.paths.iter().map(|directory| below(directory)).collect();
        }
        match &*self.search_path {
            ShellSearchPath::Initial | ShellSearchPath::Unknown => vec![self.name.clone()],
            // A shell takes the first that exists; which one is known only when it runs.
            ShellSearchPath::Path(path) => {
                path.split(':').filter(|directory| directory.starts_with('/')).map(below).collect()
            }
        }
    }
}

fn reason(kind: DoubtKind) -> &'static str {
    match kind {
        DoubtKind::Arithmetic => {
            "the value of this expression can run commands, and is known only when it runs"
        }
        DoubtKind::Code => "this runs a text that is known only when it runs",
        DoubtKind::SourcedFile => "this runs the commands of a file",
        DoubtKind::VariableName => "this sets a variable whose name is known only when it runs",
        DoubtKind::ShellOption => "this option changes how the shell reads what follows",
        DoubtKind::Renamed => "this gives a name another meaning",
        DoubtKind::ExportedFunction => "this passes a function on to other shells",
        DoubtKind::ForkBomb => "this function starts itself over and over",
    }
}

#[cfg(test)]
mod tests {
    use crate::{ShellBudget, ShellContext, ShellDialect, read};

    fn programs(text: &str) -> Result<Vec<String>, String> {
        let context = ShellContext { directory: "/w", variables: Vec::new() };
        let reading = read(text, ShellDialect::Sh, &context, &mut ShellBudget::default()).expect("a text");
        let programs = reading.programs().map_err(|unknown| unknown.to_string())?;
        Ok(programs.iter().flat_map(super::ShellProgram::candidates).collect())
    }

    #[test]
    fn programs_are_all_that_the_text_can_start() {
        for (text, expected) in [
            ("cd app && make; make test", &["make"][..]),
            ("cd app && ./configure", &["/w/app/configure"]),
            ("/bin/ls | sort > $(mktemp)", &["/bin/ls", "mktemp", "sort"]),
            ("PATH=/a:/b; tool", &["/a/tool", "/b/tool"]),
            ("f() { git status; }; f; echo x", &["git"]),
            ("X=git; $X status; eval 'rm x'", &["git", "rm"]),
        ] {
            let mut found = programs(text).expect("known programs");
            found.sort();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_program_that_is_not_known_is_an_error() {
        for text in ["$X a", "eval \"$X\"", ". ./x", "cd \"$X\"; ./x", "PATH=$X; ls", "{ $(cat x); }"] {
            assert!(programs(text).is_err(), "{text}");
        }
    }
}
