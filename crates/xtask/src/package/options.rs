//! Options of `cargo xtask package`.

use std::path::{Path, PathBuf};

use super::maintainer::Maintainer;

/// Syntax of the options.
pub(crate) const USAGE: &str = "package [--output DIR] [--only deb,rpm,archive,static,dynamic] [--profile NAME] \
                                [--binary PATH] [--static-binary PATH] [--revision NUMBER] \
                                [--maintainer 'NAME <ADDRESS>'] [--check-reproducible]";

/// Thing that the chore makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Package for Debian.
    Deb,
    /// Package for the Red Hat family.
    Rpm,
    /// Archive with the static program.
    Archive,
    /// The static program alone.
    Static,
    /// The program of the packages alone.
    Dynamic,
    /// The bill of materials, which is always made.
    BillOfMaterials,
}

/// Options of the chore.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    /// Directory to write to.
    pub(super) directory: Option<PathBuf>,
    /// Things to make.
    only: Vec<Output>,
    /// Profile of cargo.
    pub(super) profile: String,
    /// Program for the packages, instead of building one.
    pub(super) binary: Option<PathBuf>,
    /// Program for the archive, instead of building one.
    pub(super) static_binary: Option<PathBuf>,
    /// Number of the package of this version.
    pub(super) revision: u32,
    /// Maintainer of the packages, instead of that of the workspace.
    pub(super) maintainer: Option<Maintainer>,
    /// Builds twice and compares.
    pub(super) checks_reproducible: bool,
}

impl Options {
    pub(super) fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            directory: None,
            only: vec![Output::Deb, Output::Rpm, Output::Archive, Output::Static, Output::Dynamic],
            profile: "release".to_owned(),
            binary: None,
            static_binary: None,
            revision: 1,
            maintainer: None,
            checks_reproducible: false,
        };
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            if *option == "--check-reproducible" {
                options.checks_reproducible = true;
                continue;
            }
            let missing = || format!("`{option}` needs a value\nusage: cargo xtask {USAGE}");
            let mut value = || arguments.next().copied().ok_or_else(missing);
            match *option {
                "--output" => options.directory = Some(absolute(value()?)?),
                "--only" => options.only = value()?.split(',').map(output).collect::<Result<_, _>>()?,
                "--profile" => value()?.clone_into(&mut options.profile),
                "--binary" => options.binary = Some(absolute(value()?)?),
                "--static-binary" => options.static_binary = Some(absolute(value()?)?),
                "--revision" => {
                    let value = value()?;
                    let number = value.parse().ok().filter(|number| *number > 0);
                    options.revision =
                        number.ok_or_else(|| format!("`--revision`: \"{value}\" is no number from 1 on"))?;
                }
                "--maintainer" => {
                    let maintainer = Maintainer::parse(value()?);
                    options.maintainer =
                        Some(maintainer.map_err(|error| format!("`--maintainer`: {error}"))?);
                }
                _ => return Err(format!("unknown option `{option}`\nusage: cargo xtask {USAGE}")),
            }
        }
        Ok(options)
    }

    /// Returns `true` if one of these things is to be made.
    pub(super) fn wants(&self, outputs: &[Output]) -> bool {
        outputs.iter().any(|output| self.only.contains(output))
    }
}

fn output(name: &str) -> Result<Output, String> {
    Ok(match name {
        "deb" => Output::Deb,
        "rpm" => Output::Rpm,
        "archive" => Output::Archive,
        "static" => Output::Static,
        "dynamic" => Output::Dynamic,
        _ => return Err(format!("`--only`: unknown \"{name}\"\nusage: cargo xtask {USAGE}")),
    })
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::path::absolute(Path::new(path)).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_parsed() {
        let options = Options::parse(&[]).expect("options");
        assert!(options.wants(&[Output::Static]) && options.profile == "release" && options.revision == 1);
        let options = Options::parse(&["--only", "deb,rpm", "--binary", "/x", "--revision", "2"]);
        let options = options.expect("options");
        assert!(options.wants(&[Output::Archive, Output::Rpm]) && !options.wants(&[Output::Static]));
        assert_eq!((options.binary, options.revision), (Some("/x".into()), 2));
    }

    #[test]
    fn error_names_the_option() {
        for (arguments, expected) in [
            (&["--only"][..], "`--only` needs a value"),
            (&["--only", "msi"], "`--only`: unknown \"msi\""),
            (&["--revision", "0"], "`--revision`: \"0\" is no number from 1 on"),
            (&["--maintainer", "me"], "`--maintainer`: \"me\" is no `NAME <ADDRESS>`"),
            (&["deb"], "unknown option `deb`"),
        ] {
            let error = Options::parse(arguments).expect_err("an error");
            assert_eq!(error.lines().next(), Some(expected));
        }
    }
}
