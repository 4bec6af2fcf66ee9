//! Change of the content of a file.

use ccm_host::{FileInfo, FileKind};
use ccm_model::ChangedLines;

use super::desired::DesiredFile;
use super::state::FileState;
use crate::parts::diff::{DiffScope, MAX_COUNTED, Side, between, changed_lines, diff_of, text};

/// Change of content.
#[derive(Default)]
pub(crate) struct ContentChange {
    /// The diff, if one is requested.
    pub diff: Option<String>,
    /// Number of changed lines, if both contents are text and at hand.
    pub lines: Option<ChangedLines>,
}

/// Returns the change to the desired content.
pub(crate) fn to_desired(file: &DesiredFile, state: &FileState) -> ContentChange {
    let desired = &state.desired;
    let content = desired.content.as_deref().or(desired.sha256.is_none().then_some(&[][..]));
    let new = Side { exists: true, sha256: desired.sha256.as_deref(), content };
    if state.diff {
        let (diff, lines) = between(&scope(file, state), old(state), new);
        // The action is the same whether there is a diff or not.
        let is_short =
            |side: Side<'_>| side.content.is_some_and(|content| content.len() as u64 <= MAX_COUNTED);
        let is_counted = old(state).exists && is_short(old(state)) && is_short(new);
        return ContentChange { diff: Some(diff), lines: lines.filter(|_| is_counted) };
    }
    let texts = old(state).content.and_then(text).zip(new.content.and_then(text));
    let texts = texts.filter(|_| !file.sensitive && old(state).exists);
    ContentChange { diff: None, lines: texts.map(|(old, new)| changed_lines(&diff_of(old, new))) }
}

/// Returns the diff of a removal, if a diff is requested.
pub(crate) fn to_nothing(file: &DesiredFile, state: &FileState) -> Option<String> {
    let gone = Side { exists: false, sha256: None, content: Some(&[]) };
    let is_file = !state.found.link && old(state).exists;
    (state.diff && is_file).then(|| between(&scope(file, state), old(state), gone).0)
}

fn scope<'a>(file: &'a DesiredFile, state: &'a FileState) -> DiffScope<'a> {
    DiffScope {
        path: &file.path,
        sensitive: file.sensitive,
        holds_secret: state.holds_secret,
        size: state.found.target.as_ref().map_or(0, |target| target.size).max(state.desired.size),
        hidden_lines: &state.hidden_lines,
    }
}

fn old(state: &FileState) -> Side<'_> {
    let target: Option<&FileInfo> =
        state.found.target.as_ref().filter(|target| target.kind == FileKind::File);
    match target {
        Some(target) => {
            Side { exists: true, sha256: target.sha256.as_deref(), content: target.content.as_deref() }
        }
        None => Side { exists: false, sha256: None, content: Some(&[]) },
    }
}
