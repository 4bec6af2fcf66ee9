//! Filters that encode and decode.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, Value};
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::super::error::TemplateFault;
use super::super::error_conversion::RaisedFault;
use super::super::meter::add_counted;
use super::super::values::{from_json, text_of};
use super::{only_text, refused, text_argument};

pub(super) fn add_filters(environment: &mut Environment<'static>) {
    add_counted(environment, "urlencode", url_encoded);
    add_counted(environment, "b64encode", |text: Value| {
        Ok::<_, Error>(STANDARD.encode(only_text("b64encode", &text)?))
    });
    add_counted(environment, "b64decode", |text: Value| {
        let bytes = STANDARD.decode(only_text("b64decode", &text)?);
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        text.ok_or_else(|| refused("this is no text in base64"))
    });
    add_counted(environment, "from_json", |text: Value| {
        let json = serde_json::from_str(only_text("from_json", &text)?);
        json.map(|json: serde_json::Value| from_json(&json)).map_err(|_| refused("this is no JSON"))
    });
    add_counted(environment, "hash", hash);
}

fn hash(text: Value, algorithm: Option<String>) -> Result<String, Error> {
    let mut written = String::new();
    let text = text_argument("hash", &text, &mut written)?.as_bytes();
    let hex = |bytes: &[u8]| bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    Ok(match algorithm.as_deref().unwrap_or("sha1") {
        "sha1" => hex(&Sha1::digest(text)),
        "sha224" => hex(&Sha224::digest(text)),
        "sha256" => hex(&Sha256::digest(text)),
        "sha384" => hex(&Sha384::digest(text)),
        "sha512" => hex(&Sha512::digest(text)),
        _ => {
            let fault = TemplateFault::Operation("`hash` does not know this algorithm".to_owned());
            let hint = "write `hash(\"sha1\")`, or sha224, sha256, sha384 or sha512";
            return Err(RaisedFault::new(fault).with_hint(hint).into());
        }
    })
}

/// Encodes a text for a path of a URL, or a map or pairs for its query.
fn url_encoded(value: Value) -> Result<String, Error> {
    super::require(&value)?;
    let is_collection = matches!(value.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Iterable);
    if !is_collection {
        return Ok(percent_encoded(&value.to_string(), "/", "%20"));
    }
    let mut query = String::new();
    for element in value.try_iter()? {
        let (key, value) = match value.kind() {
            ValueKind::Map => (element.clone(), value.get_item(&element)?),
            _ if element.len() != Some(2) || element.kind() != ValueKind::Seq => {
                return Err(refused("`urlencode` takes a text, a map, or a list of pairs"));
            }
            _ => (element.get_item(&Value::from(0))?, element.get_item(&Value::from(1))?),
        };
        if !query.is_empty() {
            query.push('&');
        }
        let encoded = |part: &Value| Ok::<_, Error>(percent_encoded(&text_of(part)?, "", "+"));
        query += &format!("{}={}", encoded(&key)?, encoded(&value)?);
    }
    Ok(query)
}

fn percent_encoded(text: &str, safe: &str, blank: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let letter = char::from(byte);
        match byte {
            b' ' => encoded += blank,
            _ if letter.is_ascii_alphanumeric() || "_.-~".contains(letter) => encoded.push(letter),
            _ if safe.contains(letter) => encoded.push(letter),
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}
