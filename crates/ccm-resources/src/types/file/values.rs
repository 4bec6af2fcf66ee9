//! Property values with a syntax of their own.

#[cfg(feature = "archive")]
use ccm_fetch::HttpUrl;
use ccm_model::closest;
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError, is_web_address};

use crate::support::values::source_path::SourcePath;

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
