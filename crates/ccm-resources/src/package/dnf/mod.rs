//! Provider dnf: packages of Fedora, Red Hat and what descends from them.

mod available;
mod database;
mod left_out;
mod locks;
pub(super) mod version;

use ccm_engine::Suitability;
use ccm_host::{Host, Level, Local};
use ccm_model::Failure;

use super::call::{Call, ask};
use super::provider::Packages;
use super::state::{Found, Presence, Scheme};
use super::tool::{Answer, Reach, Target, Tool, Way, exists, suits, text};
use super::wanted::{Ensure, Package};
use available::Available;
use database::{Database, split_arch};
use left_out::left_out;
use locks::Locks;

const DNF: &str = "/usr/bin/dnf";
const DNF5: &str = "/usr/bin/dnf5";
const RPM: &str = "/usr/bin/rpm";

/// What shows that it is there.
pub(crate) const PROGRAMS: [&str; 2] = [DNF, DNF5];

/// Where locks and exclusions are written, by version 4, version 5 and both.
const VERSION_LOCKS: [&str; 3] =
    ["/etc/dnf/plugins/versionlock.list", "/etc/dnf/versionlock.toml", "/etc/dnf/dnf.conf"];
/// More than this is none of these.
const LONGEST: u64 = 1 << 20;

/// Manages packages with dnf.
pub(crate) static DNF_PACKAGES: Packages<Dnf> = Packages(Dnf);

/// The tools of the Red Hat family.
pub(crate) struct Dnf;

/// What is on the machine, and what of it is to stay as it is.
pub(crate) struct Known {
    database: Database,
    locks: Locks,
}

impl Tool for Dnf {
    type Database = Known;

    fn name(&self) -> &'static str {
        "dnf"
    }

    fn scheme(&self) -> Scheme {
        Scheme::Rpm
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        if !PROGRAMS.into_iter().any(|program| exists(host, program)) {
            return Suitability::Unsuitable(format!("there is no {DNF}"));
        }
        if !exists(host, RPM) {
            return Suitability::Unsuitable(format!("there is no {RPM}"));
        }
        suits(host, &["fedora", "rhel", "centos", "suse", "opensuse"], &["/usr/bin/apt-get"])
    }

    fn read<'a>(&'a self, reach: Reach<'a>) -> Local<'a, Result<Known, Failure>> {
        Box::pin(async move {
            let call = Call::new(RPM, "rpm -qa", &["-qa", "--queryformat", database::FORMAT]);
            let database = Database::parse(&ask(&call, reach, true).await?.stdout);
            if reach.cancellation.level() > Level::Go {
                // No file is read any more, and nothing is decided.
                return Ok(Known { database, locks: Locks::default() });
            }
            let [list, toml, configuration] = VERSION_LOCKS.map(|path| text(reach.host, path, LONGEST));
            let given = |text: Result<Option<String>, Failure>| text.map(Option::unwrap_or_default);
            let locks = Locks::parse(&given(list)?, &given(toml)?, &given(configuration)?);
            Ok(Known { database, locks })
        })
    }

    fn find(&self, known: &Known, name: &str) -> Found {
        let mut found = known.database.find(name);
        let is_installed = matches!(found.presence, Presence::Installed(_));
        found.hold = known.locks.hold(split_arch(name).0, is_installed);
        found
    }

    fn installed<'d>(&self, known: &'d Known) -> Box<dyn Iterator<Item = &'d str> + 'd> {
        Box::new(known.database.names())
    }

    /// What needs what goes; an installation removes nothing.
    fn may_remove_more(&self, way: Way) -> bool {
        matches!(way, Way::Remove { .. })
    }

    fn base<'n>(&self, name: &'n str) -> &'n str {
        split_arch(name).0
    }

    fn are_same(&self, known: &Known, one: &Package, other: &Package) -> bool {
        let native = known.database.native();
        let of_machine = |arch: &str| arch == "noarch" || native == Some(arch);
        let ends_all = |package: &Package| package.ensure == Ensure::Absent;
        match (split_arch(&one.name).1, split_arch(&other.name).1) {
            (None, Some(arch)) => ends_all(one) || of_machine(arch),
            (Some(arch), None) => ends_all(other) || of_machine(arch),
            (one, other) => one == other,
        }
    }

    fn asked_as_well(&self, _: &Known) -> Vec<String> {
        Vec::new()
    }

    fn offers<'a>(
        &'a self,
        reach: Reach<'a>,
        _: &'a Known,
        names: &'a [&'a str],
    ) -> Local<'a, Result<Answer, Failure>> {
        Box::pin(async move {
            // With `-q` nothing is said of a repository that can't be read.
            let args = [&["repoquery", "--available", "--queryformat", available::FORMAT], names].concat();
            let printed = ask(&Call::new(program(reach.host), "dnf repoquery", &args), reach, false).await?;
            let available = Available::parse(&printed.stdout);
            let offers = names.iter().map(|name| ((*name).to_owned(), available.offer(name))).collect();
            Ok(Answer { offers, left_out: left_out(&printed.stderr) })
        })
    }

    fn stamps(&self) -> &'static [&'static str] {
        &["/var/cache/dnf/last_makecache", "/var/cache/libdnf5"]
    }

    fn refresh(&self, host: Host<'_>) -> Call {
        let lock = lock(host);
        Call::new(program(host), "dnf makecache", &[&["makecache", "--refresh", "-q"], lock].concat())
    }

    fn change(&self, host: Host<'_>, way: Way, targets: &[Target<'_>], fetches_only: bool) -> Call {
        let title = match way {
            Way::Install { .. } if fetches_only => "dnf --downloadonly",
            Way::Install { is_downgrade: false, .. } => "dnf install",
            Way::Install { is_downgrade: true, .. } => "dnf downgrade",
            Way::Remove { .. } => "dnf remove",
        };
        // With `-q` version 4 keeps back what scripts of packages print, and version 5 that it waits for another program.
        let options: &[&str] = match fetches_only {
            true if program(host) == DNF => &["-q", "--downloadonly"],
            true => &["--downloadonly"],
            false => &[],
        };
        call(host, way, targets, title, options)
    }

    fn repair(&self) -> &'static str {
        "`dnf check` shows what was left half done"
    }

    fn advice(&self, printed: &str, _: Option<&Known>) -> Vec<String> {
        let mut hints = Vec::new();
        if printed.contains("--skip-broken") || printed.contains("conflicting requests") {
            hints.push("`dnf repoquery --requires NAME` shows what a package needs".to_owned());
        }
        if printed.contains("rpmdb") {
            hints.push("`rpm --rebuilddb` repairs a database that can't be read".to_owned());
        }
        hints
    }
}

