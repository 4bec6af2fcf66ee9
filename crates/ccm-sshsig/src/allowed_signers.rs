//! Files of allowed signers, as `ssh-keygen -Y` reads them.

use std::time::SystemTime;

use ccm_model::parse_timestamp;

use crate::key::{KeyFamily, SshKey};
use crate::patterns::matches_list;

/// Maximum number of lines with a key.
const MAX_SIGNERS: usize = 4096;
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// Returns the moment of a year, month and day, and of an hour, minute and second, in the time zone of the machine.
pub type LocalMoment<'a> = &'a dyn Fn((i16, i8, i8), (i8, i8, i8)) -> Option<SystemTime>;

/// File of allowed signers: keys, each with the names of its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedSigners {
    /// Keys in the order of the file.
    pub signers: Vec<AllowedSigner>,
}

/// Line of a file of allowed signers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedSigner {
    /// Number of the line, from 1.
    pub line: usize,
    /// Names of the owner: patterns, separated by commas.
    pub principals: String,
    /// Patterns of namespaces that the key may sign for; `None` is all of them.
    pub namespaces: Option<String>,
    /// First moment at which the key is valid.
    pub valid_after: Option<SystemTime>,
    /// Last moment at which the key is valid.
    pub valid_before: Option<SystemTime>,
    /// The key.
    pub key: SshKey,
}

/// Error of a line of a file of allowed signers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct SignersError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Kind of the error.
    pub kind: SignersErrorKind,
}

/// Kind of an error in a file of allowed signers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignersErrorKind {
    /// A quoted text has no end, or a quote stands within a name.
    #[error("a quote is not closed, or not at the beginning of a word")]
    Quote,
    /// The line names nobody.
    #[error("a principal is empty")]
    NoPrincipal,
    /// There is no key behind the names and options.
    #[error("expected a public key of OpenSSH")]
    NoKey,
    /// The key belongs to a certificate authority.
    #[error("`cert-authority` is not supported: list the key of each approver")]
    CertAuthority,
    /// The key is a certificate.
    #[error("a certificate is not supported: list the key of each approver")]
    Certificate,
    /// An option has another name than OpenSSH knows.
    #[error("unknown option {0:?}")]
    UnknownOption(String),
    /// An option stands there twice.
    #[error("option `{0}` is there twice")]
    Repeated(&'static str),
    /// A time is in no form that OpenSSH reads.
    #[error("`{option}` is no time: {value:?}")]
    Time {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        value: String,
    },
    /// The validity ends before it begins.
    #[error("`valid-before` is not after `valid-after`")]
    EmptyValidity,
    /// The file has too many lines with keys.
    #[error("more than {limit} keys")]
    TooMany {
        /// Maximum number of keys.
        limit: usize,
    },
}

impl AllowedSigners {
    /// Reads a file. An error in one line is an error of the file, while `ssh-keygen` skips the line. Times without `Z`
    /// are those of the machine.
    pub fn parse(text: &str, local: LocalMoment<'_>) -> Result<Self, SignersError> {
        let mut signers = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            let number = index + 1;
            let failed = |kind| SignersError { line: number, kind };
            let line = line.trim_start_matches(BLANK);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if signers.len() == MAX_SIGNERS {
                return Err(failed(SignersErrorKind::TooMany { limit: MAX_SIGNERS }));
            }
            signers.push(signer(number, line, local).map_err(failed)?);
        }
        Ok(Self { signers })
    }

    /// Returns the lines of a key.
    pub fn of_key<'a>(&'a self, key: &'a SshKey) -> impl Iterator<Item = &'a AllowedSigner> {
        self.signers.iter().filter(move |signer| signer.key == *key)
    }
}

impl AllowedSigner {
    /// Returns `true` if the line names this principal.
    pub fn names(&self, principal: &str) -> bool {
        matches_list(&self.principals, principal)
    }

    /// Returns the principal, if the line names exactly one, without a pattern.
    pub fn only_principal(&self) -> Option<&str> {
        (!self.principals.contains(['*', '?', '!', ','])).then_some(&*self.principals)
    }

    /// Returns `true` if the key may sign for a namespace.
    pub fn may_sign(&self, namespace: &str) -> bool {
        self.namespaces.as_ref().is_none_or(|list| matches_list(list, namespace))
    }
}

fn signer(number: usize, line: &str, local: LocalMoment<'_>) -> Result<AllowedSigner, SignersErrorKind> {
    let (principals, rest) = principals(line)?;
    let mut signer = LineOptions::default();
    let key = if let Some(key) = key(rest) {
        key
    } else {
        let rest = signer.read(rest, local)?;
        key(rest).ok_or(SignersErrorKind::NoKey)?
    };
    if key.family() == KeyFamily::Certificate {
        return Err(SignersErrorKind::Certificate);
    }
    let LineOptions { namespaces, valid_after, valid_before } = signer;
    if valid_after.zip(valid_before).is_some_and(|(after, before)| before <= after) {
        return Err(SignersErrorKind::EmptyValidity);
    }
    let principals = principals.to_owned();
    Ok(AllowedSigner { line: number, principals, namespaces, valid_after, valid_before, key })
}

