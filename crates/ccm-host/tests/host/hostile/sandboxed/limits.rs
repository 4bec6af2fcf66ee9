//! Limits of processes, memory, file size and processor time.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use ccm_host::{Exit, Means, ReachedLimit, Sandbox, SandboxLayer, SandboxLimit, SandboxLimits, SystemRunner};
use ccm_testkit::{is_root, isolated, isolated_with_setup, needs_root, skipped, wait_until};

use super::layers::isolated_without;
use super::{Place, fail, launched, succeed};
use crate::hostile::launched::{launcher, start_error};
use crate::hostile::{block_on, end, has_ended, run, text};

fn limited(place: &Place, limits: SandboxLimits) -> Sandbox {
    Sandbox { limits, ..place.sandbox() }
}

/// Perl that starts processes until it is refused, and then ends with the number of those that it started.
const MANY: &str = "my $n = 0; while ($n < 200) { my $p = fork; last if !defined $p; if (!$p) { sleep 60; exit } \
                    push @p, $p; $n++ } kill 'KILL', @p; print $n";

#[test]
fn number_of_processes_is_limited() {
    launched(async |runner| {
        let place = Place::new();
        let limits = SandboxLimits { processes: SandboxLimit::requested(10), ..SandboxLimits::default() };
        let finished = run(runner, &place.perl_in(limited(&place, limits), MANY)).await;
        assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
        // The program itself is one of them.
        assert_eq!(text(&finished.stdout), "9");
        let means = if is_root() { Means::ControlGroup } else { Means::ResourceLimit };
        assert_eq!(finished.enforced.expect("what was enforced").processes, [means]);
        assert_eq!(finished.reached.contains(&ReachedLimit::Processes), is_root());
        let default = limited(&place, SandboxLimits::default());
        let started = succeed(runner, &place.perl_in(default, MANY)).await;
        assert_eq!(started, "200");
    });
}

#[test]
fn processes_of_others_are_not_counted() {
    launched(async |runner| {
        let place = Place::new();
        let mut other = std::process::Command::new("sleep").arg("77").spawn().expect("a child");
        let limits = SandboxLimits { processes: SandboxLimit::requested(2), ..SandboxLimits::default() };
        let finished = run(runner, &place.shell_in(limited(&place, limits), "/bin/true; echo both")).await;
        other.kill().expect("to end it");
        other.wait().expect("its end");
        assert_eq!(text(&finished.stdout), "both\n", "{finished:?}");
    });
}

#[test]
fn memory_is_limited() {
    launched(async |runner| {
        let place = Place::new();
        let limits = SandboxLimits { memory: SandboxLimit::requested(64 << 20), ..SandboxLimits::default() };
        let need = "my $x = 'x' x (200 << 20); print length $x";
        let finished = run(runner, &place.perl_in(limited(&place, limits), need)).await;
        assert_ne!(finished.exit, Exit::Code(0), "{finished:?}");
        assert_eq!(finished.reached, if is_root() { vec![ReachedLimit::Memory] } else { Vec::new() });
        let plain = succeed(runner, &place.perl_in(limited(&place, SandboxLimits::default()), need)).await;
        assert_eq!(plain, (200 << 20).to_string());
    });
}

#[test]
fn file_size_and_processor_time_are_limited() {
    launched(async |runner| {
        let place = Place::new();
        for (limits, command, reached) in [
            (
                SandboxLimits { file_size: Some(1 << 20), ..SandboxLimits::default() },
                "exec dd if=/dev/zero of=big bs=1M count=2 status=none",
                ReachedLimit::FileSize,
            ),
            (
                SandboxLimits { cpu: Some(Duration::from_secs(1)), ..SandboxLimits::default() },
                "while :; do :; done",
                ReachedLimit::Cpu,
            ),
        ] {
            let finished = run(runner, &place.shell_in(limited(&place, limits), command)).await;
            assert!(matches!(finished.exit, Exit::Signal { .. }), "{command}: {finished:?}");
            assert_eq!(finished.reached, [reached], "{command}");
        }
    });
}

#[test]
fn signals_queued_for_a_user_are_not_used_up() {
    launched(async |runner| {
        let place = Place::new();
        // Each timer keeps a signal in reserve.
        let greedy = format!(
            "my ($n, $id) = (0, 'room'); $n++ while $n < 5000 && syscall({}, 1, 0, $id) == 0; print $n",
            libc::SYS_timer_create
        );
        let made: u32 = succeed(runner, &place.perl(&greedy)).await.parse().expect("a number");
        // Those of the same user outside of the sandbox may count as well.
        assert!((500..=1024).contains(&made), "{made}");
    });
}

