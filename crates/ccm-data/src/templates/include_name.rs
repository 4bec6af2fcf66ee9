//! Names of included templates.

/// Removes `.` and empty parts from a name. Returns `None` for an empty or absolute name, or one with `..` or a
/// NUL.
pub(super) fn normalized(name: &str) -> Option<String> {
    if name.starts_with('/') || name.contains('\0') {
        return None;
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (!parts.is_empty() && !parts.contains(&"..")).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn names_stay_within_the_directory() {
        for (name, expected) in [
            ("a.j2", Some("a.j2")),
            ("./a//b/./c.j2", Some("a/b/c.j2")),
            ("..a/b..", Some("..a/b..")),
            ("/etc/shadow", None),
            ("../a", None),
            ("a/../b", None),
            ("a/..", None),
            ("", None),
            (".", None),
            ("a\0b", None),
        ] {
            assert_eq!(normalized(name).as_deref(), expected, "{name:?}");
        }
    }
}
