//! The format of headers of rpm: an index of tags, and a store of their values.

use std::collections::BTreeMap;

/// Tag of the region that holds all of a header.
pub(super) const IMMUTABLE: u32 = 63;
/// Tag of the region that holds all of a header of signatures.
pub(super) const SIGNATURES: u32 = 62;

const MAGIC: [u8; 8] = [0x8e, 0xad, 0xe8, 0x01, 0, 0, 0, 0];
/// Length of an entry of the index.
const ENTRY: usize = 16;

/// Value of a tag.
pub(super) enum TagValue {
    /// One text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// A text in each of the languages of the package.
    Translated(Vec<String>),
    /// 16-bit numbers.
    Shorts(Vec<u16>),
    /// 32-bit numbers.
    Numbers(Vec<u32>),
}

impl TagValue {
    fn kind(&self) -> u32 {
        match self {
            Self::Shorts(_) => 3,
            Self::Numbers(_) => 4,
            Self::Text(_) => 6,
            Self::Texts(_) => 8,
            Self::Translated(_) => 9,
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Text(_) => 1,
            Self::Texts(texts) | Self::Translated(texts) => texts.len(),
            Self::Shorts(numbers) => numbers.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    fn alignment(&self) -> usize {
        match self {
            Self::Shorts(_) => 2,
            Self::Numbers(_) => 4,
            Self::Text(_) | Self::Texts(_) | Self::Translated(_) => 1,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let text = |text: &String| [text.as_bytes(), b"\0"].concat();
        match self {
            Self::Text(value) => text(value),
            Self::Texts(texts) | Self::Translated(texts) => texts.iter().flat_map(text).collect(),
            Self::Shorts(numbers) => numbers.iter().flat_map(|number| number.to_be_bytes()).collect(),
            Self::Numbers(numbers) => numbers.iter().flat_map(|number| number.to_be_bytes()).collect(),
        }
    }
}

/// Header of a package.
#[derive(Default)]
pub(super) struct RpmHeader(BTreeMap<u32, TagValue>);

impl RpmHeader {
    pub(super) fn add(&mut self, tag: u32, value: TagValue) {
        self.0.insert(tag, value);
    }

    /// Encodes the header, with a region of that tag around it.
    pub(super) fn encode(&self, region: u32) -> Result<Vec<u8>, String> {
        const BINARY: u32 = 7;
        let entries = self.0.len() + 1;
        let mut index = Vec::with_capacity(entries * ENTRY);
        let mut store = Vec::new();
        for (tag, value) in &self.0 {
            store.resize(store.len().next_multiple_of(value.alignment()), 0);
            index.extend(entry(*tag, value.kind(), number(store.len())?, number(value.count())?));
            store.extend(value.bytes());
        }
        let region_entry = entry(region, BINARY, number(store.len())?, number(ENTRY)?);
        // The end of the region tells how far in front of it the index begins.
        let back = number(entries * ENTRY)?.wrapping_neg();
        store.extend(entry(region, BINARY, back, number(ENTRY)?));
        let lengths = [number(entries)?, number(store.len())?].map(u32::to_be_bytes).concat();
        Ok([&MAGIC[..], &lengths, &region_entry, &index, &store].concat())
    }
}

fn entry(tag: u32, kind: u32, offset: u32, count: u32) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    for (field, value) in entry.chunks_exact_mut(4).zip([tag, kind, offset, count]) {
        field.copy_from_slice(&value.to_be_bytes());
    }
    entry
}

fn number(length: usize) -> Result<u32, String> {
    u32::try_from(length).map_err(|_| format!("{length} bytes are too many for rpm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_aligned_and_in_the_order_of_their_tags() {
        let mut header = RpmHeader::default();
        header.add(1004, TagValue::Numbers(vec![7]));
        header.add(1000, TagValue::Text("ab".to_owned()));
        let bytes = header.encode(IMMUTABLE).expect("a header");
        let expected = [
            &MAGIC[..],
            &[0, 0, 0, 3, 0, 0, 0, 24],
            &[0, 0, 0, 63, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 16],
            &[0, 0, 3, 232, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1],
            &[0, 0, 3, 236, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1],
            b"ab\0\0\0\0\0\x07",
            &[0, 0, 0, 63, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xd0, 0, 0, 0, 16],
        ];
        assert_eq!(bytes, expected.concat());
    }
}
