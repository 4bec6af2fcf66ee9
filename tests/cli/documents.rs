//! Examples of the documentation: expressions have the given values, and manifests are valid.

use std::fmt::Write as _;

use ccm_testkit::{Called, Scratch, repository};

use crate::ccm;

/// Mark before the values of the expressions of a page.
const VALUES: &str = "<!-- values of the examples -->";

/// Before a block that is a file beside the manifests of its page.
const FILE: &str = "<!-- file ";

/// A fenced block.
struct Block {
    language: String,
    text: String,
    /// The line before it.
    before: String,
}

/// Folders of pages for users.
const FOLDERS: [&str; 6] =
    ["docs", "docs/start", "docs/use", "docs/reference", "docs/reference/types", "docs/internals"];

/// Every page for users with its blocks.
fn pages() -> Vec<(String, Vec<Block>)> {
    let mut pages: Vec<(String, Vec<Block>)> = Vec::new();
    for folder in FOLDERS {
        let entries = std::fs::read_dir(repository(folder)).expect("the documentation");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
            let name = path.file_name().unwrap_or_default().display();
            let path = format!("{folder}/{name}");
            let text = std::fs::read_to_string(repository(&path)).expect("a page");
            pages.push((path, blocks(&text)));
        }
    }
    pages.sort_by(|one, other| one.0.cmp(&other.0));
    pages
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    let mut before = "";
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text =
                lines.by_ref().take_while(|line| *line != "```").fold(String::new(), |mut text, line| {
                    text += line;
                    text.push('\n');
                    text
                });
            blocks.push(Block { language: language.to_owned(), text, before: before.to_owned() });
        }
        before = line;
    }
    blocks
}

/// A text in single quotes of YAML.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Validates a manifest where systemd has handed over the credentials that it names.
fn validate(scratch: &Scratch, manifest: &str) -> Called {
    scratch.write("manifest.yaml", manifest);
    for name in manifest.split("credential('").skip(1).filter_map(|rest| rest.split('\'').next()) {
        scratch.write(&format!("credentials/{name}"), "hunter2hunter2\n");
    }
    let command = ccm(scratch, &["validate", "manifest.yaml"]);
    command.variable("CREDENTIALS_DIRECTORY", &scratch.at("credentials")).run()
}

#[test]
fn expressions_have_the_documented_values() {
    let mut count = 0;
    for (page, blocks) in pages() {
        let values = blocks.iter().find(|block| block.before == VALUES).map_or("", |block| &*block.text);
        let shown = blocks.iter().filter(|block| block.language == "expr");
        let examples: Vec<(&str, &str)> = shown
            .flat_map(|block| block.text.lines())
            .map(|line| line.split_once(" → ").unwrap_or_else(|| panic!("{page}: no result: {line}")))
            .collect();
        let scratch = Scratch::new();
        let manifest = |content: &str| {
            let path = scratch.at("results");
            format!(
                "{values}\nccm:\n  resources:\n    - file:\n        - {path}:\n            content: {content}\n"
            )
        };
        let mut results = String::new();
        for (expression, result) in &examples {
            match result.strip_prefix("error: ") {
                Some(message) => {
                    let called = validate(&scratch, &manifest(&quoted(&format!("{{{{ {expression} }}}}"))));
                    let is_said = called.code == 1 && called.stderr.contains(message);
                    assert!(is_said, "{page}: {expression}: {}", called.shown());
                }
                None => {
                    write!(results, "{{{{ toJSON(({expression})) == toJSON(({result})) }}}} ").expect("text");
                }
            }
        }
        scratch.write("manifest.yaml", manifest(&quoted(&results)));
        let called = ccm(&scratch, &["apply", "manifest.yaml"]).run();
        assert_eq!(called.code, 0, "{page}: {}", called.shown());
        let results = scratch.read("results").expect("the results");
        let with_result = examples.iter().filter(|(_, result)| !result.starts_with("error: "));
        let mut found = results.split_whitespace();
        for (expression, result) in with_result {
            assert_eq!(found.next(), Some("true"), "{page}: {expression} is not {result}");
        }
        count += examples.len();
    }
    assert!(count >= 30, "only {count} expressions found");
}

