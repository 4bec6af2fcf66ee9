//! Name server of a test, on the loopback interface. It answers as the test wants, also wrongly.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Manner of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Records, or none.
    Known,
    /// Nothing at all.
    Silent,
    /// An answer with this code.
    Code(u8),
    /// Any number of datagrams that are no answer, and no answer.
    Flood,
    /// Datagrams that are no answer, and then the answer.
    Late,
    /// The head of an answer, which is longer than a datagram. The whole comes by a connection.
    Long,
    /// An answer that ends in the middle.
    Cut,
}

/// Name server that runs until it is dropped.
pub(super) struct NameServer {
    address: String,
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl NameServer {
    /// Starts a server that knows some names, and answers NXDOMAIN to everything else.
    pub(super) fn start() -> Self {
        Self::with(Manner::Known)
    }

    /// Starts a server that answers in a manner.
    pub(super) fn with(manner: Manner) -> Self {
        // The port has to be free for both protocols.
        let (datagrams, connections) = std::iter::repeat_with(|| {
            let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
            let connections = TcpListener::bind(datagrams.local_addr().expect("an address"));
            (datagrams, connections)
        })
        .find_map(|(datagrams, connections)| Some((datagrams, connections.ok()?)))
        .expect("a port");
        let address = datagrams.local_addr().expect("an address").to_string();
        datagrams.set_read_timeout(Some(Duration::from_millis(20))).expect("a limit");
        let ended = Arc::<AtomicBool>::default();
        let (of_datagrams, of_connections) = (Arc::clone(&ended), Arc::clone(&ended));
        let by_datagrams = std::thread::spawn(move || {
            let mut question = [0; 512];
            while !of_datagrams.load(Ordering::Relaxed) {
                let Ok((length, from)) = datagrams.recv_from(&mut question) else { continue };
                let send = |bytes: &[u8]| drop(datagrams.send_to(bytes, from));
                let whole = respond(&question[..length], 0);
                match manner {
                    Manner::Known => send(&whole),
                    Manner::Silent => {}
                    Manner::Code(code) => send(&respond(&question[..length], code)),
                    Manner::Flood | Manner::Late => {
                        for number in 0..50_u8 {
                            let mut other = whole.clone();
                            other[0] ^= 0xff;
                            other.truncate(usize::from(number));
                            send(&other);
                        }
                        if manner == Manner::Late {
                            send(&whole);
                        }
                    }
                    Manner::Long => {
                        let mut head = question[..length].to_vec();
                        head[2] = 0x83;
                        send(&head);
                    }
                    Manner::Cut => send(&whole[..whole.len() - 2]),
                }
            }
        });
        let by_connections = std::thread::spawn(move || {
            for stream in connections.incoming() {
                if of_connections.load(Ordering::Relaxed) {
                    break;
                }
                let Ok(mut stream) = stream else { continue };
                let mut length = [0; 2];
                if stream.read_exact(&mut length).is_err() {
                    continue;
                }
                let mut question = vec![0; u16::from_be_bytes(length).into()];
                if stream.read_exact(&mut question).is_ok() {
                    let whole = respond(&question, 0);
                    let length = u16::try_from(whole.len()).expect("a short answer").to_be_bytes();
                    drop(stream.write_all(&[&length, &*whole].concat()));
                }
            }
        });
        Self { address, ended, threads: vec![by_datagrams, by_connections] }
    }

    /// Returns address and port.
    pub(super) fn address(&self) -> String {
        self.address.clone()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread.
        drop(std::net::TcpStream::connect(&self.address));
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

/// Answers a question.
fn respond(question: &[u8], code: u8) -> Vec<u8> {
    let mut name = Vec::new();
    let mut at = 12;
    while let Some(length) = question.get(at).map(|length| usize::from(*length)).filter(|length| *length > 0)
    {
        name.push(String::from_utf8_lossy(&question[at + 1..at + 1 + length]).into_owned());
        at += 1 + length;
    }
    let kind = u16::from_be_bytes([question[at + 1], question[at + 2]]);
    let records = records(&name.join("."), kind);
    let mut answer = question.to_vec();
    answer[2] = 0x81;
    answer[3] = if code != 0 {
        code
    } else if records.is_none() {
        0x83
    } else {
        0x80
    };
    let records = records.filter(|_| code == 0).unwrap_or_default();
    answer[7] = u8::try_from(records.len()).expect("few records");
    for data in records {
        answer.extend([0xc0, 12]);
        answer.extend(kind.to_be_bytes());
        answer.extend([0, 1, 0, 0, 0, 60]);
        answer.extend(u16::try_from(data.len()).expect("short data").to_be_bytes());
        answer.extend(data);
    }
    answer
}

/// Records of a name; `None` if the server does not know the name.
fn records(name: &str, kind: u16) -> Option<Vec<Vec<u8>>> {
    const WWW: &[u8] = b"\x03www\x07example\x04test\0";
    let of_kind = |number: u16, data: &[u8]| if number == kind { vec![data.to_vec()] } else { Vec::new() };
    Some(match (name, kind) {
        ("www.example.test", 28) => of_kind(28, &[&[0x20, 1, 0xd, 0xb8][..], &[0; 10], &[0, 0x80]].concat()),
        ("www.example.test", _) => of_kind(1, &[192, 0, 2, 80]),
        ("alias.example.test", _) => of_kind(5, WWW),
        ("example.test", 16) => of_kind(16, b"\x0bv=spf1 -all"),
        ("example.test", _) => of_kind(15, b"\0\x0a\x04mail\x07example\x04test\0"),
        ("80.2.0.192.in-addr.arpa", _) => of_kind(12, WWW),
        ("_http._tcp.example.test", _) => of_kind(33, &[&[0, 1, 0, 2, 0, 80][..], WWW].concat()),
        _ => return None,
    })
}
