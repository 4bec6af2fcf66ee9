//! Running the `ccm` binary as a user does.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::{Scratch, faults};

/// Call of `ccm` in a scratch directory, with an empty environment.
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
    keeps_input: bool,
    stdin: Option<Stdio>,
    stdout: Option<Stdio>,
}

/// Shell commands that run in the process before it becomes `ccm`.
#[derive(Debug)]
struct Preparation {
    script: String,
    own_mounts: bool,
}

/// Result of a call of `ccm`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Exit code; 128 plus the number of the signal that ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ccm {
    /// Prepares a call. `CCM_TEST_BINARY` replaces `binary`, which is `env!("CARGO_BIN_EXE_ccm")`, if the
    /// tests run on another machine.
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
            keeps_input: false,
            stdin: None,
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

    /// Passes no state directory, so that ccm uses its default: as root, that of the machine.
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

    /// Runs shell commands as [`Ccm::after`] does, with private mounts. Only root can.
    ///
    /// # Panics
    ///
    /// If the commands have `&&`: the shell goes on after a mount that fails before it, and ccm would change the machine.
    #[must_use]
    pub fn after_mounting(mut self, script: &str) -> Self {
        assert!(!script.contains("&&"), "a failed command before `&&` does not end the shell: {script}");
        self.preparation = Some(Preparation { script: script.to_owned(), own_mounts: true });
        self
    }

    /// Sets standard input.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Leaves standard input open, for [`RunningCcm::take_stdin`].
    #[must_use]
    pub fn open_input(mut self) -> Self {
        self.keeps_input = true;
        self
    }

    /// Redirects standard input, such as to a connection.
    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.stdin = Some(stdin.into());
        self
    }

    /// Redirects standard output.
    #[must_use]
    pub fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.stdout = Some(stdout.into());
        self
    }

    /// Starts the call and does not wait.
    pub fn start(self) -> RunningCcm {
        let mut command = self.command();
        let reads = self.input.is_some() || self.keeps_input;
        let stdin = self.stdin.unwrap_or_else(|| if reads { Stdio::piped() } else { Stdio::null() });
        command
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment)
            .stdin(stdin)
            .stdout(self.stdout.unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped());
        let child = faults::start(&mut command);
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", self.binary.display()));
        if let Some(input) = self.input
            && let Some(mut stdin) = child.stdin.take()
        {
            // The test decides whether unread input is an error.
            let _ = stdin.write_all(&input);
        }
        RunningCcm { pid: child.id(), child: Some(child), directory: self.directory, state: self.state }
    }

    /// Returns the command without streams and environment. A subcommand with state gets the scratch state
    /// directory, unless the test names another: as root, ccm would use the machine's.
    fn command(&self) -> Command {
        // The caller may ignore signals, as a shell does for background jobs. The tests expect a terminal's
        // defaults.
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

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn plain_command(self) -> Command {
        assert!(
            self.preparation.is_none(),
            "a traced call has no preparation: the test itself has to run prepared"
        );
        let mut command = Command::new(&self.binary);
        self.add_arguments(&mut command);
        command.current_dir(&self.directory).env_clear().envs(self.environment);
        command
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn directories(&self) -> (PathBuf, PathBuf) {
        (self.directory.clone(), self.state.clone())
    }

    fn add_arguments(&self, command: &mut Command) {
        let command_name = self.args.first().and_then(|first| first.to_str());
        if let ([first, rest @ ..], Some("ensure"), true) = (&self.args[..], command_name, self.own_state) {
            // Options of the run stand before the resource.
            command.arg(first).arg("--state-dir").arg(&self.state).args(rest);
            return;
        }
        command.args(&self.args);
        let keeps_state = matches!(
            command_name,
            Some("apply" | "backup" | "history" | "pause" | "plan" | "push" | "source" | "status")
        );
        let named = self.args.iter().any(|argument| {
            argument.to_str().is_some_and(|text| text.starts_with("--state-dir") || text == "--help")
        });
        if keeps_state && self.own_state && !named {
            command.arg("--state-dir").arg(&self.state);
        }
    }

    /// Runs the call to its end.
    pub fn run(self) -> Called {
        self.start().finish()
    }
}

/// Call of `ccm` that has not ended yet.
#[derive(Debug)]
pub struct RunningCcm {
    /// `None` after the end.
    child: Option<Child>,
    pid: u32,
    directory: PathBuf,
    state: PathBuf,
}

impl RunningCcm {
    /// Returns the number of the process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a signal by name, such as `INT`.
    pub fn signal(&self, name: &str) {
        let status = Command::new("/bin/sh").args(["-c", &format!("kill -{name} {}", self.pid())]).status();
        assert!(status.is_ok_and(|status| status.success()), "could not send {name}");
    }

    /// Takes standard input, if it was left open and was not taken before.
    pub fn take_stdin(&mut self) -> Option<std::process::ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    /// Takes standard output, if it is a pipe and was not taken before.
    pub fn take_stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// Takes standard error, if it was not taken before.
    pub fn take_stderr(&mut self) -> Option<std::process::ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Waits for the end.
    pub fn finish(mut self) -> Called {
        let (directory, state) = (self.directory.clone(), self.state.clone());
        let child = self.child.take().unwrap_or_else(|| panic!("ccm has ended before"));
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("can't wait for ccm: {error}"));
        faults::remove_ended(self.pid);
        Called::of(output.status, &output.stdout, &output.stderr, &directory, &state)
    }
}

