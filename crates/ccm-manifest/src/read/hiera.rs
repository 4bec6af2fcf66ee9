//! Loads data files, which hold `data`, `hierarchy` and `overrides` but no resources.

use std::path::Path;
use std::sync::Arc;

use ccm_data::assignment;
use ccm_data::layers::ValueSource;
use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, NodeValue, SourceId, SourceMap, Span, closest, listed,
};
use ccm_yaml::typographic;

use crate::read::data::{self, DataNodes, OuterLayers, Overlay, ResolvedData};
use crate::read::data_keys::DataKeys;
use crate::read::reader::COMMANDS;
use crate::read::{cut_values, folded_lines};
use crate::resolve::eval_context::EvalContext;
use crate::resolve::messages::{expected, shown};
use crate::sources::Sources;
use crate::unchecked::UnknownPaths;

/// Data file.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Name for messages.
    pub name: String,
    /// Text of the file.
    pub text: Arc<str>,
}

/// Result of loading a data file by itself.
pub struct ParsedData {
    /// Resolved data, unless there are errors.
    pub data: Option<ResolvedData>,
    /// Secret texts in the data, also if there are errors.
    pub secrets: Vec<String>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Texts that spans refer to.
    pub texts: SourceMap,
}

/// Resolves the data of a file, which may be a manifest. Assignments are merged over the data, and may have new
/// keys if `allows_new_keys` is set.
pub fn parse_data(
    file: &DataFile,
    assignments: &[String],
    allows_new_keys: bool,
    sources: &dyn Sources,
) -> ParsedData {
    let context = EvalContext::new(sources, SourceMap::default());
    let mut diagnostics = Diagnostics::new();
    let mut overlays = Vec::new();
    add_assignments(assignments, &mut overlays, &mut diagnostics);
    let source = context.texts.borrow_mut().add(file.name.clone(), Arc::clone(&file.text));
    let outer = OuterLayers { overlays: &overlays, ..OuterLayers::default() };
    let mut data_keys = DataKeys::default();
    let with_maps = !assignments.is_empty();
    let mut data = read(file, source, &context, &outer, (&mut data_keys, with_maps), &mut diagnostics);
    if !diagnostics.has_errors() && !context.has_errors() {
        data_keys.check_overrides(&mut diagnostics);
        if !allows_new_keys {
            data_keys.check_assignments(assignments, &mut diagnostics);
        }
    }
    if let Some(data) = &mut data {
        data::check(data, &context, &mut diagnostics);
        context.secrets.report(&mut data.secrets, &mut diagnostics);
    }
    diagnostics.extend(context.take_errors());
    let secrets = data.as_ref().map(|data| data.secrets.clone()).unwrap_or_default();
    let data = data.filter(|_| !diagnostics.has_errors());
    let diagnostics = diagnostics.into_vec();
    let texts = context.texts.borrow().clone();
    ParsedData { data, secrets, diagnostics, texts }
}

/// Returns the layers of data files and assignments, lowest first.
pub(crate) fn overlays(
    files: &[DataFile],
    assignments: &[String],
    context: &EvalContext<'_>,
    data_keys: &mut DataKeys,
    diagnostics: &mut Diagnostics,
) -> Vec<Overlay> {
    let mut assigned = Vec::new();
    add_assignments(assignments, &mut assigned, diagnostics);
    let sources: Vec<SourceId> = files
        .iter()
        .map(|file| context.texts.borrow_mut().add(file.name.clone(), Arc::clone(&file.text)))
        .collect();
    // The highest file is read first, because values that it replaces are not evaluated.
    let mut above = assigned;
    for (file, source) in files.iter().zip(sources).rev() {
        let outer = OuterLayers { above: &above, ..OuterLayers::default() };
        if let Some(data) =
            read(file, source, context, &outer, (data_keys, !assignments.is_empty()), diagnostics)
        {
            let ResolvedData { value, annotations, unknown, .. } = data;
            let source = ValueSource::File(file.name.clone());
            above.insert(0, Overlay { source, value, annotations, unknown });
        }
    }
    above
}

