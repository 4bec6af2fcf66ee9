//! Messages of name servers. What comes back is not trusted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::DnsRecord;

/// Class of records of the internet.
const INTERNET: u16 = 1;
/// Maximum number of pointers in a name. More are a loop.
const MAX_POINTERS: usize = 128;
/// Maximum length of a name in a message.
const MAX_NAME: usize = 255;
/// Length of the head of a message.
const HEAD: usize = 12;

impl DnsRecord {
    fn number(self) -> u16 {
        match self {
            Self::A => 1,
            Self::Ns => 2,
            Self::Cname => 5,
            Self::Ptr => 12,
            Self::Mx => 15,
            Self::Txt => 16,
            Self::Aaaa => 28,
            Self::Srv => 33,
            Self::Caa => 257,
        }
    }
}

/// Question about a name.
pub(super) struct Question {
    record: DnsRecord,
    bytes: Vec<u8>,
}

/// What a message says about a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Records as texts; none if the name or the record does not exist.
    Records(Vec<String>),
    /// The server does not answer, for this reason.
    Refused(String),
    /// The answer is too long for a datagram.
    Truncated,
    /// The answer can't be read.
    Malformed,
    /// The message is no answer to the question.
    Other,
}

impl Question {
    /// Writes a question; `None` if the name is none.
    pub(super) fn new(id: u16, name: &str, record: DnsRecord) -> Option<Self> {
        let name = match name.parse() {
            Ok(address) if record == DnsRecord::Ptr => reverse_name(address),
            _ => name.strip_suffix('.').unwrap_or(name).to_owned(),
        };
        let mut bytes = Vec::with_capacity(HEAD + name.len() + 6);
        // Recursion is desired; there is one question, and nothing else.
        for number in [id, 0x0100, 1, 0, 0, 0] {
            bytes.extend(number.to_be_bytes());
        }
        for label in name.split('.') {
            let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
            if !label.bytes().all(|byte| byte.is_ascii_graphic()) {
                return None;
            }
            bytes.push(length);
            bytes.extend(label.as_bytes());
        }
        bytes.push(0);
        if bytes.len() - HEAD > MAX_NAME {
            return None;
        }
        bytes.extend(record.number().to_be_bytes());
        bytes.extend(INTERNET.to_be_bytes());
        Some(Self { record, bytes })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads a message.
    pub(super) fn read(&self, message: &[u8]) -> Reply {
        if !self.is_answered_by(message) {
            return Reply::Other;
        }
        let is_truncated = message[2] & 0x02 != 0;
        match message[3] & 0x0f {
            _ if is_truncated => Reply::Truncated,
            0 => self.records(message).map_or(Reply::Malformed, Reply::Records),
            3 => Reply::Records(Vec::new()),
            code => Reply::Refused(code_name(code)),
        }
    }

    /// Returns `true` for an answer with the same number and question.
    fn is_answered_by(&self, message: &[u8]) -> bool {
        let is_response = message.get(2).is_some_and(|flags| flags & 0x80 != 0);
        let question = message.get(HEAD..self.bytes.len());
        message.get(..2) == self.bytes.get(..2)
            && is_response
            && message.get(4..6) == self.bytes.get(4..6)
            && question.is_some_and(|question| question.eq_ignore_ascii_case(&self.bytes[HEAD..]))
    }

    fn records(&self, message: &[u8]) -> Option<Vec<String>> {
        let count = u16::from_be_bytes([message[6], message[7]]);
        let mut reader = Reader { message, at: self.bytes.len() };
        let mut records = Vec::new();
        for _ in 0..count {
            reader.name()?;
            let (number, class) = (reader.number()?, reader.number()?);
            reader.skip(4)?;
            let length = usize::from(reader.number()?);
            let end = reader.at.checked_add(length).filter(|end| *end <= message.len())?;
            if number == self.record.number() && class == INTERNET {
                let mut data = Reader { message: message.get(..end)?, at: reader.at };
                data.record(self.record, end, &mut records)?;
            }
            reader.at = end;
        }
        Some(records)
    }
}

/// Returns the name that stands for an address in questions about its name.
fn reverse_name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(address) => {
            let digits = format!("{:032x}", address.to_bits());
            let digits: Vec<String> = digits.chars().rev().map(String::from).collect();
            format!("{}.ip6.arpa", digits.join("."))
        }
    }
}

