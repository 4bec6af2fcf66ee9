//! A machine that follows a release or a branch and is killed, or whose disk is full, while it accepts a version.

use std::fs;
use std::path::PathBuf;

use ccm_testkit::{Ccm, Fault, Scratch, needs_faults, shell, sweep};
use serde_json::Value;

use crate::case::words;
use crate::points::{check_each, selected};

/// Kinds of sources.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Release,
    Branch,
}

/// Two versions of a source.
struct Offer {
    kind: Kind,
    scratch: Scratch,
    /// The versions, as a record has them.
    versions: [Value; 2],
}

impl Offer {
    fn new(kind: Kind) -> Self {
        let scratch = Scratch::in_memory();
        shell(
            "ssh-keygen -q -t ed25519 -N '' -C ops -f key && echo \"ops $(cat key.pub)\" > signers
            git init -q -b main site",
            scratch.path(),
        );
        let versions = ["1", "2"].map(|version| {
            scratch.write(
                "site/site.yaml",
                format!(
                    "data: {{dir: /nonexistent}}\nccm:\n  resources:\n    - file:\n        - '{{{{ Data.dir }}}}/text': \
                     {{source: files/text}}\n        - '{{{{ Data.dir }}}}/version': {{content: '{version}'}}\n"
                ),
            );
            scratch.write("site/files/text", format!("version {version}\n").repeat(20_000));
            match kind {
                Kind::Release => release(&scratch, version),
                Kind::Branch => commit(&scratch, version),
            }
        });
        Self { kind, scratch, versions }
    }
}

fn release(scratch: &Scratch, version: &str) -> Value {
    let release = format!("{version}.release");
    let build = ["release", "build", "site", "--channel", "base", "--version", version, "-o", &*release];
    for words in [&build[..], &["release", "sign", &release, "--key", "key"]] {
        let called = Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(words).run();
        assert_eq!(called.code, 0, "{}", called.shown());
    }
    version.parse().expect("a number")
}

fn commit(scratch: &Scratch, version: &str) -> Value {
    let script = format!(
        "export GIT_CONFIG_GLOBAL=/dev/null; key=$PWD/key; cd site && git add -A && git -c user.name=a -c user.email=a@b \
         -c gpg.format=ssh -c user.signingkey=$key commit -q -S -m {version} && git branch v{version} && git rev-parse HEAD"
    );
    Value::from(shell(&script, scratch.path()).trim())
}

/// A machine that follows the source.
struct Machine<'o> {
    offer: &'o Offer,
    scratch: Scratch,
}

impl<'o> Machine<'o> {
    /// A machine that has accepted the first version, or none.
    fn new(offer: &'o Offer, has_first: bool) -> Self {
        let machine = Self { offer, scratch: Scratch::in_memory() };
        if has_first {
            machine.offered("1");
            let called = machine.apply().run();
            assert_eq!(called.code, 0, "{}", called.shown());
        }
        machine.offered("2");
        machine
    }

    /// Offers a version.
    fn offered(&self, version: &str) {
        let offer = self.offer.scratch.path().display();
        let script = match self.offer.kind {
            Kind::Release => format!(
                "mkdir -p offer && cp {offer}/*.tar.zst {offer}/signers . && cp *.tar.zst offer && \
                 cp {offer}/{version}.release offer/base.release"
            ),
            Kind::Branch => format!(
                "rm -rf offer && cp -r {offer}/site offer && cp {offer}/signers . && \
                 git -C offer update-ref refs/heads/main v{version}"
            ),
        };
        shell(&script, self.scratch.path());
    }

