//! Interim answers, such as `103 Early Hints`. A server may send any number of them before its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hyper::Request;
use tokio::sync::Notify;

/// Maximum number of interim answers before an answer.
const MAX_INTERIM: u32 = 20;

/// Limit of the interim answers to one request.
pub(super) struct InterimLimit(Arc<Notify>);

impl InterimLimit {
    /// Counts the interim answers to a request that is to be sent.
    pub(super) fn of<B>(request: &mut Request<B>) -> Self {
        let exceeded = Arc::new(Notify::new());
        let (count, of_callback) = (AtomicU32::new(0), Arc::clone(&exceeded));
        hyper::ext::on_informational(request, move |_| {
            if count.fetch_add(1, Ordering::Relaxed) == MAX_INTERIM {
                of_callback.notify_one();
            }
        });
        Self(exceeded)
    }

    /// Waits until there are more than may be, and returns that in words.
    pub(super) async fn exceeded(&self) -> String {
        self.0.notified().await;
        format!("more than {MAX_INTERIM} interim answers")
    }
}
