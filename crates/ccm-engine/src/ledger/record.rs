//! The lines of a ledger, and what they come to. Pure.

use std::collections::BTreeMap;
use std::time::SystemTime;

use ccm_model::{ResourceId, display_timestamp, parse_timestamp};
use serde::{Deserialize, Serialize};

const PROTOCOL: &str = "io.choria.ccm.v1.ledger";
/// What this version writes. It reads nothing that is newer.
const VERSION: u64 = 1;

/// Who owes a refresh to whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub subscriber: ResourceId,
    pub source: ResourceId,
}

/// From when a refresh is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Debt {
    pub run_id: String,
    pub since: SystemTime,
    /// The file of the manifest: several may have one name.
    pub manifest: String,
}

/// What is owed.
pub(crate) type Debts = BTreeMap<Pair, Debt>;

/// What a ledger says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Whose it is.
    pub key: String,
    pub debts: Debts,
}

/// Why a ledger says nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A later version of ccm wrote it.
    Newer { version: u64 },
    /// It is not what ccm writes.
    Damaged { reason: String },
}

#[derive(Serialize, Deserialize)]
struct Header {
    protocol: String,
    version: u64,
    manifest: String,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Record {
    Owed { subscriber: String, source: String, run: String, since: String, manifest: String },
    Dropped { subscriber: String, source: String },
    Paid { subscriber: String, source: String },
}

/// Reads a ledger. A last line that is not whole is of a record that was not synced, so nothing has come of it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Content, Unreadable> {
    let damaged = |reason: String| Unreadable::Damaged { reason };
    // What stands behind the last line end: nothing, or what was torn.
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let mut lines = bytes[..end.unwrap_or_default()].split(|byte| *byte == b'\n');
    let Some(head) = lines.next().filter(|_| end.is_some()) else {
        return Err(damaged("it has no header".to_owned()));
    };
    let header: Header =
        serde_json::from_slice(head).map_err(|_| damaged("line 1 is not a header".to_owned()))?;
    match header {
        Header { protocol, .. } if protocol != PROTOCOL => {
            return Err(damaged("line 1 is the header of something else".to_owned()));
        }
        Header { version: 0, .. } => return Err(damaged("there is no version 0".to_owned())),
        Header { version, .. } if version > VERSION => return Err(Unreadable::Newer { version }),
        Header { .. } => {}
    }
    let mut debts = Debts::new();
    let mut records = lines.zip(2_u64..).peekable();
    while let Some((line, number)) = records.next() {
        if enter(&mut debts, line).is_none() && records.peek().is_some() {
            return Err(damaged(format!("line {number} is not a record")));
        }
    }
    Ok(Content { key: header.manifest, debts })
}

/// Enters a record; none if it is not one.
fn enter(debts: &mut Debts, line: &[u8]) -> Option<()> {
    let pair = |subscriber: &str, source: &str| {
        Some(Pair {
            subscriber: ResourceId::parse(subscriber).ok()?,
            source: ResourceId::parse(source).ok()?,
        })
    };
    match serde_json::from_slice(line).ok()? {
        Record::Owed { subscriber, source, run, since, manifest } => {
            let debt = Debt { run_id: run, since: parse_timestamp(&since)?, manifest };
            // What is owed already is owed from then.
            debts.entry(pair(&subscriber, &source)?).or_insert(debt);
        }
        Record::Dropped { subscriber, source } | Record::Paid { subscriber, source } => {
            debts.remove(&pair(&subscriber, &source)?);
        }
    }
    Some(())
}

/// The line of a refresh that is owed.
pub(crate) fn owed(pair: &Pair, debt: &Debt) -> String {
    line(&Record::Owed {
        subscriber: pair.subscriber.to_string(),
        source: pair.source.to_string(),
        run: debt.run_id.clone(),
        since: display_timestamp(debt.since, 2),
        manifest: debt.manifest.clone(),
    })
}

/// The line of one that is owed no more, because its source turned out to change nothing.
pub(crate) fn dropped(pair: &Pair) -> String {
    line(&Record::Dropped { subscriber: pair.subscriber.to_string(), source: pair.source.to_string() })
}

/// The line of one that was done.
pub(crate) fn paid(pair: &Pair) -> String {
    line(&Record::Paid { subscriber: pair.subscriber.to_string(), source: pair.source.to_string() })
}

/// A whole ledger.
pub(crate) fn whole<'d>(key: &str, debts: impl IntoIterator<Item = (&'d Pair, &'d Debt)>) -> String {
    let header = Header { protocol: PROTOCOL.to_owned(), version: VERSION, manifest: key.to_owned() };
    let records = debts.into_iter().map(|(pair, debt)| owed(pair, debt));
    std::iter::once(line(&header)).chain(records).collect()
}

fn line(of: &impl Serialize) -> String {
    // Their fields are text and numbers, and that can be written.
    let mut line = serde_json::to_string(of).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
