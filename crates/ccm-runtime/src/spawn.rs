//! Sessions on a thread of their own.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::session::{Config, Session};

/// Size of the stack of a session's thread, that of a main thread.
const STACK_SIZE: usize = 8 << 20;

/// Error of a job on a thread of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The tokio runtime of the thread can't be created.
    #[error("can't create the tokio runtime of a thread")]
    Runtime(#[source] io::Error),
    /// The job panicked.
    #[error("the thread of a session panicked")]
    Panicked,
}

/// Job on its own thread. As a future it waits for the result; a dropped job continues.
#[derive(Debug)]
pub struct Job<T>(oneshot::Receiver<Result<T, JobError>>);

/// Runs a job with a session on its own thread, beside the reactor of the program.
///
/// Work on files blocks its thread. On its own thread it delays neither timers and connections of the program
/// nor its signals. A [`Canceller`](crate::Canceller) ends the run from another thread, and
/// [`event_queue`](crate::event_queue()) passes on the events:
///
/// ```
/// use ccm_runtime::{
///     Config, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, RunOptions, event_queue, spawn,
/// };
///
/// # async fn apply(path: std::path::PathBuf) -> Result<(), Box<dyn std::error::Error>> {
/// let (mut sink, mut queue) = event_queue();
/// let job = spawn(Config::default(), async move |session| {
///     let source = ManifestSource::File(path);
///     let input = session.read(source, &GivenValues::default(), MAX_MANIFEST_SIZE).expect("a manifest");
///     let manifest = session.load(&input).expect("a manifest without errors");
///     manifest.apply(RunOptions::default(), &mut sink).await
/// })?;
/// while let Some(events) = queue.next().await {
///     println!("{} events", events.len());
/// }
/// let report = job.await??;
/// # drop(report);
/// # Ok(())
/// # }
/// ```
pub fn spawn<T, J>(config: Config, job: J) -> io::Result<Job<T>>
where
    T: Send + 'static,
    J: AsyncFnOnce(Session) -> T + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let result = runtime.map(|runtime| runtime.block_on(job(Session::open(config))));
        // Without a receiver the result is dropped.
        let _ = sender.send(result.map_err(JobError::Runtime));
    };
    thread::Builder::new().name("ccm-session".to_owned()).stack_size(STACK_SIZE).spawn(work)?;
    Ok(Job(receiver))
}

impl<T> Future for Job<T> {
    type Output = Result<T, JobError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|result| result.unwrap_or(Err(JobError::Panicked)))
    }
}
