//! Provider dnf, for Fedora, Red Hat and their derivatives.

mod locks;
mod repoquery;
mod rpm_database;
mod skipped_repositories;
pub(super) mod version;

use std::collections::HashMap;
use std::path::Path;

use ccm_engine::{Context, Suitability};
use ccm_host::{CancellationLevel, Host};
use ccm_model::Failure;

use super::installation::{Availability, Installation, Presence};
use super::package::{Package, PackageEnsure};
use super::tool::{ChangeKind, HoldTool, IndexResponse, PackageTarget, Tool, exists, suits, text};
use super::tool_command::{ToolCommand, query};
use super::version::VersionScheme;
use crate::support::file_failure::check_replaceable_by_program;
use crate::support::program::ProgramScope;
use locks::Locks;

pub(crate) use locks::matches;
use repoquery::RepoqueryOutput;
use rpm_database::{RpmDatabase, split_arch};
use skipped_repositories::skipped_repositories;

const DNF: &str = "/usr/bin/dnf";
const DNF5: &str = "/usr/bin/dnf5";
pub(super) const RPM: &str = "/usr/bin/rpm";

/// Programs of dnf; either is enough.
pub(crate) const PROGRAMS: [&str; 2] = [DNF, DNF5];

/// Files with locks and exclusions: of version 4, of version 5 and of both.
const VERSION_LOCKS: [&str; 3] =
    ["/etc/dnf/plugins/versionlock.list", "/etc/dnf/versionlock.toml", "/etc/dnf/dnf.conf"];
const MAX_FILE_SIZE: u64 = 1 << 20;

pub(crate) struct Dnf;

pub(crate) struct DnfState {
    database: RpmDatabase,
    locks: Locks,
}

impl HoldTool for Dnf {
    fn check_holds(&self, context: &Context<'_>) -> Result<(), Failure> {
        let files = context.host.files;
        let lists = VERSION_LOCKS[..2].iter().map(Path::new);
        let mut found = lists.filter(|path| files.exists(path).unwrap_or(false));
        found.try_for_each(|path| check_replaceable_by_program(path, files))
    }

    fn hold(&self, host: Host<'_>, name: &str, holds: bool) -> ToolCommand {
        let (title, verb) =
            if holds { ("dnf versionlock add", "add") } else { ("dnf versionlock delete", "delete") };
        ToolCommand::new(program(host), title, &["versionlock", verb, name])
    }

    /// A lock of a package that is not installed limits the versions that can be installed.
    fn hold_name<'n>(&self, _: &DnfState, name: &'n str) -> &'n str {
        split_arch(name).0
    }

    fn is_held(&self, state: &DnfState, name: &str) -> bool {
        state.locks.is_locked(split_arch(name).0)
    }
}

impl Tool for Dnf {
    const NAME: &'static str = "dnf";

    type Database = DnfState;