impl Drop for RunningCcm {
    /// Ends a call that a failing test left behind. TERM lets ccm end its command as well.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The process may wait for a reader of its output.
            drop((child.stdout.take(), child.stderr.take()));
            let _status = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status();
            let _status = child.wait();
            faults::remove_ended(self.pid);
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

impl Called {
    /// Builds a result. The paths of the test are replaced by `[dir]` and `[state]`.
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

    /// Returns standard output with the lines of the report about resources as `type#name outcome: words`.
    pub fn reported(&self) -> String {
        self.stdout.lines().map(|line| outcome_line(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
    }

    /// Returns what a terminal would show, for the documentation: with a host, paths, times and ids that do not
    /// depend on the test.
    pub fn screen(&self) -> String {
        let text = steady(&format!("{}{}", self.stderr, self.stdout));
        let aligned = text.lines().map(|line| match resource_line(&line.replace("[dir]", "/srv")) {
            Some((sign, kind, name, words)) => format!("  {sign} {kind:<7}  {name:<24}   {words}\n"),
            None => format!("{line}\n"),
        });
        let stands_for = [
            ("[host]", "web1"),
            ("[dir]", "/srv"),
            ("[id]", "01a200cb-277e"),
            ("[time]", "2026-11-20 04:00:01"),
            ("resources in …", "resources in 12ms"),
            ("(…", "(8ms"),
            ("runtime=…", "runtime=8ms"),
        ];
        stands_for.iter().fold(aligned.collect(), |text: String, (mark, shown)| text.replace(mark, shown))
    }

    /// Returns the result as text for a snapshot, without times, ids and process numbers.
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

/// Returns the line of a resource as `type#name outcome: words`.
fn outcome_line(line: &str) -> Option<String> {
    let (sign, kind, name, words) = resource_line(line)?;
    let (changed, refreshed) = if words.starts_with("would ") {
        ("would change", "would refresh")
    } else {
        ("changed", "refreshed")
    };
    let outcome = match sign {
        "+" | "~" | "-" | "!" => changed,
        ">" => refreshed,
        "x" => "failed",
        "s" => "unmet",
        " " => words.split([':', ' ']).next()?,
        _ => return None,
    };
    Some(format!("{kind}#{name} {outcome}: {words}"))
}

fn steady(text: &str) -> String {
    let mut lines = Vec::new();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = format!("{}: ", host.trim_end());
    for line in text.lines() {
        let line =
            &line.strip_prefix(&host).map_or_else(|| line.to_owned(), |rest| format!("[host]: {rest}"));
        let line =
            replace_after(line, "runtime=", |character| !character.is_whitespace() && character != ':');
        let line = replace_after(&line, "resources in ", |character| character != ':');
        let line = replace_after(&line, "resource in ", |character| character != ':');
        let line =
            replace_after(&line, "\"duration\":", |character| character.is_ascii_digit() || character == ' ');
        let line = replace_after(&line, "\"host\":", |character| character != ',');
        let line = replace_after(&line, "pid ", |character| character.is_ascii_digit());
        let line = replace_after(&line, "\"started_by\":", |character| character != '}');
        let line = replace_after(&line, "took ", |character| character != ',');
        let line = if line.starts_with("started by ") { "started by …".to_owned() } else { line };
        let line = replace_after(&line, "left running: ", |character| character.is_ascii_digit());
        let line = without_local_time(&line);
        let line = without_columns(&line);
        lines.push(line.split_inclusive(|c: char| !is_part(c)).map(steady_word).collect::<String>());
    }
    lines.join("\n")
}

/// Replaces the first local time, `2026-11-20 04:00:01`.
fn without_local_time(line: &str) -> String {
    const FORM: &[u8] = b"0000-00-00 00:00:00";
    let is_time = |window: &[u8]| {
        window.iter().zip(FORM).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        })
    };
    match line.as_bytes().windows(FORM.len()).position(is_time) {
        Some(at) => format!("{}[time]{}", &line[..at], &line[at + FORM.len()..]),
        None => line.to_owned(),
    }
}

/// Returns `true` if a character may be part of a timestamp or an id.
fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | ':' | '.')
}

