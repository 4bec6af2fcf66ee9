//! Manifests that are applied as resources of others.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::layers::Source;
use ccm_data::nodes;
use ccm_expr::Value;
use ccm_model::{Control, Diagnostic, Group, GroupIndex, Span};

use crate::control::Conditions;
use crate::data::{Overlay, ResolvedData};
use crate::draft::Draft;
use crate::load::{Loader, Manifest};
use crate::paths::normal;
use crate::wording::shown_path;

/// How deep manifests may stand within each other.
const DEEPEST: usize = 10;

/// The children that were found, each a group of the catalog.
#[derive(Default)]
pub(crate) struct Children {
    pub(crate) groups: Vec<Group>,
    /// Where each manifest was first applied.
    applied: HashMap<PathBuf, Span>,
}

/// What is around a manifest.
#[derive(Clone, Default)]
pub(crate) struct Around {
    /// Group of its resources. `None` for the manifest that was given.
    pub(crate) group: Option<GroupIndex>,
    /// The conditions of all that is around it.
    pub(crate) conditions: Conditions,
    /// The paths of the manifests around it and its own, the outermost first.
    paths: Vec<PathBuf>,
    /// It may apply no manifest.
    forbids_apply: bool,
    /// Only the health of its resources is looked at.
    health_check_only: bool,
    data: Passed,
}

/// The values that a manifest gets from the one around it.
#[derive(Clone, Default)]
enum Passed {
    /// It is the manifest that was given.
    #[default]
    Nothing,
    /// These are laid over its own.
    Over(Value),
    /// Where it has no value of its own, these count.
    Beneath(Value),
}

impl Around {
    /// There is nothing around the manifest that was given, which has that path.
    pub(crate) fn nothing(own: Option<PathBuf>) -> Self {
        Self { paths: own.into_iter().collect(), ..Self::default() }
    }

    /// What is laid over the values of the manifest. What the command line says counts everywhere.
    pub(crate) fn overlays(&self, given: &[Overlay]) -> Vec<Overlay> {
        let passed = match &self.data {
            Passed::Over(value) => {
                Some(Overlay { source: Source::Parent, value: value.clone(), annotations: Vec::new() })
            }
            _ => None,
        };
        passed.into_iter().chain(given.iter().cloned()).collect()
    }

    /// The values that count where the manifest has none of its own.
    pub(crate) fn beneath(&self) -> Option<&Value> {
        match &self.data {
            Passed::Beneath(value) => Some(value),
            _ => None,
        }
    }
}

/// Reads the manifest that a resource applies. Its resources come before the resource.
pub(crate) fn read(loader: &mut Loader<'_, '_>, draft: &mut Draft, around: &Around, data: &ResolvedData) {
    let spec = loader.types.spec(draft.type_index);
    if !draft.has_name {
        return;
    }
    let Some(child) = spec.child_manifest(&draft.resource) else { return };
    let span = draft.resource.span;
    let directory = loader.manifests[draft.manifest].directory.clone();
    let path = normal(&directory.join(child.path));
    let (noop, health_check_only) = (child.noop, child.health_check_only || around.health_check_only);
    let forbids_apply = !child.allow_apply;
    // What is no map is a mistake that the type reports.
    let is_odd = child.data.is_some_and(|data| !data.is_null() && data.as_map().is_none());
    let passed = match child.data.filter(|data| data.as_map().is_some()) {
        Some(node) => Passed::Over(nodes::to_value(node)),
        None => Passed::Beneath(data.value.clone()),
    };
    let refused = |message: String| Diagnostic::error(span, message);
    if around.forbids_apply {
        let mistake = refused("this manifest may not apply others".to_owned());
        loader.diagnostics.push(mistake.with_hint("the manifest around it says `allow_apply: false`"));
        return;
    }
    if let Some(first) = around.paths.iter().position(|before| *before == path) {
        let mut circle: Vec<String> = around.paths[first..].iter().map(|path| shown_path(path)).collect();
        circle.push(shown_path(&path));
        let mistake = refused("a manifest applies itself".to_owned());
        // That there are two of it is the same mistake.
        draft.has_name = false;
        loader.diagnostics.push(mistake.with_hint(format!("the way round is {}", circle.join(" -> "))));
        return;
    }
    if let Some(first) = loader.children.applied.get(&path) {
        let mistake = refused(format!("the manifest `{}` is applied twice", shown_path(&path)));
        draft.has_name = false;
        loader.diagnostics.push(mistake.with_label(*first, "the first"));
        return;
    }
    // The first of them is the manifest that was given.
    if around.paths.len() > DEEPEST {
        loader
            .diagnostics
            .push(refused(format!("manifests stand more than {DEEPEST} deep within each other")));
        return;
    }
    let text = match loader.world.read(&path) {
        Ok(text) => text,
        Err(error) => {
            let mistake = refused(format!("the manifest `{}` can't be read: {error}", shown_path(&path)));
            let hint = (error.kind() == std::io::ErrorKind::NotFound && Path::new(child.path).is_relative())
                .then(|| format!("a relative path starts from {}", shown_path(&directory)));
            loader.diagnostics.push(hint.into_iter().fold(mistake, Diagnostic::with_hint));
            return;
        }
    };
    loader.children.applied.insert(path.clone(), span);
    let index = GroupIndex::from_usize(loader.children.groups.len());
    let outer_noop = around.group.is_some_and(|outer| loader.children.groups[outer.get()].noop);
    let directory = path.parent().unwrap_or(Path::new("/")).to_owned();
    loader.children.groups.push(Group {
        parent: around.group,
        noop: noop || outer_noop,
        fail_on_error: false,
        directory: directory.clone(),
    });
    draft.resource.node_of = Some(index);
    let mut paths = around.paths.clone();
    paths.push(path.clone());
    let source = loader.world.texts.borrow_mut().add(path.display().to_string(), Arc::clone(&text));
    let first = loader.drafts.len();
    let is_incomplete = loader.is_incomplete;
    loader.is_incomplete |= is_odd || loader.manifests[draft.manifest].is_incomplete;
    let read = loader.manifest(Manifest {
        source,
        text,
        directory,
        around: Around {
            group: Some(index),
            conditions: draft.conditions.clone().of(&draft.resource.id),
            paths,
            forbids_apply,
            health_check_only,
            data: passed,
        },
    });
    loader.is_incomplete = is_incomplete;
    loader.children.groups[index.get()].fail_on_error = read.settings.fail_on_error.unwrap_or(false);
    if health_check_only {
        for draft in &mut loader.drafts[first..] {
            if !matches!(draft.resource.control, Control::NotManaged { .. }) {
                let reason = "only its health is looked at".to_owned();
                draft.resource.control = Control::NotManaged { reason };
            }
        }
    }
}
