//! Pause of unattended runs, kept in the state directory.

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ccm_host::started_by;
use ccm_host::state::{Directory, StateError};
use ccm_model::{StartedBy, display_timestamp, escape_json, parse_timestamp};
use serde::{Deserialize, Serialize};

use crate::session::Session;

/// Name of the file in the state directory.
const FILE: &str = "pause.json";
/// Maximum size of the file in bytes. ccm writes shorter ones.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// Maximum length of a reason in characters.
const MAX_REASON: usize = 500;

/// Maximum duration of a pause. A longer one would be forgotten.
pub const MAX_PAUSE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Pause of the runs that honour it, such as those of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Beginning.
    pub since: SystemTime,
    /// End.
    pub until: SystemTime,
    /// Reason, on one line.
    pub reason: String,
    /// User who began it.
    pub by: StartedBy,
}

/// What the end of a pause found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedPause {
    /// There was no pause, or it had expired.
    None,
    /// The pause that was going on.
    Ended(Pause),
    /// A file that could not be read, and is removed.
    Unreadable,
}

/// Error of a pause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PauseError {
    /// The duration is 0 or longer than [`MAX_PAUSE`].
    #[error("a pause takes more than 0s and at most 90d")]
    Duration,
    /// The reason is empty, has several lines or is too long.
    #[error("the reason of a pause is a line of at most {MAX_REASON} characters")]
    Reason,
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The file of the pause can't be read or trusted.
    #[error("the pause in {path:?} can't be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file of the pause can't be written or removed.
    #[error("the pause in {path:?} can't be changed")]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

/// Content of the file.
#[derive(Serialize, Deserialize)]
struct PauseRecord {
    since: String,
    until: String,
    reason: String,
    by: StartedBy,
}

impl Pause {
    fn of(record: PauseRecord) -> Option<Self> {
        let PauseRecord { since, until, reason, by } = record;
        Some(Self { since: parse_timestamp(&since)?, until: parse_timestamp(&until)?, reason, by })
    }

    /// Returns the pause as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::to_value(self.record()).unwrap_or_default()
    }

    fn record(&self) -> PauseRecord {
        let Self { since, until, reason, by } = self;
        PauseRecord {
            since: display_timestamp(*since, 2),
            until: display_timestamp(*until, 2),
            reason: reason.clone(),
            by: by.clone(),
        }
    }
}

impl Session {
    /// Returns the current pause. One that has expired is none.
    pub fn pause(&self) -> Result<Option<Pause>, PauseError> {
        let path = self.state_path()?;
        let Some(state) = Directory::open(&path)? else { return Ok(None) };
        let read = |source| PauseError::Read { path: path.join(FILE), source };
        let file = match state.read(FILE) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read(error)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(read)?;
        let record = serde_json::from_slice(&bytes).ok().and_then(Pause::of);
        let pause = record.ok_or_else(|| read(io::Error::other("the file is damaged")))?;
        Ok(Some(pause).filter(|pause| self.doors.clock.now() < pause.until))
    }

    /// Returns the current pause, as a run honours it: only of the user who runs ccm.
    pub fn honoured_pause(&self) -> Result<Option<Pause>, PauseError> {
        let pause = self.pause()?;
        if pause.is_some() {
            let path = self.state_path()?;
            let state = Directory::open_private(&path)?;
            state.only_ours(FILE).map_err(|source| PauseError::Read { path: path.join(FILE), source })?;
        }
        Ok(pause)
    }

    /// Begins a pause, which replaces an earlier one.
    pub fn begin_pause(&self, duration: Duration, reason: &str) -> Result<Pause, PauseError> {
        let reason = reason.trim();
        if duration.is_zero() || duration > MAX_PAUSE {
            return Err(PauseError::Duration);
        }
        if reason.is_empty() || reason.contains(char::is_control) || reason.chars().count() > MAX_REASON {
            return Err(PauseError::Reason);
        }
        let since = self.doors.clock.now();
        let until = since.checked_add(duration).ok_or(PauseError::Duration)?;
        let reason = self.secrets.redact(reason).into_owned();
        let pause = Pause { since, until, reason, by: started_by() };
        let state = Directory::open_private(&self.state_path()?)?;
        let text = serde_json::to_string_pretty(&pause.record()).unwrap_or_default();
        let text = format!("{}\n", escape_json(&text));
        let write = |source| PauseError::Write { path: state.path().join(FILE), source };
        state.replace(FILE, text.as_bytes()).map_err(write)?;
        Ok(pause)
    }

    /// Ends the pause.
    pub fn end_pause(&self) -> Result<EndedPause, PauseError> {
        let ended = self.pause();
        let Some(state) = Directory::open(&self.state_path()?)? else { return Ok(EndedPause::None) };
        match state.remove_file(FILE) {
            Ok(()) => Ok(match ended {
                Ok(Some(pause)) => EndedPause::Ended(pause),
                Ok(None) => EndedPause::None,
                Err(_) => EndedPause::Unreadable,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(EndedPause::None),
            Err(source) => Err(PauseError::Write { path: state.path().join(FILE), source }),
        }
    }
}
