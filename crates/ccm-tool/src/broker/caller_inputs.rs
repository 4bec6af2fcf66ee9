//! What a caller of a service may read of a manifest, before the service reads it as root.
//!
//! Whether a manifest can be loaded depends on every file that it reads, and its caller sees whether it could. A program that
//! runs as the caller therefore loads it first, and lists what it has read. Root goes on only with exactly that.

use std::io;
use std::path::{Path, PathBuf};

use ccm_host::{ConfigurationError, CredentialError};
use ccm_model::sha256;
use ccm_runtime::signed::ManifestSignatureError;
use ccm_runtime::{Canceller, Config, CustomFacts, Doors, Finding, LoadedManifest, Session, SystemDoors};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::applying::{bounds, invalid, read, too_much};
use super::{CallContext, ToolBroker};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::catalog::ToolName;
use crate::served_user::ServedUser;

/// Field of the inputs in the answer of the program.
const INPUTS: &str = "inputs";

/// Manifest that the program loads.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ManifestOfCall {
    /// Name in messages.
    pub(super) name: String,
    /// Absolute path.
    pub(super) path: PathBuf,
    /// Text of the call, which only root can read at the path.
    pub(super) text: Option<String>,
}

/// Doors of a session that loads the manifest of a caller: nothing that only one of root and the caller has.
pub(super) struct CallerDoors {
    /// Text of the manifest at a path.
    pub(super) given: Option<(PathBuf, String)>,
    /// Variables that expressions see. The default are those of the process.
    pub(super) environment: Option<Vec<(String, String)>>,
}

impl CallerDoors {
    /// Returns `true` for a path in the directory of a given text, in which there is nothing else.
    fn is_beside_text(&self, path: &Path) -> bool {
        let directory = self.given.as_ref().and_then(|(given, _)| given.parent());
        directory.is_some_and(|directory| path.starts_with(directory))
    }
}

impl Doors for CallerDoors {
    fn custom_facts(&self) -> CustomFacts {
        of_system()
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.environment.clone().unwrap_or_else(|| SystemDoors.environment())
    }

    fn is_not_utf8(&self, variable: &str) -> bool {
        self.environment.is_none() && SystemDoors.is_not_utf8(variable)
    }

    fn credential(&self, _: &str) -> Result<String, CredentialError> {
        Err(CredentialError::NotSet)
    }

    /// Refuses the key of the machine: what it opens may be for others than the caller.
    fn host_key(&self, path: &Path, _limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
        let source = io::ErrorKind::PermissionDenied.into();
        Err(ConfigurationError::Read { path: path.to_owned(), source })
    }

    fn dotenv(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
        if self.is_beside_text(path) { Ok(None) } else { SystemDoors.dotenv(path, limit) }
    }

    fn data_file(&self, directory: &Path, name: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        if self.is_beside_text(directory) { Ok(None) } else { SystemDoors.data_file(directory, name, limit) }
    }

    fn regular_input(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match &self.given {
            Some((given, text)) if given == path => Ok(text.clone().into_bytes()),
            Some(_) if self.is_beside_text(path) => Err(io::ErrorKind::NotFound.into()),
            _ => SystemDoors.regular_input(path, limit),
        }
    }
}

impl ToolBroker {
    /// Returns the digest of what the caller of a service reads of a manifest, or the answer to a manifest that the caller
    /// can't load.
    pub(super) async fn inputs_of_caller(
        &self,
        served: &ServedUser,
        manifest: &ManifestOfCall,
        context: &mut CallContext<'_>,
    ) -> Result<String, Box<ToolAnswer>> {
        let answer = self.read_in_turn(served, ToolName::Apply, &json!(manifest), context).await;
        if answer.kind != AnswerKind::Done {
            return Err(Box::new(answer));
        }
        let inputs = answer.structured.get(INPUTS).and_then(Value::as_str);
        inputs.map(str::to_owned).ok_or_else(|| Box::new(differs(&manifest.name)))
    }

