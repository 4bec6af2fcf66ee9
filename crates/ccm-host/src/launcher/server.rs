//! The launch server: a process that copies itself for each launcher.
//!
//! A copy is made ahead: it waits for its descriptors while the server waits for it. Each copy has a socket of its own, so
//! that no other copy receives what was meant for one that was killed. An event wakes the copy: the kernel expects that
//! whoever sends through a socket has nothing more to do, and would let the copy wait for the processor of ccm.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, fcntl_dupfd_cloexec, read, retry_on_intr, write};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{chdir, geteuid, getpid, setpgid};

use super::prepared::Prepared;
use super::privileges;
use super::system_view::SystemDirectories;
use crate::command::launch_protocol::LOWEST_OWN_DESCRIPTOR;
use crate::command::launch_server::MAX_DESCRIPTORS;
use crate::process::hide_inherited_files;
use crate::raw;

/// Descriptor of the socket to ccm.
const SOCKET: i32 = 3;

/// Messages of a copy that begins as a launcher. The directories of the system that the copy was made with are current, or new
/// ones have to be made, which is also tried again where none could be made.
const CURRENT: u8 = b'c';
const OUTDATED: u8 = b'o';

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
    let set_up = hide_inherited_files()
        .and_then(|()| Ok(setpgid(None, None)?))
        .and_then(|()| Ok(chdir("/")?))
        .and_then(|()| take_numbers());
    if set_up.is_err() {
        return ServerProcess::Original;
    }
    // Every launcher of this server is that of a sandbox.
    let forbids_capabilities = privileges::forbid_capabilities().is_ok();
    let mut directories = None;
    // Without a server, ccm starts launchers directly.
    loop {
        // An ordinary user can't make them. Where they can't be made, each launcher makes a whole view.
        if directories.is_none() && geteuid().is_root() {
            directories = SystemDirectories::make().ok();
        }
        let Ok((beginning, begins)) = pipe_with(PipeFlags::CLOEXEC) else { return ServerProcess::Original };
        match raw::fork_sibling() {
            Ok(Some(_)) => {
                drop(begins);
                // A copy that ends without a request was killed, or ccm has ended.
                let Some(begun) = wait_for_end(&beginning) else { return ServerProcess::Original };
                directories = directories.filter(|_| begun == CURRENT);
            }
            Ok(None) => {
                drop(beginning);
                let become_launcher = || {
                    let (descriptors, prepared) =
                        wait(socket, || Prepared::make(forbids_capabilities, directories))?;
                    let were_current = prepared.view.as_ref().is_some_and(|view| view.were_current);
                    let begun = [if were_current { CURRENT } else { OUTDATED }];
                    // The server may have ended.
                    let _best_effort = retry_on_intr(|| write(&begins, &begun));
                    // The start of the program closes it.
                    let _closed_at_the_end = begins.into_raw_fd();
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

/// Waits until a launcher starts its program, or a copy ends, and returns the message of the launcher. The next copy is made
/// no earlier: it would take the processor from the launcher.
fn wait_for_end(copy: &OwnedFd) -> Option<u8> {
    // The message itself wakes nobody.
    let mut closed = [PollFd::new(copy, PollFlags::empty())];
    retry_on_intr(|| poll(&mut closed, None)).ok()?;
    let mut begun = [0];
    (retry_on_intr(|| read(copy, &mut begun)) == Ok(1)).then_some(begun[0])
}

/// Takes the numbers of descriptors that a launcher needs, so that no part that is made before has one of them.
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
fn wait(server: OwnedFd, prepare: impl FnOnce() -> Prepared) -> io::Result<(Vec<OwnedFd>, Prepared)> {
    let (own, of_ccm) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let number = getpid().as_raw_nonzero().get().to_ne_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let event = eventfd(0, EventfdFlags::CLOEXEC)?;
    let handed = [of_ccm.as_fd(), event.as_fd()];
    if !ancillary.push(SendAncillaryMessage::ScmRights(&handed)) {
        return Err(Errno::NOBUFS.into());
    }
    retry_on_intr(|| sendmsg(&server, &[IoSlice::new(&number)], &mut ancillary, SendFlags::NOSIGNAL))?;
    // The end of ccm has to be the end of both sockets.
    drop((server, of_ccm));
    // That of the socket of the server was one of them.
    take_numbers()?;
    let prepared = prepare();
    // The end of ccm is noticed without asking for it.
    let mut ready = [PollFd::new(&event, PollFlags::IN), PollFd::new(&own, PollFlags::empty())];
    retry_on_intr(|| poll(&mut ready, None))?;
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
