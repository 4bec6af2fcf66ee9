//! Mistakes that people make, and what ccm says about each: a table of inputs, errors and hints.

use ccm_testkit::{Called, Scratch};

use crate::ccm;

const TABLE: &str = include_str!("mistakes.txt");

/// Command of a mistake that does not name another one.
const VALIDATE: &str = "validate m.yaml";

/// Row of the table.
struct Mistake<'t> {
    name: &'t str,
    command: Vec<String>,
    /// Text of `m.yaml`; `None` for a mistake without a manifest.
    manifest: Option<String>,
    /// Other files, each with its name.
    files: Vec<(&'t str, &'t str)>,
    code: i32,
    /// Parts of the output, in their order.
    output: Vec<&'t str>,
}

impl<'t> Mistake<'t> {
    fn read(row: &'t str) -> Self {
        let (name, rest) = row.split_once('\n').expect("a name");
        let (command, rest) = match rest.strip_prefix("$ ") {
            Some(rest) => rest.split_once('\n').expect("a command"),
            None => (VALIDATE, rest),
        };
        let (body, expected) = rest.split_once("=> exit ").expect("an exit code");
        let mut expected = expected.lines();
        let code = expected.next().and_then(|code| code.parse().ok()).expect("a number");
        let output =
            expected.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let mut parts = body.split("#--- ");
        let body = parts.next().unwrap_or_default();
        let files = parts.filter_map(|part| part.split_once('\n')).collect();
        let words = ccm_runtime::model::split_words(command).expect("words");
        let manifest = (command == VALIDATE || !body.is_empty()).then(|| body.to_owned());
        Self { name, command: words, manifest, files, code, output }
    }

    fn make(&self) -> Called {
        let scratch = Scratch::new();
        if let Some(manifest) = &self.manifest {
            scratch.write("m.yaml", manifest);
        }
        for (name, content) in &self.files {
            scratch.write(name, content);
        }
        let command: Vec<&str> = self.command.iter().map(String::as_str).collect();
        ccm(&scratch, &command).run()
    }

    /// Returns the first expectation that is not met.
    fn failure(&self) -> Option<String> {
        let called = self.make();
        let printed = (called.stderr.clone() + &called.stdout).replace("[dir]/", "");
        let mut rest = &*printed;
        let unmet = self.output.iter().find(|part| match rest.find(**part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                false
            }
            None => true,
        });
        let unmet = match unmet {
            _ if called.code != self.code => format!("exit code {}", self.code),
            Some(part) => (*part).to_owned(),
            None => return None,
        };
        Some(format!("{}: expected `{unmet}`\n{}\n", self.name, called.shown()))
    }
}

#[test]
fn every_mistake_has_its_error_and_its_hint() {
    let rows: Vec<Mistake<'_>> = TABLE.split("\n== ").skip(1).map(Mistake::read).collect();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let failures: String = rows.iter().filter_map(Mistake::failure).collect();
    assert!(failures.is_empty(), "{failures}");
}
