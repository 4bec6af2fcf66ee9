//! Files of executions in the record of a run: how they are written and read.

use std::io::{self, Read as _, Write as _};

use ccm_host::slug;
use ccm_host::state::Directory;
use ccm_model::{
    Artifacts, EventLine, ExecutionMetadata, METADATA_FILE, ResourceId, STDERR_FILE, STDOUT_FILE,
    escape_control,
};
use serde_json::{Value, json};

use super::{History, Open, RunStore, StoreError, StoredRun};

/// Maximum length of the name of a directory, in characters.
const MAX_SLUG_LENGTH: usize = 40;
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
    metadata: Option<ExecutionMetadata>,
    stdout: String,
    stderr: String,
}

/// Reason why an execution was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionError {
    /// No execution matches.
    #[error("no resource `{requested}` left anything in the record of run {run}")]
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
    fn position(&self) -> u64 {
        self.name.split('-').next().and_then(|position| position.parse().ok()).unwrap_or(u64::MAX)
    }
}

impl History {
    /// Reads an execution: by the name or position of its directory, or by the name or alias of its resource.
    pub fn execution(
        &self,
        run: &StoredRun,
        requested: &str,
    ) -> Result<Result<Execution, ExecutionError>, StoreError> {
        let failed = |source| StoreError::Read { path: self.path.join(&run.id), source };
        let known = self.kept(run).map_err(failed)?;
        let found = find(&known, requested, &run.id).or_else(|error| {
            let id = self.id_of_alias(run, requested).ok_or_else(|| error.clone())?;
            find(&known, &id.to_string(), &run.id).map_err(|_| error)
        });
        Ok(match found {
            Ok(kept) => Ok(self.read(run, kept).map_err(failed)?),
            Err(error) => Err(error),
        })
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

    /// Returns the resource that has this alias, according to the events of the run.
    fn id_of_alias(&self, run: &StoredRun, requested: &str) -> Option<ResourceId> {
        let id = ResourceId::parse(requested).ok();
        self.events(run).ok()?.into_iter().find_map(|event| {
            let EventLine::Transaction(line) = event else { return None };
            let is_meant = |alias: &str| match &id {
                Some(id) => *id.type_name == *line.type_name && *id.name == *alias,
                None => alias == requested,
            };
            line.alias
                .as_deref()
                .is_some_and(is_meant)
                .then(|| ResourceId::new(&*line.type_name, &*line.name))
        })
    }
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

impl Execution {
    /// Returns the execution as text: its metadata, then both streams.
    pub fn text(&self) -> String {
        let shown = |value: &Value| match value {
            Value::String(text) => escape_control(text).into_owned(),
            other => escape_control(&other.to_string()).into_owned(),
        };
        let mut text = format!("{}\n", escape_control(&self.name));
        for (key, value) in json!(self.metadata).as_object().into_iter().flatten() {
            text += &format!("  {key}: {}\n", shown(value));
        }
        if self.metadata.as_ref().is_some_and(|metadata| metadata.sensitive) {
            text += "nothing else was kept, because the resource is `sensitive`\n";
        }
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            for line in stream.lines() {
                text += &format!("{name} | {}\n", escape_control(line));
            }
        }
        text
    }

    /// Returns the execution as JSON.
    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "metadata": self.metadata,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "stdout_json": serde_json::from_str::<Value>(&self.stdout).ok(),
        })
    }
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
            ("nothing", Err("no resource `nothing` left anything in the record of run r")),
            ("job#make", Err("no resource `job#make` left anything in the record of run r")),
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
