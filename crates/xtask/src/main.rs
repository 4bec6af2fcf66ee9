//! Chores of the workspace: `cargo xtask docs [--check]`, `cargo xtask language`, `cargo xtask man DIR`,
//! `cargo xtask completions DIR`, `cargo xtask site DIR` and `cargo xtask package`.
//!
//! `docs` writes the generated parts of README.md and of every page below docs, each between a marker and
//! `<!-- end -->`. `<!-- properties of TYPE -->` marks the properties of a type; `<!-- list of THINGS -->` the operators or
//! functions of expressions, validators, facts, types, crates or compared lines. The page of a type is the one with its properties.
//! With `--check` it also follows every link of the pages, counts their words, and looks for the tests that SECURITY.md
//! names, and for the files, folders and tests that the guide for people who change ccm names. `language` checks doc comments, and that
//! their examples are run.
//! `man` and `completions` write man pages, or the completion scripts of shells, into a directory, which they make.
//! `site` writes the manual as a web site. `package` makes packages of ccm.
#![expect(clippy::disallowed_methods, reason = "a chore reads and writes files of this checkout")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to a developer")]

mod comparison;
mod crates;
mod examples;
mod guide;
mod language;
mod lists;
mod man;
mod package;
mod page_links;
mod page_words;
mod picture;
mod promises;
mod properties;
mod site;
mod sources;
mod types;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Pages whose promises name their tests.
const PROMISES: [&str; 5] = [
    "SECURITY.md",
    "docs/internals/redaction.md",
    "docs/internals/safe-commands.md",
    "docs/internals/sandbox-kernel.md",
    "docs/use/secrets.md",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["docs"] => docs(false),
        ["docs", "--check"] => {
            let root = crates.join("..");
            let promises = PROMISES.iter().try_for_each(|page| promises::check(&root, page));
            docs(true)
                .and(promises)
                .and_then(|()| guide::check(&root))
                .and_then(|()| page_links::check(&root))
                .and_then(|()| page_words::check(&root))
        }
        ["language"] => language::check(&crates).and_then(|()| examples::check(&crates)),
        ["man", directory] => man::pages(&crates.join("../docs")).and_then(|pages| {
            let files = pages.iter().map(|page| (&*page.name, &*page.text));
            write_files(Path::new(directory), files)
        }),
        ["completions", directory] => write_files(Path::new(directory), ccm_cli::COMPLETION_SCRIPTS),
        ["site", directory] => site::build(&crates.join(".."), Path::new(directory)),
        ["package", ref options @ ..] => package::run(options),
        _ => {
            eprintln!("usage: cargo xtask docs [--check] | language | man DIR | completions DIR | site DIR");
            eprintln!("       cargo xtask {}", package::USAGE);
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes files into a directory, which is made if it does not exist.
fn write_files<'f>(
    directory: &Path,
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    for (name, text) in files {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Writes every generated table, or with `check` returns an error for the first that is out of date.
fn docs(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = pages_below(&root.join("docs"))?;
    paths.push(root.join("README.md"));
    paths.sort();
    let mut pages = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        pages.push((path, text));
    }
    for (path, written) in &pages {
        let current =
            with_tables(path, written, &pages).map_err(|error| format!("{}: {error}", path.display()))?;
        update(path, written, &current, check)?;
        for (path, picture) in picture::of_page(path, &current)? {
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            update(&path, &written, &picture, check)?;
        }
    }
    Ok(())
}

/// Writes a generated file that is out of date, or with `check` returns an error.
fn update(path: &Path, written: &str, current: &str, check: bool) -> Result<(), String> {
    if current == written {
        return Ok(());
    }
    if check {
        return Err(format!("{} is out of date: run `cargo xtask docs`", path.display()));
    }
    std::fs::write(path, current).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Returns the paths of the pages in a folder.
fn pages_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    Ok(paths)
}

/// Returns the paths of the pages in a folder and in all folders below it.
fn pages_below(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = pages_in(folder)?;
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            paths.extend(pages_below(&entry.path())?);
        }
    }
    Ok(paths)
}

/// Replaces the text between each marker and its end with the current table.
fn with_tables(path: &Path, page: &str, pages: &[(PathBuf, String)]) -> Result<String, String> {
    const END: &str = "<!-- end -->";
    let mut result = String::new();
    let mut rest = page;
    while let Some((at, kind)) = next_marker(rest) {
        let name = rest[at + kind.len()..].split(" -->").next().unwrap_or_default();
        let length =
            rest[at..].find(END).ok_or_else(|| format!("no `{END}` behind the marker of `{name}`"))?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let current = match (kind, name) {
            (PROPERTIES, _) => properties::of(name)?,
            (_, "types") => types::list(path, pages)?,
            (_, "crates") => crates::list(&root)?,
            (_, "compared lines") => comparison::lines(&root)?,
            _ => lists::of(name)?,
        };
        result += &format!("{}{kind}{name} -->\n{current}{END}", &rest[..at]);
        rest = &rest[at + length + END.len()..];
    }
    Ok(result + rest)
}

const PROPERTIES: &str = "<!-- properties of ";
const LIST: &str = "<!-- list of ";

/// Returns the position and the kind of the first marker of a text. A marker begins a line: the guide shows others.
fn next_marker(text: &str) -> Option<(usize, &'static str)> {
    let markers = [PROPERTIES, LIST].into_iter();
    markers.filter_map(|kind| Some((text.find(&format!("\n{kind}"))? + 1, kind))).min()
}

/// Escapes a text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Runs cargo in a folder, and returns its output.
fn cargo(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("cargo").args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo: {error}"))
}
