//! `ccm validate`: a manifest is checked, for one machine or for several.

use std::path::PathBuf;

use ccm_manifest::{Request, load};

use crate::arguments::{FactArguments, Validate};
use crate::exit::Code;
use crate::sources::MachineSources;
use crate::{diagnostics, manifest, messages, owed, show};

/// Checks a manifest.
pub(crate) fn run(arguments: &Validate) -> Code {
    let sources = match MachineSources::of_manifest(&arguments.manifest, &arguments.values) {
        Ok(sources) => sources,
        Err(code) => return code,
    };
    if !arguments.matrix.is_empty() {
        return matrix(arguments, &sources);
    }
    // Facts that are given are those of the machine that is meant.
    let is_another = !arguments.values.facts.facts.is_empty();
    let sources = if is_another { sources.of_another() } else { sources };
    match manifest::read(&arguments.manifest, &arguments.values.data, &sources, true, &ccm_resources::types())
    {
        Err(code) => code,
        Ok((catalog, _)) => {
            if let Err(code) = owed::named(&arguments.manifest, &catalog) {
                return code;
            }
            let resources = resources(catalog.resources.len());
            let name = match arguments.manifest.path.display().to_string() {
                stdin if stdin == "-" => "standard input".to_owned(),
                path => path,
            };
            show::print(&format!("{name} is valid: {resources}\n"))
        }
    }
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
fn matrix(arguments: &Validate, sources: &MachineSources) -> Code {
    let request = match manifest::request(&arguments.manifest, &arguments.values.data, sources) {
        Ok(request) => request,
        Err(code) => return code,
    };
    let dotenv = match manifest::dotenv(&arguments.manifest, &arguments.values.environment) {
        Ok(dotenv) => dotenv,
        Err(error) => return crate::apply::cannot_start(&error),
    };
    let types = ccm_resources::types();
    let specs = manifest::specs(&types);
    let mut lines = String::new();
    let mut all_shown: Vec<Shown> = Vec::new();
    let mut failed = 0;
    for (machine, file) in arguments.matrix.iter().enumerate() {
        let facts = FactArguments { facts: vec![file.clone()], fact: arguments.values.facts.fact.clone() };
        let sources = MachineSources::new(&facts, dotenv.clone()).of_another();
        let request = Request {
            name: request.name.clone(),
            text: request.text.clone(),
            directory: request.directory.clone(),
            hiera: request.hiera.clone(),
            assignments: request.assignments.clone(),
        };
        let mut loaded = load(request, &specs, &sources);
        // A file of facts that nothing asks for has to be readable as well.
        let mut texts = loaded.texts();
        let unnoticed = sources.unnoticed(&mut texts);
        if !unnoticed.is_empty() {
            loaded.catalog = None;
            loaded.diagnostics.extend(unnoticed);
        }
        lines += &match &loaded.catalog {
            Some(catalog) => format!("{}: valid, {}\n", file.display(), resources(catalog.resources.len())),
            None => format!("{}: {}\n", file.display(), manifest::mistakes(&loaded.diagnostics)),
        };
        failed += usize::from(loaded.catalog.is_none());
        for diagnostic in &loaded.diagnostics {
            let text = diagnostics::rendered(diagnostic, &texts);
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
    let name = &request.name;
    messages::error(&format!("{name} is not valid for {failed} of {}", arguments.matrix.len()), &[], &[]);
    Code::NothingRun
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
