//! Lock that allows one run at a time.

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

use super::{Directory, ancestors};

const NAME: &str = "lock";
/// Maximum length of the recorded activity, in characters.
const MAX_ACTIVITY_LENGTH: usize = 512;
/// Minimum wait that is reported.
const REPORTED_WAIT: Duration = Duration::from_millis(300);

/// Description of the run that holds the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// Manifest that the run applies.
    pub manifest: String,
    /// Time at which it took the lock.
    pub since: SystemTime,
}

impl LockHolder {
    fn text(&self) -> String {
        let manifest = escape_control(&self.manifest);
        let since = display_timestamp(self.since, 0);
        format!("pid {}, applying {manifest}, since {since}\n", std::process::id())
    }
}

/// Error of taking the lock.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file can't be locked.
    #[error("lock file {path:?} can't be used")]
    Use {
        /// Path of the lock file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Another run held the lock for all of the wait.
    #[error("another run is going on ({holder}){}", waited(*.after))]
    Held {
        /// Description of the other run.
        holder: String,
        /// Time that this run waited.
        after: Duration,
    },
    /// The run that holds the lock waits for this one, which one of its commands started.
    #[error("this run was started by a command of the run that holds the lock ({holder})")]
    Ancestor {
        /// Description of the other run.
        holder: String,
    },
}

fn waited(after: Duration) -> String {
    if after.is_zero() { String::new() } else { format!("; waited {}", display_duration(after)) }
}

/// Lock on a state directory, which the kernel releases when its holder ends for any reason.
///
/// The first of its two locks (`flock`) excludes other runs. The second one (OFD) lets `status` test for a
/// running apply without taking the first.
#[derive(Debug)]
pub struct Lock {
    locked: LockedFile,
    /// Length of the description of the holder, which the name of a resource follows.
    described: u64,
}

impl Lock {
    /// Takes the lock, waiting at most `wait`. A wait is reported once, with the description of the holder.
    pub async fn take(
        directory: &Directory,
        holder: &LockHolder,
        wait: Duration,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Self, LockError> {
        let failed = |source| LockError::Use { path: directory.path().join(NAME), source };
        let began = tokio::time::Instant::now();
        let left = || wait.saturating_sub(began.elapsed());
        let mut is_reported = false;
        loop {
            let file = directory.open_file(NAME).map_err(failed)?;
            let locked = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => LockedFile(file),
                Err(Errno::WOULDBLOCK) if ancestors::any_has_open(&file) => {
                    return Err(LockError::Ancestor { holder: description(&file) });
                }
                Err(Errno::WOULDBLOCK) => {
                    debug!(holder = %description(&file), "waiting for the lock");
                    let mut queued = queue(&file).map_err(failed)?;
                    let mut result = timeout(left().min(REPORTED_WAIT), &mut queued).await;
                    if result.is_err() && !left().is_zero() {
                        if !is_reported {
                            is_reported = true;
                            on_wait(&description(&file));
                        }
                        result = timeout(left(), &mut queued).await;
                    }
                    let Ok(result) = result else {
                        return Err(LockError::Held { holder: description(&file), after: wait });
                    };
                    result.unwrap_or_else(|gone| Err(io::Error::other(gone))).map_err(failed)?
                }
                Err(error) => return Err(failed(error.into())),
            };
            if directory.holds(NAME, &locked.0).map_err(failed)? {
                debug!(path = %directory.path().join(NAME).display(), "lock taken");
                return Ok(Self::held(locked, holder));
            }
            // The file was removed. The next run would lock another one.
        }
    }

    /// Returns `true` if a run holds the lock of a state directory; `false` if the directory can't be read.
    pub fn is_held(directory: &Path) -> bool {
        let Ok(Some(directory)) = Directory::open(directory) else { return false };
        let Ok(file) = directory.open_plain(NAME) else { return false };
        let mut found = mark(libc::F_WRLCK);
        fcntl(&file, FcntlArg::F_OFD_GETLK(&mut found)).is_ok() && i32::from(found.l_type) != libc::F_UNLCK
    }

    /// Records what the run is doing. An empty text erases the record.
    pub fn set_activity(&self, activity: &str) {
        let file = &self.locked.0;
        let line =
            format!("{}\n", escape_control(&activity.chars().take(MAX_ACTIVITY_LENGTH).collect::<String>()));
        // Failures are ignored: only `status` depends on this record.
        let end = self.described + line.len() as u64;
        let _ = file.write_all_at(line.as_bytes(), self.described).and_then(|()| file.set_len(end));
    }

