//! One host: the connection by `ssh`, and the protocol over it.

use std::sync::Arc;
use std::time::Duration;

use ccm_host::{Command, Exit, PipedProcess, ProcessPipes};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

use crate::ssh::{NOT_FOUND, Rights, SSH_FAILED, SshCommand};
use crate::transcript::{HostStep, Transcript, TranscriptError};
use crate::wire::{INTERRUPT, InstallLine};

/// Maximum size of one read.
const READ_SIZE: usize = 64 << 10;
/// Time without output after which the pipes of an `ssh` that has ended are closed.
const DRAIN_TIME: Duration = Duration::from_millis(200);
/// Time that `ssh` has to end after its output has ended.
const UNTIL_KILL: Duration = Duration::from_secs(10);
/// Time before a connection is tried again.
const UNTIL_RETRY: Duration = Duration::from_millis(500);
/// Number of times that a connection is tried.
const ATTEMPTS: u32 = 2;

/// Everything that goes to each host.
pub struct PushContent {
    /// Compressed bundle.
    pub bundle: Vec<u8>,
    /// Program to install, and its architecture, as `uname -m` prints it.
    pub program: Option<(Vec<u8>, String)>,
    /// Password of `sudo`.
    pub password: Option<String>,
    /// Keeps the output of commands that do not fail.
    pub keeps_output: bool,
}

/// Level of the interruption of a push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterruptLevel {
    /// Not at all.
    #[default]
    None,
    /// No further host begins.
    NoFurther,
    /// The runs on the hosts end, as by Ctrl-C there.
    EndRuns,
    /// Connections are closed at once; the runs on the hosts go on.
    Leave,
}

/// End of a host.
#[derive(Debug)]
pub struct HostEnd {
    /// Reason of the end.
    pub cause: EndCause,
    /// Everything that the host has printed.
    pub transcript: Transcript,
}

/// Reason of the end of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndCause {
    /// The run has ended with this exit code.
    Ran(i32),
    /// ccm refused to run, and has printed why.
    Refused,
    /// `ssh` has not connected.
    Unreachable,
    /// ccm is not there.
    NoProgram,
    /// `sudo` is not there.
    NoSudo,
    /// `sudo` does not run ccm, or wants a password.
    SudoRefused,
    /// The password is wrong.
    WrongPassword,
    /// There is no program for the architecture of the host.
    OtherArchitecture(String),
    /// The program can't be installed.
    NotInstalled,
    /// ccm ended before it was ready, as one does that takes no pushes.
    NotReady(Exit),
    /// The output is not that of ccm.
    Transcript(TranscriptError),
    /// The connection ended before the run.
    Died(Exit),
    /// The connection was closed from here.
    Left,
    /// `ssh` can't be started.
    NoStart(String),
}

/// Connections to all hosts.
pub struct Connector {
    /// Words of `ssh`.
    pub ssh: SshCommand,
    /// Path of the program.
    pub program: std::path::PathBuf,
    /// Environment of `ssh`.
    pub environment: Vec<(String, String)>,
    /// What goes to each host.
    pub content: PushContent,
}

/// Host to connect to.
pub struct HostTask {
    /// Words of `ssh`, with the first one.
    pub words: Vec<String>,
    /// First line to the host.
    pub request: String,
    /// Limits handshakes at once.
    pub handshakes: Arc<Semaphore>,
    /// Level of interruption.
    pub interrupts: watch::Receiver<InterruptLevel>,
}

/// State of a connection.
struct Conversation<'a> {
    connector: &'a Connector,
    task: &'a HostTask,
    transcript: Transcript,
    /// Bytes to send, from a position on.
    sending: Vec<Outgoing>,
    was_asked: bool,
    has_ended_runs: bool,
}

/// Bytes that go to a host.
enum Outgoing {
    Text(Vec<u8>, usize),
    Bundle(usize),
    Program(usize),
}

impl Connector {
    /// Pushes to a host. A connection that fails is tried once more.
    pub async fn push(&self, task: &HostTask, on_progress: &dyn Fn()) -> HostEnd {
        for _ in 1..ATTEMPTS {
            let end = self.attempt(task, on_progress).await;
            let is_over = *task.interrupts.borrow() >= InterruptLevel::NoFurther;
            if end.cause != EndCause::Unreachable || is_over {
                return end;
            }
            sleep(UNTIL_RETRY).await;
        }
        self.attempt(task, on_progress).await
    }

