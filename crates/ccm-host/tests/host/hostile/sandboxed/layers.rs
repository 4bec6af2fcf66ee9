//! Sandboxes without one of the layers: the others hold, or the command is refused.

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;

use ccm_host::{Command, Exit, Means, Runner as _, Sandbox, SandboxLayer, SystemRunner};
use ccm_testkit::{is_root, isolated, needs_root, skipped, wait_until};

use super::{Place, chain, fail, start_error, succeed};
use crate::hostile::launched::launcher;
use crate::hostile::{block_on, end, run};

pub(super) fn isolated_without(layers: &[SandboxLayer], body: impl AsyncFnOnce(&SystemRunner)) {
    isolated(|| {
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        let runner = layers.iter().fold(runner, |runner, layer| runner.without(*layer));
        if !is_too_old(layers) {
            block_on(body(&runner));
        }
    });
}

/// Returns the version of Landlock that this kernel has; zero without Landlock.
pub(super) fn landlock_version() -> u32 {
    // landlock_create_ruleset has the same number on every kind of processor.
    let program = "print syscall(444, 0, 0, 1)";
    let printed = std::process::Command::new("perl").args(["-e", program]).output().expect("perl").stdout;
    String::from_utf8_lossy(&printed).parse().unwrap_or_default()
}

/// Returns `true` if a test needs a newer Landlock than that of this kernel, because namespaces are off.
fn is_too_old(off: &[SandboxLayer]) -> bool {
    // A test that switches versions off expects the refusal.
    let is_expected =
        |layer: &SandboxLayer| matches!(layer, SandboxLayer::Landlock | SandboxLayer::LandlockNewerThan(_));
    if !off.contains(&SandboxLayer::Namespaces) || off.iter().any(is_expected) {
        return false;
    }
    let version = landlock_version();
    if version < 3 {
        skipped(&format!("Landlock {version} of this kernel can't replace namespaces"));
    }
    version < 3
}

const NO_SECCOMP: [&str; 2] = [
    "`network: false` and `unix_sockets: false`: this kernel has no seccomp",
    "setuid and setgid files can't be forbidden: this kernel has no seccomp",
];

/// Runs the body with all layers, without namespaces and without Landlock. It gets the missing layers.
#[expect(clippy::needless_pass_by_value, reason = "a body is written where it is run")]
pub(super) fn in_every_way(body: impl AsyncFn(&SystemRunner, &[SandboxLayer])) {
    isolated(|| {
        for off in [&[][..], &[SandboxLayer::Namespaces], &[SandboxLayer::Landlock]] {
            let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
            let runner = off.iter().fold(runner, |runner, layer| runner.without(*layer));
            if !is_too_old(off) {
                block_on(body(&runner, off));
            }
        }
    });
}

/// Attempts that must fail with every set of layers.
const ATTEMPTS: [&str; 14] = [
    "cat $OUTSIDE/secret",
    "cat /proc/self/root$OUTSIDE/secret",
    "echo x > $OUTSIDE/new",
    "echo x > $OUTSIDE/secret",
    "truncate -s 0 $OUTSIDE/secret",
    "chmod 777 $OUTSIDE/secret",
    "touch -d 1970-01-01 $OUTSIDE/secret",
    "ln -s $OUTSIDE out; cat out/secret",
    "rm $OUTSIDE/secret",
    "cat /etc/shadow",
    "chmod 644 /etc/passwd",
    "echo 1 > /proc/sys/vm/stat_interval",
    "mount -t tmpfs none /tmp",
    "unshare -U true",
];

async fn attempt_all(runner: &SystemRunner, place: &Place) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connect = format!(
        "use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die $!; \
         connect(S, pack_sockaddr_in({port}, INADDR_LOOPBACK)) or die $!"
    );
    let sandbox = || Sandbox { advisory: true, ..place.sandbox() };
    for attempt in ATTEMPTS {
        fail(runner, &place.shell_in(sandbox(), attempt)).await;
    }
    fail(runner, &place.perl_in(sandbox(), &connect)).await;
    assert_eq!(place.outside_content("secret").as_deref(), Some("secret\n"));
    assert_eq!(place.outside_content("new"), None);
}

