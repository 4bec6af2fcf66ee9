//! Provider apt, for Debian and its derivatives.

mod dpkg_database;
mod dpkg_status;
mod policy;
pub(super) mod version;

use std::collections::HashMap;
use std::path::Path;

use ccm_engine::{Context, Suitability};
use ccm_host::{CancellationLevel, FileKind, Host, InspectOptions};
use ccm_model::{Failure, FailureKind};

use super::installation::Installation;
use super::package::Package;
use super::tool::{
    ChangeKind, HoldTool, IndexResponse, PackageTarget, Tool, bytes, check_database, exists, suits,
};
use super::tool_command::{ToolCommand, query};
use super::version::VersionScheme;
use crate::support::program::ProgramScope;
use dpkg_database::DpkgDatabase;
pub(super) use dpkg_status::{StatusEntry, installed_entries};
use policy::{AptPolicy, VirtualPackages};

const APT_GET: &str = "/usr/bin/apt-get";
const APT_CACHE: &str = "/usr/bin/apt-cache";
const DPKG: &str = "/usr/bin/dpkg";
const DPKG_QUERY: &str = "/usr/bin/dpkg-query";
/// Output format for dpkg-query: the needed fields in the form of the status file.
const FORMAT: &str = "Package: ${Package}\\nStatus: ${Status}\\nArchitecture: ${Architecture}\\nVersion: ${Version}\\n\
    Provides: ${Provides}\\n\\n";

const APT_MARK: &str = "/usr/bin/apt-mark";
pub(super) const STATUS: &str = "/var/lib/dpkg/status";
/// Directory of updates that are not in the status file yet.
const UPDATES: &str = "/var/lib/dpkg/updates";
/// First file in that directory. It exists only while dpkg runs or after it was interrupted.
const FIRST_UPDATE: &str = "/var/lib/dpkg/updates/0000";
/// Message of apt about an interrupted dpkg.
const INTERRUPTED: &str = "dpkg was interrupted";
pub(super) const MAX_STATUS_SIZE: u64 = 256 << 20;
const MAX_NAMES_PER_QUERY: usize = 1500;

pub(crate) struct Apt;

impl HoldTool for Apt {
    fn check_holds(&self, context: &Context<'_>) -> Result<(), Failure> {
        check_database(self, context)
    }

    fn hold(&self, _: Host<'_>, name: &str, holds: bool) -> ToolCommand {
        let (title, verb) = if holds { ("apt-mark hold", "hold") } else { ("apt-mark unhold", "unhold") };
        ToolCommand::new(APT_MARK, title, &[verb, "--", name])
    }

    fn hold_name<'n>(&self, database: &DpkgDatabase, name: &'n str) -> &'n str {
        database.apt_name(name)
    }
}

impl Tool for Apt {
    const NAME: &'static str = "apt";

    type Database = DpkgDatabase;

