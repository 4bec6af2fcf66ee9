//! Verification of signatures.

use std::path::Path;
use std::time::{Duration, SystemTime};

use ccm_approval::{Approvers, SshKeygen};
use ccm_host::{RunnerError, SystemRunner};
use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};
use tokio::runtime::Builder;
use tokio::time::timeout;

use crate::governance::Governance;

/// Time in which `ssh-keygen` has to end. One command runs at a time, and one of another session on this thread can't
/// end while this thread waits.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// Reason for which a signature does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFailure {
    /// The signature is refused.
    #[error(transparent)]
    Refused(#[from] SignatureRefusal),
    /// The signed text is not UTF-8, and ccm writes no other.
    #[error("the signed text is not UTF-8")]
    Text,
    /// `ssh-keygen` can't be run.
    #[error("no command can be run to verify the signature")]
    Runner(#[from] RunnerError),
    /// Commands of other sessions kept `ssh-keygen` waiting.
    #[error("ssh-keygen could not verify the signature beside other commands of this process")]
    Busy,
    /// The thread of `ssh-keygen` can't be started.
    #[error("no thread can be started to verify the signature")]
    Thread(#[from] std::io::Error),
}

impl Governance {
    /// Checks the signature of a text now, and returns who signed it.
    pub fn verify(
        &self,
        approvers: &Approvers,
        namespace: &str,
        text: &[u8],
        signature: &str,
    ) -> Result<VerifiedSignature, SignatureFailure> {
        let text = str::from_utf8(text).map_err(|_| SignatureFailure::Text)?;
        // An intent that needs a touch refuses other keys by itself.
        let demand = SignatureDemand { namespace, principal: None, touch: false, user_verified: false };
        let launcher = self.launcher.as_deref();
        verify_demand(approvers, (text, signature), &demand, self.doors.clock().now(), launcher)
    }
}

/// Checks the signature of a text at a moment. With a launcher, `ssh-keygen` runs in a sandbox.
pub(super) fn verify_demand(
    approvers: &Approvers,
    (text, signature): (&str, &str),
    demand: &SignatureDemand<'_>,
    at: SystemTime,
    launcher: Option<&Path>,
) -> Result<VerifiedSignature, SignatureFailure> {
    match approvers.verify_alone(text, signature, demand, at) {
        Some(verified) => Ok(verified?),
        None => verify_with_program(approvers, (text, signature), demand, at, launcher),
    }
}

/// Verifies a signature with `ssh-keygen`. The caller may be within a runtime, which can't wait for another future.
fn verify_with_program(
    approvers: &Approvers,
    (text, signature): (&str, &str),
    demand: &SignatureDemand<'_>,
    now: SystemTime,
    launcher: Option<&Path>,
) -> Result<VerifiedSignature, SignatureFailure> {
    let verify = || {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut runner = SystemRunner::new()?;
            if let Some(launcher) = launcher {
                runner = runner.with_launcher(launcher);
            }
            let is_confined = launcher.is_some();
            let keygen = SshKeygen { runner: &runner, system: &runner, is_confined };
            let verified = approvers.verify(text, signature, demand, now, &keygen);
            Ok(timeout(MAX_WAIT, verified).await.map_err(|_| SignatureFailure::Busy)??)
        })
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("ccm-signature".to_owned());
        let ended = thread.spawn_scoped(scope, verify)?.join();
        ended.unwrap_or_else(|_| Err(std::io::Error::other("it panicked").into()))
    })
}
