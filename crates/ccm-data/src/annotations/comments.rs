//! Comments of a text: a `#` between two scalars of the tree begins a comment.

use ccm_model::{Node, NodeValue, Span};

/// Comment with the span of its text, without the `#`.
#[derive(Clone, Debug)]
pub(super) struct Comment {
    pub(super) span: Span,
    /// `true` if the comment has the line to itself.
    pub(super) is_alone: bool,
    /// First byte of the key on the next line.
    pub(super) above: Option<u32>,
}

/// Key or scalar, in the order of the text.
struct SourceToken {
    span: Span,
    is_key: bool,
}

/// Finds the comments after `start`, in a node and directly after it.
pub(super) fn find(text: &str, start: u32, node: &Node) -> Vec<Comment> {
    let mut tokens = Vec::new();
    collect_tokens(node, &mut Cursor { at: start }, &mut tokens);
    let mut comments = Vec::new();
    let mut at = start as usize;
    for SourceToken { span, is_key } in tokens {
        let range = span.range();
        if at <= range.start {
            collect_between(text, at, range.start, span, is_key, &mut comments);
        }
        at = at.max(range.end);
    }
    let within = comments.len();
    collect_between(text, at, end_of_comments(text, at), node.span, false, &mut comments);
    // A comment that begins its line after the node belongs to the next key.
    let begins_line = |comment: &Comment| {
        let before = &text[..comment.span.start as usize];
        before.rfind(['\n', '\r']).map_or(before, |end| &before[end + 1..]).starts_with('#')
    };
    let after = comments.split_off(within);
    comments.extend(after.into_iter().filter(|comment| !begins_line(comment)));
    comments
}

struct Cursor {
    at: u32,
}

/// Collects the tokens of a node. The nodes of an alias are earlier in the text, and are skipped.
fn collect_tokens(node: &Node, cursor: &mut Cursor, tokens: &mut Vec<SourceToken>) {
    if node.span.start < cursor.at {
        return;
    }
    match &node.value {
        NodeValue::Scalar(_) => {
            tokens.push(SourceToken { span: node.span, is_key: false });
            cursor.at = node.span.end;
        }
        NodeValue::List(elements) => {
            for element in elements {
                collect_tokens(element, cursor, tokens);
            }
        }
        NodeValue::Map(map) => {
            for entry in map.entries() {
                tokens.push(SourceToken { span: entry.key.span, is_key: true });
                cursor.at = entry.key.span.end;
                collect_tokens(&entry.value, cursor, tokens);
            }
        }
    }
}

/// Finds the comments between two tokens, where all other text is indicators, anchors and aliases.
fn collect_between(
    text: &str,
    start: usize,
    end: usize,
    next: Span,
    is_key: bool,
    comments: &mut Vec<Comment>,
) {
    let Some(gap) = text.get(start..end).filter(|gap| gap.contains('#')) else { return };
    let first = comments.len();
    let mut line_start = start;
    for line in gap.split_inclusive(['\n', '\r']) {
        let after_token = line_start == start && start > 0 && !text[..start].ends_with(['\n', '\r']);
        let content = line.trim_end();
        if let Some(found) = hash(content, after_token) {
            let written = content[found..].trim_start_matches('#').trim_start();
            let span_start = line_start + content.len() - written.len();
            comments.push(Comment {
                span: Span::new(next.source, span_start, line_start + content.len()),
                is_alone: content[..found].trim().is_empty() && !after_token,
                above: None,
            });
        }
        line_start += line.len();
    }
    if is_key {
        attach(text, next, &mut comments[first..]);
    }
}

/// Finds the `#` that begins a comment: at the start of the line or after a blank.
fn hash(line: &str, after_token: bool) -> Option<usize> {
    let bytes = line.as_bytes();
    let begins = |at: usize| if at == 0 { !after_token } else { matches!(bytes[at - 1], b' ' | b'\t') };
    bytes.iter().enumerate().position(|(at, byte)| *byte == b'#' && begins(at))
}

/// Assigns comments to the key on the line below, if the key is the first on its line.
fn attach(text: &str, key: Span, comments: &mut [Comment]) {
    let mut below = key.start as usize;
    for comment in comments.iter_mut().rev() {
        let gap = text.get(comment.span.end as usize..below).unwrap_or_default();
        let line_ends = gap.replace("\r\n", "\n").matches(['\n', '\r']).count();
        let is_bare = gap.trim_matches([' ', '\t', '\n', '\r', '#', '?', '-', ',']).is_empty();
        if !comment.is_alone || line_ends != 1 || !is_bare {
            break;
        }
        comment.above = Some(key.start);
        below = comment.span.start as usize;
    }
}

/// Returns the end of the lines that are blank or hold only a comment.
fn end_of_comments(text: &str, start: usize) -> usize {
    let mut at = start;
    for line in text.get(start..).unwrap_or_default().split_inclusive(['\n', '\r']) {
        let content = line.trim();
        let is_rest_of_line = at == start;
        if !(is_rest_of_line || content.is_empty() || content.starts_with('#')) {
            break;
        }
        at += line.len();
    }
    at
}
