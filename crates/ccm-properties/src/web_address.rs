//! Recognition of web addresses among paths.

/// Returns `true` if a property that takes a path or a URL holds a URL: it begins with `http://` or `https://`.
pub fn is_web_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// Returns `true` for a URL of any scheme. No property takes such a text as a path.
pub fn is_any_url(text: &str) -> bool {
    text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_not_paths() {
        for (text, expected) in [
            ("https://example.com/a", true),
            ("HTTP://example.com", true),
            ("ftp://example.com", false),
            ("/srv/http://a", false),
            ("https:/a", false),
        ] {
            assert_eq!(is_web_address(text), expected, "{text}");
        }
    }
}
