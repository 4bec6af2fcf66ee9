//! Diffs of content.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use ccm_host::sha256;
use ccm_model::ChangedLines;
use ccm_redaction::{REDACTED, Redactor};
use similar::{Change, ChangeTag, DiffTag, TextDiff};

/// Maximum content size for a diff in bytes.
pub(crate) const MAX_CONTENT: u64 = 1 << 20;
/// Maximum content size in bytes for counting changed lines without a diff.
pub(crate) const MAX_COUNTED: u64 = 256 << 10;
const MAX_LINES: usize = 400;
const MAX_LINE_LENGTH: usize = 1_000;
/// Time to search for the shortest diff; after that any correct diff is used.
const DIFF_TIMEOUT: Duration = Duration::from_millis(300);

/// File of a diff, and what the diff may show.
pub(crate) struct DiffScope<'a> {
    pub path: &'a Path,
    /// Shows no content.
    pub sensitive: bool,
    /// Shows no checksum.
    pub holds_secret: bool,
    /// Size of the larger content in bytes.
    pub size: u64,
    /// Lines of the old and the new content to redact.
    pub hidden_lines: &'a (HashSet<usize>, HashSet<usize>),
}

/// Content of a file before and after a change.
#[derive(Clone, Copy)]
pub(crate) struct ChangedContent<'a> {
    /// `None` for a file that does not exist.
    pub old: Option<&'a [u8]>,
    pub new: &'a [u8],
}

impl DiffScope<'_> {
    /// Returns the diff of a change.
    pub(crate) fn diff(&self, change: ChangedContent<'_>) -> String {
        let sums = [change.old.unwrap_or_default(), change.new].map(sha256);
        let is_short = |content: &&[u8]| content.len() as u64 <= MAX_CONTENT;
        let old = Side {
            exists: change.old.is_some(),
            sha256: Some(&sums[0]),
            content: Some(change.old.unwrap_or_default()).filter(is_short),
        };
        let new = Side { exists: true, sha256: Some(&sums[1]), content: Some(change.new).filter(is_short) };
        between(self, old, new).0
    }

    /// Returns the diff of a removal.
    pub(crate) fn removal(&self, old: &[u8]) -> String {
        let sum = sha256(old);
        let content = Some(old).filter(|content| content.len() as u64 <= MAX_CONTENT);
        let old = Side { exists: true, sha256: Some(&sum), content };
        between(self, old, Side { exists: false, sha256: None, content: Some(&[]) }).0
    }
}

/// Counts the changed lines; `None` unless both contents are text.
pub(crate) fn count_changed_lines(old: &[u8], new: &[u8]) -> Option<ChangedLines> {
    text(old).zip(text(new)).map(|(old, new)| changed_lines(&diff_of(old, new)))
}

/// Side of a change.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub exists: bool,
    pub sha256: Option<&'a str>,
    pub content: Option<&'a [u8]>,
}

impl Side<'_> {
    /// Removes the checksum, from which secret content could be guessed.
    fn without_sum(self) -> Self {
        Self { sha256: None, ..self }
    }
}

pub(crate) fn between(scope: &DiffScope<'_>, old: Side<'_>, new: Side<'_>) -> (String, Option<ChangedLines>) {
    if scope.sensitive {
        let summary = change_summary(old.without_sum(), new.without_sum());
        return (format!("sensitive content {summary}\n"), None);
    }
    let (old, new) = if scope.holds_secret { (old.without_sum(), new.without_sum()) } else { (old, new) };
    if let (Some(from), Some(to)) = (old.content.and_then(text), new.content.and_then(text)) {
        let [from, to] = [from, to].map(|text| text.replace('\r', "\\r"));
        let diff = diff_of(&from, &to);
        return (unified(scope, (old, new), &diff), Some(changed_lines(&diff)));
    }
    let is_binary = |side: Side<'_>| side.content.is_some_and(|content| text(content).is_none());
    let what = match () {
        () if is_binary(old) || is_binary(new) => "binary content",
        () if scope.size > MAX_CONTENT => "content of more than 1 MiB",
        // It could not be read.
        () => "content",
    };
    (format!("{what} {}\n", change_summary(old, new)), None)
}

pub(crate) fn diff_of<'t>(from: &'t str, to: &'t str) -> TextDiff<'t, 't, str> {
    TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(from, to)
}

pub(crate) fn changed_lines(diff: &TextDiff<'_, '_, str>) -> ChangedLines {
    let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changed.fold(ChangedLines { added: 0, removed: 0 }, |ChangedLines { added, removed }, op| ChangedLines {
        added: added + op.new_range().len(),
        removed: removed + op.old_range().len(),
    })
}

