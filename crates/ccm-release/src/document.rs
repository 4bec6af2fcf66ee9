//! The document that is signed.

use std::time::{Duration, SystemTime};

use ccm_model::{DurationError, display_timestamp, parse_duration, parse_timestamp};
use serde::{Deserialize, Serialize};

use crate::names::{ChannelName, ChannelNameError};
use crate::program_version::ProgramVersion;
use crate::waves::{Wave, WaveError, Waves};

/// Namespace of the signature of a release, as in `ssh-keygen -Y verify -n`.
pub const RELEASE_NAMESPACE: &str = "ccm-release@v1";
const TYPE: &str = "io.choria.ccm.v1.release";
/// Maximum length of a note in characters.
const MAX_NOTE: usize = 500;

/// Digest and size of a bundle: of the tar archive, before it is compressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleDigest {
    /// The sha256 in hexadecimal digits.
    pub sha256: String,
    /// Size in bytes.
    pub size: u64,
}

impl BundleDigest {
    /// Returns the name of the file of the bundle, beside the release. It holds the digest, so that a server can offer
    /// several at once, and a release never meets the bundle of another one.
    pub fn file_name(&self) -> String {
        format!("{}.tar.zst", self.sha256)
    }
}

/// Release: one version of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Channel.
    pub channel: ChannelName,
    /// Version, which grows from release to release.
    pub version: u64,
    /// Epoch. Versions begin anew with a higher one.
    pub epoch: u64,
    /// Time at which the release was built.
    pub issued: SystemTime,
    /// Time after which no machine accepts it any more.
    pub expires: Option<SystemTime>,
    /// The manifests.
    pub bundle: BundleDigest,
    /// Oldest version of ccm that can apply it.
    pub min_ccm: Option<ProgramVersion>,
    /// Waves in which machines take it.
    pub waves: Waves,
    /// Time over which the machines of a wave are spread.
    pub splay: Duration,
    /// Note for people.
    pub note: Option<String>,
}

/// Error of the document of a release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseError {
    /// The text is no such document.
    #[error("not the document of a release: {0}")]
    Json(#[source] serde_json::Error),
    /// The document is another one, or a later one.
    #[error("the type is {0:?}, and not {TYPE:?}")]
    Type(String),
    /// The channel has no name.
    #[error(transparent)]
    Channel(#[from] ChannelNameError),
    /// A time is none.
    #[error("`{property}` is no time by RFC 3339: {value:?}")]
    Time {
        /// Name of the property.
        property: &'static str,
        /// Its value.
        value: String,
    },
    /// A duration is none.
    #[error("`{property}` is no duration")]
    Duration {
        /// Name of the property.
        property: &'static str,
        /// The error.
        source: DurationError,
    },
    /// The release ends before it begins.
    #[error("it expires before it was issued")]
    Expiry,
    /// The digest is none.
    #[error("`bundle.sha256` is not 64 hexadecimal digits in lower case")]
    Digest,
    /// The version of ccm is none.
    #[error("`min_ccm` is no version of ccm: {0:?}")]
    ProgramVersion(String),
    /// The waves are wrong.
    #[error(transparent)]
    Waves(#[from] WaveError),
    /// The note is too long, or has control characters.
    #[error("the note has more than {MAX_NOTE} characters, or control characters")]
    Note,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "type")]
    kind: String,
    channel: String,
    version: u64,
    #[serde(default)]
    epoch: u64,
    issued: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    bundle: BundleDigest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_ccm: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waves: Vec<WaveDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    splay: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaveDocument {
    percent: serde_json::Number,
    after: String,
}

impl Release {
    /// Reads the document. An unknown property is an error, because it may restrict what a later ccm would do.
    pub fn parse(text: &str) -> Result<Self, ReleaseError> {
        let document: Document = serde_json::from_str(text).map_err(ReleaseError::Json)?;
        if document.kind != TYPE {
            return Err(ReleaseError::Type(document.kind));
        }
        let issued = time("issued", document.issued)?;
        let expires = document.expires.map(|text| time("expires", text)).transpose()?;
        if expires.is_some_and(|expires| expires <= issued) {
            return Err(ReleaseError::Expiry);
        }
        let digest = &document.bundle.sha256;
        if digest.len() != 64 || !digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(ReleaseError::Digest);
        }
        let min_ccm = document
            .min_ccm
            .map(|text| ProgramVersion::parse(&text).ok_or(ReleaseError::ProgramVersion(text)));
        let note = document.note.filter(|note| !note.is_empty());
        if note.as_deref().is_some_and(|note| !is_note(note)) {
            return Err(ReleaseError::Note);
        }
        let waves: Result<_, ReleaseError> = document.waves.iter().map(WaveDocument::wave).collect();
        Ok(Self {
            channel: ChannelName::parse(&document.channel)?,
            version: document.version,
            epoch: document.epoch,
            issued,
            expires,
            bundle: document.bundle,
            min_ccm: min_ccm.transpose()?,
            waves: Waves::new(waves?)?,
            splay: document.splay.map_or(Ok(Duration::ZERO), |text| duration("splay", &text))?,
            note,
        })
    }

    /// Returns the text to sign, which is read as the same release. Times are in whole seconds.
    pub fn text(&self) -> Result<String, ReleaseError> {
        let document = Document {
            kind: TYPE.to_owned(),
            channel: self.channel.to_string(),
            version: self.version,
            epoch: self.epoch,
            issued: display_timestamp(self.issued, 0),
            expires: self.expires.map(|expires| display_timestamp(expires, 0)),
            bundle: self.bundle.clone(),
            min_ccm: self.min_ccm.map(|version| version.to_string()),
            waves: self.waves.as_slice().iter().map(WaveDocument::of).collect::<Result<_, _>>()?,
            splay: (!self.splay.is_zero()).then(|| written(self.splay)),
            note: self.note.clone(),
        };
        let mut text = serde_json::to_string(&document).map_err(ReleaseError::Json)?;
        text.push('\n');
        // What can't be read again is never signed.
        Self::parse(&text)?;
        Ok(text)
    }
}

