//! Texts that run files which their words do not name, and texts of every day.

#![allow(clippy::disallowed_methods, reason = "these files are the ground of a test")]

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::OpenGate;
use ccm_host::{Cancellation, Command, CommandOrigin, SystemFiles, current_user};
use ccm_testkit::Scratch;

use super::*;
use crate::policy::CalledManifestGate;
use crate::policy::gate::analysis_of;

/// Texts that run a file of a directory that everybody can change. `DIR` is the directory, `NAME` its name in the working
/// directory.
const CHANGEABLE: &[&str] = &[
    // The directory behind `cd`.
    "cd DIR; make -s",
    "cd NAME; make -s install",
    "(cd NAME; make -s install)",
    "cd NAME; npm run t; sh -c :",
    "d=NAME; cd $d; make -s",
    "d=tmp; cd ${d#tmp}DIR; make",
    "cd ${x:-DIR}; sh x.sh",
    "cd \"$x\"; make",
    "cd \"$(dirname DIR/x)\"; ./x.sh",
    "cd NAME; ./x.sh",
    "cd NAME || true; sh x.sh",
    "cd /none && true; cd NAME; make",
    "if cd NAME; then :; fi; make",
    "{ cd NAME; }; git st",
    "cd NAME; git st",
    "cd NAME; cargo test",
    "cd ..; cd -; make",
    "pushd NAME; make",
    "CDPATH=NAME; cd sub; make",
    "f() { cd NAME; }; f; make",
    "while read d; do cd $d; make; done < NAME/list",
    "env -C NAME make",
    "systemd-run --working-directory=DIR make",
    "make -sCNAME",
    "make -sC NAME",
    "make -CDIR",
    "ninja -CNAME",
    // Loops, variables and substitutions.
    "for f in DIR/*.sh; do sh $f; done",
    "for f in NAME/*.sh; do sh \"$f\"; done",
    "for f in NAME/x.sh NAME/y.sh; do sh \"$f\"; done",
    "for f in $(ls NAME); do sh NAME/$f; done",
    "for m in x; do . \"NAME/$m.sh\"; done",
    "for m in x y; do . \"NAME/$m.sh\"; done",
    "for f in NAME/*.sh; do \"$f\"; done",
    "for f in NAME/*.sh; do . \"$f\"; done",
    "for f in NAME/*; do python3 \"$f\"; done",
    "cd NAME; for f in *.sh; do sh ./$f; done",
    "sh $(printf %s NAME/x.sh)",
    "a=$(printf %s NAME/x.sh); sh $a",
    "IFS=/; set -- NAME x.sh; sh \"$*\"",
    "IFS=/; for f in NAME/*.sh; do sh $f; done",
    "read a < NAME/list; sh $a",
    "while read -r l; do sh \"$l\"; done < NAME/list",
    ". \"$x\"",
    "sh NAME/x.s?",
    "sh N*/x.sh",
    "./N*/x.sh",
    "eval \"$(cat NAME/x.sh)\"",
    "sh -c \"$(cat NAME/x.sh)\"",
    "cat NAME/x.sh | sh",
    "cat NAME/*.sh | sh",
    "sh < NAME/x.sh",
    "sh < NAME/x.s?",
    "$x NAME/x.sh",
    "\"$(command -v sh)\" NAME/x.sh",
    // Lists of files.
    "ls NAME/x.sh | xargs sh",
    "ls -d NAME/x.sh | xargs -n1 sh",
    "ls NAME/x.sh | xargs -I{} sh {}",
    "ls NAME/x.sh | xargs -I{} sh -c '. {}'",
    "xargs -aNAME/list sh",
    "xargs -a NAME/list sh",
    "xargs -a NAME/list make",
    "xargs -a NAME/list env",
    "find . -name '*.sh' -exec sh {} \\;",
    "find NAME -name '*.sh' -exec sh {} +",
    "find NAME -name '*.sh' -exec {} \\;",
    "find NAME -type d -execdir make \\;",
    "find NAME -type f -execdir ./x.sh \\;",
    "run-parts NAME",
    "run-parts --regex sh NAME",
    "ls NAME/x.sh | parallel sh",
    "parallel sh {} ::: NAME/x.sh",
    // Modules.
    "cd NAME; python3 -m foo",
    "cd NAME; python3 -m pack",
    "cd NAME; python3 -m json.tool x",
    "cd NAME; python3 -m unittest test_a",
    "cd NAME; python3 -m unittest",
    "python3 NAME",
    "PYTHONPATH=NAME python3 -c 'import foo'",
    "cd NAME; python3 -m \"$m\"",
    "node NAME/x",
    "node NAME",
    "cd NAME; node .",
    "cd NAME; node -r ./x -e 1",
    "cd NAME; node -r pack -e 1",
    "cd NAME; node --test",
    "node --require ./NAME/x y.js",
    "NODE_OPTIONS='-r ./NAME/x' node y.js",
    "perl -I NAME -Mfoo -e 1",
    "perl -INAME -Mfoo -e 1",
    "perl -IDIR -Mfoo -e 1",
    "PERL5LIB=NAME perl -Mfoo -e 1",
    "ruby -I NAME -r foo -e 1",
    "ruby -r ./NAME/foo -e 1",
    "cd NAME; lua -l foo -e 1",
    // Files that others name.
    "gcc @NAME/options",
    "./script",
    "sh -c ./script",
    "BASH_ENV=NAME/x.sh bash -c :",
    "export BASH_ENV=NAME/x.sh; bash -c :",
    "ENV=NAME/x.sh sh -i",
    "LD_PRELOAD=NAME/x.sh ls",
    "PAGER=$x git log",
    "GIT_SSH_COMMAND=NAME/x.sh git fetch",
    "find $(cat NAME/list)",
    "env $x",
    "tar -xf a.tar --to-command \"$x\"",
    "awk -f \"$x\" a",
    "sed -f NAME/x.s? a",
];

