//! Provider pacman, for Arch and its derivatives.

pub(super) mod version;

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use ccm_engine::Suitability;
use ccm_host::Host;
use ccm_model::Failure;

use super::dnf::matches;
use super::installation::{Availability, Hold, Installation, Presence};
use super::package::Package;
use super::tool::{ChangeKind, IndexResponse, PackageTarget, Tool, exists, suits, text};
use super::tool_command::{PACMAN_CONFLICT, ToolCommand, query};
use super::version::VersionScheme;
use crate::support::program::ProgramScope;

pub(super) const PACMAN: &str = "/usr/bin/pacman";
const CONFIGURATION: &str = "/etc/pacman.conf";
const MAX_FILE_SIZE: u64 = 1 << 20;
const MAX_NAMES_PER_QUERY: usize = 500;

/// Exit codes of a query that finds nothing.
const NOTHING_FOUND: RangeInclusive<i32> = 1..=1;

pub(crate) struct Pacman;

/// Installed packages with their versions, and the patterns of packages that are never upgraded.
#[derive(Debug, Default)]
pub(crate) struct PacmanState {
    versions: HashMap<String, String>,
    ignored: Vec<String>,
}

impl PacmanState {
    /// Parses the output of `pacman -Q` and the configuration.
    fn parse(printed: &str, configuration: &str) -> Self {
        let versions = printed.lines().filter_map(|line| line.split_once(' '));
        let versions = versions.map(|(name, version)| (name.to_owned(), version.trim().to_owned())).collect();
        let values = configuration.lines().filter_map(|line| line.split_once('='));
        let values = values.filter(|(key, _)| key.trim() == "IgnorePkg");
        let ignored = values.flat_map(|(_, value)| value.split_whitespace()).map(str::to_owned).collect();
        Self { versions, ignored }
    }
}

impl Tool for Pacman {
    const NAME: &'static str = "pacman";

    type Database = PacmanState;

