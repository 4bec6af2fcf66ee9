//! Commands in a sandbox that try to get out.

mod attributes;
mod files;
mod layers;
mod limits;
mod network;
mod prepared;
mod processes;
mod programs;
mod server;

use std::path::{Path, PathBuf};

use ccm_host::{Command, Exit, Finished, Runner as _, Sandbox, SystemRunner};
use ccm_testkit::Scratch;

use crate::hostile::launched::{chain, launched, start_error};
use crate::hostile::{run, shell, text};

/// Working directory of a sandbox, and files outside beside it.
pub(crate) struct Place {
    scratch: Scratch,
}

impl Place {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write("work/own", "own\n");
        scratch.write("outside/secret", "secret\n");
        scratch.write("outside/open/file", "open\n");
        Self { scratch }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn sandbox(&self) -> Sandbox {
        Sandbox::new(self.at("work"))
    }

    /// Returns a shell command in the sandbox, with `$OUTSIDE` for the files outside.
    pub(crate) fn shell(&self, text: &str) -> Command {
        self.shell_in(self.sandbox(), text)
    }

    pub(crate) fn shell_in(&self, sandbox: Sandbox, text: &str) -> Command {
        let mut command = Command { cwd: self.at("work"), sandbox: Some(sandbox), ..shell(text) };
        let outside = self.at("outside").display().to_string();
        command.environment.push(("OUTSIDE".to_owned(), outside));
        command
    }

    /// Returns a Perl program in the sandbox. Every Debian has Perl.
    pub(crate) fn perl_in(&self, sandbox: Sandbox, text: &str) -> Command {
        let args = vec!["-e".into(), text.into()];
        Command { program: "/usr/bin/perl".into(), args, ..self.shell_in(sandbox, "") }
    }

    pub(crate) fn perl(&self, text: &str) -> Command {
        self.perl_in(self.sandbox(), text)
    }

    pub(crate) fn outside_content(&self, name: &str) -> Option<String> {
        self.scratch.read(&format!("outside/{name}"))
    }
}

/// Runs a command that must succeed, and returns its output.
pub(crate) async fn succeed(runner: &SystemRunner, command: &Command) -> String {
    let finished = run(runner, command).await;
    assert_eq!(finished.exit, Exit::Code(0), "{}", errors(&finished));
    text(&finished.stdout)
}

/// Runs a command that must fail by itself, and returns its error output.
pub(crate) async fn fail(runner: &SystemRunner, command: &Command) -> String {
    let finished = run(runner, command).await;
    assert!(matches!(finished.exit, Exit::Code(1..)), "{command:?}: {:?}", finished.exit);
    errors(&finished)
}

fn errors(finished: &Finished) -> String {
    format!("{}{}", text(&finished.stdout), text(&finished.stderr))
}

#[test]
fn sandboxed_command_has_its_directory_and_the_system() {
    launched(async |runner| {
        let place = Place::new();
        let work = place.at("work");
        let private = format!("/tmp/ccm-test-{}", std::process::id());
        let does = format!(
            "pwd; cat own; echo new > made; cat made; ls; echo x > {private}; cat {private}; \
                    getent passwd 0 | cut -d: -f1; head -c 3 /dev/zero | wc -c; echo y | tee /dev/stderr > /dev/null; \
                    chmod 600 made; mkdir deep; mv made deep; rm -r deep; ln -s own link; cat link"
        );
        let printed = succeed(runner, &place.shell(&does)).await;
        assert_eq!(printed, format!("{}\nown\nnew\nmade\nown\nx\nroot\n3\nown\n", work.display()));
        assert!(!Path::new(&private).exists(), "what is private was written outside");
        assert!(succeed(runner, &place.perl("print $$ == getppid() ? 0 : 1")).await.contains('1'));
        let given = Command { stdin: Some("given".into()), ..place.shell("cat") };
        assert_eq!(succeed(runner, &given).await, "given");
    });
}