/// Returns the names of a line, and the rest behind them.
fn principals(line: &str) -> Result<(&str, &str), SignersErrorKind> {
    let (names, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or(SignersErrorKind::Quote)?,
        None => line.split_once(BLANK).ok_or(SignersErrorKind::NoKey)?,
    };
    if names.contains('"') {
        return Err(SignersErrorKind::Quote);
    }
    if names.split(',').any(|name| name.trim_start_matches('!').is_empty()) {
        return Err(SignersErrorKind::NoPrincipal);
    }
    Ok((names, rest.trim_start_matches(BLANK)))
}

/// Reads a key; a comment may follow. `None` if the text begins with something else.
fn key(text: &str) -> Option<SshKey> {
    let (name, rest) = text.split_once([' ', '\t'])?;
    let base64 = rest.trim_start_matches([' ', '\t']).split(BLANK).next()?;
    SshKey::from_words(name, base64)
}

#[derive(Debug, Default)]
struct LineOptions {
    namespaces: Option<String>,
    valid_after: Option<SystemTime>,
    valid_before: Option<SystemTime>,
}

impl LineOptions {
    /// Reads options, and returns the rest behind them.
    fn read<'a>(&mut self, text: &'a str, local: LocalMoment<'_>) -> Result<&'a str, SignersErrorKind> {
        let mut rest = text;
        loop {
            let end = rest.find(|found: char| !found.is_ascii_alphanumeric() && found != '-');
            let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
            rest = behind;
            match &*name.to_ascii_lowercase() {
                "cert-authority" => return Err(SignersErrorKind::CertAuthority),
                "namespaces" => once(&mut self.namespaces, "namespaces", value(&mut rest)?)?,
                "valid-after" => {
                    let time = time_option("valid-after", value(&mut rest)?, local)?;
                    once(&mut self.valid_after, "valid-after", time)?;
                }
                "valid-before" => {
                    let time = time_option("valid-before", value(&mut rest)?, local)?;
                    once(&mut self.valid_before, "valid-before", time)?;
                }
                _ => {
                    let option = text.split(BLANK).next().unwrap_or_default();
                    // A line of another file, such as `known_hosts`, has no options.
                    let is_key = option.starts_with("ssh-") || option.starts_with("ecdsa-");
                    let unknown = SignersErrorKind::UnknownOption(option.to_owned());
                    return Err(if is_key || option.is_empty() { SignersErrorKind::NoKey } else { unknown });
                }
            }
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None if rest.starts_with([' ', '\t']) => return Ok(rest.trim_start_matches(BLANK)),
                None if rest.is_empty() => return Err(SignersErrorKind::NoKey),
                None => {
                    let option = rest.split(BLANK).next().unwrap_or_default();
                    return Err(SignersErrorKind::UnknownOption(option.to_owned()));
                }
            }
        }
    }
}

fn once<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), SignersErrorKind> {
    match slot.replace(value) {
        Some(_) => Err(SignersErrorKind::Repeated(name)),
        None => Ok(()),
    }
}

/// Reads `="VALUE"`, in which `\"` is a quote.
fn value(rest: &mut &str) -> Result<String, SignersErrorKind> {
    let mut characters = rest.strip_prefix("=\"").ok_or(SignersErrorKind::Quote)?.char_indices().peekable();
    let mut value = String::new();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                // The prefix has two bytes, the quote one.
                *rest = rest.get(at + 3..).unwrap_or_default();
                return Ok(value);
            }
            '\\' if characters.next_if(|(_, next)| *next == '"').is_some() => value.push('"'),
            other => value.push(other),
        }
    }
    Err(SignersErrorKind::Quote)
}

fn time_option(
    option: &'static str,
    value: String,
    local: LocalMoment<'_>,
) -> Result<SystemTime, SignersErrorKind> {
    match time(&value, local) {
        Some(time) if time > SystemTime::UNIX_EPOCH => Ok(time),
        _ => Err(SignersErrorKind::Time { option, value }),
    }
}

/// Reads `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, with `Z` for UTC.
fn time(text: &str, local: LocalMoment<'_>) -> Option<SystemTime> {
    let utc = text.strip_suffix(['Z', 'z']);
    let digits = utc.unwrap_or(text);
    let is_time = matches!(digits.len(), 8 | 12 | 14) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_time {
        return None;
    }
    let pair = |at: usize| digits.get(at..at + 2).map_or(Some(0), |pair| pair.parse::<i8>().ok());
    let (year, month, day) = (digits.get(..4)?.parse().ok()?, pair(4)?, pair(6)?);
    let (hour, minute, second) = (pair(8)?, pair(10)?, pair(12)?);
    if utc.is_some() {
        return parse_timestamp(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"));
    }
    local((year, month, day), (hour, minute, second))
}
