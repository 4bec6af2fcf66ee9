//! Pushes: bundles for other machines, and those that come from another machine.

use std::io::Read;
use std::path::{Path, PathBuf};

use ccm_host::Cancellation;
use ccm_release::BundleDigest;
use ccm_source::SourceAddress;
use ccm_source::bundle;

use crate::release::{BuildError, BuiltBundle};
use crate::session::{Session, absolute_path};
use crate::source::SourceError;

pub use ccm_source::{PushedBundle, ReceiveError};

/// Reason for which a pushed bundle is not received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The state directory can't be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The bundle is not received.
    #[error(transparent)]
    Receive(#[from] ReceiveError),
}

/// Bundle that another machine announces.
#[derive(Clone, Debug)]
pub struct AnnouncedBundle {
    address: SourceAddress,
    digest: BundleDigest,
    compressed: u64,
}

impl AnnouncedBundle {
    /// Builds the announcement of a bundle of a source; `None` if the name or the digest is none.
    pub fn new(source: &str, digest: BundleDigest, compressed: u64) -> Option<Self> {
        let text = format!("push:{source}@{}", digest.sha256);
        let address = SourceAddress::parse(&text, Path::new("/")).ok()?;
        Some(Self { address, digest, compressed })
    }

    /// Returns the address of the source, for `--from`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    fn pushed(&self) -> PushedBundle<'_> {
        PushedBundle { address: &self.address, digest: &self.digest, compressed: self.compressed }
    }
}

/// Returns `true` if an address of a source names what another machine pushes.
pub fn is_push_address(text: &str) -> bool {
    SourceAddress::parse(text, Path::new("/")).is_ok_and(|address| address.is_push())
}

/// Returns the name of the source of a directory: its own name in plain characters.
pub fn push_name(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let address = SourceAddress::of_push(&name, "").to_string();
    address.strip_prefix("push:").and_then(|rest| rest.split('@').next()).unwrap_or_default().to_owned()
}

impl Session {
    /// Packs a directory for a push.
    pub fn pack_directory(&self, directory: &Path) -> Result<BuiltBundle, BuildError> {
        bundle::build(&*self.doors.files, &absolute_path(directory))
    }

    /// Packs one file for a push.
    pub fn pack_file(&self, name: &str, content: &[u8]) -> Result<BuiltBundle, BuildError> {
        bundle::of_file(name, content)
    }

    /// Returns the path of a program of this machine and its content, to install it elsewhere.
    pub fn program_content(&self, path: &Path, max_size: u64) -> Option<Vec<u8>> {
        self.doors.files.content(path, max_size).ok().flatten()
    }

    /// Returns `true` if this machine has a bundle.
    pub fn has_bundle(&self, announced: &AnnouncedBundle) -> Result<bool, SourceError> {
        Ok(announced.pushed().is_there(&self.push_state()?)?)
    }

    /// Reads a compressed bundle, and keeps it as the newest version of its source.
    pub async fn receive_bundle(
        &self,
        announced: &AnnouncedBundle,
        input: &mut dyn Read,
        cancellation: &Cancellation,
    ) -> Result<(), PushError> {
        let (state, now) = (self.push_state()?, self.doors.clock.now());
        let files = &*self.doors.files;
        Ok(announced.pushed().receive(input, (&state, now), (files, cancellation)).await?)
    }

    fn push_state(&self) -> Result<PathBuf, SourceError> {
        Ok(self.state_path()?)
    }
}
