//! Watchdog for a target: current input, time and memory.

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

/// Maximum time for one input. A target that needs longer hangs, even on a busy machine.
const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Maximum memory of the process, with all targets that run in parallel.
const MAX_MEMORY: u64 = 2 << 30;

/// Shell script of the keeper process. If the watched process ends without `ended`, the script prints the
/// current input, which it reads from its standard output.
const KEEPER: &str = r#"exec 3>&1; read -r word; [ "$word" = ended ] && exit
echo "the process ended while $0 was given this, in base64 (of nothing: before the first input):" >&2
base64 /proc/self/fd/3 >&2"#;

/// Watchdog, active until it is dropped. The current input is in memory that the keeper process shares, so
/// that it survives a stack overflow or a kill of this process, and no file is left behind.
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
            while ended.recv_timeout(HANG_LIMIT) == Err(RecvTimeoutError::Timeout) {
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

    pub(crate) fn begin(&self, input: &[u8]) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let written = self.input.set_len(0).and_then(|()| self.input.write_all_at(input, 0));
        written.expect("room in memory");
    }

    pub(crate) fn check_memory(&self) {
        let status = fs::read_to_string("/proc/self/status").expect("a process");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        let peak = peak.expect("the peak memory") << 10;
        assert!(peak < MAX_MEMORY, "{peak} bytes of memory while {} was tested", self.name);
    }

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
            // The thread ends by itself or with the process.
            let _ = watching.join();
        }
        if let Some(mut words) = self.keeper.stdin.take() {
            // A keeper that does not read has ended already.
            let _ = words.write_all(b"ended\n");
        }
        let _ = self.keeper.wait();
    }
}
