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
pub struct Lock(LockedFile);

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
            let locked = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => LockedFile(file),
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
                    told.unwrap_or_else(|gone| Err(io::Error::other(gone))).map_err(failed)?
                }
                Err(error) => return Err(failed(error.into())),
            };
            if directory.holds(NAME, &locked.0).map_err(failed)? {
                debug!(path = %directory.path().join(NAME).display(), "lock taken");
                return Ok(Self::held(locked, holder));
            }
            // Somebody removed the file; what is locked now is another one than the next run will find.
        }
    }

    /// Tells whether a run holds the lock of a state directory at this moment. Nothing is changed, and who can't look
    /// sees none.
    pub fn is_held(directory: &Path) -> bool {
        let Ok(Some(directory)) = Directory::open(directory) else { return false };
        let Ok(file) = directory.open_plain(NAME) else { return false };
        let mut found = mark(libc::F_WRLCK);
        fcntl(&file, FcntlArg::F_OFD_GETLK(&mut found)).is_ok() && i32::from(found.l_type) != libc::F_UNLCK
    }

    fn held(locked: LockedFile, holder: &LockHolder) -> Self {
        let file = &locked.0;
        // Only the message of a run that waits depends on this, and a full disk must not keep runs from
        // repairing it.
        let text = holder.text();
        // Who looks sees no run then, and no more depends on it.
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&mark(libc::F_WRLCK)));
        let _ = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
        Self(locked)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The next holder writes its own; until then nobody should be named.
        let _ = self.0.0.set_len(0);
        debug!("lock released");
    }
}

/// A file with the lock that keeps other runs out.
///
/// The locks are released explicitly: a child that another thread has started, and that is not yet another program,
/// holds a copy of every descriptor, and close alone would leave the locks to that child.
#[derive(Debug)]
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If a release fails, closing the file still releases the locks. The next holder sets a mark of its own, so the
        // mark goes first.
        let _ = fcntl(&self.0, FcntlArg::F_OFD_SETLK(&mark(libc::F_UNLCK)));
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// The mark of a holder, set or removed: a write lock on the whole file, which belongs to the open file as the other
/// lock does.
#[expect(clippy::cast_possible_truncation, reason = "the constants are small")]
fn mark(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Waits in the kernel's queue for a lock: there it comes in order and costs nothing, however many wait. Only a thread
/// can wait there. A turn that nobody waits for any more releases the lock as soon as it comes.
fn queue(file: &File) -> io::Result<oneshot::Receiver<io::Result<LockedFile>>> {
    let file = file.try_clone()?;
    let (tell, turn) = oneshot::channel();
    let wait = move || {
        let locked = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                Err(error) => break Err(error.into()),
                Ok(()) => break Ok(LockedFile(file)),
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

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn take(directory: &Directory) -> Result<Lock, LockError> {
        let holder = LockHolder { manifest: "/a.yaml".to_owned(), since: UNIX_EPOCH };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(Lock::take(directory, &holder, Duration::ZERO, &mut |_| {}))
    }

    #[test]
    fn a_lock_is_free_although_a_copy_of_its_descriptor_is_open() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = Directory::open_private(&scratch.path().join("state")).expect("a state directory");
        let lock = take(&directory).expect("the lock");
        // A child that another thread starts has such a copy until it becomes another program.
        let inherited = lock.0.0.try_clone().expect("a copy");
        drop(lock);
        assert!(!Lock::is_held(directory.path()));
        let second = take(&directory).expect("the lock");
        assert!(Lock::is_held(directory.path()));
        drop(inherited);
        assert!(Lock::is_held(directory.path()));
        drop(second);
    }

    #[test]
    fn a_turn_that_nobody_takes_leaves_the_lock_free() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = Directory::open_private(&scratch.path().join("state")).expect("a state directory");
        let lock = take(&directory).expect("the lock");
        let file = directory.open_file(NAME).expect("the lock file");
        let turn = queue(&file).expect("a turn");
        drop(lock);
        // The lock has come to the queue, and `file` is a copy that stays open.
        drop(turn.blocking_recv().expect("the thread lives").expect("the lock"));
        take(&directory).expect("the lock");
        drop(file);
    }
}
