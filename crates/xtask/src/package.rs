//! `cargo xtask package`: packages of ccm for Debian and the Red Hat family, an archive with a program that needs
//! nothing but a kernel, checksums and a bill of materials. The same commit gives the same bytes.

mod archive;
mod bill_of_materials;
mod build;
mod components;
mod deb;
mod elf;
mod generated;
mod item;
pub(crate) mod layout;
mod licenses;
pub(crate) mod links;
mod maintainer;
mod options;
mod rpm;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bill_of_materials::Library;
use build::{BuildSource, Variant};
use elf::Linkage;
use generated::Generated;
use item::{PackageItem, PackageItems};
use layout::{Convention, LayoutInputs};
use maintainer::Maintainer;
pub(crate) use options::USAGE;
use options::{Options, Output};

/// Release that packages are made of.
pub(crate) struct Release {
    version: String,
    /// Number of the package of this version.
    revision: u32,
    maintainer: Maintainer,
    /// Time of all files, in seconds since 1970.
    seconds: u64,
    summary: &'static str,
    description: &'static [&'static str],
    license: &'static str,
}

impl Release {
    fn of(root: &Path, options: &Options) -> Result<Self, String> {
        let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(seconds) => seconds,
            Err(_) => git(root, &["log", "-1", "--format=%ct"])?,
        };
        let seconds = seconds.trim().parse().map_err(|_| format!("\"{seconds}\" is no number of seconds"))?;
        let maintainer = match &options.maintainer {
            Some(maintainer) => maintainer.clone(),
            None => Maintainer::of_workspace(root)?,
        };
        Ok(Self::new(options.revision, maintainer, seconds))
    }

    fn new(revision: u32, maintainer: Maintainer, seconds: u64) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision,
            maintainer,
            seconds,
            summary: "configuration management for one machine, with safe commands",
            description: &[
                "ccm brings a machine to the state that a YAML manifest declares, and reports",
                "exactly what it did. It is a single program without agent or server.",
                "",
                "It orders files, packages, services and commands by their dependencies,",
                "changes only what differs, and shows every change beforehand. A command can't",
                "hang, fill memory or leave processes behind unnoticed. A refresh is never lost,",
                "even if a run is killed.",
            ],
            license: "Apache-2.0",
        }
    }

    #[cfg(test)]
    fn for_tests() -> Self {
        let mut release = Self::new(1, Maintainer::for_tests(), 1_700_000_000);
        release.version = "0.1.0".to_owned();
        release
    }
}

/// Runs the chore with its arguments.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    let root = root()?;
    let directory = options.directory.clone().unwrap_or_else(|| root.join("target/package/output"));
    let source = BuildSource { root, profile: options.profile.clone() };
    if options.checks_reproducible && !git(&source.root, &["status", "--porcelain"])?.is_empty() {
        return Err(
            "the checkout has changes that are not committed, which a second build would not have".to_owned()
        );
    }
    let release = Release::of(&source.root, &options)?;
    if release.maintainer.is_unreachable() && options.wants(&[Output::Deb, Output::Rpm]) {
        println!(
            "note: nobody can write to the maintainer of the packages, {}; set `workspace.metadata.package.maintainer` in \
             Cargo.toml, or give --maintainer",
            release.maintainer.as_str()
        );
    }
    let written = write(&source, &options, &directory)?;
    verify_output(&directory, &written)?;
    print!("{}", report(&directory, &written)?);
    if options.checks_reproducible { check_reproducible(&source, &options, &directory) } else { Ok(()) }
}

fn root() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))
}

/// File that was written.
struct Written {
    name: String,
    kind: Output,
    /// Paths in a package.
    paths: BTreeSet<String>,
}

