//! Encrypted texts within a larger text, such as values of a YAML file.

use std::ops::Range;

use crate::armour::{BEGIN, END};

/// Encrypted text within a larger one. Each of its lines has the same indentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncryptedBlock {
    range: Range<usize>,
    indentation: String,
    line: usize,
}

impl EncryptedBlock {
    /// Finds the blocks of a text, in order. One whose end is missing reaches to the end of the text.
    pub fn find(text: &str) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::new();
        let mut open: Option<Self> = None;
        let mut start = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let content = line.trim();
            let end = start + line.trim_end_matches(['\n', '\r']).len();
            if content == BEGIN && open.is_none() {
                let indentation = line[..line.len() - line.trim_start().len()].to_owned();
                open = Some(Self { range: start..end, indentation, line: index + 1 });
            }
            if let Some(mut block) = open.take() {
                block.range.end = end;
                if content == END { blocks.push(block) } else { open = Some(block) }
            }
            start += line.len();
        }
        blocks.extend(open);
        blocks
    }

    /// Returns the number of the first line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the encrypted text, without the indentation.
    pub fn text(&self, whole: &str) -> String {
        let lines = whole.get(self.range.clone()).unwrap_or_default().lines();
        lines.flat_map(|line| [line.trim(), "\n"]).collect()
    }

    /// Returns the larger text with other encrypted texts in place of blocks, given in their order.
    pub fn replace(whole: &str, blocks: &[(Self, String)]) -> String {
        let mut replaced = String::with_capacity(whole.len());
        let mut at = 0;
        for (block, text) in blocks {
            replaced += whole.get(at..block.range.start).unwrap_or_default();
            let lines: Vec<String> =
                text.lines().map(|line| format!("{}{line}", block.indentation)).collect();
            replaced += &lines.join("\n");
            at = block.range.end;
        }
        replaced + whole.get(at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_and_replaced_where_they_are() {
        let one = format!("{BEGIN}\nQQ==\n{END}");
        let indented = format!("    {BEGIN}\n    QQ==\n    {END}");
        for (whole, lines, replaced) in [
            (String::new(), vec![], String::new()),
            ("a: 1\n".to_owned(), vec![], "a: 1\n".to_owned()),
            (one.clone(), vec![1], "x".to_owned()),
            (format!("{one}\n"), vec![1], "x\n".to_owned()),
            (
                format!("a: |\n{indented}\nb: |\r\n{indented}\r\n"),
                vec![2, 6],
                "a: |\n    x\nb: |\r\n    x\r\n".to_owned(),
            ),
        ] {
            let blocks = EncryptedBlock::find(&whole);
            assert_eq!(blocks.iter().map(EncryptedBlock::line).collect::<Vec<_>>(), lines, "{whole:?}");
            for block in &blocks {
                assert_eq!(block.text(&whole), format!("{one}\n"), "{whole:?}");
            }
            let with_x: Vec<_> = blocks.into_iter().map(|block| (block, "x\n".to_owned())).collect();
            assert_eq!(EncryptedBlock::replace(&whole, &with_x), replaced, "{whole:?}");
        }
    }

    #[test]
    fn a_block_without_an_end_is_one() {
        let whole = format!("a: |\n  {BEGIN}\n  QQ==\n");
        let [block] = &EncryptedBlock::find(&whole)[..] else { panic!("one block") };
        assert_eq!(block.text(&whole), format!("{BEGIN}\nQQ==\n"));
    }
}
