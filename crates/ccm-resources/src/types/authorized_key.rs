//! The `authorized_key` resource: a public key that may log in as a user.

mod decide;
mod export;
mod posix_keys;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Node, Resource};
use ccm_properties::{
    CommandsView, Need, PropertyError, Providers, TypeSpec, TypedResource, WrittenCommand, WrittenLine,
};

use crate::parts::later_commands::{later_command, text_of, usual_home};
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

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(self)
    }
}

impl CommandsView for AuthorizedKeyType {
    /// Returns the commands of the option `command`, which a shell reads when somebody logs in with the key.
    fn later_commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        let options = resource.properties.get("options").filter(|_| !resource.is_absent());
        let nodes = options.and_then(Node::as_list).unwrap_or_default();
        let user = text_of(resource, "user");
        let command = |node: &Node| {
            let text = forced_command(node.as_text()?)?;
            let mut command = later_command(node, WrittenLine::Shell(text), user, &["options", "user"]);
            command.subject.directory = usual_home(user);
            Some(command)
        };
        nodes.iter().filter_map(command).collect()
    }
}

/// Returns the command of the option `command="…"`.
fn forced_command(option: &str) -> Option<String> {
    let (name, value) = option.split_once('=')?;
    if !name.eq_ignore_ascii_case("command") {
        return None;
    }
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    Some(value.replace("\\\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_a_command_are_found() {
        for (option, expected) in [
            ("command=\"backup\"", Some("backup")),
            ("Command=\"sh -c \\\"a b\\\"\"", Some("sh -c \"a b\"")),
            ("command=backup", Some("backup")),
            ("no-pty", None),
            ("environment=\"command=x\"", None),
        ] {
            assert_eq!(forced_command(option).as_deref(), expected, "{option}");
        }
    }
}
