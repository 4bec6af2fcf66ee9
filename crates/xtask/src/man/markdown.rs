//! Parts of the documentation in man pages.

use super::roff::{ManPage, formatted};

/// Text of the comment that ends a generated part.
const END: &str = "end";

/// Adds a page of the documentation without its first title. `add_generated` adds each generated part, whose marker
/// it gets.
pub(crate) fn add_page(page: &mut ManPage, markdown: &str, add_generated: impl Fn(&mut ManPage, &str)) {
    let blocks = Blocks { rest: markdown };
    let mut is_generated = false;
    page.section("DESCRIPTION");
    for block in blocks {
        match block {
            Block::Comment(END) => is_generated = false,
            Block::Comment(marker) => {
                is_generated = true;
                add_generated(page, marker);
            }
            _ if is_generated => {}
            Block::Heading { level: 1, .. } => {}
            Block::Heading { level: 2, title } => page.section(title),
            Block::Heading { title, .. } => page.subsection(title),
            block => add_block(page, &block),
        }
    }
}

/// Returns the rows of the first table of the section of this title.
pub(crate) fn table_of(markdown: &str, title: &str) -> Result<Vec<Vec<String>>, String> {
    let mut blocks = Blocks { rest: markdown };
    let is_heading =
        |block: Block<'_>| matches!(block, Block::Heading { title: found, .. } if found == title);
    if !blocks.any(is_heading) {
        return Err(format!("there is no section `{title}`"));
    }
    match blocks.take_while(|block| !matches!(block, Block::Heading { .. })).find_map(Block::table) {
        Some(rows) => Ok(rows),
        None => Err(format!("the section `{title}` has no table")),
    }
}

fn add_block(page: &mut ManPage, block: &Block<'_>) {
    match block {
        Block::Code(code) => page.verbatim(code.lines()),
        Block::List(items) => items.iter().for_each(|item| page.bullet(item)),
        Block::Table(rows) => add_table(page, rows),
        Block::Paragraph(text) => page.paragraph(text),
        Block::Heading { .. } | Block::Comment(_) => {}
    }
}

/// Adds the rows of a table as terms with their descriptions.
pub(crate) fn add_table(page: &mut ManPage, rows: &[Vec<String>]) {
    for row in rows {
        if let Some((term, cells)) = row.split_first() {
            page.item(&formatted(term), &cells.join("; "));
        }
    }
}

/// Part of a page.
enum Block<'m> {
    Heading { level: usize, title: &'m str },
    Comment(&'m str),
    Code(&'m str),
    List(Vec<String>),
    Table(Vec<Vec<String>>),
    Paragraph(&'m str),
}

impl Block<'_> {
    fn table(self) -> Option<Vec<Vec<String>>> {
        match self {
            Self::Table(rows) => Some(rows),
            _ => None,
        }
    }
}

/// The parts of a page, in order.
struct Blocks<'m> {
    rest: &'m str,
}

impl<'m> Iterator for Blocks<'m> {
    type Item = Block<'m>;

    fn next(&mut self) -> Option<Block<'m>> {
        self.rest = self.rest.trim_start_matches('\n');
        let first = self.rest.lines().next()?;
        if let Some(comment) = first.strip_prefix("<!--") {
            self.rest = &self.rest[first.len()..];
            return Some(Block::Comment(comment.trim_end_matches("-->").trim()));
        }
        if first.starts_with('#') {
            self.rest = &self.rest[first.len()..];
            let title = first.trim_start_matches('#');
            return Some(Block::Heading { level: first.len() - title.len(), title: title.trim() });
        }
        if first.starts_with("```") {
            let behind = &self.rest[first.len() + 1..];
            let (code, rest) = behind.split_once("```").unwrap_or((behind, ""));
            self.rest = rest;
            return Some(Block::Code(code));
        }
        let end = self.rest.find("\n\n").map_or(self.rest.len(), |end| end + 1);
        // A marker of a generated table ends the table without an empty line.
        let end = self.rest.find("\n<!--").map_or(end, |marker| end.min(marker + 1));
        let (block, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(match first.get(..2) {
            Some("- ") => Block::List(elements(block)),
            Some("| ") => Block::Table(rows(block)),
            _ => Block::Paragraph(block),
        })
    }
}

/// Splits a list into its elements, whose further lines are indented.
fn elements(block: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(item), _) => items.push(item.to_owned()),
            (None, Some(last)) => *last += &format!(" {}", line.trim()),
            (None, None) => {}
        }
    }
    items
}

/// Splits a table into its rows, without the head.
fn rows(table: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{0}");
        line.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
    };
    table.lines().skip(2).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\nOne `a`\nline.\n\n```yaml\n.x: 1\n\ny: 2\n```\n\n## Part\n\n- one\n  more\n- two\n\n\
                        <!-- properties of x -->\n| A | B |\n|---|---|\n| gone | gone |\n<!-- end -->\n\n### Small\n\n\
                        | A | B |\n|---|---|\n| `x` | p \\| q |\n| y | z |\n";

    #[test]
    fn a_page_becomes_sections() {
        let mut page = ManPage::new("x", 5, "", "x 1", "X");
        add_page(&mut page, PAGE, |page, marker| page.item(marker, "generated"));
        let text = page.finish();
        let expected = ".SH \"DESCRIPTION\"\nOne \\fBa\\fR line.\n.PP\n.RS 4\n.nf\n\\&.x: 1\n\ny: 2\n.fi\n.RE\n\
                        .SH \"PART\"\n.IP \\(bu 3\none more\n.IP \\(bu 3\ntwo\n.TP\nproperties of x\n\
                        generated\n.SS \"Small\"\n.TP\n\\fBx\\fR\np | q\n.TP\ny\n\
                        z\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn the_table_of_a_section_is_found() {
        let rows = table_of(PAGE, "Small").expect("a table");
        assert_eq!(rows, [["`x`", "p | q"], ["y", "z"]]);
        assert!(
            table_of("## Part\n\ntext\n\n## Next\n\n| a |\n|-|\n", "Part")
                .is_err_and(|error| error.contains("`Part` has no table"))
        );
        assert!(table_of(PAGE, "None").is_err_and(|error| error.contains("no section `None`")));
    }
}
