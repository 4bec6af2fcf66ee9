//! Sandboxes that may execute only some programs.

use ccm_host::{AllowedPrograms, Command, Means, Sandbox, SandboxLayer, StartError};

use super::layers::isolated_without;
use super::{Place, fail, launched, start_error, succeed};
use crate::hostile::run;

fn only(place: &Place, programs: &[&str]) -> Sandbox {
    let programs = programs.iter().map(Into::into).collect();
    Sandbox { programs: Some(AllowedPrograms { programs, are_analysed: false }), ..place.sandbox() }
}

#[test]
fn only_allowed_programs_are_executed() {
    launched(async |runner| {
        let place = Place::new();
        let printed = succeed(runner, &place.shell_in(only(&place, &["cat"]), "cat own; echo x")).await;
        assert_eq!(printed, "own\nx\n");
        let tries = [
            "rm own",
            "/bin/rm own",
            "command rm own",
            "exec rm own",
            "sh -c 'exec rm own'",
            "cp /bin/rm mine && ./mine own",
            "cat /bin/rm > mine; chmod 755 mine; ./mine own",
            "cat /bin/rm > /tmp/mine; chmod 755 /tmp/mine; /tmp/mine own",
            "echo '#!/bin/rm' > mine; chmod 755 mine; ./mine own",
            "echo '#!/bin/cat' > mine; chmod 755 mine; ./mine own",
        ];
        for attempt in tries {
            let sandbox = only(&place, &["cat", "/bin/chmod", "sh"]);
            let error = fail(runner, &place.shell_in(sandbox, attempt)).await;
            assert!(error.contains("ermission denied"), "{attempt}: {error}");
        }
        assert_eq!(succeed(runner, &place.shell("cat own; rm own")).await, "own\n");
    });
}

#[test]
fn interpreters_and_loaders_of_allowed_programs_are_executed() {
    launched(async |runner| {
        let place = Place::new();
        let directory = place.at("outside/open");
        for (name, line) in [("direct", "#!/usr/bin/perl -w"), ("by-env", "#!/usr/bin/env perl")] {
            let script = directory.join(name);
            std::fs::write(&script, format!("{line}\nprint \"ran\\n\";\n")).expect("a script");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&script, mode).expect("a mode");
            let path = script.display().to_string();
            let sandbox = Sandbox { read: vec![directory.clone()], ..only(&place, &[&path]) };
            assert_eq!(succeed(runner, &place.shell_in(sandbox, &path)).await, "ran\n");
            let sandbox = Sandbox { read: vec![directory.clone()], ..only(&place, &["cat"]) };
            fail(runner, &place.shell_in(sandbox, &path)).await;
        }
        let started = run(runner, &place.perl_in(only(&place, &[]), "print 'ran'")).await;
        assert_eq!(started.enforced.expect("a sandbox").programs, [Means::Landlock]);
    });
}

#[test]
fn programs_in_memory_are_not_executed() {
    launched(async |runner| {
        let place = Place::new();
        // memfd_create without and with MFD_NOEXEC_SEAL.
        let number = if cfg!(target_arch = "x86_64") { 319 } else { 279 };
        let made =
            |flags: u32| format!("print syscall({number}, my $n = 'x', {flags}) >= 0 ? 'made' : 'refused'");
        let sandbox = || only(&place, &[]);
        assert_eq!(succeed(runner, &place.perl_in(sandbox(), &made(0))).await, "refused");
        assert_eq!(succeed(runner, &place.perl(&made(0))).await, "made");
    });
}

#[test]
fn a_program_that_does_not_exist_is_named_unless_it_may_be_missing() {
    launched(async |runner| {
        let place = Place::new();
        for name in ["no-such-program", "/no/such/program", "/usr"] {
            let command = place.shell_in(only(&place, &[name]), "true");
            match start_error(runner, &command).await {
                StartError::SandboxPath { property, path, .. } => {
                    assert_eq!((&*property, path.to_str()), ("programs", Some(name)));
                }
                other => unreachable!("{name}: {other:?}"),
            }
            let mut sandbox = only(&place, &[name]);
            sandbox.programs.as_mut().expect("programs").are_analysed = true;
            assert_eq!(succeed(runner, &place.shell_in(sandbox, "echo ran")).await, "ran\n");
        }
    });
}

#[test]
fn programs_without_landlock_are_refused_by_name() {
    isolated_without(&[SandboxLayer::Landlock], async |runner| {
        let place = Place::new();
        let command: Command = place.shell_in(only(&place, &["cat"]), "true");
        match start_error(runner, &command).await {
            StartError::NotEnforceable { missing } => {
                assert_eq!(missing, ["`programs`: this kernel has no Landlock"]);
            }
            other => unreachable!("{other:?}"),
        }
    });
}
