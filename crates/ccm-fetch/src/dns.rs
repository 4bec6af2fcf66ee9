//! Questions to one name server (RFC 1035), without the configuration of the machine.

mod message;

use std::io;
use std::net::{IpAddr, SocketAddr};

use ccm_host::{NameLookupError, random};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};

use crate::names::resolve_name;
use message::{Question, Reply};

/// Port of name servers.
const PORT: u16 = 53;

/// Type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsRecord {
    /// IPv4 address.
    A,
    /// IPv6 address.
    Aaaa,
    /// Authority for certificates: flags, tag and value.
    Caa,
    /// Canonical name.
    Cname,
    /// Mail exchanger: preference and name.
    Mx,
    /// Name server.
    Ns,
    /// Name of an address, which is asked for by the address itself.
    Ptr,
    /// Service: priority, weight, port and name.
    Srv,
    /// Texts.
    Txt,
}

/// Reason why nothing is known about a name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DnsError {
    /// The name can't be asked for.
    #[error("`{}` is no name that a name server can be asked for", .0.escape_debug())]
    Name(String),
    /// The server is not written as an address or a name, with or without a port.
    #[error("`{}` is no name server", .0.escape_debug())]
    Server(String),
    /// The server has no address.
    #[error("the name server {server} has no address")]
    Lookup {
        /// The server.
        server: String,
        /// Reason.
        source: NameLookupError,
    },
    /// The server can't be reached.
    #[error("the name server {server} can't be reached")]
    Connection {
        /// The server.
        server: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// The server refuses to answer, or failed.
    #[error("the name server {server} answered {code}")]
    Refused {
        /// The server.
        server: SocketAddr,
        /// Word for the code of the answer, or its number.
        code: String,
    },
    /// The answer breaks the rules of the protocol.
    #[error("the answer of the name server {server} can't be understood")]
    Answer {
        /// The server.
        server: SocketAddr,
    },
}

/// Asks a name server for the records of a name, and returns each as text; none if the name has no record of the type.
///
/// The caller limits the time: a server may stay silent. Datagrams that are no answer to the question are passed over.
pub async fn ask_name_server(server: &str, name: &str, record: DnsRecord) -> Result<Vec<String>, DnsError> {
    let address = server_address(server).await?;
    let id = u16::try_from(random() & 0xffff).unwrap_or_default();
    let question = Question::new(id, name, record).ok_or_else(|| DnsError::Name(name.to_owned()))?;
    let unreachable = |source| DnsError::Connection { server: address, source };
    let reply = match ask_by_udp(address, &question).await.map_err(unreachable)? {
        Reply::Truncated => ask_by_tcp(address, &question).await.map_err(unreachable)?,
        reply => reply,
    };
    match reply {
        Reply::Records(records) => Ok(records),
        Reply::Refused(code) => Err(DnsError::Refused { server: address, code }),
        Reply::Truncated | Reply::Malformed | Reply::Other => Err(DnsError::Answer { server: address }),
    }
}

async fn ask_by_udp(server: SocketAddr, question: &Question) -> io::Result<Reply> {
    let any = if server.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).await?;
    // Of other addresses, nothing is received.
    socket.connect(server).await?;
    socket.send(question.bytes()).await?;
    let mut answer = vec![0; usize::from(u16::MAX)];
    loop {
        let length = socket.recv(&mut answer).await?;
        match question.read(&answer[..length]) {
            Reply::Other => {}
            reply => return Ok(reply),
        }
    }
}

async fn ask_by_tcp(server: SocketAddr, question: &Question) -> io::Result<Reply> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.bytes().len()).unwrap_or_default();
    stream.write_all(&length.to_be_bytes()).await?;
    stream.write_all(question.bytes()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    Ok(question.read(&answer))
}

/// Returns the address of a server, which is written with or without a port.
async fn server_address(server: &str) -> Result<SocketAddr, DnsError> {
    if let Ok(address) = server.parse() {
        return Ok(address);
    }
    if let Ok(address) = server.trim_start_matches('[').trim_end_matches(']').parse() {
        return Ok(SocketAddr::new(address, PORT));
    }
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()),
        None => (server, Some(PORT)),
    };
    let is_host = |host: &str| !host.is_empty() && !host.contains([':', '/', ' ', '[', ']']);
    let port = port.filter(|_| is_host(host)).ok_or_else(|| DnsError::Server(server.to_owned()))?;
    let failed = |source| DnsError::Lookup { server: server.to_owned(), source };
    let addresses = resolve_name(host).await.map_err(failed)?;
    let first = addresses.first().ok_or_else(|| failed(NameLookupError::Unknown))?;
    Ok(SocketAddr::new(*first, port))
}
