//! Packages of rpm, in version 4 of the format, which all versions since 4.6 read.

use rpm::{
    BuildConfig, CompressionWithLevel, Dependency, FileOptions, Header, HeaderEntry, IndexData,
    IndexSignatureTag, Package, PackageBuilder, Scriptlet, Timestamp,
};

use super::Release;
use super::elf::Linkage;
use super::item::{FileRole, PackageItems};

/// Scripts of the package.
const POST: &str = include_str!("../../../../packaging/rpm/post");
const PREUN: &str = include_str!("../../../../packaging/rpm/preun");
const POSTUN: &str = include_str!("../../../../packaging/rpm/postun");

/// Level of xz: as fast as `gzip -9`, and the package is a quarter smaller. Each level above takes twice the time.
const LEVEL: u32 = 2;

/// Returns the version of the package. A `~` sorts before the release.
pub(super) fn version(release: &Release) -> String {
    release.version.replacen('-', "~", 1)
}

/// Builds the package of a program and its other files.
pub(super) fn build(release: &Release, linkage: &Linkage, items: &PackageItems) -> Result<Vec<u8>, String> {
    let failed = |error: rpm::Error| format!("rpm: {error}");
    let seconds = u32::try_from(release.seconds).map_err(|_| "the time is too late for rpm".to_owned())?;
    let config = BuildConfig::v4()
        .source_date(Timestamp::from(seconds))
        .compression(CompressionWithLevel::Xz(LEVEL))
        .reserved_space(None);
    let script = |text: &str| Scriptlet::new(text).prog(vec!["/bin/sh"]);
    let mut builder =
        PackageBuilder::new("ccm", &version(release), release.license, "x86_64", release.summary);
    builder
        .using_config(config)
        .release(release.revision.to_string())
        .description(release.description.join("\n"))
        .packager(release.maintainer.as_str())
        .group("System Environment/Base")
        .build_host("localhost")
        .post_install_script(script(POST))
        .pre_uninstall_script(script(PREUN))
        .post_uninstall_script(script(POSTUN));
    for dependency in dependencies(release, linkage) {
        builder.requires(dependency);
    }
    for (path, item) in items.iter() {
        let mode =
            u16::try_from(item.mode).map_err(|_| format!("\"{path}\" has the mode {:o}", item.mode))?;
        let path = format!("/{path}");
        let Some(content) = &item.content else {
            builder.with_dir_entry(FileOptions::dir(path).permissions(mode)).map_err(failed)?;
            continue;
        };
        let options = FileOptions::new(path).permissions(mode);
        let options = match item.role {
            FileRole::Plain => options,
            FileRole::Configuration => options.config().noreplace(),
            FileRole::Documentation => options.doc(),
            FileRole::License => options.license(),
        };
        builder.with_file_contents(content.as_slice(), options).map_err(failed)?;
    }
    let package = builder.build().and_then(with_archive_size).map_err(failed)?;
    let mut bytes = Vec::new();
    package.write(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Adds the length of the uncompressed archive, which the library leaves out: `rpm2cpio` fails without it, and `rpm`
/// shows no progress.
fn with_archive_size(mut package: Package) -> Result<Package, rpm::Error> {
    let mut uncompressed = package.clone();
    uncompressed.decompress_payload()?;
    let mut entries = package.metadata.signature.get_all_entries()?;
    entries.retain(|(tag, _)| *tag != IndexSignatureTag::HEADER_SIGNATURES as u32);
    if let Ok(length) = u32::try_from(uncompressed.payload.len()) {
        entries.push((IndexSignatureTag::RPMSIGTAG_PAYLOADSIZE as u32, IndexData::Int32(vec![length])));
    }
    let entries = entries.into_iter().map(|(tag, data)| HeaderEntry::new(tag, data));
    package.metadata.signature = Header::from_entries(entries, IndexSignatureTag::HEADER_SIGNATURES);
    Ok(package)
}

/// Returns the dependencies besides those that the library adds.
fn dependencies(release: &Release, linkage: &Linkage) -> Vec<Dependency> {
    let mut dependencies = vec![Dependency::rpmlib("PayloadIsXz", "5.2-1")];
    let libraries = linkage.libraries.iter().map(|library| format!("{library}()(64bit)"));
    dependencies.extend(libraries.map(Dependency::any));
    for (library, versions) in &linkage.versions {
        let versions = versions.iter().map(|version| format!("{library}({version})(64bit)"));
        dependencies.extend(versions.map(Dependency::any));
    }
    if release.version.contains('-') {
        dependencies.push(Dependency::rpmlib("TildeInVersions", "4.10.0-1"));
    }
    dependencies
}