#[test]
fn limit_that_is_not_enforced_is_refused_only_if_it_was_requested() {
    isolated_without(&[SandboxLayer::ControlGroups, SandboxLayer::Namespaces], async |runner| {
        let place = Place::new();
        let finished = run(runner, &place.shell("true")).await;
        let enforced = finished.enforced.expect("what was enforced");
        assert!(enforced.processes.is_empty(), "{enforced:?}");
        assert_eq!(enforced.memory, [Means::ResourceLimit]);
        assert!(enforced.not_required.iter().any(|part| part.starts_with("`processes`")), "{enforced:?}");
        let limits = SandboxLimits { processes: SandboxLimit::requested(10), ..SandboxLimits::default() };
        let error = start_error(runner, &place.shell_in(limited(&place, limits), "true")).await;
        assert!(error.to_string().contains("can't enforce the sandbox"), "{error}");
        // Each process has the limit of memory by itself.
        let limits = SandboxLimits { memory: SandboxLimit::requested(64 << 20), ..SandboxLimits::default() };
        let need = "my $x = 'x' x (200 << 20); print length $x";
        let finished = run(runner, &place.perl_in(limited(&place, limits), need)).await;
        assert_ne!(finished.exit, Exit::Code(0), "{finished:?}");
    });
}

/// Returns the directories of the control groups that this process made.
fn directories() -> Vec<PathBuf> {
    let ours = format!("ccm-sandbox-*-{}-*", std::process::id());
    let found = std::process::Command::new("find")
        .args(["/sys/fs/cgroup", "-maxdepth", "5", "-name", &ours])
        .output()
        .expect("find");
    String::from_utf8_lossy(&found.stdout).lines().map(PathBuf::from).collect()
}

/// Returns the names of the control groups that this process made. A group may have several directories.
fn groups() -> BTreeSet<String> {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    directories().iter().filter_map(name).collect()
}

/// Returns the name of the control group of a command that prints its groups.
fn group_in(printed: &str) -> String {
    let own = printed.split(['/', '\n']).find(|part| part.starts_with("ccm-sandbox-"));
    own.unwrap_or_else(|| unreachable!("{printed}")).to_owned()
}

const SHOW_GROUPS: &str = "cat /proc/self/cgroup";

#[test]
fn sandboxes_have_a_control_group_with_their_limits_and_all_are_removed() {
    isolated(|| {
        if !needs_root() {
            return;
        }
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        block_on(async {
            let place = Place::new();
            let mut former: Option<(u64, String)> = None;
            // The limits of a sandbox are those of the one before, or others.
            for max in [10, 10, 11, 10] {
                let limits =
                    SandboxLimits { processes: SandboxLimit::requested(max), ..SandboxLimits::default() };
                let sandbox = limited(&place, limits);
                let own = group_in(&succeed(&runner, &place.shell_in(sandbox.clone(), SHOW_GROUPS)).await);
                assert!(former.is_none_or(|(of_max, former)| of_max == max || former != own));
                let second = run(&runner, &place.shell_in(sandbox.clone(), SHOW_GROUPS)).await;
                assert_eq!((group_in(&text(&second.stdout)), second.reached), (own.clone(), vec![]));
                assert_eq!(groups(), BTreeSet::from([own.clone()]));
                let refused = run(&runner, &place.perl_in(sandbox, MANY)).await;
                assert_eq!(text(&refused.stdout), (max - 1).to_string(), "{refused:?}");
                assert_eq!(refused.reached, [ReachedLimit::Processes]);
                former = Some((max, own));
            }
            // Another ccm may take a group without processes for an abandoned one.
            for directory in directories() {
                // The kernel counts a process for a moment after its end.
                wait_until("the group has no process", || std::fs::remove_dir(&directory).is_ok());
            }
            assert_eq!(groups(), BTreeSet::new());
            assert_eq!(succeed(&runner, &place.shell("echo x")).await, "x\n");
        });
        drop(runner);
        assert_eq!(groups(), BTreeSet::new());
    });
}

/// Runs a body as root, with limits that let a sandbox use 64 MiB. All groups have to be removed after it.
fn with_little_memory(body: impl AsyncFnOnce(&SystemRunner, &Place, SandboxLimits)) {
    isolated(|| {
        if !needs_root() {
            return;
        }
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        let limits = SandboxLimits { memory: SandboxLimit::requested(64 << 20), ..SandboxLimits::default() };
        block_on(async { body(&runner, &Place::new(), limits).await });
        drop(runner);
        assert_eq!(groups(), BTreeSet::new());
    });
}

