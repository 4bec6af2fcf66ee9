//! Proxies, as the environment of ccm names them.

use std::net::IpAddr;

use super::url::{HttpCredentials, HttpUrl, parse_address, parse_credentials};
use super::{HttpError, UrlError};

/// Proxies for `http` and `https`, and hosts that are reached without them.
///
/// `http_proxy`, `https_proxy` and `no_proxy` are read, and the latter two in upper case too. `HTTP_PROXY` is not,
/// because a web server sets such a variable from a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxySettings {
    http: Option<String>,
    https: Option<String>,
    exceptions: Vec<String>,
}

/// Proxy that speaks HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proxy {
    pub host: String,
    pub port: u16,
    pub credentials: Option<HttpCredentials>,
}

impl ProxySettings {
    /// Reads the settings from variables of an environment.
    pub fn of_environment(environment: &[(String, String)]) -> Self {
        let variable = |names: &[&str]| {
            let value = names.iter().find_map(|name| environment.iter().find(|(key, _)| key == name));
            value.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let exceptions = variable(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Self {
            http: variable(&["http_proxy"]),
            https: variable(&["https_proxy", "HTTPS_PROXY"]),
            exceptions: exceptions
                .split([',', ' '])
                .filter(|part| !part.is_empty())
                .map(str::to_ascii_lowercase)
                .collect(),
        }
    }

    /// Sends everything through one proxy.
    pub fn always(proxy: &str) -> Self {
        let proxy = Some(proxy.to_owned());
        Self { http: proxy.clone(), https: proxy, exceptions: Vec::new() }
    }

    /// Returns the passwords of the proxies, which must not be shown.
    pub fn passwords(&self) -> Vec<String> {
        let proxies = [(&self.http, "http_proxy"), (&self.https, "https_proxy")];
        let credentials = proxies.into_iter().filter_map(|(text, variable)| {
            parse(text.as_deref()?, variable).ok()?.credentials.map(|credentials| credentials.password)
        });
        credentials.collect()
    }

    /// Returns the proxy for an address.
    pub(super) fn proxy_for(&self, url: &HttpUrl) -> Result<Option<Proxy>, HttpError> {
        let (text, variable) =
            if url.is_https() { (&self.https, "https_proxy") } else { (&self.http, "http_proxy") };
        match text {
            Some(text) if !self.is_exception(url) => parse(text, variable).map(Some),
            _ => Ok(None),
        }
    }

    fn is_exception(&self, url: &HttpUrl) -> bool {
        self.exceptions.iter().any(|exception| matches(exception, url.host(), url.port()))
    }
}

fn parse(text: &str, variable: &'static str) -> Result<Proxy, HttpError> {
    let invalid = |reason| HttpError::ProxyVariable { variable, reason };
    let text = match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some(_) => return Err(invalid("only proxies with `http://` are supported")),
        None => text,
    };
    let text = text.split('/').next().unwrap_or_default();
    let (credentials, address) = match text.rsplit_once('@') {
        Some((credentials, address)) => (Some(credentials), address),
        None => (None, text),
    };
    let wrong = |error: UrlError| match error {
        UrlError::Port => invalid("the port is not valid"),
        UrlError::Credentials => invalid("the user or password is not encoded correctly"),
        _ => invalid("the host is not valid"),
    };
    let credentials = credentials.map(parse_credentials).transpose().map_err(wrong)?;
    let (host, port) = parse_address(address).map_err(wrong)?;
    // curl's port of a proxy without one.
    Ok(Proxy { host, port: port.unwrap_or(1080), credentials })
}

/// Returns `true` if an entry of `no_proxy` means a host: `*`, a name with the names below it, an address, or a
/// network such as `10.0.0.0/8`; each but `*` and a network may have a port.
fn matches(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let address = host.parse::<IpAddr>().ok();
    if let Some((network, length)) = entry.split_once('/') {
        let network = network.parse::<IpAddr>().ok().zip(length.parse().ok());
        return network.zip(address).is_some_and(|((network, length), host)| contains(network, length, host));
    }
    if let Some(address) = address
        && let Ok(entry) = entry.trim_matches(['[', ']']).parse::<IpAddr>()
    {
        return entry == address;
    }
    let Ok((name, wanted_port)) = parse_address(entry.trim_start_matches(['*', '.'])) else { return false };
    let is_name = host == name || host.strip_suffix(&*name).is_some_and(|below| below.ends_with('.'));
    wanted_port.is_none_or(|wanted| wanted == port) && is_name
}

fn contains(network: IpAddr, length: u32, host: IpAddr) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32_u32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let ((network, width), (host, host_width)) = (bits(network), bits(host));
    let shift = width.checked_sub(length);
    let shifted = |bits: u128, shift| bits.checked_shr(shift).unwrap_or_default();
    width == host_width && shift.is_some_and(|shift| shifted(network, shift) == shifted(host, shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> ProxySettings {
        let variables: Vec<(String, String)> =
            variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        ProxySettings::of_environment(&variables)
    }

    fn proxy_of(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let proxy = settings(variables).proxy_for(&HttpUrl::parse(url).expect("a URL")).expect("a proxy");
        proxy.map(|proxy| format!("{}:{}", proxy.host, proxy.port))
    }

    #[test]
    fn the_scheme_chooses_the_variable() {
        let variables =
            [("http_proxy", "http://plain:3128"), ("HTTPS_PROXY", "tls:8080"), ("HTTP_PROXY", "x:1")];
        assert_eq!(proxy_of(&variables, "http://a/").as_deref(), Some("plain:3128"));
        assert_eq!(proxy_of(&variables, "https://a/").as_deref(), Some("tls:8080"));
        assert_eq!(proxy_of(&variables[2..], "http://a/"), None);
    }

    #[test]
    fn exceptions_are_reached_without_a_proxy() {
        for (no_proxy, url, is_exception) in [
            ("example.com", "http://example.com/", true),
            ("example.com", "http://www.example.com/", true),
            (".example.com", "http://www.example.com/", true),
            ("*.example.com", "http://www.example.com/", true),
            ("example.com", "http://badexample.com/", false),
            ("example.com:8080", "http://example.com:8080/", true),
            ("example.com:8080", "http://example.com/", false),
            ("a, b,c", "http://b/", true),
            ("*", "http://anything/", true),
            ("127.0.0.1", "http://127.0.0.1:8080/", true),
            ("10.0.0.0/8", "http://10.1.2.3/", true),
            ("10.0.0.0/8", "http://11.1.2.3/", false),
            ("0.0.0.0/0", "http://11.1.2.3/", true),
            ("::1", "http://[::1]/", true),
            ("fd00::/8", "http://[fd01::1]/", true),
            ("10.0.0.0/99", "http://10.1.2.3/", false),
            ("", "http://a/", false),
        ] {
            let found = proxy_of(&[("http_proxy", "p:1"), ("NO_PROXY", no_proxy)], url);
            assert_eq!(found.is_none(), is_exception, "{no_proxy} {url}");
        }
    }

    #[test]
    fn other_proxies_are_refused_without_their_password() {
        let of = |text: &str| settings(&[("https_proxy", text)]);
        let url = HttpUrl::parse("https://a/").expect("a URL");
        for text in ["socks5://u:secret@p:1", "https://u:secret@p", "http://u:secret@p:x"] {
            let error = of(text).proxy_for(&url).expect_err("an error").to_string();
            assert!(error.contains("https_proxy") && !error.contains("secret"), "{error}");
        }
        assert_eq!(of("http://u:s%40cret@p:1/").passwords(), ["s@cret"]);
    }
}
