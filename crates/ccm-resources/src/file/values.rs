//! Property values with a syntax of their own.

#[cfg(feature = "archive")]
use ccm_host::HttpUrl;
use ccm_model::{Diagnostic, Node, closest};
use ccm_properties::{PropertyKind, PropertyValue, TextKind, TextValue, ValueError, is_web_address, octal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileMode(pub u32);

impl FileMode {
    /// Returns the mode for a directory: users who may read or write it may enter it.
    pub(crate) fn for_directory(self) -> u32 {
        [0, 3, 6]
            .into_iter()
            .filter(|shift| self.0 >> shift & 0o6 != 0)
            .fold(self.0, |mode, shift| mode | 1 << shift)
    }
}

impl PropertyValue for FileMode {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::DIGITS.matching("^(0o)?[0-7]+$"));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        octal(node, ("mode", "0644"), errors, mode)
    }
}

fn mode(text: &str) -> Result<FileMode, ValueError> {
    let shown = text.escape_debug();
    let digits = text.strip_prefix("0o").unwrap_or(text);
    let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if !is_octal {
        let error = ValueError::new(format!("`{shown}` is not a mode in octal digits"));
        let number = text.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16));
        if let Some(octal) = number.and_then(Result::ok).filter(|number| *number <= 0o7777) {
            return Err(error.with_hint(format!("write `{octal:04o}`")));
        }
        let symbolic = text.contains(['+', '=', ',']) || text.contains(['r', 'w', 'x']);
        let hint = if symbolic {
            "write an octal mode like `0644`: symbolic modes are not supported"
        } else {
            "write a mode like `0644`"
        };
        return Err(error.with_hint(hint));
    }
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if mode <= 0o7777 => Ok(FileMode(mode)),
        _ => Err(ValueError::new(format!("`{shown}` is too large for a mode; the maximum is `7777`"))),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePath(pub String);

impl TextValue for SourcePath {
    const KIND: PropertyKind = PropertyKind::Text(TextKind { min_length: 1, ..TextKind::ANY });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "" => Err(ValueError::new("the path is empty")),
            _ if text.contains('\0') => Err(ValueError::new("the path contains a NUL character")),
            _ if text.starts_with('~') => {
                Err(ValueError::new("`~` is not expanded").with_hint("write the full path"))
            }
            _ if text.contains("://") => {
                let error = ValueError::unsupported("this URL is not supported as `source`");
                Err(error.with_hint("use a local path; a `file` can also have a URL with `https` or `http`"))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }
}

/// Local file, or a file of a web server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileSource {
    Local(SourcePath),
    #[cfg(feature = "archive")]
    Web(HttpUrl),
}

impl TextValue for FileSource {
    const KIND: PropertyKind = <SourcePath as TextValue>::KIND;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if !is_web_address(text) {
            let scheme = text.split_once("://").map(|(scheme, _)| scheme);
            if let Some(near) = scheme.and_then(|scheme| closest(scheme, ["https", "http"])) {
                let error = ValueError::unsupported("this URL is not supported as `source`");
                return Err(error.with_hint(format!("did you mean `{near}://`?")));
            }
            return SourcePath::from_text(text).map(Self::Local);
        }
        #[cfg(feature = "archive")]
        return web_source(text);
        #[cfg(not(feature = "archive"))]
        Err(ValueError::unsupported("this ccm was built without downloads")
            .with_hint("use the path of a local file"))
    }
}

#[cfg(feature = "archive")]
fn web_source(text: &str) -> Result<FileSource, ValueError> {
    let hint = "write a URL like `https://example.com/app.conf`, with `%20` for a blank";
    let url = HttpUrl::parse(text).map_err(|error| ValueError::new(error.to_string()).with_hint(hint))?;
    if url.credentials().is_some() {
        // A property is shown as it is written.
        let error = ValueError::new("the URL holds a user or a password");
        return Err(error.with_hint("use an `archive`, which has `username` and `password`"));
    }
    Ok(FileSource::Web(url))
}

/// Text of a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkTarget(pub String);

impl TextValue for LinkTarget {
    const KIND: PropertyKind = PropertyKind::Text(TextKind { min_length: 1, ..TextKind::ANY });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "" => Err(ValueError::new("the target is empty")),
            _ if text.contains(['\0', '\n']) => {
                Err(ValueError::new("the target contains a NUL character or a line end"))
            }
            _ if text.starts_with('~') => {
                Err(ValueError::new("`~` is not expanded").with_hint("write the full path"))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FileMode;

    #[test]
    fn directories_get_x_wherever_r_or_w_is_set() {
        for (file, directory) in [
            (0o644, 0o755),
            (0o600, 0o700),
            (0o640, 0o750),
            (0o000, 0o000),
            (0o222, 0o333),
            (0o1777, 0o1777),
            (0o2660, 0o2770),
            (0o711, 0o711),
        ] {
            assert_eq!(FileMode(file).for_directory(), directory, "{file:o}");
        }
    }
}
