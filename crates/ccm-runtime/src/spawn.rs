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
    /// The tokio runtime of the thread can't be made.
    #[error("the runtime of a session's thread can't be made")]
    Runtime(#[source] io::Error),
    /// The job panicked.
    #[error("the thread of a session panicked")]
    Panicked,
}

/// Job on a thread of its own. As a future it waits for the result; without anybody waiting, the job goes on.
#[derive(Debug)]
pub struct Job<T>(oneshot::Receiver<Result<T, JobError>>);

/// Runs a job with a session on a thread of its own, beside the reactor of the program.
///
/// Work on files blocks the thread that it runs on. On a thread of its own it holds up neither timers and
/// connections of the program nor the signals that it listens to. A [`Canceller`](crate::Canceller) ends the
/// run from there, and [`event_queue`](crate::event_queue()) brings the events there:
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
        // If nobody waits for the result, it is of no use.
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
