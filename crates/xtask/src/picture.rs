//! Pictures of runs: a command of a page, and what it prints, as an SVG beside the page.
//!
//! A comment `<!-- picture NAME.svg -->` before a block `console` asks for one. Tests run these blocks, so that a picture
//! shows a real report.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const MARKER: &str = "<!-- picture ";
/// Width of a character and height of a line, in pixels.
const CELL: (usize, usize) = (8, 20);
/// Space around the text.
const MARGIN: usize = 16;

/// Returns the path and the content of each picture of a page.
pub(crate) fn of_page(path: &Path, page: &str) -> Result<Vec<(PathBuf, String)>, String> {
    let mut pictures = Vec::new();
    for rest in page.split(&format!("\n{MARKER}")).skip(1) {
        let block = rest.split_once(" -->\n```console\n").and_then(|(name, rest)| {
            let (text, _) = rest.split_once("\n```\n")?;
            Some((name, text))
        });
        let (name, text) =
            block.ok_or_else(|| format!("no block `console` behind a picture of {}", path.display()))?;
        let end = text.find("\n$ ").unwrap_or(text.len());
        pictures.push((path.with_file_name(name), svg(&text[..end])));
    }
    Ok(pictures)
}

/// Draws lines of a terminal.
fn svg(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let (width, height) = (longest * CELL.0 + 2 * MARGIN, lines.len() * CELL.1 + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1d2330\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + (number + 1) * CELL.1 - 6;
        let length = line.chars().count() * CELL.0;
        // Writing to a `String` can't fail.
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{y}\" textLength=\"{length}\" xml:space=\"preserve\" fill=\"{}\">{}</text>",
            colour(line),
            escaped(line)
        );
    }
    svg + "</svg>\n"
}

/// Returns the colour of a line, by the mark of its resource or of its diff.
fn colour(line: &str) -> &'static str {
    let mark = line.trim_start();
    match mark.as_bytes().first() {
        Some(b'$') => "#ffffff",
        Some(b'+') => "#8fd19e",
        Some(b'-' | b'x') if mark.starts_with("x ") || mark.starts_with('-') => "#f2938c",
        Some(b'~' | b'!') => "#f0c674",
        Some(b'>') => "#8abeb7",
        Some(b'@') => "#81a2be",
        _ => "#c5c8c6",
    }
}

fn escaped(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_show_the_first_command_of_their_block() {
        let page = "text\n\n<!-- picture a.svg -->\n```console\n$ ccm <x>\n  + file a\n$ second\n```\n";
        let pictures = of_page(Path::new("docs/a.md"), page).expect("pictures");
        let [(path, svg)] = &*pictures else { unreachable!("one picture: {pictures:?}") };
        assert_eq!(path, Path::new("docs/a.svg"));
        assert!(
            svg.contains(">$ ccm &lt;x&gt;<") && svg.contains("#8fd19e") && !svg.contains("second"),
            "{svg}"
        );
        assert!(of_page(Path::new("a.md"), "\n<!-- picture a.svg -->\n\ntext").is_err());
    }
}
