//! Sessions on a thread of their own, beside the reactor of the program.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use ccm_host::{
    BackupName, Cancellation, FileAttributes, FileError, Files, InspectOptions, NewFile, PathInfo,
    ReadContent, SystemFiles, TreeSize,
};
use ccm_model::{Event, Outcome, StopCause};
use ccm_runtime::{
    CancellationLevel, Canceller, Config, Doors, EventQueue, GivenValues, JobError, ManifestSource,
    QueuedEvent, RunOptions, event_queue, spawn,
};
use ccm_testkit::Scratch;

use crate::{block_on, config, manifest_of};

/// Files of which one can be looked at only when the test allows it.
struct BlockingFiles {
    inner: SystemFiles,
    blocked: PathBuf,
    allowed: Arc<Mutex<Receiver<()>>>,
}

impl Files for BlockingFiles {
    fn inspect(&self, path: &Path, options: InspectOptions<'_>) -> Result<PathInfo, FileError> {
        if path == self.blocked {
            let allowed = self.allowed.lock().expect("the lock of the test");
            // It blocks its thread until the test drops the other end.
            let _ = allowed.recv();
        }
        self.inner.inspect(path, options)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.inner.exists(path)
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        self.inner.is_directory(path)
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        self.inner.size(path)
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        self.inner.modified(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.canonical(path)
    }

    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError> {
        self.inner.read(path, keep_up_to)
    }

    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError> {
        self.inner.write(path, new)
    }

    fn make_directory(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        self.inner.make_directory(path, attributes)
    }

    fn rename_directory(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        self.inner.rename_directory(from, to)
    }

    fn set_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        self.inner.set_attributes(path, attributes)
    }

    fn link_target(&self, path: &Path) -> Result<Option<PathBuf>, FileError> {
        self.inner.link_target(path)
    }

    fn make_link(&self, path: &Path, target: &Path, replaces_file: bool) -> Result<(), FileError> {
        self.inner.make_link(path, target, replaces_file)
    }

    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError> {
        self.inner.remove(path, force)
    }

    fn tree_size(&self, path: &Path, max_entries: u64) -> TreeSize {
        self.inner.tree_size(path, max_entries)
    }

    fn blocking_mount(&self, path: &Path, below: bool) -> Result<Option<PathBuf>, FileError> {
        self.inner.blocking_mount(path, below)
    }

    fn back_up(
        &self,
        path: &Path,
        state: &Path,
        at: SystemTime,
        name: BackupName,
    ) -> Result<PathBuf, FileError> {
        self.inner.back_up(path, state, at, name)
    }

    fn can_chown(&self, uid: Option<u32>, gid: Option<u32>) -> bool {
        self.inner.can_chown(uid, gid)
    }

    fn user(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.inner.user(name)
    }

    fn group(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.inner.group(name)
    }

    fn user_name(&self, uid: u32) -> Result<Option<String>, FileError> {
        self.inner.user_name(uid)
    }

    fn group_name(&self, gid: u32) -> Result<Option<String>, FileError> {
        self.inner.group_name(gid)
    }
}

struct BlockingDoors {
    blocked: PathBuf,
    allowed: Arc<Mutex<Receiver<()>>>,
}

impl Doors for BlockingDoors {
    fn files(&self, cancellation: &Cancellation) -> Box<dyn Files> {
        Box::new(BlockingFiles {
            inner: SystemFiles::new(cancellation.clone()),
            blocked: self.blocked.clone(),
            allowed: Arc::clone(&self.allowed),
        })
    }
}

