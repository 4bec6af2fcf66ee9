//! Server that starts launchers by copying itself.
//!
//! The start of the program of ccm takes about a millisecond: the kernel maps it, the loader relocates it and the C
//! library examines the processor. A copy of a small process that has done all this takes a tenth, and the server makes it
//! ahead, while the last command runs. The server reads no request, so that no copy has the arguments or the
//! environment of another command in its memory.
//!
//! Each copy is a child of ccm and not of the server, like every other launcher. The server and the waiting copy stay in
//! the session of ccm, where no command is looked for. They end with ccm: the copy then reads the end of its socket, and the
//! server the end of the copy.

use std::ffi::CStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr, write};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, pidfd_send_signal, waitid,
};

use super::spawn::{ExecArguments, null_device};
use super::table;
use crate::{launcher, raw};

/// Maximum number of descriptors of a launcher.
pub(crate) const MAX_DESCRIPTORS: usize = 8;

/// Copy of the server that waits for the descriptors of a launcher.
#[derive(Debug)]
struct WaitingCopy {
    pid: Pid,
    socket: OwnedFd,
    /// Wakes the copy.
    event: OwnedFd,
}

/// Running server.
#[derive(Debug)]
pub(super) struct LaunchServer {
    handle: OwnedFd,
    socket: OwnedFd,
}

impl LaunchServer {
    /// Starts the server. `None` if that is not possible, or if the processes of commands could only be told from the
    /// server by reading the whole table of processes.
    pub(super) fn start(name: &Path, program: &CStr) -> Option<Self> {
        table::children()?;
        Self::try_start(name, program).ok()
    }

    fn try_start(name: &Path, program: &CStr) -> io::Result<Self> {
        let arguments = ExecArguments::of_launcher(name, launcher::SERVER_ARGUMENT)?;
        let null = null_device()?;
        let (socket, its_socket) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let pid = raw::posix_spawn(&raw::Start {
            program,
            arguments: &arguments.arguments,
            environment: &arguments.environment,
            cwd: None,
            has_session: false,
            descriptors: &[null.as_fd(), null.as_fd(), null.as_fd(), its_socket.as_fd()],
        })?;
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { handle, socket })
    }

    /// Starts a launcher with these descriptors. `None` if the server has ended or can't be copied; then no launcher has
    /// begun.
    pub(super) fn launch(&self, descriptors: &[BorrowedFd<'_>]) -> Option<Pid> {
        let launched = self.waiting().and_then(|copy| copy.launch(descriptors));
        launched.inspect_err(|_| self.end()).ok()
    }

    /// Receives the next copy, which announces itself. At the end of the socket there is no copy that could still begin.
    fn waiting(&self) -> io::Result<WaitingCopy> {
        /// Only a process that was stopped takes longer, or a launcher that waits for a file system: the next copy is made after
        /// its end.
        const MAX_WAIT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
        let mut readable = [PollFd::new(&self.socket, PollFlags::IN)];
        if retry_on_intr(|| poll(&mut readable, Some(&MAX_WAIT)))? == 0 {
            // A copy that was stopped before it announced itself keeps the socket open, so that nothing more is read.
            let _ended = pidfd_send_signal(&self.handle, Signal::KILL);
            return Err(Errno::TIMEDOUT.into());
        }
        let mut number = 0_i32.to_ne_bytes();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let message = retry_on_intr(|| {
            recvmsg(&self.socket, &mut [IoSliceMut::new(&mut number)], &mut ancillary, flags)
        })?;
        let files = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next().zip(descriptors.next()),
            _ => None,
        });
        let pid = Pid::from_raw(i32::from_ne_bytes(number)).filter(|_| message.bytes == number.len());
        let copy = pid.zip(files).map(|(pid, (socket, event))| WaitingCopy { pid, socket, event });
        copy.ok_or_else(|| Errno::PIPE.into())
    }

    /// Ends and reaps the server and the waiting copy, if that has not happened.
    fn end(&self) {
        let _ended = pidfd_send_signal(&self.handle, Signal::KILL);
        let by_handle = WaitId::PidFd(self.handle.as_fd());
        let _reaped = retry_on_intr(|| waitid(by_handle.clone(), WaitIdOptions::EXITED));
        while let Ok(copy) = self.waiting() {
            copy.end();
        }
    }
}

impl WaitingCopy {
    /// Makes the copy a launcher with these descriptors.
    fn launch(self, descriptors: &[BorrowedFd<'_>]) -> io::Result<Pid> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
            self.end();
            return Err(Errno::NOBUFS.into());
        }
        let flags = SendFlags::NOSIGNAL;
        let sent = retry_on_intr(|| sendmsg(&self.socket, &[IoSlice::new(b"l")], &mut ancillary, flags));
        match sent.and_then(|_| retry_on_intr(|| write(&self.event, &1_u64.to_ne_bytes()))) {
            Ok(_) => Ok(self.pid),
            Err(error) => {
                self.end();
                Err(error.into())
            }
        }
    }

    /// Ends and reaps the copy. Until then, no other process has its number.
    fn end(self) {
        let _ended = kill_process(self.pid, Signal::KILL);
        let _reaped = retry_on_intr(|| waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED));
    }
}

impl Drop for LaunchServer {
    fn drop(&mut self) {
        self.end();
    }
}
