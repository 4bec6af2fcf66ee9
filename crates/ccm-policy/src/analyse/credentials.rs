//! Keys, passwords and other credentials, by their paths.

use ccm_model::{Wildcard, Wildcards};
use ccm_shell::{ShellWord, WordPiece, join_path};

use super::paths::{home_part, is_within};

/// Keys with which ccm signs audit records and approvals, below the directory of its state.
const OWN_KEYS: [&str; 4] =
    ["/ccm/audit/key", "/ccm/audit/key.next", "/ccm/approvals/key", "/ccm/approvals/salt"];

pub(super) fn is_own_key(path: &str) -> bool {
    OWN_KEYS.iter().any(|key| path.ends_with(key)) || is_within(path, "/etc/ccm/secrets")
}

/// Files with credentials.
const SECRET_FILES: [&str; 14] = [
    "/var/lib/ccm/audit/key",
    "/var/lib/ccm/audit/key.next",
    "/var/lib/ccm/approvals/key",
    "/var/lib/ccm/approvals/salt",
    "/etc/ccm/secrets",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/sudoers",
    "/etc/security/opasswd",
    "/etc/master.passwd",
    "/etc/ppp/chap-secrets",
];

/// Directories with credentials.
const SECRET_DIRECTORIES: [&str; 13] = [
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/run/secrets",
    "/var/run/secrets",
    "/run/credentials",
    "/var/run/credentials",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/etc/credstore",
    "/etc/credstore.encrypted",
    "/etc/letsencrypt/keys",
    "/etc/letsencrypt/accounts",
    "/etc/NetworkManager/system-connections",
];

/// Files of which copies lie beside them, or in `/var/backups`.
const BACKED_UP: [&str; 3] = ["shadow", "gshadow", "opasswd"];

/// Other files with credentials. `*` is any name.
const PLACES: [&str; 6] = [
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/letsencrypt/live/*/privkey.pem",
    "/etc/letsencrypt/archive/*/privkey1.pem",
    "/var/backups/shadow.bak",
    "/proc/*/environ",
];

/// Names of files in directories of credentials.
const NAMES: &str = "\
    authorized_keys config.json credentials credentials.json hosts.yml id_dsa id_ecdsa id_ed25519 id_rsa key key.pem \
    kubeconfig privkey.pem private.key secring.gpg server.key token";

/// Returns a file or directory with credentials that lies below a directory, and whose name one of the patterns may match.
pub(super) fn secret_below(directory: &str, names: Option<&[String]>, home: Option<&str>) -> Option<String> {
    let is_named = |name: &str| {
        names.is_none_or(|patterns| patterns.iter().any(|pattern| may_match_hidden(pattern, name)))
    };
    let files = SECRET_FILES.iter().chain(&PLACES).copied();
    if let Some(file) = files.filter(|path| is_below(directory, path)).find(|path| is_named(name_of(path))) {
        return Some(file.to_owned());
    }
    let holds_named =
        |path: &str| std::iter::once(name_of(path)).chain(NAMES.split_ascii_whitespace()).any(is_named);
    let mut directories = SECRET_DIRECTORIES.iter().copied().filter(|path| is_below(directory, path));
    if let Some(found) = directories.find(|path| holds_named(path)) {
        return Some(found.to_owned());
    }
    // The home directory of whoever it is comes last.
    let written = format!("{directory}/");
    let other = home_part(&written, home)
        .map(|rest| directory.strip_suffix(rest.trim_end_matches('/')).unwrap_or(directory));
    home.into_iter().chain(["/root", "/home/x"]).chain(other).find_map(|home| {
        let home = home.trim_end_matches('/');
        let rest = below_home(directory, home)?;
        let mut secrets =
            SECRETS_IN_HOME.iter().filter(|secret| begins_with(secret.split('/'), parts_of(rest)));
        let secret = secrets.find(|secret| holds_named(secret))?;
        Some(format!("{home}/{secret}"))
    })
}

/// Returns what a directory has below a home directory: nothing if the home directory is this one, or below it.
fn below_home<'d>(directory: &'d str, home: &str) -> Option<&'d str> {
    let mut rest = directory;
    for name in parts_of(home) {
        let trimmed = rest.trim_start_matches('/');
        if trimmed.is_empty() {
            return Some("");
        }
        rest = trimmed.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    }
    Some(rest)
}

/// Returns `true` if a path lies below a directory, or is the directory. `*` in the path is any name.
fn is_below(directory: &str, path: &str) -> bool {
    if !path.contains('*') && !directory.contains("//") {
        return is_within(path, directory);
    }
    begins_with(path.split('/').skip(1), parts_of(directory))
}

fn begins_with<'n>(
    mut names: impl Iterator<Item = &'n str>,
    mut beginning: impl Iterator<Item = &'n str>,
) -> bool {
    beginning.all(|part| names.next().is_some_and(|name| name == part || name == "*"))
}

fn parts_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Files and directories with credentials, in a home directory.
const SECRETS_IN_HOME: [&str; 19] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    ".docker/config.json",
    ".kube",
    ".config/gh",
    ".config/gcloud",
    ".azure",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".pypirc",
    ".npmrc",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".vault-token",
];

