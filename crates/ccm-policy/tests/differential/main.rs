//! Generated texts, run for real: whatever starts, or is written, or is read, was named by the analysis, or the analysis
//! said that it does not know.
#![allow(clippy::expect_used, clippy::panic, reason = "a test ends with its first error")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test runs programs and looks at their files itself"
)]

mod awk;
mod env;
mod find;
mod git;
mod machine;
mod make;
mod outside;
mod perl;
mod sed;
mod shells;
mod tar;
mod variables;
mod xargs;

use ccm_policy::{Analysis, CodeSource, EffectKind, GuardClass};
use machine::{Case, Machine, SECRET, Traces};

/// Runs cases, and fails with those of which the analysis missed something. Returns the number of cases in which
/// something happened that the analysis named.
fn compare(machine: &Machine, count: usize, mut next: impl FnMut() -> Case) -> usize {
    let mut errors = Vec::new();
    let mut named = 0;
    for _ in 0..count {
        let case = next();
        let analysis = machine.analyse(&case);
        let traces = machine.run(&case);
        let missed = missed(machine, &analysis, &traces);
        if !missed.is_empty() && !is_unknown(&analysis) {
            errors.push(format!("{:?} with {:?}: {missed:?}", case.words, case.variables));
        } else if missed.is_empty() && !traces.is_empty() {
            named += 1;
        }
        if errors.len() >= 20 {
            break;
        }
    }
    assert!(errors.is_empty(), "{} cases:\n{}", errors.len(), errors.join("\n"));
    named
}

/// Returns `true` if the analysis says that it does not know all.
fn is_unknown(analysis: &Analysis) -> bool {
    let unknown = [
        GuardClass::CodeInline,
        GuardClass::CodePipe,
        GuardClass::Eval,
        GuardClass::OptionUnknown,
        GuardClass::Options,
        GuardClass::ProgramUnknown,
        GuardClass::Variables,
    ];
    let findings = analysis.commands.iter().flat_map(|command| &command.findings);
    analysis.unreadable.is_some()
        || findings.map(|finding| finding.class).any(|class| unknown.contains(&class))
}

/// Returns what happened and was not named.
fn missed(machine: &Machine, analysis: &Analysis, traces: &Traces) -> Vec<String> {
    let mut missed = Vec::new();
    let has_effect = |kind: EffectKind, path: Option<&str>| {
        let mut effects = analysis.commands.iter().flat_map(|command| &command.effects);
        effects.any(|effect| effect.kind == kind && effect.object.as_deref() == path)
    };
    let has_script = |path: &str| {
        let mut effects = analysis.commands.iter().flat_map(|command| &command.effects);
        effects.any(|effect| effect.code == Some(CodeSource::File) && effect.object.as_deref() == Some(path))
    };
    for name in &traces.started {
        let is_named = analysis
            .commands
            .iter()
            .any(|command| !command.is_suspected && command.base_name() == Some(name));
        // A script of the workspace runs a program of its own.
        let script = machine.path(&format!("script-{name}"));
        if !is_named && !has_script(&script) {
            missed.push(format!("started {name}"));
        }
    }
    for path in &traces.written {
        if !has_effect(EffectKind::Write, Some(path)) && !has_effect(EffectKind::Write, None) {
            missed.push(format!("wrote {path}"));
        }
    }
    let secret = machine.path("../secret");
    let is_read = traces.output.contains(SECRET);
    if is_read && !has_effect(EffectKind::Read, Some(&secret)) && !has_effect(EffectKind::Read, None) {
        missed.push(format!("read {secret}"));
    }
    missed
}
