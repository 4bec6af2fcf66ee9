//! Parts of the documentation in man pages.

use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream};

/// Text of the comment that ends a generated part.
const END: &str = "end";

/// Adds a page of the documentation without its first title. `add_generated` adds each generated part, whose marker
/// it gets.
pub(crate) fn add_page(roff: &mut Roff, markdown: &str, add_generated: impl Fn(&mut Roff, &str)) {
    roff.control("SH", ["DESCRIPTION"]);
    // A title begins a paragraph.
    let mut is_at_title = true;
    let mut is_generated = false;
    for block in blocks(markdown) {
        let is_title = matches!(block, Block::Title(..));
        match block {
            Block::Comment(marker) => {
                is_generated = marker != END;
                if is_generated {
                    add_generated(roff, &marker);
                }
            }
            _ if is_generated => continue,
            Block::Title(HeadingLevel::H1, _) => continue,
            Block::Title(HeadingLevel::H2, title) => drop(roff.control("SH", [&*title.to_uppercase()])),
            Block::Title(_, title) => drop(roff.control("SS", [&*title])),
            Block::Element(text) => drop(roff.control("IP", ["\\(bu", "3"]).text(text)),
            Block::Row(cells) => add_table(roff, &[cells]),
            Block::Paragraph(text) => {
                begin_paragraph(roff, is_at_title);
                roff.text(text);
            }
            Block::Code(code) => {
                begin_paragraph(roff, is_at_title);
                add_lines(roff, code.lines());
            }
        }
        is_at_title = is_title;
    }
}

fn begin_paragraph(roff: &mut Roff, is_at_title: bool) {
    if !is_at_title {
        roff.control("PP", []);
    }
}

/// Returns the rows of the first table of the section of this title.
pub(crate) fn table_of(markdown: &str, title: &str) -> Result<Vec<Vec<Vec<Inline>>>, String> {
    let mut blocks = blocks(markdown).into_iter();
    if !blocks.any(|block| matches!(block, Block::Title(_, found) if found == title)) {
        return Err(format!("there is no section `{title}`"));
    }
    let section = blocks.take_while(|block| !matches!(block, Block::Title(..)));
    let rows = section.filter_map(|block| if let Block::Row(cells) = block { Some(cells) } else { None });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() { Err(format!("the section `{title}` has no table")) } else { Ok(rows) }
}

/// Adds the rows of a table as terms with their descriptions.
pub(crate) fn add_table(roff: &mut Roff, rows: &[Vec<Vec<Inline>>]) {
    for row in rows {
        if let Some((term, cells)) = row.split_first() {
            add_item(roff, term.as_slice(), cells.join(&roman("; ")));
        }
    }
}

/// Adds a term and its description.
pub(crate) fn add_item(roff: &mut Roff, term: impl Into<Vec<Inline>>, description: impl Into<Vec<Inline>>) {
    roff.control("TP", []).text(term).text(description);
}

/// Adds lines as they are.
pub(crate) fn add_lines<'l>(roff: &mut Roff, lines: impl IntoIterator<Item = &'l str>) {
    roff.control("RS", ["4"]).control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []).control("RE", []);
}

/// Returns a reference to another page.
pub(crate) fn reference(name: &str, section: u8) -> Vec<Inline> {
    vec![bold(name), roman(format!("({section})"))]
}

