//! Names under which programs know a service or a package.

use std::collections::BTreeSet;

use ccm_model::Glob;

use crate::effect::{Effect, EffectKind};
use crate::matching::{MatchPurpose, Matching};

/// Names that an operand of a program can stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ResourceNames {
    /// The operand, and the names that the program reads from it.
    names: BTreeSet<String>,
    /// The operand is a pattern or a file: its names all begin with one of the names, which may be empty.
    is_open: bool,
}

impl ResourceNames {
    /// Returns the names of an operand of a program.
    fn of(kind: EffectKind, program: Option<&str>, object: &str) -> Self {
        match kind {
            EffectKind::Service => unit_names(object),
            EffectKind::Package => package_names(program.unwrap_or_default(), object),
            EffectKind::Container => image_names(object),
            _ => Self { names: BTreeSet::from([object.to_owned()]), is_open: false },
        }
    }

    fn open(prefix: &str) -> Self {
        Self { names: BTreeSet::from([prefix.to_owned()]), is_open: true }
    }
}

/// Compares the names under which the program knows an object: one of them is enough to restrict, and to lift, the
/// object has to be written as the rule has it.
pub(crate) fn compare_resource(
    glob: &Glob,
    effect: &Effect,
    program: Option<&str>,
    purpose: MatchPurpose,
) -> Matching {
    let kind = effect.kind.name();
    let Some(object) = effect.object.as_deref() else {
        // `systemctl daemon-reload` concerns no unit.
        let prefix = format!("{kind}#");
        return Matching::at_most_possible(glob.may_match_prefix(&prefix));
    };
    let resource = ResourceNames::of(effect.kind, program, object);
    let is_open = effect.is_partial || resource.is_open;
    if purpose == MatchPurpose::Lift && !is_open {
        let without_suffix = object.strip_suffix(".service").unwrap_or(object);
        return Matching::of(
            [object, without_suffix].iter().any(|name| glob.matches(format!("{kind}#{name}"))),
        );
    }
    let matches = |name: &String| glob.matches(format!("{kind}#{name}"));
    if resource.names.iter().any(matches) {
        return if is_open { Matching::Possible } else { Matching::Yes };
    }
    let begins = |name: &String| glob.may_match_prefix(format!("{kind}#{name}"));
    Matching::at_most_possible(is_open && resource.names.iter().any(begins))
}

/// Returns the names of a unit: `/lib/systemd/system/nginx.service` is `nginx`.
fn unit_names(object: &str) -> ResourceNames {
    let name = object.rsplit('/').next().unwrap_or_default();
    if let Some(at) = name.find(['*', '?', '[', '\\']) {
        return ResourceNames::open(name.get(..at).unwrap_or_default());
    }
    let stem = name.strip_suffix(".service").unwrap_or(name);
    let names = [object, name, stem].map(str::to_owned).into_iter().chain([format!("{stem}.service")]);
    ResourceNames { names: names.collect(), is_open: false }
}

/// Programs that take `[…]` behind the name of a package for its extras.
const WITH_EXTRAS: [&str; 12] =
    ["conda", "mamba", "pdm", "pip", "pip2", "pip3", "pipenv", "pipx", "poetry", "python3", "rye", "uv"];

/// Programs that take a name with a dot for a regular expression.
const WITH_EXPRESSIONS: [&str; 4] = ["apt", "apt-get", "aptitude", "apt-mark"];

/// Endings of files with a package, whatever the package's name.
const FILES: [&str; 16] = [
    ".apk", ".crate", ".deb", ".egg", ".gem", ".pkg", ".rpm", ".snap", ".tar.bz2", ".tar.gz", ".tar.xz",
    ".tar.zst", ".tgz", ".vsix", ".whl", ".zip",
];

const ARCHITECTURES: [&str; 14] = [
    "aarch64", "all", "amd64", "arm64", "armhf", "armv7hl", "i386", "i586", "i686", "noarch", "ppc64le",
    "riscv64", "s390x", "x86_64",
];

/// Returns the names of a package: `telnetd:amd64=1` and `telnetd-1.0` are `telnetd`.
fn package_names(program: &str, object: &str) -> ResourceNames {
    if names_any_package(program, object) {
        return ResourceNames::open("");
    }
    let mut names = BTreeSet::from([object.to_owned()]);
    // `1:telnetd` with an epoch, `core/telnetd` of a repository, `x@npm:telnetd` under another name
    names.extend(
        [':', '/'].iter().filter_map(|mark| object.rsplit_once(*mark)).map(|(_, name)| name.to_owned()),
    );
    for name in names.clone() {
        let ends = name.match_indices(['=', '<', '>', '~', '!', '@', ':', '/', '[', ' ', ';', ',', '#']);
        names.extend(ends.filter(|(at, _)| *at > 0).filter_map(|(at, _)| Some(name.get(..at)?.to_owned())));
    }
    for name in names.clone() {
        if let Some((name, architecture)) = name.rsplit_once('.')
            && ARCHITECTURES.contains(&architecture)
        {
            names.insert(name.to_owned());
        }
    }
    for name in names.clone() {
        // `telnetd+` and `telnetd-` say what to do with the package.
        names.insert(name.trim_end_matches(['+', '-']).to_owned());
        let versions = name
            .match_indices('-')
            .filter(|(at, _)| name.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit) && *at > 0);
        names.extend(versions.filter_map(|(at, _)| Some(name.get(..at)?.to_owned())));
    }
    for name in names.clone() {
        names.insert(name.to_lowercase().replace('_', "-"));
    }
    ResourceNames { names, is_open: false }
}

/// Returns `true` if an operand is a pattern, a file or an address: its text does not tell the package.
fn names_any_package(program: &str, object: &str) -> bool {
    let is_file = object.starts_with(['/', '.', '~'])
        || object.contains("://")
        || FILES.iter().any(|ending| object.to_ascii_lowercase().ends_with(ending));
    let is_group = object.starts_with('@') && !object.contains('/');
    let mut pattern = object.chars().filter(|character| match character {
        '*' | '?' | '^' | '$' | '(' | ')' | '|' | '\\' | '{' | '}' => true,
        '[' | ']' => !WITH_EXTRAS.contains(&program),
        _ => false,
    });
    is_file
        || is_group
        || pattern.next().is_some()
        || WITH_EXPRESSIONS.contains(&program) && has_odd_dot(object)
}

/// Returns `true` for a dot that does not stand between digits, in front of a version.
fn has_odd_dot(object: &str) -> bool {
    let name = object.split(['=', '/', ':']).next().unwrap_or_default().as_bytes();
    let is_digit = |at: usize| name.get(at).is_some_and(u8::is_ascii_digit);
    let mut dots = (0..name.len()).filter(|at| name.get(*at) == Some(&b'.'));
    dots.any(|at| at == 0 || !is_digit(at - 1) || !is_digit(at + 1))
}

/// Returns the names of an image or container: `docker.io/library/nginx:1` is `nginx`.
fn image_names(object: &str) -> ResourceNames {
    let mut names = BTreeSet::from([object.to_owned()]);
    let untagged = object.split_once('@').map_or(object, |(name, _)| name);
    names.insert(untagged.to_owned());
    let name = match untagged.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => untagged,
    };
    names.insert(name.to_owned());
    for host in ["docker.io/library/", "docker.io/", "index.docker.io/library/", "library/"] {
        names.extend(name.strip_prefix(host).map(str::to_owned));
    }
    ResourceNames { names, is_open: false }
}
