//! Requests in progress.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;

/// Maximum number of requests in progress. It is above that of calls, so that a client can always ask for something else.
const MAX_REQUESTS: usize = 128;

/// Requests in progress of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionRequests(Arc<Mutex<HashSet<RequestId>>>);

/// Request in progress, until the last copy of this value is dropped.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "the value is kept for its end alone")]
pub(crate) struct RequestInProgress(Arc<OpenRequest>);

#[derive(Debug)]
struct OpenRequest {
    requests: ConnectionRequests,
    id: RequestId,
}

/// Reason why no request can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestRefused {
    #[error("the limit of {MAX_REQUESTS} requests in progress is reached")]
    TooMany,
    #[error("a request with this `id` is in progress")]
    IdInUse,
}

impl RequestRefused {
    /// Returns what to do instead.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::TooMany => "wait for an answer, and then ask again",
            Self::IdInUse => "give each request an `id` of its own",
        }
    }
}

impl ConnectionRequests {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request.
    pub(crate) fn begin(&self, id: &RequestId) -> Result<RequestInProgress, RequestRefused> {
        let mut ids = self.ids();
        if ids.contains(id) {
            return Err(RequestRefused::IdInUse);
        }
        if ids.len() >= MAX_REQUESTS {
            return Err(RequestRefused::TooMany);
        }
        ids.insert(id.clone());
        Ok(RequestInProgress(Arc::new(OpenRequest { requests: self.clone(), id: id.clone() })))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.requests.ids().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_few_requests_and_each_id_once() {
        let requests = ConnectionRequests::default();
        let begin = |number| requests.begin(&RequestId::Number(number));
        let mut open: Vec<RequestInProgress> = (0..127).map(|number| begin(number).expect("one")).collect();
        assert_eq!(begin(5).err(), Some(RequestRefused::IdInUse));
        let last = begin(127).expect("the last one");
        assert_eq!(begin(128).err(), Some(RequestRefused::TooMany));
        let copy = last.clone();
        drop(last);
        assert_eq!(begin(128).err(), Some(RequestRefused::TooMany));
        drop(copy);
        drop(begin(128).expect("a free place"));
        open.clear();
        drop(begin(5).expect("a free id"));
    }
}
