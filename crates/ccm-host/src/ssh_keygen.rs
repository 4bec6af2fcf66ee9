//! Signatures by the SSH key of the person at the terminal, made by `ssh-keygen`.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::private::PrivateDirectory;

const PROGRAM: &str = "ssh-keygen";
/// Maximum length of an answer of these programs.
const MAX_ANSWER: u64 = 1 << 20;

/// Reason for which there is no signature.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// The program is not installed, or can't be started.
    #[error("{program} can't be started")]
    Start {
        /// Name of the program.
        program: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// The program made no signature. Its own message is on the terminal.
    #[error("ssh-keygen made no signature with {}", .0.display())]
    Refused(PathBuf),
    /// The named key can't be read.
    #[error("the key {} can't be read", path.display())]
    Unreadable {
        /// Path of the key.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// There is no key to sign with.
    #[error("there is no key to sign with: no agent holds one, and ~/.ssh has none")]
    NoKey,
    /// The text can't be handed to the program.
    #[error("the text to sign can't be handed to ssh-keygen")]
    Prepare(#[source] io::Error),
}

/// Key to sign with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SigningKey {
    /// File of a private key, or of a public key whose private key the agent holds.
    File(PathBuf),
    /// Public key, as a line of OpenSSH, whose private key the agent holds.
    Agent(String),
}

/// Signs a text. Questions for a passphrase, a PIN or a touch go to the terminal; the agent is that of `SSH_AUTH_SOCK`.
///
/// `ssh-keygen` reads the text from a file. Without a terminal, it would take the first line of its standard input for
/// the answer to such a question, and sign the rest.
pub fn sign_with_ssh_keygen(
    key: &SigningKey,
    namespace: &str,
    message: &[u8],
) -> Result<String, SigningError> {
    // Removed at the end.
    let directory = PrivateDirectory::make(None).map_err(SigningError::Prepare)?;
    let text = directory.path().join("text");
    std::fs::write(&text, message).map_err(SigningError::Prepare)?;
    let path = match key {
        SigningKey::File(path) => path.clone(),
        SigningKey::Agent(line) => {
            let path = directory.path().join("key.pub");
            std::fs::write(&path, format!("{line}\n")).map_err(SigningError::Prepare)?;
            path
        }
    };
    let stdin = if io::stdin().is_terminal() { Stdio::inherit() } else { Stdio::null() };
    let mut command = Command::new(PROGRAM);
    command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(&path).arg(&text);
    command.stdin(stdin).stdout(Stdio::null());
    let status = command.status().map_err(|source| SigningError::Start { program: PROGRAM, source })?;
    let mut signature = String::new();
    let read = std::fs::File::open(text.with_extension("sig"))
        .and_then(|file| file.take(MAX_ANSWER).read_to_string(&mut signature));
    match read {
        Ok(length) if status.success() && length > 0 => Ok(signature),
        _ => Err(SigningError::Refused(path)),
    }
}

/// Returns the public keys that the agent holds, as lines of OpenSSH; none without an agent.
pub fn agent_keys() -> Vec<String> {
    let answer = agent_answer().unwrap_or_default();
    String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect()
}

fn agent_answer() -> io::Result<Vec<u8>> {
    let mut command = Command::new("ssh-add");
    command.arg("-L").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut answer = Vec::new();
    let read = child.stdout.take().map(|stdout| stdout.take(MAX_ANSWER).read_to_end(&mut answer));
    // An agent without keys is an error of the program, and its output a message.
    let is_success = child.wait()?.success();
    read.transpose()?;
    Ok(if is_success { answer } else { Vec::new() })
}

/// Returns the usual keys of the user, the preferred first, each with its public key.
pub fn own_keys() -> Vec<(PathBuf, String)> {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) else {
        return Vec::new();
    };
    let names = ["id_ed25519_sk", "id_ed25519", "id_ecdsa_sk", "id_ecdsa", "id_rsa"];
    let key = |name: &str| {
        let path: &Path = &home.join(".ssh").join(name);
        let public = std::fs::read_to_string(path.with_extension("pub")).ok()?;
        path.is_file().then(|| (path.to_owned(), public.trim().to_owned()))
    };
    names.into_iter().filter_map(key).collect()
}

/// Returns the public key of a named key, as a line of OpenSSH: that of a `.pub` file itself, or that beside a private
/// key. `None` if only the private key could tell, which may need a passphrase.
pub fn public_key_of(path: &Path) -> Result<Option<String>, SigningError> {
    let failed = |source| SigningError::Unreadable { path: path.to_owned(), source };
    let read = |path: &Path| {
        let mut text = String::new();
        std::fs::File::open(path)?.take(MAX_ANSWER).read_to_string(&mut text)?;
        Ok::<_, io::Error>(text)
    };
    let text = read(path).map_err(failed)?;
    if !text.contains("PRIVATE KEY") {
        return Ok(Some(text.trim().to_owned()));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".pub");
    Ok(read(Path::new(&beside)).ok().map(|text| text.trim().to_owned()))
}
