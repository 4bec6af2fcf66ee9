//! Start errors, and ends of commands.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ccm_host::{Cancellation, Command, Exit, LocalSystem as _, Runner as _, StartError, SystemRunner};
use ccm_testkit::{is_root, needs_own_mounts, skipped};

use crate::hostile::{alone, alone_with_setup, run, shell};

fn program(place: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
    let path = place.join(name);
    fs::write(&path, content).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    path
}

async fn start_error(runner: &SystemRunner, command: &Command) -> StartError {
    let started = runner.run(command, &Cancellation::never(), &mut |_, _| {}).await;
    started.expect_err("a command that does not start")
}

#[test]
fn every_exit_code_is_reported() {
    alone(async |runner| {
        for code in 0..=255 {
            assert_eq!(run(runner, &shell(&format!("exit {code}"))).await.exit, Exit::Code(code));
        }
    });
}

#[test]
fn end_by_a_signal_is_reported() {
    alone(async |runner| {
        for (number, name) in
            [(11, "SIGSEGV"), (9, "SIGKILL"), (15, "SIGTERM"), (1, "SIGHUP"), (37, "SIGRTMIN+3")]
        {
            let finished = run(runner, &shell(&format!("ulimit -c 0; kill -{number} $$; sleep 9"))).await;
            assert_eq!(finished.exit, Exit::Signal { number, name: name.to_owned() });
        }
    });
}

#[test]
fn program_that_can_not_run_is_diagnosed() {
    alone(async |runner| {
        let place = tempfile::tempdir().expect("a directory");
        let at = place.path();
        let bare = program(at, "bare", b"echo hello\n", 0o755);
        let plain = program(at, "plain", b"#!/bin/sh\n", 0o644);
        let script = program(at, "script", b"#!/no/such/interpreter -x\n", 0o755);
        let windows = program(at, "windows", b"#!/bin/sh\r\necho\r\n", 0o755);
        let spaced = program(at, "spaced", b"#! \t/no/such/env python3 -u\n", 0o755);
        let odd = program(at, "odd", b"#!/etc/passwd\n", 0o755);
        let cases: [(&Path, String); 9] = [
            (at, format!("\"{}\" is a directory", at.display())),
            (&plain, format!("\"{}\" is not executable", plain.display())),
            (Path::new("/no/such/program"), "\"/no/such/program\" not found".to_owned()),
            (Path::new("/etc/passwd/x"), "\"/etc/passwd/x\" not found".to_owned()),
            (
                &bare,
                format!(
                    "\"{}\" is neither an executable for the architecture of this machine nor a script that begins with #!",
                    bare.display()
                ),
            ),
            (
                &script,
                format!(
                    "\"{}\" needs the interpreter \"/no/such/interpreter\", which does not exist",
                    script.display()
                ),
            ),
            (
                &windows,
                format!(
                    "\"{}\" needs the interpreter \"/bin/sh\\r\", which does not exist",
                    windows.display()
                ),
            ),
            (
                &spaced,
                format!(
                    "\"{}\" needs the interpreter \"/no/such/env\", which does not exist",
                    spaced.display()
                ),
            ),
            (&odd, format!("\"{}\" could not be started", odd.display())),
        ];
        for (program, message) in cases {
            let command = Command { program: program.to_owned(), ..shell("") };
            assert_eq!(start_error(runner, &command).await.to_string(), message);
        }
        let error = start_error(runner, &Command { program: odd, ..shell("") }).await;
        let cause = std::error::Error::source(&error).expect("a cause").to_string();
        assert!(cause.starts_with("its interpreter \"/etc/passwd\": Permission denied"), "{cause}");
    });
}

#[test]
fn binary_without_its_loader_is_diagnosed() {
    alone(async |runner| {
        let mut bytes = fs::read("/bin/true").expect("a binary");
        let loader = b"/ld-linux";
        let Some(at) = bytes.windows(loader.len()).position(|part| part == loader) else {
            return skipped("the programs of this machine have no loader");
        };
        bytes[at + 1..at + 3].copy_from_slice(b"no");
        let place = tempfile::tempdir().expect("a directory");
        let program = program(place.path(), "foreign", &bytes, 0o755);
        let error = start_error(runner, &Command { program: program.clone(), ..shell("") }).await;
        assert_eq!(
            error.to_string(),
            format!("the interpreter or loader of \"{}\" is missing", program.display())
        );
    });
}