    fn database_directories(&self) -> &'static [&'static str] {
        &["/var/lib/pacman"]
    }

    fn scheme(&self) -> VersionScheme {
        VersionScheme::Alpm
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        if exists(host, PACMAN) {
            suits(host, &["arch", "archlinux"], &["/usr/bin/apt-get", "/usr/bin/dnf", "/usr/bin/dnf5"])
        } else {
            Suitability::Unsuitable(format!("{PACMAN} does not exist"))
        }
    }

    async fn read(&self, scope: ProgramScope<'_>) -> Result<PacmanState, Failure> {
        let call = ToolCommand::new(PACMAN, "pacman -Q", &["-Q"]).with_empty_codes(NOTHING_FOUND);
        let printed = query(&call, scope, true).await?;
        let configuration = text(scope.host, CONFIGURATION, MAX_FILE_SIZE)?.unwrap_or_default();
        Ok(PacmanState::parse(&printed.stdout, &configuration))
    }

    fn find(&self, state: &PacmanState, name: &str) -> Installation {
        let Some(version) = state.versions.get(name) else { return Installation::default() };
        let hold = state.ignored.iter().any(|pattern| matches(pattern, name)).then(|| Hold {
            by: format!("`IgnorePkg` in {CONFIGURATION}"),
            release: "remove the package from `IgnorePkg`".to_owned(),
        });
        Installation { presence: Presence::Installed(version.clone()), hold, ..Installation::default() }
    }

    fn installed<'d>(&self, state: &'d PacmanState) -> Box<dyn Iterator<Item = &'d str> + 'd> {
        Box::new(state.versions.keys().map(String::as_str))
    }

    /// A package that others need is not removed, and one that conflicts is not replaced without a question.
    fn may_remove_more(&self, _: ChangeKind) -> bool {
        false
    }

    fn base<'n>(&self, name: &'n str) -> &'n str {
        name
    }

    fn are_same(&self, _: &PacmanState, one: &Package, other: &Package) -> bool {
        one.name == other.name
    }

    fn also_queried(&self, _: &PacmanState) -> Vec<String> {
        Vec::new()
    }

    async fn providers(
        &self,
        scope: ProgramScope<'_>,
        _: &PacmanState,
        names: &[&str],
    ) -> Result<HashMap<String, Vec<String>>, Failure> {
        let search = ToolCommand::new(PACMAN, "pacman -Qs", &["-Qs", "--", &pattern(names)]);
        let printed = query(&search.with_empty_codes(NOTHING_FOUND), scope, true).await?;
        providers_among(scope, &packages_found(&printed.stdout), names, "-Qi").await
    }

    async fn query_index(
        &self,
        scope: ProgramScope<'_>,
        _: &PacmanState,
        names: &[&str],
    ) -> Result<IndexResponse, Failure> {
        let mut by_name = HashMap::with_capacity(names.len());
        for names in names.chunks(MAX_NAMES_PER_QUERY) {
            // A query by name fails if one of the names is unknown.
            let call = ToolCommand::new(PACMAN, "pacman -Ss", &["-Ss", "--", &pattern(names)]);
            let printed = query(&call.with_empty_codes(NOTHING_FOUND), scope, false).await?;
            let found = search_results(&printed.stdout);
            let unknown: Vec<&str> =
                names.iter().copied().filter(|name| !found.contains_key(*name)).collect();
            // The search finds what provides a name, too, and what has it as its description.
            let others: BTreeSet<&str> = found.keys().copied().filter(|name| !names.contains(name)).collect();
            let mut virtuals = if unknown.is_empty() {
                HashMap::new()
            } else {
                providers_among(scope, &others, &unknown, "-Si").await?
            };
            let mut availability = |name: &&str| match (found.get(*name), virtuals.remove(*name)) {
                (Some(found), _) => found.clone(),
                (None, Some(by)) => Availability::Virtual { by },
                (None, None) => Availability::Unknown,
            };
            by_name.extend(names.iter().map(|name| ((*name).to_owned(), availability(name))));
        }
        Ok(IndexResponse { by_name, ..IndexResponse::default() })
    }

    fn stamps(&self) -> &'static [&'static str] {
        &["/var/lib/pacman/sync"]
    }

    fn refresh(&self, _: Host<'_>) -> ToolCommand {
        ToolCommand::new(PACMAN, "pacman -Sy", &["-Sy", "--noconfirm", "--noprogressbar"])
    }

    fn change(
        &self,
        _: Host<'_>,
        kind: ChangeKind,
        targets: &[PackageTarget<'_>],
        fetches_only: bool,
    ) -> ToolCommand {
        let (title, options): (_, &[&str]) = match kind {
            ChangeKind::Install { .. } if fetches_only => ("pacman -Sw", &["-Sw"]),
            ChangeKind::Install { .. } => ("pacman -S", &["-S", "--needed"]),
            ChangeKind::Remove { purge: false } => ("pacman -R", &["-R"]),
            ChangeKind::Remove { purge: true } => ("pacman -Rn", &["-Rn"]),
        };
        let args = [options, &["--noconfirm", "--noprogressbar", "--"]].concat();
        let mut call = ToolCommand::new(PACMAN, title, &args);
        call.args.extend(targets.iter().map(|target| match target.version {
            Some(version) => format!("{}={version}", target.name),
            None => target.name.to_owned(),
        }));
        call
    }

    fn repair(&self) -> &'static str {
        "run `pacman -Dk` to see what is incomplete"
    }

    fn advice(&self, printed: &str, _: Option<&PacmanState>) -> Vec<String> {
        let mut hints = Vec::new();
        if printed.contains("failed retrieving file") || printed.contains("404") {
            hints.push("refresh an old index with `update_cache: 1d`".to_owned());
        }
        if printed.contains(PACMAN_CONFLICT) {
            hints.push("remove one of the packages from the manifest: they exclude each other".to_owned());
        }
        if printed.contains("required by") {
            hints.push("remove the packages that need it with resources of their own".to_owned());
        }
        hints
    }
}

/// Returns a regular expression that matches these names alone.
fn pattern(names: &[&str]) -> String {
    let escaped = |name: &&str| name.replace('.', "\\.").replace('+', "\\+");
    let names: Vec<String> = names.iter().map(escaped).collect();
    format!("^({})$", names.join("|"))
}

