//! Tracing the system calls of one process.
#![expect(unsafe_code, reason = "a process asks to be traced between fork and exec, which std calls unsafe")]

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::thread;

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls::{SystemCall, error};
use super::{Fault, remove_ended, start};

pub(super) struct Traced {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) calls: Vec<String>,
    pub(super) struck: Option<String>,
}

pub(super) fn run(mut command: Command, fault: Fault) -> io::Result<Traced> {
    // SAFETY: the closure makes one system call and touches no memory that another thread could have locked.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
    // This process adopts the orphans of a killed run.
    nix::sys::prctl::set_child_subreaper(true)?;
    let mut child = start(&mut command)?;
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
    let stdout = child.stdout.take().map(|stream| thread::spawn(move || read_all(stream)));
    let stderr = child.stderr.take().map(|stream| thread::spawn(move || read_all(stream)));
    let mut tracer = Tracer { process, fault, threads: HashMap::new(), calls: Vec::new(), struck: None };
    let status = tracer.follow();
    remove_ended(child.id());
    let bytes = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    let status = status?;
    Ok(Traced {
        status,
        stdout: bytes(stdout),
        stderr: bytes(stderr),
        calls: tracer.calls,
        struck: tracer.struck,
    })
}

fn read_all(mut stream: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Output before an error is still shown.
    let _end = stream.read_to_end(&mut bytes);
    bytes
}

#[derive(Default)]
enum Thread {
    /// Outside of any call, or about to enter one.
    #[default]
    Outside,
    /// In a call, with the action at its end.
    Inside(AtEnd),
}

#[derive(Clone, Copy)]
enum AtEnd {
    GoOn,
    Kill,
    Fail(Errno),
}

struct Tracer {
    process: Pid,
    fault: Fault,
    threads: HashMap<Pid, Thread>,
    calls: Vec<String>,
    struck: Option<String>,
}

impl Tracer {
    fn follow(&mut self) -> io::Result<ExitStatus> {
        // The process stops by itself after it has executed the program.
        match waitpid(self.process, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
            other => return Err(io::Error::other(format!("it did not stop at its start: {other:?}"))),
        }
        // New threads are traced too; child processes are not.
        let options =
            Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(self.process, options)?;
        self.threads.insert(self.process, Thread::Outside);
        resume(self.process, None);
        loop {
            // Other threads of the tests wait for their own children.
            let any = Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD);
            let status = match waitpid(None, any) {
                Err(Errno::EINTR) => continue,
                status => status?,
            };
            match status {
                WaitStatus::Exited(pid, code) if pid == self.process => return Ok(exit_status(code << 8)),
                WaitStatus::Signaled(pid, signal, _) if pid == self.process => {
                    return Ok(exit_status(signal as i32));
                }
                WaitStatus::Exited(thread, _) | WaitStatus::Signaled(thread, ..) => {
                    self.threads.remove(&thread);
                }
                WaitStatus::PtraceSyscall(thread) => self.at_call(thread),
                WaitStatus::PtraceEvent(thread, ..) => resume(thread, None),
                WaitStatus::Stopped(thread, signal) => {
                    // A new thread begins with SIGSTOP. Other signals are passed on to the program.
                    let is_new = !self.threads.contains_key(&thread);
                    self.threads.entry(thread).or_default();
                    resume(thread, (!is_new || signal != Signal::SIGSTOP).then_some(signal));
                }
                _ => {}
            }
        }
    }

    /// Handles the beginning or the end of a call.
    fn at_call(&mut self, thread: Pid) {
        let position = self.threads.entry(thread).or_default();
        match std::mem::take(position) {
            Thread::Outside => {
                let at_end = self.enter(thread);
                self.threads.insert(thread, Thread::Inside(at_end));
            }
            Thread::Inside(AtEnd::GoOn) => {}
            Thread::Inside(AtEnd::Kill) => self.kill(),
            Thread::Inside(AtEnd::Fail(errno)) => {
                if let Ok(mut registers) = ptrace::getregs(thread) {
                    registers.rax = i64::from(-(errno as i32)).cast_unsigned();
                    let _ = ptrace::setregs(thread, registers);
                }
            }
        }
        resume(thread, None);
    }

    /// Counts the call that a thread is about to make. Errors are ignored: the thread has ended.
    fn enter(&mut self, thread: Pid) -> AtEnd {
        let Ok(mut registers) = ptrace::getregs(thread) else { return AtEnd::GoOn };
        let Some(call) = SystemCall::read(thread, &registers).filter(|call| call.counts_for(self.fault))
        else {
            return AtEnd::GoOn;
        };
        self.calls.push(call.words().to_owned());
        let number = self.calls.len();
        let (first, lasting) = match self.fault {
            Fault::None => return AtEnd::GoOn,
            Fault::KillBefore(call) | Fault::KillAfter(call) => (call, false),
            Fault::NoSpace { call, lasting } | Fault::SyncFails { call, lasting } => (call, lasting),
        };
        if number < first || number > first && !lasting {
            return AtEnd::GoOn;
        }
        if number == first {
            self.struck = Some(call.words().to_owned());
        }
        match (self.fault, error(self.fault)) {
            (_, Some(errno)) => {
                // No call has this number, so that the call has no effect.
                registers.orig_rax = u64::MAX;
                let _ = ptrace::setregs(thread, registers);
                AtEnd::Fail(errno)
            }
            (Fault::KillBefore(_), None) => {
                self.kill();
                AtEnd::GoOn
            }
            _ => AtEnd::Kill,
        }
    }

    fn kill(&self) {
        // The process still exists, because it was not reaped.
        let _ = kill(self.process, Signal::SIGKILL);
    }
}

/// Resumes a thread until its next call. A thread that was killed meanwhile is no error.
fn resume(thread: Pid, signal: Option<Signal>) {
    let _ = ptrace::syscall(thread, signal);
}

fn exit_status(raw: i32) -> ExitStatus {
    use std::os::unix::process::ExitStatusExt as _;
    ExitStatus::from_raw(raw)
}
