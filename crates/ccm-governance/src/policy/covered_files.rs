//! Files that an approval of a command covers: the programs that the command starts, and the code that they run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ccm_host::{FileError, Files, OtherWriters, Writer, script_interpreter};
use ccm_model::{FileVersion, normalize};
use ccm_policy::{AnalysedCommand, Analysis, CodeSource, Effect, EffectKind};

use super::implied_files::implied_files;

/// Maximum size of all files that an approval covers, in bytes.
pub const MAX_COVERED: u64 = 256 << 20;

/// Maximum size of a file that a command only names, in bytes. A longer one is data.
const MAX_NAMED: u64 = 16 << 20;

/// Maximum number of interpreters that run each other.
const MAX_INTERPRETERS: usize = 4;

/// Reason why no approval can cover the files that a command runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoverageError {
    /// They are larger than [`MAX_COVERED`].
    #[error("the files that it runs are larger than {} MiB", MAX_COVERED >> 20)]
    TooLarge,
    /// A file can't be read, so that nobody would notice a change of it.
    #[error("{path} can't be read, which it runs")]
    Unreadable {
        /// The path.
        path: String,
        /// The reason.
        source: FileError,
    },
}

/// Variables that every command has, with paths of its user.
pub(super) const OF_USER: [&str; 7] = ["HOME", "PATH", "PWD", "OLDPWD", "SHELL", "TMPDIR", "XDG_RUNTIME_DIR"];

/// Command whose files are covered.
#[derive(Clone, Copy)]
pub struct CoveredCommand<'c> {
    /// Program that starts, if it is known before the analysis.
    pub program: Option<&'c str>,
    /// The analysis of the command.
    pub analysis: &'c Analysis,
    /// Variables of the command.
    pub variables: &'c [(String, String)],
}

/// Paths of the files that a command runs or reads.
struct CoveredPaths {
    /// Files that run, whether they exist or not.
    code: Vec<String>,
    /// Existing files that its words and variables name.
    named: Vec<String>,
    /// Existing directories in which programs are looked for, and those that variables name.
    directories: Vec<PathBuf>,
}

/// Version of a file, with the digest and the size of its content.
type KnownDigest = (FileVersion, (String, u64));

/// Digests of files that commands run, each read once until it changes.
pub struct CoveredFiles<'f> {
    files: &'f dyn Files,
    known: RefCell<HashMap<String, KnownDigest>>,
}

impl<'f> CoveredFiles<'f> {
    /// Reads files through a door.
    pub fn new(files: &'f dyn Files) -> Self {
        Self { files, known: RefCell::default() }
    }

