//! Suggestions for a path that finds nothing.

use ccm_model::closest;

use super::evaluate::index;
use super::{Path, escape};
use crate::Value;

/// Maximum number of keys compared per map.
const MAX_CANDIDATES: usize = 10_000;

pub(super) fn closest_path(path: &Path, root: &Value) -> Option<String> {
    let text = path.text();
    let mut value = root;
    let mut suggestion = String::new();
    // Bytes of the text that are in the suggestion, and bytes that lead to an existing value.
    let (mut taken, mut existing) = (0, 0);
    for (name, range) in path.leading_names() {
        let child = match value {
            Value::Map(map) => map.get(name).or_else(|| {
                let key = closest(name, map.keys().take(MAX_CANDIDATES).map(|key| &**key))?;
                suggestion += &text[taken..range.start];
                suggestion += &escape(key);
                taken = range.end;
                map.get(key)
            }),
            Value::List(elements) => index(name).and_then(|index| elements.get(index)),
            _ => None,
        };
        let Some(child) = child else { break };
        value = child;
        existing = range.end;
    }
    if taken == 0 {
        return None;
    }
    let whole = format!("{suggestion}{}", &text[taken..]);
    let found = Path::parse(&whole).ok().and_then(|path| path.find(root).ok().flatten());
    // A suggestion that finds nothing would be no help, so it ends with the last existing name.
    Some(if found.is_some() { whole } else { suggestion + &text[taken..existing] })
}
