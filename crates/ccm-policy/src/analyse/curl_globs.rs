//! Globs of curl: `{a,b}` and `[a-z]` in an address stand for several addresses.

/// Maximum number of addresses of a glob.
const MAX: usize = 64;

/// Returns the addresses that curl reads from one. Of a glob that stands for too many, only the first ones are returned.
pub(super) fn expand(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let tail = rest.get(character.len_utf8()..).unwrap_or_default();
        let (parts, behind) = match character {
            '\\' if tail.starts_with(['{', '}', '[', ']']) => {
                (vec![tail.get(..1).unwrap_or_default().to_owned()], tail.get(1..).unwrap_or_default())
            }
            '{' => match tail.split_once('}') {
                Some((inner, behind)) => (inner.split(',').map(str::to_owned).collect(), behind),
                None => (vec![character.to_string()], tail),
            },
            '[' => match tail.split_once(']').and_then(|(inner, behind)| Some((range(inner)?, behind))) {
                Some(found) => found,
                None => (vec![character.to_string()], tail),
            },
            _ => (vec![character.to_string()], tail),
        };
        all = all
            .iter()
            .flat_map(|start| parts.iter().map(move |part| format!("{start}{part}")))
            .take(MAX)
            .collect();
        rest = behind;
    }
    all
}

/// Returns the members of a range such as `a-z`, `1-10` and `1-10:2`.
fn range(text: &str) -> Option<Vec<String>> {
    let (range, step) = text.split_once(':').unwrap_or((text, "1"));
    let step: usize = step.parse().ok().filter(|step| *step > 0)?;
    let (first, last) = range.split_once('-')?;
    if let (Ok(from), Ok(to)) = (first.parse::<u32>(), last.parse::<u32>()) {
        let width = first.len();
        return Some((from..=to).step_by(step).take(MAX).map(|number| format!("{number:0width$}")).collect());
    }
    let mut letters = (first.chars(), last.chars());
    let (from, to) = (letters.0.next()?, letters.1.next()?);
    if letters.0.next().is_some() || letters.1.next().is_some() {
        return None;
    }
    Some((from..=to).step_by(step).take(MAX).map(|letter| letter.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_stand_for_several_addresses() {
        for (text, expected) in [
            ("x{a,b}y", &["xay", "xby"][..]),
            ("[a-c]", &["a", "b", "c"]),
            ("[a-c:2]", &["a", "c"]),
            ("[08-10]", &["08", "09", "10"]),
            ("{a}[1-2]", &["a1", "a2"]),
            ("[::1]", &["[::1]"]),
            ("\\{a\\}", &["{a}"]),
            ("{a", &["{a"]),
        ] {
            assert_eq!(expand(text), expected, "{text}");
        }
        assert_eq!(expand("[1-9999][1-9999]").len(), MAX);
    }
}
