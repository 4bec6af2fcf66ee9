//! The pages as a whole.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use clap_mangen::roff::{Roff, bold, roman};

use super::{File, pages, portable};

fn all() -> Vec<File> {
    pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")).expect("the pages")
}

fn page<'p>(pages: &'p [File], name: &str) -> &'p str {
    &pages.iter().find(|page| page.name == name).unwrap_or_else(|| panic!("no page {name}")).text
}

/// Returns the titles of the sections of a page.
fn sections(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| Some(line.strip_prefix(".SH ")?.trim_matches('"'))).collect()
}

#[test]
fn every_command_has_a_page() {
    let pages = all();
    let names: BTreeSet<&str> = pages.iter().map(|page| &*page.name).collect();
    assert_eq!(names.len(), pages.len(), "two pages have one name");
    for name in ["ccm.1", "ccm-apply.1", "ccm-backup.1", "ccm-backup-restore.1", "ccm-hiera-parse.1"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
}

#[test]
fn pages_of_commands_have_their_sections() {
    let pages = all();
    assert_eq!(
        sections(page(&pages, "ccm.1")),
        [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "COMMANDS",
            "OPTIONS",
            "EXIT STATUS",
            "ENVIRONMENT",
            "FILES",
            "EXAMPLES",
            "SEE ALSO"
        ]
    );
    let apply = page(&pages, "ccm-apply.1");
    assert_eq!(
        sections(apply),
        [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "ARGUMENTS",
            "SOURCE",
            "DATA",
            "LIMITS",
            "OUTPUT",
            "RECORD",
            "EXIT STATUS",
            "ENVIRONMENT",
            "EXAMPLES",
            "SEE ALSO"
        ]
    );
    for expected in [
        "\n.SH SYNOPSIS\n\\fBccm apply\\fR [OPTIONS] [MANIFEST]...\n",
        "\n.TP\n\\fB\\-n\\fR, \\fB\\-\\-noop\\fR\nChange nothing: read the state",
        "\n.TP\n\\fB\\-\\-only\\fR \\fI<TYPE#NAME>\\fR\n",
        "\n.TP\n\\fB\\-\\-output\\fR \\fI<FORMAT>\\fR [default: text]\n",
        " [possible values: text, log, jsonl, json]\n",
        "\nRead values from this file with \\fBdata\\fR and optional ",
        "\n.TP\n\\fBCCM_LOCK_WAIT\\fR\nSets \\fB\\-\\-lock\\-wait\\fR if ",
        "\nccm apply \\-\\-noop \\-\\-diff site.yaml ",
    ] {
        assert!(apply.contains(expected), "{expected}\n{apply}");
    }
    let root = page(&pages, "ccm.1");
    for expected in
        ["\n.TP\n129, 130, 131, 143\nended by HUP", "\n.TP\n\\fBCCM_STATE_DIR\\fR\n", "/var/lib/ccm/"]
    {
        assert!(root.contains(expected), "{expected}\n{root}");
    }
}

#[test]
fn every_type_has_a_page_with_its_properties() {
    let pages = all();
    let manifest = page(&pages, "ccm-manifest.5");
    for found in ccm_resources::types() {
        let name = format!("ccm-{}", found.name());
        let of_type = page(&pages, &format!("{name}.5"));
        assert!(manifest.contains(&name.replace('-', "\\-")) || manifest.contains(&name), "{name}");
        for property in found.properties() {
            let term = format!("\n.TP\n\\fB{}\\fR (", property.name.replace('-', "\\-"));
            assert!(of_type.contains(&term), "{}.{}", found.name(), property.name);
        }
    }
    for property in ccm_properties::CommonProperty::ALL {
        let term = format!("\n.TP\n\\fB{}\\fR (", property.spec().name);
        assert!(manifest.contains(&term), "{}", property.spec().name);
    }
    assert!(!manifest.contains("| Property |"), "a generated table is not left out");
}

#[test]
fn no_page_is_longer_than_a_person_reads() {
    const MAX_LINES: usize = 400;
    for page in all() {
        let lines = said("groff", &["-man", "-Tutf8", "-rLL=78n"], &page).map(|text| text.lines().count());
        // Without groff, a line of the source takes about one line.
        let lines = lines.unwrap_or_else(|| page.text.lines().filter(|line| !line.starts_with('.')).count());
        assert!(lines <= MAX_LINES, "{}: {lines}", page.name);
    }
}

/// Returns what a program prints about a page; `None` if it is not installed.
fn said(program: &str, arguments: &[&str], page: &File) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C.UTF-8");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: {program} does not check the pages: {error}");
            return None;
        }
    };
    let mut input = child.stdin.take().expect("its standard input");
    // The program reads all before it prints.
    input.write_all(page.text.as_bytes()).expect("a program that reads");
    drop(input);
    let output = child.wait_with_output().expect("its end");
    Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn mandoc_and_groff_accept_the_pages() {
    for page in all() {
        let linted = said("mandoc", &["-T", "lint", "-W", "warning"], &page);
        assert!(linted.as_deref().is_none_or(str::is_empty), "{}: {linted:?}", page.name);
        let warned = said("groff", &["-man", "-ww", "-z", "-Tutf8", "-rCHECKSTYLE=1"], &page);
        assert_eq!(warned.as_deref().unwrap_or_default(), "", "{}", page.name);
    }
}

#[test]
fn characters_that_formatters_change_are_named() {
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]);
    roff.text([roman("'C:\\x' - \u{201c}y\u{201d} ^ ~ `z`")]).text([roman(".env"), bold("\\-")]);
    let expected =
        ".SH NAME\n\\(aqC:\\ex\\(aq \\- \\[u201C]y\\[u201D] \\(ha \\(ti \\(gaz\\(ga\n\\&.env\\fB\\e\\-\\fR\n";
    assert_eq!(portable(&roff.render()), expected);
}
