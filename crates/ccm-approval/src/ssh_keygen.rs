//! Verification by `ssh-keygen`, for the keys that ccm does not verify itself.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use ccm_host::state::{Directory, StateError};
use ccm_host::{Cancellation, Command, CommandOrigin, Exit, LocalSystem, Role, Runner, Sandbox, StartError};
use ccm_model::escape_control;
use ccm_sshsig::SshSignature;

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
    /// Finds the program, and makes its directories.
    pub system: &'a dyn LocalSystem,
    /// Runs the program in a sandbox without a network, which reads its files and writes none, where there are sandboxes.
    pub is_confined: bool,
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
    /// The program finds no account of the user who runs ccm.
    #[error("ssh-keygen finds no account of the user who runs ccm")]
    NoAccount,
    /// The program failed for another reason than the signature.
    #[error("ssh-keygen failed with exit code {code}: {message}")]
    Failed {
        /// Exit code.
        code: i32,
        /// Its message, without control characters.
        message: String,
    },
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

/// Message of the program for a user without an account, such as one of a directory service within a sandbox.
const NO_ACCOUNT: &str = "No user exists for uid";
/// Message of the program about a signature that is not that of the text, or whose key is revoked.
const WRONG: &str = "Could not verify signature";

impl SshKeygen<'_> {
    /// Returns `true` if the signature is that of the text by its key, and that key is not revoked.
    pub(crate) async fn verify(
        &self,
        text: &str,
        signature: &SshSignature,
        revoked: Option<&[u8]>,
    ) -> Result<bool, KeygenError> {
        let program = self.system.find(NAME, SEARCH_PATH, "/".as_ref()).map_err(|_| KeygenError::Missing)?;
        // The directories hold nothing secret. What can't be removed is removed by a later run.
        let files = self.system.private_directory(None)?;
        let directory = Directory::open_private(files.path())?;
        directory.replace_unsynced("signers", format!("{PRINCIPAL} {}\n", signature.key()).as_bytes())?;
        directory.replace_unsynced("signature", signature.armoured().as_bytes())?;
        let file = |name: &str| files.path().join(name).into_os_string();
        let mut args: Vec<OsString> =
            ["-Y", "verify", "-I", PRINCIPAL, "-n", signature.namespace(), "-f"].map(OsString::from).into();
        args.extend([file("signers"), "-s".into(), file("signature")]);
        if let Some(revoked) = revoked {
            directory.replace_unsynced("revoked", revoked)?;
            args.extend(["-r".into(), file("revoked")]);
        }
        let command = Command {
            args,
            cwd: files.path().to_owned(),
            environment: [("PATH", SEARCH_PATH), ("LC_ALL", "C")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            stdin: Some(text.into()),
            timeout: Some(TIMEOUT),
            origin: CommandOrigin::Ccm,
            role: Role::Query,
            ..Command::new(program)
        };
        if self.is_confined {
            let workdir = self.system.private_directory(None)?;
            let (path, read) = (workdir.path().to_owned(), vec![files.path().to_owned()]);
            let sandbox =
                Sandbox { private: Some(path.clone()), read, advisory: true, ..Sandbox::new(path.clone()) };
            let confined = Command { cwd: path, sandbox: Some(sandbox), ..command.clone() };
            match self.run(&confined).await {
                // Sandboxes are impossible here, or the account is not in /etc/passwd, which is all that one sees.
                Err(KeygenError::Start(_) | KeygenError::NoAccount) => {}
                result => return result,
            }
        }
        self.run(&command).await
    }

    async fn run(&self, command: &Command) -> Result<bool, KeygenError> {
        let finished = self.runner.run(command, &Cancellation::never(), &mut |_, _| {}).await?;
        let [stdout, stderr] =
            [&finished.stdout, &finished.stderr].map(|output| String::from_utf8_lossy(&output.head));
        match finished.exit {
            Exit::Code(0) => Ok(true),
            Exit::Code(_) if stdout.contains(WRONG) => Ok(false),
            Exit::Code(_) if stderr.contains(NO_ACCOUNT) => Err(KeygenError::NoAccount),
            Exit::Code(code) => {
                let message = stderr.lines().rev().find(|line| !line.trim().is_empty());
                let message = escape_control(message.unwrap_or("no message")).into_owned();
                Err(KeygenError::Failed { code, message })
            }
            _ => Err(KeygenError::Ended),
        }
    }
}
