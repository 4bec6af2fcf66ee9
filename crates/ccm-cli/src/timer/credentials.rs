//! Credentials of the service of a timer: those that the command line names, those of drop-ins, and those that the manifest
//! uses from the directory of the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ccm_runtime::process::{absolute, credential_of_file, variable};
use ccm_runtime::timer::{CredentialOrigin, ServiceCredential};
use ccm_runtime::{CredentialError, Doors};

use crate::error::{CommandError, CommandResult};

/// Variable with the directory of credentials.
pub(super) const DIRECTORY_VARIABLE: &str = "CREDENTIALS_DIRECTORY";
/// Directory of what does not outlast a boot, such as the credentials of a running service.
const RUNTIME_DIRECTORY: &str = "/run";

/// Credentials that the command line names.
pub(super) fn named(arguments: &[(String, PathBuf)]) -> CommandResult<Vec<ServiceCredential>> {
    let mut named: Vec<ServiceCredential> = Vec::new();
    for (name, path) in arguments {
        let refused = |error: &dyn std::fmt::Display| {
            CommandError::usage(format!("`--credential {name}={}` can't be used: {error}", path.display()))
        };
        let full = absolute(path).map_err(|error| refused(&error))?;
        let credential = ServiceCredential::new(name, &full).map_err(|error| refused(&error))?;
        if named.iter().any(|known| known.name() == name) {
            return Err(refused(&"the name is given twice"));
        }
        named.push(credential);
    }
    Ok(named)
}

/// Doors of this machine, with the credentials that the service will have.
#[derive(Clone)]
pub(super) struct ServiceDoors {
    known: BTreeMap<String, CredentialOrigin>,
    /// Files of the credentials that the manifest uses from the directory of the environment, by name.
    used: Arc<Mutex<BTreeMap<String, PathBuf>>>,
}

impl ServiceDoors {
    pub(super) fn new(of_drop_ins: Vec<(String, CredentialOrigin)>, named: &[ServiceCredential]) -> Self {
        let mut known: BTreeMap<String, CredentialOrigin> = of_drop_ins.into_iter().collect();
        let named = named.iter().map(|credential| (credential.name().to_owned(), credential.path().into()));
        known.extend(named.map(|(name, path)| (name, CredentialOrigin::File(path))));
        Self { known, used: Arc::default() }
    }

    /// Returns the credentials that the manifest uses from the directory of the environment.
    pub(super) fn used(&self) -> CommandResult<Vec<ServiceCredential>> {
        let used = self.used.lock().map(|used| used.clone()).unwrap_or_default();
        let credentials = used.iter().map(|(name, path)| {
            ServiceCredential::new(name, path).map_err(|error| {
                CommandError::usage(format!(
                    "the credential `{name}` can't be used from {DIRECTORY_VARIABLE}: {error}"
                ))
            })
        });
        credentials.collect()
    }

    fn of_environment(&self, name: &str) -> Result<String, CredentialError> {
        let not_given = || CredentialError::NotGiven { name: name.to_owned() };
        let directory = variable(DIRECTORY_VARIABLE).map(PathBuf::from).ok_or_else(not_given)?;
        if directory.is_relative() || directory.starts_with(RUNTIME_DIRECTORY) || name.contains('/') {
            return Err(not_given());
        }
        let path = directory.join(name);
        let value = credential_of_file(name, &path).map_err(|error| match error {
            CredentialError::NoFile { .. } => not_given(),
            error => error,
        })?;
        if let Ok(mut used) = self.used.lock() {
            used.insert(name.to_owned(), path);
        }
        Ok(value)
    }
}

impl Doors for ServiceDoors {
    fn credential(&self, name: &str) -> Result<String, CredentialError> {
        match self.known.get(name) {
            Some(CredentialOrigin::File(path)) => credential_of_file(name, Path::new(path)),
            Some(CredentialOrigin::Text(text)) => Ok(text.clone()),
            Some(_) => Err(CredentialError::OfService { name: name.to_owned() }),
            None => self.of_environment(name),
        }
    }
}