    fn apply(&self) -> Ccm {
        let directory = format!("dir={}", self.scratch.path().display());
        let from = match self.offer.kind {
            Kind::Release => "offer/base.release".to_owned(),
            Kind::Branch => format!("git+file://{}/offer#main", self.scratch.path().display()),
        };
        let words = ["apply", "--from", &*from, "--signers", "signers", "--data", &*directory];
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.scratch).args(&words)
    }

    fn sources(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.scratch.state().join("sources")).into_iter().flatten();
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.is_dir()).collect()
    }

    /// What was accepted is whole, and never nothing after something.
    fn check_whole(&self, has_first: bool) -> Result<(), String> {
        let sources = self.sources();
        let is_named = |path: &&PathBuf| !shown(path).starts_with('.');
        let Some(source) = sources.iter().find(is_named) else {
            return if has_first { Err("the source is lost".to_owned()) } else { Ok(()) };
        };
        let record = fs::read_to_string(source.join("accepted.json")).map_err(|error| error.to_string())?;
        let record: Value = serde_json::from_str(&record).map_err(|error| error.to_string())?;
        let accepted = &record["accepted"];
        let version = source.join("store").join(accepted["digest"].as_str().unwrap_or_default());
        let text = fs::read_to_string(version.join("files/text")).map_err(|error| error.to_string())?;
        let number = self.offer.versions.iter().position(|version| *version == accepted["version"]);
        let expected = format!("version {}\n", number.map_or(0, |position| position + 1)).repeat(20_000);
        if text == expected { Ok(()) } else { Err("a version is not whole".to_owned()) }
    }

    fn check_converges(&self) -> Result<(), String> {
        let next = self.apply().run();
        if next.code != 0 {
            return Err(format!("the next run failed: {}", next.shown()));
        }
        self.check_whole(true)?;
        if self.scratch.read("version").as_deref() != Some("2") {
            return Err("the next run has not applied the version".to_owned());
        }
        let third = self.apply().args(&["--detailed-exitcodes"]).run();
        if third.code != 0 {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        for source in self.sources() {
            let unfinished = ["store/.new", ".repository", ".old-objects"];
            let is_left = |name: &&str| source.join(name).exists();
            if shown(&source).starts_with('.') || unfinished.iter().any(is_left) {
                return Err(format!("left behind: {}", source.display()));
            }
        }
        Ok(())
    }
}

fn shown(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Kills a machine at calls of the run in which it accepts a version. One of so many calls is chosen.
fn kill(kind: Kind, share: usize) {
    if !needs_faults() {
        return;
    }
    let offer = Offer::new(kind);
    for has_first in [true, false] {
        let whole = Machine::new(&offer, has_first);
        let calls = whole.apply().run_with(Fault::None);
        assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
        whole.check_whole(true).and_then(|()| whole.check_converges()).expect("a run that is not killed");
        check_each(selected(&calls.calls, share).into_iter().map(Fault::KillBefore), |fault| {
            let machine = Machine::new(&offer, has_first);
            let killed = machine.apply().run_with(fault);
            sweep();
            let Some(call) = killed.struck else { return Ok(()) };
            let at = |wrong: String| format!("{fault:?}, {call}, after a version: {has_first}: {wrong}");
            machine.check_whole(has_first).and_then(|()| machine.check_converges()).map_err(at)
        });
    }
}

#[test]
fn a_version_that_is_accepted_while_ccm_is_killed_is_whole_or_not_there() {
    kill(Kind::Release, 6);
}

#[test]
fn a_commit_that_is_accepted_while_ccm_is_killed_is_whole_or_not_there() {
    kill(Kind::Branch, 24);
}

#[test]
fn a_disk_that_fills_up_leaves_the_version_from_before() {
    fill_disk(Kind::Release, 6);
}

#[test]
fn a_disk_that_fills_up_leaves_the_commit_from_before() {
    fill_disk(Kind::Branch, 24);
}

fn fill_disk(kind: Kind, share: usize) {
    if !needs_faults() {
        return;
    }
    let offer = Offer::new(kind);
    let fault = |call| Fault::NoSpace { call, lasting: true };
    let calls = Machine::new(&offer, true).apply().run_with(fault(usize::MAX)).calls;
    check_each(selected(&calls, share).into_iter().map(fault), |fault| {
        let machine = Machine::new(&offer, true);
        let met = machine.apply().run_with(fault);
        sweep();
        let Some(call) = met.struck else { return Ok(()) };
        let at = |wrong: String| format!("{fault:?}, {call}: {wrong}\n{}", met.called.shown());
        if met.called.code == 0 && words(&met.called).is_empty() {
            return Err(at("nobody was told".to_owned()));
        }
        machine.check_whole(true).and_then(|()| machine.check_converges()).map_err(at)
    });
}