fn code_name(code: u8) -> String {
    match code {
        1 => "FORMERR".to_owned(),
        2 => "SERVFAIL".to_owned(),
        4 => "NOTIMP".to_owned(),
        5 => "REFUSED".to_owned(),
        code => format!("with the code {code}"),
    }
}

/// Reader of a message.
struct Reader<'m> {
    message: &'m [u8],
    at: usize,
}

impl<'m> Reader<'m> {
    fn bytes(&mut self, length: usize) -> Option<&'m [u8]> {
        let bytes = self.message.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(bytes)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.bytes(length).map(drop)
    }

    fn byte(&mut self) -> Option<u8> {
        self.bytes(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u16> {
        self.bytes(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    /// Reads a name, which may go on elsewhere in the message. Its text ends with a dot.
    fn name(&mut self) -> Option<String> {
        let (mut text, mut length, mut pointers) = (String::new(), 0, 0);
        // Behind the first pointer, reading goes on elsewhere, and what follows the name is here.
        let mut end = None;
        loop {
            let head = self.byte()?;
            match head {
                0 => break,
                1..=63 => {
                    length += usize::from(head) + 1;
                    if length > MAX_NAME {
                        return None;
                    }
                    push_label(&mut text, self.bytes(head.into())?);
                }
                0xc0.. => {
                    pointers += 1;
                    if pointers > MAX_POINTERS {
                        return None;
                    }
                    let target = usize::from(head & 0x3f) << 8 | usize::from(self.byte()?);
                    end.get_or_insert(self.at);
                    self.at = target;
                }
                64.. => return None,
            }
        }
        self.at = end.unwrap_or(self.at);
        Some(if text.is_empty() { ".".to_owned() } else { text })
    }

    /// Reads the data of a record up to `end`.
    fn record(&mut self, record: DnsRecord, end: usize, texts: &mut Vec<String>) -> Option<()> {
        texts.push(match record {
            DnsRecord::A => Ipv4Addr::from(<[u8; 4]>::try_from(self.bytes(4)?).ok()?).to_string(),
            DnsRecord::Aaaa => Ipv6Addr::from(<[u8; 16]>::try_from(self.bytes(16)?).ok()?).to_string(),
            DnsRecord::Cname | DnsRecord::Ns | DnsRecord::Ptr => self.name()?,
            DnsRecord::Mx => format!("{} {}", self.number()?, self.name()?),
            DnsRecord::Srv => {
                let (priority, weight, port) = (self.number()?, self.number()?, self.number()?);
                format!("{priority} {weight} {port} {}", self.name()?)
            }
            DnsRecord::Caa => {
                let (flags, length) = (self.byte()?, self.byte()?);
                let tag = lossy(self.bytes(length.into())?);
                format!("{flags} {tag} {}", lossy(self.bytes(end.checked_sub(self.at)?)?))
            }
            DnsRecord::Txt => {
                let mut text = String::new();
                while self.at < end {
                    let length = self.byte()?;
                    text += &lossy(self.bytes(length.into())?);
                }
                text
            }
        });
        Some(())
    }
}

/// Adds a label and a dot. Bytes that are not printable, and dots, are escaped as in files of zones.
fn push_label(text: &mut String, label: &[u8]) {
    for byte in label {
        match byte {
            b'.' | b'\\' => text.extend(['\\', char::from(*byte)]),
            byte if byte.is_ascii_graphic() => text.push(char::from(*byte)),
            byte => *text += &format!("\\{byte:03}"),
        }
    }
    text.push('.');
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer to a question, with a code and records: each the number of its type, and its data.
    fn answer(question: &Question, flags: [u8; 2], records: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut message = question.bytes().to_vec();
        (message[2], message[3]) = (flags[0], flags[1]);
        message[7] = u8::try_from(records.len()).expect("few records");
        for (number, data) in records {
            // The name is that of the question.
            message.extend([0xc0, 12]);
            message.extend(number.to_be_bytes());
            message.extend([0, 1, 0, 0, 0, 60]);
            message.extend(u16::try_from(data.len()).expect("short data").to_be_bytes());
            message.extend(data);
        }
        message
    }

    fn question(record: DnsRecord) -> Question {
        Question::new(7, "a.test", record).expect("a question")
    }

    #[test]
    fn records_are_texts() {
        let name = b"\x04mail\xc0\x0c".to_vec();
        let with = |head: &[u8]| [head, &name].concat();
        for (record, data, text) in [
            (DnsRecord::A, vec![192, 0, 2, 1], "192.0.2.1"),
            (DnsRecord::Aaaa, [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[1]].concat(), "2001:db8::1"),
            (DnsRecord::Cname, name.clone(), "mail.a.test."),
            (DnsRecord::Ns, vec![0], "."),
            (DnsRecord::Ptr, b"\x03b.c\x02\xffd\0".to_vec(), "b\\.c.\\255d."),
            (DnsRecord::Mx, with(&[0, 10]), "10 mail.a.test."),
            (DnsRecord::Srv, with(&[0, 1, 0, 2, 1, 187]), "1 2 443 mail.a.test."),
            (DnsRecord::Caa, b"\0\x05issueca.test".to_vec(), "0 issue ca.test"),
            (DnsRecord::Txt, b"\x03one\x04 two".to_vec(), "one two"),
        ] {
            let question = question(record);
            // A record of another type, such as the way to a name, is no answer by itself.
            let other = if record == DnsRecord::A { DnsRecord::Txt } else { DnsRecord::A };
            let records = [(other.number(), vec![0, 0, 0, 0]), (record.number(), data)];
            let reply = question.read(&answer(&question, [0x81, 0x80], &records));
            assert_eq!(reply, Reply::Records(vec![text.to_owned()]), "{record:?}");
        }
    }

    #[test]
    fn answers_without_records_have_a_meaning() {
        let question = question(DnsRecord::A);
        for (flags, reply) in [
            ([0x81, 0x80], Reply::Records(Vec::new())),
            ([0x81, 0x83], Reply::Records(Vec::new())),
            ([0x83, 0x80], Reply::Truncated),
            ([0x81, 0x82], Reply::Refused("SERVFAIL".to_owned())),
            ([0x81, 0x85], Reply::Refused("REFUSED".to_owned())),
            ([0x81, 0x89], Reply::Refused("with the code 9".to_owned())),
            ([0x01, 0x00], Reply::Other),
        ] {
            assert_eq!(question.read(&answer(&question, flags, &[])), reply, "{flags:?}");
        }
        let other = Question::new(8, "a.test", DnsRecord::A).expect("a question");
        assert_eq!(question.read(&answer(&other, [0x81, 0x80], &[])), Reply::Other);
        let other = Question::new(7, "b.test", DnsRecord::A).expect("a question");
        assert_eq!(question.read(&answer(&other, [0x81, 0x80], &[])), Reply::Other);
        let upper = Question::new(7, "A.TEST", DnsRecord::A).expect("a question");
        assert_eq!(question.read(&answer(&upper, [0x81, 0x80], &[])), Reply::Records(Vec::new()));
    }

    #[test]
    fn malformed_answers_end() {
        let question = question(DnsRecord::Cname);
        for data in [
            vec![0xc0, 12, 0xc0],
            // Names that lead to themselves, outside of the message, or are too long.
            vec![0xc0, 36],
            vec![0xff, 0xff],
            vec![0x40, 0],
            [&[63][..], &[b'a'; 63]].concat().repeat(5),
            Vec::new(),
        ] {
            let message = answer(&question, [0x81, 0x80], &[(5, data.clone())]);
            let reply = question.read(&message);
            assert!(matches!(&reply, Reply::Malformed | Reply::Records(_)), "{data:?}: {reply:?}");
        }
        let whole = answer(&question, [0x81, 0x80], &[(5, b"\x01b\0".to_vec())]);
        assert_eq!(question.read(&whole), Reply::Records(vec!["b.".to_owned()]));
        for length in 0..whole.len() {
            let reply = question.read(&whole[..length]);
            assert!(matches!(reply, Reply::Other | Reply::Malformed), "{length}: {reply:?}");
        }
    }

    #[test]
    fn questions_have_valid_names() {
        let long = format!("{}.test", "a".repeat(64));
        let many = "a.".repeat(128);
        for name in ["", ".", "a..b", "a b", "ä.test", &long, &many] {
            assert!(Question::new(1, name, DnsRecord::A).is_none(), "{name}");
        }
        for (address, name) in [
            ("192.0.2.1", "1.2.0.192.in-addr.arpa"),
            ("2001:db8::1", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"),
        ] {
            let (by_address, by_name) =
                (Question::new(1, address, DnsRecord::Ptr), Question::new(1, name, DnsRecord::Ptr));
            assert_eq!(by_address.map(|found| found.bytes), by_name.map(|found| found.bytes), "{address}");
        }
    }
}
