//! `cargo xtask man`: man pages of every command and of manifests, from the definition of the command line, the
//! reference of resource types and the documentation.

mod command;
mod help_end;
mod manifest;
mod markdown;
mod roff;
#[cfg(test)]
mod tests;

use std::path::Path;

use clap::Command;

/// Name of the manual that the pages belong to.
const MANUAL: &str = "ccm manual";

/// Values that all pages have in common, and tables of the documentation.
pub(crate) struct PageSources {
    /// Date of the pages.
    date: String,
    /// Name and version of the program.
    version: String,
    /// Exit codes with their meanings.
    exit_codes: Vec<Vec<String>>,
    /// Variables with their options.
    variables: Vec<Vec<String>>,
}

/// A man page.
#[derive(Debug)]
pub(crate) struct File {
    /// Name of the file, such as `ccm-apply.1`.
    pub(crate) name: String,
    /// Content of the file.
    pub(crate) text: String,
}

/// Returns all man pages.
pub(crate) fn pages(documentation: &Path) -> Result<Vec<File>, String> {
    let read = |name: &str| {
        let path = documentation.join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let running = read("running.md")?;
    let sources = PageSources {
        date: date()?,
        version: format!("ccm {}", env!("CARGO_PKG_VERSION")),
        exit_codes: markdown::table_of(&running, "Exit codes")?,
        variables: markdown::table_of(&running, "Environment variables")?,
    };
    let mut root = ccm_cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_pages(&root, &[], &sources, &mut pages);
    let text = manifest::page(&read("manifest.md")?, &sources);
    pages.push(File { name: format!("{}.5", manifest::NAME), text });
    Ok(pages)
}

/// Adds the pages of a command and of all commands below it.
fn add_pages(command: &Command, parents: &[String], sources: &PageSources, pages: &mut Vec<File>) {
    let name = command::page_name(command);
    pages.push(File { name: format!("{name}.1"), text: command::page(command, parents, sources) });
    let parents: Vec<String> = parents.iter().cloned().chain([name]).collect();
    for child in command::visible(command) {
        add_pages(child, &parents, sources, pages);
    }
}

/// Returns the date of `SOURCE_DATE_EPOCH`, with which builds of packages are reproducible, or else of today.
fn date() -> Result<String, String> {
    const VARIABLE: &str = "SOURCE_DATE_EPOCH";
    let time = match std::env::var(VARIABLE) {
        Ok(text) => {
            let seconds = text.trim().parse().map_err(|error| format!("{VARIABLE}={text}: {error}"))?;
            jiff::Timestamp::from_second(seconds).map_err(|error| format!("{VARIABLE}={text}: {error}"))?
        }
        Err(_) => jiff::Timestamp::now(),
    };
    Ok(time.strftime("%Y-%m-%d").to_string())
}
