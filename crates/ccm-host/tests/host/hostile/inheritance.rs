//! Inherited state of commands.

use ccm_host::{Command, Identity, SystemRunner, prepare_process};
use ccm_testkit::{isolated_with_setup, needs_root, skipped};

use crate::hostile::launched::{launched, launcher, stranger};
use crate::hostile::sandboxed::Place;
use crate::hostile::{alone, alone_with_setup, block_on, run, shell, text};

#[test]
fn environment_is_exactly_the_given_one() {
    alone(async |runner| {
        let environment = [("B", "2"), ("A", "x=y z\nw"), ("EMPTY", "")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let env = Command { program: "/usr/bin/env".into(), args: Vec::new(), environment, ..shell("") };
        assert_eq!(text(&run(runner, &env).await.stdout), "B=2\nA=x=y z\nw\nEMPTY=\n");
    });
}

#[test]
fn arguments_and_directory_are_exactly_the_given_ones() {
    alone(async |runner| {
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path().canonicalize().expect("a directory");
        let mut command = shell("pwd -P; echo \"$0\"; for word; do echo \"[$word]\"; done");
        command.args.extend(["zero", "a b", "", "$HOME", "*"].map(Into::into));
        command.cwd.clone_from(&place);
        let expected = format!("{}\nzero\n[a b]\n[]\n[$HOME]\n[*]\n", place.display());
        assert_eq!(text(&run(runner, &command).await.stdout), expected);
    });
}

#[test]
fn argv_zero_is_called_as_or_the_program() {
    launched(async |runner| {
        let place = Place::new();
        for (called_as, expected) in [(None, "/bin/cat"), (Some("cat".to_owned()), "cat")] {
            // Only the kernel is asked: programs differ in what of it they print.
            let args = vec!["/proc/self/cmdline".into()];
            let command = Command { program: "/bin/cat".into(), called_as, args, ..shell("") };
            for command in [
                command.clone(),
                Command { umask: Some(0o022), ..command.clone() },
                Command { sandbox: Some(place.sandbox()), cwd: place.at("work"), ..command },
            ] {
                let printed = text(&run(runner, &command).await.stdout);
                assert_eq!(printed, format!("{expected}\0/proc/self/cmdline\0"));
            }
        }
    });
}

#[test]
fn only_three_files_are_open() {
    let inherited = "exec 7</dev/null 9>/dev/null";
    alone_with_setup(inherited, async |runner| {
        prepare_process().expect("a process of our own");
        let _ours = std::fs::File::open("/dev/null").expect("a file");
        for stdin in [None, Some("text".into())] {
            // The fourth descriptor is of the directory that is being read.
            let command = Command { stdin, ..shell("exec ls /proc/self/fd") };
            assert_eq!(text(&run(runner, &command).await.stdout), "0\n1\n2\n3\n");
        }
    });
}

#[test]
fn no_signal_is_ignored_or_blocked() {
    let ignored = "trap '' HUP INT QUIT USR1 TERM";
    alone_with_setup(ignored, async |runner| {
        let blocked = nix::sys::signal::SigSet::all();
        blocked.thread_block().expect("to block signals");
        let finished = run(runner, &shell("exec sed -n '/^SigBlk/p; /^SigIgn/p' /proc/self/status")).await;
        let none = "0000000000000000";
        assert_eq!(text(&finished.stdout), format!("SigBlk:\t{none}\nSigIgn:\t{none}\n"));
    });
}

#[test]
fn command_has_its_own_session() {
    alone(async |runner| {
        let finished = run(runner, &shell("exec cat /proc/self/stat")).await;
        let row = text(&finished.stdout);
        let (head, tail) = row.rsplit_once(") ").expect("a row");
        let pid = head.split(' ').next().expect("a number");
        let fields: Vec<&str> = tail.split(' ').collect();
        // State, parent, group, session, terminal.
        assert_eq!(fields[2..5], [pid, pid, "0"], "{row}");
    });
}

#[test]
fn closed_standard_streams_of_ccm_do_no_harm() {
    alone(async |runner| {
        let saved = nix::unistd::dup(std::io::stdout()).expect("a copy");
        let mut output = Vec::new();
        for closed in 1..8 {
            for descriptor in (0..3).filter(|descriptor| closed & (1 << descriptor) != 0) {
                nix::unistd::close(descriptor).expect("to close a standard stream");
            }
            for stdin in [None, Some("in".into())] {
                let command = Command { stdin, ..shell("cat; echo out; echo err >&2") };
                let finished = run(runner, &command).await;
                output.push((text(&finished.stdout), text(&finished.stderr)));
            }
            nix::unistd::dup2_stdin(&saved).expect("to open it again");
            nix::unistd::dup2_stdout(&saved).expect("to open it again");
            nix::unistd::dup2_stderr(&saved).expect("to open it again");
        }
        for pair in output.chunks(2) {
            let expected = |begin: &str| (format!("{begin}out\n"), "err\n".to_owned());
            assert_eq!(pair, [expected(""), expected("in")]);
        }
    });
}

#[test]
#[cfg(target_arch = "x86_64")]
fn another_user_cannot_read_the_session_keyring() {
    // This process has a session keyring with a key, as after a login with Kerberos: the shell gets the
    // keyring from its child. System call 250 is keyctl (1: join, 10: search, 11: read, 18: session to parent),
    // and 248 is add_key.
    let key = "my ($t, $n, $k) = ('user', 'ccm-test', 'key of root'); syscall(250, 1, 0) >= 0 or die $!; \
               syscall(248, $t, $n, $k, length $k, -3) >= 0 or die $!; syscall(250, 18) >= 0 or die $!";
    let search = "my ($t, $n) = ('user', 'ccm-test'); my $id = syscall(250, 10, -3, $t, $n, 0); \
                  $id >= 0 or die $!; my $b = ' ' x 11; syscall(250, 11, $id, $b, 11) >= 0 or die $!; print $b";
    isolated_with_setup(&format!("perl -e \"{}\"", key.replace('$', "\\$")), || {
        if !needs_root() {
            return;
        }
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        let perl =
            Command { program: "/usr/bin/perl".into(), args: vec!["-e".into(), search.into()], ..shell("") };
        let of_root = block_on(run(&runner, &perl));
        if ["Operation not permitted", "Function not implemented"]
            .iter()
            .any(|refused| text(&of_root.stderr).starts_with(refused))
        {
            skipped("the kernel or a container refuses keyrings");
            return;
        }
        assert_eq!(text(&of_root.stdout), "key of root", "{}", text(&of_root.stderr));
        let with_umask = block_on(run(&runner, &Command { umask: Some(0o77), ..perl.clone() }));
        assert_eq!(text(&with_umask.stdout), "key of root", "the user is the same");
        for identity in [stranger(), Identity { groups: vec![1], ..Identity::own().expect("root") }] {
            let found = block_on(run(&runner, &Command { identity: Some(identity), ..perl.clone() }));
            assert_eq!(text(&found.stdout), "");
            assert!(text(&found.stderr).starts_with("Required key not available"), "{}", text(&found.stderr));
        }
    });
}
