//! Export of files, by their paths.

use std::path::Path;

use ccm_engine::{
    Context, Export, ExportRemark, ExportedState, InstanceScope, Instances, NotExported, NotExportedKind,
};
use ccm_host::{FileInfo, FileKind, InspectOptions};
use ccm_redaction::is_probably_secret;

use super::FileType;
use super::made_by_hand::made_by_hand;
use crate::parts::accounts::lookup::Accounts;
use crate::parts::crontabs::CRONTABS;
use crate::support::export::{no_form, no_list};
use crate::support::file_failure::file_failure;
use crate::support::values::canonical_path::is_canonical;
use crate::support::values::file_mode::is_world_readable;

/// Maximum size of content that is exported.
const MAX_CONTENT: u64 = 4 << 20;

/// Rights to read of everybody but the owner.
const OF_OTHERS: u32 = 0o044;

/// Files whose content is a secret, whatever it looks like.
const SECRET_FILES: [&str; 7] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/ppp/chap-secrets",
];

/// Settings that only some users may read by convention, and that hold no secrets.
const PRIVATE_SETTINGS: [&str; 2] = ["/etc/sudoers", "/etc/sudoers.d"];

impl Export for FileType {
    async fn instances(
        &self,
        scope: InstanceScope,
        context: &mut Context<'_>,
    ) -> Result<Instances, NotExported> {
        match scope {
            InstanceScope::All => {
                Err(no_list("files can be anywhere").with_hint("name a path: `ccm resource file /etc/motd`"))
            }
            InstanceScope::MadeByHand => made_by_hand(context).await,
        }
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        if !is_canonical(name) {
            return Err(no_form(format!(
                "`{}` is not an absolute path without `..` or `//`",
                name.escape_debug()
            )));
        }
        let (files, path) = (context.host.files, Path::new(name));
        if let Some(target) = files.link_target(path).map_err(|error| file_failure(&error))? {
            let target =
                target.to_str().ok_or_else(|| no_form("the target of the link is not UTF-8 text"))?;
            return Ok(Some(ExportedState::default().ensure("link").with("target", target)));
        }
        let found = files.inspect(path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
        let Some(info) = found.target else { return Ok(None) };
        let state = match info.kind {
            FileKind::Directory { .. } => ExportedState::default().ensure("directory"),
            FileKind::File => content(ExportedState::default(), path, &info, context),
            FileKind::Special(what) => return Err(no_form(format!("\"{name}\" is {what}"))),
        };
        let accounts = Accounts::of(context).await;
        let state = state.with("owner", &*accounts.user_name(info.uid));
        let state = state.with("group", &*accounts.group_name(info.gid));
        Ok(Some(state.with("mode", format!("{:04o}", info.mode))))
    }
}

/// Adds the content of a regular file, unless it is a secret or can't be read.
fn content(state: ExportedState, path: &Path, info: &FileInfo, context: &Context<'_>) -> ExportedState {
    let unread = |reason: String| ExportRemark::Unread { property: "content", reason };
    let is_setting = PRIVATE_SETTINGS.iter().chain(&CRONTABS).any(|setting| path.starts_with(setting));
    let is_named = SECRET_FILES.iter().any(|secret| path.starts_with(secret));
    // What only its owner may read is a key or a password more often than not.
    if is_named || info.mode & OF_OTHERS == 0 && info.size > 0 && !is_setting {
        return state.remark(ExportRemark::Secret { property: "content" });
    }
    match context.host.files.content(path, MAX_CONTENT) {
        Ok(Some(bytes)) if is_probably_secret(&bytes) || context.secrets.redactor().finds(&bytes) => {
            state.remark(ExportRemark::Secret { property: "content" })
        }
        Ok(Some(bytes)) => state.with_content("content", bytes, !is_world_readable(info.mode) && !is_setting),
        Ok(None) => state.remark(unread(format!("it is larger than {} MiB", MAX_CONTENT >> 20))),
        Err(error) => state.remark(unread(file_failure(&error).one_line())),
    }
}

/// Returns the reason of a path that no manifest can name.
pub(super) fn unnameable(path: &Path) -> NotExported {
    NotExported::new(NotExportedKind::NoForm, format!("the path \"{}\" is not UTF-8 text", path.display()))
}
