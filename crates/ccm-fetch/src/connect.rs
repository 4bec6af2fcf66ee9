//! Connections that are only tried.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::{TcpSocket, UdpSocket};

/// Tries to connect to an address, from a given one. The connection is closed at once.
pub async fn try_tcp(to: SocketAddr, from: Option<IpAddr>) -> io::Result<()> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(from) = from {
        socket.bind(SocketAddr::new(from, 0))?;
    }
    socket.connect(to).await.map(drop)
}

/// Chooses a route to an address, from a given one. Nothing is sent.
pub async fn try_udp(to: SocketAddr, from: Option<IpAddr>) -> io::Result<()> {
    let any = if to.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    let socket = UdpSocket::bind(SocketAddr::new(from.unwrap_or(any), 0)).await?;
    socket.connect(to).await
}
