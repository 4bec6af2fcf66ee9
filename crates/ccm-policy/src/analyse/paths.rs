//! Paths: their meaning for the machine and for the workspace.

use std::sync::Arc;

use ccm_shell::{ShellDirectories, ShellWord, UnknownOrigin, WordPiece, join_path};

use super::{credentials, shell_words};

/// Path of a word, as an absolute path without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WordPath {
    /// The path, or what of it is known; `None` if nothing is.
    pub(super) path: Option<String>,
    /// The path with `..`, if it has any: behind a link, they lead elsewhere.
    pub(super) climbing: Option<String>,
    /// The path continues with text that is not known.
    pub(super) is_partial: bool,
    /// The path continues with a pattern, which stays below the path.
    pub(super) is_pattern: bool,
}

/// Meaning of a path for the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathMeaning {
    /// Device that anybody may use, such as `/dev/null`.
    SafeDevice,
    Disk,
    /// Memory of the kernel.
    Kernel,
    /// Connection of bash, `/dev/tcp/…`.
    Connection,
    Govern,
    /// Key, password or other credential.
    Secret,
    /// File through which something runs later.
    Persist,
    /// File of a repository through which git runs programs.
    Repository,
    System,
    Plain,
}

/// Returns the paths that a word can stand for.
pub(super) fn resolve(word: &ShellWord, directories: &Arc<ShellDirectories>) -> Vec<WordPath> {
    let is_listed =
        |piece: &WordPiece| matches!(piece, WordPiece::Unknown { origin: UnknownOrigin::Listed { .. }, .. });
    if word.pieces.iter().any(is_listed)
        && !shell_words::may_split_names(word)
        && let Some(words) = shell_words::listed_words(word)
    {
        return words.iter().flat_map(|word| resolve_one(word, directories)).collect();
    }
    resolve_one(word, directories)
}

/// Returns the paths of a word without variables of loops.
fn resolve_one(word: &ShellWord, directories: &Arc<ShellDirectories>) -> Vec<WordPath> {
    let mut known = String::new();
    let mut is_partial = false;
    let mut is_pattern = false;
    for (position, piece) in word.pieces.iter().enumerate() {
        match piece {
            WordPiece::Text { text, .. } if !is_partial && !is_pattern => known += text,
            WordPiece::Text { text, .. } => {
                // What follows a pattern may lead back up.
                is_partial |= text.split('/').any(|part| part == "..");
            }
            WordPiece::Pattern(_) => {
                is_pattern = true;
                is_partial |= may_match_parent(&known, word.pieces.get(position..).unwrap_or_default());
            }
            WordPiece::Unknown { origin: UnknownOrigin::Home(user), .. }
                if position == 0 && !user.is_empty() =>
            {
                known += &if user == "root" { "/root".to_owned() } else { format!("/home/{user}") };
            }
            WordPiece::Unknown { origin: UnknownOrigin::Number, .. } if !known.is_empty() => {
                is_pattern = true;
            }
            WordPiece::Unknown { .. } => is_partial = true,
        }
    }
    if let Some(path) = path_of_address(&known) {
        known = path;
    }
    let directory_end =
        if is_partial || is_pattern { known.rfind('/').map_or(0, |slash| slash + 1) } else { known.len() };
    let base = known.get(..directory_end).unwrap_or_default();
    // The files of a process may be any.
    let is_any_process = (is_partial || is_pattern) && is_within(base, "/proc");
    if known.is_empty() && is_partial || is_any_process {
        return vec![WordPath { path: None, climbing: None, is_partial, is_pattern }];
    }
    let resolved = |directory: &str| {
        let path = normal(join_path(directory, base));
        let climbs = base.split('/').any(|part| part == "..");
        let climbing = climbs.then(|| format!("{directory}/{base}"));
        WordPath { path: Some(path), climbing, is_partial, is_pattern }
    };
    if base.starts_with('/') {
        return vec![resolved("/")];
    }
    if is_partial && base.is_empty() {
        // `x$y` may be `x/../../etc`.
        let path = directories.only().map(ToOwned::to_owned);
        return vec![WordPath { path, climbing: None, is_partial, is_pattern }];
    }
    let mut all: Vec<WordPath> = directories.paths.iter().map(|directory| resolved(directory)).collect();
    if directories.is_unknown {
        all.push(WordPath { path: None, climbing: None, is_partial: true, is_pattern });
    }
    all
}

