//! Logins at registries, from the file in which the client of Docker keeps them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ccm_host::{ConfigurationError, read_unnamed};
use ccm_model::{decode_base64, encode_base64};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::reference::DEFAULT_REGISTRY;

/// Maximum size of the file, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// Key of the default registry in the file.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// Login at one registry.
#[derive(PartialEq, Eq)]
pub(crate) struct Login {
    /// Value of the header that hands the login to an Engine.
    pub header: String,
    /// Values that must not be shown.
    pub secrets: Vec<String>,
}

/// Prints no value.
impl std::fmt::Debug for Login {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Login").finish_non_exhaustive()
    }
}

/// Reason why no login is sent to a registry.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    /// The file can't be read, or another user may have written it.
    #[error(transparent)]
    Unreadable(#[from] ConfigurationError),
    /// The file has another form. The cause could quote a secret, so only its place is shown.
    #[error("\"{}\" is not the configuration of the docker command (line {line}, column {column})", path.display())]
    Malformed { path: PathBuf, line: usize, column: usize },
    /// An entry can't be decoded.
    #[error("the login for {registry} in \"{}\" is damaged", path.display())]
    Damaged { path: PathBuf, registry: String },
    /// Another program keeps the login.
    #[error(
        "the login for {registry} is kept by the program docker-credential-{helper}, which ccm does not run"
    )]
    Helper { registry: String, helper: String },
}

/// Configuration of the client of Docker, as far as it is about logins.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClientConfiguration {
    auths: BTreeMap<String, LoginEntry>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: String,
}

/// Login in the file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LoginEntry {
    /// Name and password, separated by a colon, in Base64.
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
    registrytoken: String,
}

/// Reads the login at a registry from a file. `None` if the file does not exist or has none.
pub(crate) fn read(path: &Path, registry: &str) -> Result<Option<Login>, LoginError> {
    match read_unnamed(path, MAX_FILE)? {
        Some(content) => find(path, &content, registry),
        None => Ok(None),
    }
}

fn find(path: &Path, content: &[u8], registry: &str) -> Result<Option<Login>, LoginError> {
    let malformed = |error: serde_json::Error| LoginError::Malformed {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
    };
    let configuration: ClientConfiguration = serde_json::from_slice(content).map_err(malformed)?;
    let ClientConfiguration { auths, cred_helpers, creds_store } = configuration;
    let kept_by =
        |helper: &str| LoginError::Helper { registry: registry.to_owned(), helper: helper.to_owned() };
    if let Some((_, helper)) = of_registry(&cred_helpers, registry) {
        return Err(kept_by(helper));
    }
    // A program that keeps logins leaves empty entries.
    if let Some((key, entry)) = of_registry(&auths, registry).filter(|(_, entry)| !entry.is_empty()) {
        let damaged = || LoginError::Damaged { path: path.to_owned(), registry: registry.to_owned() };
        return entry.login(key).ok_or_else(damaged).map(Some);
    }
    if creds_store.is_empty() { Ok(None) } else { Err(kept_by(&creds_store)) }
}

/// Finds the value for a registry, whose key may be a host or an address.
fn of_registry<'a, T>(values: &'a BTreeMap<String, T>, registry: &str) -> Option<(&'a str, &'a T)> {
    let of_hub = (registry == DEFAULT_REGISTRY).then_some(DOCKER_HUB);
    let exact = of_hub.and_then(|key| values.get_key_value(key)).or_else(|| values.get_key_value(registry));
    let same_host = || values.iter().find(|(key, _)| host(key) == of_hub.map_or(registry, host));
    exact.or_else(same_host).map(|(key, value)| (&**key, value))
}

/// Returns the host, with its port, of an address.
fn host(address: &str) -> &str {
    let rest =
        ["https://", "http://"].iter().find_map(|scheme| address.strip_prefix(scheme)).unwrap_or(address);
    rest.split_once('/').map_or(rest, |(host, _)| host)
}

impl LoginEntry {
    fn is_empty(&self) -> bool {
        [&self.auth, &self.username, &self.password, &self.identitytoken, &self.registrytoken]
            .iter()
            .all(|value| value.is_empty())
    }