fn add_assignments(assignments: &[String], overlays: &mut Vec<Overlay>, diagnostics: &mut Diagnostics) {
    for written in assignments {
        match assignment::read(written) {
            Ok(value) => {
                let source = ValueSource::CommandLine(written.clone());
                let (annotations, unknown) = (Vec::new(), UnknownPaths::default());
                overlays.push(Overlay { source, value, annotations, unknown });
            }
            Err(error) => {
                let diagnostic = Diagnostic::without_location(error.kind(), format!("--data: {error}"));
                diagnostics.push(diagnostic.with_hint(error.hint()));
            }
        }
    }
}

fn read(
    file: &DataFile,
    source: SourceId,
    context: &EvalContext<'_>,
    outer: &OuterLayers<'_>,
    (data_keys, with_maps): (&mut DataKeys, bool),
    diagnostics: &mut Diagnostics,
) -> Option<ResolvedData> {
    const KEYS: [&str; 4] = ["data", "hierarchy", "overrides", "ccm"];
    let root = match ccm_yaml::parse_with_duplicates(source, &file.text, &ccm_yaml::Limits::default()) {
        Ok((root, duplicates)) => {
            diagnostics.extend(duplicates);
            root
        }
        Err(errors) => {
            diagnostics.extend(errors);
            return None;
        }
    };
    let mut nodes = DataNodes::default();
    let mut has_unknown_key = false;
    let root_span = root.as_ref().map(|root| Span { end: root.span.start, ..root.span }).unwrap_or_default();
    match root {
        None => {
            let error =
                Diagnostic::error(DiagnosticKind::Missing, Span::new(source, 0, 0), "the file has no values");
            diagnostics.push(error.with_hint("put the values below `data:`"));
            return None;
        }
        Some(root) => {
            diagnostics.extend(typographic::check(&root, &file.text, COMMANDS));
            cut_values::check(&root, &file.text, diagnostics);
            folded_lines::check(&root, &file.text, diagnostics);
            let NodeValue::Map(map) = root.value else {
                diagnostics
                    .push(expected("a map with `data`", &root).with_hint("put the values below `data:`"));
                return None;
            };
            for entry in map.into_entries() {
                match &*entry.key.text {
                    "data" => nodes.data = Some(entry),
                    "hierarchy" => nodes.hierarchy = Some(entry),
                    "overrides" => nodes.overrides = Some(entry),
                    // A manifest is a valid data file too.
                    "ccm" => {}
                    key => {
                        has_unknown_key = true;
                        let error = Diagnostic::error(
                            DiagnosticKind::UnknownKey,
                            entry.key.span,
                            format!("unknown key `{}`", shown(key)),
                        );
                        diagnostics.push(match closest(key, KEYS) {
                            None => error
                                .with_hint("put the values below `data:`")
                                .with_hint(format!("use {}", listed(&KEYS, "or"))),
                            suggestion => error.with_suggestion(suggestion),
                        });
                    }
                }
            }
        }
    }
    if !has_unknown_key
        && nodes.overrides.is_none()
        && nodes.data.as_ref().is_none_or(|data| data.value.is_null())
    {
        let span = nodes.data.as_ref().map_or(root_span, |data| data.key.span);
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, "this file has no `data`");
        diagnostics.push(warning.with_hint("put the values below `data:`"));
    }
    data_keys.add(&nodes, with_maps);
    let directory = Path::new(&file.name).parent().unwrap_or(Path::new("")).to_owned();
    let mut data = data::resolve(&nodes, context, &file.text, &directory, outer, diagnostics);
    for file in &std::mem::take(&mut data.files) {
        data_keys.add_file(file, with_maps);
    }
    Some(data)
}
