//! Metadata services of clouds, by every spelling of their addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Maximum number of addresses that a pattern of an address stands for.
const MAX_ADDRESSES: usize = 512;

const NAMES: [&str; 8] = [
    "metadata.google.internal",
    "metadata",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
];
const ADDRESSES: [[u8; 4]; 8] = [
    [169, 254, 169, 254],
    [169, 254, 170, 2],
    [169, 254, 170, 23],
    [169, 254, 169, 253],
    [169, 254, 0, 23],
    [100, 100, 100, 200],
    [192, 0, 0, 192],
    [168, 63, 129, 16],
];
const ADDRESSES_6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// Returns `true` for an address, or the name of a machine, that leads to a metadata service.
pub(super) fn is_metadata(text: &str) -> bool {
    let mut decoded = super::paths::decode_percent(text);
    decoded = decoded.chars().map(plain).collect();
    expand(&decoded).iter().any(|address| {
        // `http:host` and `http:/host` as curl reads them.
        let behind = address.split_once(':').map_or("", |(_, rest)| rest);
        is_host(&host_of(address)) || is_host(&host_of(behind)) || !address.contains('/') && is_host(address)
    })
}

/// Returns the host of an address: `http://user@host:80/path`, `host/path`.
pub(super) fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = if host.starts_with('[') {
        host.split(']').next().unwrap_or_default().trim_start_matches('[')
    } else if host.matches(':').count() > 1 {
        // An IPv6 address without brackets.
        host
    } else {
        host.split(':').next().unwrap_or_default()
    };
    host.to_ascii_lowercase()
}

fn is_host(host: &str) -> bool {
    // A zone, as in `fe80::1%eth0`.
    let host = host.split('%').next().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
    if NAMES.contains(&host) || host.contains("169.254.169.254") || host.contains("169-254-169-254") {
        return true;
    }
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return ADDRESSES_6.contains(&address)
            || embedded(address).is_some_and(|address| ADDRESSES.contains(&address.octets()));
    }
    ipv4(host).is_some_and(|address| ADDRESSES.contains(&address.octets()))
}

/// Returns the IPv4 address within an IPv6 address: mapped, compatible, of NAT64 or of 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, .., high, low]
        | [0x2002, high, low, ..] => Some(of(high, low)),
        _ => None,
    }
}

/// Reads an IPv4 address as the C library does: `0xa9fea9fe`, `2852039166`, `0251.254.169.254`, `169.254.43518`.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = host.split('.').collect();
    let number = |part: &str| -> Option<u32> {
        if let Some(hexadecimal) = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            return u32::from_str_radix(hexadecimal, 16).ok();
        }
        if part.len() > 1 && part.starts_with('0') {
            return u32::from_str_radix(part, 8).ok();
        }
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let (last, first) = parts.split_last()?;
    if first.len() > 3 {
        return None;
    }
    let mut value: u32 = 0;
    for (position, part) in first.iter().enumerate() {
        let byte = number(part).filter(|byte| *byte < 256)?;
        value |= byte << (24 - 8 * position);
    }
    Some(Ipv4Addr::from(value | number(last)?))
}

/// Returns a character as a resolver of international names reads it: digits and points of other alphabets.
fn plain(character: char) -> char {
    const DIGITS: [(u32, u32); 6] =
        [(0xff10, 10), (0x1d7ce, 10), (0x1d7d8, 10), (0x1d7e2, 10), (0x1d7ec, 10), (0x2080, 10)];
    let code = u32::from(character);
    let digit = |value: u32| char::from_digit(value, 10).unwrap_or(character);
    if let Some((start, _)) = DIGITS.iter().find(|(start, count)| (*start..start + count).contains(&code)) {
        return digit(code - start);
    }
    match character {
        '\u{2460}'..='\u{2468}' => digit(code - 0x2460 + 1),
        '\u{24ea}' | '\u{2070}' => '0',
        '\u{b9}' => '1',
        '\u{b2}' | '\u{b3}' => digit(code - 0xb0),
        '\u{2074}'..='\u{2079}' => digit(code - 0x2070),
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => '.',
        '\u{ff21}'..='\u{ff3a}' => char::from_u32(code - 0xff21 + 0x41).unwrap_or(character),
        '\u{ff41}'..='\u{ff5a}' => char::from_u32(code - 0xff41 + 0x61).unwrap_or(character),
        _ => character,
    }
}