/// Waits for the next event that the predicate accepts, looking again and again as a progress display does.
async fn wait_for(queue: &mut EventQueue, is_meant: impl Fn(&Event) -> bool) {
    loop {
        if queue.take().iter().any(|QueuedEvent { event, .. }| is_meant(event)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn file_work_blocks_neither_timers_nor_events_nor_cancellation() {
    let scratch = Scratch::new();
    let blocked = PathBuf::from(scratch.at("blocked"));
    let manifest = manifest_of(
        &scratch,
        // Directories are made one by one, and contents of neighbours would be written together.
        &"    - file: [{DIR/before: {ensure: directory}}, {DIR/blocked: {ensure: directory}}, {DIR/after: {ensure: directory}}]\n"
            .replace("DIR", &scratch.path().display().to_string()),
    );
    let (allow, allowed) = channel();
    let doors = BlockingDoors { blocked, allowed: Arc::new(Mutex::new(allowed)) };
    let config = Config { doors: Box::new(doors), ..config(&scratch) };
    let canceller = Canceller::new();
    let options = RunOptions { canceller: canceller.clone(), ..RunOptions::default() };
    let (mut sink, mut queue) = event_queue();
    block_on(async {
        let job = spawn(config, async move |session| {
            let input = session
                .read(ManifestSource::File(manifest), &GivenValues::default(), 1 << 20)
                .expect("a manifest");
            let manifest = session.load(&input).expect("a manifest without errors");
            manifest.apply(options, &mut sink).await.expect("a run").summary
        })
        .expect("a thread");
        // The resource that blocks has begun, and this thread sees that although nothing has ended.
        wait_for(&mut queue, |event| match event {
            Event::ResourceStarted(started) => started.id.name.ends_with("/blocked"),
            _ => false,
        })
        .await;
        let timer = tokio::time::timeout(Duration::from_millis(1), queue.next()).await;
        assert!(timer.is_err(), "the run goes on while a file blocks it: {timer:?}");
        let cause = StopCause::Timeout { after: Duration::from_secs(1) };
        canceller.raise(CancellationLevel::Stop, cause.clone());
        drop(allow);
        let mut outcomes = Vec::new();
        while let Some(events) = queue.next().await {
            outcomes.extend(events.into_iter().filter_map(|queued| match queued.event {
                Event::ResourceFinished(transaction) => Some(transaction.outcome),
                _ => None,
            }));
        }
        let summary = job.await.expect("a summary");
        assert_eq!(summary.stopped, Some(cause));
        assert!(matches!(outcomes.last(), Some(Outcome::Skipped { .. })), "{outcomes:?}");
    });
    assert!(scratch.has("before") && !scratch.has("after"));
}

#[test]
fn many_events_wake_the_receiver_seldom() {
    let scratch = Scratch::new();
    let file = |number: i32| format!("{{{}: {{ensure: absent}}}}", scratch.at(&number.to_string()));
    let files: Vec<String> = (0..1000).map(file).collect();
    let manifest = manifest_of(&scratch, &format!("    - file: [{}]\n", files.join(", ")));
    let (mut sink, mut queue) = event_queue();
    let config = config(&scratch);
    let (batches, events) = block_on(async {
        let job = spawn(config, async move |session| {
            let input = session
                .read(ManifestSource::File(manifest), &GivenValues::default(), 1 << 20)
                .expect("a manifest");
            let manifest = session.load(&input).expect("a manifest without errors");
            let options = RunOptions { json_lines: true, ..RunOptions::default() };
            manifest.apply(options, &mut sink).await.expect("a run").summary.counts
        })
        .expect("a thread");
        let (mut batches, mut all) = (0, Vec::new());
        while let Some(events) = queue.next().await {
            batches += 1;
            all.extend(events);
        }
        assert_eq!(job.await.expect("counts").unchanged, 1000);
        (batches, all)
    });
    assert!(batches < 30, "{batches} batches");
    let lines = events.iter().filter(|queued| queued.line.is_some()).count();
    assert_eq!(lines, 1002);
    assert!(matches!(events.first().map(|queued| &queued.event), Some(Event::SessionStarted(_))));
    assert!(matches!(events.last().map(|queued| &queued.event), Some(Event::SessionFinished(_))));
}

#[test]
fn a_job_that_panics_is_an_error() {
    let scratch = Scratch::new();
    let config = config(&scratch);
    let result = block_on(async {
        let job = spawn(config, async |_| -> () { std::panic::panic_any("meant to be") });
        job.expect("a thread").await
    });
    assert!(matches!(result, Err(JobError::Panicked)), "{result:?}");
}
