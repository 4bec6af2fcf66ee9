//! Packages of rpm, in version 4 of the format, which all versions since 4.6 read: a lead, a signature header with
//! checksums, the header, and a compressed cpio archive.

mod header;

use sha2::{Digest as _, Sha256};

use super::archive::{Entry, cpio, gzip};
use super::elf::Linkage;
use super::item::{FileRole, PackageItem, PackageItems};
use super::{Release, hexadecimal};
use header::{RpmHeader, TagValue};

/// Comparisons and kinds of dependencies.
const LESS: u32 = 1 << 1;
const EQUAL: u32 = 1 << 3;
const INTERPRETER: u32 = 1 << 8;
const SCRIPT_POST: u32 = 1 << 10;
const SCRIPT_PREUN: u32 = 1 << 11;
const SCRIPT_POSTUN: u32 = 1 << 12;
const RPMLIB: u32 = 1 << 24;
const CONFIG: u32 = 1 << 28;

/// Number of SHA-256 among the digests.
const SHA256: u32 = 8;

/// Scripts of the package: tag of the text, tag of the program, kind of its dependency, text.
const SCRIPTS: [(u32, u32, u32, &str); 3] = [
    (1024, 1086, SCRIPT_POST, include_str!("../../../../packaging/rpm/post")),
    (1025, 1087, SCRIPT_PREUN, include_str!("../../../../packaging/rpm/preun")),
    (1026, 1088, SCRIPT_POSTUN, include_str!("../../../../packaging/rpm/postun")),
];

/// Returns the version of the package. A `~` sorts before the release.
pub(super) fn version(release: &Release) -> String {
    release.version.replacen('-', "~", 1)
}

/// Builds the package of a program and its other files.
pub(super) fn build(release: &Release, linkage: &Linkage, items: &PackageItems) -> Result<Vec<u8>, String> {
    let files: Vec<(&str, &PackageItem)> = items.iter().collect();
    let names: Vec<String> = files.iter().map(|(path, _)| format!("./{path}")).collect();
    let entries = names.iter().zip(&files);
    let entries =
        entries.map(|(path, (_, item))| Entry { path, content: item.content.as_deref(), mode: item.mode });
    let archive = cpio(entries, release.seconds)?;
    let payload = gzip(&archive)?;
    let header = metadata(release, linkage, &files, &payload)?.encode(header::IMMUTABLE)?;
    let mut package = lead(release);
    let signature = signature(&header, &payload, archive.len())?.encode(header::SIGNATURES)?;
    package.extend(signature);
    package.resize(package.len().next_multiple_of(8), 0);
    package.extend(header);
    package.extend(payload);
    Ok(package)
}

/// Returns the fixed block in front, of which rpm reads only the first bytes.
fn lead(release: &Release) -> Vec<u8> {
    const LENGTH: usize = 96;
    const NAME: usize = 66;
    let mut lead = vec![0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0, 0, 1];
    let name = format!("ccm-{}-{}", version(release), release.revision);
    lead.extend(name.bytes().take(NAME - 1));
    lead.resize(10 + NAME, 0);
    lead.extend([0, 1, 0, 5]);
    lead.resize(LENGTH, 0);
    lead
}

/// Returns the header with the checksums of the rest.
fn signature(header: &[u8], payload: &[u8], archive_length: usize) -> Result<RpmHeader, String> {
    let mut signature = RpmHeader::default();
    signature.add(273, TagValue::Text(hexadecimal(&Sha256::digest(header))));
    signature.add(1000, TagValue::Numbers(vec![length(header.len() + payload.len())?]));
    signature.add(1007, TagValue::Numbers(vec![length(archive_length)?]));
    Ok(signature)
}

fn metadata(
    release: &Release,
    linkage: &Linkage,
    files: &[(&str, &PackageItem)],
    payload: &[u8],
) -> Result<RpmHeader, String> {
    let seconds = u32::try_from(release.seconds).map_err(|_| "the time is too late for rpm".to_owned())?;
    let size = files.iter().filter_map(|(_, item)| item.content.as_ref()).map(Vec::len).sum();
    let (version, revision) = (version(release), release.revision.to_string());
    let text = |text: &str| TagValue::Text(text.to_owned());
    let mut header = RpmHeader::default();
    for (tag, value) in [
        (100, TagValue::Texts(vec!["C".to_owned()])),
        (1000, text("ccm")),
        (1001, text(&version)),
        (1002, text(&revision)),
        (1004, TagValue::Translated(vec![release.summary.to_owned()])),
        (1005, TagValue::Translated(vec![release.description.join("\n")])),
        (1006, TagValue::Numbers(vec![seconds])),
        (1007, text("localhost")),
        (1009, TagValue::Numbers(vec![length(size)?])),
        (1014, text(release.license)),
        (1015, text(release.maintainer.as_str())),
        (1016, TagValue::Translated(vec!["System Environment/Base".to_owned()])),
        (1021, text("linux")),
        (1022, text("x86_64")),
        // A package without the name of its source would be one.
        (1044, TagValue::Text(format!("ccm-{version}-{revision}.src.rpm"))),
        (1064, text("4.6.0")),
        (1124, text("cpio")),
        (1125, text("gzip")),
        (1126, text("9")),
        (1132, text("x86_64-linux")),
        (5011, TagValue::Numbers(vec![SHA256])),
        (5062, text("utf-8")),
        (5092, TagValue::Texts(vec![hexadecimal(&Sha256::digest(payload))])),
        (5093, TagValue::Numbers(vec![SHA256])),
    ] {
        header.add(tag, value);
    }
    for (script, program, _, content) in SCRIPTS {
        header.add(script, text(content));
        header.add(program, text("/bin/sh"));
    }
    add_dependencies(&mut header, release, linkage);
    add_files(&mut header, files, seconds)?;
    Ok(header)
}