#[test]
fn noexec_mount_is_diagnosed() {
    if !needs_own_mounts() {
        return;
    }
    // The mount is in a namespace that ends with this process.
    let mount = r#"exec unshare -m \
        sh -c 'mount -t tmpfs -o noexec none /mnt; exec "$0" "$@"' "$0" "$@""#;
    alone_with_setup(mount, async |runner| {
        let program = program(Path::new("/mnt"), "script", b"#!/bin/sh\n", 0o755);
        let error = start_error(runner, &Command { program, ..shell("") }).await;
        assert_eq!(error.to_string(), "\"/mnt/script\" is on a file system that is mounted noexec");
    });
}

#[test]
fn working_directory_that_can_not_be_entered_is_diagnosed() {
    alone(async |runner| {
        for (cwd, cause) in [
            ("/no/such", "No such file"),
            ("/etc/passwd", "Not a directory"),
            ("/etc/passwd/x", "Not a directory"),
        ] {
            let error = start_error(runner, &Command { cwd: cwd.into(), ..shell("true") }).await;
            assert_eq!(error.to_string(), format!("working directory \"{cwd}\" can't be entered"));
            let source = std::error::Error::source(&error).expect("a cause").to_string();
            assert!(source.starts_with(cause), "{source}");
        }
    });
}

#[test]
fn impossible_arguments_are_refused() {
    alone(async |runner| {
        let zero = Command { args: vec!["a\0b".into()], ..shell("") };
        let long = Command { args: vec!["x".repeat(200_000).into()], ..shell("") };
        for (command, cause) in [(zero, "an argument holds a zero byte"), (long, "Argument list too long")] {
            let error = start_error(runner, &command).await;
            let source = std::error::Error::source(&error).expect("a cause").to_string();
            assert!(source.starts_with(cause), "{source}");
        }
    });
}

#[test]
fn program_is_found_as_a_shell_would() {
    alone(async |runner| {
        let place = tempfile::tempdir().expect("a directory");
        let at = place.path();
        for directory in ["one", "one/tool", "two", "three"] {
            fs::create_dir(at.join(directory)).expect("a directory");
        }
        program(at, "two/tool", b"", 0o644);
        let tool = program(at, "three/tool", b"", 0o755);
        let own = program(at, "own", b"", 0o755);
        program(at, "two/plain", b"", 0o644);
        std::os::unix::fs::symlink(&tool, at.join("one/link")).expect("a link");
        std::os::unix::fs::symlink("/no/such", at.join("one/own")).expect("a link");

        let all = format!("{0}/none:{0}/one:{0}/two:{0}/three", at.display());
        let relative = "one:two:three:.::".to_owned();
        for (name, path, expected) in [
            ("tool", &all, Some(&tool)),
            ("link", &all, Some(&at.join("one/link"))),
            ("./own", &all, Some(&own)),
            ("three/tool", &relative, Some(&tool)),
            ("one/../three/tool", &relative, Some(&at.join("one/../three/tool"))),
            (tool.to_str().expect("a path"), &relative, Some(&tool)),
            ("tool", &relative, None),
            ("own", &all, None),
            ("", &all, None),
            ("./none", &all, None),
            ("own/", &all, None),
            ("own/x", &all, None),
        ] {
            match (runner.find(name, path, at), expected) {
                (Ok(found), Some(expected)) => assert_eq!(&found, expected, "{name}"),
                (Err(StartError::NotFound { name: named, path: searched }), None) => {
                    assert_eq!((named.as_str(), &searched), (name, path));
                }
                (found, _) => unreachable!("{name} in {path}: {found:?}"),
            }
        }
        assert!(matches!(runner.find("one/tool", "", at), Err(StartError::IsDirectory { .. })));
        for (name, path) in [("two/tool", ""), ("plain", &all)] {
            assert!(matches!(runner.find(name, path, at), Err(StartError::NotExecutable { .. })), "{name}");
        }
        assert_eq!(
            runner.find("nix", "/bin", at).expect_err("none").to_string(),
            "\"nix\" not found in PATH"
        );
    });
}

#[test]
fn base_environment_is_of_this_user() {
    alone(async |runner| {
        let environment = runner.base_environment();
        let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL"]);
        if is_root() {
            assert!(environment.contains(&("HOME".to_owned(), "/root".to_owned())), "{environment:?}");
            assert!(environment.contains(&("USER".to_owned(), "root".to_owned())), "{environment:?}");
        }
    });
}