/// Returns `true` for a pattern that may match `..`, as dash does it: `.?`, `.*`.
fn may_match_parent(known: &str, pieces: &[WordPiece]) -> bool {
    if !known.ends_with('.') || known.len() > 1 && !known.ends_with("/.") {
        return false;
    }
    match pieces {
        [WordPiece::Pattern('?'), WordPiece::Pattern('?'), ..] => false,
        [WordPiece::Pattern('?'), WordPiece::Text { text, .. }, ..] => text.starts_with('/'),
        [WordPiece::Pattern('['), WordPiece::Text { text, .. }, ..] => !text.starts_with(['!', '^']),
        _ => true,
    }
}

/// Returns the path of the address of a file, such as `file:///etc/x` and `FILE:/etc/x`.
pub(super) fn path_of_address(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case("file:") || !rest.starts_with('/') {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("", |slash| rest.get(slash..).unwrap_or_default()),
        None => rest,
    };
    Some(decode_percent(path))
}

/// Replaces other names of the root, such as `/proc/self/root`.
fn normal(path: String) -> String {
    let mut parts = path.split('/').skip(1);
    if parts.next() == Some("proc") {
        let process = parts.next().unwrap_or_default();
        let is_process =
            matches!(process, "self" | "thread-self") || process.bytes().all(|b| b.is_ascii_digit());
        if is_process && parts.next() == Some("root") {
            let rest: Vec<&str> = parts.collect();
            return normal(format!("/{}", rest.join("/")));
        }
    }
    path
}

pub(super) fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (*first, digit(0), digit(1)) {
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            rest = tail.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns `true` if a path is a directory or lies below it.
pub(super) fn is_within(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// First directories that belong to the system.
const SYSTEM_DIRECTORIES: [&str; 14] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "run", "sbin", "sys",
    "usr",
];

/// Returns the meaning of an absolute path.
pub(super) fn meaning(path: &str, home: Option<&str>) -> PathMeaning {
    if let Some(device) = path.strip_prefix("/dev/") {
        return device_meaning(device);
    }
    if credentials::is_own_key(path) {
        return PathMeaning::Secret;
    }
    if is_governance(path) {
        return PathMeaning::Govern;
    }
    let in_home = home_part(path, home);
    if credentials::is_secret(path, in_home) {
        return PathMeaning::Secret;
    }
    if matches!(path, "/proc/kcore" | "/proc/kmem" | "/proc/sysrq-trigger") {
        return PathMeaning::Kernel;
    }
    if is_persistence(path, in_home) {
        return PathMeaning::Persist;
    }
    if is_repository(path) {
        return PathMeaning::Repository;
    }
    let first = path.split('/').nth(1).unwrap_or_default();
    let is_system = first.is_empty()
        || SYSTEM_DIRECTORIES.contains(&first)
        || first == "root"
        || first == "var" && !is_within(path, "/var/tmp");
    if is_system { PathMeaning::System } else { PathMeaning::Plain }
}

/// Returns `true` for files and directories of a repository through which git runs programs, and for the whole of one.
fn is_repository(path: &str) -> bool {
    if !has_hidden_name(path) {
        return false;
    }
    let Some((_, inner)) = path.split_once("/.git/") else { return path.ends_with("/.git") };
    let mut parts = inner.split('/');
    // `.git/modules/x/hooks` as well
    parts.any(|part| part == "hooks")
        || inner.rsplit('/').next().is_some_and(|name| matches!(name, "config" | "config.worktree"))
}

/// Directories of devices that are no disks.
const DEVICE_DIRECTORIES: [&str; 21] = [
    "bus",
    "char",
    "cpu",
    "dma_heap",
    "dri",
    "hugepages",
    "infiniband",
    "input",
    "net",
    "serial",
    "snd",
    "usb",
    "v4l",
    "vfio",
    "virtio-ports",
    "vboxusb",
    "nvidia-caps",
    "accel",
    "binderfs",
    "inet",
    "misc",
];

fn device_meaning(device: &str) -> PathMeaning {
    const DISKS: [&str; 20] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "loop", "sr", "zram", "nbd", "ram", "mtd",
        "pmem", "bcache", "drbd", "cdrom", "dvd", "fd0",
    ];
    const DISK_DIRECTORIES: [&str; 5] = ["disk/", "mapper/", "block/", "mtdblock", "vg"];
    let first = device.split('/').next().unwrap_or_default();
    match device {
        "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr" | "tty" => {
            PathMeaning::SafeDevice
        }
        _ if first == "fd" || first == "pts" => PathMeaning::SafeDevice,
        _ if first == "tcp" || first == "udp" => PathMeaning::Connection,
        "mem" | "kmem" | "port" => PathMeaning::Kernel,
        _ if first == "shm" || first == "mqueue" => PathMeaning::Plain,
        _ if DISK_DIRECTORIES.iter().any(|start| device.starts_with(start)) => PathMeaning::Disk,
        _ if DISKS.iter().any(|start| first.starts_with(start)) => PathMeaning::Disk,
        // `/dev/GROUP/VOLUME`
        _ if device.len() > first.len() + 1 && !DEVICE_DIRECTORIES.contains(&first) => PathMeaning::Disk,
        _ => PathMeaning::System,
    }
}

