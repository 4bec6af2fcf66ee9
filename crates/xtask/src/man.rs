//! `cargo xtask man`: man pages of every command and of manifests, from the definition of the command line, the
//! reference of resource types and the documentation.

mod command;
mod help_end;
mod manifest;
mod markdown;
#[cfg(test)]
mod tests;

use std::path::Path;

use clap::Command;
use clap_mangen::roff::Inline;

/// Name of the manual that the pages belong to.
const MANUAL: &str = "ccm manual";

/// Requests behind the title: lines are neither stretched nor hyphenated.
const LAYOUT: &str = ".ad l\n.nh\n";

/// Values that all pages have in common, and tables of the documentation.
pub(crate) struct PageSources {
    /// Date of the pages.
    date: String,
    /// Name and version of the program.
    version: String,
    /// Exit codes with their meanings.
    exit_codes: Vec<Vec<Vec<Inline>>>,
    /// Variables with their options.
    variables: Vec<Vec<Vec<Inline>>>,
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
    let running = read("reference/running.md")?;
    let sources = PageSources {
        date: date()?,
        version: format!("ccm {}", env!("CARGO_PKG_VERSION")),
        exit_codes: markdown::table_of(&running, "Exit codes")?,
        variables: markdown::table_of(&running, "Environment variables")?,
    };
    let mut root = ccm_cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_pages(&root, &[], &sources, &mut pages)?;
    let manifests = manifest::pages(&read("reference/manifest.md")?, &sources).into_iter();
    pages.extend(manifests.map(|(name, text)| File { name: format!("{name}.5"), text: portable(&text) }));
    Ok(pages)
}

/// Adds the pages of a command and of all commands below it.
fn add_pages(
    command: &Command,
    parents: &[String],
    sources: &PageSources,
    pages: &mut Vec<File>,
) -> Result<(), String> {
    let name = command::page_name(command);
    let text = portable(&command::page(command, parents, sources)?);
    pages.push(File { name: format!("{name}.1"), text });
    let parents = [parents, &[name.to_owned()]].concat();
    command::visible(command).try_for_each(|child| add_pages(child, &parents, sources, pages))
}

/// Names each character that a formatter would not show as it is, or not read, because it does not read UTF-8. The
/// library escapes no others than hyphens, backslashes and, by a definition in front of each part, apostrophes.
fn portable(page: &str) -> String {
    const DEFINITION: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";
    let page = page.replace(DEFINITION, "").replace("\\*(Aq", "\\(aq").replace("\\\\", "\\e");
    let mut result = String::new();
    for character in page.chars() {
        match character {
            '`' => result += "\\(ga",
            '^' => result += "\\(ha",
            '~' => result += "\\(ti",
            character if character.is_ascii() => result.push(character),
            character => result += &format!("\\[u{:04X}]", u32::from(character)),
        }
    }
    result
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
