//! Control groups, which limit all processes of a sandbox together. Only root can make them.
//!
//! Making and removing a group takes about a quarter of a millisecond. The next sandbox therefore gets the group of the last
//! one if both have the same limits, and if little of the last one is left in the group.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::limits::{ReachedLimit, SandboxLimits};

/// Beginning of the name of a group, before the PID namespace and the number of the process of ccm.
const PREFIX: &str = "ccm-sandbox-";
/// Group that ccm moves to, because version 2 has no limits for groups beside processes.
const OWN_LEAF: &str = "ccm-agent";

/// Directories in which groups are made, for each controller that is available.
#[derive(Debug, Default)]
pub(super) struct ControlGroups {
    processes: Option<Parent>,
    memory: Option<Parent>,
    /// Group whose sandbox has ended.
    last: Mutex<Option<ControlGroup>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parent {
    directory: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl ControlGroups {
    /// Finds the directories below the groups of this process, and removes groups that killed runs left there.
    pub(super) fn find() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let (mounts, memberships) = (text("/proc/self/mountinfo"), text("/proc/self/cgroup"));
        let own = |controller| own_group(&mounts, &memberships, controller);
        let unified = own(None).filter(|group| can_limit(group));
        let parent = |controller| {
            let two = unified.clone().map(|directory| Parent { directory, version: Version::Two });
            let one = || own(Some(controller)).map(|directory| Parent { directory, version: Version::One });
            two.or_else(one)
        };
        let found = Self { processes: parent("pids"), memory: parent("memory"), ..Self::default() };
        let namespace = pid_namespace();
        for parent in found.processes.iter().chain(&found.memory) {
            remove_abandoned(&parent.directory, namespace);
        }
        found
    }

    /// Returns a group with those of these limits that can be set: that of the last sandbox, if it had them.
    pub(super) fn take(&self, limits: &SandboxLimits) -> ControlGroup {
        let limits = GroupLimits::of(limits);
        let is_whole = |last: &ControlGroup| {
            last.processes.is_some() == self.processes.is_some()
                && last.memory.is_some() == self.memory.is_some()
        };
        let last = exchange(&self.last, None);
        match last.filter(|last| last.limits == limits && is_whole(last) && last.is_unused()) {
            Some(mut last) => {
                // A process that the last sandbox left may have run into a limit since.
                let _of_the_last = last.reached();
                last
            }
            None => self.make(limits),
        }
    }

    /// Keeps a group whose sandbox has ended for the next one.
    pub(super) fn give_back(&self, group: ControlGroup) {
        drop(exchange(&self.last, Some(group)));
    }

    fn make(&self, limits: GroupLimits) -> ControlGroup {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{number}", own_prefix());
        let mut group = ControlGroup::default();
        group.limits = limits;
        let own = |parent: &Option<Parent>, group: &mut ControlGroup| {
            let parent = parent.as_ref()?;
            let own = Parent { directory: parent.directory.join(&name), version: parent.version };
            if !group.directories.contains(&own) {
                fs::create_dir(&own.directory).ok()?;
                group.directories.push(own.clone());
            }
            Some(own)
        };
        if let Some(own) = own(&self.processes, &mut group)
            && write(&own.directory.join("pids.max"), &limits.processes.to_string()).is_ok()
        {
            group.processes = Some(own);
        }
        if let Some(own) = own(&self.memory, &mut group)
            && own.limit_memory(limits.memory).is_ok()
        {
            group.memory = Some(own);
        }
        group
    }
}

/// Puts a group into a place, and returns what was there.
fn exchange(place: &Mutex<Option<ControlGroup>>, group: Option<ControlGroup>) -> Option<ControlGroup> {
    // There is nothing in between that a panic could leave.
    mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), group)
}

impl Parent {
    fn limit_memory(&self, max: u64) -> io::Result<()> {
        let MemoryFiles { limit, swap, .. } = self.memory_files();
        let max = max.to_string();
        write(&self.directory.join(limit), &max)?;
        // Version 1 counts memory and swap together, version 2 swap alone. Not every kernel counts swap.
        let swapped = if self.version == Version::One { &max } else { "0" };
        let _best_effort = write(&self.directory.join(swap), swapped);
        Ok(())
    }

    fn memory_files(&self) -> MemoryFiles {
        match self.version {
            Version::One => MemoryFiles {
                limit: "memory.limit_in_bytes",
                swap: "memory.memsw.limit_in_bytes",
                used: "memory.usage_in_bytes",
                events: "memory.oom_control",
            },
            Version::Two => MemoryFiles {
                limit: "memory.max",
                swap: "memory.swap.max",
                used: "memory.current",
                events: "memory.events",
            },
        }
    }

