//! The manual: commands of its pages print what the pages show, and its manifests do their work once and for all.
//!
//! The blocks of a page run in their order, on a machine of their own. A comment `<!-- file NAME -->` before a block names
//! the file that it is, and `<!-- machine: COMMAND -->` runs a command that readers don't see.

use std::process::Command;

use ccm_testkit::{OwnMounts, Scratch, needs_own_mounts, repository};

use crate::ccm;

const MACHINE: &str = include_str!("manual/machine.sh");
const NORMALIZE: &str = include_str!("manual/normalize.sed");

/// Directory with the tasks; each section of a page is one.
const COOKBOOK: &str = "docs/use/cookbook";
/// Least number of tasks.
const MIN_TASKS: usize = 30;

/// Stand-ins for addresses, and for the directory of the package.
fn replaced(commands: &str) -> String {
    let commands = commands.replace("git+https://git.example.com/", "git+file:///srv/git/");
    let commands = commands.replace("git@git.example.com:", "/srv/git/");
    commands.replace("/usr/share/doc/ccm", &repository("").display().to_string())
}

/// What a page does to the machine.
enum Step {
    /// Runs a command, which has to succeed.
    Command(String),
    /// Runs a command that prints a text and ends with an exit code.
    Shown { command: String, output: String, code: i32 },
    /// Writes a file.
    File { name: String, text: String },
    /// Applies a manifest twice. The second run changes nothing, unless the page says otherwise.
    Manifest { text: String, is_repeated: bool },
    /// Begins a task on a fresh machine.
    Task(String),
}

/// Returns the steps of a page.
fn steps(page: &str) -> Vec<Step> {
    let (mut steps, mut lines, mut before) = (Vec::new(), page.lines(), "");
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| *line != "```");
            let text: String = block.flat_map(|line| [line, "\n"]).collect();
            add_block(language, text, before, &mut steps);
        } else if let Some(command) = comment(line, "machine: ") {
            steps.push(Step::Command(command.to_owned()));
        } else if let Some(title) = line.strip_prefix("## ") {
            steps.push(Step::Task(title.to_owned()));
        }
        before = line;
    }
    steps
}

fn comment<'l>(line: &'l str, beginning: &str) -> Option<&'l str> {
    line.strip_prefix("<!-- ")?.strip_prefix(beginning)?.strip_suffix(" -->")
}

fn add_block(language: &str, text: String, before: &str, steps: &mut Vec<Step>) {
    let is_manifest = language == "yaml" && text.lines().any(|line| line == "ccm:");
    match (comment(before, "file "), language) {
        (Some(name), _) => steps.push(Step::File { name: name.to_owned(), text }),
        (None, "sh") => steps.push(Step::Command(text)),
        (None, "console") => steps.extend(format!("\n{text}").split("\n$ ").skip(1).map(shown)),
        (None, _) if is_manifest => {
            steps.push(Step::Manifest { text, is_repeated: before == "<!-- runs every time -->" });
        }
        (None, _) => {}
    }
}

/// Returns a command with what it prints. A comment says how it ends.
fn shown(text: &str) -> Step {
    let (command, output) = text.split_once('\n').unwrap_or((text, ""));
    let output = output.trim_end_matches('\n');
    let code = command.split_once("# exits with ").and_then(|(_, code)| code.parse().ok());
    Step::Shown { command: command.to_owned(), output: output.to_owned(), code: code.unwrap_or(0) }
}

/// Returns the shell text of a step, which prints a line with the exit code and then what the step printed.
fn script(step: &Step) -> String {
    let write = |name: &str, text: &str| {
        format!("mkdir -p \"$(dirname {name})\"\ncat > {name} <<'END OF FILE'\n{text}END OF FILE\n")
    };
    let commands = match step {
        Step::Command(command) => format!("set -e\n{command}\nset +e"),
        Step::Shown { command, .. } => command.clone(),
        Step::File { name, text } => write(name, text),
        Step::Manifest { text, is_repeated } => {
            let again = if *is_repeated { "" } else { "&& ccm apply -v --detailed-exitcodes site.yaml" };
            format!("{}ccm validate site.yaml && ccm apply site.yaml {again}", write("site.yaml", text))
        }
        Step::Task(_) => "cd /root\nrm -rf site\nmkdir site\ncd site\nanother-machine web1".to_owned(),
    };
    let commands = replaced(&commands);
    format!(
        "{{ {commands}\n}} > /run/out 2>&1\nprintf '\\n=== %s\\n' $?\nsed -E -f /run/normalize /run/out\n"
    )
}

