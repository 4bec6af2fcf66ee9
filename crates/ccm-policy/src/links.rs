//! Symbolic links on the way to a path.

use std::borrow::Cow;

use crate::lookup::{LinkReading, Lookup};

/// Maximum number of links on the way to a path, as for the kernel.
const MAX_LINKS: u32 = 40;

/// Maximum length of all links on the way to a path in bytes. Longer ones are made to take time.
const MAX_FOLLOWED: usize = 16 << 10;

/// Path that the links on the way to another path lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LinkDestination {
    /// The same path: there is no link on the way.
    #[default]
    Same,
    /// Another path, absolute and without `.` and `..`.
    Path(String),
    /// Not known: the links form a loop, can't be read, or depend on the process that follows them.
    Unknown,
}

/// Follows the links on the way to an absolute path, the last part included, as the kernel does: `..` is the directory
/// above what a link leads to. What does not exist yet stays as written.
pub(crate) fn follow(lookup: &dyn Lookup, path: &str) -> LinkDestination {
    let mut pending: Vec<Cow<'_, str>> = parts(path).map(Cow::Borrowed).collect();
    // Without a slash at its end, so that the root is empty.
    let mut reached = String::with_capacity(path.len());
    let (mut links, mut followed) = (0, 0);
    let mut has_climbed = false;
    while let Some(part) = pending.pop() {
        if part == ".." {
            has_climbed = true;
            reached.truncate(reached.rfind('/').unwrap_or_default());
            continue;
        }
        let process_part = of_process(&reached, &part);
        let above = reached.len();
        reached.push('/');
        reached.push_str(&part);
        match process_part {
            ProcessPart::Other => {}
            ProcessPart::Plain => continue,
            ProcessPart::Root => {
                links += 1;
                reached.clear();
                continue;
            }
            // An open file, whose path was judged when it was opened.
            ProcessPart::OpenFiles if pending.len() <= 1 => return LinkDestination::Same,
            ProcessPart::OpenFiles | ProcessPart::Unknown => return LinkDestination::Unknown,
        }
        match lookup.read_link(&reached) {
            LinkReading::NoLink => {}
            LinkReading::Link(target) => {
                links += 1;
                followed += target.len();
                if links > MAX_LINKS || followed > MAX_FOLLOWED {
                    return LinkDestination::Unknown;
                }
                reached.truncate(if target.starts_with('/') { 0 } else { above });
                pending.extend(parts(&target).map(|part| Cow::Owned(part.to_owned())));
            }
            LinkReading::Unknown => return LinkDestination::Unknown,
        }
    }
    if links == 0 && !has_climbed {
        return LinkDestination::Same;
    }
    if reached.is_empty() {
        reached.push('/');
    }
    LinkDestination::Path(reached)
}

/// Follows the links on the way to an absolute path, but not a link at the path itself.
pub(crate) fn follow_above(lookup: &dyn Lookup, path: &str) -> LinkDestination {
    let Some((above, name)) = path.rsplit_once('/').filter(|(_, name)| !matches!(*name, "" | "." | ".."))
    else {
        return follow(lookup, path);
    };
    match follow(lookup, above) {
        LinkDestination::Path(above) => {
            LinkDestination::Path(format!("{}/{name}", above.trim_end_matches('/')))
        }
        other => other,
    }
}

/// Returns the parts of a path, the last one first.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').rev().filter(|part| !matches!(*part, "" | "."))
}

/// Part of a path below `/proc`.
enum ProcessPart {
    /// No part of a process, or no link.
    Other,
    /// Name of the process that follows the path: another one here than there.
    Plain,
    /// Root directory of a process.
    Root,
    /// Open files of the process itself.
    OpenFiles,
    /// Something that only the process knows.
    Unknown,
}

