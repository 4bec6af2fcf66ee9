//! Distribution of the host, in the names that manifests use. The distributions' own files are older than
//! `/etc/os-release` and hold more: only Debian's has the point release. Their order puts derived
//! distributions before the original.

use std::collections::HashMap;

use crate::reader::FactReader;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Platform {
    pub(super) name: String,
    /// Family; empty if the distribution has none.
    pub(super) family: String,
    /// Version; empty if the distribution has none.
    pub(super) version: String,
    /// Name of the version; empty if it has none.
    pub(super) codename: String,
}

const FAMILIES: [(&str, &[&str]); 12] = [
    ("debian", &["debian", "ubuntu", "linuxmint", "raspbian", "Kylin", "cumuluslinux"]),
    ("fedora", &["fedora"]),
    (
        "rhel",
        &[
            "oracle",
            "centos",
            "redhat",
            "scientific",
            "enterpriseenterprise",
            "amazon",
            "xenserver",
            "cloudlinux",
            "ibm_powerkvm",
            "rocky",
            "almalinux",
            "rhel",
        ],
    ),
    (
        "suse",
        &[
            "suse",
            "opensuse",
            "opensuse-leap",
            "opensuse-tumbleweed",
            "opensuse-tumbleweed-kubic",
            "sles",
            "sled",
            "caasp",
        ],
    ),
    ("gentoo", &["gentoo"]),
    ("slackware", &["slackware"]),
    ("arch", &["arch"]),
    ("exherbo", &["exherbo"]),
    ("alpine", &["alpine"]),
    ("coreos", &["coreos"]),
    ("solus", &["solus"]),
    ("neokylin", &["neokylin"]),
];

impl Platform {
    pub(super) fn detect(reader: &mut FactReader<'_>) -> Self {
        let release = reader.optional("/etc/os-release").or_else(|| reader.optional("/usr/lib/os-release"));
        let release = assignments(release.as_deref().unwrap_or_default());
        let (name, version) = name_and_version(reader, &release);
        let likes = release.get("ID_LIKE").map(String::as_str).unwrap_or_default();
        Self { family: family(&name, likes).to_owned(), name, version, codename: codename(&release) }
    }

    /// Returns the digits of the version before the first point; empty if it does not begin with a digit.
    pub(super) fn major_version(&self) -> &str {
        let end = self.version.find(|character: char| !character.is_ascii_digit());
        &self.version[..end.unwrap_or(self.version.len())]
    }
}

/// Returns the name of the version, such as `bookworm`.
fn codename(release: &HashMap<String, String>) -> String {
    let get = |name: &str| release.get(name).filter(|value| !value.is_empty());
    if let Some(name) = get("VERSION_CODENAME").or_else(|| get("UBUNTU_CODENAME")) {
        return name.clone();
    }
    // Some have it between parentheses alone: `9.4 (Plow)`.
    let version = release.get("VERSION").map(String::as_str).unwrap_or_default();
    let between = version.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    between.map_or_else(String::new, |(name, _)| name.to_lowercase())
}

fn family(name: &str, likes: &str) -> &'static str {
    let of = |name: &str| FAMILIES.iter().find(|(_, names)| names.contains(&name)).map(|(family, _)| *family);
    // The closest relative is listed first.
    of(name).or_else(|| likes.split_whitespace().find_map(of)).unwrap_or_default()
}

fn name_and_version(reader: &mut FactReader<'_>, release: &HashMap<String, String>) -> (String, String) {
    for path in ["/etc/oracle-release", "/etc/enterprise-release"] {
        if let Some(text) = content(reader, path) {
            return ("oracle".to_owned(), red_hat_version(&text));
        }
    }
    if let Some(text) = content(reader, "/etc/slackware-version") {
        return ("slackware".to_owned(), text.trim().to_lowercase().replacen("slackware ", "", 1));
    }
    if let Some(text) = content(reader, "/etc/debian_version") {
        return debian(reader, release, first_line(&text));
    }
    for path in ["/etc/neokylin-release", "/etc/redhat-release", "/etc/system-release"] {
        if let Some(text) = content(reader, path) {
            return (red_hat_name(&text), red_hat_version(&text));
        }
    }
    if let Some(text) = content(reader, "/etc/gentoo-release") {
        return ("gentoo".to_owned(), red_hat_version(&text));
    }
    if let Some(text) = content(reader, "/etc/SuSE-release") {
        return suse(&text);
    }
    if reader.exists("/etc/arch-release") {
        return ("arch".to_owned(), lsb(reader, "DISTRIB_RELEASE"));
    }
    if let Some(text) = content(reader, "/etc/alpine-release") {
        return ("alpine".to_owned(), first_line(&text));
    }
    let get = |name: &str| release.get(name).cloned().unwrap_or_default();
    match get("ID").as_str() {
        "" => lsb_name(reader),
        "amzn" => ("amazon".to_owned(), get("VERSION_ID")),
        id => (id.to_owned(), get("VERSION_ID")),
    }
}