    fn database_directories(&self) -> &'static [&'static str] {
        &["/var/lib/dpkg"]
    }

    fn scheme(&self) -> VersionScheme {
        VersionScheme::Debian
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        match [APT_GET, DPKG].into_iter().find(|program| !exists(host, program)) {
            Some(missing) => Suitability::Unsuitable(format!("{missing} does not exist")),
            None => suits(host, &["debian", "ubuntu"], &super::dnf::PROGRAMS),
        }
    }

    async fn read(&self, scope: ProgramScope<'_>) -> Result<DpkgDatabase, Failure> {
        let updates = scope.host.files.inspect(Path::new(UPDATES), InspectOptions::default()).ok();
        let kind = updates.and_then(|updates| updates.target).map(|target| target.kind);
        let is_between = kind == Some(FileKind::Directory { empty: Some(false) });
        let is_to_end = scope.cancellation.level() > CancellationLevel::Go;
        let status = if is_between || is_to_end {
            // While dpkg runs, or after it was killed, only dpkg-query reads the true state. A stopping
            // run can't read files.
            let call = ToolCommand::new(DPKG_QUERY, "dpkg-query", &["--show", "--showformat", FORMAT]);
            query(&call, scope, true).await?.stdout.into_bytes()
        } else {
            bytes(scope.host, STATUS, MAX_STATUS_SIZE)?.ok_or_else(no_status)?
        };
        Ok(DpkgDatabase::parse(&status))
    }

    fn find(&self, database: &DpkgDatabase, name: &str) -> Installation {
        database.find(name)
    }

    fn installed<'d>(&self, database: &'d DpkgDatabase) -> Box<dyn Iterator<Item = &'d str> + 'd> {
        Box::new(database.installed())
    }

    /// An installation removes conflicting packages, and a removal removes dependent ones.
    fn may_remove_more(&self, _: ChangeKind) -> bool {
        true
    }

    fn base<'n>(&self, name: &'n str) -> &'n str {
        name.split_once(':').map_or(name, |(base, _)| base)
    }

    fn are_same(&self, database: &DpkgDatabase, one: &Package, other: &Package) -> bool {
        database.apt_name(&one.name) == database.apt_name(&other.name)
    }

    fn also_queried(&self, database: &DpkgDatabase) -> Vec<String> {
        let mut names: Vec<String> = database.installed().map(str::to_owned).collect();
        names.dedup();
        names
    }

    async fn providers(
        &self,
        _: ProgramScope<'_>,
        database: &DpkgDatabase,
        names: &[&str],
    ) -> Result<HashMap<String, Vec<String>>, Failure> {
        Ok(database.providers(names))
    }

    async fn query_index(
        &self,
        scope: ProgramScope<'_>,
        database: &DpkgDatabase,
        names: &[&str],
    ) -> Result<IndexResponse, Failure> {
        let mut by_name = HashMap::with_capacity(names.len());
        let mut bare = Vec::new();
        for names in names.chunks(MAX_NAMES_PER_QUERY) {
            let args = [&["policy", "--"], names].concat();
            let printed =
                query(&ToolCommand::new(APT_CACHE, "apt-cache policy", &args), scope, false).await?;
            let policy = AptPolicy::parse(&printed.stdout);
            let availability =
                |name: &&str| ((*name).to_owned(), policy.availability(database.apt_name(name)));
            by_name.extend(names.iter().map(availability));
            bare.extend(names.iter().copied().filter(|name| policy.is_name_only(database.apt_name(name))));
        }
        if !bare.is_empty() {
            let args = [&["showpkg", "--"], &bare[..]].concat();
            let printed =
                query(&ToolCommand::new(APT_CACHE, "apt-cache showpkg", &args), scope, false).await?;
            let providers = VirtualPackages::parse(&printed.stdout);
            let availability =
                |name: &str| (name.to_owned(), providers.availability(database.apt_name(name)));
            by_name.extend(bare.into_iter().map(availability));
        }
        Ok(IndexResponse { by_name, ..IndexResponse::default() })
    }

    fn sources(&self) -> &'static [&'static str] {
        &["/etc/apt/sources.list", "/etc/apt/sources.list.d"]
    }

    fn stamps(&self) -> &'static [&'static str] {
        &[
            "/var/lib/apt/lists",
            "/var/lib/apt/periodic/update-success-stamp",
            "/var/lib/apt/periodic/update-stamp",
        ]
    }

    /// apt prints the paths of the lists that exist.
    async fn has_index(&self, scope: ProgramScope<'_>) -> Result<bool, Failure> {
        let args = ["indextargets", "--format", "$(FILENAME)"];
        let printed = query(&ToolCommand::new(APT_GET, "apt-get indextargets", &args), scope, false).await?;
        Ok(!printed.stdout.trim().is_empty())
    }

    fn refresh(&self, _: Host<'_>) -> ToolCommand {
        ToolCommand::new(APT_GET, "apt-get update", &["update", "-q"])
    }

    fn change(
        &self,
        _: Host<'_>,
        kind: ChangeKind,
        targets: &[PackageTarget<'_>],
        fetches_only: bool,
    ) -> ToolCommand {
        let title = match kind {
            ChangeKind::Install { .. } if fetches_only => "apt-get install --download-only",
            ChangeKind::Install { .. } => "apt-get install",
            ChangeKind::Remove { .. } => "apt-get remove",
        };
        call(kind, targets, title, fetches_only.then_some("--download-only").as_slice())
    }

    fn repair(&self) -> &'static str {
        "run `dpkg --configure -a` to finish the change"
    }

    fn is_interrupted(&self, host: Host<'_>) -> bool {
        exists(host, FIRST_UPDATE)
    }

    fn finish(&self, printed: &str) -> Option<ToolCommand> {
        let args = ["--force-confdef", "--force-confold", "--configure", "-a"];
        let call = ToolCommand::new(DPKG, "dpkg --configure -a", &args);
        printed.contains(INTERRUPTED).then_some(ToolCommand { is_harmful_to_interrupt: true, ..call })
    }

    fn advice(&self, printed: &str, database: Option<&DpkgDatabase>) -> Vec<String> {
        let mut hints = Vec::new();
        let unfinished = database.map(DpkgDatabase::unfinished).unwrap_or_default();
        if printed.contains(INTERRUPTED) {
            hints.push(self.repair().to_owned());
        } else if !unfinished.is_empty() {
            let names = unfinished.join(", ");
            hints.push(format!("run `dpkg --configure -a`: partially installed: {names}"));
        }
        if printed.contains("--fix-broken") {
            hints.push("run `apt-get install --fix-broken` to repair dependencies".to_owned());
        }
        hints
    }
}

/// A missing status file must not count as a machine without packages.
fn no_status() -> Failure {
    Failure::new(FailureKind::Read, format!("\"{STATUS}\" does not exist"))
        .because_of("cannot list installed packages")
        .with_hint("restore this file from /var/lib/dpkg/status-old or /var/backups")
}

/// Builds a call of apt-get that asks no questions and keeps changed configuration files. apt does not wait
/// for locks, because that would count as working time.
fn call(
    kind: ChangeKind,
    targets: &[PackageTarget<'_>],
    title: &'static str,
    options: &[&str],
) -> ToolCommand {
    let mut args = match kind {
        ChangeKind::Install { recommends, is_downgrade } => {
            let recommends = if recommends { "--install-recommends" } else { "--no-install-recommends" };
            let downgrade = is_downgrade.then_some("--allow-downgrades");
            let conffiles =
                ["-o", "DPkg::Options::=--force-confdef", "-o", "DPkg::Options::=--force-confold"];
            [&["install", recommends][..], downgrade.as_slice(), &conffiles].concat()
        }
        ChangeKind::Remove { purge } => [&["remove"][..], purge.then_some("--purge").as_slice()].concat(),
    };
    args.extend(options);
    args.extend(["-y", "-q", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=0", "--"]);
    let named = |target: &PackageTarget<'_>| match target.version {
        Some(version) => format!("{}={version}", target.name),
        None => target.name.to_owned(),
    };
    let mut call = ToolCommand::new(APT_GET, title, &args);
    call.args.extend(targets.iter().map(named));
    call
}
