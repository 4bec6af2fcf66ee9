//! The gate of a manifest that somebody with fewer rights has named: what it runs is what was approved.
//!
//! An approver signs or approves a manifest with the files that it copies, and a copy is compared while it is made. What its
//! commands run beside these, the caller may be able to change at any time.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::{Command, CommandOrigin, Files, is_of_root, search_path};
use ccm_policy::{Analysis, CodeSource};

use super::covered_files::{CoveredCommand, CoveredFiles, OF_USER};
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

    /// Returns why nobody knows what a command would run.
    fn problem(&self, command: &Command) -> Option<String> {
        // What is in a container is no file of this machine.
        if command.image.is_some() {
            return None;
        }
        let analysis = analysis_of(None, command, &[]);
        if !self.is_of_root(&command.cwd) {
            return Some(changeable("starts in", &command.cwd.to_string_lossy()));
        }
        let path = search_path(&command.environment).unwrap_or_default();
        if let Some(directory) = path.split(':').find(|directory| {
            let directory = Path::new(directory);
            // Where `/usr/local` belongs to a group, what is found there is still looked at.
            !directory.starts_with("/usr")
                && self.files.exists(directory).unwrap_or(true)
                && !self.is_of_root(directory)
        }) {
            return Some(changeable("looks for programs in", directory));
        }
        let program = command.program.to_str();
        let run = CoveredCommand { program, analysis: &analysis, variables: &command.environment };
        let covered = match self.covered.of(run) {
            Ok(covered) => covered,
            Err(error) => return Some(ccm_model::error_layers(&error).join(": ")),
        };
        if let Some(path) = covered.keys().find(|path| !self.is_of_root(Path::new(path))) {
            return Some(changeable("runs", path));
        }
        let open = self.covered.exchangeable(run, &covered, &[0]);
        if let Some((path, _)) = open {
            return Some(changeable("may run what is in", &path.to_string_lossy()));
        }
        unknown_code(&analysis).or_else(|| self.changeable_path(command))
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
        let mut others =
            named.filter(|path| self.files.exists(path).unwrap_or(true) && !self.is_of_root(path));
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
            && let Some(reason) = self.problem(request.command)
        {
            let hint = "copy the file to a directory of root, with a resource `file` of the manifest or by an operator";
            return Verdict::Deny { reason, hints: vec![hint.to_owned()] };
        }
        self.gate.before_command(request).await
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        self.gate.before_change(request).await
    }
}
