//! The group resource: a group of this machine, with its number and members.

mod decide;
mod export;
mod properties;
mod shadow_groups;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Node, Resource};
use ccm_properties::{Need, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::accounts::name_error;
use crate::support::object_plan::Object;
use decide::DesiredGroup;
use properties::GroupProperties;
use shadow_groups::ShadowGroups;

#[derive(Debug)]
pub(crate) struct GroupType;

impl TypedResource for GroupType {
    type Written = GroupProperties;
    type Desired = DesiredGroup;
    type Provider = dyn DynProvider<Object<DesiredGroup>>;

    const NAME: &'static str = "group";
    const SUMMARY: &'static str = "Manages a group of this machine and its members.";
    const PROVIDERS: Providers<Self::Provider> = &[("shadow", &ShadowGroups)];

    fn build(resource: &Resource, written: GroupProperties) -> Result<DesiredGroup, Vec<PropertyError>> {
        match name_error(&resource.id.name, "a group") {
            Some(message) => Err(vec![PropertyError::of_name(message)]),
            None => DesiredGroup::build(resource, written),
        }
    }
}

impl TypeSpec for GroupType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = Claim::exclusive(ClaimKind::Group, &*resource.id.name);
        let gid = resource.properties.get("gid").and_then(Node::as_text);
        let gid = gid.map(|gid| Claim::exclusive(ClaimKind::GroupId, gid));
        [name].into_iter().chain(gid).collect()
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let members = resource.properties.get("members").and_then(Node::as_list).unwrap_or_default();
        members.iter().filter_map(|member| Some((ClaimKind::User, member.as_text()?.into()))).collect()
    }
}
