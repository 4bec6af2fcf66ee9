//! Files that an approval of a command covers: the programs that the command starts, and the code that they run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ccm_host::{DirectoryTree, FileError, Files, OtherWriters, Writer, interpreter_words, locate_program};
use ccm_model::{FileVersion, normalize, sha256};
use ccm_policy::{AnalysedCommand, Analysis, CodePlace, CodeSource, Effect, EffectKind};

use super::command_paths::{attached_paths, directories_of, named_paths, run_by};
use super::unknown_code::unknown_code;

/// Maximum size of all files that an approval covers, in bytes.
pub const MAX_COVERED: u64 = 256 << 20;

/// Maximum size of a file that a command only names, in bytes. A longer one is data.
const MAX_NAMED: u64 = 16 << 20;

/// Maximum number of files and directories below a directory in which any file may run.
const MAX_ENTRIES: usize = 2000;

/// Maximum number of commands around a command whose words are searched for directories.
const MAX_OUTER: usize = 8;

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
    /// It may run any file of a directory with too many files.
    #[error("it may run any file below {path}, where more than {max} files lie")]
    TooMany {
        /// The directory.
        path: String,
        /// Maximum number of files.
        max: usize,
    },
    /// Nobody knows which file it runs, so that nobody would notice a change of the file.
    #[error("nobody knows before it runs which code `{word}` stands for")]
    Unknown {
        /// The word that stands for the code.
        word: String,
    },
    /// Nobody knows in which directory a program looks for files that it runs.
    #[error("nobody knows in which directory `{program}` runs, whose files there are run")]
    UnknownDirectory {
        /// The program.
        program: String,
    },
}

