//! Quotes and brackets that a line of a source leaves open, found without parsing.

/// Quotes and brackets that are open at the end of the lines read so far. The value goes on until they are
/// closed, whatever the indentation.
#[derive(Default)]
pub struct OpenValue {
    quote: Option<char>,
    brackets: usize,
    /// Indentation of the line that begins a block of text, whose quotes and brackets mean nothing.
    block: Option<usize>,
}

impl OpenValue {
    /// Returns `true` if a quote or bracket is open.
    pub fn is_open(&self) -> bool {
        self.quote.is_some() || self.brackets > 0
    }

    /// Reads a line of a source, or the end of it. `indent` is the indentation of the whole line.
    pub fn read(&mut self, line: &str, indent: usize) {
        if !self.is_open() && self.block.is_some_and(|block| indent > block || line.trim().is_empty()) {
            return;
        }
        self.block = None;
        let mut characters = line.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            match (self.quote, character) {
                (Some('"'), '\\') => {
                    characters.next();
                }
                (Some('\''), '\'') if characters.peek().is_some_and(|(_, next)| *next == '\'') => {
                    characters.next();
                }
                (Some(quote), _) if quote == character => self.quote = None,
                (None, '#') if line[..at].ends_with(char::is_whitespace) || at == 0 => return,
                (None, '"' | '\'') if begins_value(&line[..at]) => self.quote = Some(character),
                (None, '{' | '[') if self.brackets > 0 || begins_value(&line[..at]) => self.brackets += 1,
                (None, '}' | ']') => self.brackets = self.brackets.saturating_sub(1),
                (None, '|' | '>') if !self.is_open() && begins_value(&line[..at]) => {
                    self.block = Some(indent);
                    return;
                }
                _ => {}
            }
        }
    }
}

/// Returns `true` if a value begins after this part of a line.
fn begins_value(before: &str) -> bool {
    let before = before.trim_end();
    let is_property = before.split_whitespace().next_back().is_some_and(|word| word.starts_with(['!', '&']));
    before.is_empty() || is_property || before.ends_with(['[', '{', ',', ':', '-', '?'])
}