/// Returns the names of the packages in the output of `pacman -Qs` or `pacman -Ss`.
fn packages_found(printed: &str) -> BTreeSet<&str> {
    let heads = printed.lines().filter(|line| !line.starts_with(' '));
    heads.filter_map(|line| Some(line.split(' ').next()?.split_once('/')?.1)).collect()
}

/// Returns which of these packages provide each of these names. The option selects installed packages or those of the
/// index.
async fn providers_among(
    scope: ProgramScope<'_>,
    packages: &BTreeSet<&str>,
    names: &[&str],
    option: &str,
) -> Result<HashMap<String, Vec<String>>, Failure> {
    if packages.is_empty() {
        return Ok(HashMap::new());
    }
    let args: Vec<&str> = [option, "--"].into_iter().chain(packages.iter().copied()).collect();
    let printed = query(&ToolCommand::new(PACMAN, "pacman --info", &args), scope, true).await?;
    Ok(provided_in(&printed.stdout, names))
}

/// Parses the output of `pacman -Qi` or `pacman -Si`: lines `Field : value`, and an empty line behind each package.
fn provided_in(printed: &str, names: &[&str]) -> HashMap<String, Vec<String>> {
    let mut providers: HashMap<String, Vec<String>> = HashMap::new();
    let (mut package, mut field) = ("", "");
    for line in printed.lines() {
        let value = match line.split_once(':') {
            // A long value goes on in the next line.
            Some((name, value)) if !line.starts_with(' ') => {
                field = name.trim();
                value.trim()
            }
            _ => line.trim(),
        };
        match field {
            "Name" if !value.is_empty() => package = value,
            "Provides" => {
                // A version may follow the name.
                let provided = value.split_whitespace().filter_map(|word| word.split(['=', '<', '>']).next());
                for name in provided.filter(|name| *name != package && names.contains(name)) {
                    providers.entry(name.to_owned()).or_default().push(package.to_owned());
                }
            }
            _ => {}
        }
        if line.is_empty() {
            field = "";
        }
    }
    for by in providers.values_mut() {
        by.sort_unstable();
        by.dedup();
    }
    providers
}

/// Parses the output of `pacman -Ss`: a line for each package, `REPOSITORY/NAME VERSION`, and an indented description.
fn search_results(printed: &str) -> HashMap<&str, Availability> {
    let mut versions: HashMap<&str, Vec<String>> = HashMap::new();
    for line in printed.lines().filter(|line| !line.starts_with(' ')) {
        let mut words = line.split(' ');
        let name = words.next().and_then(|word| word.split_once('/'));
        if let (Some((_, name)), Some(version)) = (name, words.next()) {
            versions.entry(name).or_default().push(version.to_owned());
        }
    }
    // The first repository has precedence.
    let availability = |all: Vec<String>| Availability::Versions { candidate: all.first().cloned(), all };
    versions.into_iter().map(|(name, all)| (name, availability(all))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_exclusions_are_read() {
        let state = PacmanState::parse(
            "hello 1.1-1\nother 1:2.0-3\n",
            "[options]\n#IgnorePkg = hello\nIgnorePkg   = oth* x\nIgnorePkg = y\n",
        );
        let hello = Pacman.find(&state, "hello");
        assert_eq!(hello.presence, Presence::Installed("1.1-1".to_owned()));
        assert!(hello.hold.is_none() && Pacman.find(&state, "other").hold.is_some());
        assert_eq!(Pacman.find(&state, "nosuch"), Installation::default());
    }

    #[test]
    fn search_finds_names_and_not_descriptions() {
        assert_eq!(pattern(&["a+b", "c.d"]), "^(a\\+b|c\\.d)$");
        let printed =
            "core/hello 1.1-1 [installed]\n    a/b 1\nextra/hello 1.0-1\nextra/other 1:2.0-3\n    x\n";
        let found = search_results(printed);
        let hello = Availability::Versions {
            candidate: Some("1.1-1".to_owned()),
            all: vec!["1.1-1".to_owned(), "1.0-1".to_owned()],
        };
        assert_eq!((found.len(), found.get("hello")), (2, Some(&hello)));
    }
}
