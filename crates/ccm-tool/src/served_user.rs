//! Users whom a service serves.

use std::io;
use std::path::PathBuf;

use ccm_host::{Account, viewing_as};
use ccm_model::error_layers;
use ccm_runtime::Session;

use crate::rate::{CountError, Counted, SharedCounts};

/// User whom a service serves: the kernel names the user, and the service itself has the rights of root.
///
/// Commands run as this user, and tools that read are answered by a program that runs as this user, so that no call has
/// more rights than its caller.
#[derive(Clone, Debug)]
pub struct ServedUser {
    /// Account of the user.
    pub account: Account,
    /// Program that answers tools that read: `ccm`, whose command `tool read` takes an input and prints
    /// [`reader_answer`](crate::reader_answer).
    pub reader: PathBuf,
}

impl ServedUser {
    /// Looks at files as the user, so that no answer depends on what the user may not see.
    pub(crate) fn view<T>(served: Option<&Self>, look: impl FnOnce() -> T) -> io::Result<T> {
        match served {
            Some(served) => viewing_as(&served.account.identity, look),
            None => Ok(look()),
        }
    }
}

/// Reason why a service does not take a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConnectionRefused {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The service can serve nobody, or not all who may call.
    pub is_fault: bool,
}

/// Counts of the connections of a service, which all its processes share.
#[derive(Debug)]
pub struct ServiceConnections(SharedCounts);

/// Connection that counts until this value is dropped.
#[derive(Debug)]
pub struct ServiceConnection<'c>(#[expect(dead_code, reason = "its end is what counts")] Counted<'c>);

impl ServiceConnections {
    /// Uses the counts in the state directory of a session.
    pub fn of(session: &Session) -> Result<Self, ConnectionRefused> {
        let state = session.state_path().map_err(|error| refused(&error))?;
        Ok(Self(SharedCounts::new(state, session.governance().audited_machine().boot)))
    }

    /// Counts a connection of a user, unless there are too many.
    pub fn begin(&self, uid: u32) -> Result<ServiceConnection<'_>, ConnectionRefused> {
        let counted = self.0.begin_connection(uid).map_err(|error| match error {
            CountError::Connections | CountError::ConnectionsOfUser => ConnectionRefused {
                message: error.to_string(),
                hint: "close a connection, and then connect again".to_owned(),
                is_fault: false,
            },
            error => refused(&error),
        })?;
        Ok(ServiceConnection(counted))
    }
}

fn refused(error: &dyn std::error::Error) -> ConnectionRefused {
    ConnectionRefused {
        message: error_layers(error).join(": "),
        hint: "let an operator look at the state directory of the service".to_owned(),
        is_fault: true,
    }
}
