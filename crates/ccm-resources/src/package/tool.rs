//! A package tool: the programs that read and change the packages of a machine, and how to get along with them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::{Context, Suitability};
use ccm_host::{Attributes, Cancellation, Executor, Host, Local, NewContent, NewFile};
use ccm_model::{Failure, FailureKind};

use super::desired::Package;
use super::state::{Availability, Installation, VersionScheme};
use super::tool_command::ToolCommand;

/// One of the tools.
pub(crate) trait Tool: Sync {
    /// What is on the machine, as the tool knows it.
    type Database: 'static;

    /// Its name, as `provider:` has it.
    fn name(&self) -> &'static str;

    /// How its versions are ordered.
    fn scheme(&self) -> VersionScheme;

    /// Tells whether it is there, and whether the machine is of its kind.
    fn suitability(&self, host: Host<'_>) -> Suitability;

    /// Reads what is on the machine.
    fn read<'a>(&'a self, scope: QueryScope<'a>) -> Local<'a, Result<Self::Database, Failure>>;

    /// What there is of a package.
    fn find(&self, database: &Self::Database, name: &str) -> Installation;

    /// The names of all packages that are installed.
    fn installed<'d>(&self, database: &'d Self::Database) -> Box<dyn Iterator<Item = &'d str> + 'd>;

    /// Tells whether a change may remove packages that nobody named.
    fn may_remove_more(&self, kind: ChangeKind) -> bool;

    /// A name without its architecture.
    fn base<'n>(&self, name: &'n str) -> &'n str;

    /// Tells whether two packages of one name are the same on this machine, so that one can undo the other.
    fn are_same(&self, database: &Self::Database, one: &Package, other: &Package) -> bool;

    /// Names whose offers cost nothing more if any is asked for.
    fn also_queried(&self, database: &Self::Database) -> Vec<String>;

    /// Asks the index for packages.
    fn query_index<'a>(
        &'a self,
        scope: QueryScope<'a>,
        database: &'a Self::Database,
        names: &'a [&'a str],
    ) -> Local<'a, Result<IndexResponse, Failure>>;

    /// What is written whenever the index is refreshed, by whomever.
    fn stamps(&self) -> &'static [&'static str];

    /// Tells whether there is anything that a refresh writes: if not, what its stamps say is of no account.
    fn has_index<'a>(&'a self, _: QueryScope<'a>) -> Local<'a, Result<bool, Failure>> {
        Box::pin(async { Ok(true) })
    }

    /// The call that refreshes the index.
    fn refresh(&self, host: Host<'_>) -> ToolCommand;

    /// The call that makes a change; or, of an installation, only fetches what it needs.
    fn change(
        &self,
        host: Host<'_>,
        kind: ChangeKind,
        targets: &[PackageTarget<'_>],
        fetches_only: bool,
    ) -> ToolCommand;

    /// What to do after a change was ended half way.
    fn repair(&self) -> &'static str;

    /// Tells whether a change was ended half way, and has to be finished before another, as far as files show it.
    fn is_interrupted(&self, _: Host<'_>) -> bool {
        false
    }

    /// The call that finishes what was ended half way, if what a call printed says that this is in its way.
    fn finish(&self, _printed: &str) -> Option<ToolCommand> {
        None
    }

    /// Advice on what a failed call printed, with what the machine is like now.
    fn advice(&self, printed: &str, database: Option<&Self::Database>) -> Vec<String>;
}

/// What a tool reads the machine with.
#[derive(Clone, Copy)]
pub(crate) struct QueryScope<'a> {
    pub host: Host<'a>,
    /// Runs what changes nothing.
    pub queries: &'a dyn Executor,
    pub cancellation: &'a Cancellation,
}

impl<'a> QueryScope<'a> {
    pub(crate) fn of(context: &Context<'a>) -> Self {
        Self { host: context.host, queries: context.queries, cancellation: context.cancellation }
    }
}

/// What the index answers.
#[derive(Debug, Default)]
pub(crate) struct IndexResponse {
    /// An offer for each name.
    pub by_name: HashMap<String, Availability>,
    /// What it does not know, because a part of it could not be read: a sentence for each.
    pub skipped_repositories: Vec<String>,
}

