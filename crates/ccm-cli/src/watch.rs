//! The watch over what ends a run from outside.

use std::io;
use std::thread;
use std::time::Duration;

use ccm_runtime::process::Deadline;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::{Canceller, Level, StopCause};

/// Turns signals and the end of the run's time into a cancellation, until the process ends.
///
/// It has a thread of its own: what works on files does not wait, and would let it notice nothing meanwhile.
pub(crate) fn begin(signals: Signals, timeout: Option<Duration>, canceller: Canceller) -> io::Result<()> {
    // Without a moment to count from, as with a time beyond the clock's, there is no end.
    let mut deadline = timeout.and_then(|after| Some((Deadline::after(after)?, after)));
    let watch = move || {
        let mut level = Level::Go;
        // The descriptor is ours, so reading it does not fail; and without it nothing is left to watch.
        while let Ok(signal) = signals.wait(deadline.map(|(moment, _)| moment)) {
            let (stop, urgent) = match (signal, deadline.take()) {
                (Some(signal), _) => {
                    let stop = StopCause::Signal { name: signal.name.to_owned(), number: signal.number };
                    // Who types Ctrl-\\ does not want to wait.
                    (stop, signal.name == "SIGQUIT")
                }
                (None, Some((_, after))) => (StopCause::Timeout { after }, false),
                (None, None) => continue,
            };
            // The first cause is the one that is told; a second one only makes it more urgent.
            level = if level == Level::Go && !urgent { Level::Stop } else { Level::Kill };
            canceller.raise(level, stop);
        }
    };
    thread::Builder::new().name("ccm-watch".to_owned()).spawn(watch)?;
    Ok(())
}
