//! Messages to the journal of the machine, in its native protocol.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

/// Socket of the journal.
pub const JOURNAL_SOCKET: &str = "/run/systemd/journal/socket";
/// Maximum time to wait for a journal that does not read.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends a message of these fields to the journal at a socket. Names of fields are capital letters, digits and `_`.
pub fn send_to_journal(socket: &Path, fields: &[(&str, &str)]) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.set_write_timeout(Some(PATIENCE))?;
    let message = message(fields);
    let sent = sender.send_to(&message, socket)?;
    if sent == message.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

fn message(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut message = Vec::new();
    for (name, value) in fields {
        message.extend_from_slice(name.as_bytes());
        if value.contains('\n') {
            message.push(b'\n');
            message.extend_from_slice(&(value.len() as u64).to_le_bytes());
        } else {
            message.push(b'=');
        }
        message.extend_from_slice(value.as_bytes());
        message.push(b'\n');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reaches_the_socket() {
        let directory = tempfile::tempdir().expect("a directory");
        let socket = directory.path().join("socket");
        assert_eq!(send_to_journal(&socket, &[("A", "1")]).unwrap_err().kind(), io::ErrorKind::NotFound);
        let journal = UnixDatagram::bind(&socket).expect("a socket");
        send_to_journal(&socket, &[("MESSAGE", "a line"), ("LINES", "a\nb")]).expect("a journal");
        let mut received = [0; 200];
        let length = journal.recv(&mut received).expect("a message");
        assert_eq!(&received[..length], b"MESSAGE=a line\nLINES\n\x03\0\0\0\0\0\0\0a\nb\n");
    }
}