#[test]
fn other_layers_hold_without_namespaces() {
    isolated_without(&[SandboxLayer::Namespaces], async |runner| {
        let place = Place::new();
        let finished = run(runner, &place.shell("cat own; echo x > made; cat made")).await;
        assert_eq!(finished.exit, Exit::Code(0));
        let enforced = finished.enforced.expect("what was enforced");
        assert_eq!(enforced.filesystem, [Means::Landlock]);
        assert_eq!(enforced.network, [Means::Seccomp]);
        // Without namespaces, only a control group of root limits the number of processes.
        let (hidden, limits) = enforced.not_required.split_at(3);
        assert_eq!(limits.len(), usize::from(!is_root()), "{limits:?}");
        assert_eq!(
            hidden,
            [
                "hiding names, sizes, modes, times and extended attributes of files: this kernel offers no namespaces (switched off)",
                "hiding other processes: this kernel offers no namespaces (switched off)",
                "hiding files of the kernel in /proc: this kernel offers no namespaces (switched off)"
            ]
        );
        attempt_all(runner, &place).await;
    });
}

#[test]
fn other_layers_hold_without_landlock() {
    isolated_without(&[SandboxLayer::Landlock], async |runner| {
        let place = Place::new();
        let finished = run(runner, &place.shell("cat own; echo x > made")).await;
        assert_eq!(finished.exit, Exit::Code(0));
        let enforced = finished.enforced.expect("what was enforced");
        assert_eq!(enforced.filesystem, [Means::Mounts]);
        assert_eq!(enforced.network, [Means::Namespace, Means::Seccomp]);
        attempt_all(runner, &place).await;
    });
}

#[test]
fn sandbox_without_seccomp_is_refused_and_other_layers_hold() {
    isolated_without(&[SandboxLayer::Seccomp], async |runner| {
        let place = Place::new();
        let error = start_error(runner, &place.shell("true")).await;
        assert_eq!(
            chain(&error),
            format!("this kernel can't enforce the sandbox: {}", NO_SECCOMP.join("; "))
        );
        let advisory = Sandbox { advisory: true, ..place.sandbox() };
        let finished = run(runner, &place.shell_in(advisory, "true")).await;
        let enforced = finished.enforced.expect("what was enforced");
        assert_eq!(enforced.network, [Means::Namespace]);
        assert_eq!(enforced.missing, NO_SECCOMP);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let connect = format!(
            "use Socket; socket(S, AF_INET, SOCK_STREAM, 0) or die $!; \
             connect(S, pack_sockaddr_in({port}, INADDR_LOOPBACK)) or die $!"
        );
        let advisory = || Sandbox { advisory: true, ..place.sandbox() };
        fail(runner, &place.perl_in(advisory(), &connect)).await;
        for attempt in &ATTEMPTS[..13] {
            fail(runner, &place.shell_in(advisory(), attempt)).await;
        }
        assert_eq!(place.outside_content("secret").as_deref(), Some("secret\n"));
    });
}

#[test]
fn sandbox_without_enough_layers_is_refused_by_name() {
    let old = [SandboxLayer::Namespaces, SandboxLayer::LandlockNewerThan(2)];
    isolated_without(&old, async |runner| {
        let place = Place::new();
        let expected = "`read` and `write`: this kernel offers no namespaces (switched off) and Landlock of this kernel is too old \
                        (version 2, 3 is needed) to protect all files";
        let error = start_error(runner, &place.shell("true")).await;
        assert_eq!(chain(&error), format!("this kernel can't enforce the sandbox: {expected}"));
        let advisory = Sandbox { advisory: true, ..place.sandbox() };
        let finished = run(runner, &place.shell_in(advisory, "cat $OUTSIDE/secret")).await;
        assert_eq!(finished.enforced.expect("what was enforced").missing, [expected]);
    });
}

#[test]
fn sandbox_of_root_without_landlock_needs_a_user_namespace() {
    isolated_without(&[SandboxLayer::Landlock, SandboxLayer::Users], async |runner| {
        let place = Place::new();
        if !needs_root() {
            return;
        }
        let expected = "`read` and `write`: this kernel has no Landlock and no user namespace (switched off), and other \
                        processes of the same user lead out of the mounts";
        let error = start_error(runner, &place.shell("true")).await;
        assert_eq!(chain(&error), format!("this kernel can't enforce the sandbox: {expected}"));
        let advisory = Sandbox { advisory: true, ..place.sandbox() };
        let finished = run(runner, &place.shell_in(advisory, "true")).await;
        assert_eq!(finished.enforced.expect("what was enforced").missing, [expected]);
    });
}

#[test]
fn unix_sockets_that_would_be_shared_are_refused_by_name() {
    isolated_without(&[SandboxLayer::Namespaces], async |runner| {
        let place = Place::new();
        let sandbox = Sandbox { unix_sockets: true, ..place.sandbox() };
        let expected = "`unix_sockets`, limited to sockets of the sandbox: this kernel offers no namespaces (switched off), so \
                        sockets of the machine can be reached";
        let error = start_error(runner, &place.shell_in(sandbox.clone(), "true")).await;
        assert_eq!(chain(&error), format!("this kernel can't enforce the sandbox: {expected}"));
        let advisory = Sandbox { advisory: true, ..sandbox };
        let finished = run(runner, &place.shell_in(advisory, "true")).await;
        assert_eq!(finished.enforced.expect("what was enforced").missing, [expected]);
    });
}

