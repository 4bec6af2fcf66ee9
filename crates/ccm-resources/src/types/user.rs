//! The user resource: a user of this machine.

mod changes;
mod decide;
mod desired;
mod expiry;
mod home;
mod properties;
mod shadow_users;
mod shells;
mod state;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, ClaimKind, Node, Resource};
use ccm_properties::{Need, PropertyError, TypeSpec, TypedProperties};

use decide::UserKind;
use desired::DesiredUser;
use properties::UserProperties;
use shadow_users::ShadowUsers;

#[derive(Debug)]
pub(crate) struct UserType;

impl TypeSpec for UserType {
    fn name(&self) -> &'static str {
        "user"
    }

    fn summary(&self) -> &'static str {
        "Manages a user of this machine: number, groups, home directory, shell, password."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "locked" | "disabled" => Some("write `locked: true`"),
            _ => None,
        }
    }

    fn providers(&self) -> &'static [&'static str] {
        &["shadow"]
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = Claim::exclusive(ClaimKind::User, &*resource.id.name);
        let uid = resource.properties.get("uid").and_then(Node::as_text);
        let uid = uid.map(|uid| Claim::exclusive(ClaimKind::UserId, uid));
        [name].into_iter().chain(uid).collect()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
        let kind = |name: &str| if is_number(name) { ClaimKind::GroupId } else { ClaimKind::Group };
        let groups = resource.properties.get("groups").and_then(Node::as_list).unwrap_or_default();
        let primary = resource.properties.get("gid").and_then(Node::as_text);
        // A new user without a primary group gets the one with its name.
        let primary = primary.unwrap_or(&resource.id.name);
        let all = groups.iter().filter_map(Node::as_text).chain([primary]);
        all.map(|group| (kind(group), group.into())).collect()
    }
}

impl TypedProperties for UserType {
    type Written = UserProperties;
    type Desired = DesiredUser;

    fn build(resource: &Resource, written: UserProperties) -> Result<DesiredUser, Vec<PropertyError>> {
        DesiredUser::build(resource, written)
    }
}

impl TypedResource for UserType {
    type Kind = UserKind;

    const PROVIDERS: &'static [&'static dyn DynProvider<UserKind>] = &[&ShadowUsers];
}