    /// Returns the file through which a process with one thread joins. `tasks` moves the thread alone, so
    /// that the kernel does not hold up other processes of the machine.
    fn membership(&self) -> PathBuf {
        self.directory.join(match self.version {
            Version::One => "tasks",
            Version::Two => "cgroup.procs",
        })
    }
}

/// Names of the files of the memory of a group.
struct MemoryFiles {
    limit: &'static str,
    swap: &'static str,
    used: &'static str,
    events: &'static str,
}

/// Limits of a group: a number of processes, and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GroupLimits {
    processes: u64,
    memory: u64,
}

impl GroupLimits {
    fn of(limits: &SandboxLimits) -> Self {
        Self { processes: limits.processes.max, memory: limits.memory.max }
    }
}

/// Control group of one sandbox, in one directory or in one for each controller.
#[derive(Debug, Default)]
pub(super) struct ControlGroup {
    /// Limits that were asked for.
    limits: GroupLimits,
    directories: Vec<Parent>,
    processes: Option<Parent>,
    memory: Option<Parent>,
    /// Number of times that the processes of its sandboxes ran into each limit.
    counted: [u64; 2],
}

impl ControlGroup {
    /// Returns `true` if the group has no process, and leaves the next sandbox at least seven eighths of its memory: what
    /// processes have read stays there. A group that another program has removed counts as used.
    fn is_unused(&self) -> bool {
        let is_empty = |own: &Parent| fs::read(own.membership()).is_ok_and(|members| members.is_empty());
        let has_room = |own: &Parent| {
            let used = fs::read_to_string(own.directory.join(own.memory_files().used)).unwrap_or_default();
            used.trim().parse().is_ok_and(|used: u64| used <= self.limits.memory / 8)
        };
        self.directories.iter().all(is_empty) && self.memory.as_ref().is_none_or(has_room)
    }

    /// Returns the files through which a process joins.
    pub(super) fn memberships(&self) -> Vec<PathBuf> {
        self.directories.iter().map(Parent::membership).collect()
    }

    /// Returns `true` if the group limits the number of processes.
    pub(super) fn limits_processes(&self) -> bool {
        self.processes.is_some()
    }

    /// Returns `true` if the group limits the memory.
    pub(super) fn limits_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns the limits that its processes ran into since the last call.
    pub(super) fn reached(&mut self) -> Vec<ReachedLimit> {
        let processes = self.processes.as_ref().map(|own| count(&own.directory.join("pids.events"), "max"));
        let memory = self.memory.as_ref();
        let memory = memory.map(|own| count(&own.directory.join(own.memory_files().events), "oom_kill"));
        let counts = [processes, memory].map(Option::unwrap_or_default);
        let former = mem::replace(&mut self.counted, counts);
        let limits = [ReachedLimit::Processes, ReachedLimit::Memory].into_iter();
        limits
            .zip(counts.iter().zip(former))
            .filter(|(_, (now, former))| **now > *former)
            .map(|(limit, _)| limit)
            .collect()
    }
}

/// Returns the number behind a name in a file of events.
fn count(file: &Path, name: &str) -> u64 {
    let counts = fs::read_to_string(file).unwrap_or_default();
    let mut lines = counts.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| *key == name).and_then(|(_, count)| count.parse().ok()).unwrap_or_default()
}

impl Drop for ControlGroup {
    /// Removes the group. A group with processes that were left running stays until a later run.
    fn drop(&mut self) {
        for own in &self.directories {
            let _is_used = fs::remove_dir(&own.directory);
        }
    }
}

/// Returns the directory of the group of this process, from the texts of `/proc/self/mountinfo` and
/// `/proc/self/cgroup`; without a controller that of version 2.
fn own_group(mounts: &str, memberships: &str, controller: Option<&str>) -> Option<PathBuf> {
    let has = |list: &str| controller.map_or(list.is_empty(), |name| list.split(',').any(|one| one == name));
    let group = memberships.lines().find_map(|line| {
        let (_number, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        has(controllers).then_some(path)
    })?;
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        let mut fields = file_system.split(' ');
        let kind = fields.next()?;
        let options = fields.nth(1)?;
        let is_meant = match controller {
            None => kind == "cgroup2",
            Some(_) => kind == "cgroup" && has(options),
        };
        // In a container, the mount may begin at a group of its own.
        let below = Path::new(group).strip_prefix(root).ok().filter(|_| is_meant)?;
        Some(if below.as_os_str().is_empty() { at.into() } else { Path::new(at).join(below) })
    })
}