impl IndexResponse {
    /// Adds what another question brought.
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

/// How packages are changed; what is changed in the same way can be changed by one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// They are installed or upgraded, with what they recommend or without.
    Install { recommends: bool, is_downgrade: bool },
    /// They are removed, with their configuration files or without.
    Remove { purge: bool },
}

/// A package to be changed, and the version it is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackageTarget<'a> {
    pub name: &'a str,
    pub version: Option<&'a str>,
}

/// The file by which ccm remembers that it has refreshed an index.
fn own_stamp(tool: &str, state_directory: Option<&Path>) -> Option<PathBuf> {
    Some(state_directory?.join(format!("refreshed-{tool}")))
}

/// Tells whether an index was refreshed longer ago than that.
pub(crate) fn is_older(tool: &impl Tool, context: &Context<'_>, age: Duration) -> bool {
    let stamps = tool.stamps().iter().map(PathBuf::from);
    let all = stamps.chain(own_stamp(tool.name(), context.state_directory));
    all.into_iter().all(|stamp| is_old(&stamp, context.host, age))
}

/// Tells whether ccm itself refreshed it longer ago than that, if ever.
pub(crate) fn own_is_older(tool: &impl Tool, context: &Context<'_>, age: Duration) -> bool {
    own_stamp(tool.name(), context.state_directory).is_none_or(|stamp| is_old(&stamp, context.host, age))
}

fn is_old(stamp: &Path, host: Host<'_>, age: Duration) -> bool {
    let Ok(Some(modified)) = host.files.modified(stamp) else { return true };
    // What is of the future was written before the clock was set back.
    host.clock.now().duration_since(modified).is_ok_and(|past| past >= age)
}

/// Remembers that an index was refreshed.
pub(crate) fn remember_refresh(tool: &impl Tool, context: &mut Context<'_>) {
    let Some(stamp) = own_stamp(tool.name(), context.state_directory) else { return };
    let attributes = Attributes { mode: Some(0o600), ..Attributes::default() };
    let new = NewFile { content: NewContent::Bytes(b""), attributes };
    if let Err(error) = context.host.files.write(&stamp, &new) {
        let message = format!("it can't be remembered that the index was refreshed: {error}");
        context.warn(message);
    }
}

/// Where Linux says what kind of machine it is.
const OS_RELEASE: &str = "/etc/os-release";

/// Tells whether the machine calls itself one of these, or like one.
pub(crate) fn is_family(host: Host<'_>, families: &[&str]) -> bool {
    const MAX_LENGTH: u64 = 64 << 10;
    let Ok(read) = host.files.read(Path::new(OS_RELEASE), MAX_LENGTH) else { return false };
    let text = read.content.unwrap_or_default();
    String::from_utf8_lossy(&text).lines().any(|line| {
        let Some(("ID" | "ID_LIKE", value)) = line.split_once('=') else { return false };
        value.trim_matches(['"', '\'']).split(' ').any(|word| families.contains(&word))
    })
}

/// How well a tool suits: best where the machine is of its kind, which is asked only where another tool is as well.
pub(crate) fn suits(host: Host<'_>, families: &[&str], rivals: &[&str]) -> Suitability {
    let has_rival = rivals.iter().any(|rival| exists(host, rival));
    Suitability::Suits(if has_rival && !is_family(host, families) { 2 } else { 1 })
}

/// Tells whether something is at that path; what can't be looked at is taken for nothing.
pub(crate) fn exists(host: Host<'_>, path: &str) -> bool {
    host.files.exists(Path::new(path)).unwrap_or(false)
}

/// Reads a text of the system; none if it is not there.
pub(crate) fn text(host: Host<'_>, path: &str, longest: u64) -> Result<Option<String>, Failure> {
    Ok(bytes(host, path, longest)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads a file of the system; none if it is not there.
pub(crate) fn bytes(host: Host<'_>, path: &str, longest: u64) -> Result<Option<Vec<u8>>, Failure> {
    let path = Path::new(path);
    let failed = |error: &dyn std::error::Error| {
        Failure::from_error(FailureKind::Read, error).because_of("what is installed can't be told")
    };
    if !host.files.exists(path).map_err(|error| failed(&error))? {
        return Ok(None);
    }
    let bytes = host.files.content(path, longest).map_err(|error| failed(&error))?;
    if bytes.is_none() {
        let message = format!("\"{}\" is too long to be read", path.display());
        return Err(Failure::new(FailureKind::Read, message));
    }
    Ok(bytes)
}
