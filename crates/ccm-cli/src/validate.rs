//! `ccm validate`: a manifest is checked, for one machine or for several.

use std::path::PathBuf;

use ccm_runtime::{ExitCode, Facts, Input, Session};

use crate::arguments::Validate;
use crate::{diagnostics, manifest, messages, session, show, state};

/// Checks a manifest.
pub(crate) fn run(arguments: &Validate) -> ExitCode {
    let session = session::open();
    let input = match manifest::read(&session, &arguments.manifest, &arguments.values) {
        Ok(input) => input,
        Err(code) => return code,
    };
    if !arguments.matrix.is_empty() {
        return matrix(arguments, &session, &input);
    }
    // Facts that are given are those of the machine that is meant.
    let is_another = !arguments.values.facts.facts.is_empty();
    let input = if is_another { input.of_another_machine() } else { input };
    let manifest = match manifest::load(&session, &input, true) {
        Ok(manifest) => manifest,
        Err(code) => return code,
    };
    if let Err(error) = manifest.check_name() {
        return state::name_missing(error);
    }
    let resources = resources(manifest.catalog().resources.len());
    show::print(&format!("{} is valid: {resources}\n", input.name()))
}

fn resources(count: usize) -> String {
    if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") }
}

/// A mistake or a warning as it is shown, and the machines that it is one for.
struct Shown {
    text: String,
    machines: Vec<usize>,
}

/// Checks a manifest for each of several machines.
fn matrix(arguments: &Validate, session: &Session, input: &Input) -> ExitCode {
    let mut lines = String::new();
    let mut all_shown: Vec<Shown> = Vec::new();
    let mut failed = 0;
    for (machine, file) in arguments.matrix.iter().enumerate() {
        let facts = Facts { files: vec![file.clone()], assignments: arguments.values.facts.fact.clone() };
        let input = input.for_machine(session, facts);
        let loaded = session.load(&input);
        let (diagnostics, texts) = match &loaded {
            Ok(manifest) => {
                let resources = resources(manifest.catalog().resources.len());
                lines += &format!("{}: valid, {resources}\n", file.display());
                (manifest.warnings(), manifest.texts())
            }
            Err(mistakes) => {
                failed += 1;
                lines += &format!("{}: {mistakes}\n", file.display());
                (&*mistakes.diagnostics, &mistakes.texts)
            }
        };
        for diagnostic in diagnostics {
            let text = diagnostics::rendered(diagnostic, texts);
            match all_shown.iter_mut().find(|shown| shown.text == text) {
                Some(shown) => shown.machines.push(machine),
                None => all_shown.push(Shown { text, machines: vec![machine] }),
            }
        }
    }
    show_grouped(&mut all_shown, &arguments.matrix);
    let printed = show::print(&lines);
    if failed == 0 {
        return printed;
    }
    let message = format!("{} is not valid for {failed} of {}", input.name(), arguments.matrix.len());
    messages::error(&message, &[], &[]);
    ExitCode::NothingRun
}

/// Shows mistakes, those together that concern the same machines; what concerns most of them first.
fn show_grouped(all_shown: &mut [Shown], files: &[PathBuf]) {
    all_shown.sort_by(|one, other| {
        other.machines.len().cmp(&one.machines.len()).then_with(|| one.machines.cmp(&other.machines))
    });
    let mut before: &[usize] = &[];
    for shown in &*all_shown {
        if shown.machines != before {
            let names: Vec<String> =
                shown.machines.iter().map(|machine| files[*machine].display().to_string()).collect();
            let heading = if names.len() == files.len() && names.len() > 1 {
                "for all".to_owned()
            } else {
                format!("for {}", names.join(", "))
            };
            messages::to_stderr(&format!("{heading}:\n\n"));
            before = &shown.machines;
        }
        messages::to_stderr(&format!("{}\n\n", shown.text));
    }
}
