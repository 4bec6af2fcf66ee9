//! The `authorized_key` resource: a public key that may log in as a user.

mod decide;
mod posix_keys;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Node, Resource};
use ccm_properties::{Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::ssh_keys::UNKNOWN;
use crate::parts::ssh_keys::public_key::SshPublicKey;
use crate::support::object_plan::Object;
use decide::DesiredKey;
use posix_keys::PosixKeys;
use properties::AuthorizedKeyProperties;

#[derive(Debug)]
pub(crate) struct AuthorizedKeyType;

impl TypedResource for AuthorizedKeyType {
    type Written = AuthorizedKeyProperties;
    type Desired = DesiredKey;
    type Provider = dyn DynProvider<Object<DesiredKey>>;

    const NAME: &'static str = "authorized_key";
    const SUMMARY: &'static str = "Manages a public key that may log in as a user by SSH.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PosixKeys)];

    fn build(
        resource: &Resource,
        written: AuthorizedKeyProperties,
    ) -> Result<DesiredKey, Vec<PropertyError>> {
        DesiredKey::build(resource, written)
    }
}

impl TypeSpec for AuthorizedKeyType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let text = |property| resource.properties.get(property).and_then(Node::as_text);
        let Some(user) = text("user") else { return Vec::new() };
        match text("key").map(|key| SshPublicKey::parse(key).ok()) {
            Some(Some(key)) => vec![Claim::exclusive(ClaimKind::AuthorizedKey, format!("{user} {key}"))],
            // Two such keys may be different ones.
            Some(None) => vec![Claim::shared(ClaimKind::AuthorizedKey, format!("{user} {UNKNOWN}"))],
            None => Vec::new(),
        }
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let user = resource.properties.get("user").and_then(Node::as_text);
        user.map(|user| (ClaimKind::User, user.into())).into_iter().collect()
    }
}