    fn database_directories(&self) -> &'static [&'static str] {
        &["/usr/lib/sysimage/rpm", "/var/lib/rpm"]
    }

    fn scheme(&self) -> VersionScheme {
        VersionScheme::Rpm
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        if !PROGRAMS.into_iter().any(|program| exists(host, program)) {
            return Suitability::Unsuitable(format!("{DNF} does not exist"));
        }
        if !exists(host, RPM) {
            return Suitability::Unsuitable(format!("{RPM} does not exist"));
        }
        suits(host, &["fedora", "rhel", "centos", "suse", "opensuse"], &["/usr/bin/apt-get"])
    }

    async fn read(&self, scope: ProgramScope<'_>) -> Result<DnfState, Failure> {
        let call = ToolCommand::new(RPM, "rpm -qa", &["-qa", "--queryformat", rpm_database::FORMAT]);
        let database = RpmDatabase::parse(&query(&call, scope, true).await?.stdout);
        if scope.cancellation.level() > CancellationLevel::Go {
            // While the run stops, files cannot be read, and nothing is decided.
            return Ok(DnfState { database, locks: Locks::default() });
        }
        let [list, toml, configuration] = VERSION_LOCKS.map(|path| text(scope.host, path, MAX_FILE_SIZE));
        let or_empty = |text: Result<Option<String>, Failure>| text.map(Option::unwrap_or_default);
        let locks = Locks::parse(&or_empty(list)?, &or_empty(toml)?, &or_empty(configuration)?);
        Ok(DnfState { database, locks })
    }

    fn find(&self, state: &DnfState, name: &str) -> Installation {
        let mut found = state.database.find(name);
        let is_installed = matches!(found.presence, Presence::Installed(_));
        found.hold = state.locks.hold(split_arch(name).0, is_installed);
        found
    }

    fn installed<'d>(&self, state: &'d DnfState) -> Box<dyn Iterator<Item = &'d str> + 'd> {
        Box::new(state.database.names())
    }

    /// A removal removes dependent packages, and an installation those that the new package declares obsolete.
    fn may_remove_more(&self, _: ChangeKind) -> bool {
        true
    }

    fn base<'n>(&self, name: &'n str) -> &'n str {
        split_arch(name).0
    }

    fn are_same(&self, state: &DnfState, one: &Package, other: &Package) -> bool {
        let native = state.database.native();
        let is_native = |arch: &str| arch == "noarch" || native == Some(arch);
        let removes_all = |package: &Package| package.ensure == PackageEnsure::Absent;
        match (split_arch(&one.name).1, split_arch(&other.name).1) {
            (None, Some(arch)) => removes_all(one) || is_native(arch),
            (Some(arch), None) => removes_all(other) || is_native(arch),
            (one, other) => one == other,
        }
    }

    fn also_queried(&self, _: &DnfState) -> Vec<String> {
        Vec::new()
    }

    async fn providers(
        &self,
        scope: ProgramScope<'_>,
        _: &DnfState,
        names: &[&str],
    ) -> Result<HashMap<String, Vec<String>>, Failure> {
        let bases = names.iter().map(|name| split_arch(name).0);
        let args: Vec<&str> = ["-q", "--queryformat", rpm_database::PROVIDES, "--whatprovides"]
            .into_iter()
            .chain(bases)
            .collect();
        let call = ToolCommand::new(RPM, "rpm -q --whatprovides", &args);
        // The exit code is the number of names that nothing provides.
        let printed = query(&call.with_empty_codes(1..=255), scope, true).await?;
        Ok(rpm_database::providers(&printed.stdout, names))
    }

    async fn query_index(
        &self,
        scope: ProgramScope<'_>,
        state: &DnfState,
        names: &[&str],
    ) -> Result<IndexResponse, Failure> {
        // With `-q` dnf does not report unreadable repositories.
        let args = [&["repoquery", "--available", "--queryformat", repoquery::FORMAT], names].concat();
        let printed =
            query(&ToolCommand::new(program(scope.host), "dnf repoquery", &args), scope, false).await?;
        let available = RepoqueryOutput::parse(&printed.stdout);
        let mut by_name: HashMap<String, Availability> =
            names.iter().map(|name| ((*name).to_owned(), available.availability(name))).collect();
        let is_gone = |name: &str| state.database.find(name).presence == Presence::Gone;
        let unknown: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| by_name[*name] == Availability::Unknown && is_gone(name))
            .collect();
        by_name.extend(virtual_packages(scope, &unknown).await?);
        Ok(IndexResponse { by_name, skipped_repositories: skipped_repositories(&printed.stderr) })
    }

    fn stamps(&self) -> &'static [&'static str] {
        &["/var/cache/dnf/last_makecache", "/var/cache/libdnf5"]
    }

    fn refresh(&self, host: Host<'_>) -> ToolCommand {
        let lock = lock(host);
        ToolCommand::new(program(host), "dnf makecache", &[&["makecache", "--refresh", "-q"], lock].concat())
    }

    fn change(
        &self,
        host: Host<'_>,
        kind: ChangeKind,
        targets: &[PackageTarget<'_>],
        fetches_only: bool,
    ) -> ToolCommand {
        let title = match kind {
            ChangeKind::Install { .. } if fetches_only => "dnf --downloadonly",
            ChangeKind::Install { is_downgrade: false, .. } => "dnf install",
            ChangeKind::Install { is_downgrade: true, .. } => "dnf downgrade",
            ChangeKind::Remove { .. } => "dnf remove",
        };
        // With `-q` version 4 hides the output of package scripts, and version 5 that it waits for a lock.
        let options: &[&str] = match fetches_only {
            true if program(host) == DNF => &["-q", "--downloadonly"],
            true => &["--downloadonly"],
            false => &[],
        };
        call(host, kind, targets, title, options)
    }

    fn repair(&self) -> &'static str {
        "run `dnf check` to see what is incomplete"
    }

    fn advice(&self, printed: &str, _: Option<&DnfState>) -> Vec<String> {
        let mut hints = Vec::new();
        if printed.contains("--skip-broken") || printed.contains("conflicting requests") {
            hints.push("list what a package needs with `dnf repoquery --requires NAME`".to_owned());
        }
        if printed.contains("rpmdb") {
            hints.push("repair an unreadable database with `rpm --rebuilddb`".to_owned());
        }
        hints
    }
}

