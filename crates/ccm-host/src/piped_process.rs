//! Programs that run beside ccm and speak with it by pipes, such as `ssh`.

use std::io;
use std::os::fd::OwnedFd;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid as NixPid;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, waitid};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::command::{Command, Exit, StartError, find_program, signal_name, spawn_piped};
use crate::raw;

/// Running program in a session of its own, so that no key of a terminal ends it and it asks nothing there. The program
/// and everything in its session are killed when the value is dropped.
#[derive(Debug)]
pub struct PipedProcess {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
    is_reaped: bool,
}

/// Ends of the pipes of a [`PipedProcess`].
#[derive(Debug)]
pub struct ProcessPipes {
    /// Standard input of the program.
    pub stdin: Sender,
    /// Its standard output.
    pub stdout: Receiver,
    /// Its standard error.
    pub stderr: Receiver,
}

impl PipedProcess {
    /// Starts a program in the directory of ccm. Only program, arguments and environment of the command count.
    pub fn start(command: &Command) -> io::Result<(Self, ProcessPipes)> {
        let (pid, stdin, stdout, stderr) = spawn_piped(command)?;
        // From here on, an error kills the program.
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from).and_then(raw::watch);
        let handle = handle.inspect_err(|_| {
            kill(pid);
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
        })?;
        let process = Self { pid, handle, is_reaped: false };
        let pipes = ProcessPipes {
            stdin: Sender::from_owned_fd(stdin)?,
            stdout: Receiver::from_owned_fd(stdout)?,
            stderr: Receiver::from_owned_fd(stderr)?,
        };
        Ok((process, pipes))
    }

    /// Finds a program by its name in a search path, as a shell does.
    pub fn find(name: &str, path: &str) -> Result<std::path::PathBuf, StartError> {
        find_program(name, path)
    }

    /// Waits for the end of the program.
    pub async fn ended(&mut self) -> io::Result<Exit> {
        loop {
            let mut ready = self.handle.readable().await?;
            match waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG)? {
                Some(status) => {
                    self.is_reaped = true;
                    return Ok(exit_of(&status));
                }
                None => ready.clear_ready(),
            }
        }
    }

    /// Kills the program and everything in its session.
    pub fn kill(&self) {
        if !self.is_reaped {
            kill(self.pid);
        }
    }
}

impl Drop for PipedProcess {
    fn drop(&mut self) {
        if !self.is_reaped {
            kill(self.pid);
            // A killed program ends at once.
            let _ = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
        }
    }
}

fn kill(pid: Pid) {
    // Nobody has reaped it, so the number is still its own. It leads the only group of its session.
    let _ = killpg(NixPid::from_raw(pid.as_raw_nonzero().get()), Signal::SIGKILL);
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    match status.terminating_signal() {
        Some(number) => Exit::Signal { number, name: signal_name(number) },
        None => Exit::Code(status.exit_status().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn shell(text: &str) -> Command {
        Command { args: ["-c", text].map(Into::into).into(), ..Command::new("/bin/sh") }
    }

    #[tokio::test]
    async fn a_program_reads_and_writes_while_it_runs() {
        let (mut process, mut pipes) =
            PipedProcess::start(&shell("read word; echo \"$word\"; echo no >&2; cat; exit 3"))
                .expect("started");
        pipes.stdin.write_all(b"hello\n").await.expect("written");
        let mut line = [0; 6];
        pipes.stdout.read_exact(&mut line).await.expect("read");
        assert_eq!(&line, b"hello\n");
        drop(pipes.stdin);
        let mut error = String::new();
        pipes.stderr.read_to_string(&mut error).await.expect("read");
        assert_eq!(error, "no\n");
        assert_eq!(process.ended().await.expect("an end"), Exit::Code(3));
    }

    #[tokio::test]
    async fn a_dropped_program_takes_its_session_with_it() {
        let (process, mut pipes) = PipedProcess::start(&shell("sleep 1000 & echo; wait")).expect("started");
        let mut line = [0; 1];
        pipes.stdout.read_exact(&mut line).await.expect("read");
        drop(process);
        // The pipe ends only once no process holds it.
        let mut rest = Vec::new();
        pipes.stdout.read_to_end(&mut rest).await.expect("the end");
        assert!(rest.is_empty());
        let (mut process, pipes) = PipedProcess::start(&shell("kill -KILL $$")).expect("started");
        assert!(matches!(process.ended().await.expect("an end"), Exit::Signal { number: 9, .. }));
        drop(pipes);
    }
}
