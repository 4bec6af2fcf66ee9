//! Unchanged users, repositories and checkouts, against programs that read the same sources.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::apply::{BenchManifest, Listener};
use crate::measure::{ratio_within, times};
use crate::own_etc::with_own_etc;

const USERS: usize = 200;
const REPOSITORIES: usize = 20;
const CHECKOUTS: usize = 20;
const ROUNDS: usize = 101;
/// Maximum ratio.
const AIM: f64 = 2.0;

/// Key with one byte of material.
const KEY: &str =
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxgIEAc0BYQ==\n-----END PGP PUBLIC KEY BLOCK-----\n";

const PASSWORD: &str = "$6$saltsalt$abcdefgh";

/// Compares users with a program that reads the files with accounts, and looks for each home and shell.
pub(crate) fn users(scratch: &Path) {
    let script = "printf 'passwd: files\\ngroup: files\\n' > /etc/nsswitch.conf; members=; \
        for number in $(seq $2); do \
        mkdir -p \"$1/home/bench$number\"; members=$members,bench$number; \
        echo \"bench$number:x:$((50000 + number)):100:Bench:$1/home/bench$number:/bin/sh\" >> /etc/passwd; \
        echo \"bench$number:[password]:19000:0:99999:7:::\" >> /etc/shadow; done; \
        echo \"bench-team:x:49999:${members#,}\" >> /etc/group";
    let script = script.replace("[password]", &PASSWORD.replace('$', "\\$"));
    with_own_etc("users-steady", scratch, (&script, USERS), users_here);
}

fn users_here(directory: &Path) {
    let home = directory.join("home");
    let home = home.display();
    let mut text = "ccm:\n  resources:\n    - user:\n".to_owned();
    for number in 1..=USERS {
        let _ = writeln!(
            text,
            "        - bench{number}: {{uid: {}, gid: 100, groups: [bench-team], home: {home}/bench{number}, shell: /bin/sh, \
             manage_home: true, password_hash: {PASSWORD}}}",
            50000 + number
        );
    }
    let loaded = BenchManifest::new(&text);
    let bare = || {
        let read = |path: &str| std::fs::read_to_string(path).expect("a file with accounts");
        let (passwd, group, shadow) = (read("/etc/passwd"), read("/etc/group"), read("/etc/shadow"));
        let users = passwd.lines().filter(|line| line.starts_with("bench"));
        let homes = users.filter(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            Path::new(fields[5]).is_dir() && Path::new(fields[6]).exists()
        });
        let hashes = shadow.lines().filter(|line| line.split(':').nth(1) == Some(PASSWORD)).count();
        let team = group.lines().find(|line| line.starts_with("bench-team:")).expect("a group");
        assert_eq!((homes.count(), hashes, team.split(',').count()), (USERS, USERS, USERS));
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("users-steady: {USERS}"), ours, theirs, AIM);
}

/// Compares repositories with a program that reads their definitions and keys.
pub(crate) fn repositories(scratch: &Path) {
    if !Path::new("/usr/bin/apt-get").exists() {
        println!("repositories-steady: skipped, apt is not installed");
        return;
    }
    let script = "rm -rf /etc/apt/sources.list.d/*";
    with_own_etc("repositories-steady", scratch, (script, REPOSITORIES), repositories_here);
}

fn repositories_here(directory: &Path) {
    let key = directory.join("key.asc");
    std::fs::write(&key, KEY).expect("a key");
    let mut text = format!(
        "ccm:\n  resources:\n    - package_repository:\n        - defaults: {{provider: apt, suites: stable, components: main, \
         key: {}}}\n",
        key.display()
    );
    for number in 0..REPOSITORIES {
        let _ = writeln!(text, "        - bench{number}: {{uris: \"https://example.com/{number}\"}}");
    }
    let loaded = BenchManifest::new(&text);
    loaded.apply(Listener::None);
    let bare = || {
        for number in 0..REPOSITORIES {
            let definition = format!("/etc/apt/sources.list.d/bench{number}.sources");
            let definition = std::fs::read_to_string(definition).expect("a definition");
            assert!(definition.contains("\nSuites: stable\n"), "{definition}");
            let installed = std::fs::read(format!("/etc/apt/keyrings/bench{number}.asc")).expect("a key");
            assert!(installed == std::fs::read(&key).expect("a key"), "another key");
        }
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("repositories-steady: {REPOSITORIES}"), ours, theirs, AIM);
}

/// Compares checkouts with processes of git that read the same, of which one runs for each processor: the state of each
/// checkout and, for a branch, where it is now.
pub(crate) fn checkouts(scratch: &Path) {
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("checkouts-steady: skipped, git is not installed");
        return;
    }
    let work = scratch.join("work");
    std::fs::create_dir(&work).expect("a directory");
    let script = "git init --quiet --initial-branch=main . && for number in $(seq 100); do echo $number > $number; done && \
        git add . && git -c user.name=a -c user.email=a@example.com commit --quiet -m one && git tag light && \
        git -c user.name=a -c user.email=a@example.com tag -a -m two annotated";
    let made = Command::new("sh").args(["-c", script]).current_dir(&work).status();
    assert!(made.is_ok_and(|status| status.success()), "a repository");
    let owner = std::fs::metadata(&work).expect("a directory").uid();
    for revision in ["light", "annotated", "main"] {
        let (mut text, mut paths) = ("ccm:\n  resources:\n    - git:\n".to_owned(), Vec::new());
        for number in 0..CHECKOUTS {
            let path = scratch.join(format!("{revision}-{number}"));
            let _ = writeln!(
                text,
                "        - {}: {{url: {}, revision: {revision}}}",
                path.display(),
                work.display()
            );
            paths.push(path);
        }
        let loaded = BenchManifest::new(&text);
        loaded.apply(Listener::None);
        assert_eq!(std::fs::metadata(&paths[0]).expect("a checkout").uid(), owner);
        let bare = || {
            let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            let questions = [Some(status as fn(&Path) -> Child), (revision == "main").then_some(ask)];
            let questions: Vec<_> = questions.into_iter().flatten().collect();
            let calls: Vec<_> =
                paths.iter().flat_map(|path| questions.iter().map(move |ask| (ask, path))).collect();
            for calls in calls.chunks(processors) {
                let children: Vec<Child> = calls.iter().map(|(ask, path)| ask(path)).collect();
                for mut child in children {
                    assert!(child.wait().expect("git").success(), "git failed");
                }
            }
        };
        let (ours, theirs) = times(9, || loaded.apply(Listener::None), bare);
        ratio_within(&format!("checkouts-steady: {CHECKOUTS} at `{revision}`"), ours, theirs, AIM);
    }
}

fn status(path: &Path) -> Child {
    start(path, &["status", "--porcelain=v2", "--branch", "--untracked-files=no"])
}

fn ask(path: &Path) -> Child {
    start(path, &["ls-remote", "--quiet", "origin", "refs/heads/main"])
}

fn start(path: &Path, args: &[&str]) -> Child {
    let mut git = Command::new("git");
    git.arg("-C").arg(path).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("git")
}
