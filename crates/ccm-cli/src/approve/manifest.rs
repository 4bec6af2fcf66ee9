//! `ccm approve --manifest`: a signature of a manifest with everything that belongs to it.

use std::path::Path;

use ccm_runtime::approval::{Approvers, ApproversError, MANIFEST_NAMESPACE};
use ccm_runtime::model::escape_control;
use ccm_runtime::signed::{SignedManifest, StatementPaths};
use ccm_runtime::{ExitCode, LoadedManifest, Session, SigningKey};

use super::is_confirmed;
use crate::arguments::{ApproveArguments, IdentityArguments, ValueArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::{manifest, session};

/// Number of names of files that are shown before the question. The rest is counted.
const MAX_LISTED: usize = 40;

pub(super) fn approve(arguments: &ApproveArguments, path: &Path, console: &Console) -> CommandResult {
    let session = session::open(console);
    let values = session::values(&ValueArguments {
        data: arguments.data.clone(),
        facts: arguments.facts.clone(),
        environment: arguments.environment.clone(),
        identity: IdentityArguments::default(),
    });
    let input = session.read_to_sign(manifest::source(path), &values, arguments.limits.max_manifest_size);
    let input = input?;
    let manifest = manifest::load(console, &session, &input)?;
    if let Some(signature) = &arguments.signature {
        return add_signature(console, &session, &manifest, signature);
    }
    let statement = manifest
        .statement(arguments.until.unwrap_or_default(), &arguments.also)
        .map_err(|error| not_approved(&error))?;
    let bytes = statement
        .bytes()
        .map_err(|error| CommandError::new("the statement can't be written").caused_by(&error))?;
    console.print_words(&overview(&statement))?;
    if arguments.export {
        let paths = manifest.write_statement(&bytes, None).map_err(|error| not_approved(&error))?;
        return console.print_words(&format!(
            "wrote {}; sign it with: ssh-keygen -Y sign -n {MANIFEST_NAMESPACE} -f KEY {}\n",
            paths.statement.display(),
            paths.statement.display()
        ));
    }
    let approvers = approvers(console, &session)?;
    let key = session.governance().signing_key(arguments.key.clone(), approvers.as_ref())?;
    if !is_confirmed(console, &format!("Sign with {}? [y/N] ", key_name(&key)), arguments.yes)? {
        return Ok(ExitCode::NothingRun);
    }
    let (signature, by) = session.governance().sign(&key, MANIFEST_NAMESPACE, &bytes, approvers.as_ref())?;
    let paths = manifest.write_statement(&bytes, Some(&signature)).map_err(|error| not_approved(&error))?;
    let by = by.map_or_else(String::new, |by| format!(" by {}", escape_control(&by.principal)));
    console.print_words(&format!("signed{by} until {}: {}\n", statement.not_after, written(&paths)))
}

fn not_approved(error: &dyn std::error::Error) -> CommandError {
    CommandError::of(error).therefore("nothing was approved")
}

/// Returns the name of a key for a question.
pub(crate) fn key_name(key: &SigningKey) -> String {
    match key {
        SigningKey::File(path) => path.display().to_string(),
        SigningKey::Agent(line) => {
            let comment = line.splitn(3, ' ').nth(2).filter(|comment| !comment.is_empty());
            format!("the key of the agent, {}", escape_control(comment.unwrap_or("without a name")))
        }
    }
}

/// Returns the approvers of this machine; `None` on a machine that has none, such as that of a developer.
pub(super) fn approvers(console: &Console, session: &Session) -> CommandResult<Option<Approvers>> {
    match session.governance().approvers() {
        Ok(approvers) => Ok(Some(approvers)),
        Err(ApproversError::Missing { path, .. } | ApproversError::Empty { path, .. }) => {
            let path = path.display();
            console
                .note(&format!("{path} names no approver here, so it is not known whether the key is one"));
            Ok(None)
        }
        Err(error) => Err(not_approved(&error)),
    }
}

/// Puts a signature from elsewhere beside the statement that it signs.
fn add_signature(
    console: &Console,
    session: &Session,
    manifest: &LoadedManifest<'_>,
    signature: &Path,
) -> CommandResult {
    let statement = manifest.read_statement().map_err(|error| not_approved(&error))?;
    let text = session.read_text(Some(signature), 64 << 10, "signature");
    let (_, text) = text.map_err(|error| not_approved(&error))?;
    if let Some(approvers) = approvers(console, session)? {
        session
            .governance()
            .verify(&approvers, MANIFEST_NAMESPACE, &statement, &text)
            .map_err(|error| not_approved(&error))?;
    }
    let paths = manifest.write_statement(&statement, Some(&text)).map_err(|error| not_approved(&error))?;
    console.print_words(&format!("signed: {}\n", written(&paths)))
}

fn written(paths: &StatementPaths) -> String {
    format!("{}, {}", paths.statement.display(), paths.signature.display())
}

fn overview(statement: &SignedManifest) -> String {
    let escaped = |text: &str| escape_control(text).into_owned();
    let mut text = format!("{}, until {}\n", escaped(&statement.manifest), statement.not_after);
    for value in &statement.data {
        text += &format!("  --data {}\n", escaped(value));
    }
    for file in &statement.hiera {
        text += &format!("  --hiera {}\n", escaped(file));
    }
    for file in statement.files.iter().take(MAX_LISTED) {
        let what = match (&file.sha256, &file.link) {
            (Some(digest), _) => digest.get(..12).unwrap_or_default().to_owned(),
            (None, link) => format!("link to {}", escaped(link.as_deref().unwrap_or_default())),
        };
        text += &format!("  {what:12}  {}\n", escaped(&file.name));
    }
    match statement.files.len() {
        count if count > MAX_LISTED => {
            text += &format!("  and {} more, {count} files in all\n", count - MAX_LISTED);
        }
        _ => {}
    }
    text
}
