//! Property values of downloads, which `archive` and `file` have in common, and the download itself.

use std::path::Path;
use std::time::Duration;

use ccm_engine::Context;
use ccm_fetch::{Downloaded, HeaderField, HttpError, HttpRequest, HttpUrl, ProxySettings, download};
use ccm_host::StagedFile;
use ccm_model::{Diagnostic, DiagnosticKind, Failure, FailureKind, Node, NodeMap, escape_control};
use ccm_properties::{PropertyKind, PropertyValue, Text, TextKind, TextValue, ValueError, expected};

/// Maximum size of a download, unless the manifest says otherwise.
pub(crate) const MAX_SIZE: u64 = 4 << 30;

/// Time limit of a download, unless the manifest says otherwise.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(3600);

/// Address of a file on a web server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebAddress(pub HttpUrl);

impl TextValue for WebAddress {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("^[Hh][Tt][Tt][Pp][Ss]?://\\S+$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let hint = "write a URL like `https://example.com/app.tar.gz`, with `%20` for a blank";
        let url = HttpUrl::parse(text).map_err(|error| ValueError::new(error.to_string()).with_hint(hint))?;
        if url.credentials().is_some() {
            // A property is shown as it is written.
            let error = ValueError::new("the URL holds a user or a password");
            return Err(error.with_hint("write them as `username` and `password`"));
        }
        Ok(Self(url))
    }
}

/// Fields of the header of a request, as a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headers(pub Vec<HeaderField>);

impl PropertyValue for Headers {
    const KIND: PropertyKind = PropertyKind::Map {
        keys: Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"),
        values: &PropertyKind::Text(TextKind::ANY),
        min: 0,
    };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let before = errors.len();
        let Some(map) = node.as_map() else {
            errors.push(expected("a map of header fields", node));
            return None;
        };
        let fields = decode_fields(map, errors);
        (errors.len() == before).then_some(Self(fields))
    }
}

fn decode_fields(map: &NodeMap, errors: &mut Vec<Diagnostic>) -> Vec<HeaderField> {
    let mut fields = Vec::new();
    for entry in map.entries() {
        let name = &*entry.key.text;
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty() || !name.bytes().all(is_token) {
            let message = format!("`{}` is not the name of a header field", escape_control(name));
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, entry.key.span, message));
            continue;
        }
        // ccm sets these itself, and a transfer would break with others.
        let own = ["host", "content-length", "transfer-encoding", "connection", "range", "if-range"];
        if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            let message = format!("the header field `{name}` is set by ccm");
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, entry.key.span, message));
            continue;
        }
        let Some(Text(value)) = Text::decode(&entry.value, errors) else { continue };
        if value.bytes().any(|byte| byte.is_ascii_control() || !byte.is_ascii()) {
            let message =
                format!("the value of the header field `{name}` holds a character that is not allowed");
            errors.push(Diagnostic::error(DiagnosticKind::InvalidValue, entry.value.span, message));
            continue;
        }
        fields.push(HeaderField { name: name.to_owned(), value });
    }
    fields
}

/// Returns the proxies of this machine, and hides their passwords.
pub(crate) fn proxies(context: &Context<'_>) -> ProxySettings {
    let proxies = ProxySettings::of_environment(&context.host.system.inherited_environment());
    context.secrets.add(proxies.passwords());
    proxies
}

/// Advice on an error, in the terms of a resource type.
pub(crate) type Advice = fn(&HttpError) -> Option<&'static str>;

/// Downloads a file to a new one beside its place.
pub(crate) async fn fetch(
    request: HttpRequest,
    into: &StagedFile,
    advice: Advice,
    context: &mut Context<'_>,
) -> Result<Downloaded, Failure> {
    let file = into.open().map_err(|error| crate::support::file_failure::file_failure(&error))?;
    let last_line = context.host.executor.last_line().cloned();
    let shown = request.url.to_string();
    let shown = shown.rsplit('/').next().unwrap_or_default().to_owned();
    let line = last_line.clone();
    let on_progress = move |bytes, total| {
        if let Some(line) = &line {
            line.set(&progress(&shown, bytes, total));
        }
    };
    let downloaded = download(request, file, context.cancellation, Box::new(on_progress)).await;
    if let Some(line) = last_line {
        line.clear();
    }
    let downloaded = downloaded.map_err(|error| failure(&error, into.path(), advice))?;
    if downloaded.resumed > 0 {
        let times =
            if downloaded.resumed == 1 { "once".to_owned() } else { format!("{} times", downloaded.resumed) };
        context.note(format!("the transfer broke off and was continued {times}"));
    }
    Ok(downloaded)
}

/// Returns the failure of a download that is not the expected file. `property` names the checksum.
pub(crate) fn wrong_checksum(
    url: &HttpUrl,
    property: &'static str,
    expected: &str,
    downloaded: &Downloaded,
) -> Failure {
    let message = format!("the checksum is {}, not {expected}", downloaded.sha256);
    Failure::new(FailureKind::Change, message)
        .because_of(format!("{url} is not the file that was expected"))
        .of_property(property)
        .with_hint("find out why the file on the server has changed before you change the checksum")
}

/// Returns the progress in words, such as `app.tar.gz: 12.5 MiB of 98.2 MiB (12%)`.
fn progress(name: &str, bytes: u64, total: Option<u64>) -> String {
    let shown = bytesize::ByteSize(bytes);
    match total.filter(|total| *total > 0) {
        Some(total) => {
            let percent = u128::from(bytes) * 100 / u128::from(total);
            format!("{name}: {shown} of {} ({percent}%)", bytesize::ByteSize(total))
        }
        None => format!("{name}: {shown}"),
    }
}

/// Returns the failure of a download to a path.
fn failure(error: &HttpError, path: &Path, advice: Advice) -> Failure {
    let kind = match error {
        HttpError::Cancelled => FailureKind::Stopped,
        HttpError::TimedOut { .. } => FailureKind::Timeout,
        HttpError::Write(_) | HttpError::Thread(_) => FailureKind::Change,
        _ => FailureKind::Read,
    };
    let failure = Failure::from_error(kind, error);
    let failure = match error {
        HttpError::Write(_) => failure.because_of(format!("\"{}\" could not be written", path.display())),
        _ => failure,
    };
    advice(error).into_iter().fold(failure, Failure::with_hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_with_or_without_a_total() {
        assert_eq!(progress("a", 1024, Some(4096)), "a: 1.0 KiB of 4.0 KiB (25%)");
        assert_eq!(progress("a", 1024, None), "a: 1.0 KiB");
        assert_eq!(progress("a", 0, Some(0)), "a: 0 B");
    }
}
