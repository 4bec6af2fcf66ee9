//! Paths and queries of requests.

/// Returns a query of the parameters that have a value.
pub(crate) fn query(parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = String::new();
    for (name, value) in parameters {
        let Some(value) = value else { continue };
        query.push(if query.is_empty() { '?' } else { '&' });
        query.extend([name, "="]);
        query += &encoded(value, false);
    }
    query
}

/// Returns a part of a path, such as the name of an image, whose slashes stay.
pub(crate) fn path_segment(text: &str) -> String {
    encoded(text, true)
}

fn encoded(text: &str, keeps_slashes: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            b'/' | b':' | b'@' if keeps_slashes => encoded.push(byte.into()),
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        assert_eq!(query(&[("a", None)]), "");
        assert_eq!(
            query(&[("a", Some("x y")), ("b", None), ("c", Some("{\"ä\"}"))]),
            "?a=x%20y&c=%7B%22%C3%A4%22%7D"
        );
        assert_eq!(path_segment("registry:5000/a/b@sha256:0 ?"), "registry:5000/a/b@sha256:0%20%3F");
    }
}
