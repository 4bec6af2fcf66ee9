//! Export of authorized keys. The name of a key is its comment.

use ccm_engine::{Context, Export, ExportedState, InstanceScope, Instances, NotExported};
use ccm_host::FileError;

use super::AuthorizedKeyType;
use crate::parts::accounts::LocalAccounts;
use crate::parts::ssh_keys::key_file::{file, read};
use crate::parts::ssh_keys::key_line::KeyLine;
use crate::parts::ssh_keys::key_options;
use crate::parts::text::lines;
use crate::support::export::{is_personal, no_form};

/// Key in the file of a user.
struct FoundKey {
    /// Comment of the key, or its place if there is none.
    name: String,
    has_comment: bool,
    user: String,
    key: String,
    options: Option<Vec<String>>,
}

impl Export for AuthorizedKeyType {
    async fn instances(&self, _: InstanceScope, context: &mut Context<'_>) -> Result<Instances, NotExported> {
        let (keys, unseen) = keys(context).await?;
        let mut names: Vec<String> = Vec::new();
        for key in keys {
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        }
        Ok(Instances { names, unseen })
    }

    async fn export(
        &self,
        name: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<ExportedState>, NotExported> {
        let mut found = keys(context).await?.0.into_iter().filter(|key| key.name == name);
        let Some(key) = found.next() else { return Ok(None) };
        let others: Vec<String> = found.map(|other| other.user).collect();
        if !key.has_comment {
            return Err(no_form(format!(
                "the key of user `{}` has no comment, which would be its name",
                key.user
            ))
            .with_hint("add a comment behind the key"));
        }
        if !others.is_empty() {
            let users = [&[key.user][..], &others].concat().join(", ");
            return Err(no_form(format!("several keys have the comment `{name}`: of {users}"))
                .with_hint("give each key a comment of its own"));
        }
        let state = ExportedState::default().with("user", key.user).with("key", key.key);
        Ok(Some(state.with_some("options", key.options)))
    }
}

/// Reads the keys of root and of all users that people made. Returns them with the reasons why there may be more.
async fn keys(context: &Context<'_>) -> Result<(Vec<FoundKey>, Vec<NotExported>), NotExported> {
    let accounts = LocalAccounts::of(context).await?;
    let (mut keys, mut unseen) = (Vec::new(), Vec::new());
    for user in accounts.users().filter(|user| user.uid == 0 || is_personal(user.uid)) {
        let Ok(account) = context.host.system.account(&user.name) else { continue };
        let lines_of_file = match read(&account, context.host.files) {
            Ok(Some(found)) => found.content,
            Ok(None) | Err(FileError::ParentMissing(_)) => continue,
            Err(error) => {
                unseen.push(error.failure().into());
                continue;
            }
        };
        let path = file(&account).path();
        for (index, line) in lines(&lines_of_file).enumerate() {
            let Some(line) = KeyLine::parse(line) else { continue };
            let place = || format!("line {} of {}", index + 1, path.display());
            let parts = [line.comment, line.kind, line.blob, line.options];
            let [Ok(comment), Ok(kind), Ok(blob), Ok(options)] = parts.map(str::from_utf8) else {
                unseen.push(no_form(format!("{} is not UTF-8 text", place())));
                continue;
            };
            let has_comment = !comment.is_empty();
            keys.push(FoundKey {
                name: if has_comment { comment.to_owned() } else { place() },
                has_comment,
                user: user.name.clone(),
                key: format!("{kind} {blob}"),
                options: (!options.is_empty()).then(|| key_options::split(options)),
            });
        }
    }
    Ok((keys, unseen))
}
