//! Running the binary `ccm` as a user does.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::{Scratch, faults};

/// A call of `ccm`: in a directory of the test's own, with an empty environment.
#[derive(Debug)]
pub struct Ccm {
    binary: PathBuf,
    directory: PathBuf,
    state: PathBuf,
    args: Vec<OsString>,
    environment: Vec<(String, String)>,
    preparation: Option<Preparation>,
    own_state: bool,
    input: Option<Vec<u8>>,
    stdout: Option<Stdio>,
}

/// What happens in the process that becomes `ccm`.
#[derive(Debug)]
struct Preparation {
    script: String,
    own_mounts: bool,
}

/// What a call of `ccm` came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its exit code; 128 and the number of the signal that ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said beside that.
    pub stderr: String,
}

impl Ccm {
    /// Prepares a call. `binary` is `env!("CARGO_BIN_EXE_ccm")`; the variable `CCM_TEST_BINARY` replaces it
    /// where tests run away from where they were built.
    pub fn new(binary: &str, scratch: &Scratch) -> Self {
        let binary = std::env::var_os("CCM_TEST_BINARY").map_or_else(|| PathBuf::from(binary), PathBuf::from);
        Self {
            binary,
            directory: scratch.path().to_owned(),
            state: scratch.state(),
            args: Vec::new(),
            environment: Vec::new(),
            preparation: None,
            own_state: true,
            input: None,
            stdout: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lets it find its state directory by itself, which as root is the machine's.
    #[must_use]
    pub fn default_state(mut self) -> Self {
        self.own_state = false;
        self
    }

    /// Runs shell commands in the process that then becomes `ccm`.
    #[must_use]
    pub fn after(mut self, script: &str) -> Self {
        self.preparation = Some(Preparation { script: script.to_owned(), own_mounts: false });
        self
    }

    /// The same where mounts are seen by nobody else; only root can do that.
    #[must_use]
    pub fn after_mounting(mut self, script: &str) -> Self {
        self.preparation = Some(Preparation { script: script.to_owned(), own_mounts: true });
        self
    }

    /// Gives it something to read.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sends its standard output elsewhere.
    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Starts it and does not wait.
    pub fn start(self) -> Running {
        let mut command = self.command();
        command
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment)
            .stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(self.stdout.unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped());
        let child = faults::start(&mut command);
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", self.binary.display()));
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), self.input) {
            // It may refuse to read all of it, which is for the test to judge.
            let _ = stdin.write_all(&input);
        }
        Running { pid: child.id(), child: Some(child), directory: self.directory, state: self.state }
    }

    /// The command without streams and environment. What keeps a state gets one of the test's own, unless
    /// the test names another: as root, ccm would use the machine's.
    fn command(&self) -> Command {
        // Whoever runs the tests may ignore signals, as a shell does for its background jobs; a test means what
        // a user at a terminal gets.
        let mut command = Command::new("/usr/bin/env");
        command.arg("--default-signal=INT,TERM,HUP,QUIT");
        if let Some(preparation) = &self.preparation {
            if preparation.own_mounts {
                command.args(["unshare", "--mount"]);
            }
            let script = format!("set -e\n{}\nexec \"$0\" \"$@\"", preparation.script);
            command.args(["/bin/sh", "-c", &script]);
        }
        command.arg(&self.binary);
        self.add_arguments(&mut command);
        command
    }

    /// The same without anything around it.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn plain_command(self) -> Command {
        let mut command = Command::new(&self.binary);
        self.add_arguments(&mut command);
        command.current_dir(&self.directory).env_clear().envs(self.environment);
        command
    }

    /// Its directory and that of its state.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn places(&self) -> (PathBuf, PathBuf) {
        (self.directory.clone(), self.state.clone())
    }

    fn add_arguments(&self, command: &mut Command) {
        command.args(&self.args);
        let command_name = self.args.first().and_then(|first| first.to_str());
        let keeps_state = matches!(command_name, Some("apply" | "history" | "status"));
        let named = self.args.iter().any(|argument| {
            argument.to_str().is_some_and(|text| text.starts_with("--state-dir") || text == "--help")
        });
        if keeps_state && self.own_state && !named {
            command.arg("--state-dir").arg(&self.state);
        }
    }

    /// Runs it to its end.
    pub fn run(self) -> Called {
        self.start().finish()
    }
}

