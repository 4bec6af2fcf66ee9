//! Building the program for machines other than this one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Release;
use super::elf::Linkage;

/// Platform of all packages.
pub(super) const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Oldest glibc that the dynamic program runs with: the oldest one that Rust supports.
const OLDEST_GLIBC: &str = "2.17";

/// Way of linking the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// With the C library in the program: it needs nothing but a kernel.
    Static,
    /// With the C library of the machine, also an old one.
    Dynamic,
}

impl Variant {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Dynamic => "dynamic",
        }
    }
}

/// Checkout, and the profile to build with.
pub(super) struct BuildSource {
    pub(super) root: PathBuf,
    pub(super) profile: String,
}

/// Builds the program and returns its content.
///
/// Paths of this machine are replaced, so that another checkout gives the same bytes. The flags are added to those in
/// the configuration of cargo; they do not reach build scripts and macros, because the platform is named.
pub(super) fn program(source: &BuildSource, variant: Variant, release: &Release) -> Result<Vec<u8>, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let home = home.ok_or("neither CARGO_HOME nor HOME is set")?;
    let mut flags = vec![remap(&source.root, "/ccm"), remap(&home, "/cargo")];
    let (subcommand, target) = match variant {
        Variant::Static => {
            flags.push("-Ctarget-feature=+crt-static".to_owned());
            ("build", TARGET.to_owned())
        }
        Variant::Dynamic => {
            check_zig()?;
            ("zigbuild", format!("{TARGET}.{OLDEST_GLIBC}"))
        }
    };
    let build_directory = source.root.join("target/package").join(variant.name());
    let flags = format!("target.{TARGET}.rustflags={}", serde_json::json!(flags));
    let mut command = Command::new("cargo");
    command
        .args([
            subcommand,
            "--config",
            &flags,
            "--locked",
            "--package",
            super::components::PROGRAM,
            "--bin",
            "ccm",
        ])
        .args(["--profile", &source.profile, "--target", &target])
        .current_dir(&source.root)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_DIR", &build_directory)
        .env("SOURCE_DATE_EPOCH", release.seconds.to_string());
    println!("building the {} program", variant.name());
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("cargo {subcommand} failed: {status}"));
    }
    let folder = if source.profile == "dev" { "debug" } else { &source.profile };
    let path = build_directory.join(TARGET).join(folder).join("ccm");
    let program = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    check(&program, variant)?;
    Ok(program)
}

fn remap(path: &Path, instead: &str) -> String {
    format!("--remap-path-prefix={}={instead}", path.display())
}

fn check_zig() -> Result<(), String> {
    let output = Command::new("cargo").args(["zigbuild", "--help"]).output();
    if output.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    Err("a program for an older glibc needs zig as its linker: run `pip install cargo-zigbuild ziglang`, or name a \
         program with --binary"
        .to_owned())
}

/// Checks that a program needs no more than its variant allows.
fn check(program: &[u8], variant: Variant) -> Result<(), String> {
    let linkage = Linkage::of(program)?;
    match variant {
        Variant::Static if linkage.interpreter.is_some() || !linkage.libraries.is_empty() => {
            Err(format!("the static program needs libraries: {:?}", linkage.libraries))
        }
        Variant::Dynamic if !is_at_most(&linkage.glibc().unwrap_or_default(), OLDEST_GLIBC) => {
            Err(format!("the dynamic program needs glibc {}", linkage.glibc().unwrap_or_default()))
        }
        _ => Ok(()),
    }
}

fn is_at_most(version: &str, limit: &str) -> bool {
    let key =
        |version: &str| version.split('.').map(|part| part.parse::<u32>().ok()).collect::<Option<Vec<_>>>();
    key(version).zip(key(limit)).is_some_and(|(version, limit)| version <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_of_this_machine_is_neither() {
        let program = fs::read("/proc/self/exe").expect("this program");
        check(&program, Variant::Static).expect_err("it is dynamic");
        assert!(is_at_most("2.9", "2.17") && is_at_most("2.17", "2.17") && !is_at_most("2.18", "2.17"));
        assert!(!is_at_most("", "2.17"));
    }
}
