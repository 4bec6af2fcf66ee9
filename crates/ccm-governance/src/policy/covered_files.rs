//! Files that an approval of a command covers: the programs that the command starts, and the code that they run.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ccm_host::{FileError, Files, script_interpreter};
use ccm_model::normalize;
use ccm_policy::{AnalysedCommand, Analysis, CodeSource, Effect, EffectKind};

/// Maximum size of all files that an approval covers, in bytes.
pub const MAX_COVERED: u64 = 256 << 20;

/// Maximum size of a file that a command only names, in bytes. A longer one is data.
const MAX_NAMED: u64 = 16 << 20;

/// Maximum number of interpreters that run each other.
const MAX_INTERPRETERS: usize = 4;

/// Files in the working directory that a program runs without being told.
const IMPLIED: &[(&[&str], &[&str])] = &[
    (&["make", "gmake", "bmake"], &["GNUmakefile", "makefile", "Makefile", "BSDmakefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    (&["npm", "npx", "yarn", "pnpm", "bun"], &["package.json", ".npmrc", ".yarnrc.yml"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]),
    (&["bundle"], &["Gemfile"]),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml"]),
    (&["pytest"], &["conftest.py", "pytest.ini", "setup.cfg", "pyproject.toml"]),
    (&["tox"], &["tox.ini"]),
    (&["nox"], &["noxfile.py"]),
    (&["scons"], &["SConstruct"]),
    (&["ninja"], &["build.ninja"]),
    (&["cmake"], &["CMakeLists.txt"]),
    (&["meson"], &["meson.build"]),
    (&["gradle"], &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    (&["mvn"], &["pom.xml"]),
    (&["ant"], &["build.xml"]),
    (
        &["docker-compose", "podman-compose"],
        &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"],
    ),
    (&["vagrant"], &["Vagrantfile"]),
    (&["ansible-playbook", "ansible"], &["ansible.cfg"]),
    (&["go"], &["go.mod", "go.work"]),
    (&["pip", "pip3", "uv"], &["setup.py", "pyproject.toml", "setup.cfg"]),
    (&["docker", "podman", "buildah"], &["Dockerfile", "Containerfile", "compose.yml", "compose.yaml"]),
    (&["git"], &[".git/config"]),
    (&["gdb"], &[".gdbinit"]),
];

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

/// Digests of files that commands run, each read once.
pub struct CoveredFiles<'f> {
    files: &'f dyn Files,
    known: RefCell<HashMap<String, Option<(String, u64)>>>,
}

impl<'f> CoveredFiles<'f> {
    /// Reads files through a door.
    pub fn new(files: &'f dyn Files) -> Self {
        Self { files, known: RefCell::default() }
    }

    /// Returns the SHA-256 of each file that a command runs, by path: `program`, the programs that the analysis found, their
    /// interpreters, scripts, sourced files, build files, and code on standard input. What does not exist is left out.
    pub fn of(
        &self,
        program: Option<&str>,
        analysis: &Analysis,
    ) -> Result<BTreeMap<String, String>, CoverageError> {
        let mut covered = BTreeMap::new();
        let mut left = MAX_COVERED;
        let own = program.map(str::to_owned);
        let mut paths: Vec<String> = own.into_iter().collect();
        for command in &analysis.commands {
            let named = named_paths(command);
            let directories = named.iter().filter(|path| self.files.is_directory(path).unwrap_or(false));
            let directories: Vec<&Path> =
                [directory_of(command)].into_iter().chain(directories.map(PathBuf::as_path)).collect();
            paths.extend(run_by(command, &directories));
            // What the command itself makes or changes is another one for the next run.
            let is_input = |path: &&PathBuf| {
                let changes = |effect: &Effect| effect.kind != EffectKind::Read && effect.code.is_none();
                let is_it =
                    |effect: &Effect| effect.object.as_deref().is_some_and(|object| path.ends_with(object));
                !command.effects.iter().any(|effect| changes(effect) && is_it(effect))
            };
            let is_short = |path: &&PathBuf| self.files.digest(path, MAX_NAMED).is_ok();
            let inputs = named.iter().filter(is_input).filter(is_short);
            paths.extend(inputs.filter_map(|path| path.to_str().map(str::to_owned)));
        }
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

    fn digest(&self, path: &str, most: u64) -> Result<Option<(String, u64)>, CoverageError> {
        if let Some(known) = self.known.borrow().get(path) {
            return Ok(known.clone());
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
                _ => return Err(CoverageError::Unreadable { path: path.to_owned(), source: error }),
            },
        };
        self.known.borrow_mut().insert(path.to_owned(), digest.clone());
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

/// Returns the paths of the files that a simple command runs; those that it runs unasked in these directories.
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
    let implied = IMPLIED.iter().filter(|(programs, _)| names.iter().any(|name| programs.contains(&&**name)));
    let implied = implied.flat_map(|(_, files)| *files);
    let implied =
        implied.flat_map(|file| directories.iter().filter_map(|directory| absolute(directory, file)));
    program.map(|location| location.canonical.clone()).into_iter().chain(code).chain(implied).collect()
}
