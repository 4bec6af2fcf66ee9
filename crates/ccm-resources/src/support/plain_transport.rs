//! Addresses from which everything comes unverified: `http`, `git` and `ftp` to another machine.

/// Schemes without a protection against changes on the way.
const SCHEMES: [&str; 4] = ["http", "git", "ftp", "mirror+http"];

/// Returns the host of an address if everybody on the way to it can change what comes from it.
pub(crate) fn unprotected_host(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    let is_plain = SCHEMES.iter().any(|plain| scheme.eq_ignore_ascii_case(plain));
    let authority = rest.split(['/', '?', '#']).next().filter(|_| is_plain)?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => host.split(':').next()?,
    };
    // What stays on this machine passes nobody.
    let is_here = host.is_empty()
        || host == "::1"
        || host.starts_with("127.")
        || host.eq_ignore_ascii_case("localhost");
    (!is_here).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::unprotected_host;

    #[test]
    fn hosts_behind_a_plain_transport_are_found() {
        for (address, host) in [
            ("http://example.com/a.tgz", Some("example.com")),
            ("HTTP://example.com", Some("example.com")),
            ("http://me:secret@example.com:8080/a", Some("example.com")),
            ("http://[2001:db8::1]:80/a", Some("2001:db8::1")),
            ("git://example.com/a.git", Some("example.com")),
            ("mirror+http://example.com/list", Some("example.com")),
            ("http://localhost.example.com/", Some("localhost.example.com")),
            ("https://example.com/a", None),
            ("ssh://git@example.com/a", None),
            ("git@example.com:a.git", None),
            ("file:///srv/a.git", None),
            ("/srv/a.git", None),
            ("http://127.0.0.1:8000/a", None),
            ("http://localhost/a", None),
            ("http://[::1]/a", None),
        ] {
            assert_eq!(unprotected_host(address), host, "{address}");
        }
    }
}
