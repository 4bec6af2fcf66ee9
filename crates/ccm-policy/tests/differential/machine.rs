//! Directory with stand-ins for programs, which log that they were started.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use ccm_policy::{
    Analysis, AnalysisLimits, LinkReading, Lookup, LookupPathKind, PolicyRequest, ProgramLocation,
    RequestInput, Workspace, analyse,
};
use ccm_testkit::{Scratch, is_root};

/// Names of the stand-ins.
pub(crate) const STAND_INS: [&str; 4] = ["run1", "run2", "run3", "run4"];

/// Content of a file outside the working directory.
pub(crate) const SECRET: &str = "TOPSECRET";

/// Call of a program.
pub(crate) struct Case {
    /// The program, by its absolute path, and its arguments.
    pub(crate) words: Vec<String>,
    /// Name under which the program is started.
    pub(crate) name: String,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) input: String,
}

/// What a program did.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// Stand-ins that were started.
    pub(crate) started: Vec<String>,
    /// Files that were written, as absolute paths.
    pub(crate) written: Vec<String>,
    pub(crate) output: String,
}

impl Traces {
    pub(crate) fn is_empty(&self) -> bool {
        self.started.is_empty() && self.written.is_empty()
    }
}

pub(crate) struct Machine {
    scratch: Scratch,
    /// Path of the scratch directory.
    root: String,
    files: Vec<(String, String)>,
    /// Names in the working directory that stay from one run to the next.
    kept: Vec<&'static str>,
    /// A program may wait for something that never happens.
    has_deadline: bool,
}