/// Returns which of these names are provided by packages of other names.
async fn virtual_packages(
    scope: ProgramScope<'_>,
    names: &[&str],
) -> Result<HashMap<String, Availability>, Failure> {
    let providers = async |names: &str| {
        let args = ["repoquery", "--available", "--whatprovides", names, "--queryformat", repoquery::FORMAT];
        let call = ToolCommand::new(program(scope.host), "dnf repoquery --whatprovides", &args);
        Ok::<_, Failure>(RepoqueryOutput::parse(&query(&call, scope, false).await?.stdout).into_names())
    };
    let mut found = HashMap::new();
    // In most cases one call shows that there are none.
    if names.is_empty() || providers(&names.join(",")).await?.is_empty() {
        return Ok(found);
    }
    for name in names {
        let by = providers(name).await?;
        if !by.is_empty() {
            found.insert((*name).to_owned(), Availability::Virtual { by });
        }
    }
    Ok(found)
}

/// Returns the program of version 5 if it is installed.
pub(super) fn program(host: Host<'_>) -> &'static str {
    if exists(host, DNF5) { DNF5 } else { DNF }
}

/// Makes version 4 fail at once if a lock is held. Version 5 can't; ccm ends it when it reports the wait.
fn lock(host: Host<'_>) -> &'static [&'static str] {
    if program(host) == DNF { &["--setopt=exit_on_lock=True"] } else { &[] }
}

/// Builds a call of dnf that asks no questions and does not remove unused dependencies.
fn call(
    host: Host<'_>,
    kind: ChangeKind,
    targets: &[PackageTarget<'_>],
    title: &'static str,
    options: &[&str],
) -> ToolCommand {
    let mut args = match kind {
        ChangeKind::Install { recommends, is_downgrade } => {
            let verb = if is_downgrade { "downgrade" } else { "install" };
            let weak = if recommends { "True" } else { "False" };
            vec![verb.to_owned(), format!("--setopt=install_weak_deps={weak}")]
        }
        ChangeKind::Remove { .. } => {
            vec!["remove".to_owned(), "--setopt=clean_requirements_on_remove=False".to_owned()]
        }
    };
    args.extend(["-y"].iter().chain(lock(host)).chain(options).map(|arg| (*arg).to_owned()));
    args.extend(targets.iter().map(package_spec));
    ToolCommand { args, ..ToolCommand::new(program(host), title, &[]) }
}

/// Formats a package and its version for dnf: `NAME-EPOCH:VERSION-RELEASE.ARCH`.
fn package_spec(target: &PackageTarget<'_>) -> String {
    let Some(version) = target.version else { return target.name.to_owned() };
    match split_arch(target.name) {
        (base, Some(arch)) => format!("{base}-{version}.{arch}"),
        (base, None) => format!("{base}-{version}"),
    }
}
