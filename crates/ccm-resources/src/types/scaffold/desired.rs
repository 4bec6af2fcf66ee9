//! The desired scaffold, complete and checked.

use std::path::{Path, PathBuf};

use ccm_model::DiagnosticKind;
use ccm_properties::PropertyError;

use super::properties::ScaffoldProperties;
use crate::parts::tree::glob::{TreeGlob, TreeGlobs};
use crate::parts::tree::{Rendered, TreeRules};
use crate::parts::validator::{ContentCheck, POST};
use crate::support::values::canonical_path::name_error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredScaffold {
    pub path: PathBuf,
    pub is_absent: bool,
    /// Path of the templates, absolute or relative to the directory of the manifest.
    pub source: PathBuf,
    pub rendered: Rendered,
    pub rules: TreeRules,
    pub skip_empty: bool,
    pub post: Vec<PostCommand>,
    pub backup: bool,
    /// True if the content must not be shown.
    pub sensitive: bool,
}

/// Command for the rendered files with these names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PostCommand {
    pub names: TreeGlob,
    pub command: ContentCheck,
}

impl DesiredScaffold {
    /// Builds the scaffold, or returns all errors.
    pub(crate) fn build(
        name: &str,
        is_absent: bool,
        written: ScaffoldProperties,
        rendered: Rendered,
    ) -> Result<Self, Vec<PropertyError>> {
        let mut errors = Vec::new();
        let conflict =
            |property, message: String| PropertyError::new(DiagnosticKind::Conflict, property, message);
        errors.extend(name_error(name, "scaffold"));
        if written.source.is_none() {
            errors.push(PropertyError::missing(
                "source",
                "write `source`, the path of the directory of templates",
            ));
        }
        errors.extend(written.engine.and_then(|engine| engine_error(&engine.0)));
        let purge = written.purge.unwrap_or_default();
        if purge && Path::new(name).parent() == Some(Path::new("/")) {
            let message =
                format!("`purge` is not allowed for `{}`, which is directly below `/`", name.escape_debug());
            errors.push(conflict("purge", message).with_hint("purge a directory in it"));
        }
        for (property, is_given) in
            [("force", written.force == Some(true)), ("ignore", written.ignore.is_some())]
        {
            if is_given && !purge {
                let message = format!("`{property}` is only allowed with `purge`");
                errors.push(
                    conflict(property, message).with_hint("add `purge: true`, or remove this property"),
                );
            }
        }
        let ignore = TreeGlobs::build("ignore", written.ignore, &mut errors);
        let mut post = Vec::new();
        for (pattern, command) in written.post.into_iter().flat_map(|maps| maps.0).flat_map(|map| map.0) {
            match (TreeGlob::parse("post", &pattern), ContentCheck::parse(POST, command.0)) {
                (Ok(names), Ok(command)) => post.push(PostCommand { names, command }),
                (names, command) => errors.extend(names.err().into_iter().chain(command.err())),
            }
        }
        match written.source {
            Some(source) if errors.is_empty() => Ok(Self {
                path: name.into(),
                is_absent,
                source: source.0.into(),
                rendered,
                rules: TreeRules {
                    purge: purge && !is_absent,
                    force: written.force.unwrap_or_default(),
                    ignore,
                    ..TreeRules::default()
                },
                skip_empty: written.skip_empty.unwrap_or_default(),
                post,
                backup: written.backup.unwrap_or_default(),
                sensitive: written.sensitive.unwrap_or_default(),
            }),
            _ => Err(errors),
        }
    }
}

fn engine_error(engine: &str) -> Option<PropertyError> {
    const MANUAL: &str =
        "write the templates for Jinja, as docs/reference/types/scaffold.md shows, and remove `engine`";
    let shown = engine.escape_debug();
    match engine {
        "jinja" => None,
        "jet" | "go" => {
            let message = format!("templates of the engine `{shown}` are not supported");
            Some(PropertyError::new(DiagnosticKind::Unsupported, "engine", message).with_hint(MANUAL))
        }
        _ => {
            let message = format!("unknown engine `{shown}`");
            Some(PropertyError::invalid("engine", message, MANUAL))
        }
    }
}
