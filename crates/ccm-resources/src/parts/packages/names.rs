//! Checks of package names and versions, made before they become arguments of a package tool.

use std::env::consts::ARCH;

use ccm_model::{escape_control, joined};

/// Returns the error in a package name, with a hint.
pub(crate) fn name_error(name: &str) -> Option<(String, Option<&'static str>)> {
    let shown = escape_control(name);
    if name.len() > MAX_LENGTH {
        return Some((format!("a package name of {} bytes is too long", name.len()), None));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+:~-".contains(c);
    if let Some(other) = name.chars().find(|c| !is_allowed(*c)) {
        let hint = match other {
            '=' => Some("set the version with `ensure`"),
            '*' | '?' | '[' => Some("write each package name in full"),
            '@' => Some("list each package: package groups are not supported"),
            '/' => Some("name a package of the index: package files are not supported"),
            ' ' | ',' => Some("declare a resource for each package"),
            _ => None,
        };
        let other = other.escape_debug();
        return Some((format!("`{shown}` contains `{other}`, which is not allowed in a package name"), hint));
    }
    let begins = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(begins) {
        return Some((format!("`{shown}` does not start like a package name"), None));
    }
    // apt would read the dash as a request to remove the package.
    if name.ends_with(['-', ':']) {
        return Some((format!("`{shown}` does not end like a package name"), None));
    }
    if let Some((_, arch @ ("native" | "any"))) = name.rsplit_once(':') {
        return Some((
            format!("`{arch}` is not an architecture"),
            Some("leave out the architecture to get that of the machine"),
        ));
    }
    None
}

/// Returns the error in a version.
pub(crate) fn version_error(version: &str) -> Option<String> {
    let shown = escape_control(version);
    if version.len() > MAX_LENGTH {
        return Some(format!("a package version of {} bytes is too long", version.len()));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+:~^-".contains(c);
    if let Some(other) = version.chars().find(|c| !is_allowed(*c)) {
        let other = other.escape_debug();
        return Some(format!("`{shown}` contains `{other}`, which is not allowed in a version"));
    }
    if !version.starts_with(|c: char| c.is_ascii_alphanumeric()) || version.ends_with(['-', ':']) {
        return Some(format!("`{shown}` is not a package version"));
    }
    None
}

/// Returns the spellings of a package name, the given one first: on an x86-64 machine `zsh`, `zsh:amd64` and `zsh.x86_64`
/// are one package.
pub(crate) fn spellings(name: &str) -> Vec<String> {
    let own = match ARCH {
        "x86_64" => [":amd64", ".x86_64"],
        "aarch64" => [":arm64", ".aarch64"],
        "arm" => [":armhf", ".armv7hl"],
        "riscv64" => [":riscv64", ".riscv64"],
        "powerpc64" => [":ppc64el", ".ppc64le"],
        "s390x" => [":s390x", ".s390x"],
        _ => return vec![name.to_owned()],
    };
    let base = own.iter().find_map(|arch| name.strip_suffix(arch)).unwrap_or(name);
    let has_other_arch = base == name && name.contains(':');
    let others = own.map(|arch| format!("{base}{arch}")).into_iter().chain([base.to_owned()]);
    let others = others.filter(|other| !has_other_arch && other != name);
    [name.to_owned()].into_iter().chain(others).collect()
}

/// Lists names in backquotes for a message.
pub(crate) fn quoted_names(names: &[String]) -> String {
    joined(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(), "and")
}

const MAX_LENGTH: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_package_differ_in_the_architecture_of_the_machine() {
        if ARCH != "x86_64" {
            return;
        }
        for (name, expected) in [
            ("zsh", &["zsh", "zsh:amd64", "zsh.x86_64"][..]),
            ("zsh:amd64", &["zsh:amd64", "zsh.x86_64", "zsh"]),
            ("zsh.x86_64", &["zsh.x86_64", "zsh:amd64", "zsh"]),
            ("zsh:i386", &["zsh:i386"]),
        ] {
            assert_eq!(spellings(name), expected);
        }
    }
}