/// Returns the part of a path below a home directory.
pub(super) fn home_part<'p>(path: &'p str, home: Option<&str>) -> Option<&'p str> {
    if let Some(rest) =
        home.filter(|home| *home != "/" && !home.is_empty()).and_then(|home| path.strip_prefix(home))
    {
        return rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(""));
    }
    if let Some(rest) = path.strip_prefix("/root") {
        return rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(""));
    }
    let (_, rest) = path.strip_prefix("/home/")?.split_once('/')?;
    Some(rest)
}

fn is_governance(path: &str) -> bool {
    const DIRECTORIES: [&str; 6] =
        ["/etc/ccm", "/var/lib/ccm", "/run/ccm", "/etc/audit", "/var/log/audit", "/etc/selinux"];
    DIRECTORIES.iter().any(|directory| is_within(path, directory))
        || has_hidden_name(path)
            && (path.contains("/.config/ccm/")
                || path.contains("/.local/state/ccm/")
                || path.ends_with("/.config/ccm"))
}

/// Returns `true` if a name of the path begins with a dot. Most paths have none, and need no further search.
fn has_hidden_name(path: &str) -> bool {
    path.as_bytes().windows(2).any(|pair| pair == b"/.")
}

fn is_persistence(path: &str, in_home: Option<&str>) -> bool {
    const SYSTEM: [&str; 13] = [
        "/etc/cron.d",
        "/etc/crontab",
        "/etc/anacrontab",
        "/var/spool/cron",
        "/var/spool/at",
        "/etc/systemd",
        "/lib/systemd",
        "/usr/lib/systemd",
        "/run/systemd",
        "/etc/profile",
        "/etc/profile.d",
        "/etc/init.d",
        "/etc/rc.local",
    ];
    const HOME: [&str; 15] = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".config/systemd",
        ".config/autostart",
        ".config/fish",
        ".gitconfig",
        ".config/git",
        ".inputrc",
    ];
    SYSTEM.iter().any(|start| is_within(path, start))
        || path.starts_with("/etc/cron.")
        || in_home.is_some_and(|path| HOME.iter().any(|start| is_within(path, start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_a_meaning() {
        for (path, expected) in [
            ("/dev/null", PathMeaning::SafeDevice),
            ("/dev/sda1", PathMeaning::Disk),
            ("/dev/disk/by-id/x", PathMeaning::Disk),
            ("/dev/data/root", PathMeaning::Disk),
            ("/dev/dri/card0", PathMeaning::System),
            ("/dev/mem", PathMeaning::Kernel),
            ("/dev/tcp/x/80", PathMeaning::Connection),
            ("/etc/ccm/policy.yaml", PathMeaning::Govern),
            ("/etc/shadow", PathMeaning::Secret),
            ("/var/lib/ccm/audit/key", PathMeaning::Secret),
            ("/var/lib/ccm/approvals/key", PathMeaning::Secret),
            ("/var/lib/ccm/approvals/key.pub", PathMeaning::Govern),
            ("/home/bob/.local/state/ccm/audit/key.next", PathMeaning::Secret),
            ("/home/bob/.ssh/id_rsa", PathMeaning::Secret),
            ("/home/bob/.ssh/id_rsa.pub", PathMeaning::Plain),
            ("/home/bob/.bashrc", PathMeaning::Persist),
            ("/etc/cron.daily/x", PathMeaning::Persist),
            ("/w/.git/hooks/pre-commit", PathMeaning::Repository),
            ("/etc/passwd", PathMeaning::System),
            ("/", PathMeaning::System),
            ("/srv/x", PathMeaning::Plain),
        ] {
            assert_eq!(meaning(path, Some("/home/agent")), expected, "{path}");
        }
    }

    #[test]
    fn names_of_the_root_are_resolved() {
        assert_eq!(normal("/proc/self/root/etc/passwd".to_owned()), "/etc/passwd");
        assert_eq!(normal("/proc/1/root/proc/2/root/x".to_owned()), "/x");
        assert_eq!(normal("/proc/self/status".to_owned()), "/proc/self/status");
        assert!(is_within("/w/x", "/w") && !is_within("/w2/x", "/w") && is_within("/x", "/"));
    }
}
