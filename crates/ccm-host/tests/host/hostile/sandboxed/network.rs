//! Sockets of every kind, and indirect ways to make one.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener};

use ccm_host::Sandbox;

use super::layers::{in_every_way, landlock_version};
use super::{Place, chain, fail, launched, start_error, succeed};

/// Returns a program that connects to a port of this machine and prints the reply.
fn connect(port: u16) -> String {
    format!(
        "use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die \"socket: $!\"; \
         connect(S, pack_sockaddr_in({port}, INADDR_LOOPBACK)) or die \"connect: $!\"; print 'connected'"
    )
}

#[test]
fn no_socket_without_a_network() {
    launched(async |runner| {
        let place = Place::new();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        assert!(fail(runner, &place.perl(&connect(port))).await.contains("Operation not permitted"));

        // UNIX, IPv4, IPv6, netlink, packets, the kernel's ciphers, the host of a machine (vsock), XDP.
        for family in [1, 2, 10, 16, 17, 38, 40, 44] {
            for kind in [1, 2, 3] {
                let said =
                    fail(runner, &place.perl(&format!("socket(S, {family}, {kind}, 0) or die $!"))).await;
                assert!(said.contains("Operation not permitted"), "{family}: {said}");
            }
        }
        let pair = "use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die $!";
        succeed(runner, &place.perl(pair)).await;
    });
}

#[test]
fn socket_pairs_reach_no_other_socket() {
    in_every_way(async |runner, off| {
        let place = Place::new();
        let heard = UnixDatagram::bind(place.at("outside/open/log")).expect("a socket");
        heard.set_nonblocking(true).expect("it does not wait");
        let read = vec![place.at("outside/open")];
        let sandbox = || Sandbox { read: read.clone(), ..place.sandbox() };
        let to = "use Socket; my $to = pack_sockaddr_un(\"$ENV{OUTSIDE}/open/log\");";
        for kind in ["SOCK_DGRAM", "SOCK_RAW", "SOCK_DGRAM | 02000000 | 04000"] {
            let pair = format!("{to} socketpair(A, B, AF_UNIX, {kind}, 0) or die $!; send(A, 'x', 0, $to)");
            let said = fail(runner, &place.perl_in(sandbox(), &pair)).await;
            assert!(said.contains("Operation not permitted"), "{kind} {off:?}: {said}");
        }
        for kind in ["SOCK_STREAM", "SOCK_SEQPACKET"] {
            let pair = format!("{to} socketpair(A, B, AF_UNIX, {kind}, 0) or die 'no pair';");
            succeed(runner, &place.perl_in(sandbox(), &pair)).await;
            for turned in [
                "connect(A, $to) or die $!",
                "connect(A, pack('S', 0)); connect(A, $to) or die $!",
                "close B; connect(A, $to) or die $!",
                "shutdown(A, 2); connect(A, $to) or die $!",
                "bind(A, pack_sockaddr_un('s')); listen(A, 1) or die $!",
            ] {
                let said = fail(runner, &place.perl_in(sandbox(), &format!("{pair} {turned}"))).await;
                assert!(!said.contains("no pair"), "{turned}: {said}");
            }
            // A message with an address arrives at the other end of the pair, or is lost.
            succeed(runner, &place.perl_in(sandbox(), &format!("{pair} send(A, 'x', 0, $to)"))).await;
        }
        assert_eq!(
            heard.recv(&mut [0; 8]).map_err(|error| error.kind()),
            Err(std::io::ErrorKind::WouldBlock)
        );
    });
}

#[test]
fn io_uring_and_other_call_numbers_are_refused() {
    launched(async |runner| {
        let place = Place::new();
        let unknown = "Function not implemented";
        for (number, arguments) in
            [(425, "8, $b"), (426, "0, 0, 0, 0, 0, 0"), (427, "0, 0, 0, 0"), (435, "0, 0")]
        {
            let call = format!("my $b = ' ' x 200; syscall({number}, {arguments}) == -1 and die $!");
            let said = fail(runner, &place.perl(&call)).await;
            assert!(said.contains(unknown), "{number}: {said}");
        }
        if cfg!(target_arch = "x86_64") {
            // `getpid` and `socket`, with the numbers of the other kind of program.
            for number in [39, 41] {
                let call = format!("syscall(0x40000000 + {number}, 2, 1, 0) == -1 and die $!");
                assert!(fail(runner, &place.perl(&call)).await.contains(unknown));
            }
        }
    });
}

#[test]
fn network_allows_internet_sockets_only() {
    launched(async |runner| {
        let place = Place::new();
        let open = || Sandbox { network: true, ..place.sandbox() };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        assert_eq!(succeed(runner, &place.perl_in(open(), &connect(port))).await, "connected");

        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = udp.local_addr().expect("an address").port();
        let send = format!(
            "use Socket; socket(S, AF_INET, SOCK_DGRAM, 0) or die $!; \
             send(S, 'x', 0, pack_sockaddr_in({port}, INADDR_LOOPBACK)) or die $!"
        );
        succeed(runner, &place.perl_in(open(), &send)).await;
        succeed(runner, &place.perl_in(open(), "socket(S, 16, 3, 0) or die $!")).await;
        // The last is netlink about audits.
        for (family, kind, protocol) in [(1, 1, 0), (17, 3, 0), (38, 5, 0), (40, 1, 0), (16, 3, 9)] {
            let socket = format!("socket(S, {family}, {kind}, {protocol}) or die $!");
            assert!(fail(runner, &place.perl_in(open(), &socket)).await.contains("Operation not permitted"));
        }
    });
}

#[test]
fn unix_sockets_are_private() {
    launched(async |runner| {
        use std::os::linux::net::SocketAddrExt as _;
        let place = Place::new();
        let allowed = |network| Sandbox { unix_sockets: true, network, ..place.sandbox() };
        let _path = UnixListener::bind(place.at("outside/socket")).expect("a socket");
        let name = format!("ccm-test-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).expect("a name");
        let _abstract = UnixListener::bind_addr(&address).expect("a socket");
        let connect = |address: &str| {
            format!(
                "use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die \"socket: $!\"; \
                 connect(S, pack_sockaddr_un({address})) or die \"connect: $!\""
            )
        };
        let newest = landlock_version() >= 6;
        if !newest {
            let error = start_error(runner, &place.shell_in(allowed(true), "true")).await;
            assert!(chain(&error).contains("abstract sockets of the machine can be reached"), "{error}");
        }
        for network in [false, true].into_iter().take(if newest { 2 } else { 1 }) {
            for address in ["\"$ENV{OUTSIDE}/socket\"".to_owned(), format!("\"\\0{name}\"")] {
                let said = fail(runner, &place.perl_in(allowed(network), &connect(&address))).await;
                assert!(said.contains("connect: "), "{said}");
            }
            let own = "use Socket; socket(L, AF_UNIX, SOCK_STREAM, 0) or die $!; unlink 's'; \
                       bind(L, pack_sockaddr_un('s')) or die $!; listen(L, 1) or die $!; \
                       socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un('s')) or die $!";
            succeed(runner, &place.perl_in(allowed(network), own)).await;
        }
    });
}
