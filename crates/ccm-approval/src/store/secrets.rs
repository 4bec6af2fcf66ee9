//! Key that signs intents, and salt of the hashes of variables.

use std::io;

use ccm_host::random_secret;
use ccm_host::state::Directory;

use super::{MAX_SMALL, failed};
use crate::environment_salt::EnvironmentSalt;
use crate::intent_key::{IntentKey, IntentKeyError};
use crate::refusal::ApprovalStoreError;

const KEY: &str = "key";
pub(super) const PUBLIC_KEY: &str = "key.pub";
const SALT: &str = "salt";

/// Reads the key of ccm; `None` if there is none yet.
pub(super) fn read_key(root: &Directory) -> Result<Option<IntentKey>, ApprovalStoreError> {
    let failed_key = |source| key_error(root, source);
    match root.read_foreign(KEY, MAX_SMALL) {
        Ok((bytes, _)) => {
            root.only_ours(KEY).map_err(failed(root, KEY, "used"))?;
            let text = String::from_utf8(bytes).map_err(|_| failed_key(IntentKeyError::NoKey))?;
            IntentKey::parse(&text).map(Some).map_err(failed_key)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(root, KEY, "read")(error)),
    }
}

/// Reads the key of ccm, or makes it.
pub(super) fn make_key(root: &Directory, group: Option<u32>) -> Result<IntentKey, ApprovalStoreError> {
    if let Some(key) = read_key(root)? {
        return Ok(key);
    }
    let failed_key = |source| key_error(root, source);
    let key = IntentKey::generate().map_err(failed_key)?;
    let public = format!("{}\n", key.public());
    let written = match group {
        Some(group) => root.replace_for_group(PUBLIC_KEY, public.as_bytes(), group),
        None => root.replace(PUBLIC_KEY, public.as_bytes()),
    };
    written.map_err(failed(root, PUBLIC_KEY, "written"))?;
    let file = key.file().map_err(failed_key)?;
    root.replace(KEY, file.as_bytes()).map_err(failed(root, KEY, "written"))?;
    Ok(key)
}

pub(super) fn key_error(root: &Directory, source: IntentKeyError) -> ApprovalStoreError {
    ApprovalStoreError::Key { path: root.path().join(KEY), source }
}

/// Reads the salt; `None` if there is none yet.
pub(super) fn read_salt(root: &Directory) -> Result<Option<EnvironmentSalt>, ApprovalStoreError> {
    match root.read_foreign(SALT, 32) {
        Ok((bytes, _)) => {
            root.only_ours(SALT).map_err(failed(root, SALT, "used"))?;
            let secret = bytes.try_into().map_err(|_| io::ErrorKind::InvalidData.into());
            secret.map(EnvironmentSalt::new).map(Some).map_err(failed(root, SALT, "used"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(root, SALT, "read")(error)),
    }
}

/// Reads the salt, or makes it.
pub(super) fn make_salt(root: &Directory) -> Result<EnvironmentSalt, ApprovalStoreError> {
    if let Some(salt) = read_salt(root)? {
        return Ok(salt);
    }
    let secret: [u8; 32] = random_secret().map_err(failed(root, SALT, "made"))?;
    root.replace(SALT, &secret).map_err(failed(root, SALT, "written"))?;
    Ok(EnvironmentSalt::new(secret))
}