impl CoverageError {
    /// Returns what to write instead, as an imperative.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLarge | Self::Unreadable { .. } => {
                "run smaller files, or files of this machine that are no links".to_owned()
            }
            Self::TooMany { .. } => "write the exact path of the file".to_owned(),
            Self::Unknown { word } => format!("write the exact path of the file instead of `{word}`"),
            Self::UnknownDirectory { .. } => "write the exact path of the directory behind `cd`".to_owned(),
        }
    }
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
    /// Files and directories that words name as code.
    origins: Vec<String>,
    /// Existing directories in which any file may run.
    trees: BTreeSet<PathBuf>,
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
    /// Directories in which any file may run are covered with all their files, and end in a slash. What does not exist is
    /// left out.
    pub fn of(&self, command: CoveredCommand<'_>) -> Result<BTreeMap<String, String>, CoverageError> {
        let mut covered = BTreeMap::new();
        let mut left = MAX_COVERED;
        if let Some(error) = unknown_code(command.analysis) {
            return Err(error);
        }
        let CoveredPaths { code, named, trees, .. } = self.paths(command);
        let mut paths: Vec<String> = code.into_iter().chain(named).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let mut next = vec![path];
            for _ in 0..=MAX_INTERPRETERS {
                for path in std::mem::take(&mut next) {
                    if covered.contains_key(&path) {
                        continue;
                    }
                    let Some((digest, size)) = self.digest(&path, left)? else { continue };
                    left = left.checked_sub(size).ok_or(CoverageError::TooLarge)?;
                    next.extend(self.interpreters(&path, command));
                    covered.insert(path, digest);
                }
            }
        }
        for tree in &trees {
            let mut lines = String::new();
            for path in tree_of(tree)?.files {
                let Some(path) = path.to_str() else {
                    return Err(CoverageError::Unknown { word: path.to_string_lossy().into_owned() });
                };
                if let Some((digest, size)) = self.digest(path, left)? {
                    left = left.checked_sub(size).ok_or(CoverageError::TooLarge)?;
                    lines += &format!("{digest}  {path}\n");
                }
            }
            covered.insert(format!("{}/", tree.display()), sha256(lines.as_bytes()));
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
        let CoveredPaths { code, directories, trees, .. } = self.paths(command);
        let others = OtherWriters::than(trusted);
        // Where a file is missing, somebody could make it. A directory is no file that has a digest.
        let missing = code.iter().filter(|path| !covered.contains_key(*path));
        let places = missing.filter_map(|path| {
            Path::new(path).ancestors().find(|above| self.files.exists(above).unwrap_or(true))
        });
        // Many files are missing in few directories.
        let places: BTreeSet<&Path> = places.chain(directories.iter().map(PathBuf::as_path)).collect();
        let found = covered.keys().map(Path::new).chain(places).find_map(|path| others.of(path));
        found.or_else(|| {
            trees.iter().find_map(|tree| {
                let DirectoryTree { files, directories } = tree_of(tree).ok()?;
                directories.iter().chain(&files).find_map(|path| others.of(path))
            })
        })
    }

    fn paths(&self, command: CoveredCommand<'_>) -> CoveredPaths {
        let CoveredCommand { program, analysis, variables } = command;
        let mut paths = CoveredPaths {
            code: program.map(str::to_owned).into_iter().collect(),
            named: Vec::new(),
            directories: Vec::new(),
            origins: Vec::new(),
            trees: BTreeSet::new(),
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
        for (position, command) in analysis.commands.iter().enumerate() {
            self.add_paths(&mut paths, analysis, position, command);
        }
        let is_directory = |path: &&String| self.files.is_directory(Path::new(path)).unwrap_or(false);
        let trees: Vec<PathBuf> = paths.origins.iter().filter(is_directory).map(PathBuf::from).collect();
        paths.trees.extend(trees);
        paths.code.append(&mut paths.origins);
        paths
    }

    /// Adds the paths of a simple command.
    fn add_paths(
        &self,
        paths: &mut CoveredPaths,
        analysis: &Analysis,
        position: usize,
        command: &AnalysedCommand,
    ) {
        for origin in &command.code_origins {
            match &origin.place {
                CodePlace::Path(path) => paths.origins.push(path.clone()),
                CodePlace::Below(path) => {
                    paths.trees.insert(path.into());
                }
                CodePlace::Unknown => {}
            }
        }
        let is_directory = |path: &Path| self.files.is_directory(path).unwrap_or(false);
        let named = named_paths(command);
        // A wrapper may change to a directory that it names.
        let outer =
            std::iter::successors(Some(position), |position| analysis.commands.get(*position)?.parent);
        let outer = outer.filter_map(|position| analysis.commands.get(position)).take(MAX_OUTER);
        let of_outer: Vec<PathBuf> = outer
            .flat_map(|command| {
                let code = command.effects.iter().filter(|effect| effect.code == Some(CodeSource::File));
                let code = code.filter_map(|effect| effect.object.as_deref().map(PathBuf::from));
                named_paths(command).into_iter().chain(attached_paths(command)).chain(code)
            })
            .filter(|path| is_directory(path))
            .collect();
        let own = directories_of(command);
        let directories: Vec<&Path> = own.into_iter().chain(of_outer.iter().map(PathBuf::as_path)).collect();
        paths.code.extend(run_by(command, &directories));
        // What the command itself makes or changes is another one for the next run.
        let is_input = |path: &&PathBuf| {
            let changes = |effect: &Effect| effect.kind != EffectKind::Read && effect.code.is_none();
            let is_it =
                |effect: &Effect| effect.object.as_deref().is_some_and(|object| path.ends_with(object));
            !command.effects.iter().any(|effect| changes(effect) && is_it(effect))
        };
        let is_short = |path: &&PathBuf| self.files.digest(path, MAX_NAMED).is_ok();
        let reads =
            command.effects.iter().filter(|effect| effect.kind == EffectKind::Read && !effect.is_partial);
        let reads = reads.filter_map(|effect| effect.object.as_deref().map(PathBuf::from));
        let named: Vec<PathBuf> = named.into_iter().chain(reads).collect();
        let inputs = named.iter().filter(is_input).filter(is_short);
        paths.named.extend(inputs.filter_map(|path| path.to_str().map(str::to_owned)));
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

    /// Returns the absolute paths of what the first line of a script names: the interpreter, the program that `env` starts as
    /// the interpreter, and files among its words.
    fn interpreters(&self, path: &str, command: CoveredCommand<'_>) -> Vec<String> {
        let Ok(file) = self.files.open(Path::new(path)) else { return Vec::new() };
        let words = interpreter_words(&file).unwrap_or_default();
        let Some((interpreter, arguments)) = words.split_first() else { return Vec::new() };
        let search_path = command.variables.iter().find(|(name, _)| name == "PATH");
        let search_path = search_path.map_or("/usr/local/bin:/usr/bin:/bin", |(_, path)| path);
        let commands = &command.analysis.commands;
        let directories: BTreeSet<&Path> = commands.iter().flat_map(directories_of).collect();
        let is_env = interpreter.ends_with("/env");
        let mut found = vec![PathBuf::from(interpreter)];
        for word in arguments.iter().filter(|word| !word.contains('=')) {
            let located = is_env.then(|| locate_program(word, search_path, Path::new("/"))).flatten();
            found.extend(located.map(|located| located.canonical));
            let named = directories.iter().map(|directory| normalize(&directory.join(word)));
            // A word without a slash is an argument, unless there is such a file.
            found.extend(named.filter(|path| word.contains('/') || self.files.exists(path).unwrap_or(true)));
        }
        let absolute = found.into_iter().filter(|path| path.is_absolute());
        let canonical = absolute.map(|path| self.files.canonical(&path).unwrap_or(path));
        canonical.filter_map(|path| path.to_str().map(str::to_owned)).collect()
    }
}

/// Returns what lies below a directory in which any file may run.
fn tree_of(root: &Path) -> Result<DirectoryTree, CoverageError> {
    let too_many = || CoverageError::TooMany { path: root.display().to_string(), max: MAX_ENTRIES };
    DirectoryTree::below(root, MAX_ENTRIES).ok_or_else(too_many)
}

fn kind_of(error: &FileError) -> Option<ErrorKind> {
    match error {
        FileError::Step { source, .. } => Some(source.kind()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