/// Returns a file with credentials that a word with a pattern, such as `/etc/sh*w`, may stand for.
pub(super) fn secret_of_pattern(word: &ShellWord, directory: &str, home: Option<&str>) -> Option<String> {
    let mut pattern = String::new();
    for piece in &word.pieces {
        match piece {
            WordPiece::Text { text, .. } => pattern += text,
            WordPiece::Pattern(character) => pattern.push(*character),
            WordPiece::Unknown { .. } => return None,
        }
    }
    let pattern = join_path(directory, &pattern);
    let of_home = home.into_iter().chain(["/root"]).flat_map(|home| {
        SECRETS_IN_HOME.iter().map(move |secret| format!("{}/{secret}", home.trim_end_matches('/')))
    });
    let mut secrets =
        SECRET_FILES.iter().chain(&SECRET_DIRECTORIES).chain(&PLACES).map(ToString::to_string).chain(of_home);
    secrets.find(|secret| {
        let mut parts = pattern.split('/').skip(1);
        // What lies below a directory of credentials is one as well.
        secret
            .split('/')
            .skip(1)
            .all(|name| parts.next().is_some_and(|part| name == "*" || may_match(part, name)))
    })
}

/// Returns `true` for the environment, memory or files of a process that is not known, such as `/proc/$PPID/environ` and
/// `/proc/$$/root/etc/shadow`.
pub(super) fn is_of_any_process(word: &ShellWord) -> bool {
    let text = |piece: &WordPiece| match piece {
        WordPiece::Text { text, .. } => Some(format!("{text}/")),
        _ => None,
    };
    let names = ["/environ/", "/mem/", "/root/", "/cwd/"];
    word.known_prefix().starts_with("/proc/")
        && word.pieces.iter().filter_map(text).any(|text| names.iter().any(|name| text.contains(name)))
}

/// Returns `true` if a pattern of a shell may match a name. A bracket stands for any character.
fn may_match(pattern: &str, name: &str) -> bool {
    (!name.starts_with('.') || pattern.starts_with('.')) && may_match_hidden(pattern, name)
}

/// Returns `true` if a pattern of `find` may match a name, which may begin with a dot.
fn may_match_hidden(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    let next = || {
        Some(match rest.next()? {
            '*' => Wildcard::AnyCharacters,
            '?' => Wildcard::AnyCharacter,
            '[' => {
                let mut behind_first = rest.clone();
                behind_first.next();
                match behind_first.as_str().split_once(']') {
                    Some((_, behind)) => {
                        rest = behind.chars();
                        Wildcard::AnyCharacter
                    }
                    None => Wildcard::Character('['),
                }
            }
            character => Wildcard::Character(character),
        })
    };
    std::iter::from_fn(next).collect::<Wildcards>().matches(name)
}

pub(super) fn is_secret(path: &str, in_home: Option<&str>) -> bool {
    const PUBLIC: [&str; 2] = [".ssh/known_hosts", ".ssh/config"];
    if SECRET_FILES.contains(&path) || SECRET_DIRECTORIES.iter().any(|directory| is_within(path, directory)) {
        return true;
    }
    let is_host_key = path
        .strip_prefix("/etc/ssh/")
        .is_some_and(|name| name.starts_with("ssh_host_") && !is_public_key(name));
    let is_environment = path.starts_with("/proc/") && (path.ends_with("/environ") || path.ends_with("/mem"));
    let in_home = in_home.is_some_and(|path| {
        let is_public = PUBLIC.contains(&path) || path.starts_with(".ssh/") && is_public_key(path);
        !is_public && SECRETS_IN_HOME.iter().any(|secret| is_within(path, secret))
    });
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_backup = BACKED_UP.iter().any(|name| {
        file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '~']))
    });
    let is_backup = is_backup && (is_within(path, "/var/backups") || is_within(path, "/etc"));
    let is_private_key = is_within(path, "/etc/letsencrypt") && file.starts_with("privkey");
    is_host_key || is_environment || is_backup || is_private_key || in_home
}

fn is_public_key(path: &str) -> bool {
    path.strip_suffix(".pub").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_may_match_credentials_are_found() {
        let pattern = |text: &str| {
            let pieces = text.chars().map(|character| match character {
                '*' | '?' | '[' => WordPiece::Pattern(character),
                _ => WordPiece::Text { text: character.to_string(), is_quoted: false },
            });
            ShellWord { pieces: pieces.collect(), span: ccm_shell::ShellSpan::default() }
        };
        let home = Some("/home/agent");
        for text in [
            "/var/lib/ccm/*/key",
            "/var/lib/c?m/audit/*",
            "/etc/sh*w",
            "/e*/shado?",
            "/etc/[s]hadow",
            "/home/*/.ss?/id_rsa",
            "../etc/shad*",
            "/???/shadow",
        ] {
            assert!(secret_of_pattern(&pattern(text), "/w", home).is_some(), "{text}");
        }
        for text in ["/etc/*.conf", "/etc/hos*", "*", "src/*", "/home/agent/*"] {
            assert_eq!(secret_of_pattern(&pattern(text), "/w", home), None, "{text}");
        }
    }

    #[test]
    fn credentials_are_found_below_a_directory() {
        let home = Some("/home/agent");
        let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        for directory in [
            "/",
            "/etc",
            "/home",
            "/home/agent",
            "/home/bob",
            "/root",
            "/var",
            "/var/lib",
            "/proc",
            "/etc/ssl",
            "/etc/letsencrypt/live",
            "/home/agent/.config",
            "/home/bob/.cargo",
            "/run",
            "/var/backups",
        ] {
            assert!(secret_below(directory, None, home).is_some(), "{directory}");
        }
        for directory in
            ["/w", "/srv", "/usr", "/etc/nginx", "/home/agent/src", "/tmp", "/home/bob/x", "/opt"]
        {
            assert_eq!(secret_below(directory, None, home), None, "{directory}");
        }
        for (names, expected) in [
            (&["id_rsa"][..], true),
            (&["*.pem"], true),
            (&["*.log"], false),
            (&["*.conf", "*.key"], true),
            (&["*.rs"], false),
        ] {
            assert_eq!(secret_below("/", Some(&named(names)), home).is_some(), expected, "{names:?}");
        }
    }
}
