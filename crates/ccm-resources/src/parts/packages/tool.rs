//! Package tools: the programs that read and change the packages of a machine.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::{Context, Suitability};
use ccm_host::{ChangedPart, Host};
use ccm_model::{Failure, FailureKind};

use super::installation::{Availability, Installation};
use super::package::Package;
use super::tool_command::ToolCommand;
use super::version::VersionScheme;
use crate::support::file_failure::{check_writable, names_in};
use crate::support::mark::Mark;
use crate::support::program::ProgramScope;

pub(crate) trait Tool: Sync + 'static {
    type Database: 'static;

    /// Name of the tool, which is that of its providers.
    const NAME: &'static str;

    fn scheme(&self) -> VersionScheme;

    /// Suitability for this machine: the tool exists and the system belongs to its family.
    fn suitability(&self, host: Host<'_>) -> Suitability;

    async fn read(&self, scope: ProgramScope<'_>) -> Result<Self::Database, Failure>;

    /// Directories with the database of the tool. The one that exists is written by every change.
    fn database_directories(&self) -> &'static [&'static str];

    fn find(&self, database: &Self::Database, name: &str) -> Installation;

    fn installed<'d>(&self, database: &'d Self::Database) -> Box<dyn Iterator<Item = &'d str> + 'd>;

    /// Returns `true` if a change may remove packages that no resource names.
    fn may_remove_more(&self, kind: ChangeKind) -> bool;

    /// Strips the architecture from a name.
    fn base<'n>(&self, name: &'n str) -> &'n str;

    /// Returns `true` if two resources with one base name are the same package on this machine.
    fn are_same(&self, database: &Self::Database, one: &Package, other: &Package) -> bool;

    /// Names that can be queried together with others at no cost.
    fn also_queried(&self, database: &Self::Database) -> Vec<String>;

    /// Returns the installed packages that provide each of these names, sorted and without those of that name.
    async fn providers(
        &self,
        scope: ProgramScope<'_>,
        database: &Self::Database,
        names: &[&str],
    ) -> Result<HashMap<String, Vec<String>>, Failure>;

    async fn query_index(
        &self,
        scope: ProgramScope<'_>,
        database: &Self::Database,
        names: &[&str],
    ) -> Result<IndexResponse, Failure>;

    /// Files that are written whenever anything refreshes the index.
    fn stamps(&self) -> &'static [&'static str];

    /// Files and directories that say where the index comes from, if a change of them is not noticed by the tool itself.
    fn sources(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns `false` if the index is empty, in which case its stamps mean nothing.
    async fn has_index(&self, _: ProgramScope<'_>) -> Result<bool, Failure> {
        Ok(true)
    }

    /// Command that refreshes the index.
    fn refresh(&self, host: Host<'_>) -> ToolCommand;

    /// Command that changes packages, or only downloads what an installation needs.
    fn change(
        &self,
        host: Host<'_>,
        kind: ChangeKind,
        targets: &[PackageTarget<'_>],
        fetches_only: bool,
    ) -> ToolCommand;

    /// Hint on how to repair an interrupted change.
    fn repair(&self) -> &'static str;

    /// Returns `true` if files show an interrupted change that has to be finished first.
    fn is_interrupted(&self, _: Host<'_>) -> bool {
        false
    }

    /// Command that finishes an interrupted change, if the output of a failed command complains about one.
    fn finish(&self, _printed: &str) -> Option<ToolCommand> {
        None
    }

    /// Hints for a failed command, from its output and the present state.
    fn advice(&self, printed: &str, database: Option<&Self::Database>) -> Vec<String>;
}

/// Returns the failure of a change of packages that a read-only file system prevents.
pub(crate) fn check_database<T: Tool>(tool: &T, context: &Context<'_>) -> Result<(), Failure> {
    let files = context.host.files;
    let directories = tool.database_directories().iter().map(Path::new);
    let found = directories.into_iter().find(|path| files.is_directory(path).unwrap_or(false));
    found.map_or(Ok(()), |path| check_writable(path, ChangedPart::Inside, files))
}

/// Tool with a command that holds packages.
pub(crate) trait HoldTool: Tool {
    /// Returns the failure of a hold that a read-only file system prevents.
    fn check_holds(&self, context: &Context<'_>) -> Result<(), Failure>;

    /// Command that holds a package at its version, or releases it.
    fn hold(&self, host: Host<'_>, name: &str, holds: bool) -> ToolCommand;

    /// Returns the name that all spellings of a package have for this command.
    fn hold_name<'n>(&self, database: &Self::Database, name: &'n str) -> &'n str;

    /// Returns `true` if a package has a hold that this command releases, be it installed or not.
    fn is_held(&self, database: &Self::Database, name: &str) -> bool {
        self.find(database, name).hold.is_some()
    }
}

#[derive(Debug, Default)]
pub(crate) struct IndexResponse {
    pub by_name: HashMap<String, Availability>,
    /// Sentences about the repositories that the tool could not read.
    pub skipped_repositories: Vec<String>,
}

impl IndexResponse {
    pub(crate) fn add(&mut self, more: Self) {
        self.by_name.extend(more.by_name);
        let skipped_repositories = more
            .skipped_repositories
            .into_iter()
            .filter(|sentence| !self.skipped_repositories.contains(sentence));
        let skipped_repositories: Vec<String> = skipped_repositories.collect();
        self.skipped_repositories.extend(skipped_repositories);
    }
}

/// Kind of change; changes of one kind can share a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// Installation, upgrade or downgrade.
    Install { recommends: bool, is_downgrade: bool },
    /// Removal, with or without configuration files.
    Remove { purge: bool },
}

/// Package to change, and the version to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackageTarget<'a> {
    pub name: &'a str,
    pub version: Option<&'a str>,
}

/// Returns the packages of the machine, which all resources share.
pub(crate) async fn shared_database<T: Tool>(
    tool: &T,
    context: &Context<'_>,
) -> Result<Rc<T::Database>, Failure> {
    let scope = ProgramScope::from(context);
    context.state_cache(async || tool.read(scope).await).await
}

/// File whose time records the last refresh by ccm.
fn own_stamp(tool: &str, context: &Context<'_>) -> Option<Mark> {
    Mark::named(&format!("refreshed-{tool}"), context)
}

/// Returns `true` if nothing refreshed the index within `age`.
pub(crate) fn refresh_is_older<T: Tool>(tool: &T, context: &Context<'_>, age: Duration) -> bool {
    let mut stamps = tool.stamps().iter().map(Path::new);
    stamps.all(|stamp| is_old(stamp, context.host, age)) && own_refresh_is_older(T::NAME, context, age)
}

/// Returns `true` if ccm itself did not refresh the index within `age`.
pub(crate) fn own_refresh_is_older(tool: &str, context: &Context<'_>, age: Duration) -> bool {
    own_stamp(tool, context).is_none_or(|stamp| is_old(stamp.path(), context.host, age))
}

/// Returns `true` if somebody changed where the index comes from after the last refresh that is known.
pub(crate) fn sources_are_newer<T: Tool>(tool: &T, context: &Context<'_>) -> bool {
    let files = context.host.files;
    let modified = |path: &Path| files.modified(path).ok().flatten();
    let own = own_stamp(T::NAME, context);
    let stamps = tool.stamps().iter().map(Path::new).chain(own.as_ref().map(Mark::path));
    let refreshed = stamps.filter_map(modified).max();
    let changed = tool.sources().iter().map(Path::new).flat_map(|path| {
        let below = names_in(path, files).unwrap_or_default().into_iter().map(|name| path.join(name));
        below.chain([path.to_owned()])
    });
    let changed = changed.filter_map(|path| modified(&path)).max();
    matches!((changed, refreshed), (Some(changed), Some(refreshed)) if changed > refreshed)
}

/// Returns the time since the last known refresh of the index; `None` if none is known.
pub(crate) fn index_age<T: Tool>(tool: &T, context: &Context<'_>) -> Option<Duration> {
    let own = own_stamp(T::NAME, context);
    let stamps = tool.stamps().iter().map(Path::new).chain(own.as_ref().map(Mark::path));
    let modified = stamps.filter_map(|stamp| context.host.files.modified(stamp).ok().flatten()).max()?;
    Some(context.host.clock.now().duration_since(modified).unwrap_or_default())
}

fn is_old(stamp: &Path, host: Host<'_>, age: Duration) -> bool {
    let Ok(Some(modified)) = host.files.modified(stamp) else { return true };
    // A time in the future was written before the clock was set back, and counts as recent.
    host.clock.now().duration_since(modified).is_ok_and(|past| past >= age)
}

/// Mark that exists while the index lacks changes of repositories.
fn outdated_mark(tool: &str, context: &Context<'_>) -> Option<Mark> {
    Mark::named(&format!("outdated-{tool}"), context)
}

/// Tools whose index lacks changes of repositories, if there is no directory for files that outlive a run.
#[derive(Default)]
struct OutdatedIndexes(RefCell<BTreeSet<String>>);

/// Records that repositories changed, so that the index is refreshed before the next change of packages.
pub(crate) fn outdate_index(tool: &str, context: &mut Context<'_>) {
    let outdated: Rc<OutdatedIndexes> = context.run_cache();
    outdated.0.borrow_mut().insert(tool.to_owned());
    let Some(mark) = outdated_mark(tool, context) else { return };
    if let Err(error) = mark.set(context.host.files) {
        context.warn(format!("cannot record that the index has to be refreshed: {error}"));
    }
}

/// Returns `true` if repositories changed since the index was refreshed.
pub(crate) fn is_index_outdated(tool: &str, context: &Context<'_>) -> bool {
    let outdated: Rc<OutdatedIndexes> = context.run_cache();
    let is_of_run = outdated.0.borrow().contains(tool);
    is_of_run || outdated_mark(tool, context).is_some_and(|mark| mark.is_set(context.host.files))
}

/// Records the time of a refresh.
pub(crate) fn remember_refresh(tool: &str, context: &mut Context<'_>) {
    let outdated: Rc<OutdatedIndexes> = context.run_cache();
    outdated.0.borrow_mut().remove(tool);
    let files = context.host.files;
    let removed = outdated_mark(tool, context).map(|mark| mark.remove(files));
    let stamped = own_stamp(tool, context).map(|stamp| stamp.set(files));
    for error in [removed, stamped].into_iter().flatten().filter_map(Result::err) {
        context.warn(format!("cannot record that the index was refreshed: {error}"));
    }
}

const OS_RELEASE: &str = "/etc/os-release";

/// Returns `true` if `os-release` names one of these families.
pub(crate) fn is_family(host: Host<'_>, families: &[&str]) -> bool {
    const MAX_LENGTH: u64 = 64 << 10;
    let Ok(read) = host.files.read(Path::new(OS_RELEASE), MAX_LENGTH) else { return false };
    let text = read.content.unwrap_or_default();
    String::from_utf8_lossy(&text).lines().any(|line| {
        let Some(("ID" | "ID_LIKE", value)) = line.split_once('=') else { return false };
        value.trim_matches(['"', '\'']).split(' ').any(|word| families.contains(&word))
    })
}

/// Suitability of an existing tool: that of the system's family is preferred.
pub(crate) fn suits(host: Host<'_>, families: &[&str], rivals: &[&str]) -> Suitability {
    let has_rival = rivals.iter().any(|rival| exists(host, rival));
    Suitability::Suits(if has_rival && !is_family(host, families) { 2 } else { 1 })
}

/// Returns `true` if `path` exists; `false` also on an error.
pub(crate) fn exists(host: Host<'_>, path: &str) -> bool {
    host.files.exists(Path::new(path)).unwrap_or(false)
}

/// Reads a system file as text; `None` if it does not exist.
pub(crate) fn text(host: Host<'_>, path: &str, max_length: u64) -> Result<Option<String>, Failure> {
    Ok(bytes(host, path, max_length)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

pub(crate) fn bytes(host: Host<'_>, path: &str, max_length: u64) -> Result<Option<Vec<u8>>, Failure> {
    let path = Path::new(path);
    let failed = |error: &dyn std::error::Error| {
        Failure::from_error(FailureKind::Read, error).because_of("cannot list installed packages")
    };
    if !host.files.exists(path).map_err(|error| failed(&error))? {
        return Ok(None);
    }
    let bytes = host.files.content(path, max_length).map_err(|error| failed(&error))?;
    if bytes.is_none() {
        let message = format!("\"{}\" is too large", path.display());
        return Err(Failure::new(FailureKind::Read, message));
    }
    Ok(bytes)
}
