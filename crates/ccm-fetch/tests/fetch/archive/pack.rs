//! Writers of archives that also write what no proper program does.

use std::io::Write as _;

/// Entry of an archive.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub name: Vec<u8>,
    /// Type flag of tar: `0` file, `1` hard link, `2` link, `3` device, `5` directory, `6` pipe.
    pub kind: u8,
    pub mode: u32,
    pub content: Vec<u8>,
    pub link: Vec<u8>,
}

impl Item {
    pub(crate) fn file(name: impl AsRef<[u8]>, content: impl Into<Vec<u8>>) -> Self {
        let name = name.as_ref().to_vec();
        Self { name, kind: b'0', mode: 0o644, content: content.into(), link: Vec::new() }
    }

    pub(crate) fn directory(name: &str) -> Self {
        Self { kind: b'5', mode: 0o755, ..Self::file(name, "") }
    }

    pub(crate) fn link(name: &str, to: impl AsRef<[u8]>) -> Self {
        Self { link: to.as_ref().to_vec(), kind: b'2', ..Self::file(name, "") }
    }

    pub(crate) fn hard_link(name: &str, to: &str) -> Self {
        Self { kind: b'1', ..Self::link(name, to) }
    }

    pub(crate) fn of_kind(name: &str, kind: u8) -> Self {
        Self { kind, ..Self::file(name, "") }
    }

    pub(crate) fn with_mode(self, mode: u32) -> Self {
        Self { mode, ..self }
    }
}

/// Packs entries in the format that the end of the name stands for.
pub(crate) fn pack(format: &str, items: &[Item]) -> Vec<u8> {
    if format == ".zip" { zip(items) } else { compress(format, &tar(items)) }
}

pub(crate) fn compress(format: &str, bytes: &[u8]) -> Vec<u8> {
    match format {
        ".tar.gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(bytes).expect("bytes");
            encoder.finish().expect("gzip")
        }
        ".tar.bz2" => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            encoder.write_all(bytes).expect("bytes");
            encoder.finish().expect("bzip2")
        }
        ".tar.xz" => liblzma::encode_all(bytes, 6).expect("xz"),
        ".tar.zst" => zstd::encode_all(bytes, 3).expect("zstd"),
        _ => bytes.to_vec(),
    }
}

pub(crate) fn tar(items: &[Item]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for item in items {
        if item.name.len() > 100 {
            let long = Item { kind: b'L', ..Item::file("././@LongLink", item.name.clone()) };
            bytes.extend(tar_entry(&long));
        }
        bytes.extend(tar_entry(item));
    }
    bytes.extend([0; 1024]);
    bytes
}

pub(crate) fn tar_entry(item: &Item) -> Vec<u8> {
    let mut bytes = tar_header(item, item.content.len() as u64).to_vec();
    bytes.extend(&item.content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

pub(crate) fn tar_header(item: &Item, size: u64) -> [u8; 512] {
    let mut header = [0; 512];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &item.name[..item.name.len().min(100)]);
    put(100, format!("{:07o}\0", item.mode).as_bytes());
    put(108, b"0001750\x000001750\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"14000000000\0");
    put(148, b"        ");
    put(156, &[item.kind]);
    put(157, &item.link[..item.link.len().min(100)]);
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Pax records before an entry.
pub(crate) fn pax(records: &[(&str, &str)]) -> Item {
    let mut content = String::new();
    for (key, value) in records {
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len();
        while format!("{length}{rest}").len() != length {
            length = format!("{length}{rest}").len();
        }
        content += &format!("{length}{rest}");
    }
    Item { kind: b'x', ..Item::file("pax", content) }
}

/// Entry of a zip file with everything that can be wrong in it.
#[derive(Clone, Debug)]
pub(crate) struct ZipItem {
    pub item: Item,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    /// Length in the directory.
    pub size: u32,
    pub data: Vec<u8>,
    /// Name in the local header.
    pub local_name: Vec<u8>,
    /// Extra fields in the directory and in the local header.
    pub extra: Vec<u8>,
    pub local_extra: Vec<u8>,
    /// Uses the local header of this entry in place of its own.
    pub at: Option<usize>,
    /// 3 is Unix.
    pub host: u8,
    /// Attributes of DOS.
    pub attributes: u32,
}

impl ZipItem {
    pub(crate) fn of(item: &Item) -> Self {
        let content = if item.kind == b'2' { &item.link } else { &item.content };
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).expect("bytes");
        let mut name = item.name.clone();
        if item.kind == b'5' && !name.ends_with(b"/") {
            name.push(b'/');
        }
        Self {
            flags: 0,
            method: 8,
            crc: crc.sum(),
            size: u32::try_from(content.len()).expect("a length"),
            data: encoder.finish().expect("deflate"),
            local_name: name.clone(),
            extra: Vec::new(),
            local_extra: Vec::new(),
            at: None,
            host: 3,
            attributes: 0,
            item: Item { name, ..item.clone() },
        }
    }
}

pub(crate) fn zip(items: &[Item]) -> Vec<u8> {
    zip_items(&items.iter().map(ZipItem::of).collect::<Vec<_>>())
}

pub(crate) fn zip_items(items: &[ZipItem]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut starts = Vec::new();
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a length").to_le_bytes();
    let short = |bytes: &[u8]| u16::try_from(bytes.len()).expect("a length").to_le_bytes();
    for item in items {
        starts.push(length(&bytes));
        if item.at.is_some() {
            continue;
        }
        bytes.extend(b"PK\x03\x04\x14\0");
        bytes.extend(item.flags.to_le_bytes());
        bytes.extend(item.method.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(item.crc.to_le_bytes());
        bytes.extend(length(&item.data));
        bytes.extend(item.size.to_le_bytes());
        bytes.extend(short(&item.local_name));
        bytes.extend(short(&item.local_extra));
        bytes.extend(&item.local_name);
        bytes.extend(&item.local_extra);
        bytes.extend(&item.data);
    }
    let directory = length(&bytes);
    let start = bytes.len();
    for (item, own) in items.iter().zip(&starts) {
        let kind = match item.item.kind {
            b'2' => 0o12_0000,
            b'3' => 0o02_0000,
            b'5' => 0o04_0000,
            b'6' => 0o01_0000,
            _ => 0o10_0000_u32,
        };
        bytes.extend(b"PK\x01\x02\x14");
        bytes.extend([item.host, 20, 0]);
        bytes.extend(item.flags.to_le_bytes());
        bytes.extend(item.method.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(item.crc.to_le_bytes());
        bytes.extend(length(&item.data));
        bytes.extend(item.size.to_le_bytes());
        bytes.extend(short(&item.item.name));
        bytes.extend(short(&item.extra));
        bytes.extend([0; 6]);
        bytes.extend(((kind | item.item.mode) << 16 | item.attributes).to_le_bytes());
        bytes.extend(item.at.map_or(*own, |at| starts[at]));
        bytes.extend(&item.item.name);
        bytes.extend(&item.extra);
    }
    let size = length(&bytes[start..]);
    let count = u16::try_from(items.len()).expect("a number").to_le_bytes();
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].concat());
    bytes.extend([size, directory].concat());
    bytes.extend([0; 2]);
    bytes
}