/// Shortens the blanks behind a name, whose number depends on the paths of the test, and replaces the time that a
/// command took.
fn without_columns(line: &str) -> String {
    let Some((sign, kind, name, words)) = resource_line(line) else { return line.to_owned() };
    let words = match words.rsplit_once(" (") {
        Some((words, remark)) if is_time_taken(remark) => format!("{words} (…)"),
        Some((words, remark)) => match remark.split_once(", ") {
            Some((time, rest)) if is_time_taken(&format!("{time})")) => format!("{words} (…, {rest}"),
            _ => format!("{words} ({remark}"),
        },
        None => words.to_owned(),
    };
    format!("  {sign} {kind} {name}   {words}")
}

/// Returns sign, type, name and words of the line of a resource.
fn resource_line(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (sign, rest) = line.strip_prefix("  ")?.split_at_checked(1)?;
    let (kind, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
    let (name, words) = rest.trim_start().split_once("   ")?;
    let is_kind = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    ("+~-!>xs ".contains(sign) && is_kind).then(|| (sign, kind, name, words.trim_start()))
}

/// Returns `true` for the end of a remark such as `12ms)`.
fn is_time_taken(remark: &str) -> bool {
    let number = remark.trim_end_matches(|character: char| !character.is_ascii_digit());
    let unit = &remark[number.len()..];
    !number.is_empty() && matches!(unit, "ms)" | "s)" | "µs)")
}

/// Replaces a word that is a timestamp, or the id of an event or a run.
fn steady_word(word: &str) -> String {
    let (bare, end) = word.split_at(word.trim_end_matches(|c: char| !is_part(c)).len());
    let bytes = bare.as_bytes();
    let is_timestamp = bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bare.ends_with('Z');
    let is_hex = |text: &str| text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    // An id begins with a timestamp, whose first bits stay the same for centuries.
    let is_id = bytes.len() >= 8 && bare.starts_with("01") && is_hex(bare);
    match (is_timestamp, is_id) {
        (true, _) => format!("[time]{end}"),
        (_, true) => format!("[id]{end}"),
        _ => word.to_owned(),
    }
}

/// Replaces the characters after a word by an ellipsis, as long as `is_part` holds.
fn replace_after(line: &str, word: &str, goes_on: impl Fn(char) -> bool) -> String {
    match line.split_once(word) {
        Some((before, behind)) => format!("{before}{word}…{}", behind.trim_start_matches(goes_on)),
        None => line.to_owned(),
    }
}

/// Returns the path of a file or directory of this repository, or of its copy in `CCM_TEST_ROOT`.
pub fn repository(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = std::env::var_os("CCM_TEST_ROOT").map_or(here, PathBuf::from);
    let path = root.join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs a shell command in a directory and returns its output.
pub fn shell(command: &str, directory: &Path) -> String {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = faults::start(&mut shell).unwrap_or_else(|error| panic!("a shell: {error}"));
    let pid = child.id();
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{command}: {error}"));
    faults::remove_ended(pid);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