fn of_process(above: &str, part: &str) -> ProcessPart {
    let Some(below) = above.strip_prefix("/proc") else { return ProcessPart::Other };
    let own = ["self", "thread-self"];
    if below.is_empty() && own.contains(&part) {
        return ProcessPart::Plain;
    }
    let mut names = below.split('/').skip(1);
    let process = names.next().unwrap_or_default();
    let is_own = own.contains(&process);
    let is_process = is_own || !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    let names = (names.next(), names.next(), names.next());
    let is_directory = matches!(names, (None, ..) | (Some("task"), Some(_), None));
    match part {
        _ if !is_process || !is_directory => ProcessPart::Other,
        "root" => ProcessPart::Root,
        "fd" if is_own => ProcessPart::OpenFiles,
        "fd" | "cwd" | "exe" | "map_files" => ProcessPart::Unknown,
        _ => ProcessPart::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::PolicyMachine;

    fn machine() -> PolicyMachine {
        let links = [
            ("/srv/conf", "/etc/app"),
            ("/srv/relative", "../etc/app"),
            ("/srv/above", "../../../.."),
            ("/srv/root", "/"),
            ("/srv/dangling", "/etc/new/file"),
            ("/srv/chain", "conf"),
            ("/srv/file", "conf/main"),
            ("/srv/loop", "loop"),
            ("/srv/a", "b"),
            ("/srv/b", "a"),
            ("/dev/stderr", "/proc/self/fd/2"),
            ("/dev/fd", "/proc/self/fd"),
            ("/proc/self", "4711"),
        ];
        let links = links
            .into_iter()
            .fold(PolicyMachine::debian(), |machine, (path, to)| machine.with_link(path, to));
        links.with_closed("/srv/closed/")
    }

    #[test]
    fn links_are_followed_as_the_kernel_does() {
        for (path, expected) in [
            ("/etc/app/main", None),
            ("/", None),
            ("/srv/new/file", None),
            ("/srv/conf", Some("/etc/app")),
            ("/srv/conf/", Some("/etc/app")),
            ("/srv/conf/main", Some("/etc/app/main")),
            ("/srv/relative/main", Some("/etc/app/main")),
            ("/srv/chain/x/y", Some("/etc/app/x/y")),
            ("/srv/file", Some("/etc/app/main")),
            ("/srv/dangling", Some("/etc/new/file")),
            // The directory above what the link leads to, not above the link.
            ("/srv/conf/../shadow", Some("/etc/shadow")),
            ("/srv/x/../y", Some("/srv/y")),
            ("/srv/root", Some("/")),
            ("/srv/root/etc/shadow", Some("/etc/shadow")),
            ("/srv/root/srv/conf/main", Some("/etc/app/main")),
            ("/srv/above", Some("/")),
            ("/srv/above/etc/shadow", Some("/etc/shadow")),
            ("/srv/root/..", Some("/")),
            ("/proc/self/root/etc/shadow", Some("/etc/shadow")),
            ("/proc/1/root", Some("/")),
            ("/proc/1/task/1/root/x", Some("/x")),
            ("/proc/self/status", None),
            ("/dev/stderr", None),
            ("/dev/fd/3", None),
        ] {
            let expected =
                expected.map_or(LinkDestination::Same, |target| LinkDestination::Path(target.to_owned()));
            assert_eq!(follow(&machine(), path), expected, "{path}");
        }
    }

    #[test]
    fn what_nobody_can_say_is_not_known() {
        for path in [
            "/srv/loop",
            "/srv/loop/x",
            "/srv/a",
            "/srv/closed/x",
            "/proc/self/cwd/x",
            "/proc/1/cwd",
            "/proc/1/fd/3",
            "/proc/self/fd/3/passwd",
            "/dev/fd/3/../passwd",
        ] {
            assert_eq!(follow(&machine(), path), LinkDestination::Unknown, "{path}");
        }
        let long = (0..50).fold(PolicyMachine::debian(), |machine, number| {
            machine.with_link(&format!("/srv/{number}"), &(number + 1).to_string())
        });
        assert_eq!(follow(&long, "/srv/0"), LinkDestination::Unknown);
        assert_eq!(follow(&long, "/srv/20"), LinkDestination::Path("/srv/50".to_owned()));
    }

    #[test]
    fn a_link_at_the_path_itself_can_be_left_alone() {
        for (path, expected) in [
            ("/srv/conf", None),
            ("/srv/chain/main", Some("/etc/app/main")),
            ("/srv/root/x", Some("/x")),
            ("/srv/root/srv/conf", Some("/srv/conf")),
            ("/srv/conf/..", Some("/etc")),
            ("/srv/conf/", Some("/etc/app")),
        ] {
            let expected =
                expected.map_or(LinkDestination::Same, |target| LinkDestination::Path(target.to_owned()));
            assert_eq!(follow_above(&machine(), path), expected, "{path}");
        }
        assert_eq!(follow_above(&machine(), "/srv/loop/x"), LinkDestination::Unknown);
    }
}
