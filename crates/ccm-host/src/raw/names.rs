//! Lookup of the addresses of a name.

use std::ffi::{CStr, c_int};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// Returns the addresses of a name in the order of the C library, or the number of its error.
pub(crate) fn addresses_of(name: &CStr) -> Result<Vec<IpAddr>, c_int> {
    // SAFETY: a structure of numbers and pointers, for which zero is a valid value.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    // Without a type of socket, each address comes once for each of them.
    hints.ai_socktype = libc::SOCK_STREAM;
    let mut list = ptr::null_mut();
    // SAFETY: the name is a C string, the hints are initialised, and the list is written on success alone.
    let code = unsafe { libc::getaddrinfo(name.as_ptr(), ptr::null(), &raw const hints, &raw mut list) };
    if code != 0 {
        return Err(code);
    }
    let mut addresses = Vec::new();
    let mut next = list;
    // SAFETY: the list was returned by the call above, and each element leads to the next or to a null pointer.
    while let Some(element) = unsafe { next.as_ref() } {
        match element.ai_family {
            libc::AF_INET => {
                // SAFETY: an element of this family has an address of this type.
                let address = unsafe { element.ai_addr.cast::<libc::sockaddr_in>().read_unaligned() };
                addresses.push(IpAddr::V4(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr))));
            }
            libc::AF_INET6 => {
                // SAFETY: an element of this family has an address of this type.
                let address = unsafe { element.ai_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
                addresses.push(IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)));
            }
            _ => {}
        }
        next = element.ai_next;
    }
    // SAFETY: the list was returned by the call above and is not used again.
    unsafe { libc::freeaddrinfo(list) };
    Ok(addresses)
}

/// Returns the words of the C library for the number of an error of a lookup.
pub(crate) fn lookup_error(code: c_int) -> String {
    // SAFETY: the call returns a C string that is never freed.
    unsafe { CStr::from_ptr(libc::gai_strerror(code)) }.to_string_lossy().into_owned()
}