    /// Returns the SHA-256 of each file that a command runs, by path: its program, the programs that the analysis found, their
    /// interpreters, scripts, sourced files, build files, code on standard input, and files that its words and variables name.
    /// What does not exist is left out.
    pub fn of(&self, command: CoveredCommand<'_>) -> Result<BTreeMap<String, String>, CoverageError> {
        let mut covered = BTreeMap::new();
        let mut left = MAX_COVERED;
        let CoveredPaths { code, named, .. } = self.paths(command);
        let mut paths: Vec<String> = code.into_iter().chain(named).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let mut next = Some(path);
            for _ in 0..=MAX_INTERPRETERS {
                let Some(path) = next.take().filter(|path| !covered.contains_key(path)) else { break };
                let Some((digest, size)) = self.digest(&path, left)? else { break };
                left = left.checked_sub(size).ok_or(CoverageError::TooLarge)?;
                next = self.interpreter(&path);
                covered.insert(path, digest);
            }
        }
        Ok(covered)
    }

    /// Returns a file that a command runs or reads and that somebody else than these users can exchange, after it was read for
    /// its digest. `covered` are the files that exist.
    pub fn exchangeable(
        &self,
        command: CoveredCommand<'_>,
        covered: &BTreeMap<String, String>,
        trusted: &[u32],
    ) -> Option<(PathBuf, Writer)> {
        let CoveredPaths { code, directories, .. } = self.paths(command);
        let others = OtherWriters::than(trusted);
        // Where a file is missing, somebody could make it. A directory is no file that has a digest.
        let missing = code.iter().filter(|path| !covered.contains_key(*path));
        let places = missing.filter_map(|path| {
            Path::new(path).ancestors().find(|above| self.files.exists(above).unwrap_or(true))
        });
        // Many files are missing in few directories.
        let places: BTreeSet<&Path> = places.chain(directories.iter().map(PathBuf::as_path)).collect();
        covered.keys().map(Path::new).chain(places).find_map(|path| others.of(path))
    }

    fn paths(&self, command: CoveredCommand<'_>) -> CoveredPaths {
        let CoveredCommand { program, analysis, variables } = command;
        let mut paths = CoveredPaths {
            code: program.map(str::to_owned).into_iter().collect(),
            named: Vec::new(),
            directories: Vec::new(),
        };
        for (name, value) in
            variables.iter().filter(|(name, _)| name == "PATH" || !OF_USER.contains(&&**name))
        {
            for part in value.split([':', ' ', '=']).filter(|part| part.len() > 1 && part.starts_with('/')) {
                match self.files.is_directory(Path::new(part)) {
                    // Where `/usr/local` belongs to a group, what is found there is still looked at.
                    Ok(true) if name != "PATH" || !part.starts_with("/usr/") => {
                        paths.directories.push(part.into());
                    }
                    Ok(false) if self.files.digest(Path::new(part), MAX_NAMED).is_ok() => {
                        paths.named.push(part.to_owned());
                    }
                    _ => {}
                }
            }
        }
        for command in &analysis.commands {
            let named = named_paths(command);
            let directories = named.iter().filter(|path| self.files.is_directory(path).unwrap_or(false));
            let directories: Vec<&Path> =
                [directory_of(command)].into_iter().chain(directories.map(PathBuf::as_path)).collect();
            paths.code.extend(run_by(command, &directories));
            // What the command itself makes or changes is another one for the next run.
            let is_input = |path: &&PathBuf| {
                let changes = |effect: &Effect| effect.kind != EffectKind::Read && effect.code.is_none();
                let is_it =
                    |effect: &Effect| effect.object.as_deref().is_some_and(|object| path.ends_with(object));
                !command.effects.iter().any(|effect| changes(effect) && is_it(effect))
            };
            let is_short = |path: &&PathBuf| self.files.digest(path, MAX_NAMED).is_ok();
            let inputs = named.iter().filter(is_input).filter(is_short);
            paths.named.extend(inputs.filter_map(|path| path.to_str().map(str::to_owned)));
        }
        paths
    }

    fn digest(&self, path: &str, most: u64) -> Result<Option<(String, u64)>, CoverageError> {
        let version = self.files.version(Path::new(path));
        if let (Some(version), Some((of, known))) = (&version, self.known.borrow().get(path))
            && of == version
        {
            return Ok(Some(known.clone()));
        }
        let digest = match self.files.digest(Path::new(path), most) {
            Ok(digest) => Some(digest),
            Err(error) => match kind_of(&error) {
                Some(ErrorKind::FileTooLarge) => return Err(CoverageError::TooLarge),
                // What is not there does not run. A program of root that nobody else may read is no file of the caller.
                Some(
                    ErrorKind::NotFound
                    | ErrorKind::NotADirectory
                    | ErrorKind::IsADirectory
                    | ErrorKind::PermissionDenied,
                ) => None,
                // A program may look for its files in a directory, which is no file itself.
                _ if self.files.is_directory(Path::new(path)).unwrap_or(false) => None,
                _ => return Err(CoverageError::Unreadable { path: path.to_owned(), source: error }),
            },
        };
        if let (Some(version), Some(digest)) = (version, &digest) {
            self.known.borrow_mut().insert(path.to_owned(), (version, digest.clone()));
        }
        Ok(digest)
    }

    /// Returns the absolute path of the interpreter in the first line of a script.
    fn interpreter(&self, path: &str) -> Option<String> {
        let (interpreter, _) = script_interpreter(&self.files.open(Path::new(path)).ok()?)?;
        let interpreter = Some(interpreter).filter(|interpreter| interpreter.is_absolute())?;
        let canonical = self.files.canonical(&interpreter).unwrap_or(interpreter);
        canonical.to_str().map(str::to_owned)
    }
}

fn kind_of(error: &FileError) -> Option<ErrorKind> {
    match error {
        FileError::Step { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn directory_of(command: &AnalysedCommand) -> &Path {
    Path::new(command.directory.as_deref().unwrap_or("/"))
}

/// Returns the paths that the words of a simple command name, alone or behind the `=` of an option.
fn named_paths(command: &AnalysedCommand) -> Vec<PathBuf> {
    let words = command.words.iter().skip(1).filter(|word| word.is_known).map(|word| &*word.shown);
    let values = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]);
    let paths = values.flatten().filter(|word| !word.is_empty() && !word.starts_with('-'));
    let mut paths: Vec<PathBuf> = paths.map(|path| normalize(&directory_of(command).join(path))).collect();
    paths.dedup();
    paths
}

/// Returns the paths of the files that a simple command runs; those that it runs unasked in these directories and above.
fn run_by(command: &AnalysedCommand, directories: &[&Path]) -> Vec<String> {
    let absolute = |directory: &Path, path: &str| directory.join(path).to_str().map(str::to_owned);
    let program = command.program.as_ref().and_then(|program| program.location.as_ref());
    let code = command.effects.iter().filter(|effect| effect.code == Some(CodeSource::File));
    let code = code.filter_map(|effect| absolute(directory_of(command), effect.object.as_deref()?));
    // A program may be a link to another name.
    let name = |path: &str| Path::new(path).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let names: Vec<String> = program
        .iter()
        .flat_map(|location| [name(&location.path), name(&location.canonical)])
        .flatten()
        .collect();
    // Programs look for such files in the directories above as well.
    let above: Vec<&Path> = directories.iter().flat_map(|directory| directory.ancestors()).collect();
    let implied = implied_files(&names)
        .flat_map(|file| above.iter().filter_map(move |directory| absolute(directory, file)));
    program.map(|location| location.canonical.clone()).into_iter().chain(code).chain(implied).collect()
}