#[test]
fn paths_of_a_sandbox_must_exist() {
    launched(async |runner| {
        let place = Place::new();
        let link = place.at("link");
        std::os::unix::fs::symlink(place.at("outside"), &link).expect("a link");
        let none = place.at("none");
        let gone = "No such file or directory (os error 2)";
        let over_link = "it leads through a symbolic link; use the path that the link leads to";
        for (sandbox, property, path, cause) in [
            (Sandbox { workdir: none.clone(), ..place.sandbox() }, "workdir", &none, gone),
            (Sandbox { read: vec![none.clone()], ..place.sandbox() }, "read", &none, gone),
            (Sandbox { write: vec![none.clone()], ..place.sandbox() }, "write", &none, gone),
            (Sandbox { write: vec![link.clone()], ..place.sandbox() }, "write", &link, over_link),
            (
                Sandbox { read: vec![link.join("open")], ..place.sandbox() },
                "read",
                &link.join("open"),
                over_link,
            ),
            (
                Sandbox { read: vec!["/".into()], ..place.sandbox() },
                "read",
                &PathBuf::from("/"),
                "it is the whole file system",
            ),
            (
                Sandbox { write: vec!["/sys/power".into()], ..place.sandbox() },
                "write",
                &PathBuf::from("/sys/power"),
                "a sandbox never opens files of the kernel or devices for writing",
            ),
            (
                Sandbox { workdir: place.at("work/own"), ..place.sandbox() },
                "workdir",
                &place.at("work/own"),
                "Not a directory (os error 20)",
            ),
        ] {
            for advisory in [false, true] {
                let sandbox = Sandbox { advisory, ..sandbox.clone() };
                let error = start_error(runner, &place.shell_in(sandbox, "true")).await;
                let expected =
                    format!("`{property}` of the sandbox: \"{}\" can't be opened: {cause}", path.display());
                assert_eq!(chain(&error), expected);
            }
        }
    });
}

#[test]
fn program_outside_the_sandbox_is_reported() {
    launched(async |runner| {
        let place = Place::new();
        let tool = place.scratch.write_program("outside/tool", "#!/bin/sh\necho tool\n");
        let own = place.scratch.write_program("work/tool", "#!/bin/sh\necho own\n");
        let hidden = Command { program: tool.clone(), ..place.shell("") };
        let error = start_error(runner, &hidden).await;
        assert_eq!(
            error.to_string(),
            format!("\"{}\" can't be seen from inside the sandbox", tool.display())
        );
        let error = runner.preflight(&hidden).expect_err("nobody sees it");
        assert!(error.to_string().ends_with("can't be seen from inside the sandbox"), "{error}");
        let missing = Command { program: "/no/such".into(), ..place.shell("") };
        assert_eq!(start_error(runner, &missing).await.to_string(), "\"/no/such\" not found");
        assert_eq!(succeed(runner, &Command { program: own, ..place.shell("") }).await, "own\n");
        let elsewhere = Command { cwd: place.at("outside"), ..place.shell("true") };
        let expected =
            format!("working directory \"{}\" is not open in the sandbox", place.at("outside").display());
        assert_eq!(chain(&start_error(runner, &elsewhere).await), expected);
        assert_eq!(chain(&runner.preflight(&elsewhere).expect_err("it is not open")), expected);
        let opened = Sandbox { read: vec![place.at("outside")], ..place.sandbox() };
        let visible = Command { program: tool, ..place.shell_in(opened, "") };
        assert_eq!(succeed(runner, &visible).await, "tool\n");
    });
}

#[test]
fn nothing_is_left_behind() {
    launched(async |runner| {
        let place = Place::new();
        let look = || std::fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
        let before = look();
        for text in ["true", "exit 3", "kill -9 $$"] {
            run(runner, &place.shell(text)).await;
        }
        let missing = Sandbox { read: vec![place.at("none")], ..place.sandbox() };
        start_error(runner, &place.shell_in(missing, "true")).await;
        assert_eq!(look(), before);
        assert_eq!(place.scratch.names(), ["outside", "work"]);
    });
}
