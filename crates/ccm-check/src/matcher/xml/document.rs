//! Tree of an XML text. Nodes are numbered in the order of the document.

use std::borrow::Cow;

/// Tree with the node 0 as its root, above the outermost element.
#[derive(Debug)]
pub(in crate::matcher) struct XmlDocument<'t> {
    nodes: Vec<XmlNode<'t>>,
}

#[derive(Debug)]
struct XmlNode<'t> {
    parent: usize,
    /// Number after the last node below this one.
    end: usize,
    kind: XmlNodeKind<'t>,
}

/// Kind of a node, with its name and text.
#[derive(Debug)]
pub(in crate::matcher) enum XmlNodeKind<'t> {
    Root,
    Element(&'t str),
    /// Attribute. Follows its element.
    Attribute(&'t str, Cow<'t, str>),
    Text(Cow<'t, str>),
}

impl<'t> XmlDocument<'t> {
    pub(super) fn new() -> Self {
        Self { nodes: vec![XmlNode { parent: 0, end: 1, kind: XmlNodeKind::Root }] }
    }

    /// Adds a node below one that is not closed yet, and returns its number.
    pub(super) fn push(&mut self, parent: usize, kind: XmlNodeKind<'t>) -> usize {
        let number = self.nodes.len();
        self.nodes.push(XmlNode { parent, end: number + 1, kind });
        number
    }

    /// Closes an element after the last node below it.
    pub(super) fn close(&mut self, node: usize) {
        self.nodes[node].end = self.nodes.len();
    }

    /// Returns the number of nodes.
    pub(in crate::matcher) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(in crate::matcher) fn kind(&self, node: usize) -> &XmlNodeKind<'t> {
        &self.nodes[node].kind
    }

    pub(in crate::matcher) fn parent(&self, node: usize) -> Option<usize> {
        (node > 0).then(|| self.nodes[node].parent)
    }

    /// Returns the numbers of all nodes below a node, attributes included.
    pub(in crate::matcher) fn below(&self, node: usize) -> std::ops::Range<usize> {
        node + 1..self.nodes[node].end
    }

    /// Returns the children of a node, attributes included.
    pub(in crate::matcher) fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < self.nodes[node].end).then(|| {
                next = self.nodes[child].end;
                child
            })
        })
    }

    /// Returns the qualified name of an element or attribute.
    pub(in crate::matcher) fn name(&self, node: usize) -> &'t str {
        match self.kind(node) {
            XmlNodeKind::Element(name) | XmlNodeKind::Attribute(name, _) => name,
            XmlNodeKind::Root | XmlNodeKind::Text(_) => "",
        }
    }

    /// Returns the text of a node: that of an element is all text below it.
    pub(in crate::matcher) fn text(&self, node: usize) -> Cow<'_, str> {
        match self.kind(node) {
            XmlNodeKind::Attribute(_, text) | XmlNodeKind::Text(text) => Cow::Borrowed(text),
            XmlNodeKind::Root | XmlNodeKind::Element(_) => {
                let texts = self.below(node).filter_map(|below| match self.kind(below) {
                    XmlNodeKind::Text(text) => Some(&**text),
                    _ => None,
                });
                Cow::Owned(texts.collect())
            }
        }
    }

    /// Writes a node as XML: an attribute as an element of its name.
    pub(super) fn write(&self, node: usize, out: &mut String) {
        match self.kind(node) {
            XmlNodeKind::Text(text) => escape(text, out),
            XmlNodeKind::Attribute(name, text) => {
                *out += &format!("<{name}>");
                escape(text, out);
                *out += &format!("</{name}>");
            }
            XmlNodeKind::Root => self.children(node).for_each(|child| self.write(child, out)),
            XmlNodeKind::Element(name) => {
                *out += &format!("<{name}");
                let mut is_empty = true;
                for child in self.children(node) {
                    match self.kind(child) {
                        XmlNodeKind::Attribute(attribute, text) => {
                            *out += &format!(" {attribute}=\"");
                            escape(text, out);
                            out.push('"');
                        }
                        _ => is_empty = false,
                    }
                }
                if is_empty {
                    *out += "/>";
                    return;
                }
                out.push('>');
                for child in self.children(node) {
                    if !matches!(self.kind(child), XmlNodeKind::Attribute(..)) {
                        self.write(child, out);
                    }
                }
                *out += &format!("</{name}>");
            }
        }
    }
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => *out += "&amp;",
            '<' => *out += "&lt;",
            '>' => *out += "&gt;",
            '"' => *out += "&#34;",
            '\'' => *out += "&#39;",
            other => out.push(other),
        }
    }
}
