//! Where the pieces of a path end: brackets, quotes and escapes are honoured, nothing is understood.

use std::ops::Range;

/// Where a name ends: before a dot or a pipe that is not escaped.
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

/// Where a stage ends: before a pipe that stands in no brackets, in no quotes, and is not escaped.
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

/// Where what begins with a bracket or a quote ends, just after its counterpart; nothing if it does not end.
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

/// The places that matter in a query.
pub(super) struct QueryBounds {
    /// Where its operator begins, if it has one.
    pub(super) operator: Option<usize>,
    /// Where its closing bracket stands.
    pub(super) close: usize,
}

/// Finds the places in a query whose `#` stands at the beginning of the range; nothing if it is not closed.
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

/// A selector: the name written before its path, if any, and the path.
type Selector = (Option<Range<usize>>, Range<usize>);

/// Finds the selectors within the brackets at the beginning of the range, and where these close.
pub(super) fn selectors(text: &str, range: Range<usize>) -> Option<(Vec<Selector>, usize)> {
    let bytes = text.as_bytes();
    let Range { start: open, end } = range;
    let mut selectors = Vec::new();
    let (mut depth, mut start, mut at) = (1_usize, open + 1, open + 1);
    let mut colon = None;
    // The colon after a modifier belongs to it.
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
