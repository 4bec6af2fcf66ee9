//! What an expression names, found without evaluating it.

use std::collections::HashMap;
use std::ops::Range;

use crate::tree::{NodeId, NodeKind, Tree};

/// What an expression names and calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Each use of a top-level name, in the order of the text.
    pub names: Vec<NameMention>,
    /// Each call of a function of the caller.
    pub calls: Vec<CallMention>,
    /// Where `$env` is used as a whole, so that any name may be meant.
    pub environment: Vec<Range<usize>>,
}

/// A use of a top-level name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMention {
    /// The name and the keys asked of it, as far as they are constant: `Facts`, `host`, `info`.
    pub path: Vec<String>,
    /// Whether more is asked of it than the path says: a place in a list, or a key that is worked out.
    pub dynamic: bool,
    /// The place of the name with its keys.
    pub range: Range<usize>,
}

/// A call of a function of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallMention {
    /// The function's name.
    pub name: String,
    /// Its first argument, if that is constant text. `None`: it is worked out, or there is none.
    pub argument: Option<String>,
    /// The place of the call.
    pub range: Range<usize>,
}

/// Collects what is mentioned. Children stand before their parents, so one pass is enough.
pub(crate) fn collect(tree: &Tree) -> Mentions {
    let mut mentions = Mentions::default();
    // The outermost node of each mention so far, and whether it can still grow.
    let mut tips: HashMap<NodeId, usize> = HashMap::new();
    for (id, node) in (0..).zip(&tree.nodes) {
        let range = node.piece.range();
        match &node.kind {
            NodeKind::Name => {
                tips.insert(id, mentions.names.len());
                let path = vec![tree.text(node.piece).to_owned()];
                mentions.names.push(NameMention { path, dynamic: false, range });
            }
            NodeKind::Environment => mentions.environment.push(range),
            NodeKind::Chain(inner) => {
                // What follows with a dot goes on from within the chain.
                if let Some(at) = tips.get(inner).copied() {
                    tips.insert(id, at);
                }
            }
            NodeKind::Member { base, name, .. } => {
                grow(tree, &mut mentions, &mut tips, id, *base, Some(tree.text(*name)));
            }
            NodeKind::Item { base, key, .. } => {
                grow(tree, &mut mentions, &mut tips, id, *base, tree.constant_text(*key));
            }
            NodeKind::Slice { base, .. } => grow(tree, &mut mentions, &mut tips, id, *base, None),
            NodeKind::Call { name, arguments } => {
                let argument = tree.children(*arguments).first().and_then(|first| tree.constant_text(*first));
                mentions.calls.push(CallMention {
                    name: tree.text(*name).to_owned(),
                    argument: argument.map(str::to_owned),
                    range,
                });
            }
            _ => {}
        }
    }
    mentions.names.sort_by_key(|mention| mention.range.start);
    mentions
}

/// A key is asked of a part.
fn grow(
    tree: &Tree,
    mentions: &mut Mentions,
    tips: &mut HashMap<NodeId, usize>,
    id: NodeId,
    base: NodeId,
    key: Option<&str>,
) {
    let range = tree.node(id).piece.range();
    if matches!(tree.node(base).kind, NodeKind::Environment) {
        // `$env.Name` is that name and nothing else.
        if let Some(key) = key {
            mentions.environment.retain(|use_of_all| *use_of_all != tree.node(base).piece.range());
            tips.insert(id, mentions.names.len());
            mentions.names.push(NameMention { path: vec![key.to_owned()], dynamic: false, range });
        }
        return;
    }
    let Some(at) = tips.remove(&base) else { return };
    let mention = &mut mentions.names[at];
    match key {
        Some(key) => {
            mention.path.push(key.to_owned());
            mention.range = range;
            tips.insert(id, at);
        }
        None => mention.dynamic = true,
    }
}
