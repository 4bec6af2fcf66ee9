//! Values of the declared resources, and the resources that their references name.

use std::collections::HashMap;
use std::sync::Arc;

use ccm_model::{
    ClaimKind, Control, Dependency, Diagnostic, DiagnosticKind, Diagnostics, ResourceIndex, Severity,
};
use tracing::debug;

use super::control::Conditions;
use super::eval_context::EvalContext;
use super::expansion::needed_before_run;
use super::machine_secrets::LongSecrets;
use super::missing_sources::{self, MissingSource};
use super::references::NameTable;
use super::scope::{DeferredOn, ManagedPaths, Phase};
use super::shell_check;
use super::{declarations, pulled_manifests};
use crate::late::LateResource;
use crate::late::captures::CaptureTable;
use crate::late::file_uses::FileUsers;
use crate::load::{EarlierReferences, EarlierResources};
use crate::read::draft::{DraftBuilder, ResourceDraft};
use crate::read::reader::DeclaredResources;
use crate::read::resources::Nameless;
use crate::scopes::Scopes;

/// Resources with their values and references, but for what is known only during the run.
pub(crate) struct ResolvedResources {
    pub(crate) drafts: Vec<ResourceDraft>,
    pub(crate) managed: ManagedPaths,
    pub(crate) captures: CaptureTable,
    pub(crate) waiting: HashMap<ResourceIndex, LateResource>,
    pub(crate) file_users: FileUsers,
    pub(crate) missing_sources: Vec<MissingSource>,
    /// Secret texts in data and credentials.
    pub(crate) secrets: Vec<String>,
    /// References to resources that were managed before.
    pub(crate) earlier: EarlierReferences,
}

/// Completes all resources, once all names are known.
pub(crate) fn resolve(
    declared: DeclaredResources,
    scopes: &Scopes<'_, '_>,
    earlier: Option<&EarlierResources>,
    diagnostics: &mut Diagnostics,
) -> ResolvedResources {
    let DeclaredResources {
        mut drafts,
        nameless,
        incomplete_types,
        invalid_names,
        has_unknown_resources,
        mut secrets,
    } = declared;
    secrets.sort_unstable();
    secrets.dedup();
    let mut long_secrets = LongSecrets::of(&secrets);
    let mut managed = recheck_controls(scopes, &mut drafts, diagnostics);
    complete(scopes, &mut drafts, &managed, diagnostics);
    declarations::merge(&mut drafts, scopes, diagnostics).update(&mut managed);
    let mut names = NameTable::new(scopes.types, &drafts, &invalid_names, &incomplete_types)
        .incomplete_if(has_unknown_resources)
        .with_earlier(earlier);
    add_names(scopes, &mut names, &drafts, diagnostics);
    let evaluator = |manifest: usize| scopes.evaluator(manifest, Phase::BeforeRun(&managed));
    let no_conditions = Conditions::default();
    let builder = |manifest, verbatim| DraftBuilder {
        types: scopes.types,
        manifest,
        outer_conditions: &no_conditions,
        evaluator: &evaluator,
        verbatim,
    };
    for (index, draft) in drafts.iter_mut().enumerate() {
        if diagnostics.is_full() {
            break;
        }
        diagnostics.set_context(scopes.context_of(draft));
        names.resolve(draft, Some(ResourceIndex::from_usize(index)), diagnostics);
        long_secrets.add(&scopes.context.secrets);
        draft.check(scopes.types, &scopes.manifests[draft.manifest].text, &long_secrets.texts, diagnostics);
    }
    diagnostics.set_context(None);
    for (nameless, manifest, verbatim) in nameless {
        let text = &scopes.manifests[manifest].text;
        diagnostics.extend(errors_within(nameless, &mut names, &builder(manifest, verbatim), text));
    }
    let missing_sources = missing_sources::find(&drafts, scopes, diagnostics);
    pulled_manifests::warn(&drafts, scopes, diagnostics);
    shell_check::check(&drafts, scopes, &long_secrets.texts, diagnostics);
    let captures = CaptureTable::of(&drafts, scopes.types);
    let waiting = late_resources(scopes, &mut drafts, &captures, diagnostics);
    let file_users = FileUsers::take(&mut drafts, scopes.types);
    diagnostics.extend(scopes.context.take_errors());
    scopes.context.secrets.report(&mut secrets, diagnostics);
    refuse_early_uses(&scopes.context, &managed, &drafts, diagnostics);
    debug!(resources = drafts.len(), late = waiting.len(), "expanded the resources");
    let earlier = names.earlier_references();
    ResolvedResources { drafts, managed, captures, waiting, file_users, missing_sources, secrets, earlier }
}

/// Reads the values of all resources but those that apply a manifest, which the reader completed.
fn complete(
    scopes: &Scopes<'_, '_>,
    drafts: &mut [ResourceDraft],
    managed: &ManagedPaths,
    diagnostics: &mut Diagnostics,
) {
    let evaluator = |manifest: usize| scopes.evaluator(manifest, Phase::BeforeRun(managed));
    let no_conditions = Conditions::default();
    for draft in drafts {
        if diagnostics.is_full() {
            break;
        }
        if scopes.types.spec(draft.type_index).child_manifest(&draft.resource).is_some() {
            continue;
        }
        diagnostics.set_context(scopes.context_of(draft));
        let builder = DraftBuilder {
            types: scopes.types,
            manifest: draft.manifest,
            outer_conditions: &no_conditions,
            evaluator: &evaluator,
            verbatim: draft.verbatim,
        };
        builder.complete(draft, diagnostics);
    }
    diagnostics.set_context(None);
}