#[test]
fn the_hierarchy_has_the_documented_result() {
    let page = std::fs::read_to_string(repository("docs/reference/hierarchy.md")).expect("the page");
    let data = blocks(&page).into_iter().find(|block| block.before == "<!-- file data.yaml -->");
    let data = data.expect("the hierarchy").text;
    for merge in ["first", "deep"] {
        let row =
            page.lines().find_map(|line| line.strip_prefix(&format!("| `{merge}` | `"))).expect("a row");
        let said: serde_json::Value = serde_json::from_str(row.trim_end_matches("` |")).expect("JSON");
        let scratch = Scratch::new();
        let data = data.replace("merge: first", &format!("merge: {merge}"));
        let path = scratch.at("result");
        let manifest =
            format!("{data}\nccm: {{resources: [{{file: [{path}: {{content: '{{{{ Data }}}} '}}]}}]}}\n");
        scratch.write("manifest.yaml", manifest);
        let facts = ["--fact", "env=prod", "--fact", "role=web", "--fact", "host.info.hostname=web1"];
        let called = ccm(&scratch, &["apply", "manifest.yaml"]).args(&facts).run();
        assert_eq!(called.code, 0, "{merge}: {}", called.shown());
        let result = scratch.read("result").expect("the result");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&result).expect("JSON"), said, "{merge}");
    }
}

#[test]
fn manifests_are_valid() {
    let mut count = 0;
    for (page, blocks) in pages() {
        let scratch = Scratch::new();
        for block in &blocks {
            if let Some(name) = block.before.strip_prefix(FILE) {
                scratch.write(name.trim_end_matches(" -->"), &block.text);
            }
        }
        let is_manifest =
            |block: &&Block| block.language == "yaml" && block.text.lines().any(|line| line == "ccm:");
        for block in blocks.iter().filter(is_manifest) {
            let called = validate(&scratch, &block.text);
            assert_eq!(called.code, 0, "{page}:\n{}\n{}", block.text, called.shown());
            assert!(!called.stderr.contains("warning:"), "{page}:\n{}\n{}", block.text, called.shown());
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} manifests found");
}

/// Resources that the examples of the page about exec refer to.
const AROUND: &str = "
    - file:
        - /srv/app: {ensure: directory}
        - /etc/app.conf: {content: x}
    - exec:
        - build-index: {command: 'true'}
";

/// Pages about exec.
const PAGES_OF_EXEC: [&str; 4] = [
    "docs/reference/types/exec.md",
    "docs/reference/executors.md",
    "docs/reference/results.md",
    "docs/reference/sandbox.md",
];

#[test]
fn the_examples_of_exec_are_valid() {
    let pages = pages().into_iter().filter(|(page, _)| PAGES_OF_EXEC.contains(&&**page));
    let blocks: Vec<Block> = pages.flat_map(|(_, blocks)| blocks).collect();
    let mut count = 0;
    for block in blocks.iter().filter(|block| block.language == "yaml") {
        let is_manifest = block.text.lines().any(|line| line == "ccm:");
        let is_list_of_types = ["- exec:", "- file:"].iter().any(|start| block.text.starts_with(start));
        let indent = if is_list_of_types { "    " } else { "        " };
        let text = block.text.lines().map(|line| [indent, line, "\n"].concat()).collect::<Vec<_>>().concat();
        let head = if is_list_of_types { "" } else { "    - exec:\n" };
        let manifest = if is_manifest {
            block.text.clone()
        } else {
            format!("ccm:\n  executors: {{app: {{kind: native}}}}\n  resources:{AROUND}{head}{text}")
        };
        let called = validate(&Scratch::new(), &manifest);
        assert_eq!(called.code, 0, "{manifest}\n{}", called.shown());
        assert!(
            !called.stderr.contains("warning") || block.text.contains("several"),
            "{manifest}\n{}",
            called.shown()
        );
        count += 1;
    }
    assert!(count >= 10, "only {count} examples found");
}

#[test]
fn the_documented_expectations_hold() {
    let page = std::fs::read_to_string(repository("docs/reference/results.md")).expect("the page");
    let expected =
        page.lines().find(|line| line.trim_start().starts_with("stdout: matches(")).expect("an example");
    let scratch = Scratch::new();
    let exec = format!(
        "line:\n            command: echo {{}}\n            expect:\n              {}\n",
        expected.trim()
    );
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - exec:\n        - {exec}"));
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
}
