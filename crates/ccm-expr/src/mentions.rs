//! Names and calls in an expression, found without evaluating anything.

use std::collections::HashMap;
use std::ops::Range;

use crate::functions;
use crate::tree::{Access, NodeId, NodeKind, SyntaxTree};

/// Names and calls in an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Each use of a top-level name, in the order of the text.
    pub names: Vec<NameMention>,
    /// Each call of a function of the embedding program.
    pub calls: Vec<CallMention>,
    /// Each use of `$env` as a whole, which may read any name.
    pub environment: Vec<Range<usize>>,
}

/// Use of a top-level name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMention {
    /// Name and constant keys: `Facts`, `host`, `info`.
    pub path: Vec<String>,
    /// `true` if an index or a computed key follows the path.
    pub dynamic: bool,
    /// Position in the path of the first key that may be missing, because `?.` is before it or `??` behind it.
    pub optional: Option<usize>,
    /// Bytes of the name with its keys.
    pub range: Range<usize>,
}

/// Call of a function of the embedding program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallMention {
    /// Name of the function.
    pub name: String,
    /// First argument if that is constant text; `None` if the argument is computed or missing.
    pub argument: Option<String>,
    /// Number of arguments.
    pub arguments: usize,
    /// Bytes of the call.
    pub range: Range<usize>,
}

/// Collects the mentions. Children precede their parents, so one pass is enough.
pub(crate) fn collect(tree: &SyntaxTree) -> Mentions {
    let mut mentions = Mentions::default();
    // Outermost node of each mention that may still be extended.
    let mut tips: HashMap<NodeId, usize> = HashMap::new();
    for (id, node) in (0..).zip(&tree.nodes) {
        let range = node.span.range();
        match &node.kind {
            NodeKind::Name => {
                tips.insert(id, mentions.names.len());
                let path = vec![tree.text(node.span).to_owned()];
                mentions.names.push(NameMention { path, dynamic: false, optional: None, range });
            }
            NodeKind::Environment => mentions.environment.push(range),
            NodeKind::Chain(inner) => {
                if let Some(at) = tips.get(inner).copied() {
                    tips.insert(id, at);
                }
            }
            NodeKind::Member { base, name, access } => {
                extend(tree, &mut mentions, &mut tips, (id, *base), (Some(tree.text(*name)), *access));
            }
            NodeKind::Item { base, key, access } => {
                extend(tree, &mut mentions, &mut tips, (id, *base), (tree.constant_text(*key), *access));
            }
            NodeKind::Slice { base, .. } => {
                extend(tree, &mut mentions, &mut tips, (id, *base), (None, Access::default()));
            }
            NodeKind::Builtin { function, arguments } if functions::by_index(*function).doc.name == "get" => {
                if let [base, key] = *tree.children(*arguments) {
                    let access = Access { optional: true, lenient: true };
                    extend(tree, &mut mentions, &mut tips, (id, base), (tree.constant_text(key), access));
                }
            }
            NodeKind::Call { name, arguments } => {
                let argument = tree.children(*arguments).first().and_then(|first| tree.constant_text(*first));
                mentions.calls.push(CallMention {
                    name: tree.text(*name).to_owned(),
                    argument: argument.map(str::to_owned),
                    arguments: tree.children(*arguments).len(),
                    range,
                });
            }
            _ => {}
        }
    }
    mentions.names.sort_by_key(|mention| mention.range.start);
    mentions
}

/// Extends the mention that ends at `base` by a key; `None` is a computed key.
fn extend(
    tree: &SyntaxTree,
    mentions: &mut Mentions,
    tips: &mut HashMap<NodeId, usize>,
    (id, base): (NodeId, NodeId),
    (key, access): (Option<&str>, Access),
) {
    let range = tree.node(id).span.range();
    if matches!(tree.node(base).kind, NodeKind::Environment) {
        // `$env.Name` reads only that name.
        if let Some(key) = key {
            mentions.environment.retain(|use_of_all| *use_of_all != tree.node(base).span.range());
            tips.insert(id, mentions.names.len());
            let path = vec![key.to_owned()];
            mentions.names.push(NameMention { path, dynamic: false, optional: None, range });
        }
        return;
    }
    let Some(at) = tips.remove(&base) else { return };
    let mention = &mut mentions.names[at];
    match key {
        Some(key) => {
            if access.optional || access.lenient {
                mention.optional.get_or_insert(mention.path.len());
            }
            mention.path.push(key.to_owned());
            mention.range = range;
            tips.insert(id, at);
        }
        None => mention.dynamic = true,
    }
}
