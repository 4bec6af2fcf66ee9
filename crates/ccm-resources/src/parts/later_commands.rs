//! Commands that a resource writes for others to run, for a policy.

use ccm_model::{Node, Resource, split_words};
use ccm_properties::{CommandPlace, CommandSubject, WrittenCommand, WrittenLine};

/// Returns a command of a property that runs later, in the home directory of a user or in `/`.
pub(crate) fn later_command(
    node: &Node,
    line: WrittenLine,
    user: Option<&str>,
    properties: &'static [&'static str],
) -> WrittenCommand {
    let is_root = user.is_none_or(|user| matches!(user, "root" | "0"));
    WrittenCommand {
        span: node.span,
        subject: CommandSubject {
            line,
            directory: "/".to_owned(),
            environment: Vec::new(),
            input: None,
            place: if is_root { CommandPlace::Host } else { CommandPlace::OtherHome },
        },
        properties,
    }
}

/// Returns the home directory of a user as far as the name tells.
pub(crate) fn usual_home(user: Option<&str>) -> String {
    match user {
        None | Some("root" | "0") => "/root".to_owned(),
        Some(user) => format!("/home/{user}"),
    }
}

/// Returns a property as text.
pub(crate) fn text_of<'r>(resource: &'r Resource, property: &str) -> Option<&'r str> {
    resource.properties.get(property).and_then(Node::as_text)
}

/// Returns the words of a command that no shell reads.
pub(crate) fn words_of(text: &str) -> Option<WrittenLine> {
    split_words(text).ok().filter(|words| !words.is_empty()).map(WrittenLine::Words)
}
