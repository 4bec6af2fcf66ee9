//! Options, settings and subcommands of `git`.

use std::fs;
use std::process::Command;

use ccm_testkit::{Random, usual_or_long};

use crate::machine::{Case, Machine};
use crate::outside;

const GLOBAL: [&str; 30] = [
    "-C sub",
    "-C ../out",
    "-c core.pager=run1",
    "-c alias.x=!run2",
    "-c alias.x=log",
    "-c core.fsmonitor=run3",
    "-c core.editor=run4",
    "-c diff.external=run1",
    "-c core.sshCommand=run2",
    "-c sequence.editor=run3",
    "-c gpg.program=run4",
    "-c pager.log=run1",
    "-c diff.t.textconv=run2",
    "-c filter.t.clean=run3",
    "-c merge.t.driver=run4",
    "-c interactive.diffFilter=run1",
    "-c credential.helper=!run2",
    "-c user.name=x",
    "-c color.ui=always",
    "-p",
    "--no-pager",
    "--git-dir=.git",
    "--git-dir .git --work-tree ../out",
    "--work-tree=../out",
    "--exec-path=sub",
    "-c core.worktree=../out",
    "-c core.hooksPath=hooks",
    "--literal-pathspecs",
    "--odd",
    "-c odd.x=run1",
];

const COMMANDS: [&str; 98] = [
    "status",
    "log -1",
    "log --output=../out/x1",
    "log --outp=../out/x1 -p",
    "diff HEAD~1",
    "diff --no-index f ../secret",
    "diff --output=../out/x2 HEAD~1",
    "show",
    "show HEAD:f",
    "archive HEAD -o ../out/x3",
    "archive --output ../out/x3 HEAD",
    "archive --format=tar HEAD",
    "archive --remote=. --exec=run1 HEAD",
    "bundle create ../out/x4 HEAD",
    "bundle verify f",
    "format-patch -1 -o ../out/x5",
    "format-patch -1",
    "init ../out/x6",
    "init sub/n",
    "init --separate-git-dir=../out/x7 sub/m",
    "clone . ../out/x8",
    "clone . sub/c",
    "clone -u run1 . sub/d",
    "clone --upload-pack=run2 . sub/e",
    "clone --template=../out . sub/g",
    "checkout -f",
    "checkout -- f",
    "checkout-index -f -a --prefix=../out/x9",
    "checkout-index -f -a",
    "config core.pager run1",
    "config -f ../out/x10 a.b c",
    "config --file=../out/x10 a.b c",
    "config --get user.name",
    "config --global a.b c",
    "commit -m x --allow-empty",
    "commit --allow-empty",
    "commit --amend",
    "commit -S -m x --allow-empty",
    "rebase -x run2 HEAD~1",
    "rebase --exec=run3 HEAD~1",
    "rebase --exe run4 HEAD~1",
    "rebase -i HEAD~1",
    "bisect start HEAD HEAD~1",
    "bisect run run1",
    "grep -Orun1 x",
    "grep --open-files-in-pager=run2 x",
    "grep --open=run3 x",
    "grep x",
    "grep --no-index T ../secret",
    "difftool -y -x run3 HEAD~1",
    "difftool -y --extcmd=run4 HEAD~1",
    "difftool -y --ext run1 HEAD~1",
    "submodule foreach run1",
    "submodule status",
    "filter-branch -f --tree-filter run2 HEAD",
    "ls-remote --upload-pack=run3 .",
    "ls-remote --exec=run4 .",
    "fetch --upload-pack run4 .",
    "fetch --upload-pa run1 . HEAD",
    "fetch . HEAD",
    "pull . HEAD",
    "pull --upload-pack=run2 .",
    "stash",
    "worktree add ../out/x11",
    "worktree add sub/w",
    "notes add -f -F f",
    "notes add -f -F ../secret",
    "notes show",
    "tag t1",
    "hash-object ../secret",
    "hash-object -w f",
    "fast-export --export-marks=../out/x12 HEAD",
    "bugreport -o ../out/x13 -s x",
    "x",
    "x run1",
    "blame f",
    "blame --contents ../secret f",
    "apply p.patch",
    "apply --directory=../out p.patch",
    "branch b1",
    "reset --hard HEAD",
    "clean -fd",
    "shortlog HEAD",
    "rev-parse HEAD",
    "for-each-ref",
    "push . HEAD:refs/heads/y",
    "push --receive-pack=run1 . HEAD:refs/heads/z",
    "push --exec=run2 . HEAD:refs/heads/z",
    "upload-pack .",
    "var GIT_EDITOR",
    "add -A",
    "add -p",
    "merge HEAD~1",
    "cherry-pick HEAD",
    "revert --no-edit HEAD",
    "read-tree --index-output=../out/x14 HEAD",
    "show --ext-diff",
    "diff --textconv HEAD~1",
];

struct Repository {
    machine: Machine,
}

impl Repository {
    fn new() -> Self {
        let programs = ["/usr/bin/git", "/usr/bin/sh", "/usr/bin/cat"];
        let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n";
        let files = [("f", "x\n"), ("p.patch", patch), (".gitattributes", "f diff=t filter=t merge=t\n")];
        let machine = outside::machine(&programs, &files).keep(".git");
        for setup in [
            "init -q -b main",
            "config user.name x",
            "config user.email x@example.org",
            "config gc.auto 0",
            "add -A",
            "commit -q -m one",
            "commit -q --allow-empty -m two",
            "commit -q --allow-empty -m three",
        ] {
            machine.run(&case(setup.split(' ').map(ToOwned::to_owned).collect(), Vec::new()));
        }
        let repository = Self { machine };
        repository.copy(".git", "../bin/pristine");
        assert!(fs::metadata(repository.machine.path(".git/HEAD")).is_ok(), "no repository");
        repository
    }

    fn copy(&self, from: &str, to: &str) {
        let paths = [from, to].map(|name| self.machine.path(name));
        let _ = fs::remove_dir_all(&paths[1]);
        let done = Command::new("/usr/bin/cp").arg("-a").args(paths).status().expect("cp starts");
        assert!(done.success(), "the repository is not copied");
    }

    /// Undoes what the last command changed.
    fn restore(&self) {
        self.copy("../bin/pristine", ".git");
        let sub = self.machine.path("sub");
        for entry in fs::read_dir(sub).expect("a directory") {
            let path = entry.expect("an entry").path();
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}

fn case(arguments: Vec<String>, variables: Vec<(String, String)>) -> Case {
    let words = std::iter::once("/usr/bin/git".to_owned()).chain(arguments).collect();
    Case { words, name: "git".to_owned(), variables, input: String::new() }
}

#[test]
fn whatever_git_starts_or_writes_is_named() {
    let repository = Repository::new();
    let mut random = Random::new(0x617_617);
    let happened = outside::compare(&repository.machine, usual_or_long(250, 100_000), || {
        repository.restore();
        let mut words = Vec::new();
        let mut add = |part: &str| words.extend(part.split(' ').map(ToOwned::to_owned));
        for _ in 0..random.below(3) {
            add(random.one_of(&GLOBAL));
        }
        add(random.one_of(&COMMANDS));
        let variables = match random.below(12) {
            0 => vec![("GIT_EDITOR".to_owned(), "run1".to_owned())],
            1 => vec![("GIT_EXTERNAL_DIFF".to_owned(), "run2".to_owned())],
            2 => vec![("GIT_SSH_COMMAND".to_owned(), "run3".to_owned())],
            _ => Vec::new(),
        };
        case(words, variables)
    });
    assert!(happened > 15, "{happened} cases started or wrote something");
}
