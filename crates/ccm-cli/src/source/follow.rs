//! The manifest of a source, for the commands that take one.

use std::time::Duration;

use ccm_runtime::approval::ApproversError;
use ccm_runtime::model::escape_control;
use ccm_runtime::release::SignatureThreshold;
use ccm_runtime::source::{
    CacheError, Followed, FollowedManifest, KeptKind, RewindError, SourceError, SourceOptions, SourceSigners,
};
use ccm_runtime::{Cancellation, ManifestSource, RunMode, Session};

use super::FromRequest;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Manifest of a source without a name.
pub(crate) const MANIFEST: &str = "site.yaml";
/// Time that fetching may take.
const FETCH_WAIT: Duration = Duration::from_secs(30);

/// Manifest of a source, if the command line names one.
pub(crate) struct FromSource(Option<FollowedManifest>);

impl FromSource {
    /// Returns the manifest.
    pub(crate) fn manifest(&self) -> Option<ManifestSource> {
        self.0.as_ref().map(|followed| followed.source.clone())
    }

    /// Returns the reason for which what the source offers is refused; `None` if it is not.
    pub(crate) fn refused(&self) -> Option<String> {
        let kept = self.0.as_ref()?.followed.kept.as_ref()?;
        (kept.kind == KeptKind::Refused).then(|| escape_control(&kept.reason).into_owned())
    }

    /// Records that the version was applied without a failure.
    pub(crate) fn mark_applied(&self, session: &Session, console: &Console) {
        if let Some(followed) = &self.0
            && let Err(error) = session.mark_applied(&followed.followed)
        {
            console.warning_of(&error);
        }
    }
}

/// Fetches what the source of the command line offers, and accepts it if it comes next. A plan accepts nothing.
pub(crate) async fn follow(
    request: FromRequest<'_>,
    session: &Session,
    mode: RunMode,
    console: &Console,
) -> CommandResult<FromSource> {
    let FromRequest { from, consequence, .. } = request;
    let Some(address) = from.address() else { return Ok(FromSource(None)) };
    let manifest = match request.manifests {
        [] => MANIFEST.into(),
        [manifest] => manifest.clone(),
        _ => {
            let message = format!("with `--from`, there is one manifest; {consequence}");
            return Err(CommandError::usage(message));
        }
    };
    let options = SourceOptions {
        address,
        signers: from.signers().map_or(SourceSigners::Nobody, SourceSigners::File),
        threshold: SignatureThreshold(from.threshold.unwrap_or(1).into()),
        channel: from.channel.clone(),
        root: from.root.as_deref().map(str::to_ascii_lowercase),
        allows_rewind: from.allow_rewind,
        manifest,
        bootstrap: from.bootstrap,
        ca_file: from.ca_file.clone(),
        wait: from.fetch_wait.unwrap_or(FETCH_WAIT),
    };
    let values = session::values(request.values);
    let mode_and_size = (mode, request.max_size);
    let followed = session.follow(&options, &values, mode_and_size, &Cancellation::never()).await;
    let followed = followed.map_err(|error| source_error(&error).therefore(consequence))?;
    report(&followed.followed, mode, console);
    Ok(FromSource(Some(followed)))
}

/// Says which version is applied, if it is another one than before, and why it is no newer one.
fn report(followed: &Followed, mode: RunMode, console: &Console) {
    let (name, version) = (&followed.name, &followed.version.version);
    if followed.is_new {
        let signers = match &*followed.version.signed_by {
            [] => "which nobody has to sign".to_owned(),
            signers => format!("signed by {}", escape_control(&signers.join(", "))),
        };
        let verb = if mode == RunMode::Apply { "is accepted" } else { "would be accepted" };
        console.note(&format!("{name}: {version}, {signers}, {verb}"));
        if let Some(commit) = followed.version.commit.as_ref().filter(|commit| commit.after == 0) {
            console.note(&format!("{name}: its history begins with {}, as with `--root`", commit.root));
        }
    }
    if let Some(rewound) = &followed.rewound {
        let reason = escape_control(&rewound.reason);
        console.note(&format!("{name} is rewound to {version}: {reason}"));
    }
    let Some(kept) = &followed.kept else { return };
    let message = format!("{name} stays at {version}: {}", escape_control(&kept.reason));
    match kept.kind {
        KeptKind::Refused | KeptKind::Unreachable if followed.is_reason_new => console.warning(&message),
        _ => console.note(&message),
    }
}

/// Returns the error of a source, with what to do.
pub(super) fn source_error(error: &SourceError) -> CommandError {
    let hint = match error {
        SourceError::Address(error) => Some(error.hint().to_owned()),
        SourceError::Manifest(_) => {
            Some("name a manifest by its path in the source, such as site.yaml".to_owned())
        }
        SourceError::Rewind(RewindError::Again(_)) => {
            Some("`--forward` goes back to the version that was accepted last".to_owned())
        }
        SourceError::Root(_) => {
            Some("write all of it, as `git rev-list --max-parents=0 HEAD` prints it".to_owned())
        }
        SourceError::State(error) => Some(error.hint()),
        SourceError::Private(_) => {
            Some("set TMPDIR to a directory that you can enter and write, or unset it".to_owned())
        }
        SourceError::Signers {
            path,
            source: ApproversError::Missing { .. } | ApproversError::Empty { .. },
        } => Some(format!(
            "write a line for each person who signs to {}: NAME ssh-ed25519 KEY",
            path.display()
        )),
        SourceError::Cache(CacheError::Lost { .. }) => {
            Some("`--bootstrap` takes the next version that is signed, whatever its number".to_owned())
        }
        _ => None,
    };
    CommandError::of(error).hints(hint)
}
