//! The probes outside of any sandbox, where they get through, and in sandboxes of a manifest.

use ccm_host::{Exit, SystemRunner};
use ccm_testkit::{Ccm, is_root, isolated, needs_root, skipped, without_system_calls};

use crate::combinations::{command, compare, copy, run, this_program};
use crate::ground::{Ground, Target};
use crate::probe::{self, Circumstances, Outside, PROGRAM, TARGET, results};

/// An attempt that fails everywhere would show nothing.
#[test]
fn probes_get_through_outside_of_a_sandbox() {
    if !needs_root() {
        return;
    }
    isolated(|| {
        let ground = Ground::new(None);
        let target = Target { is_inside: false, ..ground.target.clone() };
        let runner = SystemRunner::new().expect("a runner");
        let finished = run(&runner, &command(&this_program(), &target)).expect("a command that starts");
        assert_eq!(finished.exit, Exit::Code(0), "{}", String::from_utf8_lossy(&finished.stderr.head));
        let results = results(&target.work());
        let mut refused = Vec::new();
        for probe in probe::all() {
            let outcome = results.get(&probe.name).copied();
            if probe.outside == Outside::Succeeds && outcome.is_none_or(probe::is_refused) {
                refused.push(format!("{}: {}", probe.name, outcome.map_or_else(String::new, probe::shown)));
            }
        }
        assert!(refused.is_empty(), "refused outside:\n{}", refused.join("\n"));
    });
}

/// Applies a manifest whose only resource makes the probes.
fn apply(circumstances: Circumstances) {
    let mut ground = Ground::new(None);
    let target = ground.target.clone();
    let scratch = ccm_testkit::Scratch::new();
    let program = copy(&scratch, &this_program(), "probes");
    let (program, root) = (program.display(), target.root.display());
    let Circumstances { network, namespaces, .. } = circumstances;
    // Without namespaces, a path in a writable one is refused.
    let fixed = if namespaces { format!("{root}/write/fixed, ") } else { String::new() };
    let manifest = format!(
        "ccm:\n  resources:\n    - exec:\n        - probes:\n            command: '{program} --exact {PROGRAM} --nocapture --test-threads=1'\n            \
         environment: {{{TARGET}: '{}'}}\n            sandbox: {{workdir: {root}/work, read: [{root}/read, {fixed}{program}], write: [{root}/write], network: {network}}}\n",
        target.encode()
    );
    scratch.write("manifest.yaml", manifest);
    let called = Ccm::new(env!("CARGO_BIN_EXE_ccm"), &scratch).args(&["apply", "manifest.yaml"]).run();
    if called.stdout.contains("this kernel can't enforce the sandbox") {
        skipped("this kernel can't enforce a sandbox");
        return;
    }
    assert_eq!(called.code, 0, "{}", called.shown());
    let mut failures = compare(&target, circumstances);
    failures.extend(ground.damage());
    assert!(failures.is_empty(), "{circumstances:?}: not as promised:\n{}", failures.join("\n"));
}

const COMPLETE: Circumstances = Circumstances {
    ccm_is_root: false,
    namespaces: true,
    landlock: true,
    signals: false,
    seccomp: true,
    network: false,
    unix_sockets: false,
};

#[test]
fn sandboxes_of_a_manifest_are_closed() {
    isolated(|| {
        let complete = Circumstances { ccm_is_root: is_root(), ..COMPLETE };
        apply(complete);
        apply(Circumstances { network: true, ..complete });
        // As in many containers, and on older kernels.
        without_system_calls(&[libc::SYS_unshare], || {
            apply(Circumstances { namespaces: false, ..complete });
        });
        without_system_calls(&[libc::SYS_landlock_create_ruleset], || {
            apply(Circumstances { landlock: false, ..complete });
        });
    });
}
