//! A machine that follows a release and is killed, or whose disk is full, while it accepts a version.

use std::fs;
use std::path::PathBuf;

use ccm_testkit::{Ccm, Fault, Scratch, needs_faults, shell, sweep};

use crate::case::words;
use crate::points::{check_each, selected};

/// Two signed versions of a release.
struct Offer {
    scratch: Scratch,
}

impl Offer {
    fn new() -> Self {
        let scratch = Scratch::in_memory();
        shell(
            "ssh-keygen -q -t ed25519 -N '' -C ops -f key && echo \"ops $(cat key.pub)\" > signers",
            scratch.path(),
        );
        for version in ["1", "2"] {
            scratch.write(
                "site/site.yaml",
                format!(
                    "data: {{dir: /nonexistent}}\nccm:\n  resources:\n    - file:\n        - '{{{{ Data.dir }}}}/text': \
                     {{source: files/text}}\n        - '{{{{ Data.dir }}}}/version': {{content: '{version}'}}\n"
                ),
            );
            scratch.write("site/files/text", format!("version {version}\n").repeat(20_000));
            let release = format!("{version}.release");
            let build =
                ["release", "build", "site", "--channel", "base", "--version", version, "-o", &*release];
            for words in [&build[..], &["release", "sign", &release, "--key", "key"]] {
                let called = Ccm::new(env!("CARGO_BIN_EXE_ccm"), &scratch).args(words).run();
                assert_eq!(called.code, 0, "{}", called.shown());
            }
        }
        Self { scratch }
    }
}

/// A machine that follows the release.
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
        let script = format!(
            "mkdir -p offer && cp {0}/*.tar.zst {0}/signers . && cp *.tar.zst offer && cp {0}/{version}.release \
             offer/base.release",
            self.offer.scratch.path().display()
        );
        shell(&script, self.scratch.path());
    }

    fn apply(&self) -> Ccm {
        let directory = format!("dir={}", self.scratch.path().display());
        let words = ["apply", "--from", "offer/base.release", "--signers", "signers", "--data", &*directory];
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
        let record: serde_json::Value = serde_json::from_str(&record).map_err(|error| error.to_string())?;
        let accepted = &record["accepted"];
        let version = source.join("store").join(accepted["digest"].as_str().unwrap_or_default());
        let text = fs::read_to_string(version.join("files/text")).map_err(|error| error.to_string())?;
        let expected = format!("version {}\n", accepted["version"]).repeat(20_000);
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
            let left = shown(&source).starts_with('.') || source.join("store/.new").exists();
            if left {
                return Err(format!("left behind: {}", source.display()));
            }
        }
        Ok(())
    }
}

fn shown(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[test]
fn a_version_that_is_accepted_while_ccm_is_killed_is_whole_or_not_there() {
    if !needs_faults() {
        return;
    }
    let offer = Offer::new();
    for has_first in [true, false] {
        let whole = Machine::new(&offer, has_first);
        let calls = whole.apply().run_with(Fault::None);
        assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
        whole.check_whole(true).and_then(|()| whole.check_converges()).expect("a run that is not killed");
        check_each(selected(&calls.calls, 6).into_iter().map(Fault::KillBefore), |fault| {
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
fn a_disk_that_fills_up_leaves_the_version_from_before() {
    if !needs_faults() {
        return;
    }
    let offer = Offer::new();
    let fault = |call| Fault::NoSpace { call, lasting: true };
    let calls = Machine::new(&offer, true).apply().run_with(fault(usize::MAX)).calls;
    check_each(selected(&calls, 6).into_iter().map(fault), |fault| {
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
