//! The user resource: a user of this machine.

mod changed_paths;
mod changes;
mod decide;
mod desired;
mod expiry;
mod export;
mod home;
mod properties;
mod shadow_users;
mod shells;
mod state;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, Resource, escape_control};
use ccm_properties::{
    CheckInput, CommandsView, FilledExtent, FilledPath, Need, PropertyError, Providers, Release, TypeSpec,
    TypedResource, WrittenCommand, WrittenLine,
};

use crate::parts::later_commands::later_command;
use crate::support::object_plan::Object;
use desired::DesiredUser;
use properties::UserProperties;
use shadow_users::ShadowUsers;

#[derive(Debug)]
pub(crate) struct UserType;

impl TypedResource for UserType {
    type Written = UserProperties;
    type Desired = DesiredUser;
    type Provider = dyn DynProvider<Object<DesiredUser>>;

    const NAME: &'static str = "user";
    const SUMMARY: &'static str =
        "Manages a user of this machine: number, groups, home directory, shell, password.";
    const PROVIDERS: Providers<Self::Provider> = &[("shadow", &ShadowUsers)];

    fn build(resource: &Resource, written: UserProperties) -> Result<DesiredUser, Vec<PropertyError>> {
        DesiredUser::build(resource, written)
    }

    fn warnings(user: &DesiredUser, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let ends_blank = |path: &&str| path.trim_end() != *path;
        let warning = |path: &str| {
            let span =
                checked.resource.properties.get("shell").map_or(checked.resource.span, |node| node.span);
            let message = format!("the path `{}` ends with a blank", escape_control(path));
            Diagnostic::warning(DiagnosticKind::NoEffect, span, message)
                .with_hint("write the path without the blank")
        };
        user.shell.as_deref().filter(ends_blank).map(warning).into_iter().collect()
    }
}

impl TypeSpec for UserType {
    fn ensure_advice(&self, written: &str) -> Option<&'static str> {
        match written {
            "locked" | "disabled" => Some("write `locked: true`"),
            _ => None,
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let name = Claim::exclusive(ClaimKind::User, &*resource.id.name);
        let uid = resource.properties.get("uid").and_then(Node::as_text);
        let uid = uid.map(|uid| Claim::exclusive(ClaimKind::UserId, uid));
        [name].into_iter().chain(uid).collect()
    }

    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        let home = |path| FilledPath { path, extent: FilledExtent::Place };
        let homes = if resource.is_absent() { Vec::new() } else { self.reaches(resource) };
        homes.into_iter().map(home).collect()
    }

    fn reaches<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        resource.properties.get("home").and_then(Node::as_text).into_iter().collect()
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

    /// Any group may be the primary one of a user that is to be absent, and the one that a user with a `gid` leaves: only
    /// the machine tells.
    fn releases<'r>(&self, resource: &'r Resource) -> Vec<Release<'r>> {
        let leaves_group = resource.is_absent() || resource.properties.get("gid").is_some();
        leaves_group.then_some(Release::All(ClaimKind::Group)).into_iter().collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(self)
    }
}

impl CommandsView for UserType {
    /// Returns the login shell, which runs whenever the user logs in.
    fn later_commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let node = resource.properties.get("shell").filter(|_| !resource.is_absent());
        let shell = node.and_then(|node| Some((node, node.as_text()?.to_owned())));
        let command = shell.map(|(node, shell)| {
            later_command(node, WrittenLine::Words(vec![shell]), Some(&*resource.id.name), &["shell"])
        });
        command.into_iter().collect()
    }
}
