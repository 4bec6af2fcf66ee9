//! Watching a target: what it is given, for how long it is at it, and how much memory that takes.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// Whoever is at one input for so long hangs, even on a machine with much else to do.
const HANGS: Duration = Duration::from_secs(120);

/// No input makes the process need more than that, together with all that is tested beside it.
const MOST_MEMORY: u64 = 2 << 30;

/// Watches while it lives.
pub(crate) struct Watch {
    name: &'static str,
    input: fs::File,
    path: PathBuf,
    begun: std::sync::Arc<AtomicU64>,
    end: Option<Sender<()>>,
    watching: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn new(name: &'static str) -> Self {
        // A stack that overflows takes the process with it, so that what was tried must be in a file.
        let path = std::env::temp_dir().join(format!("ccm-fuzz-{name}-{}", std::process::id()));
        let input = fs::File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let begun = std::sync::Arc::new(AtomicU64::new(0));
        let (end, ended) = mpsc::channel();
        let (seen, kept) = (std::sync::Arc::clone(&begun), path.clone());
        let watching = std::thread::spawn(move || {
            let mut last = seen.load(Ordering::Relaxed);
            while ended.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
                let now = seen.load(Ordering::Relaxed);
                if now == last {
                    eprintln!("{name} hangs with the input in {}", kept.display());
                    std::process::abort();
                }
                last = now;
            }
        });
        Self { name, input, path, begun, end: Some(end), watching: Some(watching) }
    }

    /// Keeps the next input.
    pub(crate) fn begin(&self, input: &[u8]) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let written = self.input.set_len(0).and_then(|()| self.input.write_all_at(input, 0));
        written.unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
    }

    /// Looks at the memory that was needed so far.
    pub(crate) fn check_memory(&self) {
        let status = fs::read_to_string("/proc/self/status").expect("a process");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        let peak = peak.expect("the most memory that was in use") << 10;
        assert!(peak < MOST_MEMORY, "{peak} bytes of memory while {} was tested", self.name);
    }

    /// Where the input of the moment is.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(watching) = self.watching.take() {
            // It ends by itself or with the process.
            let _ = watching.join();
        }
        if !std::thread::panicking() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
