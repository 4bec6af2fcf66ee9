//! Watching a target: what it is given, for how long it is at it, and how much memory that takes.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};

/// Whoever is at one input for so long hangs, even on a machine with much else to do.
const HANGS: Duration = Duration::from_secs(120);

/// No input makes the process need more than that, together with all that is tested beside it.
const MOST_MEMORY: u64 = 2 << 30;

/// What a keeper does: when the watched process ends without a word, it prints what that was at. It finds that in what
/// it has for standard output.
const KEEPER: &str = r#"exec 3>&1; read -r word; [ "$word" = ended ] && exit
echo "the process ended while $0 was given this, in base64 (of nothing: before the first input):" >&2
base64 /proc/self/fd/3 >&2"#;

/// Watches while it lives.
///
/// The input of the moment is in memory that another process has as well: a stack that overflows takes this one with it,
/// and who kills it is left with no file.
pub(crate) struct Watch {
    name: &'static str,
    input: Arc<fs::File>,
    keeper: Child,
    begun: Arc<AtomicU64>,
    end: Option<Sender<()>>,
    watching: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn new(name: &'static str) -> Self {
        let input = memfd_create("input", MemfdFlags::CLOEXEC).expect("memory with a name");
        let input = Arc::new(fs::File::from(input));
        let shared = input.try_clone().expect("a descriptor");
        let keeper =
            Command::new("/bin/sh").args(["-c", KEEPER, name]).stdin(Stdio::piped()).stdout(shared).spawn();
        let begun = Arc::new(AtomicU64::new(0));
        let (end, ended) = mpsc::channel();
        let (seen, kept) = (Arc::clone(&begun), Arc::clone(&input));
        let watching = std::thread::spawn(move || {
            let mut last = seen.load(Ordering::Relaxed);
            while ended.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
                let now = seen.load(Ordering::Relaxed);
                if now == last {
                    eprintln!("{name} hangs with the input in {}", keep(name, &kept).display());
                    std::process::abort();
                }
                last = now;
            }
        });
        let keeper = keeper.expect("a shell");
        Self { name, input, keeper, begun, end: Some(end), watching: Some(watching) }
    }

    /// Keeps the next input.
    pub(crate) fn begin(&self, input: &[u8]) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let written = self.input.set_len(0).and_then(|()| self.input.write_all_at(input, 0));
        written.expect("room in memory");
    }

    /// Looks at the memory that was needed so far.
    pub(crate) fn check_memory(&self) {
        let status = fs::read_to_string("/proc/self/status").expect("a process");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        let peak = peak.expect("the most memory that was in use") << 10;
        assert!(peak < MOST_MEMORY, "{peak} bytes of memory while {} was tested", self.name);
    }

    /// Leaves the input of the moment in a file.
    pub(crate) fn keep(&self) -> PathBuf {
        keep(self.name, &self.input)
    }
}

fn keep(name: &str, input: &fs::File) -> PathBuf {
    let path = std::env::temp_dir().join(format!("ccm-fuzz-{name}-{}", std::process::id()));
    let length = input.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    let kept = input.read_exact_at(&mut bytes, 0).and_then(|()| fs::write(&path, bytes));
    kept.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(watching) = self.watching.take() {
            // It ends by itself or with the process.
            let _ = watching.join();
        }
        if let Some(mut words) = self.keeper.stdin.take() {
            // Whoever does not read that has ended already.
            let _ = words.write_all(b"ended\n");
        }
        let _ = self.keeper.wait();
    }
}