impl WaveDocument {
    fn wave(&self) -> Result<Wave, ReleaseError> {
        let share = Wave::share(&self.percent.to_string())?;
        Ok(Wave { share, after: duration("waves.after", &self.after)? })
    }

    fn of(wave: &Wave) -> Result<Self, ReleaseError> {
        let percent = serde_json::from_str(&wave.percent()).map_err(ReleaseError::Json)?;
        Ok(Self { percent, after: written(wave.after) })
    }
}

fn time(property: &'static str, value: String) -> Result<SystemTime, ReleaseError> {
    parse_timestamp(&value).ok_or(ReleaseError::Time { property, value })
}

fn duration(property: &'static str, text: &str) -> Result<Duration, ReleaseError> {
    // `0s` is how a wave without a delay is written.
    parse_duration(text).map_err(|source| ReleaseError::Duration { property, source })
}

/// Returns a duration in the one form that both this and an older program read.
fn written(duration: Duration) -> String {
    match duration.subsec_millis() {
        0 => format!("{}s", duration.as_secs()),
        _ => format!("{}ms", duration.as_millis()),
    }
}

fn is_note(note: &str) -> bool {
    note.chars().count() <= MAX_NOTE && !note.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    const TEXT: &str = r#"{"type":"io.choria.ccm.v1.release","channel":"base","version":42,"epoch":1,"issued":"2026-11-29T12:00:00Z","expires":"2026-12-29T12:00:00Z","bundle":{"sha256":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","size":18320},"min_ccm":"0.3.0","waves":[{"percent":1,"after":"0s"},{"percent":12.5,"after":"3600s"},{"percent":100,"after":"18000s"}],"splay":"60s","note":"for Ünal"}
"#;

    fn refusal(from: &str, to: &str) -> String {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT, "{from}");
        Release::parse(&text).expect_err(to).to_string()
    }

    #[test]
    fn a_document_is_read_as_it_is_written() {
        let release = Release::parse(TEXT).expect("a release");
        assert_eq!(release.issued, UNIX_EPOCH + Duration::from_secs(1_795_953_600));
        assert_eq!(release.text().expect("a text"), TEXT);
    }

    #[test]
    fn most_properties_may_be_left_out() {
        let text = TEXT.replace(r#""epoch":1,"#, "").replace(r#","splay":"60s","note":"for Ünal""#, "");
        let release = Release::parse(&text).expect("a release");
        assert_eq!((release.epoch, release.splay, release.note), (0, Duration::ZERO, None));
    }

    #[test]
    fn each_error_has_its_name() {
        for (from, to, reason) in [
            ("v1.release", "v2.release", "the type is \"io.choria.ccm.v2.release\""),
            ("\"base\"", "\"../base\"", "a channel is named with"),
            (":42", ":-1", "not the document"),
            (":42", ":1.5", "not the document"),
            (":42", ":18446744073709551616", "not the document"),
            ("\"version\":42,", "", "missing field `version`"),
            ("\"note\"", "\"nota\"", "unknown field `nota`"),
            ("2026-11-29T12:00:00Z", "yesterday", "`issued` is no time"),
            ("2026-12-29T12:00:00Z", "2026-11-29T12:00:00Z", "it expires before"),
            ("aaaa", "AAAA", "`bundle.sha256` is not"),
            ("aaaa", "aaa", "`bundle.sha256` is not"),
            ("0.3.0", "newest", "`min_ccm` is no version"),
            ("\"percent\":1,", "\"percent\":0,", "the share of a wave"),
            ("12.5", "12.125", "the share of a wave"),
            ("12.5", "\"12\"", "not the document"),
            ("3600s", "soon", "`waves.after` is no duration"),
            ("3600s", "36000s", "no wave begins before"),
            ("60s", "-1s", "`splay` is no duration"),
            ("Ünal", "\\u001b[2J", "the note has"),
        ] {
            let refused = refusal(from, to);
            assert!(refused.contains(reason), "{to}: {refused}");
        }
    }
}