    /// Returns the login; `None` if name and password can't be decoded.
    fn login(&self, key: &str) -> Option<Login> {
        let (mut user, mut password) = (self.username.clone(), self.password.clone());
        if !self.auth.is_empty() {
            let decoded = String::from_utf8(decode_base64(&self.auth)?).ok()?;
            let (own_user, own_password) = decoded.split_once(':')?;
            own_user.clone_into(&mut user);
            own_password.trim_end_matches('\0').clone_into(&mut password);
        }
        let fields = [
            ("username", &*user),
            ("password", &password),
            ("identitytoken", &self.identitytoken),
            ("registrytoken", &self.registrytoken),
            ("serveraddress", key),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let body: Map<String, Value> =
            fields.map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
        // The alphabet of addresses.
        let header =
            encode_base64(Value::Object(body).to_string().as_bytes()).replace('+', "-").replace('/', "_");
        let secrets = [&password, &self.auth, &self.identitytoken, &self.registrytoken, &header];
        let secrets = secrets.into_iter().filter(|value| !value.is_empty()).cloned().collect();
        Some(Login { header, secrets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(content: &str, registry: &str) -> String {
        match find(Path::new("/x/config.json"), content.as_bytes(), registry) {
            Ok(None) => "none".to_owned(),
            Ok(Some(login)) => {
                let text = login.header.replace('-', "+").replace('_', "/");
                String::from_utf8(decode_base64(&text).unwrap()).unwrap()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_login_of_a_registry_is_found_as_docker_finds_it() {
        // `ada:s:cret`
        const AUTH: &str = "YWRhOnM6Y3JldA==";
        let login = |key: &str| {
            format!("{{\"username\":\"ada\",\"password\":\"s:cret\",\"serveraddress\":\"{key}\"}}")
        };
        let with = |key: &str| format!("{{\"auths\": {{\"{key}\": {{\"auth\": \"{AUTH}\"}}}}}}");
        for (content, registry, expected) in [
            ("{}".to_owned(), "r.example", "none".to_owned()),
            (with("r.example"), "r.example", login("r.example")),
            (with("https://r.example/v2/"), "r.example", login("https://r.example/v2/")),
            (with("r.example:5000"), "r.example", "none".to_owned()),
            (with("r.example:5000"), "r.example:5000", login("r.example:5000")),
            (with(DOCKER_HUB), "docker.io", login(DOCKER_HUB)),
            (with("index.docker.io"), "docker.io", login("index.docker.io")),
            (with("docker.io"), "docker.io", login("docker.io")),
            (
                "{\"auths\": {\"r\": {\"username\": \"ada\", \"password\": \"s:cret\"}}}".to_owned(),
                "r",
                login("r"),
            ),
            (
                "{\"auths\": {\"r\": {\"identitytoken\": \"t\"}}}".to_owned(),
                "r",
                "{\"identitytoken\":\"t\",\"serveraddress\":\"r\"}".to_owned(),
            ),
            // An entry in the file is used even if a program keeps other logins.
            (with("r").replace("{\"auths", "{\"credsStore\": \"pass\", \"auths"), "r", login("r")),
        ] {
            assert_eq!(found(&content, registry), expected, "{content}");
        }
    }

    #[test]
    fn a_login_that_can_not_be_used_is_named_without_its_value() {
        for (content, expected) in [
            (
                "{\"auths\": {\"r\": {\"auth\": \"%%%%\"}}}",
                "the login for r in \"/x/config.json\" is damaged",
            ),
            (
                "{\"auths\": {\"r\": {\"auth\": \"YWRh\"}}}",
                "the login for r in \"/x/config.json\" is damaged",
            ),
            (
                "{\"auths\": \"hunter22\"}",
                "\"/x/config.json\" is not the configuration of the docker command (line 1, column 20)",
            ),
            ("", "\"/x/config.json\" is not the configuration of the docker command (line 1, column 0)"),
            (
                "{\"credHelpers\": {\"r\": \"ecr-login\"}, \"auths\": {\"r\": {\"auth\": \"YTpi\"}}}",
                "the login for r is kept by the program docker-credential-ecr-login, which ccm does not run",
            ),
            (
                "{\"credsStore\": \"pass\", \"auths\": {\"r\": {}}}",
                "the login for r is kept by the program docker-credential-pass, which ccm does not run",
            ),
        ] {
            assert_eq!(found(content, "r"), expected, "{content}");
        }
    }

    #[test]
    fn what_a_login_shows_is_known_as_secret() {
        let content = b"{\"auths\": {\"r\": {\"auth\": \"YWRhOnM6Y3JldA==\"}}}";
        let login = find(Path::new("/x"), content, "r").unwrap().unwrap();
        for secret in ["s:cret", "YWRhOnM6Y3JldA==", &login.header] {
            assert!(login.secrets.iter().any(|known| known == secret), "{secret}");
        }
        assert_eq!(format!("{login:?}"), "Login { .. }");
    }
}
