//! Repositories, jobs, timers and modules of a run that is killed at any call.

use std::fs::{create_dir_all, read_dir, read_to_string, remove_dir_all, remove_file, write};
use std::path::Path;

use ccm_testkit::{
    Ccm, FAKE_SERVICES, Fault, OwnMounts, Scratch, needs_faults, needs_own_mounts, skipped, sweep,
};

use crate::points::selected;

const MANIFEST: &str = r#"
ccm:
  resources:
    - package_repository:
        - defaults: {provider: apt}
        - new: {uris: "https://example.com/new", suites: bookworm, components: main, key: key.asc}
        - changed: {uris: "https://example.com/after", suites: bookworm, components: main, key: key.asc}
        - old: {ensure: absent}
    - cron:
        - new-job: {command: new, minute: 5}
        - changed-job: {command: after, minute: 5}
        - old-job: {ensure: absent}
        - of-user: {command: after, minute: 5, user: ada, provider: crontab}
    - timer:
        - new-timer: {command: /bin/true new, on_calendar: daily}
        - other-times: {command: /bin/true, on_calendar: weekly}
        - other-command: {command: /bin/true after, on_calendar: daily}
    - kernel_module:
        - crash_module: {ensure: absent, blacklist: true}
"#;

/// Manifest of the state before the run, as far as ccm brings the machine there.
const BEFORE: &str = r#"
ccm:
  resources:
    - package_repository:
        - defaults: {provider: apt, suites: bookworm, components: main, key: key.asc}
        - changed: {uris: "https://example.com/before"}
        - old: {uris: "https://example.com/old"}
    - cron:
        - changed-job: {command: before, minute: 5}
        - old-job: {command: old, minute: 5}
        - of-user: {command: before, minute: 5, user: ada, provider: crontab}
    - timer:
        - other-times: {command: /bin/true, on_calendar: daily}
        - other-command: {command: /bin/true before, on_calendar: daily}
"#;

const KEY: &str =
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxgIEAc0BYQ==\n-----END PGP PUBLIC KEY BLOCK-----\n";

/// Machine with its own files, and with tools that talk to no service.
const OWN_MACHINE: OwnMounts<'_> = OwnMounts {
    namespaces: "",
    etc: &["nsswitch.conf", "os-release"],
    empty: &["/run", "/usr/local/sbin"],
    script: r"
mkdir /etc/apt
printf 'root:x:0:0:root:/root:/bin/sh\nada:x:1500:100:Ada:/:/bin/sh\n' > /etc/passwd
printf 'root:x:0:\nusers:x:100:\n' > /etc/group
echo > /etc/own-machine
",
};

/// Directories with the files that the run changes. The last one belongs to the fake crontab.
const DIRECTORIES: [&str; 8] = [
    "/etc/apt/sources.list.d",
    "/etc/apt/keyrings",
    "/etc/cron.d",
    "/etc/systemd/system",
    "/etc/modprobe.d",
    "/etc/modules-load.d",
    "/run/loaded",
    "/run",
];

/// Files by path.
type Files = Vec<(String, String)>;

/// Machine in its first state. The process has one at a time.
struct Machine(Scratch);

impl Machine {
    fn new() -> Self {
        assert!(Path::new("/etc/own-machine").exists(), "this is the machine itself");
        let scratch = Scratch::in_memory();
        scratch.write("manifest.yaml", MANIFEST);
        scratch.write("before.yaml", BEFORE);
        scratch.write("key.asc", KEY);
        for directory in DIRECTORIES.iter().filter(|directory| **directory != "/run") {
            if Path::new(directory).exists() {
                remove_dir_all(directory).expect("a directory");
            }
        }
        for made in ["/etc/apt/sources.list.d", "/etc/cron.d", "/etc/systemd/system", "/run/loaded"] {
            create_dir_all(made).expect("a directory");
        }
        for state in ["/run/active", "/run/enabled"] {
            if Path::new(state).exists() {
                remove_dir_all(state).expect("a directory");
            }
            create_dir_all(state).expect("a directory");
        }
        write("/run/crontab-ada", "MAILTO=ada\n").expect("a file");
        let machine = Self(scratch);
        let before = machine.call("before.yaml", &[]).run();
        assert_eq!(before.code, 0, "{}", before.shown());
        // The mark belongs to the first state as little as the record of the run.
        let mark = machine.mark();
        if mark.exists() {
            remove_file(mark).expect("a mark");
        }
        machine
    }

