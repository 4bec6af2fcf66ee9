//! Ends of the pieces of a path: brackets, quotes and escapes are matched, nothing is interpreted.

use std::ops::Range;

/// Returns the end of a name: the first dot or pipe that is not escaped.
pub(super) fn name_end(text: &str, range: Range<usize>) -> usize {
    let bytes = text.as_bytes();
    let Range { start: mut at, end } = range;
    while at < end {
        match bytes[at] {
            b'.' | b'|' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    end
}

/// Returns the end of a stage: the first pipe outside brackets and quotes that is not escaped.
pub(super) fn stage_end(text: &str, range: Range<usize>) -> usize {
    let bytes = text.as_bytes();
    let Range { start: mut at, end } = range;
    let mut before = b'.';
    while at < end {
        let here = bytes[at];
        // A bracket in the middle of a name is part of the name.
        let opens = match here {
            b'{' | b'[' | b'"' => matches!(before, b'.' | b':' | b'!' | b'#'),
            b'(' => before == b'#',
            _ => false,
        };
        match here {
            b'|' => return at,
            b'\\' => at += 2,
            _ if opens => at = bracketed(text, at..end).unwrap_or(end),
            _ => at += 1,
        }
        before = here;
    }
    end
}

/// Returns the end of a bracketed or quoted text, behind its closing mark; `None` if it is not closed.
pub(super) fn bracketed(text: &str, range: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let Range { start: mut at, end } = range;
    let mut depth = 0_usize;
    while at < end {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => at = closing_quote(bytes, at, end)?,
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return (at <= end).then_some(at);
        }
    }
    None
}

fn closing_quote(bytes: &[u8], open: usize, end: usize) -> Option<usize> {
    let mut at = open + 1;
    while at < end {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

pub(super) struct QueryBounds {
    pub(super) operator: Option<usize>,
    pub(super) close: usize,
}

/// Finds operator and closing bracket of a query whose `#` begins the range; `None` if it is not closed.
pub(super) fn query_bounds(text: &str, range: Range<usize>) -> Option<QueryBounds> {
    let bytes = text.as_bytes();
    let Range { start, end } = range;
    let mut operator = None;
    let mut depth = 1_usize;
    let mut at = start + 2;
    while at < end {
        match bytes[at] {
            b'!' | b'=' | b'<' | b'>' | b'%' if depth == 1 && operator.is_none() => operator = Some(at),
            b'\\' => at += 1,
            b'[' | b'(' => depth += 1,
            b']' | b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(QueryBounds { operator, close: at });
                }
            }
            b'"' => at = closing_quote(bytes, at, end)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Selector: the range of its name, if any, and the range of its path.
type Selector = (Option<Range<usize>>, Range<usize>);

/// Finds the selectors in the brackets at the beginning of the range, and the closing bracket.
pub(super) fn selectors(text: &str, range: Range<usize>) -> Option<(Vec<Selector>, usize)> {
    let bytes = text.as_bytes();
    let Range { start: open, end } = range;
    let mut selectors = Vec::new();
    let (mut depth, mut start, mut at) = (1_usize, open + 1, open + 1);
    let mut colon = None;
    // The colon after a modifier belongs to the modifier.
    let mut in_modifier = false;
    while at < end {
        let here = bytes[at];
        if depth == 1 && matches!(here, b',' | b']' | b')' | b'}') {
            selectors.push(match colon.take() {
                Some(colon) => (Some(start..colon), colon + 1..at),
                None => (None, start..at),
            });
            if here != b',' {
                return Some((selectors, at));
            }
            in_modifier = false;
            start = at + 1;
        }
        match here {
            b'\\' => at += 1,
            b'@' if matches!(bytes[at - 1], b'.' | b'|') => in_modifier = true,
            b':' if depth == 1 && !in_modifier && colon.is_none() => colon = Some(at),
            b'"' => at = closing_quote(bytes, at, end)?,
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}
