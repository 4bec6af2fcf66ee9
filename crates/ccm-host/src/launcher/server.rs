//! The launch server: a process that copies itself for each launcher.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::io::retry_on_intr;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};
use rustix::process::{chdir, getpid, setpgid};

use crate::command::launch_server::MAX_DESCRIPTORS;
use crate::process::hide_inherited_files;
use crate::raw;

/// Descriptor of the socket to ccm.
const SOCKET: i32 = 3;

/// Process that returns from [`serve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerProcess {
    /// The server itself, after the end of ccm.
    Original,
    /// A launcher, with its descriptors in their places.
    Copy,
}

/// Starts a copy of this process for each request, until ccm ends.
pub(super) fn serve() -> ServerProcess {
    let Ok(socket) = raw::inherited(SOCKET) else { return ServerProcess::Original };
    // A signal from the terminal ends ccm in its own time, and the server after it.
    let prepared =
        hide_inherited_files().and_then(|()| Ok(setpgid(None, None)?)).and_then(|()| Ok(chdir("/")?));
    if prepared.is_err() {
        return ServerProcess::Original;
    }
    loop {
        let Ok(Some(descriptors)) = receive(&socket) else { return ServerProcess::Original };
        match raw::fork_sibling() {
            Ok(Some(_)) => {}
            Ok(None) => {
                let is_known = answer(&socket);
                // A launcher needs the number of the socket.
                drop(socket);
                let is_ready = is_known.is_ok() && raw::place(descriptors).is_ok();
                return if is_ready { ServerProcess::Copy } else { ServerProcess::Original };
            }
            // Without a server, ccm starts launchers directly.
            Err(_) => return ServerProcess::Original,
        }
    }
}

/// Sends the number of this copy to ccm.
fn answer(socket: &OwnedFd) -> io::Result<()> {
    let number = getpid().as_raw_nonzero().get();
    retry_on_intr(|| send(socket, &number.to_ne_bytes(), SendFlags::NOSIGNAL))?;
    Ok(())
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
