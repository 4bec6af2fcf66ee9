use std::os::unix::fs::symlink;
use std::process::Command;

use tempfile::TempDir;

use super::*;
use crate::files::{FileAttributes, Files as _, NewContent, NewFile, SystemFiles};

/// Machine with a `matchpathcon` that is a shell script.
struct Machine {
    scratch: TempDir,
    files: SystemFiles,
}

/// Prints a label with the kind as its type.
const ANSWER: &str = "echo \"system_u:object_r:$3_t:s0\"";

impl Machine {
    fn new(script: &str) -> Self {
        Self::with_timeout(script, TIMEOUT)
    }

    fn with_timeout(script: &str, timeout: Duration) -> Self {
        let scratch = TempDir::new().expect("a directory");
        let at = |name: &str| scratch.path().join(name);
        std::fs::write(at("enforce"), "1").expect("a file");
        // While this process had the script open for writing, a fork of another test would keep it open too, and
        // the kernel executes no such file.
        let text = format!("printf '%s\\n' \"$*\" >> \"${{0%/*}}/asked\"; {script}");
        let written = Command::new("/bin/sh")
            .args(["-c", "printf '%s\\n' '#!/bin/sh' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
            .args([at(PROGRAM).as_os_str(), text.as_ref()])
            .status();
        assert!(written.expect("a shell").success());
        let search_path = format!("/nowhere:{}:/usr/bin:/bin", scratch.path().display());
        let files = SystemFiles::with_labels(FileLabels::new(at("enforce"), &search_path, timeout));
        Self { scratch, files }
    }

    /// Returns a path below the directory of the test, which has no links.
    fn at(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().expect("a directory").join(name)
    }

    fn write(&self, name: &str) {
        let new = NewFile { content: NewContent::Bytes(b"new"), attributes: FileAttributes::default() };
        self.files.write(&self.at(name), &new).expect("a file");
    }

    /// Returns the arguments of all calls of `matchpathcon`, a line each, and forgets them.
    fn asked(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.at("asked")).unwrap_or_default();
        let _ = std::fs::remove_file(self.at("asked"));
        let directory = self.at("").display().to_string();
        text.lines().map(|line| line.replace(&directory, "")).collect()
    }

    fn label(&self, name: &str) -> Option<String> {
        let label = FileLabel::read(|buffer| lgetxattr(self.at(name), ATTRIBUTE, buffer))?;
        Some(label.0.into_string().expect("text"))
    }

    /// Sets a label. Returns `false` where only root can, or where the filesystem has no labels.
    fn can_set(&self, name: &str, label: &CStr) -> bool {
        let stored = label.to_bytes_with_nul();
        lsetxattr(self.at(name), ATTRIBUTE, stored, XattrFlags::empty()).is_ok()
    }
}

#[test]
fn new_files_get_the_label_of_the_policy() {
    let machine = Machine::new(ANSWER);
    machine.write("file");
    machine.files.make_directory(&machine.at("directory"), FileAttributes::default()).expect("a directory");
    machine.files.make_link(&machine.at("link"), Path::new("file"), false).expect("a link");
    assert_eq!(machine.asked(), ["-n -m file file", "-n -m dir directory", "-n -m lnk_file link"]);
    if machine.can_set("enforce", c"system_u:object_r:security_t:s0") {
        for (name, kind) in [("file", "file"), ("directory", "dir"), ("link", "lnk_file")] {
            assert_eq!(machine.label(name), Some(format!("system_u:object_r:{kind}_t:s0")), "{name}");
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_label_and_the_policy_is_not_read() {
    let machine = Machine::new(ANSWER);
    std::fs::write(machine.at("file"), "old").expect("a file");
    symlink("file", machine.at("link")).expect("a link");
    let own = c"system_u:object_r:own_t:s0";
    let can_set = machine.can_set("file", own) && machine.can_set("link", own);
    machine.write("file");
    machine.files.make_link(&machine.at("link"), Path::new("elsewhere"), false).expect("a link");
    assert_eq!(machine.asked(), [""; 0]);
    if can_set {
        assert_eq!(machine.label("file").as_deref(), own.to_str().ok());
        assert_eq!(machine.label("link").as_deref(), own.to_str().ok());
    }
}

#[test]
fn a_file_in_place_of_a_link_gets_the_label_of_the_policy() {
    let machine = Machine::new(ANSWER);
    std::fs::write(machine.at("target"), "old").expect("a file");
    symlink("target", machine.at("file")).expect("a link");
    let can_set = machine.can_set("target", c"system_u:object_r:own_t:s0");
    machine.write("file");
    assert_eq!(machine.asked(), ["-n -m file file"]);
    if can_set {
        assert_eq!(machine.label("file").as_deref(), Some("system_u:object_r:file_t:s0"));
    }
}

#[test]
fn the_policy_is_asked_for_the_path_without_links() {
    let machine = Machine::new(ANSWER);
    std::fs::create_dir(machine.at("real")).expect("a directory");
    symlink("real", machine.at("alias")).expect("a link");
    machine.write("alias/file");
    assert_eq!(machine.asked(), ["-n -m file real/file"]);
}

#[test]
fn a_policy_without_a_label_for_the_path_is_asked_again_for_the_next() {
    for answer in ["echo '<<none>>'", "echo", ":", "echo not a:label", "printf 'a:\\001\\n'", "echo label"] {
        let machine = Machine::new(answer);
        machine.write("first");
        machine.write("second");
        assert_eq!(machine.asked(), ["-n -m file first", "-n -m file second"], "{answer}");
        assert!(!machine.label("first").is_some_and(|label| label.contains("label")), "{answer}");
    }
}

#[test]
fn a_program_that_fails_or_hangs_is_asked_once() {
    for script in ["echo a:b:c:d; exit 1", "kill -9 $$", "exec sleep 1000"] {
        let machine = Machine::with_timeout(script, Duration::from_secs(1));
        machine.write("first");
        machine.write("second");
        assert_eq!(machine.asked(), ["-n -m file first"], "{script}");
    }
}

#[test]
fn nothing_is_asked_without_selinux_or_without_its_program() {
    let machine = Machine::new(ANSWER);
    let files = |enforce: &str, search_path: &str| {
        SystemFiles::with_labels(FileLabels::new(machine.at(enforce), search_path, TIMEOUT))
    };
    let new = NewFile { content: NewContent::Bytes(b"new"), attributes: FileAttributes::default() };
    let here = machine.scratch.path().display().to_string();
    for (position, files) in [files("none", &here), files("enforce", "/nowhere")].iter().enumerate() {
        files.write(&machine.at(&format!("file-{position}")), &new).expect("a file");
    }
    assert_eq!(machine.asked(), [""; 0]);
}
