//! Languages of texts.

use ccm_model::{Node, NodeMap};

use crate::{PropertySpec, find};

/// Language of a text in a property. The language limits the effect of an expression on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSyntax {
    /// None: the text is taken literally.
    Plain,
    /// Shell text, in which `${HOME}` and the like have a meaning.
    Shell,
    /// Words with the quoting of a shell. The value of an expression stays within its word.
    Argv,
    /// Call of one of these functions with a quoted argument, or plain text. The value of an expression stays within the
    /// argument.
    Call(&'static [&'static str]),
    /// Map whose entries have the syntax of these properties; other entries are plain.
    Record(&'static [PropertySpec]),
}

impl TextSyntax {
    /// Returns the syntax of the entry of a key, if this is the syntax of a map. `for_shell` is that of the
    /// [map](Self::is_for_shell).
    #[must_use]
    pub fn of_entry(self, key: &str, for_shell: bool) -> Self {
        let Self::Record(properties) = self else { return self };
        let syntax = find(properties, key).map_or(Self::Plain, |property| property.syntax);
        if syntax == Self::Argv && for_shell { Self::Shell } else { syntax }
    }

    /// Returns `true` if the commands in a map are shell text, because of its `provider`.
    pub fn is_for_shell(map: &NodeMap) -> bool {
        map.get("provider").and_then(Node::as_text) == Some("shell")
    }
}
