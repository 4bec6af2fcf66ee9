//! Facts of this machine.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::SockaddrStorage;
use rustix::fs::{Dir, Mode, OFlags, open, statvfs};
use rustix::system::uname;
use rustix::time::{ClockId, clock_gettime};

use super::{Interface, InterfaceFlag, Kernel, Machine, Space};

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemMachine;

impl Machine for SystemMachine {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.read_start(path, limit.saturating_add(1))?;
        if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    fn read_start(&self, path: &Path, length: u64) -> io::Result<Vec<u8>> {
        // Opening a pipe must not block.
        let flags = OFlags::NONBLOCK.union(OFlags::NOCTTY).bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn link(&self, path: &Path) -> io::Result<PathBuf> {
        path.read_link()
    }

    fn processes(&self) -> io::Result<u64> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut count = 0;
        for entry in Dir::new(open("/proc", flags, Mode::empty())?)? {
            if entry?.file_name().to_bytes().iter().all(u8::is_ascii_digit) {
                count += 1;
            }
        }
        Ok(count)
    }

    fn kernel(&self) -> Kernel {
        let names = uname();
        Kernel {
            hostname: names.nodename().to_string_lossy().into_owned(),
            release: names.release().to_string_lossy().into_owned(),
            architecture: names.machine().to_string_lossy().into_owned(),
        }
    }

    fn since_boot(&self) -> Duration {
        Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default()
    }

    fn page_size(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        let found = statvfs(path)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Ok(Space {
            total: bytes(found.f_blocks),
            free: bytes(found.f_bfree),
            available: bytes(found.f_bavail),
            inodes: found.f_files,
            inodes_free: found.f_ffree,
        })
    }

    fn interfaces(&self) -> io::Result<Vec<Interface>> {
        let mut interfaces: Vec<Interface> = Vec::new();
        let mut positions = HashMap::new();
        for entry in getifaddrs()? {
            let name = entry.interface_name;
            let position = *positions.entry(name).or_insert_with_key(|name| {
                let (name, flags) = (name.clone(), flags(entry.flags));
                interfaces.push(Interface { name, flags, ..Interface::default() });
                interfaces.len() - 1
            });
            let interface = &mut interfaces[position];
            let Some(address) = entry.address else { continue };
            if let Some(link) = address.as_link_addr() {
                interface.index = link.ifindex() as u64;
                interface.hardware = link.addr().filter(|bytes| *bytes != [0; 6]);
            } else if let Some(ip) = ip(&address) {
                interface.addresses.push((ip, entry.netmask.as_ref().map_or(0, prefix)));
            }
        }
        Ok(interfaces)
    }
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
}

/// Returns the number of bits of a mask; 0 for a mask without an address family, which some libraries return.
fn prefix(mask: &SockaddrStorage) -> u8 {
    let ones = match ip(mask) {
        Some(IpAddr::V4(mask)) => mask.to_bits().count_ones(),
        Some(IpAddr::V6(mask)) => mask.to_bits().count_ones(),
        None => 0,
    };
    u8::try_from(ones).unwrap_or_default()
}

fn flags(flags: InterfaceFlags) -> Vec<InterfaceFlag> {
    let all = [
        (InterfaceFlags::IFF_UP, InterfaceFlag::Up),
        (InterfaceFlags::IFF_BROADCAST, InterfaceFlag::Broadcast),
        (InterfaceFlags::IFF_LOOPBACK, InterfaceFlag::Loopback),
        (InterfaceFlags::IFF_POINTOPOINT, InterfaceFlag::PointToPoint),
        (InterfaceFlags::IFF_MULTICAST, InterfaceFlag::Multicast),
    ];
    all.into_iter().filter(|(bit, _)| flags.contains(*bit)).map(|(_, flag)| flag).collect()
}

#[cfg(test)]
mod tests {
    use ccm_testkit::Scratch;

    use super::*;

    #[test]
    fn reads_are_bounded() {
        let scratch = Scratch::new();
        let path = scratch.write("text", "12345");
        assert_eq!(SystemMachine.read(&path, 5).expect("it fits"), b"12345");
        assert_eq!(SystemMachine.read_start(&path, 3).expect("the start"), b"123");
        let error = SystemMachine.read(&path, 4).expect_err("it is too long");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        // The kernel reports length 0 for its files, and this file has no end.
        let error = SystemMachine.read(Path::new("/dev/zero"), 4096).expect_err("it has no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn pipe_does_not_block() {
        let scratch = Scratch::new();
        let pipe = scratch.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        assert_eq!(SystemMachine.read(&pipe, 10).expect("nothing is in it"), b"");
    }

    #[test]
    fn loopback_interface_is_as_in_sysfs() {
        let interfaces = SystemMachine.interfaces().expect("the interfaces");
        for interface in &interfaces {
            let shown = Path::new("/sys/class/net").join(&interface.name).join("ifindex");
            if let Ok(index) = SystemMachine.read(&shown, 100) {
                assert_eq!(String::from_utf8_lossy(&index).trim(), interface.index.to_string());
            }
        }
        let Some(loopback) = interfaces.iter().find(|interface| interface.name == "lo") else { return };
        assert!(loopback.flags.contains(&InterfaceFlag::Loopback), "{loopback:?}");
        assert_eq!(loopback.hardware, None);
        let up = loopback.flags.contains(&InterfaceFlag::Up);
        let address = (IpAddr::from([127, 0, 0, 1]), 8);
        assert!(!up || loopback.addresses.contains(&address), "{loopback:?}");
    }

    #[test]
    fn space_of_the_root_file_system_adds_up() {
        let space = SystemMachine.space(Path::new("/")).expect("the space");
        assert!(space.total >= space.free && space.free >= space.available, "{space:?}");
        assert!(SystemMachine.processes().expect("the processes") > 0);
        assert!(SystemMachine.space(Path::new("/proc/no such place")).is_err());
    }
}