#[test]
fn advisory_sandbox_runs_without_any_layer() {
    isolated_without(
        &[SandboxLayer::Namespaces, SandboxLayer::Landlock, SandboxLayer::Seccomp],
        async |runner| {
            let place = Place::new();
            assert!(
                chain(&start_error(runner, &place.shell("true")).await)
                    .contains("this kernel has no Landlock")
            );
            let advisory = Sandbox { advisory: true, ..place.sandbox() };
            let open = succeed(runner, &place.shell_in(advisory.clone(), "cat $OUTSIDE/secret")).await;
            assert_eq!(open, "secret\n");
            // The same attempts succeed here, so in the other tests the sandbox makes them fail.
            for attempt in ATTEMPTS.iter().filter(|attempt| attempt.contains("$OUTSIDE")) {
                succeed(runner, &place.shell_in(advisory.clone(), attempt)).await;
            }
        },
    );
}

#[test]
fn preflight_reports_as_a_run_does_and_runs_nothing() {
    isolated_without(&[SandboxLayer::Seccomp], async |runner| {
        let place = Place::new();
        let error = runner.preflight(&place.shell("echo x > made")).expect_err("a refusal");
        assert_eq!(
            chain(&error),
            format!("this kernel can't enforce the sandbox: {}", NO_SECCOMP.join("; "))
        );
        let advisory = Sandbox { advisory: true, ..place.sandbox() };
        let advisory = place.shell_in(advisory, "echo x > made");
        let enforced = runner.preflight(&advisory).expect("a rehearsal").expect("what would be enforced");
        assert_eq!(enforced.missing, NO_SECCOMP);
        assert!(!place.at("work/made").exists());
        let elsewhere = Command { cwd: place.at("none"), ..advisory.clone() };
        let error = runner.preflight(&elsewhere).expect_err("no such directory");
        assert!(chain(&error).starts_with("working directory"), "{}", chain(&error));
        assert_eq!(runner.preflight(&Command::new("/bin/true")).expect("nothing to do"), None);
        // Nothing is left that could affect a command.
        assert_eq!(run(runner, &advisory).await.enforced, Some(enforced));
    });
}

/// Waits for launchers, and tries to change their program until it finds the file `stop`.
const WATCH: &str = r#"
WATCH: until (-e "stop") {
    open(L, "<", "/proc/loadavg") or die; my ($last) = <L> =~ /(\d+)$/; close L;
    for my $pid ($last - 2 .. $last + 20) {
        sysopen(my $exe, "/proc/$pid/exe", 010000000) or next;
        my $at = "/proc/self/fd/" . fileno($exe);
        # From here, the path of a mount that is attached nowhere is the root.
        readlink($at) =~ m{^/$|ccm-launcher} or next;
        open(W, ">>", "seen"); print W readlink($at), "\n"; close W;
        chmod(0666, $at) and last WATCH;
        for (1 .. 200) { open(W, "+<", $at) and last WATCH; select(undef, undef, undef, 0.001) }
    }
}
open(W, ">>", "ended"); close W;
"#;

#[test]
fn other_sandboxes_can_not_change_the_launcher() {
    isolated(|| {
        let place = Place::new();
        let program = place.at("outside/ccm-launcher");
        std::fs::copy(launcher(), &program).expect("a launcher");
        let runner = SystemRunner::new().expect("a runner").with_launcher(&program);
        let runner = runner.without(SandboxLayer::Landlock);
        block_on(async {
            let watch = place.at("work/watch");
            std::fs::write(&watch, WATCH).expect("a program");
            let left = run(&runner, &place.shell("exec >/dev/null 2>&1; perl watch &")).await.left_running;
            for _ in 0..40 {
                succeed(&runner, &place.shell("true")).await;
            }
            std::fs::write(place.at("work/stop"), "").expect("a file");
            wait_until("the watch has ended", || place.at("work/ended").exists());
            assert_eq!(left.len(), 1);
            end(&left);
        });
        let seen = std::fs::read_to_string(place.at("work/seen")).unwrap_or_default();
        assert_eq!(seen, "", "the sandbox looked into processes");
        assert_eq!(std::fs::metadata(&program).expect("it").mode() & 0o777, 0o755);
        assert!(std::fs::read(&program).expect("it") == std::fs::read(launcher()).expect("it"));
    });
}