/// Runs steps on this machine, and returns what differs from a page.
fn differences(page: &str, steps: &[Step]) -> Vec<String> {
    std::fs::write("/run/normalize", NORMALIZE).expect("a file");
    let program = std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned());
    std::os::unix::fs::symlink(program, "/usr/local/sbin/ccm").expect("a link");
    std::fs::write("/run/script", steps.iter().map(script).collect::<String>()).expect("a script");
    let mut shell = Command::new("/bin/sh");
    shell.arg("/run/script").env_clear();
    shell.envs(["PATH", "HOME", "LC_ALL"].iter().filter_map(|name| Some((name, std::env::var(name).ok()?))));
    let ran = shell.output().expect("a shell");
    let printed = String::from_utf8_lossy(&ran.stdout);
    let results: Vec<&str> = printed.split("\n=== ").skip(1).collect();
    let mut differences = Vec::new();
    if results.len() != steps.len() {
        let last = std::fs::read_to_string("/run/out").unwrap_or_default();
        let errors = format!("{}{last}", String::from_utf8_lossy(&ran.stderr));
        differences.push(format!(
            "{page}: {} of {} steps ran: {printed}{errors}",
            results.len(),
            steps.len()
        ));
    }
    let mut task = "";
    for (step, result) in steps.iter().zip(results) {
        let (code, printed) = result.split_once('\n').unwrap_or((result, ""));
        match step {
            Step::Shown { command, output, code: expected } => {
                if printed.trim_end_matches('\n') != output || code.parse() != Ok(*expected) {
                    differences.push(format!("{page}: exit code {code}\n$ {command}\n{printed}"));
                }
            }
            Step::Task(title) => task = title,
            _ if code == "0" => {}
            _ => {
                differences.push(format!("{page}, {task}: exit code {code} of\n{}\n{printed}", script(step)));
            }
        }
    }
    differences
}

/// Runs a page on a machine of its own.
fn run(pages: &[&str], starts_over: bool) {
    if !needs_own_mounts() {
        return;
    }
    let empty = [
        "/run",
        "/usr/local/sbin",
        "/srv",
        "/opt",
        "/var/lib",
        "/var/cache",
        "/var/log",
        "/var/spool",
        "/home",
        "/root",
    ];
    let mounts = OwnMounts { namespaces: "--uts --net", etc: &["."], empty: &empty, script: MACHINE };
    mounts.isolate(|| {
        let mut all = Vec::new();
        for page in pages {
            let text = std::fs::read_to_string(repository(page)).expect("a page");
            all.push(Step::Task((*page).to_owned()));
            all.extend(steps(&text).into_iter().filter(|step| starts_over || !matches!(step, Step::Task(_))));
        }
        let differences = differences(&pages.join(", "), &all);
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    });
}

#[test]
fn sessions_print_what_their_pages_show() {
    run(&SESSIONS, false);
}

#[test]
fn tasks_about_files_and_commands_are_done_once() {
    run(&FIRST_PAGES, true);
}

#[test]
fn tasks_about_the_system_are_done_once() {
    run(&SECOND_PAGES, true);
}

/// Pages whose blocks are one session.
const SESSIONS: [&str; 11] = [
    "docs/start/sixty-seconds.md",
    "docs/start/tutorial.md",
    "docs/use/repository.md",
    "docs/use/from-ansible.md",
    "docs/use/from-puppet.md",
    "docs/use/policy.md",
    "docs/use/secrets-in-git.md",
    "docs/use/adopt.md",
    "docs/use/shell.md",
    "docs/use/api.md",
    "docs/use/plans.md",
];
const FIRST_PAGES: [&str; 3] =
    ["docs/use/cookbook/files.md", "docs/use/cookbook/commands.md", "docs/use/cookbook/many.md"];