/// Builds what the options ask for, and writes it into a directory.
fn write(source: &BuildSource, options: &Options, directory: &Path) -> Result<Vec<Written>, String> {
    let release = Release::of(&source.root, options)?;
    let scratch = source.root.join("target/package/generated");
    let generated = Generated::by_chores(&release, &scratch)?;
    let components = components::of_program(&source.root)?;
    let bill = bill_of_materials::bill(&release, &components, &libraries(&source.root)?)?;
    let licenses = licenses::texts(&components)?;
    let mut files: Vec<(Written, Vec<u8>)> = Vec::new();
    let mut add = |name: String, kind, items: Option<&PackageItems>, content: Vec<u8>| {
        let paths = items.into_iter().flat_map(PackageItems::iter).map(|(path, _)| path.to_owned()).collect();
        files.push((Written { name, kind, paths }, content));
    };
    let parts =
        LayoutInputs { generated: &generated, bill_of_materials: &bill, third_party_licenses: &licenses };
    let version = &release.version;
    if options.wants(&[Output::Deb, Output::Rpm, Output::Dynamic]) {
        let program = program_of(source, Variant::Dynamic, options.binary.as_deref(), &release)?;
        let linkage = Linkage::of(&program)?;
        if options.wants(&[Output::Deb]) {
            let mut items = layout::items(&source.root, &program, &parts, Convention::Debian)?;
            add_debian_documents(&mut items, &source.root, &release)?;
            let items = items.with_parents();
            let package = deb::build(&release, &linkage, &items)?;
            add(format!("ccm_{}_amd64.deb", deb::version(&release)), Output::Deb, Some(&items), package);
        }
        if options.wants(&[Output::Rpm]) {
            let items = layout::items(&source.root, &program, &parts, Convention::RedHat)?;
            let items = items.with_own_directories(&["usr/share/doc/ccm"]);
            let package = rpm::build(&release, &linkage, &items)?;
            let name = format!("ccm-{}-{}.x86_64.rpm", rpm::version(&release), release.revision);
            add(name, Output::Rpm, Some(&items), package);
        }
        if options.wants(&[Output::Dynamic]) {
            let libc = linkage.glibc().map_or_else(|| "static".to_owned(), |glibc| format!("glibc{glibc}"));
            add(format!("ccm-{version}-x86_64-linux-{libc}"), Output::Dynamic, None, program);
        }
    }
    if options.wants(&[Output::Archive, Output::Static]) {
        let program = program_of(source, Variant::Static, options.static_binary.as_deref(), &release)?;
        if options.wants(&[Output::Archive]) {
            let items = layout::items(&source.root, &program, &parts, Convention::RedHat)?;
            let name = format!("ccm-{version}-x86_64-linux");
            let archive = archive_of(&name, &items, release.seconds)?;
            add(format!("{name}.tar.gz"), Output::Archive, Some(&items), archive);
        }
        if options.wants(&[Output::Static]) {
            add(format!("ccm-{version}-x86_64-linux-static"), Output::Static, None, program);
        }
    }
    add(format!("ccm-{version}.cdx.json"), Output::BillOfMaterials, None, bill.into_bytes());
    write_files(directory, files)
}

/// Returns a program that an option names, or else builds one.
fn program_of(
    source: &BuildSource,
    variant: Variant,
    given: Option<&Path>,
    release: &Release,
) -> Result<Vec<u8>, String> {
    match given {
        Some(path) => fs::read(path).map_err(|error| format!("{}: {error}", path.display())),
        None => build::program(source, variant, release),
    }
}

