//! One run at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ccm_model::{display_duration, display_timestamp, escape_control};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Directory;

const NAME: &str = "lock";
/// How often a waiting run looks whether the lock is free; the kernel tells nobody but a blocked thread.
const PAUSE: Duration = Duration::from_millis(25);
/// A wait that is shorter than this is not worth a word.
const MOMENT: Duration = Duration::from_millis(300);

/// What a run says of itself while it holds the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// What it applies.
    pub manifest: String,
    /// When it took the lock.
    pub since: SystemTime,
}

impl LockHolder {
    fn text(&self) -> String {
        let manifest = escape_control(&self.manifest);
        let since = display_timestamp(self.since, 0);
        format!("pid {}, applying {manifest}, since {since}\n", std::process::id())
    }
}

/// Says why the lock was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file can't be locked at all.
    #[error("lock file {path:?} can't be used")]
    Use {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another run held it for as long as this one was willing to wait.
    #[error("another run is going on ({holder}){}", waited(*.after))]
    Held {
        /// What that run says of itself.
        holder: String,
        /// How long this one waited.
        after: Duration,
    },
}

fn waited(after: Duration) -> String {
    if after.is_zero() { String::new() } else { format!("; waited {}", display_duration(after)) }
}

/// The lock on a state directory. It is free the moment its holder ends, however that happens.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Takes the lock; waits for it that long, and says once, with the words of its holder, that it waits.
    pub async fn take(
        directory: &Directory,
        holder: &LockHolder,
        wait: Duration,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Self, LockError> {
        let failed = |source| LockError::Use { path: directory.path().join(NAME), source };
        let began = tokio::time::Instant::now();
        let mut said = false;
        loop {
            let file = directory.open_file(NAME).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if directory.holds(NAME, &file).map_err(failed)? => {
                    return Ok(Self::held(file, holder));
                }
                // Somebody removed the file; what is locked now is another one than the next run will find.
                Ok(()) => continue,
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(failed(error.into())),
            }
            let waited = began.elapsed();
            if waited >= wait {
                return Err(LockError::Held { holder: words(&file), after: wait });
            }
            if !said && waited >= MOMENT {
                said = true;
                on_wait(&words(&file));
            }
            tokio::time::sleep(PAUSE.min(wait.saturating_sub(waited))).await;
        }
    }

    fn held(file: File, holder: &LockHolder) -> Self {
        // Only the message of a run that waits depends on this, and a full disk must not keep runs from
        // repairing it.
        let text = holder.text();
        let _ = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
        Self(file)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The next holder writes its own; until then nobody should be named.
        let _ = self.0.set_len(0);
    }
}

/// What the holder says of itself.
fn words(file: &File) -> String {
    let mut bytes = [0; 4096];
    let length = file.read_at(&mut bytes, 0).unwrap_or_default();
    match String::from_utf8_lossy(&bytes[..length]).trim() {
        "" => "it has not said which".to_owned(),
        text => escape_control(text).into_owned(),
    }
}
