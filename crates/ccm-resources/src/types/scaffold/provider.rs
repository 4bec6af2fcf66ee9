//! Provider posix: local files.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{ChangedPart, FileAttributes, FileKind, InspectOptions};
use ccm_model::Failure;

use super::PARTIALS;
use super::decide::{ScaffoldPlan, ScaffoldResource, ScaffoldState, plan};
use super::desired::DesiredScaffold;
use crate::parts::accounts::lookup::Accounts;
use crate::parts::path_walk;
use crate::parts::tree::source::{CopiedTree, TemplateFiles};
use crate::parts::tree::{self, DesiredEntry, DesiredKind, EntryContent, TreeRules, execute, report};
use crate::parts::validator::{ContentCheck, NewText, process};
use crate::support::file_failure::{check_writable, file_failure};

pub(crate) struct PosixScaffold;

impl Provider<ScaffoldResource> for PosixScaffold {
    async fn status(
        &self,
        scaffold: &DesiredScaffold,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<ScaffoldState, Failure> {
        let before = matches!(reading, ReadPurpose::Before { .. });
        let (path, files) = (&scaffold.path, context.host.files);
        let mut state =
            ScaffoldState { can_back_up: context.state_directory.is_some(), ..ScaffoldState::default() };
        state.root = files.inspect(path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
        if state.root.link {
            return Ok(state);
        }
        let source = CopiedTree {
            path: &context.directory.join(&scaffold.source),
            rendered: &scaffold.rendered,
            ignore: &scaffold.rules.ignore,
            templates: TemplateFiles::AllBut(PARTIALS),
        };
        let entries = tree::source::read(&source, path, files)?;
        if scaffold.sensitive {
            // Before the commands of `post` see it.
            tree::mark_secret(&entries, context)?;
        }
        state.tree.desired = processed(scaffold, entries, context).await?;
        if scaffold.sensitive {
            tree::mark_secret(&state.tree.desired, context)?;
        }
        state.tree.managed = tree::status::managed(path, &scaffold.rules, context);
        let is_directory =
            matches!(state.root.target.as_ref().map(|target| target.kind), Some(FileKind::Directory { .. }));
        if is_directory {
            // What is left in the directory decides whether it can be removed.
            let rules = TreeRules { recurse: scaffold.is_absent, ..scaffold.rules.clone() };
            state.tree.found =
                tree::status::read(path, &rules, &state.tree.desired, &state.tree.managed, files)?;
            let real = files.canonical(path);
            let above = real.as_deref().unwrap_or(path).parent();
            state.is_top_level = above.is_none_or(|above| above == Path::new("/"));
        } else if !scaffold.is_absent && state.root.target.is_none() && state.root.parent_missing {
            state.missing_parents =
                path_walk::missing_parents(path, files, |parent| context.would_be_directory(parent))?;
        }
        if before {
            let (changes, root) = match plan(scaffold, &state) {
                ScaffoldPlan::Make { changes, is_new } => {
                    (changes, is_new.then_some(ChangedPart::NewDirectory))
                }
                ScaffoldPlan::Remove { changes, removes_root } => {
                    (changes, removes_root.then_some(ChangedPart::Entry))
                }
                ScaffoldPlan::Keep(_) | ScaffoldPlan::Fail(_) => return Ok(state),
            };
            root.map_or(Ok(()), |part| check_writable(path, part, files))?;
            execute::check(path, &changes, files)?;
            let accounts = Accounts::of(context).await;
            state.tree.details =
                report::details(path, &changes, &state.tree, scaffold.sensitive, &accounts, context);
        }
        Ok(state)
    }

    async fn execute(
        &self,
        scaffold: &DesiredScaffold,
        state: &ScaffoldState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let (path, files) = (&scaffold.path, context.host.files);
        let after = |changed: bool| {
            move |failure: Failure| Failure { changed: failure.changed || changed, ..failure }
        };
        match plan(scaffold, state) {
            ScaffoldPlan::Keep(_) => Ok(()),
            ScaffoldPlan::Fail(failure) => Err(failure),
            ScaffoldPlan::Make { is_new, changes } => {
                if is_new {
                    let made = path_walk::make_parents(&state.missing_parents, files)?;
                    if let Some(note) = path_walk::parents_note(&state.missing_parents) {
                        context.note(note);
                    }
                    files
                        .make_directory(path, FileAttributes::default())
                        .map_err(|error| after(made > 0)(file_failure(&error)))?;
                }
                execute::apply(path, &changes, &state.tree, scaffold.backup, context).map_err(after(is_new))
            }
            ScaffoldPlan::Remove { changes, removes_root } => {
                execute::apply(path, &changes, &state.tree, scaffold.backup, context)?;
                if removes_root {
                    files.remove(path, false).map_err(|error| after(true)(file_failure(&error)))?;
                }
                Ok(())
            }
        }
    }
}

/// Leaves out empty files, and runs the commands of `post` on copies of the others.
async fn processed(
    scaffold: &DesiredScaffold,
    entries: Vec<DesiredEntry>,
    context: &mut Context<'_>,
) -> Result<Vec<DesiredEntry>, Failure> {
    let mut kept = Vec::with_capacity(entries.len());
    for mut entry in entries {
        if let DesiredKind::File { content: EntryContent::Text(text), is_executable } = &mut entry.kind {
            if scaffold.skip_empty && text.trim_ascii().is_empty() {
                continue;
            }
            let matching = scaffold.post.iter().filter(|post| post.names.matches(&entry.path));
            let commands: Vec<&ContentCheck> = matching.map(|post| &post.command).collect();
            // The content does not matter for a removal.
            if !commands.is_empty() && !scaffold.is_absent {
                let path = scaffold.path.join(&entry.path);
                let new = NewText { path: &path, content: text, sensitive: scaffold.sensitive };
                let made = process(&commands, new, context).await?;
                *text = made.content.into();
                *is_executable |= made.is_executable;
            }
        }
        kept.push(entry);
    }
    Ok(kept)
}