fn add_debian_documents(items: &mut PackageItems, root: &Path, release: &Release) -> Result<(), String> {
    for (name, path) in [
        ("copyright", "usr/share/doc/ccm/copyright"),
        ("lintian-overrides", "usr/share/lintian/overrides/ccm"),
    ] {
        let source = root.join("packaging/deb").join(name);
        let text = fs::read(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        items.add(path, PackageItem::file(text))?;
    }
    let changelog = archive::gzip(deb::changelog(release)?.as_bytes())?;
    items.add("usr/share/doc/ccm/changelog.Debian.gz", PackageItem::file(changelog))
}

/// Returns an archive whose files are below one directory, as they are on a machine. It has no directories, so
/// that unpacking it over a system changes none of them.
fn archive_of(name: &str, items: &PackageItems, seconds: u64) -> Result<Vec<u8>, String> {
    let sums = verify::checksums(items.files());
    let mut files: BTreeMap<String, (&[u8], u32)> = BTreeMap::new();
    for (path, item) in items.iter() {
        if let Some(content) = &item.content {
            files.insert(format!("{name}/{path}"), (content, item.mode));
        }
    }
    files.insert(format!("{name}/{}", verify::CHECKSUMS), (sums.as_bytes(), 0o644));
    let entries = files.iter();
    let entries =
        entries.map(|(path, (content, mode))| archive::Entry { path, content: Some(content), mode: *mode });
    archive::gzip(&archive::tar(entries, seconds)?)
}

/// Libraries in the program that are no crates.
fn libraries(root: &Path) -> Result<Vec<Library>, String> {
    let rust = Command::new("rustc").arg("--version").current_dir(root).output();
    let rust = rust.map_err(|error| format!("rustc: {error}"))?.stdout;
    let rust = String::from_utf8_lossy(&rust).split_whitespace().nth(1).unwrap_or_default().to_owned();
    let glibc = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let glibc = glibc.map_err(|error| format!("getconf: {error}"))?.stdout;
    let glibc = String::from_utf8_lossy(&glibc).split_whitespace().nth(1).unwrap_or_default().to_owned();
    let std = Library { name: "rust-std", version: rust, license: "MIT OR Apache-2.0", only_in: None };
    let libc = Library {
        name: "glibc",
        version: glibc,
        license: "LGPL-2.1-or-later",
        only_in: Some("static program"),
    };
    Ok(vec![std, libc])
}

fn write_files(directory: &Path, files: Vec<(Written, Vec<u8>)>) -> Result<Vec<Written>, String> {
    use std::os::unix::fs::PermissionsExt as _;
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    let sums = verify::checksums(files.iter().map(|(written, content)| (&*written.name, &**content)));
    for (written, content) in &files {
        let path = directory.join(&written.name);
        fs::write(&path, content).map_err(|error| failed(&path, error))?;
        if matches!(written.kind, Output::Static | Output::Dynamic) {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
                .map_err(|error| failed(&path, error))?;
        }
    }
    let path = directory.join(verify::CHECKSUMS);
    fs::write(&path, sums).map_err(|error| failed(&path, error))?;
    Ok(files.into_iter().map(|(written, _)| written).collect())
}

fn verify_output(directory: &Path, written: &[Written]) -> Result<(), String> {
    verify::check_checksums(directory)?;
    for file in written {
        let path = directory.join(&file.name);
        match file.kind {
            Output::Deb => verify::check_deb(&path, &file.paths)?,
            Output::Rpm => verify::check_rpm(&path, &file.paths)?,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the length of each file, and the start time of each program.
fn report(directory: &Path, written: &[Written]) -> Result<String, String> {
    let mut report = format!("{}:\n", directory.display());
    for file in written {
        let path = directory.join(&file.name);
        let length = fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?.len();
        let start = match file.kind {
            Output::Static | Output::Dynamic => {
                format!("  starts in {:.1} ms", verify::start_time(&path)?.as_secs_f64() * 1e3)
            }
            _ => String::new(),
        };
        let _ = writeln!(report, "{length:>12} {}{start}", file.name);
    }
    Ok(report)
}

/// Builds the commit again in another directory and compares the results.
fn check_reproducible(source: &BuildSource, options: &Options, directory: &Path) -> Result<(), String> {
    let other = source.root.join("target/package/another checkout");
    let path = other.to_str().ok_or("the path of the checkout is no text")?;
    // One that was left makes no difference.
    let _ = git(&source.root, &["worktree", "remove", "--force", path]);
    git(&source.root, &["worktree", "add", "--force", "--detach", path, "HEAD"])?;
    let second = BuildSource { root: other.clone(), profile: source.profile.clone() };
    let output = other.join("target/package/output");
    let written = write(&second, options, &output).and_then(|_| {
        let sums = |directory: &Path| {
            let path = directory.join(verify::CHECKSUMS);
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        Ok((sums(directory)?, sums(&output)?))
    });
    let (first, second) = written?;
    let differ: Vec<&str> =
        first.lines().filter(|line| !second.lines().any(|other| other == *line)).collect();
    if !differ.is_empty() {
        return Err(format!(
            "another build gave other bytes, in {}:\n{}",
            output.display(),
            differ.join("\n")
        ));
    }
    git(&source.root, &["worktree", "remove", "--force", path])?;
    println!("another build in another directory gave the same bytes");
    Ok(())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