/// Version 5 where it is there.
fn program(host: Host<'_>) -> &'static str {
    if exists(host, DNF5) { DNF5 } else { DNF }
}

/// Makes version 4 say at once that another program is at work; version 5 has no such setting, and is ended where it
/// says so.
fn lock(host: Host<'_>) -> &'static [&'static str] {
    if program(host) == DNF { &["--setopt=exit_on_lock=True"] } else { &[] }
}

/// A call of dnf for packages. Nothing of it asks a question, and no more is removed than what needs what goes.
fn call(host: Host<'_>, way: Way, targets: &[Target<'_>], title: &'static str, options: &[&str]) -> Call {
    let mut args = match way {
        Way::Install { recommends, is_downgrade } => {
            let verb = if is_downgrade { "downgrade" } else { "install" };
            let weak = if recommends { "True" } else { "False" };
            vec![verb.to_owned(), format!("--setopt=install_weak_deps={weak}")]
        }
        Way::Remove { .. } => {
            vec!["remove".to_owned(), "--setopt=clean_requirements_on_remove=False".to_owned()]
        }
    };
    args.extend(["-y"].iter().chain(lock(host)).chain(options).map(|arg| (*arg).to_owned()));
    args.extend(targets.iter().map(named));
    Call { args, ..Call::new(program(host), title, &[]) }
}

/// A package and its version, as dnf reads them: `NAME-EPOCH:VERSION-RELEASE.ARCH`.
fn named(target: &Target<'_>) -> String {
    let Some(version) = target.version else { return target.name.to_owned() };
    match split_arch(target.name) {
        (base, Some(arch)) => format!("{base}-{version}.{arch}"),
        (base, None) => format!("{base}-{version}"),
    }
}
