//! A machine to bring to a state, and what must be true of it at any time, and in the end.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use ccm_testkit::{Called, Ccm, Scratch, is_root};

const MANIFEST: &str = r#"
ccm:
  resources:
    - file:
        - [dir]/made: {ensure: directory, mode: "0750"}
        - [dir]/made/conf: {content: "made\n", mode: "0640"}
        - [dir]/made/beside: {content: "beside\n", mode: "0640"}
        - [dir]/together: {content: "new\n", backup: true}
        - [dir]/replaced: {source: new, mode: "0644", backup: true[owner]}
        - [dir]/gone: {ensure: absent, backup: true}
        - [dir]/tree: {ensure: absent, force: true}
        - [dir]/attributes: {mode: "0600"}
        - [dir]/linked: {ensure: link, target: to/new}
        - [dir]/copied: {ensure: directory, source: source, purge: true, force: true, mode: "0640"}
    - line:
        - line: {path: "[dir]/edited", line: "new=1", match: "^old=", backup: true}
    - block:
        - block: {path: "[dir]/blocked", content: "in the block", validate: "grep -q block %s"}
    - setting:
        - setting: {path: "[dir]/set.ini", section: s, key: k, value: new, validate: "grep -q new %s"}
    - exec:
        - defaults: {cwd: "[dir]", provider: shell}
        - create:
            command: echo created > .created && mv .created created
            creates: [dir]/created
        - guarded:
            command: echo guarded > .guarded && mv .guarded guarded
            onlyif: test -e created
            unless: test -e guarded
            require: [exec#create]
        - measure:
            command: cksum < replaced
            returns: []
            unchanged_returns: [0]
            capture: {sum: stdout.raw}
            require: ["file#[dir]/replaced"]
        - reload:
            command: cat replaced made/conf together | cksum >> reload.log
            refresh_only: true
            subscribe: ["file#[dir]/replaced", "file#[dir]/made/conf", "file#[dir]/together"]
        - after-reload:
            command: cksum < reload.log >> after-reload.log
            refresh_only: true
            subscribe: [exec#reload]
        - after-execs:
            command: cat created guarded | cksum >> after-execs.log
            refresh_only: true
            subscribe: [exec#create, exec#guarded]
        - after-removal:
            command: ls -d gone tree 2> /dev/null | cksum >> after-removal.log
            refresh_only: true
            subscribe: ["file#[dir]/gone", "file#[dir]/tree"]
        - after-captured:
            command: cat captured attributes | cksum >> after-captured.log
            refresh_only: true
            subscribe: ["file#[dir]/captured", "file#[dir]/attributes"]
        - after-edited:
            command: cksum < edited >> after-edited.log
            refresh_only: true
            subscribe: [line#line]
        - after-tree:
            command: cat copied/a copied/sub/b | cksum >> after-tree.log
            refresh_only: true
            subscribe: ["file#[dir]/copied", "file#[dir]/linked", block#block, setting#setting]
    - file:
        - [dir]/captured: {content: "${ Captures.measure.sum }"}
"#;

/// Log of each subscriber, and the command that prints the last line which the log must have.
const SUBSCRIBERS: [(&str, &str); 7] = [
    ("reload.log", "cat replaced made/conf together | cksum"),
    ("after-reload.log", "cksum < reload.log"),
    ("after-execs.log", "cat created guarded | cksum"),
    ("after-removal.log", "ls -d gone tree 2> /dev/null | cksum"),
    ("after-captured.log", "cat captured attributes | cksum"),
    ("after-edited.log", "cksum < edited"),
    ("after-tree.log", "cat copied/a copied/sub/b | cksum"),
];

/// A machine, in the state from which a run begins.
pub(crate) struct Case {
    scratch: Scratch,
}

impl Case {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::in_memory();
        let owner = if is_root() { ", owner: \"1\", group: \"1\"" } else { "" };
        let manifest = MANIFEST.replace("[dir]", &scratch.path().to_string_lossy()).replace("[owner]", owner);
        scratch.write("manifest.yaml", manifest);
        scratch.write("new", new());
        scratch.write("replaced", old());
        fs::set_permissions(scratch.path().join("replaced"), Permissions::from_mode(0o600)).expect("a mode");
        scratch.write("gone", "gone\n");
        scratch.write("tree/a/b", "b\n");
        scratch.write("tree/c", "c\n");
        scratch.write("edited", edited("old=1"));
        fs::set_permissions(scratch.path().join("edited"), Permissions::from_mode(0o640)).expect("a mode");
        std::os::unix::fs::symlink("to/old", scratch.path().join("linked")).expect("a link");
        scratch.write("source/a", tree_file("new"));
        scratch.write("source/sub/b", tree_file("new"));
        scratch.write("copied/a", tree_file("old"));
        scratch.write("copied/stale/x", "stale\n");
        scratch.write("copied/stale.conf", "stale\n");
        scratch.write("blocked", "before\n");
        scratch.write("together", "old\n");
        scratch.write("set.ini", "[s]\nk = old\n");
        for name in ["copied/a", "blocked", "set.ini", "together"] {
            fs::set_permissions(scratch.path().join(name), Permissions::from_mode(0o644)).expect("a mode");
        }
        scratch.write("attributes", "attributes\n");
        fs::set_permissions(scratch.path().join("attributes"), Permissions::from_mode(0o644))
            .expect("a mode");
        Self { scratch }
    }

    /// A run.
    pub(crate) fn apply(&self, options: &[&str]) -> Ccm {
        self.call(&["apply", "manifest.yaml"]).args(options)
    }

    fn call(&self, args: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.scratch).args(args)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The directories and files that execs have left in the record of the only run.
    pub(crate) fn artifacts(&self) -> Vec<PathBuf> {
        let entries = |directory: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(directory).into_iter().flatten();
            entries.map(|entry| entry.expect("an entry").path()).collect()
        };
        let runs = entries(&self.scratch.state().join("runs"));
        let mut found: Vec<PathBuf> = runs.iter().map(|run| run.join("exec")).collect();
        let mut at = 0;
        while let Some(path) = found.get(at).cloned() {
            if path.is_dir() {
                found.extend(entries(&path));
            }
            at += 1;
        }
        found
    }

    /// Checks what holds at any time: each file has its old or its new content, and the state of ccm can be read.
    pub(crate) fn check_consistent(&self) -> Result<(), String> {
        let owner = |new: u32| if is_root() { new } else { fs::metadata("/proc/self").expect("us").uid() };
        let old_replaced = Found { content: old().into(), mode: 0o600, owner: owner(0) };
        let new_replaced = Found { content: new().into(), mode: 0o644, owner: owner(1) };
        let file = |content: &str, mode| Found { content: content.into(), mode, owner: owner(0) };
        self.check_one_of("replaced", &[Some(old_replaced), Some(new_replaced)])?;
        self.check_one_of("made/conf", &[None, Some(file("made\n", 0o640))])?;
        self.check_one_of("made/beside", &[None, Some(file("beside\n", 0o640))])?;
        self.check_one_of("together", &["old\n", "new\n"].map(|content| Some(file(content, 0o644))))?;
        self.check_one_of("gone", &[None, Some(file("gone\n", 0o644))])?;
        let edited = ["old=1", "new=1"].map(|line| Some(file(&edited(line), 0o640)));
        self.check_one_of("edited", &edited)?;
        let attributes =
            ["attributes\n"].map(|content| [Some(file(content, 0o644)), Some(file(content, 0o600))]);
        self.check_one_of("attributes", attributes.as_flattened())?;
        let link = fs::read_link(self.path("linked")).map(|to| to.to_string_lossy().into_owned());
        if !matches!(link.as_deref(), Ok("to/old" | "to/new")) {
            return Err(format!("the link is half done: {link:?}"));
        }
        let (old, new) = (tree_file("old"), tree_file("new"));
        self.check_one_of("copied/a", &[Some(file(&old, 0o644)), Some(file(&new, 0o640))])?;
        self.check_one_of("copied/sub/b", &[None, Some(file(&new, 0o640))])?;
        self.check_one_of("copied/stale.conf", &[None, Some(file("stale\n", 0o644))])?;
        let block = "before\n# BEGIN ccm block\nin the block\n# END ccm block\n";
        self.check_one_of("blocked", &["before\n", block].map(|content| Some(file(content, 0o644))))?;
        let settings = ["[s]\nk = old\n", "[s]\nk = new\n"];
        self.check_one_of("set.ini", &settings.map(|content| Some(file(content, 0o644))))?;
        self.check_one_of("captured", &[None, Some(file(&self.output_of("cksum < new"), 0o644))])?;
        self.check_backups()?;
        self.check_records()
    }

    fn check_one_of(&self, name: &str, possible: &[Option<Found>]) -> Result<(), String> {
        let found = Found::at(&self.path(name));
        if possible.contains(&found) {
            return Ok(());
        }
        Err(format!("{name} is half done: {found:?}"))
    }

    /// A backup has its name only when it is complete.
    fn check_backups(&self) -> Result<(), String> {
        for path in entries(&self.scratch.state().join("backups")) {
            let content =
                fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let is_description = content.starts_with('{') && content.ends_with('}');
            if path.extension().is_some_and(|ending| ending == "json") && is_description {
                continue;
            }
            if !name(&path).ends_with(".ccm-new")
                && ![old(), "gone\n".to_owned(), "old\n".to_owned(), edited("old=1")].contains(&content)
            {
                return Err(format!("the backup {} is not whole", path.display()));
            }
        }
        Ok(())
    }

    /// Every line of every run is whole, and ccm can read all of it.
    fn check_records(&self) -> Result<(), String> {
        for run in entries(&self.scratch.state().join("runs")) {
            let Ok(events) = fs::read_to_string(run.join("events.jsonl")) else { continue };
            for line in events.split_inclusive('\n') {
                let parsed = serde_json::from_str::<serde_json::Value>(line);
                if parsed.is_err() || !line.ends_with('\n') {
                    return Err(format!("the record of a run has a broken line: {line}"));
                }
            }
        }
        for output in ["text", "json"] {
            let called = self.call(&["history", "--output", output]).run();
            if called.code != 0 || !called.stderr.is_empty() {
                return Err(format!("the history can't be read: {}", called.shown()));
            }
        }
        Ok(())
    }

    /// Runs again without a fault, and checks that all is as it is to be, and that a run after that finds nothing to do.
    pub(crate) fn check_converges(&self) -> Result<(), String> {
        let second = self.apply(&[]).run();
        // It would also say that the ledger of refreshes is damaged.
        if second.code != 0 || !second.stderr.is_empty() {
            return Err(format!("the next run failed: {}", second.shown()));
        }
        self.check_consistent()?;
        self.check_wanted().map_err(|wrong| format!("{wrong}; the next run was\n{}", second.shown()))?;
        let before = self.logs();
        // A refresh that is still pending would be a change.
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code != 0 || !third.stderr.is_empty() {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        if before != self.logs() {
            return Err("a subscriber ran once more".to_owned());
        }
        self.check_consistent()
    }

    fn check_wanted(&self) -> Result<(), String> {
        let there = |name: &str| self.path(name).exists();
        for (name, wanted) in [
            ("made/conf", true),
            ("made/beside", true),
            ("gone", false),
            ("tree", false),
            ("created", true),
            ("guarded", true),
        ] {
            if there(name) != wanted {
                return Err(format!("{name} is {}there", if wanted { "not " } else { "" }));
            }
        }
        if fs::read_to_string(self.path("replaced")).ok() != Some(new()) || !there("captured") {
            return Err("replaced or captured is not new".to_owned());
        }
        if fs::read_to_string(self.path("edited")).ok() != Some(edited("new=1")) {
            return Err("the line is not new".to_owned());
        }
        let is_linked = fs::read_link(self.path("linked")).is_ok_and(|to| to == Path::new("to/new"));
        let left: Vec<String> = entries(&self.path("copied")).iter().map(|path| name(path)).collect();
        if !is_linked || left.len() != 2 || left.iter().any(|name| name.contains("stale")) {
            return Err(format!("the link or the tree is not new: {left:?}"));
        }
        let mode = |name: &str| fs::metadata(self.path(name)).map(|found| found.mode() & 0o7777).ok();
        if mode("made") != Some(0o750) || mode("attributes") != Some(0o600) {
            return Err("a mode is wrong".to_owned());
        }
        for (log, command) in SUBSCRIBERS {
            let lines = fs::read_to_string(self.path(log)).unwrap_or_default();
            let wanted = self.output_of(command);
            if lines.lines().last() != Some(wanted.trim_end()) {
                return Err(format!(
                    "what writes {log} did not run after the last change of its source: {lines:?}"
                ));
            }
        }
        self.check_nothing_left()
    }

    /// Checks that no temporary file is left beside the file that it would replace.
    pub(crate) fn check_nothing_left(&self) -> Result<(), String> {
        let state = self.scratch.state();
        let places = [
            self.scratch.path().to_owned(),
            self.path("made"),
            self.path("copied"),
            self.path("copied/sub"),
            state.join("backups"),
            state,
        ];
        let is_left = |path: &PathBuf| name(path).starts_with('.') && name(path).ends_with("new");
        let left: Vec<PathBuf> = places.iter().flat_map(|place| entries(place)).filter(is_left).collect();
        if left.is_empty() { Ok(()) } else { Err(format!("left behind: {left:?}")) }
    }

    /// All is as it was before the first run.
    pub(crate) fn check_untouched(&self) -> Result<(), String> {
        let touched = ["made", "created", "guarded", "captured", "reload.log", "after-execs.log"];
        let touched = touched.iter().find(|name| self.path(name).exists());
        let is_there =
            ["gone", "tree/a/b", "tree/c", "copied/stale/x"].iter().all(|name| self.path(name).exists());
        let is_old = fs::read_to_string(self.path("replaced")).ok() == Some(old())
            && fs::read_to_string(self.path("edited")).ok() == Some(edited("old=1"));
        if touched.is_none() && is_there && is_old { Ok(()) } else { Err("something was touched".to_owned()) }
    }

    fn logs(&self) -> String {
        SUBSCRIBERS.iter().fold(String::new(), |mut all, (log, _)| {
            let text = fs::read_to_string(self.path(log)).unwrap_or_default();
            let _ = writeln!(all, "{log}: {text}");
            all
        })
    }

    fn output_of(&self, command: &str) -> String {
        ccm_testkit::shell(command, self.scratch.path())
    }
}

/// Content, mode and owner of the file at a path.
#[derive(Clone, PartialEq, Eq)]
struct Found {
    content: Vec<u8>,
    mode: u32,
    owner: u32,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = String::from_utf8_lossy(&self.content[..self.content.len().min(40)]).into_owned();
        write!(out, "{} bytes ({start:?}), mode {:o}, owner {}", self.content.len(), self.mode, self.owner)
    }
}

impl Found {
    fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let content = fs::read(path).ok()?;
        Some(Self { content, mode: metadata.mode() & 0o7777, owner: metadata.uid() })
    }
}

/// Content that is written in more than one piece.
fn old() -> String {
    "old content\n".repeat(20_000)
}

fn new() -> String {
    "the new content\n".repeat(20_000)
}

/// Content of a file in a tree, written in more than one piece.
fn tree_file(word: &str) -> String {
    format!("{word} file of a tree\n").repeat(10_000)
}

/// File with a line among others, and without a line end at its end.
fn edited(line: &str) -> String {
    format!("# settings\r\n{line}\r\n{}# end", "other=1\r\n".repeat(5_000))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The exit code and all the words of a run.
pub(crate) fn words(called: &Called) -> String {
    format!("{}{}", called.stdout, called.stderr)
}
