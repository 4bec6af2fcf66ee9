//! The watch over what ends a run from outside.

use std::io;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use ccm_host::signals::Signals;
use ccm_host::{CancellationSource, Level, after};
use ccm_model::StopCause;

/// Turns signals and the end of the run's time into a cancellation, until the process ends.
///
/// It has a thread of its own: what works on files does not wait, and would let it notice nothing meanwhile.
pub(crate) fn begin(
    signals: Signals,
    timeout: Option<Duration>,
    source: CancellationSource,
    cause: Arc<OnceLock<StopCause>>,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let watch = move || runtime.block_on(watch(signals, timeout, &source, &cause));
    thread::Builder::new().name("ccm-watch".to_owned()).spawn(watch)?;
    Ok(())
}

async fn watch(
    mut signals: Signals,
    timeout: Option<Duration>,
    source: &CancellationSource,
    cause: &OnceLock<StopCause>,
) {
    let mut deadline = pin!(after(timeout));
    let mut level = Level::Go;
    loop {
        let (stop, urgent) = tokio::select! {
            signal = signals.next() => {
                let stop = StopCause::Signal { name: signal.name.to_owned(), number: signal.number };
                // Who types Ctrl-\\ does not want to wait.
                (stop, signal.name == "SIGQUIT")
            }
            after = &mut deadline, if level == Level::Go => (StopCause::Timeout { after }, false),
        };
        // The first cause is the one that is told; a second one only makes it more urgent.
        level = if level == Level::Go && !urgent { Level::Stop } else { Level::Kill };
        let _ = cause.set(stop);
        source.raise(level);
    }
}