/// Formats a text of one paragraph: code and strong text in bold, emphasis in italics, links as their text.
pub(crate) fn inlines(markdown: &str) -> Vec<Inline> {
    let texts = blocks(markdown).into_iter().filter_map(|block| match block {
        Block::Paragraph(text) | Block::Element(text) => Some(text),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(&roman(" "))
}

/// Part of a page.
#[derive(Debug)]
enum Block {
    Title(HeadingLevel, String),
    Comment(String),
    Code(String),
    /// Element of a list.
    Element(Vec<Inline>),
    /// Row of a table.
    Row(Vec<Vec<Inline>>),
    Paragraph(Vec<Inline>),
}

/// Returns the parts of a page, in order.
fn blocks(markdown: &str) -> Vec<Block> {
    let (mut blocks, mut cells, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let mut style: fn(String) -> Inline = roman;
    let mut is_element = false;
    for event in TextMergeStream::new(Parser::new_ext(markdown, Options::ENABLE_TABLES)) {
        match event {
            Event::Html(html) if html.starts_with("<!--") => {
                let comment = html.trim().trim_start_matches("<!--").trim_end_matches("-->");
                blocks.push(Block::Comment(comment.trim().to_owned()));
            }
            Event::Text(part) | Event::Html(part) | Event::InlineHtml(part) => text.push(style(part.into())),
            Event::Code(code) => text.push(bold(code)),
            Event::SoftBreak | Event::HardBreak => text.push(roman(" ")),
            Event::Start(Tag::Strong) => style = bold,
            Event::Start(Tag::Emphasis) => style = italic,
            Event::End(TagEnd::Strong | TagEnd::Emphasis) => style = roman,
            Event::Start(Tag::Item) => is_element = true,
            // An element of a list without empty lines has no paragraphs.
            Event::Start(Tag::List(_)) | Event::End(TagEnd::Item) if !text.is_empty() => {
                blocks.push(Block::Element(std::mem::take(&mut text)));
            }
            Event::End(TagEnd::List(_)) => is_element = false,
            Event::End(TagEnd::Paragraph) => {
                let block = if is_element { Block::Element } else { Block::Paragraph };
                blocks.push(block(std::mem::take(&mut text)));
            }
            Event::End(TagEnd::Heading(level)) => {
                blocks.push(Block::Title(level, plain(&std::mem::take(&mut text))));
            }
            Event::End(TagEnd::CodeBlock) => blocks.push(Block::Code(plain(&std::mem::take(&mut text)))),
            Event::End(TagEnd::TableCell) => cells.push(std::mem::take(&mut text)),
            Event::End(TagEnd::TableHead) => cells.clear(),
            Event::End(TagEnd::TableRow) => blocks.push(Block::Row(std::mem::take(&mut cells))),
            _ => {}
        }
    }
    blocks
}

fn plain(text: &[Inline]) -> String {
    let parts = text.iter().map(|part| match part {
        Inline::Roman(part) | Inline::Italic(part) | Inline::Bold(part) => part.as_str(),
        Inline::LineBreak => "\n",
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\nOne `a`\nline.\n\n```yaml\n.x: 1\n\ny: 2\n```\n\n## Part\n\n- one\n  more\n- two\n\n\
                        <!-- properties of x -->\n| A | B |\n|---|---|\n| gone | gone |\n<!-- end -->\n\n### Small\n\n\
                        | A | B |\n|---|---|\n| `x` | p \\| q |\n| y | z |\n";

    #[test]
    fn a_page_becomes_sections() {
        let mut roff = Roff::new();
        add_page(&mut roff, PAGE, |roff, marker| add_item(roff, [roman(marker)], [roman("generated")]));
        let text = roff.to_roff();
        let expected = ".SH DESCRIPTION\nOne \\fBa\\fR line.\n.PP\n.RS 4\n.nf\n\\&.x: 1\n\ny: 2\n.fi\n.RE\n\
                        .SH PART\n.IP \\(bu 3\none more\n.IP \\(bu 3\ntwo\n.TP\nproperties of x\n\
                        generated\n.SS Small\n.TP\n\\fBx\\fR\np | q\n.TP\ny\n\
                        z\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_table_of_a_section_is_found() {
        let rows = table_of(PAGE, "Small").expect("a table");
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
        assert_eq!(rows, [["x", "p | q"], ["y", "z"]]);
        assert!(
            table_of("## Part\n\ntext\n\n## Next\n\n| a |\n|-|\n", "Part")
                .is_err_and(|error| error.contains("`Part` has no table"))
        );
        assert!(table_of(PAGE, "None").is_err_and(|error| error.contains("no section `None`")));
    }

    #[test]
    fn markdown_is_formatted() {
        for (markdown, expected) in [
            ("plain\ntext", "plain text\n"),
            ("`--noop` changes nothing", "\\fB\\-\\-noop\\fR changes nothing\n"),
            ("`` a`b `` and **so**", "\\fBa`b\\fR and \\fBso\\fR\n"),
            ("see [the *manifest*](manifest.md#x), ok", "see the \\fImanifest\\fR, ok\n"),
            ("[`a`](b.md)", "\\fBa\\fR\n"),
            ("2 * 3 * 4 and [1] `open", "2 * 3 * 4 and [1] `open\n"),
            ("a <b> c", "a <b> c\n"),
            ("- one\n- two", "one two\n"),
            (".so /etc/passwd", "\\&.so /etc/passwd\n"),
        ] {
            let mut roff = Roff::new();
            assert_eq!(roff.text(inlines(markdown)).to_roff(), expected, "{markdown}");
        }
    }
}