pub(crate) fn text(content: &[u8]) -> Option<&str> {
    str::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}

/// Summarises a change whose content is not shown, with the known checksums.
fn change_summary(old: Side<'_>, new: Side<'_>) -> String {
    let sum = |side: Side<'_>| side.sha256.map(|sha256| sha256.get(..12).unwrap_or(sha256).to_owned());
    let (verb, sums) = match (old.exists, new.exists) {
        (false, _) => ("is new", sum(new)),
        (true, false) => ("is removed", sum(old)),
        (true, true) => ("differs", sum(old).zip(sum(new)).map(|(old, new)| format!("{old} → {new}"))),
    };
    sums.map_or_else(|| verb.to_owned(), |sums| format!("{verb} (sha256 {sums})"))
}

/// Returns a unified diff. Most terminals drop a carriage return, which does not end a line of a Unix file, so
/// the compared texts show it as `\r`.
fn unified(scope: &DiffScope<'_>, (old, new): (Side<'_>, Side<'_>), diff: &TextDiff<'_, '_, str>) -> String {
    let path = scope.path.display().to_string().escape_debug().to_string();
    let header = |side: Side<'_>| if side.exists { path.clone() } else { "/dev/null".to_owned() };
    let mut unified = diff.unified_diff();
    unified.context_radius(3).header(&header(old), &header(new));
    let (gone, come) = scope.hidden_lines;
    if gone.is_empty() && come.is_empty() {
        return bounded(&unified.to_string());
    }
    let mut text = format!("--- {}\n+++ {}\n", header(old), header(new));
    for hunk in unified.iter_hunks() {
        text += &format!("{}\n", hunk.header());
        let lines: Vec<DiffLine<'_>> =
            hunk.iter_changes().map(|change| DiffLine::of(&change, gone, come)).collect();
        // A line that replaces a secret line or is replaced by one is secret too: it may hold an old
        // password.
        for block in lines.chunk_by(|one, next| (one.tag == ' ') == (next.tag == ' ')) {
            let is_changed = block.iter().any(|line| line.tag != ' ' && line.hidden);
            for line in block {
                text.push(line.tag);
                text += if line.hidden || is_changed { REDACTED } else { line.text };
                text.push('\n');
            }
        }
    }
    bounded(&text)
}

struct DiffLine<'a> {
    tag: char,
    text: &'a str,
    hidden: bool,
}

impl<'a> DiffLine<'a> {
    fn of(change: &Change<&'a str>, gone: &HashSet<usize>, come: &HashSet<usize>) -> Self {
        let is_in = |index: Option<usize>, hidden: &HashSet<usize>| {
            index.is_some_and(|index| hidden.contains(&index))
        };
        Self {
            tag: match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            },
            text: change.value().trim_end_matches('\n'),
            hidden: is_in(change.old_index(), gone) || is_in(change.new_index(), come),
        }
    }
}

/// Returns the indices of the lines that hold a secret.
pub(crate) fn hidden_lines(redactor: &Redactor, content: &[u8]) -> HashSet<usize> {
    let hidden = redactor.hidden(content);
    let mut hidden = hidden.iter().peekable();
    let mut lines = HashSet::new();
    let mut end = 0;
    for (number, line) in content.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let start = end;
        end += line.len();
        while hidden.next_if(|range| range.end <= start).is_some() {}
        if hidden.peek().is_some_and(|range| range.start < end) {
            lines.insert(number);
        }
    }
    lines
}

fn bounded(text: &str) -> String {
    let mut lines = text.split_inclusive('\n');
    let mut shown = String::new();
    for line in lines.by_ref().take(MAX_LINES) {
        match line.char_indices().nth(MAX_LINE_LENGTH) {
            Some((at, _)) if line.trim_end_matches('\n').len() > at => {
                shown += &line[..at];
                shown +=
                    &format!("... (truncated, {} more characters)\n", line[at..].trim_end().chars().count());
            }
            _ => shown += line,
        }
    }
    match lines.count() {
        0 => shown,
        more => shown + &format!("... (truncated, {more} more lines)\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::bounded;

    #[test]
    fn long_diff_is_truncated() {
        assert_eq!(bounded("+a\n-b\n"), "+a\n-b\n");
        let long = bounded(&"+line\n".repeat(403));
        assert!(long.ends_with("+line\n... (truncated, 3 more lines)\n"));
        let wide = bounded(&format!("+{}\n", "ä".repeat(1_004)));
        assert!(wide.ends_with("ää... (truncated, 5 more characters)\n"), "{wide}");
    }
}
