//! One run at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use ccm_model::{display_duration, display_timestamp, escape_control};
use nix::fcntl::{FcntlArg, fcntl};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::debug;

use super::Directory;

const NAME: &str = "lock";
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
///
/// It is made of two, which end together. The one that keeps other runs out can be asked for only by taking it, which
/// would keep a run out as well; the other is a mark that who looks can ask after without touching anything.
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
        let left = || wait.saturating_sub(began.elapsed());
        let mut said = false;
        loop {
            let file = directory.open_file(NAME).map_err(failed)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    debug!(holder = %words(&file), "waiting for the lock");
                    let mut turn = queue(&file).map_err(failed)?;
                    let mut told = timeout(left().min(MOMENT), &mut turn).await;
                    if told.is_err() && !left().is_zero() {
                        if !said {
                            said = true;
                            on_wait(&words(&file));
                        }
                        told = timeout(left(), &mut turn).await;
                    }
                    let Ok(told) = told else {
                        return Err(LockError::Held { holder: words(&file), after: wait });
                    };
                    told.unwrap_or_else(|gone| Err(io::Error::other(gone))).map_err(failed)?;
                }
                Err(error) => return Err(failed(error.into())),
            }
            if directory.holds(NAME, &file).map_err(failed)? {
                debug!(path = %directory.path().join(NAME).display(), "lock taken");
                return Ok(Self::held(file, holder));
            }
            // Somebody removed the file; what is locked now is another one than the next run will find.
        }
    }

    /// Tells whether a run holds the lock of a state directory at this moment. Nothing is changed, and who can't look
    /// sees none.
    pub fn is_held(directory: &Path) -> bool {
        let Ok(Some(directory)) = Directory::open(directory) else { return false };
        let Ok(file) = directory.open_plain(NAME) else { return false };
        let mut found = mark();
        fcntl(&file, FcntlArg::F_OFD_GETLK(&mut found)).is_ok() && i32::from(found.l_type) != libc::F_UNLCK
    }

    fn held(file: File, holder: &LockHolder) -> Self {
        // Only the message of a run that waits depends on this, and a full disk must not keep runs from
        // repairing it.
        let text = holder.text();
        // Who looks sees no run then, and no more depends on it.
        let _ = fcntl(&file, FcntlArg::F_OFD_SETLK(&mark()));
        let _ = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
        Self(file)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The next holder writes its own; until then nobody should be named.
        let _ = self.0.set_len(0);
        debug!("lock released");
    }
}

/// The mark of who holds the lock: a write lock on the whole file, which belongs to the open file as the other does.
#[expect(clippy::cast_possible_truncation, reason = "the constants are small")]
fn mark() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Waits in the kernel's queue for a lock: there it comes in order and costs nothing, however many wait. Only a thread
/// can wait there. One that is not listened to any more lets go of the lock when its turn has come.
fn queue(file: &File) -> io::Result<oneshot::Receiver<io::Result<()>>> {
    // Both lead to one lock, which is free when both are closed.
    let file = file.try_clone()?;
    let (tell, turn) = oneshot::channel();
    let wait = move || {
        let locked = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                locked => break locked.map_err(io::Error::from),
            }
        };
        let _ = tell.send(locked);
    };
    thread::Builder::new().name("ccm-lock".to_owned()).spawn(wait)?;
    Ok(turn)
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
