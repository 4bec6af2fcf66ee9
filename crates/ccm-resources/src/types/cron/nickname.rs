//! Names of cron for times.

use ccm_model::{Diagnostic, Node};
use ccm_properties::{PropertyKind, PropertyValue, Text, ValueError};

const NICKNAMES: [&str; 8] =
    ["reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];

/// Name of cron for times, without its `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nickname(pub &'static str);

impl PropertyValue for Nickname {
    const KIND: PropertyKind = PropertyKind::Words(&NICKNAMES);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Text(text) = Text::decode(node, errors)?;
        let found = NICKNAMES.into_iter().find(|name| *name == text);
        if found.is_none() {
            let bare = text.strip_prefix('@').filter(|bare| NICKNAMES.contains(bare));
            let error = match bare {
                Some(bare) => ValueError::new(format!(
                    "`special` takes the name without `@`, found `{}`",
                    text.escape_debug()
                ))
                .with_hint(format!("write `{bare}`")),
                None => ValueError::not_one_of(&text, &NICKNAMES),
            };
            errors.push(error.at(node.span));
        }
        found.map(Self)
    }
}
