//! Export of checkouts, by their directories.

use std::path::Path;

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};
use ccm_host::{FileKind, InspectOptions};
use ccm_properties::TextValue as _;

use super::GitType;
use super::remote::GitUrl;
use super::repository::origin;
use crate::parts::accounts::lookup::Accounts;
use crate::support::export::{no_form, no_list};
use crate::support::file_failure::file_failure;
use crate::support::values::canonical_path::is_canonical;

/// Beginning of the name of a branch in `HEAD`.
const BRANCH: &str = "ref: refs/heads/";
/// Maximum size of `HEAD`.
const MAX_HEAD: u64 = 4096;

impl Export for GitType {
    async fn instances(&self, scope: InstanceScope, _: &mut Context<'_>) -> Result<Instances, NotExported> {
        match scope {
            InstanceScope::MadeByHand => Ok(Instances::default()),
            InstanceScope::All => Err(no_list("checkouts can be anywhere")
                .with_hint("name a directory: `ccm resource git /srv/app`")),
        }
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if !is_canonical(name) {
            return Err(no_form(format!("`{}` is not an absolute path", name.escape_debug())));
        }
        let files = context.host.files;
        let repository = Path::new(name).join(".git");
        let found =
            files.inspect(&repository, InspectOptions::default()).map_err(|error| file_failure(&error))?;
        let Some(directory) = found.target.filter(|_| !found.link) else { return Ok(None) };
        if !matches!(directory.kind, FileKind::Directory { .. }) {
            return Err(no_form(format!("\"{name}\" is a worktree or a submodule of another checkout")));
        }
        let head = files.content(&repository.join("HEAD"), MAX_HEAD).map_err(|error| file_failure(&error))?;
        let head = String::from_utf8(head.unwrap_or_default())
            .map_err(|_| no_form("the branch of the checkout is not UTF-8 text"))?;
        let head = head.trim().to_owned();
        let revision = head.strip_prefix(BRANCH).unwrap_or(&head).to_owned();
        let url = origin(&repository, files)?;
        let is_valid = url.as_deref().is_some_and(|url| GitUrl::from_text(url).is_ok());
        let state = match url {
            None => return Err(no_form(format!("the checkout \"{name}\" has no remote `origin`"))),
            // The address of a repository must not hold a password, and is not shown if it does.
            Some(url) if is_valid => ExportedState::default().with("url", url),
            Some(_) => {
                return Err(no_form(format!(
                    "the address of `origin` of \"{name}\" has no form in a manifest"
                )));
            }
        };
        let state = state.with_some("revision", Some(revision).filter(|revision| !revision.is_empty()));
        let accounts = Accounts::of(context).await;
        let is_own = accounts.own().is_some_and(|(uid, _)| uid == directory.uid);
        Ok(Some(state.with_some("user", (!is_own).then(|| accounts.user_name(directory.uid).to_string()))))
    }
}
