//! An agent, and a security key that Debian has in software.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};

use ccm_testkit::SOFTWARE_SECURITY_KEY;

use crate::keys::{KeyDirectory, NAMESPACE, approvers, with_keygen};

const TEXT: &str = "{\"type\":\"ccm-approval/1\"}\n";

fn verify(public: &str, signature: &str, user_verified: bool) -> Result<VerifiedSignature, SignatureRefusal> {
    let approvers = approvers(&format!("alice {public}\n"));
    let demand =
        SignatureDemand { namespace: NAMESPACE, principal: None, touch: user_verified, user_verified };
    with_keygen(async |keygen| approvers.verify(TEXT, signature, &demand, SystemTime::now(), keygen).await)
}

/// Agent that ends with this value.
struct Agent(Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

#[test]
fn a_key_that_only_an_agent_holds_signs() {
    let keys = KeyDirectory::new();
    let public = keys.make("key", &["ed25519"]);
    let socket = keys.path("agent");
    let mut command = Command::new("ssh-agent");
    command.arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).stderr(Stdio::null());
    let agent = Agent(command.spawn().expect("ssh-agent is installed"));
    // The socket is there before the agent listens.
    let add =
        || Command::new("ssh-add").arg("-q").arg(keys.path("key")).env("SSH_AUTH_SOCK", &socket).output();
    ccm_testkit::wait_until("the agent listens", || add().expect("ssh-add is installed").status.success());
    std::fs::remove_file(keys.path("key")).expect("the private key leaves");
    let signature = sign(&keys, "key.pub", &[("SSH_AUTH_SOCK", &socket)]);
    assert_eq!(verify(&public, &signature, false).expect("verified").principal, "alice");
    drop(agent);
}

#[test]
fn a_security_key_signs_with_the_flags_that_it_was_made_with() {
    let keys = KeyDirectory::new();
    let Some(provider) = provider(&keys) else {
        return ccm_testkit::skipped("the package openssh-tests can't be downloaded");
    };
    for kind in ["ed25519-sk", "ecdsa-sk"] {
        for (option, touched, verified) in [
            (None, true, false),
            (Some("no-touch-required"), false, false),
            (Some("verify-required"), true, true),
        ] {
            let name = format!("{kind}-{}", option.unwrap_or("usual"));
            let path = keys.path(&name);
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-N", "", "-C", "", "-t", kind, "-f"]).arg(&path).arg("-w").arg(&provider);
            if let Some(option) = option {
                command.args(["-O", option]);
            }
            let made = command.stdin(Stdio::null()).output().expect("ssh-keygen");
            if !made.status.success() {
                return ccm_testkit::skipped("this ssh-keygen can't use the security key of the package");
            }
            let signature = sign(&keys, &name, &[("SSH_SK_PROVIDER", &provider)]);
            let result = verify(&keys.public(&name), &signature, false);
            match result {
                Ok(_) => assert!(touched, "{name}"),
                Err(SignatureRefusal::NotTouched { .. }) => assert!(!touched, "{name}"),
                other => panic!("{name}: {other:?}"),
            }
            assert_eq!(verify(&keys.public(&name), &signature, true).is_ok(), verified, "{name}");
        }
    }
}

/// Returns the security key in software that is installed, or downloads the package with it.
fn provider(keys: &KeyDirectory) -> Option<PathBuf> {
    let installed = Path::new(SOFTWARE_SECURITY_KEY);
    if installed.exists() {
        return Some(installed.to_owned());
    }
    let directory = keys.path("package");
    std::fs::create_dir(&directory).ok()?;
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(&directory).stdin(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    };
    let options = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=5", "download", "openssh-tests"];
    if !run("apt-get", &options) {
        return None;
    }
    let file = std::fs::read_dir(&directory).ok()?.next()?.ok()?.file_name();
    let unpacked = run("dpkg", &["-x", file.to_str()?, "."]);
    let provider = directory.join("usr/lib/openssh/regress/misc/sk-dummy/sk-dummy.so");
    (unpacked && provider.exists()).then_some(provider)
}

fn sign(keys: &KeyDirectory, name: &str, environment: &[(&str, &Path)]) -> String {
    let text = keys.write("text", TEXT);
    let mut command = Command::new("ssh-keygen");
    command.args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(keys.path(name)).arg(&text);
    command.envs(environment.iter().copied()).stdin(Stdio::null());
    let signed = command.output().expect("ssh-keygen");
    assert!(signed.status.success(), "{signed:?}");
    let signature = std::fs::read_to_string(keys.path("text.sig")).expect("a signature");
    std::fs::remove_file(keys.path("text.sig")).expect("removed");
    signature
}