/// Texts that run such a file from the root directory. `DIR` is the directory, `RELATIVE` its path without the first slash.
const FROM_ROOT: &[&str] = &[
    "d=NAME; cd DIR/../$d; make -s",
    "cd RELATIVE; make -s",
    "cd tmp; cd ..; cd RELATIVE/sub; make -s",
    "cd ${x:-DIR}; sh x.sh",
    "for f in DIR/../NAM*/x.sh; do sh $f; done",
    "for f in RELATIVE/*.sh; do sh $f; done",
    "sh $(printf /%s RELATIVE/x.sh)",
    "a=$(printf %s DIR/x.sh); sh $a",
    "IFS=/; set -- RELATIVE x.sh; sh /\"$*\"",
    "ls DIR/*.sh | xargs sh",
    "ls -d DIR/*.sh | xargs -n1 sh",
    "find DIR/.. -maxdepth 4 -path '*NAME/x.sh' -exec sh {} \\;",
    "perl -IDIR -Mfoo -e 1",
    "perl -IRELATIVE -Mfoo -e 1",
    "xargs -aDIR/options sh",
    "python3 DIR",
    "make -sCRELATIVE",
];

/// Texts of every day in a directory that only trusted users can change. `SAFE` is its path.
const EVERYDAY: &[&str] = &[
    "systemctl restart nginx",
    "systemctl restart \"$x\"",
    "apt-get install -y nginx",
    "rm -rf SAFE/cache",
    "make -C SAFE install",
    "cd SAFE && make install",
    "cd SAFE; make install",
    "(cd SAFE; make) > /dev/null",
    "sh SAFE/x.sh",
    "sh SAFE/x.sh \"$HOME\" > /dev/null 2>&1",
    "cd SAFE; ./x.sh",
    "for f in SAFE/*.sh; do sh \"$f\"; done",
    "for m in x y; do . \"SAFE/$m.sh\"; done",
    "for s in a b; do systemctl restart \"$s\"; done",
    "run-parts SAFE",
    "find SAFE -name '*.sh' -exec sh {} \\;",
    "find SAFE -name '*.tmp' -delete",
    "find SAFE -name '*.tmp' | xargs rm -f",
    "cd SAFE; git pull; git push origin \"$branch\"",
    "git -C SAFE status",
    "cd SAFE; python3 -m foo",
    "python3 SAFE/foo.py \"$x\"",
    "cd SAFE; node x.js",
    "cd SAFE; npm ci",
    "perl -ne 'print if /x/' SAFE/list",
    "bash -c 'systemctl reload nginx'",
    "echo done | tee SAFE/log",
    "curl -fsS https://example.com/health",
    "ssh web1 systemctl restart nginx",
    "tar -czf SAFE/a.tgz -C SAFE \"$x\"",
    "chown -R www-data SAFE/*.sh",
    "docker compose -f SAFE/compose.yml up -d \"$service\"",
    "cp SAFE/x.sh SAFE/y.sh; chmod 755 SAFE/y.sh",
];

/// Builds a directory with files of many kinds.
fn fill(scratch: &Scratch, directory: &str) {
    for name in [
        "x.sh",
        "y.sh",
        "Makefile",
        "build.ninja",
        "package.json",
        "Cargo.toml",
        "list",
        "options",
        "foo.py",
        "foo.pm",
        "foo.rb",
        "foo.lua",
        "json/tool.py",
        "pack/__main__.py",
        "test_a.py",
        "__main__.py",
        "x.js",
        "index.js",
        "x.test.js",
        "node_modules/pack/index.js",
        ".git/config",
        "sub/Makefile",
        "sub/x.sh",
    ] {
        scratch.write(&format!("{directory}/{name}"), "# one\n");
    }
}

/// Command that runs a text with `sh`.
fn shell(text: &str, directory: &Path) -> Command {
    let program = if text.contains("pushd") { "/bin/bash" } else { "/bin/sh" };
    Command {
        args: vec!["-c".into(), text.into()],
        cwd: directory.into(),
        environment: vec![
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), "/root".to_owned()),
        ],
        origin: CommandOrigin::Shell,
        ..Command::new(program)
    }
}

