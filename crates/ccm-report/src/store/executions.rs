//! Files of executions in the record of a run: how they are written and read.

use std::io::{self, Read as _, Write as _};

use ccm_host::slug;
use ccm_host::state::Directory;
use ccm_model::{
    Artifacts, EventLine, ExecutionMetadata, METADATA_FILE, ResourceId, STDERR_FILE, STDOUT_FILE,
    TransactionLine,
};

use super::resource_text::execution_rows;
use super::show::transactions;
use super::{History, Open, RunStore, StoreError, StoredRun};

/// Maximum length of the name of a directory, in characters.
const MAX_SLUG_LENGTH: usize = 40;
/// Maximum number of bytes to read from the end of an output.
const MAX_TAIL: u64 = 16 << 10;
/// Maximum number of bytes to read from a file. The files of ccm are shorter.
const MAX_FILE_SIZE: u64 = 4 << 20;

impl RunStore {
    /// Writes the files of an execution. The end of the record returns an error.
    pub fn keep(&mut self, artifacts: &Artifacts) {
        if self.failed() {
            return;
        }
        if let Ok(open) = &mut self.open
            && let Err(error) = write(open, artifacts)
        {
            open.failed = Some(error);
        }
    }
}

fn write(open: &Open, artifacts: &Artifacts) -> io::Result<()> {
    let directory = open.directory.make(&artifacts.id.type_name)?.make(&name(artifacts))?;
    for file in &artifacts.files {
        directory.create(&file.name)?.write_all(&file.content)?;
    }
    Ok(())
}

/// Syncs the files of all executions in the record of a run, then the directories that hold their names.
pub(super) fn sync(run: &Directory) -> io::Result<()> {
    for type_name in run.directories()? {
        let executions = run.enter(&type_name)?;
        for name in executions.directories()? {
            let execution = executions.enter(&name)?;
            for file in execution.names()? {
                execution.append(&file)?.sync()?;
            }
            execution.sync()?;
        }
        executions.sync()?;
    }
    Ok(())
}

fn name(artifacts: &Artifacts) -> String {
    format!("{}-{}", artifacts.position, slugged(&artifacts.id.name))
}

/// Returns a name as a part of a path, in lower case.
fn slugged(name: &str) -> String {
    let slug = slug(&name.to_ascii_lowercase(), MAX_SLUG_LENGTH);
    match slug.trim_matches(['.', '-']) {
        "" => "unnamed".to_owned(),
        slug => slug.to_owned(),
    }
}

/// Execution in the record of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// Name of the directory: the position of the resource, and a part of its name.
    pub name: String,
    /// `None` if the file can't be read.
    pub(super) metadata: Option<ExecutionMetadata>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Resource in the record of a run: its event, and what it left behind. At least one of them is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedResource {
    /// Event of the resource. An unchanged resource has none.
    pub(super) event: Option<TransactionLine<'static>>,
    /// Execution of an exec.
    pub(super) execution: Option<Execution>,
}

/// Reason why a resource was not found in the record of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionError {
    /// No resource matches.
    #[error("resource `{requested}` is not in the record of run {run}")]
    Unknown {
        /// Resource as the user named it.
        requested: String,
        /// Name of the run.
        run: String,
        /// Recorded executions.
        known: Vec<String>,
    },
    /// Several executions match.
    #[error("`{requested}` may be {}", known.join(" or "))]
    Ambiguous {
        /// Resource as the user named it.
        requested: String,
        /// Executions that match.
        known: Vec<String>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ExecutionDirectory {
    /// Type of the resource, which is the name of the parent directory.
    type_name: String,
    name: String,
}

impl ExecutionDirectory {
    /// Returns `true` if the resource of an event can have left this directory.
    fn is_of(&self, line: &TransactionLine<'_>) -> bool {
        let slug = self.name.split_once('-').map(|(_, slug)| slug);
        *self.type_name == *line.type_name && slug == Some(&*slugged(&line.name))
    }

    fn position(&self) -> u64 {
        self.name.split('-').next().and_then(|position| position.parse().ok()).unwrap_or(u64::MAX)
    }
}

/// End of what an execution printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionTail {
    /// Type of the resource.
    pub type_name: String,
    /// Position of the resource in its manifest, counted from 1.
    pub position: u64,
    /// Part of its name.
    slug: String,
    /// Result, if it can be read.
    pub metadata: Option<ExecutionMetadata>,
    /// End of standard output.
    pub stdout: String,
    /// End of standard error.
    pub stderr: String,
}

