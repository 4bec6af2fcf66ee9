//! Texts that probably hold a secret, though nobody marked it: keys, hashes of passwords, tokens, credentials.

/// Beginnings of hashes of passwords.
const HASHES: [&str; 12] =
    ["$1$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2", "{SSHA}"];
/// Minimum number of characters behind the beginning of a hash.
const MIN_HASH: usize = 8;

/// Beginnings of tokens of known services.
const TOKENS: [&str; 16] = [
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "glrt-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "sk_live_",
    "rk_live_",
    "hvs.",
    "eyJhbGciOi",
];
/// Minimum number of characters behind the beginning of a token.
const MIN_TOKEN: usize = 12;

/// Parts of names whose values are secrets.
const NAMES: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "access-key",
    "private_key",
    "credential",
    "presharedkey",
    "requirepass",
    "masterauth",
];

/// Ends of names whose values are places or settings of secrets, and no secrets.
const HARMLESS_ENDS: [&str; 10] =
    ["file", "path", "dir", "directory", "authentication", "length", "lifetime", "timeout", "age", "url"];

/// Words that are the value of a setting about secrets, or a part of a file that only has such a name in it.
const HARMLESS_VALUES: [&str; 28] = [
    "yes",
    "no",
    "on",
    "off",
    "true",
    "false",
    "none",
    "null",
    "never",
    "always",
    "ask",
    "prompt",
    "required",
    "requisite",
    "sufficient",
    "optional",
    "include",
    "substack",
    "files",
    "compat",
    "systemd",
    "sss",
    "db",
    "ldap",
    "winbind",
    "nis",
    "prohibit-password",
    "without-password",
];

/// Returns `true` if a text probably holds a secret: a private key, the hash of a password, a token of a known service, a
/// password in a URL, or a value whose name says so.
pub fn is_probably_secret(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    text.contains("PRIVATE KEY-----")
        || text.contains("PRIVATE KEY BLOCK-----")
        || text.contains("AGE-SECRET-KEY-")
        // A key as JSON has its private part as `d`.
        || text.contains("\"kty\"") && text.contains("\"d\"")
        || begins_one(&text, &HASHES, MIN_HASH)
        || begins_one(&text, &TOKENS, MIN_TOKEN)
        || text.match_indices("://").any(|(at, mark)| has_password(&text[at + mark.len()..]))
        || text.lines().filter(|line| !is_comment(line)).any(|line| gives_secret(line) || gives_login(line))
}

/// Returns `true` if one of the beginnings is followed by enough characters of a hash or a token.
fn begins_one(text: &str, beginnings: &[&str], min: usize) -> bool {
    let is_part = |part: char| part.is_ascii_alphanumeric() || "./$_-+=,".contains(part);
    beginnings.iter().any(|beginning| {
        let mut found = text.match_indices(beginning);
        found.any(|(at, _)| {
            text[at + beginning.len()..].chars().take_while(|part| is_part(*part)).count() >= min
        })
    })
}

/// Returns `true` if the rest of a URL begins with a user and a password.
fn has_password(rest: &str) -> bool {
    let end = rest.find(|part: char| part.is_whitespace() || "/?#\"'<>".contains(part)).unwrap_or(rest.len());
    let login = rest[..end].rsplit_once('@').map(|(login, _)| login);
    login.and_then(|login| login.split_once(':')).is_some_and(|(_, password)| !is_placeholder(password))
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    ["#", ";", "//"].iter().any(|mark| line.starts_with(mark))
}

