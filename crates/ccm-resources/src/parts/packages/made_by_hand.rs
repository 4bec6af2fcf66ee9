//! What a person did to the packages and files of a machine, less what every installation brings.

use std::collections::HashSet;
use std::path::Path;
use std::sync::LazyLock;

use ccm_engine::Context;
use ccm_host::Host;
use ccm_model::{Failure, Glob, GlobKind};

use super::dnf;
use super::own_tool::OwnTool;
use super::owned_paths::installed_packages;
use super::pacman::PACMAN;
use super::tool::bytes;
use super::tool_command::{ToolCommand, query};

/// Names that no person chose: lines of a kind, a pattern and a reason, with tabs between.
const IGNORED: &str = include_str!("ignored.tsv");

/// Packages that apt installed because others need them.
const EXTENDED_STATES: &str = "/var/lib/apt/extended_states";
const MAX_STATES: u64 = 64 << 20;

/// Priorities of packages that every installation has.
const BASE: [&str; 3] = ["required", "important", "standard"];

/// Patterns of one kind.
static PATTERNS: LazyLock<Vec<(&'static str, Glob)>> = LazyLock::new(|| {
    let rows = IGNORED.lines().filter(|line| !line.starts_with('#'));
    let fields = rows.filter_map(|row| row.split_once('\t'));
    let patterns = fields.filter_map(|(kind, rest)| {
        let pattern = rest.split('\t').next().unwrap_or(rest);
        let of_path = pattern.starts_with('/');
        Some((kind, Glob::parse(pattern, if of_path { GlobKind::Path } else { GlobKind::Text }).ok()?))
    });
    patterns.collect()
});

/// Returns `true` for a name of a kind that no person chose.
pub(crate) fn ignores(kind: &str, name: &str) -> bool {
    PATTERNS.iter().any(|(of, glob)| *of == kind && glob.matches(name))
}

/// Returns the packages that a person installed: neither a part of every installation nor brought by another package.
pub(crate) async fn manual_packages(context: &Context<'_>) -> Result<Vec<String>, Failure> {
    let mut names = match OwnTool::of(context.host) {
        Some(OwnTool::Dnf) => names_of(&user_installed(context.host), context).await?,
        Some(OwnTool::Pacman) => {
            let explicit = ToolCommand::new(PACMAN, "pacman -Qqet", &["-Qqet"]);
            names_of(&explicit.with_empty_codes(1..=1), context).await?
        }
        Some(OwnTool::Apt) | None => manual_packages_of_apt(context).await?,
    };
    names.retain(|name| !ignores("package", name));
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Query for packages that somebody named, of both versions of dnf. It needs no index.
fn user_installed(host: Host<'_>) -> ToolCommand {
    let arguments = ["-q", "--disablerepo=*", "repoquery", "--userinstalled", "--queryformat", "%{name}\n"];
    ToolCommand::new(dnf::program(host), "dnf repoquery", &arguments)
}

/// Returns the names that a command prints, one on each line.
async fn names_of(call: &ToolCommand, context: &Context<'_>) -> Result<Vec<String>, Failure> {
    let printed = query(call, context.into(), true).await?.stdout;
    let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

async fn manual_packages_of_apt(context: &Context<'_>) -> Result<Vec<String>, Failure> {
    let installed = installed_packages(context).await?;
    let states = bytes(context.host, EXTENDED_STATES, MAX_STATES)?.unwrap_or_default();
    let states = String::from_utf8_lossy(&states);
    let automatic: HashSet<&str> = states.split("\n\n").filter_map(automatic).collect();
    let needed: HashSet<&str> =
        installed.0.iter().flat_map(|entry| entry.depends.iter().map(String::as_str)).collect();
    let is_manual = |name: &str| !automatic.contains(name) && !needed.contains(name);
    let entries = installed
        .0
        .iter()
        .filter(|entry| !entry.is_essential && !BASE.contains(&&*entry.priority) && is_manual(&entry.name));
    Ok(entries.map(|entry| entry.name.clone()).collect())
}

/// Returns the name of a package that apt installed because another one needs it.
fn automatic(paragraph: &str) -> Option<&str> {
    let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    field("Package").filter(|_| field("Auto-Installed") == Some("1"))
}

/// Returns `true` for a file below `/etc` that no person made.
pub(crate) fn ignores_path(path: &Path) -> bool {
    path.to_str().is_none_or(|path| ignores("file", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_a_kind_a_pattern_and_a_reason() {
        for row in IGNORED.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = row.split('\t').collect();
            assert!(
                matches!(fields[..], ["file" | "package" | "service", _, reason] if reason.len() > 5),
                "{row}"
            );
        }
        let rows = IGNORED.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(PATTERNS.len(), rows, "each pattern is a glob");
    }

    #[test]
    fn patterns_match_what_they_are_for() {
        for (kind, name, expected) in [
            ("file", "/etc/machine-id", true),
            ("file", "/etc/ssl/certs/ca-certificates.crt", true),
            ("file", "/etc/ssl/certs/a/b", true),
            ("file", "/etc/nginx/nginx.conf", false),
            ("file", "/etc/shadow-", true),
            ("package", "linux-image-amd64", true),
            ("package", "nginx", false),
            ("service", "getty@tty1.service", true),
            ("service", "nginx.service", false),
        ] {
            assert_eq!(ignores(kind, name), expected, "{kind} {name}");
        }
    }

    #[test]
    fn packages_for_others_are_automatic() {
        assert_eq!(automatic("Package: a\nArchitecture: amd64\nAuto-Installed: 1"), Some("a"));
        assert_eq!(automatic("Package: a\nAuto-Installed: 0"), None);
    }
}
