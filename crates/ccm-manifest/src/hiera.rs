//! Files of values: `data` with its hierarchy, and nothing to manage.

use std::path::Path;
use std::sync::Arc;

use ccm_data::assignment;
use ccm_data::layers::Source;
use ccm_model::{Diagnostic, Diagnostics, SourceMap, Span, Value, closest, listed};

use crate::data::{self, DataNodes, Layered, Overlay, ResolvedData};
use crate::sources::Sources;
use crate::wording::{expected, shown};
use crate::world::World;

/// A file of values.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
}

/// What came of a file of values alone.
pub struct ParsedData {
    /// Its values, if nothing in it is a mistake.
    pub data: Option<ResolvedData>,
    /// Every text in them that must not be shown, known also where something is wrong.
    pub secrets: Vec<String>,
    /// Mistakes and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that places point into.
    pub texts: SourceMap,
}

/// Works out the values of a file; a manifest is one too. `assignments` are laid over them.
pub fn parse_data(file: &DataFile, assignments: &[String], sources: &dyn Sources) -> ParsedData {
    let world = World::new(sources, SourceMap::default());
    let mut diagnostics = Diagnostics::new();
    let mut overlays = Vec::new();
    add_assignments(assignments, &mut overlays, &mut diagnostics);
    let mut data = read(file, &world, &overlays, &mut diagnostics);
    if let Some(data) = &mut data {
        data::check(data, &world, &mut diagnostics);
    }
    diagnostics.extend(world.take_mistakes());
    let secrets = data.as_ref().map(|data| data.secrets.clone()).unwrap_or_default();
    let data = data.filter(|_| !diagnostics.has_errors());
    let diagnostics = diagnostics.into_vec();
    let texts = world.texts.borrow().clone();
    ParsedData { data, secrets, diagnostics, texts }
}

/// What files and assignments lay over the values of a manifest, the lowest first.
pub(crate) fn overlays(
    files: &[DataFile],
    assignments: &[String],
    world: &World<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Overlay> {
    let mut overlays = Vec::new();
    for file in files {
        if let Some(data) = read(file, world, &[], diagnostics) {
            let ResolvedData { value, annotations, .. } = data;
            overlays.push(Overlay { source: Source::File(file.name.clone()), value, annotations });
        }
    }
    add_assignments(assignments, &mut overlays, diagnostics);
    overlays
}

fn add_assignments(assignments: &[String], overlays: &mut Vec<Overlay>, diagnostics: &mut Diagnostics) {
    for written in assignments {
        match assignment::read(written) {
            Ok(value) => {
                let source = Source::CommandLine(written.clone());
                overlays.push(Overlay { source, value, annotations: Vec::new() });
            }
            Err(error) => {
                let mistake = Diagnostic::without_place(format!("--data: {error}"));
                diagnostics.push(mistake.with_hint(error.hint()));
            }
        }
    }
}

fn read(
    file: &DataFile,
    world: &World<'_>,
    overlays: &[Overlay],
    diagnostics: &mut Diagnostics,
) -> Option<ResolvedData> {
    const KEYS: [&str; 4] = ["data", "hierarchy", "overrides", "ccm"];
    let source = world.texts.borrow_mut().add(file.name.clone(), Arc::clone(&file.text));
    let root = match ccm_yaml::parse(source, &file.text, &ccm_yaml::Limits::default()) {
        Ok(root) => root,
        Err(mistakes) => {
            diagnostics.extend(mistakes);
            return None;
        }
    };
    let mut nodes = DataNodes::default();
    match root {
        None => {
            let mistake = Diagnostic::error(Span::new(source, 0, 0), "there are no values in it");
            diagnostics.push(mistake.with_hint("values stand below `data:`"));
            return None;
        }
        Some(root) => {
            let Value::Map(map) = root.value else {
                diagnostics
                    .push(expected("a map with `data`", &root).with_hint("values stand below `data:`"));
                return None;
            };
            for entry in map.into_entries() {
                match &*entry.key.text {
                    "data" => nodes.data = Some(entry),
                    "hierarchy" => nodes.hierarchy = Some(entry),
                    "overrides" => nodes.overrides = Some(entry),
                    // The rest of a manifest has no values.
                    "ccm" => {}
                    key => {
                        let mistake =
                            Diagnostic::error(entry.key.span, format!("unknown key `{}`", shown(key)));
                        diagnostics.push(match closest(key, KEYS) {
                            None => mistake
                                .with_hint("values stand below `data:`")
                                .with_hint(format!("known here: {}", listed(&KEYS, "and"))),
                            suggestion => mistake.with_suggestion(suggestion),
                        });
                    }
                }
            }
        }
    }
    let directory = Path::new(&file.name).parent().unwrap_or(Path::new("")).to_owned();
    let around = Layered { over: overlays, ..Layered::default() };
    Some(data::resolve(&nodes, world, &file.text, &directory, &around, diagnostics))
}
