//! Formats of ini-like files, named after the programs that read them.

use ccm_properties::words;

words! {
    /// Program whose rules decide how a file is read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Format {
        /// Python's configparser.
        Ini = "ini",
        Git = "git",
        /// Units and configuration files of systemd.
        Systemd = "systemd",
        /// Option files of `MySQL` and `MariaDB`.
        Mysql = "mysql",
        /// `smb.conf`.
        Samba = "samba",
    }
}

/// Rules for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub format: Format,
    /// `true` if the manifest names no format: what programs read differently is refused.
    pub is_assumed: bool,
    /// Text between key and value of a new line, with blanks.
    pub separator: String,
    /// Texts that end a key, in the format `ini`. Blanks alone do so if there are none.
    pub delimiters: Vec<Vec<u8>>,
}

impl Syntax {
    /// Builds the rules. `key` decides which delimiters a key can't contain.
    pub(super) fn new(format: Option<Format>, separator: Option<String>, key: &str) -> Self {
        let is_assumed = format.is_none();
        let format = format.unwrap_or(Format::Ini);
        let default = if format == Format::Systemd { "=" } else { " = " };
        let separator = separator.unwrap_or_else(|| default.to_owned());
        let core = separator.trim();
        let delimiters = match core {
            "=" | ":" => ["=", ":"].into_iter().filter(|one| *one == core || !key.contains(one)).collect(),
            "" => Vec::new(),
            other => vec![other],
        };
        let delimiters = delimiters.into_iter().map(|one| one.as_bytes().to_vec()).collect();
        Self { format, is_assumed, separator, delimiters }
    }

    /// Returns the separator without the blanks around it; empty if blanks alone separate.
    pub(super) fn core(&self) -> &str {
        self.separator.trim()
    }

    /// Returns `true` if a deeper line continues the value above it.
    pub(super) fn has_deeper_lines(&self) -> bool {
        self.format == Format::Ini && matches!(self.core(), "=" | ":")
    }

    /// Returns a key in the form in which the program compares keys.
    pub(super) fn key(&self, key: &[u8]) -> Vec<u8> {
        match self.format {
            Format::Ini if self.is_assumed => key.to_vec(),
            Format::Ini => lowercase(key),
            Format::Git => key.to_ascii_lowercase(),
            Format::Systemd => key.to_vec(),
            Format::Mysql => key.iter().map(|byte| if *byte == b'-' { b'_' } else { *byte }).collect(),
            Format::Samba => without_blanks(key),
        }
    }

    /// Returns a section in the form in which the program compares sections. For git that is the name with a dot
    /// before the subsection, which [`super::git_file`] finds.
    pub(super) fn section(&self, section: &[u8]) -> Vec<u8> {
        match self.format {
            Format::Ini | Format::Systemd | Format::Git => section.to_vec(),
            Format::Mysql => section.trim_ascii_end().to_ascii_lowercase(),
            Format::Samba if matches!(&without_blanks(section)[..], b"" | b"global" | b"globals") => {
                b"global".to_vec()
            }
            Format::Samba => lowercase(section),
        }
    }
}

/// Returns a text in lower case, also letters that are not ASCII.
pub(super) fn lowercase(text: &[u8]) -> Vec<u8> {
    str::from_utf8(text).map_or_else(|_| text.to_ascii_lowercase(), |text| text.to_lowercase().into_bytes())
}

fn without_blanks(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| !is_space(**byte)).map(u8::to_ascii_lowercase).collect()
}

/// Returns `true` for a blank of the C library.
pub(super) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}
