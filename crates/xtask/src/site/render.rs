//! Pages as HTML, and as entries of the search.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::page_links::anchors;

/// Returns the title of a page.
pub(super) fn title(page: &str) -> String {
    let line = page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("ccm");
    line.replace('`', "")
}

/// Returns a page as HTML. Comments are left out, and so is any other HTML in it.
pub(super) fn html(page: &str) -> String {
    let mut anchors = anchors(page).into_iter();
    let mut events = Vec::new();
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {}
            Event::Start(Tag::Heading { level, .. }) => {
                let anchor = anchors.next().unwrap_or_default();
                let start = format!("<{level} id=\"{}\"><a href=\"#{0}\">", escaped(&anchor));
                let start =
                    if level == HeadingLevel::H1 { format!("<{level} id=\"{anchor}\"><a>") } else { start };
                events.push(Event::Html(start.into()));
            }
            Event::End(TagEnd::Heading(level)) => {
                events.push(Event::Html(format!("</a></{level}>\n").into()));
            }
            Event::Start(Tag::Table(alignments)) => {
                events.push(Event::Html(CowStr::Borrowed("<div class=\"table\">\n")));
                events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html(CowStr::Borrowed("</div>\n")));
            }
            event => events.push(event),
        }
    }
    let mut rendered = String::new();
    html::push_html(&mut rendered, events.into_iter());
    rendered
}

/// Adds the sections of a page to the search: the address, the title and the text of each.
pub(super) fn add_sections(path: &str, page: &str, index: &mut Vec<[String; 3]>) {
    let title = title(page);
    let mut anchors = anchors(page).into_iter();
    let mut section = [path.to_owned(), title.clone(), String::new()];
    let mut heading = None;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let anchor = anchors.next().unwrap_or_default();
                if level != HeadingLevel::H1 {
                    let next = [format!("{path}#{anchor}"), String::new(), String::new()];
                    index.push(std::mem::replace(&mut section, next));
                    heading = Some(String::new());
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(heading) = heading.take() {
                    section[1] = format!("{title} › {heading}");
                }
            }
            Event::Text(text) | Event::Code(text) => match &mut heading {
                Some(heading) => *heading += &text,
                None => section[2] += &text,
            },
            Event::SoftBreak | Event::HardBreak | Event::End(_) => section[2].push(' '),
            _ => {}
        }
    }
    index.push(section);
}

/// Escapes a text for HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_headings_have_anchors() {
        let page = "# A `b`\n\n<!-- c -->\ntext\n\n## D & e\n\n| f |\n|---|\n| g |\n";
        let html = html(page);
        assert!(html.contains("<h2 id=\"d--e\"><a href=\"#d--e\">D &amp; e</a></h2>"), "{html}");
        assert!(html.contains("<div class=\"table\">") && !html.contains("<!--"), "{html}");
        let mut index = Vec::new();
        add_sections("a.html", page, &mut index);
        let found: Vec<[&str; 2]> = index.iter().map(|entry| [&*entry[0], &*entry[1]]).collect();
        assert_eq!(found, [["a.html", "A b"], ["a.html#d--e", "A b › D & e"]]);
    }
}