/// Returns the digests of what a command runs, and whether others can exchange it; an error for what can't be approved.
fn covered(command: &Command) -> Result<(BTreeMap<String, String>, bool), String> {
    let (files, analysis) = (SystemFiles::new(Cancellation::never()), analysis_of(None, command, &[]));
    // What can't be read is never run.
    if let Some(unreadable) = analysis.unreadable {
        return Err(unreadable.message);
    }
    let run = CoveredCommand {
        program: command.program.to_str(),
        analysis: &analysis,
        variables: &command.environment,
    };
    let covered_files = CoveredFiles::new(&files);
    let covered = covered_files.of(run).map_err(|error| format!("{error}: {}", error.hint()))?;
    let is_open = covered_files.exchangeable(run, &covered, &[0, current_user()]).is_some();
    Ok((covered, is_open))
}

#[test]
fn a_file_that_others_can_change_is_covered_or_makes_the_command_not_approvable() {
    let scratch = Scratch::new();
    fill(&scratch, "NAME");
    let directory = scratch.path().join("NAME");
    scratch.write_program("script", "#!/usr/bin/env -S sh NAME/x.sh\n");
    let everybody = Permissions::from_mode(0o777);
    set_permissions(&directory, everybody).expect("a mode");
    let path = scratch.at("NAME");
    let written = |text: &str| text.replace("DIR", &path).replace("RELATIVE", path.trim_start_matches('/'));
    let texts: Vec<(String, &Path)> = (CHANGEABLE.iter().map(|text| (written(text), scratch.path())))
        .chain(FROM_ROOT.iter().map(|text| (written(text), Path::new("/"))))
        .collect();
    let look = || texts.iter().map(|(text, directory)| covered(&shell(text, directory))).collect::<Vec<_>>();
    let before = look();
    for path in tree_of(&directory).expect("a tree").files {
        std::fs::write(path, "# two\n").expect("a file");
    }
    let after = look();
    let mut wrong = Vec::new();
    for (((text, _), before), after) in texts.iter().zip(before).zip(after) {
        match (before, after) {
            (Err(_), Err(_)) => {}
            (Ok((before, true)), Ok((after, true))) if before != after => {}
            (before, after) => wrong.push(format!("{text}: {before:?} {after:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_made_later_is_another_command() {
    let scratch = Scratch::new();
    for (text, made) in [
        ("git status", ".gitattributes"),
        ("cd d; git status", "d/.git/config"),
        ("cd d; make", "d/Makefile"),
        ("node x", "x.js"),
        ("python3 -m foo", "foo.py"),
        ("python3 -m foo", "foo/__init__.py"),
        ("run-parts d", "d/later"),
        ("for f in d/*.sh; do sh $f; done", "d/later.sh"),
        ("find d -name '*.sh' -exec sh {} \\;", "d/e/later.sh"),
        ("cd d; npm ci", "d/.npmrc"),
    ] {
        std::fs::create_dir_all(scratch.path().join("d/e")).expect("a directory");
        let command = shell(text, scratch.path());
        let (before, _) = covered(&command).expect(text);
        let path = scratch.write(made, "# later\n");
        let (after, _) = covered(&command).expect(text);
        assert_ne!(before, after, "{text}");
        std::fs::remove_file(path).expect("a file");
    }
}

#[test]
fn texts_of_every_day_can_be_approved() {
    let scratch = Scratch::new();
    fill(&scratch, "safe");
    let mut wrong = Vec::new();
    for text in EVERYDAY {
        let text = text.replace("SAFE", &scratch.at("safe"));
        match covered(&shell(&text, Path::new("/"))) {
            Ok((_, false)) => {}
            other => wrong.push(format!("{text}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_message_names_the_word() {
    for (text, word, hint) in [
        ("sh $a", "`$a`", "write the exact path of the file instead of `$a`"),
        ("ls | xargs sh", "`<names of files>`", "write the exact path"),
        ("cd \"$x\"; make", "`make`", "write the exact path of the directory behind `cd`"),
        ("find / -exec sh {} \\;", "below /", "write the exact path of the file"),
    ] {
        let error = covered(&shell(text, Path::new("/"))).expect_err(text);
        assert!(error.contains(word) && error.contains(hint), "{text}: {error}");
    }
}

#[test]
fn a_manifest_of_a_caller_names_devices_of_the_system() {
    let files = SystemFiles::new(Cancellation::never());
    let gate = CalledManifestGate::new(Rc::new(OpenGate), &files);
    for device in ["null", "zero", "full", "random", "urandom", "tty"] {
        let command = shell(&format!("ls > /dev/{device} 2>&1"), Path::new("/"));
        assert_eq!(gate.problem(&command), None, "{device}");
    }
    let scratch = Scratch::new();
    set_permissions(scratch.write("null", ""), Permissions::from_mode(0o666)).expect("a mode");
    for path in [scratch.at("null"), format!("/dev/..{}", scratch.at("null"))] {
        assert!(gate.problem(&shell(&format!("ls > {path}"), Path::new("/"))).is_some(), "{path}");
    }
}