/// Returns `true` if a line gives a value to a name that stands for a secret.
fn gives_secret(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let end = at + name.len();
            let of_name = |part: char| part.is_ascii_alphanumeric() || "_-.".contains(part);
            let name_end =
                lower[end..].find(|part| !of_name(part)).map_or(lower.len(), |length| end + length);
            let begin = lower[..at].rfind(|part| !of_name(part)).map_or(0, |before| before + 1);
            let is_harmless = HARMLESS_ENDS.iter().any(|ending| lower[end..name_end].ends_with(ending));
            // A word behind a blank is a value if the name is an option, or all that the line begins with.
            let takes_blank = lower[begin..].starts_with("--")
                || lower[..begin].trim().is_empty() && end == name_end
                || lower[begin..name_end] == **name;
            !is_harmless
                && value_behind(&line[name_end..], takes_blank).is_some_and(|value| !is_placeholder(value))
        })
    })
}

/// Returns the value behind a name.
fn value_behind(rest: &str, takes_blank: bool) -> Option<&str> {
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
    let trimmed = rest.trim_start();
    let value = match trimmed.strip_prefix(['=', ':']) {
        Some(value) => value.strip_prefix(['>', '=']).unwrap_or(value).trim_start(),
        None if takes_blank && trimmed.len() < rest.len() => trimmed,
        None => return None,
    };
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    let end = value.find(|part: char| part.is_whitespace() || "\"',;".contains(part)).unwrap_or(value.len());
    Some(&value[..end]).filter(|value| !value.is_empty())
}

/// Returns `true` for a word that is no secret: a path, a variable, or a word of a setting.
fn is_placeholder(value: &str) -> bool {
    value.is_empty()
        || value.starts_with(['/', '$', '%', '<', '[', '{', '(', '-', '*', '~'])
        || HARMLESS_VALUES.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.starts_with("pam_")
}

/// Returns `true` if a command gives a login to curl or wget.
fn gives_login(line: &str) -> bool {
    let mut words = line.split_whitespace();
    std::iter::from_fn(|| words.by_ref().find(|word| matches!(*word, "-u" | "--user")).map(|_| words.next()))
        .flatten()
        .any(|login| {
            login.split_once(':').is_some_and(|(user, password)| {
                !user.is_empty() && !user.contains('/') && !is_placeholder(password)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::is_probably_secret;

    #[test]
    fn secrets_are_found() {
        for text in [
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb\n",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "ada:$6$abcdefgh$0123456789:19000:",
            "admin:$apr1$8xPe/Xy1$0123456789abcdef",
            "https://ada:hunter2@example.com/repo",
            "deb [arch=amd64] https://ada:hunter2@example.com/ stable main",
            "password=hunter2",
            "PASSWORD=hunter2 backup",
            "export DB_PASSWORD='hunter2'",
            "  db_password: hunter2",
            "{\"token\": \"hunter2abc\"}",
            "backup --password hunter2 --all",
            "backup --api-key=hunter2",
            "machine example.com login ada password hunter2",
            "curl -u ada:hunter2 https://example.com/",
            "Authorization: Bearer ghp_0123456789abcdef",
            "PresharedKey = q8w7e6r5t4",
            "aws_secret_access_key = wJalrXUtnFEMI",
            "x = AKIAIOSFODNN7EXAMPLE",
            "{\"crv\": \"P-256\", \"d\": \"abc\", \"kty\": \"EC\"}",
        ] {
            assert!(is_probably_secret(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn settings_about_secrets_are_none() {
        for text in [
            "",
            "PasswordAuthentication no",
            "PermitRootLogin prohibit-password",
            "passwd:         files systemd",
            "password\t[success=1 default=ignore]\tpam_unix.so obscure",
            "password   requisite   pam_deny.so",
            "# password = example",
            "ssl_password_file /etc/nginx/pass",
            "PASSWORD=$SECRET",
            "password={{ lookup('data', 'x') }}",
            "https://example.com/a@b:c",
            "ssh://git@example.com/repo",
            "tokens per second",
            "-----BEGIN CERTIFICATE-----",
            "net.ipv4.tcp_syncookies = 1",
            "rsync -u src:/a dst",
        ] {
            assert!(!is_probably_secret(text.as_bytes()), "{text}");
        }
    }
}