/// A call of `ccm` that has not ended yet.
#[derive(Debug)]
pub struct Running {
    /// None once it has ended.
    child: Option<Child>,
    pid: u32,
    directory: PathBuf,
    state: PathBuf,
}

impl Running {
    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends it a signal by name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("/bin/sh").args(["-c", &format!("kill -{name} {}", self.pid())]).status();
        assert!(status.is_ok_and(|status| status.success()), "could not send {name}");
    }

    /// What it prints, if that is a pipe and was not taken before.
    pub fn take_stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// What it says beside that, if it was not taken before.
    pub fn take_stderr(&mut self) -> Option<std::process::ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Called {
        let (directory, state) = (self.directory.clone(), self.state.clone());
        let child = self.child.take().unwrap_or_else(|| panic!("ccm has ended before"));
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("can't wait for ccm: {error}"));
        faults::ended(self.pid);
        Called::of(output.status, &output.stdout, &output.stderr, &directory, &state)
    }
}

impl Drop for Running {
    /// Ends what a failing test leaves behind; TERM lets ccm end its command as well.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may wait for somebody to read what it says.
            drop((child.stdout.take(), child.stderr.take()));
            let _status = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status();
            let _status = child.wait();
            faults::ended(self.pid);
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

impl Called {
    /// What a call came to, the test's own places replaced by words.
    pub(crate) fn of(
        status: ExitStatus,
        stdout: &[u8],
        stderr: &[u8],
        directory: &Path,
        state: &Path,
    ) -> Self {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace(&*state.to_string_lossy(), "[state]");
            text.replace(&*directory.to_string_lossy(), "[dir]")
        };
        Self { code: code(status), stdout: text(stdout), stderr: text(stderr) }
    }

    /// All of it as one text for a snapshot, with what differs from run to run taken out: times, process
    /// numbers, the test's directory.
    pub fn shown(&self) -> String {
        let section = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("--- {name}\n{}\n", steady(text).trim_end()),
        };
        format!(
            "exit code {}\n{}{}",
            self.code,
            section("stdout", &self.stdout),
            section("stderr", &self.stderr)
        )
    }
}

/// Replaces times, ids and process numbers.
fn steady(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let line =
            replace_after(line, "runtime=", |character| !character.is_whitespace() && character != ':');
        let line = replace_after(&line, "resources in ", |character| character != ':');
        let line = replace_after(&line, "resource in ", |character| character != ':');
        let line =
            replace_after(&line, "\"duration\":", |character| character.is_ascii_digit() || character == ' ');
        let line = replace_after(&line, "pid ", |character| character.is_ascii_digit());
        let line = replace_after(&line, "left running: ", |character| character.is_ascii_digit());
        lines.push(line.split_inclusive(|c: char| !is_part(c)).map(steady_word).collect::<String>());
    }
    lines.join("\n")
}

/// Tells whether a character may be part of a moment or an id.
fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | ':' | '.')
}

/// Replaces a word that is a moment or the id of an event or a run.
fn steady_word(word: &str) -> String {
    let (bare, end) = word.split_at(word.trim_end_matches(|c: char| !is_part(c)).len());
    let bytes = bare.as_bytes();
    let is_moment = bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bare.ends_with('Z');
    let is_hex = |text: &str| text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    // The first bits of an id are those of a time, which stay the same for some centuries.
    let is_id = bytes.len() >= 8 && bare.starts_with("01") && is_hex(bare);
    match (is_moment, is_id) {
        (true, _) => format!("[time]{end}"),
        (_, true) => format!("[id]{end}"),
        _ => word.to_owned(),
    }
}

/// Replaces what follows a word by dots, as far as it goes.
fn replace_after(line: &str, word: &str, goes_on: impl Fn(char) -> bool) -> String {
    match line.split_once(word) {
        Some((before, behind)) => format!("{before}{word}…{}", behind.trim_start_matches(goes_on)),
        None => line.to_owned(),
    }
}

/// A file or directory of this repository, wherever the tests run: `CCM_TEST_ROOT` names its copy.
pub fn repository(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = std::env::var_os("CCM_TEST_ROOT").map_or(here, PathBuf::from);
    let path = root.join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a shell command prints in a directory.
pub fn shell(command: &str, directory: &Path) -> String {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = faults::start(&mut shell).unwrap_or_else(|error| panic!("a shell: {error}"));
    let pid = child.id();
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{command}: {error}"));
    faults::ended(pid);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