/// Expands patterns of curl: `{a,b}`, `[1-5]`, `[a-c]`.
fn expand(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[']) {
        let close = if rest.as_bytes().get(start) == Some(&b'{') { '}' } else { ']' };
        let (before, behind) = rest.split_at(start);
        let Some(end) = behind.find(close) else { break };
        let inner = behind.get(1..end).unwrap_or_default();
        let parts: Vec<String> = if close == '}' {
            inner.split(',').map(ToOwned::to_owned).collect()
        } else {
            match range(inner) {
                Some(parts) => parts,
                // `[::1]`
                None => vec![format!("[{inner}]")],
            }
        };
        let longer =
            all.iter().flat_map(|start| parts.iter().map(move |part| format!("{start}{before}{part}")));
        all = longer.take(MAX_ADDRESSES).collect();
        rest = behind.get(end + 1..).unwrap_or_default();
    }
    all.iter().map(|start| format!("{start}{rest}")).collect()
}

fn range(text: &str) -> Option<Vec<String>> {
    let (first, last) = text.split_once('-')?;
    let last = last.split(':').next().unwrap_or_default();
    if let (Ok(from), Ok(to)) = (first.parse::<u32>(), last.parse::<u32>()) {
        return Some((from..=to).take(MAX_ADDRESSES).map(|number| number.to_string()).collect());
    }
    let (mut from, mut to) = (first.chars(), last.chars());
    match (from.next(), from.next(), to.next(), to.next()) {
        (Some(from), None, Some(to), None) => Some((from..=to).map(String::from).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_services_are_known_by_every_spelling() {
        for host in [
            "169.254.169.254",
            "http://169.254.169.254/latest",
            "2852039166",
            "0xa9fea9fe",
            "0XA9.0xFE.0xA9.0xFE",
            "0251.0376.0251.0376",
            "169.254.43518",
            "169.16689662",
            "[::ffff:169.254.169.254]:80",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
            "http://[::169.254.169.254]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://[fd00:ec2::254%25eth0]/",
            "http://[fd00:0ec2:0:0:0:0:0:254]:80/x",
            "http://user@Metadata.Google.Internal:80/",
            "http://user:pass@169.254.169.254/",
            "fd00:ec2::254",
            "169.254.169.254.nip.io",
            "169-254-169-254.sslip.io",
            "metadata.google.internal.",
            "169.254.169.254.",
            "http:169.254.169.254/latest",
            "http:/169.254.169.254/latest",
            "http://169.254.169.%32%35%34/",
            "http://%6detadata.google.internal/",
            "http://169.254.169.{254}/",
            "http://169.254.169.[250-255]/",
            "http://{a,169.254.169.254}/",
            "http://169.254.169.25[4-4]/",
            "http://169。254。169。254/",
            "http://１６９.254.169.２５４/",
            "http://①⑥⑨.254.169.254/",
            "HTTP://169.254.169.254",
            "http:\\\\169.254.169.254/",
            "169.254.169.254:80",
            "http://169.254.169.254#@x.example/",
        ] {
            assert!(is_metadata(host), "{host}");
        }
        for host in [
            "x.example",
            "169.254.1.1",
            "http://x.example/169.254.169.254",
            "",
            "1",
            "http://169.254.169.254@x.example/",
            "http://[::1]/",
            "http://[2001:db8::1]:80/",
            "http://x.example/[1-3].txt",
            "http://metadata.x.example/",
            "localhost:8080",
        ] {
            assert!(!is_metadata(host), "{host}");
        }
    }
}
