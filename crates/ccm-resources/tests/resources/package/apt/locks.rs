//! Locks, time limits and the gate around apt.

use super::*;

#[test]
fn held_lock_is_waited_for() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.becomes(&["a installed 1"]);
    let line = "/usr/bin/apt-get install --no-install-recommends -o DPkg::Options::=--force-confdef -o \
                DPkg::Options::=--force-confold --download-only -y -q -o Dpkg::Use-Pty=0 -o \
                DPkg::Lock::Timeout=0 -- a";
    let held = "E: Could not get lock /var/cache/apt/archives/lock. It is held by process 7 (apt-get)\n";
    machine.refuses(line, held);
    machine.refuses(line, held);
    machine.runner.fake.answer(line, 0);
    let done = machine.apply(vec![package("a", &[])]);
    assert_eq!(told(&done), ["changed"]);
    assert_eq!(
        done[0].warnings,
        [
            "waited for another program: Could not get lock /var/cache/apt/archives/lock. It is held by process 7 \
          (apt-get); the command took 6s in total"
        ]
    );

    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.refuses(line, held);
    let done = machine.apply(vec![package("a", &[("lock_timeout", "4s")])]);
    let failed = failure(&done[0]);
    assert_eq!(failed.chain[0], "another program is still changing packages after 4s");
    assert!(failed.hints.contains(&"raise `lock_timeout` to wait longer".to_owned()));
    assert_eq!(machine.ran().iter().filter(|line| line.contains("--download-only")).count(), 3);
}

#[test]
fn change_refused_by_a_lock_changed_nothing() {
    let held = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt-get)\n\
                E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?\n";
    // apt started, and its dpkg was refused the lock.
    let inside = "dpkg: error: dpkg database lock was locked by another process with pid 7\n\
                  E: Sub-process /usr/bin/dpkg returned an error code (2)\n";
    let line = "/usr/bin/apt-get remove -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 -- a";
    for (stderr, after, changed) in [
        (held, "a installed 1", false),
        // The exit code alone proves nothing.
        (held, "a half-configured 1", true),
        (inside, "a installed 1", true),
        ("E: it breaks\n", "a installed 1", true),
    ] {
        let machine = Machine::debian(&["a installed 1"]);
        machine.becomes(&[after]);
        machine.refuses(line, stderr);
        let done = machine.apply(vec![package("a", &[("ensure", "absent"), ("lock_timeout", "0")])]);
        assert_eq!(failure(&done[0]).changed, changed, "{stderr} {after}");
    }
}

#[test]
fn daemon_started_by_a_package_is_noted() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["a 1"]));
    machine.becomes(&["a installed 1"]);
    let mut finished = printed(Exit::Code(0), "", "");
    finished.left_running.push(ccm_host::Process::new(7, "nginx"));
    let line = "/usr/bin/apt-get install --no-install-recommends -o DPkg::Options::=--force-confdef -o \
                DPkg::Options::=--force-confold -y -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 -- a";
    machine.runner.fake.answer_with(line, finished);
    let done = machine.apply(vec![package("a", &[])]);
    assert_eq!(
        (done[0].outcome.clone(), &done[0].notes[..]),
        (Outcome::Changed, &["left running: 7 nginx".to_owned()][..])
    );
}

#[test]
fn longest_timeout_counts_for_a_common_call() {
    let seconds = |limits: &[&str]| {
        let machine = Machine::debian(&[]);
        machine.becomes(&["a installed 1", "b installed 1"]);
        machine.index(&policy(&["a 1", "b 1"]));
        let names = ["a", "b"].into_iter().zip(limits);
        let limited = names.map(|(name, limit)| match *limit {
            "" => package(name, &[("lock_timeout", "1s")]),
            limit => package(name, &[("lock_timeout", "1s"), ("timeout", limit)]),
        });
        assert!(told(&machine.apply(limited.collect())).iter().all(|told| told == "changed"));
        let ran = machine.runner.fake.ran();
        let install = ran.iter().rfind(|command| command.args.first().is_some_and(|verb| verb == "install"));
        install.expect("an installation").timeout.map(|timeout| timeout.as_secs())
    };
    for (limits, expected) in [
        (&["", ""][..], Some(3600)),
        (&["10m", "20m"], Some(1200)),
        (&["10m", ""], Some(3600)),
        (&["10m", "0"], None),
        (&["10m"], Some(600)),
    ] {
        assert_eq!(seconds(limits), expected, "{limits:?}");
    }
}

#[test]
fn a_gate_tells_questions_from_changes_and_stays_in_the_failure() {
    let machine = Machine::debian(&[]);
    machine.index(&policy(&["zsh - 5.9-4"]));
    let executor = LocalExecutor::new(&machine.runner, &machine.runner.fake, &machine.files);
    let host = Host {
        executor: &executor,
        system: &machine.runner.fake,
        files: &machine.files,
        clock: &machine.clock,
    };
    let gate = RoleGate::denying(Role::Tool);
    let done = gate.run(vec![package("zsh", &[])], false, host).pop().expect("a transaction");
    let asked = gate.questions();
    assert_eq!(asked.first().map(String::as_str), Some("Query: ccm /usr/bin/dpkg-query"), "{asked:?}");
    assert_eq!(asked.last().map(String::as_str), Some("Tool: ccm /usr/bin/apt-get"), "{asked:?}");
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("change: ")).count(), 1);
    assert_eq!((failure(&done).kind, failure(&done).changed), (FailureKind::Denied, false));
    let gate = RoleGate::denying(Role::Query);
    let done = gate.run(vec![package("zsh", &[])], false, host).pop().expect("a transaction");
    assert_eq!(failure(&done).kind, FailureKind::Denied);
}
