//! Selection of hosts: names, globs and groups, as in `web1,db*,@eu`.

use ccm_model::{Glob, GlobError, GlobKind, closest};
use indexmap::IndexSet;

use crate::inventory::{Host, Inventory};
use crate::names::{HostName, NameError};

/// Maximum number of parts of a selection.
const MAX_PARTS: usize = 10_000;

/// Hosts that are chosen, in the order in which they are named, those of a glob or a group in the order of the inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Each host once, with what is known of it.
    pub hosts: Vec<(HostName, Host)>,
}

/// Error of a selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// It names nothing.
    #[error("no host is named")]
    Nothing,
    /// It names too much.
    #[error("at most {MAX_PARTS} hosts, globs and groups are named")]
    TooMany,
    /// A name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A glob is none.
    #[error("the glob {glob:?} is wrong")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong.
        source: GlobError,
    },
    /// A glob or a group needs an inventory.
    #[error("`{0}` chooses hosts of an inventory, and there is none")]
    NoInventory(String),
    /// The inventory has no such host.
    #[error("the inventory has no host `{name}`")]
    NoHost {
        /// The name.
        name: String,
        /// A name that it has.
        similar: Option<String>,
    },
    /// The inventory has no such group.
    #[error("the inventory has no group `{name}`")]
    NoGroup {
        /// The name, without `@`.
        name: String,
        /// A group that it has.
        similar: Option<String>,
    },
    /// No host matches a glob.
    #[error("no host of the inventory matches `{0}`")]
    NoMatch(String),
}

impl Selection {
    /// Chooses hosts by names, globs and groups with commas between. Without an inventory, names are what `ssh` makes of them.
    pub fn choose(text: &str, inventory: Option<&Inventory>) -> Result<Self, SelectionError> {
        Self::choose_all(&parts(text), inventory)
    }

    /// Chooses the hosts of a list, one in each line. Lines that begin with `#` are comments.
    pub fn of_list(list: &str, inventory: Option<&Inventory>) -> Result<Self, SelectionError> {
        let lines = list.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        Self::choose_all(&lines.collect::<Vec<_>>(), inventory)
    }

    fn choose_all(parts: &[&str], inventory: Option<&Inventory>) -> Result<Self, SelectionError> {
        let named: IndexSet<&str> =
            parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
        if named.is_empty() {
            return Err(SelectionError::Nothing);
        }
        if named.len() > MAX_PARTS {
            return Err(SelectionError::TooMany);
        }
        let mut chosen = indexmap::IndexMap::new();
        for part in named {
            for (name, host) in hosts_of(part, inventory)? {
                chosen.entry(name).or_insert(host);
            }
        }
        Ok(Self { hosts: chosen.into_iter().collect() })
    }
}

/// Splits at commas that are not between braces.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|sign| {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    })
    .collect()
}

fn hosts_of(part: &str, inventory: Option<&Inventory>) -> Result<Vec<(HostName, Host)>, SelectionError> {
    let (text, is_group) = part.strip_prefix('@').map_or((part, false), |group| (group, true));
    let is_glob = text.contains(['*', '?', '[', '{', '\\']);
    let Some(inventory) = inventory else {
        if is_group || is_glob {
            return Err(SelectionError::NoInventory(part.to_owned()));
        }
        return Ok(vec![(HostName::parse(text)?, Host::default())]);
    };
    if !is_group && !is_glob {
        let name = HostName::parse(text)?;
        let Some((name, host)) = inventory.host(name.as_str()) else {
            let similar = closest(text, inventory.hosts().map(|(name, _)| name.as_str())).map(str::to_owned);
            return Err(SelectionError::NoHost { name: text.to_owned(), similar });
        };
        return Ok(vec![(name.clone(), host.clone())]);
    }
    let glob = Glob::parse(text, GlobKind::Text)
        .map_err(|source| SelectionError::Glob { glob: text.to_owned(), source })?;
    let chosen: Vec<(HostName, Host)> = inventory
        .hosts()
        .filter(|(name, host)| {
            if is_group {
                host.groups.iter().any(|group| glob.matches(group.as_str()))
            } else {
                glob.matches(name.as_str())
            }
        })
        .map(|(name, host)| (name.clone(), host.clone()))
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    if !is_group || is_glob {
        return Err(SelectionError::NoMatch(part.to_owned()));
    }
    let groups = inventory.groups();
    let similar = closest(text, groups.iter().map(|group| group.as_str())).map(str::to_owned);
    Err(SelectionError::NoGroup { name: text.to_owned(), similar })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Result<Vec<String>, String> {
        let inventory = Inventory::read(
            "hosts: {web1: {groups: [web, eu]}, web2: {groups: [web]}, db1: {groups: [db, eu]}, a.b: }",
        )
        .expect("an inventory");
        let selection = Selection::choose(text, Some(&inventory)).map_err(|error| error.to_string())?;
        Ok(selection.hosts.iter().map(|(name, _)| name.to_string()).collect())
    }

    #[test]
    fn hosts_are_chosen_once_in_the_order_of_the_selection() {
        for (text, expected) in [
            ("web1", &["web1"][..]),
            ("db1,web1", &["db1", "web1"]),
            ("@eu", &["web1", "db1"]),
            ("web2,@eu,web1", &["web2", "web1", "db1"]),
            ("web*", &["web1", "web2"]),
            ("*", &["web1", "web2", "db1", "a.b"]),
            ("{web1,db1},a.b", &["web1", "db1", "a.b"]),
            ("@{db,web}", &["web1", "web2", "db1"]),
            ("@e?", &["web1", "db1"]),
            (" web1 , ,db1,", &["web1", "db1"]),
            ("[!w]*", &["db1", "a.b"]),
        ] {
            assert_eq!(chosen(text).expect(text), expected, "{text}");
        }
    }

    #[test]
    fn what_chooses_nothing_is_an_error() {
        for (text, expected) in [
            ("", "no host is named"),
            (" , ", "no host is named"),
            ("web3", "the inventory has no host `web3`"),
            ("@wep", "the inventory has no group `wep`"),
            ("x*", "no host of the inventory matches `x*`"),
            ("@x*", "no host of the inventory matches `@x*`"),
            ("-oProxyCommand=x", "a host is named with at most 253 letters"),
            ("$(id)", "a host is named with at most 253 letters"),
            ("[", "the glob \"[\" is wrong"),
            ("@", "the inventory has no group ``"),
        ] {
            let error = chosen(text).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn similar_names_are_offered() {
        let inventory = Inventory::read("hosts: {web1: {groups: [frontend]}}").expect("an inventory");
        let similar = |text| match Selection::choose(text, Some(&inventory)) {
            Err(SelectionError::NoHost { similar, .. } | SelectionError::NoGroup { similar, .. }) => similar,
            other => panic!("{other:?}"),
        };
        assert_eq!(similar("wbe1").as_deref(), Some("web1"));
        assert_eq!(similar("@fronted").as_deref(), Some("frontend"));
    }

    #[test]
    fn names_need_no_inventory() {
        let selection = Selection::choose("web1,192.0.2.7", None).expect("names");
        assert_eq!(selection.hosts.len(), 2);
        for text in ["@web", "web*"] {
            assert_eq!(Selection::choose(text, None), Err(SelectionError::NoInventory(text.to_owned())));
        }
        let list = Selection::of_list("# of the north\nweb1\n\n  web2  \n", None).expect("a list");
        assert_eq!(list.hosts.len(), 2);
        assert_eq!(Selection::of_list("\n# none\n", None), Err(SelectionError::Nothing));
    }
}
