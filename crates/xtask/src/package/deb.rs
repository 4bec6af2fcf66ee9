//! Debian packages: an ar archive of `debian-binary`, the control files and the data.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use super::archive::{Entry, ar, gzip, tar};
use super::elf::Linkage;
use super::item::{FileRole, PackageItems};
use super::{Release, hexadecimal};

/// Scripts of the package, by name.
const SCRIPTS: [(&str, &str); 3] = [
    ("postinst", include_str!("../../../../packaging/deb/postinst")),
    ("prerm", include_str!("../../../../packaging/deb/prerm")),
    ("postrm", include_str!("../../../../packaging/deb/postrm")),
];

/// Returns the version of the package. A `~` sorts before the release.
pub(super) fn version(release: &Release) -> String {
    format!("{}-{}", release.version.replacen('-', "~", 1), release.revision)
}

/// Builds the package of a program and its other files, with all directories above them.
pub(super) fn build(release: &Release, linkage: &Linkage, items: &PackageItems) -> Result<Vec<u8>, String> {
    let control = control(release, linkage, items)?;
    let (sums, configuration) = (md5sums(items), configuration(items));
    let mut files = vec![("control", control, 0o644), ("md5sums", sums, 0o644)];
    files.extend((!configuration.is_empty()).then_some(("conffiles", configuration, 0o644)));
    files.extend(SCRIPTS.map(|(name, text)| (name, text.to_owned(), 0o755)));
    let root = || Entry { path: ".", content: None, mode: 0o755 };
    let paths: Vec<String> = files.iter().map(|(name, ..)| format!("./{name}")).collect();
    let entries = paths.iter().zip(&files);
    let entries =
        entries.map(|(path, (_, text, mode))| Entry { path, content: Some(text.as_bytes()), mode: *mode });
    let control = gzip(&tar([root()].into_iter().chain(entries), release.seconds)?)?;
    let paths: Vec<String> = items.iter().map(|(path, _)| format!("./{path}")).collect();
    let entries = paths.iter().zip(items.iter());
    let entries =
        entries.map(|(path, (_, item))| Entry { path, content: item.content.as_deref(), mode: item.mode });
    let data = gzip(&tar([root()].into_iter().chain(entries), release.seconds)?)?;
    let members = [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    Ok(ar(members, release.seconds))
}

fn control(release: &Release, linkage: &Linkage, items: &PackageItems) -> Result<String, String> {
    const KIB: u64 = 1024;
    let mut text = String::new();
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name}: {value}");
        }
    };
    field("Package", "ccm");
    field("Version", &version(release));
    field("Architecture", "amd64");
    field("Maintainer", release.maintainer.as_str());
    field("Installed-Size", &items.size().div_ceil(KIB).to_string());
    field("Depends", &dependencies(linkage)?);
    field("Section", "admin");
    field("Priority", "optional");
    field("Description", release.summary);
    for line in release.description {
        let _ = writeln!(text, " {}", if line.is_empty() { "." } else { line });
    }
    Ok(text)
}

/// Returns the packages that hold the libraries of a program.
fn dependencies(linkage: &Linkage) -> Result<String, String> {
    let mut packages = BTreeSet::new();
    for library in &linkage.libraries {
        let name = library.split(".so").next().unwrap_or_default();
        packages.insert(match name {
            "libc" | "libm" | "libdl" | "libpthread" | "librt" | "ld-linux-x86-64" => {
                let version = linkage.glibc().ok_or_else(|| format!("no version of {library} is needed"))?;
                format!("libc6 (>= {version})")
            }
            "libgcc_s" => "libgcc-s1 | libgcc1".to_owned(),
            _ => return Err(format!("the program is linked with {library}, which no known package has")),
        });
    }
    Ok(packages.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns the list of checksums that `dpkg --verify` reads. dpkg itself keeps those of configuration.
fn md5sums(items: &PackageItems) -> String {
    let mut text = String::new();
    for (path, item) in items.iter().filter(|(_, item)| item.role != FileRole::Configuration) {
        if let Some(content) = &item.content {
            let _ = writeln!(text, "{}  {path}", hexadecimal(&Md5::digest(content)));
        }
    }
    text
}

fn configuration(items: &PackageItems) -> String {
    let paths = items.iter().filter(|(_, item)| item.role == FileRole::Configuration);
    paths.flat_map(|(path, _)| ["/", path, "\n"]).collect()
}

/// Returns the file `changelog.Debian`, which names this package. The changes themselves are in CHANGELOG.md.
pub(super) fn changelog(release: &Release) -> Result<String, String> {
    let seconds = i64::try_from(release.seconds).map_err(|error| error.to_string())?;
    let time = jiff::Timestamp::from_second(seconds).map_err(|error| error.to_string())?;
    let date = jiff::fmt::rfc2822::to_string(&time.to_zoned(jiff::tz::TimeZone::UTC));
    let date = date.map_err(|error| error.to_string())?;
    Ok(format!(
        "ccm ({}) unstable; urgency=medium\n\n  * The changes are in CHANGELOG.md.\n\n -- {}  {date}\n",
        version(release),
        release.maintainer.as_str()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_those_of_the_linkage() {
        let of = |libraries: &[&str], version: &str| {
            let libraries = libraries.iter().map(|&library| library.to_owned()).collect();
            let versions = [("libc.so.6".to_owned(), BTreeSet::from([version.to_owned()]))].into();
            dependencies(&Linkage { libraries, versions, interpreter: None })
        };
        assert_eq!(of(&["libc.so.6", "libm.so.6"], "GLIBC_2.17"), Ok("libc6 (>= 2.17)".to_owned()));
        let expected = "libc6 (>= 2.34), libgcc-s1 | libgcc1";
        assert_eq!(of(&["libc.so.6", "libgcc_s.so.1"], "GLIBC_2.34"), Ok(expected.to_owned()));
        assert_eq!(of(&[], "GLIBC_2.34"), Ok(String::new()));
        let error = of(&["libssl.so.3"], "GLIBC_2.34").expect_err("an error");
        assert_eq!(error, "the program is linked with libssl.so.3, which no known package has");
    }

    #[test]
    fn version_of_a_candidate_sorts_before_its_release() {
        let release = Release { version: "0.2.0-rc.1".to_owned(), ..Release::for_tests() };
        assert_eq!(version(&release), "0.2.0~rc.1-1");
    }

    #[test]
    fn changelog_has_the_time_of_the_release() {
        let changelog = changelog(&Release::for_tests()).expect("a changelog");
        assert!(changelog.starts_with("ccm (0.1.0-1) unstable; urgency=medium\n"), "{changelog}");
        assert!(changelog.ends_with(">  Tue, 14 Nov 2023 22:13:20 +0000\n"), "{changelog}");
    }
}
