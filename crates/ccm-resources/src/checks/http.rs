//! Answers of web servers.

use std::time::Duration;

use ccm_check::{Attribute, Fact, FactError, HttpRequest, Rule};

use super::CheckScope;
use super::observation::{Observation, no_attribute};

/// Maximum length of a body in bytes.
#[cfg(feature = "archive")]
const MAX_BODY: u64 = 4 << 20;

/// Answer of a web server.
pub(super) struct Answer {
    status: u16,
    headers: String,
    body: Result<String, FactError>,
}

impl Observation for Answer {
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError> {
        match attribute {
            Attribute::Status => Ok(i64::from(self.status).into()),
            Attribute::Headers => Ok((&*self.headers).into()),
            Attribute::Body => self.body.as_deref().map(Fact::from).map_err(Clone::clone),
            other => Err(no_attribute(other)),
        }
    }
}

/// Sends the request of a rule. The body is read if the rule judges it.
#[cfg(feature = "archive")]
pub(super) async fn observe(
    rule: &Rule,
    request: &HttpRequest,
    limit: Duration,
    scope: &CheckScope<'_>,
) -> Result<Answer, FactError> {
    use ccm_fetch::{
        ClientCertificate, HeaderField, HttpCredentials, HttpUrl, ProxySettings, ask_web_server,
    };

    use super::observation::unreadable;

    let at = |path: &String| scope.directory.join(path);
    let failed = |error: &ccm_fetch::HttpError| unreadable(ccm_model::error_layers(error).join(": "));
    let url = HttpUrl::parse(&request.url).map_err(|error| unreadable(error.to_string()))?;
    let proxies = match &request.proxy {
        Some(proxy) => ProxySettings::always(proxy),
        None => ProxySettings::of_environment(&scope.host.system.inherited_environment()),
    };
    scope.secrets.add(proxies.passwords());
    let headers = request.headers.iter().cloned();
    let sent = ccm_fetch::HttpRequest {
        method: request.method.clone(),
        body: request.body.clone().unwrap_or_default().into_bytes(),
        headers: headers.map(|(name, value)| HeaderField { name, value }).collect(),
        credentials: request.username.clone().map(|username| HttpCredentials {
            username,
            password: request.password.clone().unwrap_or_default(),
        }),
        ca_file: request.ca_file.as_ref().map(at),
        client_certificate: request.cert_file.as_ref().map(|certificate| ClientCertificate {
            certificate: at(certificate),
            key: at(request.key_file.as_ref().unwrap_or(certificate)),
        }),
        trusts_any_certificate: request.allow_insecure,
        follows_redirects: !request.no_follow_redirects,
        waits_for_busy_server: false,
        proxies,
        timeout: Some(limit),
        idle_timeout: limit,
        ..ccm_fetch::HttpRequest::new(url, MAX_BODY)
    };
    let wants_body = rule.assertion(Attribute::Body).is_some();
    let answer = ask_web_server(sent, wants_body, scope.cancellation).await;
    let answer = answer.map_err(|error| match error {
        ccm_fetch::HttpError::Cancelled => super::observation::stopped(),
        error => failed(&error),
    })?;
    let mut headers: Vec<String> =
        answer.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    headers.sort();
    let body = answer.body.unwrap_or_else(|| Ok(Vec::new()));
    Ok(Answer {
        status: answer.status,
        headers: headers.join("\n"),
        body: body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|error| failed(&error)),
    })
}

/// Returns the reason why no request can be sent.
#[cfg(not(feature = "archive"))]
pub(super) fn observe(
    _: &Rule,
    _: &HttpRequest,
    _: Duration,
    _: &CheckScope<'_>,
) -> impl Future<Output = Result<Answer, FactError>> {
    let reason = "this build of ccm has no client of web servers";
    std::future::ready(Err(FactError::Unsupported(reason.to_owned())))
}
