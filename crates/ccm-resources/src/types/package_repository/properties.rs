//! The properties of a repository, as the manifest writes them.

use ccm_properties::{Exposure, OneOrMany, Text, properties};

use super::values::{KeyFingerprint, KeySource, RepositoryUri, RepositoryWord};

properties! {
    /// Properties of a repository; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct RepositoryProperties {
        /// Address of the repository, or a list of addresses of the same repository.
        uris: OneOrMany<RepositoryUri> { exposure: Exposure::File("write the login to a file in /etc/apt/auth.conf.d with `mode: \"0600\"`, and leave it out of the address"), foreign_names: &["uri", "url", "baseurl", "location"] },
        /// Suites of a repository of apt, such as `bookworm`. A suite that ends with a slash is a directory without components.
        suites: OneOrMany<RepositoryWord> { foreign_names: &["suite", "release", "distribution"] },
        /// Components of a repository of apt, such as `main`.
        components: OneOrMany<RepositoryWord> { foreign_names: &["component", "repos"] },
        /// Architectures to use of a repository of apt.
        architectures: OneOrMany<RepositoryWord> { default: Some("those of the machine"), foreign_names: &["architecture", "arch"] },
        /// File with the key that signs the repository, relative to the manifest, or its URL. The file begins with
        /// `-----BEGIN PGP PUBLIC KEY BLOCK-----`.
        key: KeySource { foreign_names: &["gpgkey", "signed_by", "key_url"] },
        /// Fingerprint of the key, or a list if the file has several keys. A URL needs it.
        fingerprint: OneOrMany<KeyFingerprint> { default: Some("not checked"), foreign_names: &["key_id", "keyid"] },
        /// Use packages of the repository without a signature, so that anybody on the way to the server can replace them.
        trusted: bool { default: Some("`false`"), foreign_names: &["allow_unsigned"] },
        /// Use the repository.
        enabled: bool { default: Some("`true`") },
        /// Description of the repository in one line.
        description: Text { default: Some("the name of the resource"), foreign_names: &["descr", "comment"] },
    }
}