impl ExecutionTail {
    /// Returns `true` if the resource with this name can have left it.
    pub fn is_of(&self, id: &ResourceId) -> bool {
        *self.type_name == *id.type_name && self.slug == slugged(&id.name)
    }

    /// Returns what was executed, how it ended and where, each with a label.
    pub fn rows(&self, event: Option<&TransactionLine<'_>>) -> Vec<(&'static str, String)> {
        self.metadata.as_ref().map_or_else(Vec::new, |metadata| execution_rows(metadata, event))
    }
}

impl History {
    /// Returns the executions of a run with the ends of their outputs, at most `limit` of them. What can't be read is left
    /// out.
    pub fn execution_tails(&self, run: &StoredRun, limit: usize) -> Vec<ExecutionTail> {
        let kept = self.kept(run).unwrap_or_default();
        let tail = |kept: &ExecutionDirectory| {
            let runs = self.directory.as_ref()?;
            let directory = runs.enter(&run.id).ok()?.enter(&kept.type_name).ok()?.enter(&kept.name).ok()?;
            let end = |name| {
                let bytes = directory.read_end(name, MAX_TAIL).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            };
            let metadata = text(&directory, METADATA_FILE).ok();
            Some(ExecutionTail {
                type_name: kept.type_name.clone(),
                position: kept.position(),
                slug: kept.name.split_once('-').map_or_else(String::new, |(_, slug)| slug.to_owned()),
                metadata: metadata.and_then(|metadata| serde_json::from_str(&metadata).ok()),
                stdout: end(STDOUT_FILE),
                stderr: end(STDERR_FILE),
            })
        };
        kept.iter().take(limit).filter_map(tail).collect()
    }

    /// Reads a resource: by its name or alias, or by the name or position of the directory of its execution.
    pub fn resource(
        &self,
        run: &StoredRun,
        requested: &str,
    ) -> Result<Result<RecordedResource, ExecutionError>, StoreError> {
        let failed = |source| StoreError::Read { path: self.path.join(&run.id), source };
        let known = self.kept(run).map_err(failed)?;
        // What an exec left behind can be shown without its event.
        let (events, unreadable) = match self.events(run) {
            Ok(events) => (events, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let named = named(&events, requested);
        let found = find(&known, requested, self.short(&run.id)).or_else(|error| {
            let id = named.map(|line| ResourceId::new(&*line.type_name, &*line.name));
            let id = id.ok_or_else(|| error.clone())?;
            find(&known, &id.to_string(), &run.id).map_err(|_| error)
        });
        match (found, named) {
            (Ok(kept), named) => {
                let event =
                    named.filter(|line| kept.is_of(line)).or_else(|| event_of(&events, kept)).cloned();
                let execution = Some(self.read(run, kept).map_err(failed)?);
                Ok(Ok(RecordedResource { event, execution }))
            }
            (Err(_), Some(line)) => Ok(Ok(RecordedResource { event: Some(line.clone()), execution: None })),
            (Err(error), None) => unreadable.map_or(Ok(Err(error)), Err),
        }
    }

    /// Returns the directories of all executions, in the order of their resources.
    fn kept(&self, run: &StoredRun) -> io::Result<Vec<ExecutionDirectory>> {
        let Some(directory) = &self.directory else { return Ok(Vec::new()) };
        let run = directory.enter(&run.id)?;
        let mut kept = Vec::new();
        for type_name in run.directories()? {
            let names = run.enter(&type_name)?.directories()?;
            kept.extend(
                names.into_iter().map(|name| ExecutionDirectory { type_name: type_name.clone(), name }),
            );
        }
        kept.sort_by_key(|kept| (kept.position(), kept.name.clone()));
        Ok(kept)
    }

    fn read(&self, run: &StoredRun, kept: &ExecutionDirectory) -> io::Result<Execution> {
        let runs = self.directory.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let directory = runs.enter(&run.id)?.enter(&kept.type_name)?.enter(&kept.name)?;
        Ok(Execution {
            name: kept.name.clone(),
            metadata: serde_json::from_str(&text(&directory, METADATA_FILE)?).ok(),
            stdout: text(&directory, STDOUT_FILE)?,
            stderr: text(&directory, STDERR_FILE)?,
        })
    }
}

/// Returns the event of the resource with this name or alias, if exactly one has it.
fn named<'e>(events: &'e [EventLine], requested: &str) -> Option<&'e TransactionLine<'static>> {
    let id = ResourceId::parse(requested).ok();
    let is_meant = |line: &&TransactionLine<'_>| {
        let is_name = |name: &str| match &id {
            Some(id) => *id.type_name == *line.type_name && *id.name == *name || name == requested,
            None => name == requested,
        };
        is_name(&line.name) || line.alias.as_deref().is_some_and(is_name)
    };
    only(transactions(events).filter(is_meant))
}