impl Machine {
    /// Makes the directory: stand-ins and further programs on `PATH`, and files in the working directory.
    pub(crate) fn new(programs: &[&str], files: &[(&str, &str)]) -> Self {
        let scratch = Scratch::in_memory();
        let root = scratch.path().to_str().expect("the path is text").to_owned();
        let bin = scratch.path().join("bin");
        fs::create_dir(&bin).expect("a directory");
        for name in STAND_INS {
            let path = bin.join(name);
            fs::write(&path, format!("#!/bin/sh\necho {name} >> {root}/log\n")).expect("a stand-in");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        for program in programs {
            let name = Path::new(program).file_name().expect("a name");
            symlink(program, bin.join(name)).expect("a link");
        }
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let machine = Self { scratch, root, files, kept: Vec::new(), has_deadline: false };
        for name in ["work", "work/sub"] {
            fs::create_dir(machine.scratch.path().join(name)).expect("a directory");
            machine.open(name);
        }
        machine.open("");
        fs::write(machine.scratch.path().join("secret"), format!("{SECRET}\n")).expect("a file");
        fs::write(machine.scratch.path().join("log"), "").expect("a file");
        fs::write(machine.scratch.path().join("output"), "").expect("a file");
        machine.open("log");
        machine.reset();
        machine
    }

    /// Lets everybody write, so that the programs run as nobody.
    fn open(&self, name: &str) {
        let path = self.scratch.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("a mode");
    }

    /// Returns the absolute path of a name in the working directory.
    pub(crate) fn path(&self, name: &str) -> String {
        match name.strip_prefix("../") {
            Some(name) => format!("{}/{name}", self.root),
            None => format!("{}/work/{name}", self.root),
        }
    }

    /// Keeps a name in the working directory from one run to the next.
    pub(crate) fn keep(mut self, name: &'static str) -> Self {
        self.kept.push(name);
        self
    }

    pub(crate) fn with_deadline(self) -> Self {
        Self { has_deadline: true, ..self }
    }

    fn reset(&self) {
        for (name, text) in &self.files {
            fs::write(self.path(name), text).expect("a file");
            let path = format!("work/{name}");
            self.open(&path);
        }
    }

    pub(crate) fn analyse(&self, case: &Case) -> Analysis {
        let mut words = case.words.clone();
        words[0].clone_from(&case.name);
        let mut request = PolicyRequest::words(words, self.path("").trim_end_matches('/'));
        request.environment = vec![("PATH".to_owned(), format!("{}/bin", self.root))];
        // As in `NAME=VALUE program`.
        request.added_variables.clone_from(&case.variables);
        request.workspace =
            Some(Workspace { path: self.path("").trim_end_matches('/').to_owned(), is_restricted: false });
        request.input = RequestInput::Text(case.input.clone());
        analyse(&request, self, &AnalysisLimits::default())
    }

    /// Runs a program with little time and space, and returns what it did.
    pub(crate) fn run(&self, case: &Case) -> Traces {
        let log = format!("{}/log", self.root);
        let output = format!("{}/output", self.root);
        fs::write(&log, "").expect("a log");
        let work = self.path("");
        let input = format!("{}/input", self.root);
        fs::write(&input, &case.input).expect("an input");
        let mut command = Command::new("/usr/bin/prlimit");
        command.args(["--cpu=1", "--fsize=100000", "--core=0", "--"]);
        if self.has_deadline {
            command.args(["/usr/bin/timeout", "--signal=KILL", "3"]);
        }
        if case.name == case.words[0].rsplit('/').next().unwrap_or_default() {
            command.args(&case.words);
        } else {
            // Another name needs a shell that can give one.
            let words = ["/bin/bash", "-c", "exec -a \"$0\" \"$@\"", &case.name];
            command.args(words).args(&case.words);
        }
        command
            .current_dir(&work)
            .env_clear()
            .env("PATH", format!("{}/bin", self.root))
            .envs(case.variables.iter().map(|(name, value)| (name, value)))
            .stdin(fs::File::open(&input).expect("an input"))
            .stdout(fs::File::create(&output).expect("an output"))
            // Whoever is still running holds this pipe, so that its end is that of all.
            .stderr(Stdio::piped())
            .process_group(0);
        if is_root() {
            command.uid(65534).gid(65534);
        }
        command.output().expect("the program starts");
        let mut traces = Traces::default();
        for line in fs::read_to_string(&log).expect("the log").lines() {
            if !traces.started.iter().any(|name| name == line) {
                traces.started.push(line.to_owned());
            }
        }
        traces.output = String::from_utf8_lossy(&fs::read(&output).expect("the output")).into_owned();
        self.collect_written(&mut traces);
        traces
    }

    /// Collects files that are new or changed, and restores the directory.
    fn collect_written(&self, traces: &mut Traces) {
        let known = ["work", "bin", "log", "output", "input", "secret", "out"];
        for (directory, is_work) in [(self.root.clone(), false), (format!("{}/work", self.root), true)] {
            for entry in fs::read_dir(&directory).expect("a directory") {
                let entry = entry.expect("an entry");
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = format!("{directory}/{name}");
                let before = self.files.iter().find(|(known, _)| is_work && *known == name);
                let is_same = match before {
                    Some((_, text)) => fs::read(&path).is_ok_and(|found| found == text.as_bytes()),
                    None => {
                        !is_work && known.contains(&&*name)
                            || name == "sub"
                            || is_work && self.kept.contains(&&*name)
                    }
                };
                if is_same {
                    continue;
                }
                traces.written.push(path.clone());
                if before.is_none() {
                    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
                }
            }
        }
        let is_gone = |name: &str| fs::symlink_metadata(self.path(name)).is_err();
        if is_gone("sub") {
            fs::create_dir(self.path("sub")).expect("a directory");
            self.open("work/sub");
        }
        if !traces.written.is_empty() || self.files.iter().any(|(name, _)| is_gone(name)) {
            self.reset();
        }
    }
}

/// The real files, with every program in a directory of the system.
impl Lookup for Machine {
    fn find_program(&self, name: &str, _: &str, directory: &str) -> Option<ProgramLocation> {
        let base = name.rsplit('/').next().unwrap_or_default();
        let is_known = fs::symlink_metadata(format!("{}/bin/{base}", self.root)).is_ok();
        let path = if !name.contains('/') && is_known {
            format!("/usr/bin/{name}")
        } else {
            let path = Path::new(directory).join(name);
            path.is_file().then(|| path.to_str().map(str::to_owned)).flatten()?
        };
        Some(ProgramLocation { canonical: path.clone(), is_trusted: path.starts_with("/usr/bin/"), path })
    }

    fn path_kind(&self, path: &str) -> LookupPathKind {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => LookupPathKind::Directory,
            Ok(found) if found.is_file() => LookupPathKind::File,
            Ok(_) => LookupPathKind::Other,
            Err(_) => LookupPathKind::Missing,
        }
    }

    fn read_link(&self, _: &str) -> LinkReading {
        LinkReading::NoLink
    }
}
