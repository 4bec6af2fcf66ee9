//! Keys and signatures of real programs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use ccm_approval::{Approvers, SignatureVerifier, SignerRole, SshKeygen};
use ccm_host::{
    Account, AccountError, Identity, LocalSystem, LocalZone, PrivateDirectory, StartError, SystemRunner,
};
use ccm_model::{decode_base64, encode_base64};
use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest as _, Sha256};
use ssh_key::{HashAlg, SshSig};

pub(crate) const NAMESPACE: &str = "ccm-approval@v1";

/// Directory with keys.
pub(crate) struct KeyDirectory {
    kept: tempfile::TempDir,
}

impl KeyDirectory {
    pub(crate) fn new() -> Self {
        Self { kept: tempfile::tempdir().expect("a directory") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.kept.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }

    /// Makes a key, and returns its public line without a comment.
    pub(crate) fn make(&self, name: &str, kind: &[&str]) -> String {
        let mut args = vec!["-q", "-N", "", "-C", "", "-t"];
        args.extend(kind);
        let path = self.path(name);
        args.extend(["-f", path.to_str().expect("a path in UTF-8")]);
        let made = keygen(&args, "");
        assert!(made.status.success(), "{made:?}");
        self.public(name)
    }

    pub(crate) fn public(&self, name: &str) -> String {
        let line = std::fs::read_to_string(self.path(&format!("{name}.pub"))).expect("a public key");
        line.trim().to_owned()
    }

    pub(crate) fn sign(&self, name: &str, namespace: &str, text: &str) -> String {
        let path = self.path(name);
        let signed =
            keygen(&["-Y", "sign", "-f", path.to_str().expect("a path in UTF-8"), "-n", namespace], text);
        assert!(signed.status.success(), "{signed:?}");
        String::from_utf8(signed.stdout).expect("text")
    }
}

/// Runs `ssh-keygen`.
pub(crate) fn keygen(args: &[&str], input: &str) -> Output {
    let mut command = Command::new("ssh-keygen");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("ssh-keygen is installed");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that refuses its arguments reads nothing.
    let _closed = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("an end")
}

/// Reads a file of approvers of this text.
pub(crate) fn approvers(text: &str) -> Approvers {
    Approvers::parse(SignerRole::Approvers, Path::new("/approvers"), text, &LocalZone::utc())
        .expect("approvers")
}

/// Runs a future with a `ssh-keygen` of this machine.
pub(crate) fn with_keygen<T>(run: impl AsyncFnOnce(&SshKeygen<'_>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let runner = runtime.block_on(async { SystemRunner::new() }).expect("a runner");
    let keygen = SshKeygen { runner: &runner, system: &runner, is_confined: false };
    runtime.block_on(run(&keygen))
}

/// Verifier with the `ssh-keygen` of this machine.
pub(crate) struct KeygenVerifier;

impl SignatureVerifier for KeygenVerifier {
    fn verify(
        &self,
        approvers: &Approvers,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<VerifiedSignature, SignatureRefusal> {
        approvers.verify_alone(text, signature, demand, at).unwrap_or_else(|| {
            with_keygen(async |keygen| approvers.verify(text, signature, demand, at, keygen).await)
        })
    }
}

/// Flag of a security key that was touched.
pub(crate) const PRESENT: u8 = 1;
/// Flag of a security key that has verified its user.
pub(crate) const VERIFIED: u8 = 4;

/// Security key in software, of the algorithm Ed25519.
pub(crate) struct SoftwareSecurityKey(SigningKey);

const APPLICATION: &[u8] = b"ssh:";
const SECURITY_KEY: &[u8] = b"sk-ssh-ed25519@openssh.com";

impl SoftwareSecurityKey {
    pub(crate) fn new(seed: u8) -> Self {
        Self(SigningKey::from_bytes(&[seed; 32]))
    }

    fn encoded(&self) -> Vec<u8> {
        [string(SECURITY_KEY), string(self.0.verifying_key().as_bytes()), string(APPLICATION)].concat()
    }

    pub(crate) fn public(&self) -> String {
        format!("sk-ssh-ed25519@openssh.com {}", encode_base64(&self.encoded()))
    }

    /// Signs as a security key does with these flags.
    pub(crate) fn sign(&self, namespace: &str, text: &str, flags: u8) -> String {
        let message = SshSig::signed_data(namespace, HashAlg::Sha512, text.as_bytes()).expect("a message");
        let mut signed = digest(APPLICATION);
        signed.push(flags);
        signed.extend([0, 0, 0, 7]);
        signed.extend(digest(&message));
        let signature = self.0.sign(&signed).to_bytes();
        let mut encoded = [string(SECURITY_KEY), string(&signature)].concat();
        encoded.push(flags);
        encoded.extend([0, 0, 0, 7]);
        armoured(&self.encoded(), namespace, b"", b"sha512", &encoded)
    }
}

fn digest(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

/// Returns bytes with their length before them.
pub(crate) fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a length");
    [&length.to_be_bytes()[..], bytes].concat()
}

/// Returns a signature of these parts.
pub(crate) fn armoured(
    key: &[u8],
    namespace: &str,
    reserved: &[u8],
    hash: &[u8],
    signature: &[u8],
) -> String {
    let bytes = [
        b"SSHSIG\0\0\0\x01".to_vec(),
        string(key),
        string(namespace.as_bytes()),
        string(reserved),
        string(hash),
        string(signature),
    ];
    let body = encode_base64(&bytes.concat());
    let lines: Vec<&str> =
        body.as_bytes().chunks(70).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
    format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", lines.join("\n"))
}

/// Returns the binary encoding of a public line.
pub(crate) fn encoded(public: &str) -> Vec<u8> {
    decode_base64(public.split(' ').nth(1).expect("two words")).expect("base64")
}

/// System with another program as `ssh-keygen`, which need not exist.
pub(crate) struct OtherKeygen<'a>(pub(crate) &'a dyn LocalSystem, pub(crate) PathBuf);

impl LocalSystem for OtherKeygen<'_> {
    fn find(&self, _: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        self.0.find(self.1.to_str().expect("a path in UTF-8"), path, cwd)
    }

    fn find_as(
        &self,
        identity: &Identity,
        name: &str,
        path: &str,
        cwd: &Path,
    ) -> Result<PathBuf, StartError> {
        self.0.find_as(identity, name, path, cwd)
    }

    fn account(&self, user: &str) -> Result<Account, AccountError> {
        self.0.account(user)
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        self.0.group(name)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.0.base_environment()
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        self.0.inherited_environment()
    }

    fn own_identity(&self) -> std::io::Result<Identity> {
        self.0.own_identity()
    }

    fn may_become(&self, identity: &Identity) -> Result<(), StartError> {
        self.0.may_become(identity)
    }

    fn private_directory(&self, owner: Option<&Identity>) -> std::io::Result<PrivateDirectory> {
        self.0.private_directory(owner)
    }

    fn private_parent(&self) -> std::io::Result<PathBuf> {
        self.0.private_parent()
    }
}
