//! The gate of a manifest that somebody with fewer rights has named: what it runs is what was approved.
//!
//! An approver signs or approves a manifest with the files that it copies. What its commands run beside these, the caller may
//! be able to change, and in a copy of the manifest even what lies beside it.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::{Command, CommandOrigin, Files, is_of_root, search_path};
use ccm_policy::{Analysis, CodeSource};

use super::covered_files::{CoveredFiles, MAX_COVERED};
use super::gate::analysis_of;
use crate::signed::SignedFiles;

/// Variables that every command has, with paths of the user. The search path is looked at by itself.
const OF_USER: [&str; 7] = ["HOME", "PATH", "PWD", "OLDPWD", "SHELL", "TMPDIR", "XDG_RUNTIME_DIR"];

/// Gate that refuses a command which runs or names a file that others than root can change and that nobody has approved.
pub struct CalledManifestGate<'s> {
    gate: Rc<dyn DynGate + 's>,
    signed: Option<&'s SignedFiles>,
    files: &'s dyn Files,
    covered: CoveredFiles<'s>,
}

impl<'s> CalledManifestGate<'s> {
    /// Puts this gate in front of another one. `signed` are the files that were approved with the manifest.
    pub fn new(gate: Rc<dyn DynGate + 's>, signed: Option<&'s SignedFiles>, files: &'s dyn Files) -> Self {
        Self { gate, signed, files, covered: CoveredFiles::new(files) }
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
        let covered = match self.covered.of(command.program.to_str(), &analysis) {
            Ok(covered) => covered,
            Err(error) => return Some(ccm_model::error_layers(&error).join(": ")),
        };
        let is_known = |(path, digest): (&String, &String)| {
            self.is_of_root(Path::new(path)) || self.is_signed(path, digest)
        };
        if let Some((path, _)) = covered.iter().find(|file| !is_known(*file)) {
            return Some(changeable("runs", path));
        }
        unknown_code(&analysis).or_else(|| self.changeable_path(command))
    }

    /// Returns `true` if only root can change what is at a path.
    fn is_of_root(&self, path: &Path) -> bool {
        self.files.canonical(path).is_ok_and(|canonical| is_of_root(&canonical))
    }

    fn is_signed(&self, path: &str, digest: &str) -> bool {
        self.signed.is_some_and(|signed| signed.digest(Path::new(path)) == Some(digest))
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
        let unknown = others.find(|path| {
            let digest = self.files.digest(path, MAX_COVERED).ok();
            !digest.is_some_and(|(digest, _)| self.is_signed(&path.to_string_lossy(), &digest))
        });
        unknown.map(|path| changeable("names", &path.to_string_lossy()))
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
    format!("it {what} {path}, which others than root can change and nobody has approved")
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
            let hint = "let an operator copy the file to a directory of root, or sign the manifest with `--also FILE`";
            return Verdict::Deny { reason, hints: vec![hint.to_owned()] };
        }
        self.gate.before_command(request).await
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        self.gate.before_change(request).await
    }
}
