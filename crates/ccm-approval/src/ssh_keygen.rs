//! Verification by `ssh-keygen`, for the keys that ccm does not verify itself.

use std::io;
use std::time::Duration;

use ccm_host::state::{Directory, StateError};
use ccm_host::{Cancellation, Command, CommandOrigin, Exit, LocalSystem, Role, Runner, Sandbox, StartError};

use crate::signature::ApproverSignature;

const NAME: &str = "ssh-keygen";
const SEARCH_PATH: &str = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/sbin";
const TIMEOUT: Duration = Duration::from_secs(20);
/// Name of the only line of the file of allowed signers. Whose key that is was decided before.
const PRINCIPAL: &str = "approver";

/// Program `ssh-keygen`, run by a runner. No other command of the runner may run at the same time.
#[derive(Clone)]
pub struct SshKeygen<'a> {
    /// Runs the program.
    pub runner: &'a dyn Runner,
    /// Finds the program, and makes its directory.
    pub system: &'a dyn LocalSystem,
    /// Confinement of the program.
    pub sandbox: Option<Sandbox>,
}

/// Error of running `ssh-keygen`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeygenError {
    /// The program is not installed.
    #[error("ssh-keygen is not installed")]
    Missing,
    /// The program could not be started.
    #[error("ssh-keygen could not be started")]
    Start(#[from] StartError),
    /// The program did not end by itself.
    #[error("ssh-keygen did not end by itself")]
    Ended,
    /// The files of the program can't be written.
    #[error("the files of ssh-keygen can't be written")]
    Write(#[from] io::Error),
    /// The directory of the files can't be used.
    #[error("the directory for the files of ssh-keygen can't be used")]
    Directory(#[from] StateError),
}

impl SshKeygen<'_> {
    /// Returns `true` if the signature is that of the text by its key, and that key is not revoked.
    pub(crate) async fn verify(
        &self,
        text: &str,
        signature: &ApproverSignature,
        revoked: Option<&[u8]>,
    ) -> Result<bool, KeygenError> {
        let program = self.system.find(NAME, SEARCH_PATH, "/".as_ref()).map_err(|_| KeygenError::Missing)?;
        let workdir = self.system.private_directory(None)?;
        let directory = Directory::open_private(workdir.path())?;
        directory.replace_unsynced("signers", format!("{PRINCIPAL} {}\n", signature.key()).as_bytes())?;
        directory.replace_unsynced("signature", signature.armoured().as_bytes())?;
        let mut args = vec!["-Y", "verify", "-f", "signers", "-I", PRINCIPAL, "-n", signature.namespace()];
        args.extend(["-s", "signature"]);
        if let Some(revoked) = revoked {
            directory.replace_unsynced("revoked", revoked)?;
            args.extend(["-r", "revoked"]);
        }
        let command = Command {
            args: args.into_iter().map(Into::into).collect(),
            cwd: workdir.path().to_owned(),
            environment: [("PATH", SEARCH_PATH), ("LC_ALL", "C")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Some(text.to_owned()),
            timeout: Some(TIMEOUT),
            sandbox: self.sandbox.clone(),
            origin: CommandOrigin::Ccm,
            role: Role::Query,
            ..Command::new(program)
        };
        let finished = self.runner.run(&command, &Cancellation::never(), &mut |_, _| {}).await?;
        // The directory holds nothing secret. What could not be removed is removed by a later run.
        let _later = workdir.remove();
        match finished.exit {
            Exit::Code(code) => Ok(code == 0),
            _ => Err(KeygenError::Ended),
        }
    }
}
