//! The files that executions leave in the record of a run: written while it goes on, and read afterwards.

use std::io::{self, Read as _, Write as _};

use ccm_host::state::Directory;
use ccm_model::{Artifacts, EventLine, escape_control};
use serde_json::{Value, json};

use super::{History, Open, RunStore, StoreError, StoredRun};

const EXEC: &str = "exec";
const METADATA: &str = "metadata.json";
const STDOUT: &str = "stdout.txt";
const STDERR: &str = "stderr.txt";
/// Names of directories are cut to so many characters.
const LONGEST_SLUG: usize = 40;
/// No more than this of a file is read; ours are shorter.
const LONGEST_FILE: u64 = 4 << 20;

impl RunStore {
    /// Keeps the files of an execution. What goes wrong is told at the end.
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
    format!("{}-{}", artifacts.position, slug(&artifacts.id.name))
}

/// A name as a part of a path: lower case, digits, and `-` for everything else.
fn slug(name: &str) -> String {
    let plain = |part: char| part.is_ascii_alphanumeric().then(|| part.to_ascii_lowercase());
    let words = name.split(|part| plain(part).is_none()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    slug.truncate(LONGEST_SLUG);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "unnamed".to_owned() } else { slug.to_owned() }
}

/// What an execution left in the record of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// The name of its directory: the position of the resource, and what is left of its name.
    pub name: String,
    metadata: Value,
    stdout: String,
    stderr: String,
}

/// Says why an execution was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecutionError {
    /// There is none.
    #[error("no exec `{wanted}` left anything in the record of run {run}")]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// The run.
        run: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There are several.
    #[error("`{wanted}` may be {}", known.join(" or "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// What it may be.
        known: Vec<String>,
    },
}

impl History {
    /// The names of the executions that left something in the record of a run, in the order of their resources.
    pub fn executions(&self, run: &StoredRun) -> Result<Vec<String>, StoreError> {
        let failed = |source| StoreError::Read { path: self.path.join(&run.id), source };
        let Some(directory) = self.of_executions(run).map_err(failed)? else { return Ok(Vec::new()) };
        let mut names = directory.directories().map_err(failed)?;
        names.sort_by_key(|name| (position(name), name.clone()));
        Ok(names)
    }

    /// Reads what an execution left: by the name of its directory, by its position, or by the name or alias of
    /// its resource.
    pub fn execution(
        &self,
        run: &StoredRun,
        wanted: &str,
    ) -> Result<Result<Execution, ExecutionError>, StoreError> {
        let known = self.executions(run)?;
        let by_alias = |error| match self.name_of(run, wanted) {
            Some(name) => find(&known, &name, &run.id).map_err(|_| error),
            None => Err(error),
        };
        let name = match find(&known, wanted, &run.id).or_else(by_alias) {
            Ok(name) => name,
            Err(error) => return Ok(Err(error)),
        };
        let failed = |source| StoreError::Read { path: self.path.join(&run.id), source };
        let directory =
            self.of_executions(run).and_then(|found| found.map(|all| all.enter(&name)).transpose());
        let Some(directory) = directory.map_err(failed)? else {
            return Ok(Err(ExecutionError::Unknown { wanted: name, run: run.id.clone(), known }));
        };
        let text = |file| text(&directory, file).map_err(failed);
        let (metadata, stdout, stderr) = (text(METADATA)?, text(STDOUT)?, text(STDERR)?);
        let metadata = serde_json::from_str(&metadata).unwrap_or_default();
        Ok(Ok(Execution { name, metadata, stdout, stderr }))
    }

    /// The name of the exec that has this alias, as the events of the run tell.
    fn name_of(&self, run: &StoredRun, alias: &str) -> Option<String> {
        let alias = alias.strip_prefix("exec#").unwrap_or(alias);
        self.events(run).ok()?.into_iter().find_map(|event| match event {
            EventLine::Transaction(line)
                if line.type_name == "exec" && line.alias.as_deref() == Some(alias) =>
            {
                Some(line.name.into_owned())
            }
            _ => None,
        })
    }

    fn of_executions(&self, run: &StoredRun) -> io::Result<Option<Directory>> {
        let Some(directory) = &self.directory else { return Ok(None) };
        match directory.enter(&run.id)?.enter(EXEC) {
            Ok(directory) => Ok(Some(directory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn position(name: &str) -> u64 {
    name.split('-').next().and_then(|position| position.parse().ok()).unwrap_or(u64::MAX)
}

fn find(known: &[String], wanted: &str, run: &str) -> Result<String, ExecutionError> {
    let name = wanted.strip_prefix("exec#").unwrap_or(wanted);
    let is_wanted = |known: &&String| {
        let (position, slugged) = known.split_once('-').unwrap_or((known, ""));
        *known == name || position == name || slugged == slug(name)
    };
    let found: Vec<&String> = match known.iter().find(|known| *known == name) {
        Some(exact) => vec![exact],
        None => known.iter().filter(is_wanted).collect(),
    };
    match found[..] {
        [one] => Ok(one.clone()),
        [] => {
            let (wanted, run) = (wanted.to_owned(), run.to_owned());
            Err(ExecutionError::Unknown { wanted, run, known: known.to_vec() })
        }
        _ => {
            let known = found.into_iter().cloned().collect();
            Err(ExecutionError::Ambiguous { wanted: wanted.to_owned(), known })
        }
    }
}

fn text(directory: &Directory, name: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    match directory.read(name) {
        Ok(file) => file.take(LONGEST_FILE).read_to_end(&mut bytes)?,
        // It was not written to its end.
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Execution {
    /// It as text: what is known of it, then both streams.
    pub fn text(&self) -> String {
        let shown = |value: &Value| match value {
            Value::String(text) => escape_control(text).into_owned(),
            other => escape_control(&other.to_string()).into_owned(),
        };
        let mut text = format!("{}\n", escape_control(&self.name));
        for (key, value) in self.metadata.as_object().into_iter().flatten() {
            text += &format!("  {}: {}\n", escape_control(key), shown(value));
        }
        if self.metadata["sensitive"] == true {
            text += "nothing else was kept, because the exec is `sensitive`\n";
        }
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            for line in stream.lines() {
                text += &format!("{name} | {}\n", escape_control(line));
            }
        }
        text
    }

    /// It as JSON.
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
            ("/usr/bin/make -C /opt", "usr-bin-make-c-opt"),
            ("../..", "unnamed"),
            ("日本", "unnamed"),
            ("abcdefghi abcdefghi abcdefghi abcdefghi abc", "abcdefghi-abcdefghi-abcdefghi-abcdefghi"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }

    #[test]
    fn an_execution_is_found_by_name_and_by_position() {
        let known: Vec<String> = ["2-make", "10-make", "11-Tar"].map(str::to_owned).to_vec();
        let found = |wanted: &str| find(&known, wanted, "r").map_err(|error| error.to_string());
        for (wanted, expected) in [
            ("2-make", Ok("2-make")),
            ("10", Ok("10-make")),
            ("make", Err("`make` may be 2-make or 10-make")),
            ("exec#make", Err("`exec#make` may be 2-make or 10-make")),
            ("nothing", Err("no exec `nothing` left anything in the record of run r")),
        ] {
            assert_eq!(found(wanted), expected.map(str::to_owned).map_err(str::to_owned), "{wanted}");
        }
        assert_eq!(find(&["3-a-b".to_owned()], "exec#A b", "r"), Ok("3-a-b".to_owned()));
    }
}