/// Name, comparison and version of a dependency.
type PackageDependency = (String, u32, String);

fn add_dependencies(header: &mut RpmHeader, release: &Release, linkage: &Linkage) {
    let own = format!("{}-{}", version(release), release.revision);
    let provides = [("ccm", EQUAL), ("ccm(x86-64)", EQUAL), ("config(ccm)", EQUAL | CONFIG)];
    let provides = provides.map(|(name, flags)| (name.to_owned(), flags, own.clone()));
    add_list(header, [1047, 1112, 1113], provides.into());
    let mut requires: Vec<PackageDependency> =
        SCRIPTS.map(|(_, _, kind, _)| ("/bin/sh".to_owned(), INTERPRETER | kind, String::new())).into();
    requires.push(("config(ccm)".to_owned(), EQUAL | CONFIG, own));
    for library in &linkage.libraries {
        requires.push((format!("{library}()(64bit)"), 0, String::new()));
    }
    for (library, versions) in &linkage.versions {
        requires.extend(
            versions.iter().map(|version| (format!("{library}({version})(64bit)"), 0, String::new())),
        );
    }
    for (feature, since) in
        [("CompressedFileNames", "3.0.4-1"), ("FileDigests", "4.6.0-1"), ("PayloadFilesHavePrefix", "4.0-1")]
    {
        requires.push((format!("rpmlib({feature})"), LESS | EQUAL | RPMLIB, since.to_owned()));
    }
    if release.version.contains('-') {
        requires.push(("rpmlib(TildeInVersions)".to_owned(), LESS | EQUAL | RPMLIB, "4.10.0-1".to_owned()));
    }
    requires.sort();
    add_list(header, [1049, 1048, 1050], requires);
}

/// Adds dependencies under the tags of their names, flags and versions.
fn add_list(header: &mut RpmHeader, [names, flags, versions]: [u32; 3], list: Vec<PackageDependency>) {
    header.add(flags, TagValue::Numbers(list.iter().map(|(_, flags, _)| *flags).collect()));
    let (list_names, list_versions) = list.into_iter().map(|(name, _, version)| (name, version)).unzip();
    header.add(names, TagValue::Texts(list_names));
    header.add(versions, TagValue::Texts(list_versions));
}

fn add_files(header: &mut RpmHeader, files: &[(&str, &PackageItem)], seconds: u32) -> Result<(), String> {
    const DIRECTORY: u16 = 0o040_000;
    const FILE: u16 = 0o100_000;
    /// Every attribute is verified.
    const VERIFY_ALL: u32 = u32::MAX;
    let mut directories: Vec<String> = Vec::new();
    let (mut names, mut positions, mut sizes, mut modes, mut digests, mut flags) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (path, item) in files {
        let (directory, name) = path
            .rsplit_once('/')
            .map_or(("/".to_owned(), *path), |(directory, name)| (format!("/{directory}/"), name));
        let position = directories.iter().position(|known| *known == directory).unwrap_or_else(|| {
            directories.push(directory);
            directories.len() - 1
        });
        names.push(name.to_owned());
        positions.push(length(position)?);
        let mode =
            u16::try_from(item.mode).map_err(|_| format!("\"{path}\" has the mode {:o}", item.mode))?;
        modes.push(mode | if item.content.is_none() { DIRECTORY } else { FILE });
        sizes.push(item.content.as_ref().map_or(Ok(0), |content| length(content.len()))?);
        let digest = item.content.as_ref().map(|content| hexadecimal(&Sha256::digest(content)));
        digests.push(digest.unwrap_or_default());
        flags.push(match item.role {
            FileRole::Plain => 0,
            FileRole::Configuration => 1 | 1 << 4,
            FileRole::Documentation => 1 << 1,
            FileRole::License => 1 << 7,
        });
    }
    let count = files.len();
    let all = |text: &str| TagValue::Texts(vec![text.to_owned(); count]);
    let numbers = (1..).take(count).collect();
    for (tag, value) in [
        (1028, TagValue::Numbers(sizes)),
        (1030, TagValue::Shorts(modes)),
        (1033, TagValue::Shorts(vec![0; count])),
        (1034, TagValue::Numbers(vec![seconds; count])),
        (1035, TagValue::Texts(digests)),
        (1036, all("")),
        (1037, TagValue::Numbers(flags)),
        (1039, all("root")),
        (1040, all("root")),
        (1045, TagValue::Numbers(vec![VERIFY_ALL; count])),
        (1095, TagValue::Numbers(vec![1; count])),
        (1096, TagValue::Numbers(numbers)),
        (1097, all("")),
        (1116, TagValue::Numbers(positions)),
        (1117, TagValue::Texts(names)),
        (1118, TagValue::Texts(directories)),
    ] {
        header.add(tag, value);
    }
    Ok(())
}

fn length(length: usize) -> Result<u32, String> {
    u32::try_from(length).map_err(|_| format!("{length} bytes are too many for rpm"))
}