const SECOND_PAGES: [&str; 3] =
    ["docs/use/cookbook/services.md", "docs/use/cookbook/people.md", "docs/use/cookbook/system.md"];

#[test]
fn every_task_of_the_cookbook_has_a_manifest_and_runs() {
    let entries = std::fs::read_dir(repository(COOKBOOK)).expect("the cookbook");
    let names = entries.map(|entry| entry.expect("an entry").file_name().display().to_string());
    let mut found: Vec<String> = names.map(|name| format!("{COOKBOOK}/{name}")).collect();
    found.sort();
    let mut known = [FIRST_PAGES, SECOND_PAGES].concat();
    known.sort_unstable();
    assert_eq!(found, known);
    let mut tasks = 0;
    for page in found {
        let text = std::fs::read_to_string(repository(&page)).expect("a page");
        for section in text.split("\n## ").skip(1) {
            let has_manifest = steps(section).iter().any(|step| matches!(step, Step::Manifest { .. }));
            assert!(has_manifest, "{page}: {}", section.lines().next().unwrap_or_default());
            tasks += 1;
        }
    }
    assert!(tasks >= MIN_TASKS, "{tasks} tasks");
}

/// Messages of the page about symptoms are those of ccm.
#[test]
fn symptoms_have_the_words_of_messages() {
    let page = std::fs::read_to_string(repository("docs/use/troubleshooting.md")).expect("the page");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let mut missing: Vec<&str> = rows.flat_map(|cell| cell.split('`').step_by(2)).collect();
    missing.retain(|words| !words.trim().is_empty());
    assert!(missing.len() >= 15, "{missing:?}");
    let mut folders = vec![repository("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).expect("a source");
                missing.retain(|words| !text.contains(words));
            }
        }
    }
    assert!(missing.is_empty(), "no message has these words: {missing:?}");
}

/// Words in the tables of types that are neither a type, a property nor a value.
const OTHER_WORDS: [&str; 5] = ["cp", "false", "grep", "https", "tar"];

/// Returns the code in a cell of each row of a section's table. The first row of a table is its head.
fn code_of_cells(page: &str, section: &str, cell: usize) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(repository(page)).expect("a page");
    let (_, text) = page.split_once(&format!("## {section}\n")).expect("the section");
    let text = text.split("\n## ").next().unwrap_or_default();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").nth(cell));
    cells.map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()).collect()
}

#[test]
fn types_and_properties_for_those_of_other_tools_exist() {
    let scratch = Scratch::new();
    let schema = ccm(&scratch, &["schema"]).run().stdout;
    for (page, section) in [
        ("docs/use/from-ansible.md", "Modules and properties"),
        ("docs/use/from-puppet.md", "Types and properties"),
    ] {
        let code = code_of_cells(page, section, 1).concat();
        let words = code.iter().map(|code| code.split_once(": ").map_or(&**code, |(word, _)| word));
        let mut words: Vec<&str> = words.collect();
        words.retain(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        words.retain(|word| !OTHER_WORDS.contains(word));
        assert!(words.len() >= 30, "{page}: {words:?}");
        words.retain(|word| !schema.contains(&format!("\"{word}\"")));
        assert!(words.is_empty(), "{page}: {words:?}");
    }
}

#[test]
fn facts_for_those_of_other_tools_exist() {
    let cells = code_of_cells("docs/reference/facts.md", "Names in other tools", 2);
    let facts: Vec<String> = cells
        .into_iter()
        .filter_map(|code| code.into_iter().next())
        .map(|code| {
            let is_name = code.bytes().all(|byte| byte.is_ascii_alphabetic());
            if is_name { format!("Facts.host.info.{code}") } else { code }
        })
        .collect();
    assert!(facts.len() >= 10, "{facts:?}");
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["eval", &format!("[{}]", facts.join(", "))]).run();
    assert_eq!(called.code, 0, "{facts:?}: {}", called.shown());
}