    /// Answers the service as the program that runs as the caller.
    pub(super) fn load_for_service(&self, input: &Value, canceller: &Canceller) -> ToolAnswer {
        let refused = |message: &str| ToolAnswer::error(AnswerKind::NotTried, message, None, &[]);
        let Ok(manifest) = serde_json::from_value::<ManifestOfCall>(input.clone()) else {
            return refused("this is no manifest of a call");
        };
        let Some(config) = &self.apply else { return refused("no manifest is applied here") };
        let ManifestOfCall { name, path, text } = manifest;
        let given = text.map(|text| (path.clone(), text));
        let doors = CallerDoors { given, environment: None };
        let bounds = bounds(canceller);
        let session = Session::open(Config { doors: Box::new(doors), bounds: Some(bounds), ..config() });
        let input = match read(&session, path) {
            Ok(input) => input,
            Err(answer) => return *answer,
        };
        let loaded = match session.load(&input) {
            Ok(loaded) => loaded,
            Err(errors) => {
                return invalid(&name, serde_json::to_value(Finding::of_all(&errors)).unwrap_or_default());
            }
        };
        match digest(&loaded) {
            Ok(inputs) => ToolAnswer::document(json!({"status": AnswerKind::Done.name(), INPUTS: inputs})),
            Err(error) => too_much(&name, &ccm_model::error_layers(&error).join(": ")),
        }
    }
}

/// Returns the digest of everything that a manifest was loaded from, and of the files that it copies.
pub(super) fn digest(loaded: &LoadedManifest<'_>) -> Result<String, ManifestSignatureError> {
    let mut timeless = loaded.statement(std::time::Duration::ZERO, &[])?;
    timeless.created.clear();
    timeless.not_after.clear();
    let (facts, _) = of_system().read();
    let facts: Vec<_> = facts.iter().map(|file| (&file.path, &file.text)).collect();
    Ok(sha256(json!({"statement": timeless, "facts": facts}).to_string().as_bytes()))
}

/// Returns the answer to a manifest that root would load from other inputs than the caller.
pub(super) fn differs(manifest: &str) -> ToolAnswer {
    let message = format!("{manifest} can't be applied: the service does not read what you read");
    let hint =
        "wait until nobody changes its files, and use only files, facts and variables that you may read";
    ToolAnswer::error(AnswerKind::NotTried, &message, None, &[hint.to_owned()])
}

/// Returns the directory of custom facts that root and callers share.
fn of_system() -> CustomFacts {
    CustomFacts { user: None, ..CustomFacts::of_this_user() }
}

#[cfg(test)]
mod tests {
    use ccm_runtime::{GivenValues, ManifestSource};

    use super::*;

    const ENCRYPTED: &str = "\
data:
  # @encrypted
  password: |
    -----BEGIN AGE ENCRYPTED FILE-----
    YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNzaC1lZDI1NTE5IGNzU0VrQSAveTB4
    dXllclFjbGNJL2FJd295NmxEaWxUNFZ5RXE3UnBTRXBDcE9BSTJZClV0UGNRRGdD
    S2RMMzhYUzZaVlYxMktvVE1nU2JnMWFCaGE0WEtWUFJiQVUKLS0tIFU5dDMvdHlx
    ZnBSMmpvTFRTaHowZkR0Y1MyZElKWmF3eGFZSTk5NzRlcjQKmc2YfItUElsqdOsC
    KUHWst8cBEHA3MlUu4XezTVWGETf
    -----END AGE ENCRYPTED FILE-----
ccm: {resources: []}
";

    #[test]
    fn a_caller_opens_nothing_with_the_key_of_the_machine() {
        let path = PathBuf::from("/m/site.yaml");
        let given = Some((path.clone(), ENCRYPTED.to_owned()));
        let doors = CallerDoors { given, environment: None };
        let bounds = bounds(&Canceller::default());
        let session =
            Session::open(Config { doors: Box::new(doors), bounds: Some(bounds), ..Config::default() });
        let source = ManifestSource::File(path);
        let input = session.read(source, &GivenValues::default(), 1 << 20).expect("a manifest");
        let errors = session.load(&input).map(drop).expect_err("a key that can't be read");
        assert!(errors.text().contains("permission denied"), "{}", errors.text());
    }
}
