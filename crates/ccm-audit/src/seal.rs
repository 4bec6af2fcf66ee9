//! Seals: signatures over everything before them.

use std::fmt;

use crate::entry::AuditEntry;
use crate::error::KeyError;
use crate::key::{PublicKey, SealKey};
use crate::line::{Line, LinePosition};

/// First line of the text that is signed.
const FORMAT: &str = "ccm-seal/1";

/// Statement of a seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Id of the machine.
    pub machine: String,
    /// Number of the seal, from 1.
    pub number: u64,
    /// Number of the line that holds the seal.
    pub line: u64,
    /// Hash of the line before the seal.
    pub head: String,
    /// Time of the seal.
    pub time: String,
    /// Id of the boot of the machine.
    pub boot: String,
    /// Key of the next seal.
    pub next: PublicKey,
    /// Intents that have not ended.
    pub open: Vec<OpenIntent>,
}

/// Intent that has not ended, with the process that ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenIntent {
    /// Id of the intent.
    pub intent: String,
    /// Process that began the command.
    pub pid: i32,
    /// Start of that process, in clock ticks since the boot.
    pub started: u64,
}

impl Seal {
    /// Signs the statement.
    pub(crate) fn sign(&self, key: &SealKey) -> Result<AuditEntry, KeyError> {
        let statement = self.to_string();
        let signature = key.sign(&statement)?;
        Ok(AuditEntry::Seal { statement, signature })
    }

    /// Reads a statement. `None` if it is not exactly in the form that ccm writes.
    pub(crate) fn parse(statement: &str) -> Option<Self> {
        let mut lines = statement.split('\n');
        if lines.next() != Some(FORMAT) {
            return None;
        }
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let seal = Self {
            machine: value("machine")?.to_owned(),
            number: value("seal")?.parse().ok()?,
            line: value("line")?.parse().ok()?,
            head: value("head")?.to_owned(),
            time: value("time")?.to_owned(),
            boot: value("boot")?.to_owned(),
            next: PublicKey::parse(value("next")?).ok()?,
            open: match value("open")? {
                "none" => Vec::new(),
                open => open.split(' ').map(OpenIntent::parse).collect::<Option<_>>()?,
            },
        };
        (seal.to_string() == statement).then_some(seal)
    }

    /// Returns `true` if the seal stands in this line at this place of this log. What its line says besides the
    /// signature is what was signed.
    pub(crate) fn is_in(&self, line: &Line, before: &LinePosition, machine: &str, number: u64) -> bool {
        self.line == before.line + 1
            && self.head == before.head
            && self.machine == machine
            && self.number == number
            && (self.line, &self.head) == (line.line, &line.prev)
            && (&self.time, &self.boot) == (&line.time, &line.boot)
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, number, line, head, time, boot, next, open } = self;
        writeln!(formatter, "{FORMAT}\nmachine {machine}\nseal {number}\nline {line}\nhead {head}")?;
        write!(formatter, "time {time}\nboot {boot}\nnext {next}\nopen")?;
        match &open[..] {
            [] => formatter.write_str(" none")?,
            open => open.iter().try_for_each(|intent| write!(formatter, " {intent}"))?,
        }
        formatter.write_str("\n")
    }
}

impl OpenIntent {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (intent, process) = text.split_once('@')?;
        let (pid, started) = process.split_once('.')?;
        Some(Self { intent: intent.to_owned(), pid: pid.parse().ok()?, started: started.parse().ok()? })
    }
}

impl fmt::Display for OpenIntent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}.{}", self.intent, self.pid, self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::SEED;

    fn seal() -> Seal {
        Seal {
            machine: "m".to_owned(),
            number: 3,
            line: 9,
            head: "0a".repeat(32),
            time: "2026-01-02T03:04:05.000006Z".to_owned(),
            boot: "b".to_owned(),
            next: SealKey::from_seed(&[7; SEED]).expect("a key").public(),
            open: Vec::new(),
        }
    }

    #[test]
    fn a_statement_is_read_as_it_was_written() {
        let intent = |pid| OpenIntent { intent: "i".to_owned(), pid, started: 12 };
        for open in [vec![], vec![intent(1)], vec![intent(1), intent(2)]] {
            let seal = Seal { open, ..seal() };
            assert_eq!(Seal::parse(&seal.to_string()), Some(seal));
        }
    }

    #[test]
    fn any_other_form_is_no_statement() {
        let text = seal().to_string();
        for (from, to) in [
            ("ccm-seal/1", "ccm-seal/2"),
            ("seal 3", "seal 03"),
            ("seal 3", "seal  3"),
            ("line 9\n", ""),
            ("open none", "open none "),
            ("open none", "open x"),
            ("ssh-ed25519 ", "ssh-rsa "),
        ] {
            assert!(text.contains(from), "{from}");
            assert_eq!(Seal::parse(&text.replace(from, to)), None, "{to}");
        }
        assert_eq!(Seal::parse(&format!("{text}more")), None);
        assert_eq!(Seal::parse(""), None);
    }
}