fn debian(
    reader: &mut FactReader<'_>,
    release: &HashMap<String, String>,
    version: String,
) -> (String, String) {
    let known = |name: &str| match name {
        "Ubuntu" | "ubuntu" => Some("ubuntu"),
        "LinuxMint" | "linuxmint" => Some("linuxmint"),
        "Kylin" => Some("Kylin"),
        "Cumulus Linux" => Some("cumuluslinux"),
        _ => None,
    };
    if let Some(name) = known(&lsb(reader, "DISTRIB_ID")) {
        return (name.to_owned(), lsb(reader, "DISTRIB_RELEASE"));
    }
    // Small images lack `/etc/lsb-release`.
    let get = |name: &str| release.get(name).map(String::as_str).unwrap_or_default();
    if let Some(name) = known(get("ID")) {
        return (name.to_owned(), get("VERSION_ID").to_owned());
    }
    let name = if reader.exists("/usr/bin/raspi-config") { "raspbian" } else { "debian" };
    (name.to_owned(), version)
}

/// Returns a value of `/etc/lsb-release`; empty if there is none.
fn lsb(reader: &mut FactReader<'_>, name: &str) -> String {
    let text = reader.optional("/etc/lsb-release").unwrap_or_default();
    assignments(&text).remove(name).unwrap_or_default()
}

fn lsb_name(reader: &mut FactReader<'_>) -> (String, String) {
    let name = match lsb(reader, "DISTRIB_ID").as_str() {
        "ScientificSL" => "scientific".to_owned(),
        other => other.to_lowercase(),
    };
    (name, lsb(reader, "DISTRIB_RELEASE"))
}

fn suse(text: &str) -> (String, String) {
    let value = |name: &str| {
        let line = text.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == name);
        line.map(|(_, value)| value.trim())
    };
    let version = match (value("VERSION"), value("PATCHLEVEL")) {
        (Some(version), Some(level)) => format!("{version}.{level}"),
        (version, _) => version.unwrap_or_default().to_owned(),
    };
    let open = text.to_lowercase().contains("opensuse");
    (if open { "opensuse" } else { "suse" }.to_owned(), version)
}

/// Returns the first word, but both words of Red Hat.
fn red_hat_name(text: &str) -> String {
    let text = text.to_lowercase();
    if text.contains("red hat") {
        return "redhat".to_owned();
    }
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Returns the version after the word "release": a letter or digit, then digits and points.
fn red_hat_version(text: &str) -> String {
    let text = text.to_lowercase();
    if text.contains("rawhide") {
        return "rawhide".to_owned();
    }
    let is_start = |start: char| start.is_alphanumeric() || start == '_';
    let mut places = text.match_indices("release ").map(|(at, word)| &text[at + word.len()..]);
    let Some(version) = places.find(|rest| rest.starts_with(is_start)) else { return String::new() };
    let goes_on = |next: char| next.is_ascii_digit() || next == '.';
    let length = version.char_indices().skip(1).find(|(_, next)| !goes_on(*next));
    version[..length.map_or(version.len(), |(at, _)| at)].to_owned()
}

fn content(reader: &mut FactReader<'_>, path: &str) -> Option<String> {
    reader.optional(path).filter(|text| !text.trim().is_empty())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// Parses the lines `NAME=value`, without quotes. The last of equal names wins.
fn assignments(text: &str) -> HashMap<String, String> {
    let assignment = |line: &str| {
        let (name, value) = line.trim().split_once('=')?;
        let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        let plain = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        Some((name.to_owned(), plain.to_owned()))
    };
    text.lines().filter_map(assignment).collect()
}

#[cfg(test)]
mod tests;