/// Adds the names and aliases of all resources to the table.
fn add_names(
    scopes: &Scopes<'_, '_>,
    names: &mut NameTable<'_, '_>,
    drafts: &[ResourceDraft],
    diagnostics: &mut Diagnostics,
) {
    for (index, draft) in drafts.iter().enumerate() {
        diagnostics.set_context(scopes.context_of(draft));
        names.add(ResourceIndex::from_usize(index), draft, &scopes.manifests[draft.manifest], diagnostics);
    }
}

/// Returns the resources with late values, and adds the dependencies that these imply.
fn late_resources(
    scopes: &Scopes<'_, '_>,
    drafts: &mut [ResourceDraft],
    captures: &CaptureTable,
    diagnostics: &mut Diagnostics,
) -> HashMap<ResourceIndex, LateResource> {
    let mut waiting = HashMap::new();
    for (index, draft) in drafts.iter_mut().enumerate() {
        let index = ResourceIndex::from_usize(index);
        diagnostics.set_context(scopes.context_of(draft));
        deferred_edges(draft, index, captures, diagnostics);
        if let Some(late) = LateResource::of(draft) {
            waiting.insert(index, late);
        }
    }
    diagnostics.set_context(None);
    waiting
}

/// Evaluates the conditions again that read files, and returns the managed paths.
fn recheck_controls(
    scopes: &Scopes<'_, '_>,
    drafts: &mut [ResourceDraft],
    diagnostics: &mut Diagnostics,
) -> ManagedPaths {
    let managed = managed_paths(scopes, drafts);
    if !drafts.iter().any(|draft| draft.needs_recheck) {
        return managed;
    }
    for draft in drafts.iter_mut() {
        diagnostics.set_context(scopes.context_of(draft));
        draft.recheck_control(
            &scopes.context,
            |manifest| scopes.evaluator(manifest, Phase::BeforeRun(&managed)),
            diagnostics,
        );
    }
    diagnostics.set_context(None);
    managed_paths(scopes, drafts)
}

fn managed_paths(scopes: &Scopes<'_, '_>, drafts: &[ResourceDraft]) -> ManagedPaths {
    let mut managed = ManagedPaths::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        let is_off = matches!(draft.resource.control, Control::NotManaged { .. });
        if !draft.has_name || is_off {
            continue;
        }
        let claims = scopes.types.claims(&draft.resource, &scopes.context.spellings);
        for claim in claims.into_iter().filter(|claim| claim.kind == ClaimKind::Path) {
            let name = &draft.resource.id.name;
            let path = if **name == *claim.key { Arc::clone(name) } else { claim.key.into() };
            managed.entry(path).or_default().push(ResourceIndex::from_usize(index));
        }
    }
    managed
}

/// Adds the dependencies that late values imply.
fn deferred_edges(
    draft: &mut ResourceDraft,
    index: ResourceIndex,
    captures: &CaptureTable,
    diagnostics: &mut Diagnostics,
) {
    let of_control = draft.control_deferred_on.iter().map(|(on, span)| (on, span, true));
    let of_values = draft.found.deferred_on.iter().map(|(on, span)| (on, span, false));
    for (on, span, is_control) in of_control.chain(of_values) {
        let (found, itself) = match on {
            // A condition may depend on the current content of the file that its own resource manages.
            DeferredOn::File(on) if *on == index && is_control => continue,
            DeferredOn::File(on) | DeferredOn::Execution(on) => {
                (Ok(*on), "this expression reads the file that its own resource manages")
            }
            DeferredOn::Capture { name, key, .. } => {
                let found = captures.resolve(name.as_deref(), key.as_deref(), *span);
                (found, "this expression uses a value that its own resource captures")
            }
            DeferredOn::NoValue(_) => continue,
        };
        match found {
            Ok(on) if on == index => {
                diagnostics.push(Diagnostic::error(DiagnosticKind::Cycle, *span, itself));
            }
            Ok(on) => {
                let mut edges = draft.resource.require.iter().chain(&draft.resource.subscribe);
                if !edges.any(|edge| edge.on == on) {
                    draft.resource.require.push(Dependency { on, span: *span });
                }
            }
            Err(error) => diagnostics.push(error),
        }
    }
}

/// Refuses managed files whose content was used before the managed files were known.
fn refuse_early_uses(
    context: &EvalContext<'_>,
    managed: &ManagedPaths,
    drafts: &[ResourceDraft],
    diagnostics: &mut Diagnostics,
) {
    for (path, span) in context.take_early_uses() {
        if let Some(on) = managed.get(&*context.spelling(&path)).and_then(|all| all.first()) {
            // Errors about the current content, or its absence, are obsolete: the resource changes the file.
            diagnostics.retain(|error| !error.span().is_some_and(|found| span.contains(found)));
            let id = drafts.get(on.get()).map(|draft| &draft.resource.id);
            diagnostics.push(needed_before_run(&DeferredOn::File(*on), id, span));
        }
    }
}

/// Returns the errors in properties without a resource, except those about the placeholder resource.
fn errors_within(
    nameless: Nameless,
    names: &mut NameTable<'_, '_>,
    builder: &DraftBuilder<'_, '_, '_>,
    text: &str,
) -> impl Iterator<Item = Diagnostic> {
    let mut found = Diagnostics::new();
    let mut draft = builder.draft(nameless.declaration, &mut found);
    builder.complete(&mut draft, &mut found);
    found.extend(std::mem::take(&mut draft.found.missing_files));
    found.extend(std::mem::take(&mut draft.missing_in_control));
    names.resolve(&mut draft, None, &mut found);
    draft.check(builder.types, text, &[], &mut found);
    let is_within = move |error: &Diagnostic| error.span().is_some_and(|span| nameless.within.contains(span));
    found.into_vec().into_iter().filter(move |error| is_error(error) && is_within(error))
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
