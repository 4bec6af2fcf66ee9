//! Files outside the working directory, in the directory `out` beside it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ccm_policy::{Analysis, EffectKind};

use crate::is_unknown;
use crate::machine::{Case, Machine, SECRET};

/// Name and content of a file outside.
const OUTSIDE: (&str, &str) = ("f", "outside\n");

/// Builds a machine with a directory outside.
pub(crate) fn machine(programs: &[&str], files: &[(&str, &str)]) -> Machine {
    let machine = Machine::new(programs, files).with_deadline();
    reset(&machine);
    machine
}

fn reset(machine: &Machine) {
    let directory = machine.path("../out");
    fs::create_dir_all(&directory).expect("a directory");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).expect("a mode");
    for entry in fs::read_dir(&directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
    let path = format!("{directory}/{}", OUTSIDE.0);
    fs::write(&path, OUTSIDE.1).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
}

/// Returns the paths outside that are new, changed or gone.
fn changed(machine: &Machine) -> Vec<String> {
    let directory = machine.path("../out");
    let known = format!("{directory}/{}", OUTSIDE.0);
    let mut changed = Vec::new();
    if fs::read_to_string(&known).ok().as_deref() != Some(OUTSIDE.1) {
        changed.push(known.clone());
    }
    let Ok(entries) = fs::read_dir(&directory) else { return vec![directory] };
    for entry in entries {
        let path = entry.expect("an entry").path().to_string_lossy().into_owned();
        if path != known {
            changed.push(path);
        }
    }
    changed
}

/// Runs cases, and fails with those that started, wrote or read what the analysis did not name. Returns the number of
/// cases in which something happened.
pub(crate) fn compare(machine: &Machine, count: usize, mut next: impl FnMut() -> Case) -> usize {
    let mut errors = Vec::new();
    let mut happened = 0;
    for _ in 0..count {
        let case = next();
        let analysis = machine.analyse(&case);
        let traces = machine.run(&case);
        let changed = changed(machine);
        if !changed.is_empty() {
            reset(machine);
        }
        if !traces.started.is_empty() || !changed.is_empty() {
            happened += 1;
        }
        if is_unknown(&analysis) {
            continue;
        }
        let mut missed: Vec<String> = Vec::new();
        for name in &traces.started {
            if !analysis.commands.iter().any(|command| command.base_name() == Some(name)) {
                missed.push(format!("started {name}"));
            }
        }
        for path in changed {
            if !is_named(&analysis, &path, &[EffectKind::Write, EffectKind::Delete]) {
                missed.push(format!("wrote {path}"));
            }
        }
        let secret = machine.path("../secret");
        if traces.output.contains(SECRET) && !is_named(&analysis, &secret, &[EffectKind::Read]) {
            missed.push(format!("read {secret}"));
        }
        if !missed.is_empty() {
            errors.push(format!("{:?} with {:?}: {missed:?}", case.words, case.variables));
        }
        if errors.len() >= 20 {
            break;
        }
    }
    assert!(errors.is_empty(), "{} cases:\n{}", errors.len(), errors.join("\n"));
    happened
}

/// Returns `true` if an effect covers a path.
fn is_named(analysis: &Analysis, path: &str, kinds: &[EffectKind]) -> bool {
    let mut effects = analysis.commands.iter().flat_map(|command| &command.effects);
    effects.any(|effect| {
        let covers = |object: &str| {
            let is_above = path.strip_prefix(object).is_some_and(|rest| rest.starts_with('/'));
            // A file below a directory that is written is new with the directory.
            let is_below = object.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            path == object
                || is_below
                || is_above && (effect.is_recursive || effect.is_partial)
                || effect.is_partial && path.starts_with(object)
        };
        kinds.contains(&effect.kind) && effect.object.as_deref().is_none_or(covers)
    })
}
