//! Provider apt: packages of Debian and what descends from it.

mod dpkg_database;
mod policy;
pub(super) mod version;

use std::collections::HashMap;
use std::path::Path;

use ccm_engine::Suitability;
use ccm_host::{FileKind, Host, Level, Local, Look};
use ccm_model::{Failure, FailureKind};

use super::desired::Package;
use super::provider::Packages;
use super::state::{Installation, VersionScheme};
use super::tool::{ChangeKind, IndexResponse, PackageTarget, QueryScope, Tool, bytes, exists, suits};
use super::tool_command::{ToolCommand, query};
use dpkg_database::DpkgDatabase;
use policy::{Policy, Providers};

const APT_GET: &str = "/usr/bin/apt-get";
const APT_CACHE: &str = "/usr/bin/apt-cache";
const DPKG: &str = "/usr/bin/dpkg";
const DPKG_QUERY: &str = "/usr/bin/dpkg-query";
/// What dpkg-query is asked to print of each package: as much as counts, in the form of the file.
const FORMAT: &str =
    "Package: ${Package}\\nStatus: ${Status}\\nArchitecture: ${Architecture}\\nVersion: ${Version}\\n\\n";

/// What dpkg knows of each package.
const STATUS: &str = "/var/lib/dpkg/status";
/// Where dpkg writes what is not in it yet.
const UPDATES: &str = "/var/lib/dpkg/updates";
/// The first thing that it writes there. Only a dpkg that is at work, or was ended half way, has left it there.
const FIRST_UPDATE: &str = "/var/lib/dpkg/updates/0000";
/// What apt says where dpkg was ended half way.
const INTERRUPTED: &str = "dpkg was interrupted";
/// More than this is no status.
const MAX_STATUS_SIZE: u64 = 256 << 20;
/// So many names are given to one query.
const MAX_NAMES_PER_QUERY: usize = 1500;

/// Manages packages with apt.
pub(crate) static APT_PACKAGES: Packages<Apt> = Packages(Apt);

/// The tools of Debian.
pub(crate) struct Apt;

impl Tool for Apt {
    type Database = DpkgDatabase;

    fn name(&self) -> &'static str {
        "apt"
    }

    fn scheme(&self) -> VersionScheme {
        VersionScheme::Debian
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        match [APT_GET, DPKG].into_iter().find(|program| !exists(host, program)) {
            Some(missing) => Suitability::Unsuitable(format!("there is no {missing}")),
            None => suits(host, &["debian", "ubuntu"], &super::dnf::PROGRAMS),
        }
    }

    fn read<'a>(&'a self, scope: QueryScope<'a>) -> Local<'a, Result<DpkgDatabase, Failure>> {
        Box::pin(async move {
            let updates = scope.host.files.look(Path::new(UPDATES), Look::default()).ok();
            let kind = updates.and_then(|updates| updates.target).map(|target| target.kind);
            let is_between = kind == Some(FileKind::Directory { empty: Some(false) });
            let is_to_end = scope.cancellation.level() > Level::Go;
            let status = if is_between || is_to_end {
                // Another dpkg is at work, or was killed: only dpkg can tell what is true. And in a run that is to end
                // no file is read any more, but what was done is still looked at.
                let call = ToolCommand::new(DPKG_QUERY, "dpkg-query", &["--show", "--showformat", FORMAT]);
                query(&call, scope, true).await?.stdout.into_bytes()
            } else {
                bytes(scope.host, STATUS, MAX_STATUS_SIZE)?.ok_or_else(no_status)?
            };
            Ok(DpkgDatabase::parse(&status))
        })
    }

    fn find(&self, database: &DpkgDatabase, name: &str) -> Installation {
        database.find(name)
    }

    fn installed<'d>(&self, database: &'d DpkgDatabase) -> Box<dyn Iterator<Item = &'d str> + 'd> {
        Box::new(database.installed())
    }

    /// What is in the way of an installation, and what needs what goes.
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

    fn query_index<'a>(
        &'a self,
        scope: QueryScope<'a>,
        database: &'a DpkgDatabase,
        names: &'a [&'a str],
    ) -> Local<'a, Result<IndexResponse, Failure>> {
        Box::pin(async move {
            let mut by_name = HashMap::with_capacity(names.len());
            let mut bare = Vec::new();
            for names in names.chunks(MAX_NAMES_PER_QUERY) {
                let args = [&["policy", "--"], names].concat();
                let printed =
                    query(&ToolCommand::new(APT_CACHE, "apt-cache policy", &args), scope, false).await?;
                let policy = Policy::parse(&printed.stdout);
                let availability =
                    |name: &&str| ((*name).to_owned(), policy.availability(database.apt_name(name)));
                by_name.extend(names.iter().map(availability));
                bare.extend(
                    names.iter().copied().filter(|name| policy.is_name_only(database.apt_name(name))),
                );
            }
            if !bare.is_empty() {
                let args = [&["showpkg", "--"], &bare[..]].concat();
                let printed =
                    query(&ToolCommand::new(APT_CACHE, "apt-cache showpkg", &args), scope, false).await?;
                let providers = Providers::parse(&printed.stdout);
                let availability =
                    |name: &str| (name.to_owned(), providers.availability(database.apt_name(name)));
                by_name.extend(bare.into_iter().map(availability));
            }
            Ok(IndexResponse { by_name, ..IndexResponse::default() })
        })
    }

    fn stamps(&self) -> &'static [&'static str] {
        &[
            "/var/lib/apt/lists",
            "/var/lib/apt/periodic/update-success-stamp",
            "/var/lib/apt/periodic/update-stamp",
        ]
    }

    /// apt knows where its lists are and how they are named, and prints those that are there.
    fn has_index<'a>(&'a self, scope: QueryScope<'a>) -> Local<'a, Result<bool, Failure>> {
        Box::pin(async move {
            let args = ["indextargets", "--format", "$(FILENAME)"];
            let printed =
                query(&ToolCommand::new(APT_GET, "apt-get indextargets", &args), scope, false).await?;
            Ok(!printed.stdout.trim().is_empty())
        })
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
        "`dpkg --configure -a` finishes what was interrupted"
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
            hints.push(format!("not wholly installed: {names}; `dpkg --configure -a` tries to finish that"));
        }
        if printed.contains("--fix-broken") {
            hints.push("`apt-get install --fix-broken` repairs dependencies".to_owned());
        }
        hints
    }
}

/// To dpkg nothing would be installed.
fn no_status() -> Failure {
    Failure::new(FailureKind::Read, format!("there is no \"{STATUS}\""))
        .because_of("what is installed can't be told")
        .with_hint("dpkg keeps the one before in /var/lib/dpkg/status-old, and older ones in /var/backups")
}

/// A call of apt-get for packages. Nothing of it asks a question; changed configuration files are kept. It does not wait
/// for a lock by itself, for that would count as the time that it works.
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