    async fn attempt(&self, task: &HostTask, on_progress: &dyn Fn()) -> HostEnd {
        // Closed never.
        let mut permit = task.handshakes.acquire().await.ok();
        let words = task.words.iter().skip(1).map(Into::into).collect();
        let command =
            Command { args: words, environment: self.environment.clone(), ..Command::new(&self.program) };
        let mut conversation = Conversation {
            connector: self,
            task,
            transcript: Transcript::with_output(self.content.keeps_output),
            sending: Vec::new(),
            was_asked: false,
            has_ended_runs: false,
        };
        if !self.ssh.greets() {
            conversation.say(&task.request);
        }
        let (mut process, pipes) = match PipedProcess::start(&command) {
            Ok(started) => started,
            Err(error) => {
                let cause = EndCause::NoStart(error.to_string());
                return HostEnd { cause, transcript: conversation.transcript };
            }
        };
        let ended = conversation.talk((&mut process, pipes), &mut || drop(permit.take()), on_progress).await;
        // After an error, what the host would still print is of no use.
        drop(process);
        let transcript = conversation.transcript;
        let cause = ended.unwrap_or_else(|exit| self.cause(exit, &transcript, conversation.was_asked));
        HostEnd { cause, transcript }
    }

    /// Returns the reason for which a connection has ended by itself.
    fn cause(&self, exit: Option<Exit>, transcript: &Transcript, was_asked: bool) -> EndCause {
        let Some(exit) = exit else { return EndCause::Died(Exit::Code(SSH_FAILED)) };
        if transcript.refused.is_some() {
            return EndCause::Refused;
        }
        let code = match exit {
            Exit::Code(code) => code,
            ref other => return EndCause::Died(other.clone()),
        };
        match (code, transcript.version.is_some(), self.ssh.rights) {
            (code, true, _) if transcript.summary.is_some() => EndCause::Ran(code),
            (SSH_FAILED, false, _) => EndCause::Unreachable,
            (_, true, _) => EndCause::Died(exit),
            (NOT_FOUND, _, Rights::Own) => EndCause::NoProgram,
            (NOT_FOUND, _, _) => EndCause::NoSudo,
            (126, _, _) if self.ssh.installs => EndCause::NotInstalled,
            (_, _, Rights::SudoWithPassword) if was_asked => EndCause::WrongPassword,
            (1, _, Rights::Sudo | Rights::SudoWithPassword) => EndCause::SudoRefused,
            _ => EndCause::NotReady(exit),
        }
    }
}

