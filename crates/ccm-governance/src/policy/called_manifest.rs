//! The gate of a manifest that somebody with fewer rights has named: what it runs is what was approved.
//!
//! An approver signs or approves a manifest with the files that it copies, and a copy is compared while it is made. What its
//! commands run beside these, the caller may be able to change at any time.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::{Command, CommandOrigin, Files, LocatedKind, is_of_root, located_kind, search_path};
use ccm_policy::{Analysis, CodeSource};

use super::covered_files::{CoverageError, CoveredCommand, CoveredFiles, OF_USER};
use super::gate::analysis_of;

/// Gate that refuses a command which runs or names a file that others than root can change: it could be exchanged after any
/// comparison with what was approved.
pub struct CalledManifestGate<'s> {
    gate: Rc<dyn DynGate + 's>,
    files: &'s dyn Files,
    covered: CoveredFiles<'s>,
}

impl<'s> CalledManifestGate<'s> {
    /// Puts this gate in front of another one.
    pub fn new(gate: Rc<dyn DynGate + 's>, files: &'s dyn Files) -> Self {
        Self { gate, files, covered: CoveredFiles::new(files) }
    }

    /// Returns why nobody knows what a command would run, and what to write instead.
    pub(super) fn problem(&self, command: &Command) -> Option<(String, Option<String>)> {
        let analysis = analysis_of(None, command, &[]);
        match self.covered(command, &analysis) {
            Ok(problem) => problem.map(|problem| (problem, None)),
            Err(error) => Some((ccm_model::error_layers(&error).join(": "), Some(error.hint()))),
        }
    }

    /// Returns the file, or the directory, of a command that others than root can change.
    fn covered(&self, command: &Command, analysis: &Analysis) -> Result<Option<String>, CoverageError> {
        // What is in a container is no file of this machine.
        if command.image.is_some() {
            return Ok(None);
        }
        if !self.is_of_root(&command.cwd) {
            return Ok(Some(changeable("starts in", &command.cwd.to_string_lossy())));
        }
        let path = search_path(&command.environment).unwrap_or_default();
        if let Some(directory) = path.split(':').find(|directory| {
            let directory = Path::new(directory);
            // Where `/usr/local` belongs to a group, what is found there is still looked at.
            !directory.starts_with("/usr")
                && self.files.exists(directory).unwrap_or(true)
                && !self.is_of_root(directory)
        }) {
            return Ok(Some(changeable("looks for programs in", directory)));
        }
        let program = command.program.to_str();
        let run = CoveredCommand { program, analysis, variables: &command.environment };
        let covered = self.covered.of(run)?;
        if let Some(path) = covered.keys().find(|path| !self.is_of_root(Path::new(path))) {
            return Ok(Some(changeable("runs", path)));
        }
        let open = self.covered.exchangeable(run, &covered, &[0]);
        if let Some((path, _)) = open {
            return Ok(Some(changeable("may run what is in", &path.to_string_lossy())));
        }
        Ok(unknown_code(analysis).or_else(|| self.changeable_path(command)))
    }

    /// Returns `true` if only root can change what is at a path.
    fn is_of_root(&self, path: &Path) -> bool {
        self.files.canonical(path).is_ok_and(|canonical| is_of_root(&canonical))
    }

    /// Returns the problem of a path that a command names, in a word, a variable or its input: it may read what is there.
    fn changeable_path(&self, command: &Command) -> Option<String> {
        let words = command.args.iter().map(|word| word.to_string_lossy());
        let variables = command.environment.iter().filter(|(name, _)| !OF_USER.contains(&&**name));
        let values = variables.map(|(_, value)| Cow::Borrowed(&**value));
        let input = command.stdin.iter().map(|input| String::from_utf8_lossy(input));
        let texts: Vec<Cow<'_, str>> = words.chain(values).chain(input).collect();
        let named = texts.iter().flat_map(|text| paths_in(text)).map(|path| command.cwd.join(path));
        let others = named.filter(|path| self.files.exists(path).unwrap_or(true) && !self.is_of_root(path));
        let mut others = others.filter(|path| !is_harmless_device(path));
        others.next().map(|path| changeable("names", &path.to_string_lossy()))
    }
}

/// Returns the parts of a text that may be paths: those with a slash in them.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |character: char| {
        character.is_whitespace() || character.is_control() || "'\"`=:,;|&<>(){}[]$*?!#".contains(character)
    };
    text.split(is_end).filter(|part| part.contains('/') && !part.trim_matches('/').is_empty())
}

/// Devices that anybody may write and nobody can exchange.
const DEVICES: [&str; 9] = ["null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr"];

/// Returns `true` for a device of the system such as `/dev/null`, in a directory that only root can change.
fn is_harmless_device(path: &Path) -> bool {
    let name = path.strip_prefix("/dev").ok().and_then(Path::to_str);
    let is_link = matches!(name, Some("stdin" | "stdout" | "stderr"));
    let is_device = || located_kind(path) == Some(LocatedKind::Device);
    name.is_some_and(|name| DEVICES.contains(&name))
        && is_of_root(Path::new("/dev"))
        && (is_link || is_device())
}

fn changeable(what: &str, path: &str) -> String {
    format!("it {what} {path}, which others than root can change")
}

/// Returns the problem of code that is only known when it runs.
fn unknown_code(analysis: &Analysis) -> Option<String> {
    let is_unknown =
        |source: Option<CodeSource>| matches!(source, Some(CodeSource::Pipe | CodeSource::Unknown));
    let effects = analysis.commands.iter().flat_map(|command| &command.effects);
    effects
        .into_iter()
        .any(|effect| is_unknown(effect.code))
        .then(|| "it runs code that nobody can know before".to_owned())
}

impl Gate for CalledManifestGate<'_> {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        if request.command.origin != CommandOrigin::Ccm
            && let Some((reason, hint)) = self.problem(request.command)
        {
            let copy = "copy the file to a directory of root, with a resource `file` of the manifest or by an operator";
            return Verdict::Deny { reason, hints: vec![hint.unwrap_or_else(|| copy.to_owned())] };
        }
        self.gate.before_command(request).await
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        self.gate.before_change(request).await
    }
}