#[test]
fn control_group_in_use_gets_no_other_sandbox() {
    with_little_memory(async |runner, place, limits| {
        let show = |before: &str| place.shell_in(limited(place, limits), &format!("{before} {SHOW_GROUPS}"));
        let leaves = run(runner, &show("sleep 66 > /dev/null 2>&1 &")).await;
        let first = group_in(&text(&leaves.stdout));
        let second = group_in(&succeed(runner, &show("head -c 32M /dev/zero > big;")).await);
        let third = group_in(&succeed(runner, &show("")).await);
        assert_eq!(BTreeSet::from([&first, &second, &third]).len(), 3);
        end(&leaves.left_running);
        for directory in directories().iter().filter(|path| path.ends_with(&first)) {
            wait_until("the group has no process", || std::fs::remove_dir(directory).is_ok());
        }
    });
}

#[test]
fn limit_that_a_left_process_reaches_is_not_that_of_the_next_sandbox() {
    with_little_memory(async |runner, place, limits| {
        let greedy = "perl -e 'select(undef, undef, undef, 0.01) until -e \"go\"; my $n = 200 << 20; \
                      my $x = \"x\" x $n' > /dev/null 2>&1 &";
        let leaves = run(runner, &place.shell_in(limited(place, limits), greedy)).await;
        assert_eq!((leaves.left_running.len(), leaves.reached), (1, vec![]));
        std::fs::write(place.at("work/go"), "").expect("a file");
        wait_until("its process has ended", || has_ended(leaves.left_running[0].pid));
        end(&leaves.left_running);
        let next = run(runner, &place.shell_in(limited(place, limits), "true")).await;
        assert_eq!(next.reached, []);
    });
}

/// Makes groups as this shell would make them if it were ccm, and goes on in a PID namespace that does not show it.
const CONTAINER_BESIDE: &str = r#"
namespace=$(readlink /proc/self/ns/pid | tr -dc 0-9)
CCM_BESIDE=
for part in '' pids memory unified; do
    own=$(sed -n "s/^[0-9]*:$part://p" /proc/self/cgroup)
    group=/sys/fs/cgroup/$part$own/ccm-sandbox-$namespace-$$-0
    ! mkdir "$group" 2> /dev/null || CCM_BESIDE="$CCM_BESIDE $group"
done
export CCM_BESIDE
exec unshare --pid --fork --kill-child --mount-proc "$0" "$@""#;

#[test]
fn control_groups_of_other_pid_namespaces_are_left_alone() {
    if !needs_root() {
        return;
    }
    isolated_with_setup(CONTAINER_BESIDE, || {
        let beside = std::env::var("CCM_BESIDE").unwrap_or_default();
        let beside: Vec<&str> = beside.split_ascii_whitespace().collect();
        if beside.is_empty() {
            return skipped("control groups can't be made here");
        }
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher());
        block_on(async {
            let place = Place::new();
            assert_eq!(succeed(&runner, &place.shell("echo x")).await, "x\n");
        });
        drop(runner);
        let left: Vec<bool> = beside.iter().map(|group| std::fs::remove_dir(group).is_ok()).collect();
        assert_eq!(left, vec![true; beside.len()], "{beside:?}");
    });
}

#[test]
fn private_directory_is_limited_and_never_on_disk() {
    launched(async |runner| {
        let place = Place::new();
        let private = || Sandbox { private: Some(place.at("work")), ..place.sandbox() };
        let does = "pwd; ls; stat -f -c %S,%b .; stat -c %a,%u .; echo x > made; cat made";
        let printed = succeed(runner, &place.shell_in(private(), does)).await;
        let expected =
            format!("{}\n4096,262144\n700,{}\nx\n", place.at("work").display(), nix::unistd::geteuid());
        assert_eq!(printed, expected);
        assert!(!place.at("work/made").exists());
        let denied = fail(runner, &place.shell_in(private(), "fallocate -l 1025M big")).await;
        assert!(denied.contains("No space left on device"), "{denied}");

        let write = vec![place.at("outside/open")];
        let temporary = Sandbox { private: Some(place.at("outside/open")), write, ..place.sandbox() };
        let printed =
            succeed(runner, &place.shell_in(temporary, "cat own; ls $OUTSIDE/open; echo > $OUTSIDE/open/x"))
                .await;
        assert_eq!(printed, "own\n");
        assert_eq!(
            (place.outside_content("open/x"), place.outside_content("open/file")),
            (None, Some("open\n".to_owned()))
        );
    });
}

#[test]
fn private_directory_without_a_limit_is_reported() {
    isolated_without(&[SandboxLayer::Namespaces], async |runner| {
        let place = Place::new();
        let private = Sandbox { private: Some(place.at("work")), ..place.sandbox() };
        let finished = run(runner, &place.shell_in(private, "echo x > made")).await;
        assert_eq!(finished.exit, Exit::Code(0), "{finished:?}");
        assert!(place.at("work/made").exists());
        let not_enforced = finished.enforced.expect("what was enforced").not_required;
        assert!(not_enforced.iter().any(|part| part.contains("1 GiB")), "{not_enforced:?}");
    });
}
