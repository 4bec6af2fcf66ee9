//! Keys of hosts as `known_hosts` lists them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;

use crate::recipient::Recipient;

/// Lines of a file `known_hosts` of OpenSSH that have an Ed25519 key. Lines with a marker, such as `@revoked`, are left out.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts(Vec<KnownHost>);

#[derive(Clone, Debug)]
struct KnownHost {
    names: Names,
    recipient: Recipient,
}

#[derive(Clone, Debug)]
enum Names {
    /// Names, patterns, and those that a `!` takes out.
    Written(Vec<String>),
    /// Salt and hash of one name.
    Hashed(Vec<u8>, Vec<u8>),
}

impl KnownHosts {
    /// Reads the lines of a file. Others than those with an Ed25519 key are left out.
    pub fn read(text: &str) -> Self {
        Self(text.lines().filter_map(KnownHost::read).collect())
    }

    /// Adds the lines of another file.
    pub fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns the keys of a host: its name or address, as `ssh` is given it.
    pub fn of_host(&self, host: &str) -> Vec<Recipient> {
        let known = self.0.iter().filter(|known| known.names.include(host));
        let mut keys: Vec<Recipient> = Vec::new();
        for known in known {
            if !keys.contains(&known.recipient) {
                keys.push(known.recipient.clone());
            }
        }
        keys
    }

    /// Returns the keys whose names are not hashed, each with its first name.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Recipient)> {
        self.0.iter().filter_map(|known| match &known.names {
            Names::Written(names) => Some((names.first()?.as_str(), &known.recipient)),
            Names::Hashed(..) => None,
        })
    }
}

impl KnownHost {
    fn read(line: &str) -> Option<Self> {
        let (names, key) = line.trim().split_once([' ', '\t'])?;
        if names.starts_with(['#', '@']) {
            return None;
        }
        let names = match names.strip_prefix("|1|") {
            Some(hashed) => {
                let (salt, hash) = hashed.split_once('|')?;
                Names::Hashed(BASE64_STANDARD.decode(salt).ok()?, BASE64_STANDARD.decode(hash).ok()?)
            }
            None => Names::Written(names.split(',').map(str::to_owned).collect()),
        };
        Some(Self { names, recipient: Recipient::parse(key).ok()? })
    }
}

impl Names {
    fn include(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        match self {
            Self::Written(names) => {
                let is_taken_out =
                    names.iter().filter_map(|name| name.strip_prefix('!')).any(|name| matches(name, &host));
                !is_taken_out && names.iter().any(|name| matches(name, &host))
            }
            Self::Hashed(salt, hash) => {
                let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, salt);
                hmac::verify(&key, host.as_bytes(), hash).is_ok()
            }
        }
    }
}

/// Returns `true` if a name with `*` and `?` matches a host. The work is bounded by the product of their lengths.
fn matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let (pattern, host) = (pattern.as_bytes(), host.as_bytes());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < host.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == host[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((star_at, star_from)) = star else { return false };
                star = Some((star_at, star_from + 1));
                at = star_at + 1;
                from = star_from + 1;
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
    const OTHER: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPTkvpah4oiT0AWHXyeWCFbhdUZhcdAcGvCk3dP98/5V";

    #[test]
    fn hosts_are_found_as_ssh_finds_them() {
        let text = format!(
            "# comment\n\nweb1,10.0.0.1 {ONE} comment\n*.example.net,!db.example.net {OTHER}\n[web2]:2222 {ONE}\n\
             @revoked web1 {OTHER}\n@cert-authority * {OTHER}\nweb3 ssh-rsa AAAA\nweb3\n"
        );
        let known = KnownHosts::read(&text);
        for (host, keys) in [
            ("web1", vec![ONE]),
            ("WEB1", vec![ONE]),
            ("10.0.0.1", vec![ONE]),
            ("a.example.net", vec![OTHER]),
            ("db.example.net", vec![]),
            ("example.net", vec![]),
            ("[web2]:2222", vec![ONE]),
            ("web2", vec![]),
            ("web3", vec![]),
            ("", vec![]),
        ] {
            let found = known.of_host(host);
            assert_eq!(found.iter().map(Recipient::line).collect::<Vec<_>>(), keys, "{host}");
        }
        assert_eq!(known.named().next().map(|(name, _)| name), Some("web1"));
    }

    #[test]
    fn hashed_names_are_compared() {
        let salt = BASE64_STANDARD.encode(b"01234567890123456789");
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"01234567890123456789");
        let hash = BASE64_STANDARD.encode(hmac::sign(&key, b"web1"));
        let known = KnownHosts::read(&format!("|1|{salt}|{hash} {ONE}\n"));
        assert_eq!(known.of_host("web1").len(), 1);
        assert_eq!(known.of_host("web2").len(), 0);
        assert_eq!(known.named().count(), 0);
    }

    #[test]
    fn patterns_of_many_stars_end_at_once() {
        let pattern = "*a".repeat(2_000);
        assert!(!matches(&pattern, &"a".repeat(1_999)));
        assert!(matches(&pattern, &"a".repeat(2_000)));
    }
}