    fn call(&self, manifest: &str, options: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.0).args(&["apply", manifest]).args(options)
    }

    fn apply(&self, options: &[&str]) -> Ccm {
        self.call("manifest.yaml", options)
    }

    /// Mark of an index of packages that is too old.
    fn mark(&self) -> std::path::PathBuf {
        self.0.state().join("outdated-apt")
    }

    /// Each file is the old one or the new one. A definition never comes before its key, and the index counts as too
    /// old before a definition changes.
    fn check_consistent(&self, old: &Files, new: &Files) -> Result<(), String> {
        let known = |file: &(String, String)| old.contains(file) || new.contains(file);
        let now = files();
        let is_copy = |path: &str| path.starts_with("/run/loaded/");
        if let Some((path, text)) = now.iter().find(|file| !is_copy(&file.0) && !known(file)) {
            return Err(format!("{path} is damaged: {text:?}"));
        }
        let is_there = |path: &str| now.iter().any(|(found, _)| found == path);
        for (path, _) in old.iter().filter(|(path, _)| new.iter().any(|(kept, _)| kept == path)) {
            if !is_copy(path) && !is_there(path) {
                return Err(format!("{path} is lost"));
            }
        }
        let definition = "/etc/apt/sources.list.d/new.sources";
        if is_there(definition) && !is_there("/etc/apt/keyrings/new.asc") {
            return Err("a repository has no key".to_owned());
        }
        let of_apt = |files: &Files| -> Files {
            files.iter().filter(|(path, _)| path.starts_with("/etc/apt/sources")).cloned().collect()
        };
        if of_apt(&now) != of_apt(old) && !self.mark().exists() {
            return Err("a repository changed, and the index counts as fresh".to_owned());
        }
        Ok(())
    }

    fn check_converges(&self, new: &Files) -> Result<(), String> {
        let second = self.apply(&[]).run();
        if second.code != 0 {
            return Err(format!("the next run failed: {}", second.shown()));
        }
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code != 0 {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        let now = files();
        if let Some((path, text)) = now.iter().find(|file| !new.contains(file)) {
            return Err(format!("{path} is not as desired after {}: {text}", second.shown()));
        }
        match new.iter().find(|file| !now.contains(file)) {
            Some((path, _)) => Err(format!("{path} is missing")),
            None if self.mark().exists() => Ok(()),
            None => Err("the index counts as fresh".to_owned()),
        }
    }
}

/// Returns the files that the run changes.
fn files() -> Files {
    let mut files = Vec::new();
    for entry in DIRECTORIES.iter().flat_map(|path| read_dir(path).into_iter().flatten()).flatten() {
        let path = entry.path().display().to_string();
        // A temporary file is removed by the next write.
        let is_meant = !path.starts_with("/run/") || path.contains("crontab") || path.contains("/loaded/");
        if is_meant && entry.path().is_file() && !path.ends_with(".ccm-new") {
            files.push((path.clone(), read_to_string(&path).unwrap_or_default()));
        }
    }
    for entry in ["/run/active", "/run/enabled"].iter().flat_map(|path| read_dir(path).into_iter().flatten())
    {
        files.push((entry.expect("an entry").path().display().to_string(), String::new()));
    }
    files.sort();
    files
}

#[test]
fn definitions_of_a_killed_run_are_whole_and_completed_by_the_next() {
    if !needs_faults() || !needs_own_mounts() {
        return;
    }
    if !Path::new("/usr/bin/apt-get").exists() {
        return skipped("apt is not installed");
    }
    let script = [FAKE_SERVICES, OWN_MACHINE.script].concat();
    OwnMounts { script: &script, ..OWN_MACHINE }.isolate(|| {
        let whole = Machine::new();
        let old = files();
        let calls = whole.apply(&[]).run_with(Fault::None);
        assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
        let new = files();
        for path in
            ["/etc/apt/keyrings/new.asc", "/etc/cron.d/new-job", "/etc/systemd/system/new-timer.service"]
        {
            assert!(new.iter().any(|(found, _)| found == path), "{path} is missing: {new:?}");
        }
        let checked = whole.check_consistent(&old, &new).and_then(|()| whole.check_converges(&new));
        checked.expect("a run that is not killed");
        for point in selected(&calls.calls, 6) {
            let machine = Machine::new();
            let killed = machine.apply(&[]).run_with(Fault::KillBefore(point));
            sweep();
            let Some(call) = killed.struck else { continue };
            let checked = machine.check_consistent(&old, &new).and_then(|()| machine.check_converges(&new));
            if let Err(wrong) = checked {
                panic!("killed at {point}, {call}: {wrong}");
            }
        }
    });
}
