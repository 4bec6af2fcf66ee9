//! The properties of an authorized key, as the manifest writes them.

use ccm_properties::properties;

use crate::parts::accounts::AccountName;
use crate::parts::ssh_keys::key_options::KeyOption;
use crate::parts::ssh_keys::public_key::SshPublicKey;

properties! {
    /// Properties of an authorized key; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct AuthorizedKeyProperties {
        /// User who may log in with the key.
        user: AccountName { required: true },
        /// Type and key, as `ssh-keygen` writes them to a file that ends with `.pub`. A comment behind them is left out: the
        /// comment is the name of the resource. With `ensure: absent` a key with the name as its comment is removed if `key`
        /// is not given.
        key: SshPublicKey { foreign_names: &["type", "public_key"] },
        /// Options in front of the key, such as `no-pty`. An empty list removes them.
        options: Vec<KeyOption> { default: Some("not managed"), foreign_names: &["key_options"] },
    }
}