/// Returns `true` if groups below this one of version 2 can limit processes and memory. Such a group must
/// have no processes itself. This process therefore moves to a group below, but only if it is alone in the
/// group: ccm does not move other processes.
fn can_limit(group: &Path) -> bool {
    let control = group.join("cgroup.subtree_control");
    let are_on = || {
        let on = fs::read_to_string(&control).unwrap_or_default();
        ["memory", "pids"].iter().all(|name| on.split_ascii_whitespace().any(|one| one == *name))
    };
    let turn_on = || write(&control, "+memory +pids").is_ok() && are_on();
    if are_on() || turn_on() {
        return true;
    }
    let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let us = std::process::id().to_string();
    if members.trim() != us {
        return false;
    }
    let leaf = group.join(OWN_LEAF);
    let _may_exist = fs::create_dir(&leaf);
    if write(&leaf.join("cgroup.procs"), &us).is_ok() && turn_on() {
        return true;
    }
    let _back = write(&group.join("cgroup.procs"), &us);
    let _empty = fs::remove_dir(&leaf);
    false
}

/// Returns the beginning of the names of this process's groups.
fn own_prefix() -> String {
    format!("{PREFIX}{}-{}-", pid_namespace().unwrap_or_default(), std::process::id())
}

/// Returns the number of the PID namespace that `/proc` shows and this process is in.
fn pid_namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Removes the groups of processes of ccm that no longer exist. The processes of other PID namespaces, such as those of
/// a container, have numbers of their own, so that nobody here can say which of them exist.
fn remove_abandoned(parent: &Path, namespace: Option<u64>) {
    let (Some(namespace), Ok(entries)) = (namespace, fs::read_dir(parent)) else { return };
    let prefix = format!("{PREFIX}{namespace}-");
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(&*prefix)?.split('-').next());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _is_used = fs::remove_dir(entry.path());
        }
    }
}

fn write(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_group_is_found_below_its_mount() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
                      35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      39 31 0:36 /box /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let memberships = "8:pids:/box/a\n4:memory:/b\n2:cpu,cpuacct:/\n1:name=systemd:/x\n0::/c/d\n";
        for (controller, expected) in [
            (Some("memory"), Some("/sys/fs/cgroup/memory/b")),
            (Some("pids"), Some("/sys/fs/cgroup/pids/a")),
            (Some("cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct")),
            (Some("freezer"), None),
            (None, Some("/sys/fs/cgroup/unified/c/d")),
        ] {
            assert_eq!(own_group(mounts, memberships, controller).as_deref(), expected.map(Path::new));
        }
        assert_eq!(own_group("", memberships, None), None);
        assert_eq!(own_group(mounts, "8:pids:/elsewhere\n", Some("pids")), None);
    }

    #[test]
    fn groups_are_removed_only_if_their_process_has_ended() {
        let scratch = tempfile::tempdir().expect("a directory");
        let namespace = pid_namespace().expect("a namespace");
        // No process has the largest number.
        let ended = i32::MAX;
        let names = [
            format!("{}0", own_prefix()),
            format!("{PREFIX}{namespace}-{ended}-0"),
            // A process of a container, and one whose namespace nobody wrote down.
            format!("{PREFIX}{}-{ended}-0", namespace + 1),
            format!("{PREFIX}0-{ended}-0"),
            format!("{PREFIX}{ended}-0"),
            "other".to_owned(),
        ];
        for name in &names {
            fs::create_dir(scratch.path().join(name)).expect("a directory");
        }
        let left = |namespace| {
            remove_abandoned(scratch.path(), namespace);
            names.iter().map(|name| scratch.path().join(name).exists()).collect::<Vec<_>>()
        };
        assert_eq!(left(None), [true; 6]);
        assert_eq!(left(Some(namespace)), [true, false, true, true, true, true]);
    }

    #[test]
    fn other_processes_of_the_own_group_are_not_moved() {
        let scratch = tempfile::tempdir().expect("a directory");
        let file = |name: &str| scratch.path().join(name);
        let us = std::process::id();
        for (on, members, expected) in
            [("cpu memory pids", format!("1\n{us}\n"), true), ("cpu", format!("1\n{us}\n"), false)]
        {
            fs::write(file("cgroup.subtree_control"), on).expect("a file");
            fs::write(file("cgroup.procs"), &members).expect("a file");
            assert_eq!(can_limit(scratch.path()), expected, "{on}");
            assert_eq!(fs::read_to_string(file("cgroup.procs")).expect("the file"), members);
            assert!(!file(OWN_LEAF).exists());
        }
    }
}