    /// Returns what the run that holds the lock is doing, if the run recorded that.
    pub fn activity(directory: &Path) -> Option<String> {
        let file = Directory::open(directory).ok()??.open_plain(NAME).ok()?;
        let text = read_description(&file);
        let activity = text.lines().nth(1)?.trim();
        (!activity.is_empty()).then(|| escape_control(activity).into_owned())
    }

    fn held(locked: LockedFile, holder: &LockHolder) -> Self {
        let file = &locked.0;
        let text = holder.text();
        // Failures are ignored: only `status` and the message of a waiting run depend on these steps, and a
        // run must be able to repair a full disk.
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&mark(libc::F_WRLCK)));
        let _ = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
        Self { locked, described: text.len() as u64 }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // No run is named until the next holder writes its description.
        let _ = self.locked.0.set_len(0);
        debug!("lock released");
    }
}

/// File with the lock that excludes other runs. The locks are released explicitly: if the file were only
/// closed, a child that another thread has just started would keep them until it executes its program,
/// because it holds a copy of every descriptor.
#[derive(Debug)]
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file releases the locks even if this fails. The mark goes first: the next holder sets
        // its own.
        let _ = fcntl(&self.0, FcntlArg::F_OFD_SETLK(&mark(libc::F_UNLCK)));
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Returns the second lock, to set or release: a write lock that belongs to the open file, as the first does.
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

/// Waits in the queue of the kernel, which is fair and costs nothing. Only a thread can wait there. If the
/// receiver is dropped, the lock is released as soon as it is taken.
fn queue(file: &File) -> io::Result<oneshot::Receiver<io::Result<LockedFile>>> {
    let file = file.try_clone()?;
    let (sender, receiver) = oneshot::channel();
    let wait = move || {
        let locked = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                Err(error) => break Err(error.into()),
                Ok(()) => break Ok(LockedFile(file)),
            }
        };
        let _ = sender.send(locked);
    };
    thread::Builder::new().name("ccm-lock".to_owned()).spawn(wait)?;
    Ok(receiver)
}

fn description(file: &File) -> String {
    match read_description(file).lines().next().unwrap_or_default().trim() {
        "" => "its manifest is not known".to_owned(),
        text => escape_control(text).into_owned(),
    }
}

fn read_description(file: &File) -> String {
    let mut bytes = [0; 16 << 10];
    let length = file.read_at(&mut bytes, 0).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
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
    fn lock_is_released_although_a_copy_of_its_descriptor_is_open() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = Directory::open_private(&scratch.path().join("state")).expect("a state directory");
        let lock = take(&directory).expect("the lock");
        // A child that another thread starts has such a copy until it becomes another program.
        let inherited = lock.locked.0.try_clone().expect("a copy");
        drop(lock);
        assert!(!Lock::is_held(directory.path()));
        let second = take(&directory).expect("the lock");
        assert!(Lock::is_held(directory.path()));
        drop(inherited);
        assert!(Lock::is_held(directory.path()));
        drop(second);
    }

    #[test]
    fn the_activity_of_the_holder_is_read_while_the_lock_is_held() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = Directory::open_private(&scratch.path().join("state")).expect("a state directory");
        let lock = take(&directory).expect("the lock");
        let activity = || Lock::activity(directory.path());
        assert_eq!(activity(), None);
        let file = directory.open_file(NAME).expect("the lock file");
        let holder = description(&file);
        for (set, expected) in [
            ("exec#build all", Some("exec#build all")),
            ("exec#a", Some("exec#a")),
            ("", None),
            ("a\nb", Some("a\\nb")),
        ] {
            lock.set_activity(set);
            assert_eq!(activity().as_deref(), expected);
            assert_eq!(description(&file), holder);
        }
        drop(lock);
        assert_eq!(activity(), None);
    }

    #[test]
    fn lock_of_a_dropped_wait_is_released() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = Directory::open_private(&scratch.path().join("state")).expect("a state directory");
        let lock = take(&directory).expect("the lock");
        let file = directory.open_file(NAME).expect("the lock file");
        let queued = queue(&file).expect("a receiver");
        drop(lock);
        // The thread has the lock now, and `file` is a copy that stays open.
        drop(queued.blocking_recv().expect("the thread lives").expect("the lock"));
        take(&directory).expect("the lock");
        drop(file);
    }
}
