//! Lists and maps in brackets on one line.

use ccm_model::{Node, NodeEntry, NodeValue};

use super::FastPath;
use super::scalar::ScalarContext;

impl FastPath<'_> {
    pub(super) fn flow(&mut self) -> Option<Node> {
        self.open()?;
        let start = self.at;
        let is_map = self.bytes[start] == b'{';
        let (elements, entries) = (self.elements.len(), self.entries.len());
        let close = if is_map { b'}' } else { b']' };
        self.at += 1;
        self.skip_blanks();
        if self.bytes.get(self.at) != Some(&close) {
            loop {
                if is_map {
                    let entry = self.flow_entry()?;
                    self.entries.push(entry);
                } else {
                    let element = self.flow_value()?;
                    self.elements.push(element);
                }
                self.skip_blanks();
                match self.bytes.get(self.at)? {
                    b',' => self.at += 1,
                    byte if *byte == close => break,
                    _ => return None,
                }
                self.skip_blanks();
            }
        }
        self.at += 1;
        self.remaining_depth += 1;
        let value = if is_map {
            NodeValue::Map(self.take_entries(entries)?)
        } else {
            NodeValue::List(self.elements.drain(elements..).collect())
        };
        Some(Node { value, span: self.span(start, self.at) })
    }

    fn flow_entry(&mut self) -> Option<NodeEntry> {
        let key = self.scalar(ScalarContext::Brackets)?;
        let key = self.key(key)?;
        self.skip_blanks();
        Some(NodeEntry { key, value: self.flow_value()? })
    }

    fn flow_value(&mut self) -> Option<Node> {
        if matches!(self.bytes.get(self.at)?, b'[' | b'{') {
            return self.flow();
        }
        let scalar = self.scalar(ScalarContext::Brackets)?;
        self.node(scalar)
    }
}