impl Conversation<'_> {
    fn say(&mut self, text: &str) {
        self.sending.push(Outgoing::Text(text.as_bytes().to_vec(), 0));
    }

    /// Reads and writes until `ssh` ends. Returns its end, or the reason to close the connection before.
    async fn talk(
        &mut self,
        (process, pipes): (&mut PipedProcess, ProcessPipes),
        on_ready: &mut dyn FnMut(),
        on_progress: &dyn Fn(),
    ) -> Result<EndCause, Option<Exit>> {
        let ProcessPipes { stdin, mut stdout, mut stderr } = pipes;
        let mut stdin = Some(stdin);
        let mut interrupts = self.task.interrupts.clone();
        let (mut out, mut err) = (vec![0; READ_SIZE], vec![0; 4 << 10]);
        let (mut has_out, mut has_err) = (true, true);
        let mut ended = None;
        while has_out || has_err || ended.is_none() {
            let connector = self.connector;
            tokio::select! {
                read = stdout.read(&mut out), if has_out => match read {
                    Ok(0) | Err(_) => has_out = false,
                    Ok(length) => match self.transcript.read(&out[..length]) {
                        Ok(steps) => {
                            for step in steps {
                                if let Some(cause) = self.take(step, on_ready, on_progress) {
                                    return Ok(cause);
                                }
                            }
                        }
                        Err(error) => return Ok(EndCause::Transcript(error)),
                    },
                },
                read = stderr.read(&mut err), if has_err => match read {
                    Ok(0) | Err(_) => has_err = false,
                    Ok(length) => {
                        self.transcript.read_error(&err[..length]);
                        if let Some(cause) = self.answer_sudo() {
                            return Ok(cause);
                        }
                    }
                },
                written = write(&mut stdin, &mut self.sending, connector), if stdin.is_some() && !self.sending.is_empty() => {
                    if written.is_err() {
                        // The output says why the host reads no more.
                        stdin = None;
                    }
                }
                exit = process.ended(), if ended.is_none() => ended = Some(exit.ok()),
                // A master connection of the user goes on, and holds the pipes.
                () = sleep(DRAIN_TIME), if ended.is_some() => break,
                () = sleep(UNTIL_KILL), if ended.is_none() && !has_out && !has_err => break,
                changed = interrupts.changed() => {
                    let level = *interrupts.borrow_and_update();
                    if level == InterruptLevel::Leave || changed.is_err() {
                        return Ok(EndCause::Left);
                    }
                    if level == InterruptLevel::EndRuns && !std::mem::replace(&mut self.has_ended_runs, true) {
                        if self.transcript.version.is_none() {
                            return Ok(EndCause::Left);
                        }
                        self.say(&format!("{INTERRUPT}\n"));
                    }
                }
            }
        }
        Err(ended.flatten())
    }

    /// Takes a step that the host asks for. Returns the reason to close the connection.
    fn take(
        &mut self,
        step: HostStep,
        on_ready: &mut dyn FnMut(),
        on_progress: &dyn Fn(),
    ) -> Option<EndCause> {
        match step {
            HostStep::Install(line) => return self.install(&line),
            HostStep::Installed => {
                let request = self.task.request.clone();
                self.say(&request);
            }
            HostStep::Ready(ready) => {
                on_ready();
                if !ready.has_bundle {
                    self.sending.push(Outgoing::Bundle(0));
                }
            }
            HostStep::Progress => on_progress(),
        }
        None
    }

    fn install(&mut self, line: &InstallLine) -> Option<EndCause> {
        if !line.missing {
            let request = self.task.request.clone();
            self.say(&request);
            return None;
        }
        match &self.connector.content.program {
            Some((program, machine)) if *machine == line.machine => {
                let size = program.len();
                self.say(&format!("{size}\n"));
                self.sending.push(Outgoing::Program(0));
                None
            }
            _ => Some(EndCause::OtherArchitecture(line.machine.chars().take(40).collect())),
        }
    }

    /// Answers the question of `sudo`. Its second question means that the password is wrong.
    fn answer_sudo(&mut self) -> Option<EndCause> {
        let ssh = &self.connector.ssh;
        let password = self.connector.content.password.as_ref()?;
        if self.transcript.version.is_some()
            || !ends_with(self.transcript.error_bytes(), ssh.prompt.as_bytes())
        {
            return None;
        }
        if std::mem::replace(&mut self.was_asked, true) {
            return Some(EndCause::WrongPassword);
        }
        self.transcript.clear_errors();
        // Before the request, which may wait in the pipe: sudo reads a line and no byte more.
        self.sending.insert(0, Outgoing::Text(format!("{password}\n").into_bytes(), 0));
        None
    }
}

fn ends_with(bytes: &[u8], end: &[u8]) -> bool {
    !end.is_empty() && bytes.ends_with(end)
}

/// Writes a part of what is to be sent.
async fn write(
    stdin: &mut Option<tokio::net::unix::pipe::Sender>,
    sending: &mut Vec<Outgoing>,
    connector: &Connector,
) -> std::io::Result<()> {
    let (Some(stdin), Some(first)) = (stdin, sending.first_mut()) else { return Ok(()) };
    let (bytes, position) = match first {
        Outgoing::Text(text, position) => (&text[..], position),
        Outgoing::Bundle(position) => (&connector.content.bundle[..], position),
        Outgoing::Program(position) => {
            (connector.content.program.as_ref().map_or(&[][..], |(program, _)| program), position)
        }
    };
    // One write, so that a caller that gives up loses nothing.
    let written = if bytes.len() > *position { stdin.write(&bytes[*position..]).await? } else { 0 };
    *position += written;
    if *position >= bytes.len() {
        sending.remove(0);
    }
    Ok(())
}
