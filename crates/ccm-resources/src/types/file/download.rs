//! Content from a web server.

use ccm_engine::Context;
use ccm_fetch::{HttpError, HttpRequest};
use ccm_host::{FileAttributes, StagedFile};
use ccm_model::Failure;

use super::desired::{DesiredFile, WebContent};
use crate::parts::web::{self, MAX_SIZE, TIMEOUT};
use crate::support::file_failure::file_failure;
use crate::support::secret_content::mark_secret;

/// Maximum size of content that is redacted everywhere.
const MAX_SECRET: u64 = 64 << 10;

/// File that was downloaded beside its place, and is the expected one.
pub(super) struct DownloadedFile {
    pub staged: StagedFile,
    pub size: u64,
}

/// Downloads the content of a file to a new file beside a path, and compares its checksum.
pub(super) async fn fetch(
    file: &DesiredFile,
    web: &WebContent,
    staged: StagedFile,
    context: &mut Context<'_>,
) -> Result<DownloadedFile, Failure> {
    let request = HttpRequest {
        proxies: web::proxies(context),
        timeout: Some(TIMEOUT),
        ..HttpRequest::new(web.url.clone(), MAX_SIZE)
    };
    let fetched = web::fetch(request, &staged, advice, context).await;
    let downloaded = fetched.map_err(|failure| failure.of_property("source"))?;
    if downloaded.sha256 != web.sha256 {
        return Err(web::wrong_checksum(&web.url, "checksum", &web.sha256, &downloaded));
    }
    if file.sensitive {
        let bytes = staged.content(MAX_SECRET).map_err(|error| file_failure(&error))?;
        mark_secret(&bytes.unwrap_or_default(), context.secrets);
    }
    Ok(DownloadedFile { staged, size: downloaded.size })
}

/// Downloads the content of a file beside its place.
pub(super) async fn stage(
    file: &DesiredFile,
    web: &WebContent,
    attributes: FileAttributes,
    context: &mut Context<'_>,
) -> Result<DownloadedFile, Failure> {
    let staged = context.host.files.stage(&file.path, attributes).map_err(|error| file_failure(&error))?;
    fetch(file, web, staged, context).await
}

/// Returns advice in the terms of a file, which has no properties for what only few downloads need.
fn advice(error: &HttpError) -> Option<&'static str> {
    Some(match error {
        HttpError::Status { code: 401 | 403 | 407, .. } => {
            "use an `archive`, which has `username`, `password` and `headers`"
        }
        HttpError::Status { code: 404 | 410, .. } => "check `source`",
        HttpError::Certificate { .. } => {
            "use an `archive`, which has `ca_file`, if the server has a certificate of a private authority"
        }
        HttpError::RedirectToHttp { .. } => "use the final address as `source`",
        HttpError::TooLarge { .. } => "use an `archive`, which has `max_size`",
        HttpError::TimedOut { .. } => "use an `archive`, which has `timeout`",
        _ => return error.hint(),
    })
}
