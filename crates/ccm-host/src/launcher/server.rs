//! The launch server: a process that copies itself for each launcher.
//!
//! A copy is made ahead: it waits for its descriptors while the server waits for it. Each copy has a socket of its own, so
//! that no other copy receives what was meant for one that was killed.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec, read, retry_on_intr, write};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{chdir, getpid, setpgid};

use super::prepared::Prepared;
use super::privileges;
use crate::command::launch_protocol::LOWEST_OWN_DESCRIPTOR;
use crate::command::launch_server::MAX_DESCRIPTORS;
use crate::process::hide_inherited_files;
use crate::raw;

/// Descriptor of the socket to ccm.
const SOCKET: i32 = 3;

/// Process that returns from [`serve`].
#[derive(Debug)]
pub(super) enum ServerProcess {
    /// The server itself, after the end of ccm.
    Original,
    /// A launcher, with its descriptors in their places, and what it has made while it waited.
    Copy(Prepared),
}

/// Keeps a copy of this process waiting for a request, until ccm ends.
pub(super) fn serve() -> ServerProcess {
    let Ok(socket) = raw::inherited(SOCKET) else { return ServerProcess::Original };
    // A signal from the terminal ends ccm in its own time, and the server after it.
    let set_up =
        hide_inherited_files().and_then(|()| Ok(setpgid(None, None)?)).and_then(|()| Ok(chdir("/")?));
    if set_up.is_err() {
        return ServerProcess::Original;
    }
    // Every launcher of this server is that of a sandbox.
    let forbids_capabilities = privileges::forbid_capabilities().is_ok();
    // Without a server, ccm starts launchers directly.
    loop {
        let Ok((beginning, begins)) = pipe_with(PipeFlags::CLOEXEC) else { return ServerProcess::Original };
        match raw::fork_sibling() {
            Ok(Some(_)) => {
                drop(begins);
                // A copy that ends without a request was killed, or ccm has ended.
                if retry_on_intr(|| read(&beginning, &mut [0_u8])) != Ok(1) {
                    return ServerProcess::Original;
                }
            }
            Ok(None) => {
                drop(beginning);
                let become_launcher = || {
                    let (descriptors, prepared) = wait(socket, forbids_capabilities)?;
                    // The server may have ended.
                    let _best_effort = retry_on_intr(|| write(&begins, b"b"));
                    // A launcher needs the numbers.
                    drop(begins);
                    raw::place(descriptors)?;
                    Ok(prepared)
                };
                let began: io::Result<Prepared> = become_launcher();
                return began.map_or(ServerProcess::Original, ServerProcess::Copy);
            }
            Err(_) => return ServerProcess::Original,
        }
    }
}

/// Takes the numbers of descriptors that a launcher needs, so that no prepared part has one of them.
fn take_numbers() -> io::Result<()> {
    loop {
        let taken = fcntl_dupfd_cloexec(io::stdin(), 0)?;
        if taken.as_raw_fd() >= LOWEST_OWN_DESCRIPTOR {
            return Ok(());
        }
        // It is replaced by that of a launcher, or closed by the program.
        let _taken = taken.into_raw_fd();
    }
}

/// Announces this copy to ccm, makes what can be made before a command is known, and waits for the descriptors of a launcher.
fn wait(server: OwnedFd, forbids_capabilities: bool) -> io::Result<(Vec<OwnedFd>, Prepared)> {
    let (own, of_ccm) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let number = getpid().as_raw_nonzero().get().to_ne_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let handed = [of_ccm.as_fd()];
    if !ancillary.push(SendAncillaryMessage::ScmRights(&handed)) {
        return Err(Errno::NOBUFS.into());
    }
    retry_on_intr(|| sendmsg(&server, &[IoSlice::new(&number)], &mut ancillary, SendFlags::NOSIGNAL))?;
    // The end of ccm has to be the end of both sockets.
    drop((server, of_ccm));
    take_numbers()?;
    let prepared = Prepared::make(forbids_capabilities);
    let descriptors = receive(&own)?.ok_or(Errno::PIPE)?;
    Ok((descriptors, prepared))
}

/// Receives the descriptors of a launcher; `None` at the end of ccm.
fn receive(socket: &OwnedFd) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let message = retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    let descriptors = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors.collect()),
        _ => None,
    });
    Ok(descriptors.filter(|_| message.bytes == 1))
}