/// Returns the event of an execution, if exactly one resource can have left it.
fn event_of<'e>(events: &'e [EventLine], kept: &ExecutionDirectory) -> Option<&'e TransactionLine<'static>> {
    only(transactions(events).filter(|line| kept.is_of(line)))
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn find<'k>(
    known: &'k [ExecutionDirectory],
    requested: &str,
    run: &str,
) -> Result<&'k ExecutionDirectory, ExecutionError> {
    if let Some(exact) = known.iter().find(|kept| kept.name == requested) {
        return Ok(exact);
    }
    // `#` may be part of a name, too.
    let id = ResourceId::parse(requested).ok();
    let id = id.filter(|id| known.iter().any(|kept| *kept.type_name == *id.type_name));
    let name = id.as_ref().map_or(requested, |id| &id.name);
    let is_meant = |kept: &&ExecutionDirectory| {
        let (position, slug_of_name) = kept.name.split_once('-').unwrap_or((&kept.name, ""));
        id.as_ref().is_none_or(|id| *kept.type_name == *id.type_name)
            && (kept.name == name || position == name || slug_of_name == slugged(name))
    };
    let found: Vec<&ExecutionDirectory> = known.iter().filter(is_meant).collect();
    let names = |kept: &[&ExecutionDirectory]| kept.iter().map(|kept| kept.name.clone()).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(ExecutionError::Unknown {
            requested: requested.to_owned(),
            run: run.to_owned(),
            known: names(&known.iter().collect::<Vec<_>>()),
        }),
        _ => Err(ExecutionError::Ambiguous { requested: requested.to_owned(), known: names(&found) }),
    }
}

fn text(directory: &Directory, name: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    match directory.read(name) {
        Ok(file) => file.take(MAX_FILE_SIZE).read_to_end(&mut bytes)?,
        // The file is incomplete.
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_parts_of_paths() {
        for (name, expected) in [
            ("Verify Certificate", "verify-certificate"),
            ("/usr/bin/make -C /opt", "usr-bin-make--c--opt"),
            ("../..", "unnamed"),
            ("日本", "unnamed"),
            ("a b.sh", "a-b.sh"),
        ] {
            assert_eq!(slugged(name), expected);
        }
    }

    #[test]
    fn an_execution_is_found_by_name_and_by_position() {
        let kept = |type_name: &str, name: &str| ExecutionDirectory {
            type_name: type_name.to_owned(),
            name: name.to_owned(),
        };
        let known =
            [kept("exec", "2-make"), kept("exec", "10-make"), kept("exec", "11-Tar"), kept("job", "12-tar")];
        let found = |requested: &str| find(&known, requested, "r").map(|kept| &*kept.name);
        for (requested, expected) in [
            ("2-make", Ok("2-make")),
            ("10", Ok("10-make")),
            ("job#Tar", Ok("12-tar")),
            ("make", Err("`make` may be 2-make or 10-make")),
            ("exec#make", Err("`exec#make` may be 2-make or 10-make")),
            ("nothing", Err("resource `nothing` is not in the record of run r")),
            ("job#make", Err("resource `job#make` is not in the record of run r")),
        ] {
            assert_eq!(
                found(requested).map_err(|error| error.to_string()),
                expected.map_err(str::to_owned),
                "{requested}"
            );
        }
        assert_eq!(find(&[kept("exec", "3-a-b")], "exec#A b", "r"), Ok(&kept("exec", "3-a-b")));
        assert_eq!(find(&[kept("exec", "3-a-b")], "a#b", "r"), Ok(&kept("exec", "3-a-b")));
    }
}
