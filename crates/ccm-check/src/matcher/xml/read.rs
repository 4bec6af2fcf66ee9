//! Reader of XML texts. No entity but the five of XML and numbered characters; nothing outside of the text is read.

use std::borrow::Cow;

use super::document::{XmlDocument, XmlNodeKind};

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 256;
/// Maximum number of nodes.
const MAX_NODES: usize = 200_000;

/// Reads a text that is one element, with a declaration and comments around it.
pub(super) fn document(text: &str) -> Result<XmlDocument<'_>, &'static str> {
    let mut reader = XmlReader {
        rest: text.strip_prefix('\u{feff}').unwrap_or(text),
        document: XmlDocument::new(),
        open: vec![0],
    };
    reader.read()?;
    Ok(reader.document)
}

struct XmlReader<'t> {
    rest: &'t str,
    document: XmlDocument<'t>,
    /// Open elements, below the root.
    open: Vec<usize>,
}

impl<'t> XmlReader<'t> {
    fn read(&mut self) -> Result<(), &'static str> {
        let mut has_element = false;
        while !self.rest.is_empty() {
            if self.document.len() > MAX_NODES {
                return Err("there are too many nodes");
            }
            if let Some(rest) = self.rest.strip_prefix("<!--") {
                self.rest = rest.split_once("-->").ok_or("a comment has no end")?.1;
            } else if let Some(rest) = self.rest.strip_prefix("<?") {
                self.rest = rest.split_once("?>").ok_or("an instruction has no end")?.1;
            } else if let Some(rest) = self.rest.strip_prefix("<![CDATA[") {
                let (text, rest) = rest.split_once("]]>").ok_or("a CDATA section has no end")?;
                self.text(Cow::Borrowed(text))?;
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix("<!") {
                let (declaration, rest) = rest.split_once('>').ok_or("a declaration has no end")?;
                if declaration.contains('[') || !declaration.starts_with("DOCTYPE") {
                    return Err("declarations in the text are not supported");
                }
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix("</") {
                let (name, rest) = rest.split_once('>').ok_or("an end tag is not closed")?;
                let element = self.open.pop().filter(|element| *element > 0);
                let element = element.ok_or("an end tag has no start tag")?;
                if self.document.name(element) != name.trim_end() {
                    return Err("an end tag has another name than its start tag");
                }
                self.document.close(element);
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix('<') {
                if self.open.len() == 1 && std::mem::replace(&mut has_element, true) {
                    return Err("there is a second element at the top");
                }
                self.rest = rest;
                self.start_tag()?;
            } else {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.text(unescape(text)?)?;
                self.rest = rest;
            }
        }
        match (self.open.len(), has_element) {
            (1, true) => {
                self.document.close(0);
                Ok(())
            }
            (1, false) => Err("there is no element"),
            _ => Err("an element is not closed"),
        }
    }

    fn text(&mut self, text: Cow<'t, str>) -> Result<(), &'static str> {
        match self.open.last() {
            Some(0) | None if text.trim().is_empty() => Ok(()),
            Some(0) | None => Err("there is text outside of the element"),
            Some(parent) => {
                if !text.is_empty() {
                    self.document.push(*parent, XmlNodeKind::Text(text));
                }
                Ok(())
            }
        }
    }

    fn start_tag(&mut self) -> Result<(), &'static str> {
        let name = self.name().ok_or("a tag has no name")?;
        let parent = self.open.last().copied().unwrap_or_default();
        let element = self.document.push(parent, XmlNodeKind::Element(name));
        loop {
            let trimmed = self.rest.trim_start();
            if let Some(rest) = trimmed.strip_prefix("/>") {
                self.document.close(element);
                self.rest = rest;
                return Ok(());
            }
            if let Some(rest) = trimmed.strip_prefix('>') {
                if self.open.len() > MAX_DEPTH {
                    return Err("elements are nested too deep");
                }
                self.open.push(element);
                self.rest = rest;
                return Ok(());
            }
            if trimmed.len() == self.rest.len() || self.document.len() > MAX_NODES {
                return Err("a tag is not closed");
            }
            self.rest = trimmed;
            let name = self.name().ok_or("an attribute has no name")?;
            let value = self.rest.trim_start().strip_prefix('=').ok_or("an attribute has no value")?;
            let value = value.trim_start();
            let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''));
            let quote = quote.ok_or("the value of an attribute has no quotes")?;
            let (value, rest) = value[1..].split_once(quote).ok_or("the value of an attribute has no end")?;
            self.document.push(element, XmlNodeKind::Attribute(name, unescape(value)?));
            self.rest = rest;
        }
    }

    /// Reads a name, with its prefix.
    fn name(&mut self) -> Option<&'t str> {
        let is_end = |end: char| end.is_whitespace() || "/>=<\"'&".contains(end);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let first = name.chars().next()?;
        if first.is_ascii_digit() || matches!(first, '-' | '.') {
            return None;
        }
        self.rest = rest;
        Some(name)
    }
}

/// Replaces entities by their characters.
fn unescape(text: &str) -> Result<Cow<'_, str>, &'static str> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').ok_or("an entity has no end")?;
        let character = match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = entity.strip_prefix('#').ok_or("an entity is unknown")?;
                let code = match number.strip_prefix('x') {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                code.ok().and_then(char::from_u32).ok_or("an entity is no character")?
            }
        };
        out.push(character);
        out += rest;
    }
    Ok(Cow::Owned(out))
}
