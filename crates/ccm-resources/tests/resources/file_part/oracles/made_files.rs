//! Files that are made of words, and settings to change in them.

use ccm_testkit::Random;

/// File with a setting to change.
#[derive(Debug)]
pub(super) struct Case {
    pub content: Vec<u8>,
    pub format: &'static str,
    pub section: &'static str,
    pub key: &'static str,
    /// `None` if the setting is to be absent.
    pub value: Option<&'static str>,
}

/// Words of a format.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// Empty for no format.
    pub format: &'static str,
    /// Texts between brackets, the first of which are those of settings to change.
    pub headers: &'static [&'static str],
    /// Texts behind a header.
    pub behind_headers: &'static [&'static str],
    pub keys: &'static [&'static str],
    pub separators: &'static [&'static str],
    /// Values as they are written.
    pub written: &'static [&'static str],
    /// Values of settings to change.
    pub values: &'static [&'static str],
    /// Whole lines.
    pub lines: &'static [&'static str],
}

const VALUES: &[&str] = &[
    "1",
    "2",
    "a b",
    "C:\\data\\",
    "\"q\"",
    "it's",
    "a # b",
    "x;y",
    "x = y",
    "k: v",
    "",
    "#",
    "[s]",
    "ü",
    "a\tb",
    "\\",
];

impl Words {
    pub(super) const INI: Self = Self {
        format: "ini",
        headers: &["s", "t x", "S", " s "],
        behind_headers: &["", "", "", " # c", " ; [x]", " x"],
        keys: &["key", "Key", "other key", "k.e-y", "bare"],
        separators: &[" = ", "=", ": ", ":", " =", "\t=\t"],
        written: &["1", "2", "a b", "C:\\data\\", "", "x = y", "\"q\"", "a # b", "1  ", "a \\"],
        values: VALUES,
        lines: &[
            "",
            "",
            "  ",
            "# note",
            "; key = 9",
            "#key = 9",
            "    deeper",
            "  key = 8",
            "    # deep",
            "bare",
            "\tx: y",
            "  [s]",
        ],
    };

    pub(super) const SYSTEMD: Self = Self {
        format: "systemd",
        headers: &["Service", "Unit", "service"],
        behind_headers: &["", "", "", "", "", "  "],
        keys: &["Key", "key", "Other", "ExecStart"],
        separators: &["=", "=", " = ", "= "],
        written: &[
            "1",
            "2",
            "",
            "a b",
            "a \\\n  b",
            "a \\\n# c\n b \\\n",
            "a\\\\",
            "a\\ ",
            "\\\n",
            "x=y # z",
        ],
        values: &["1", "2", "a b", "", "a\\\\", "a\\", "# x", "x=y", "\"a b\"", "a   b"],
        lines: &["", "", "# note", "; Key=9", "#Key=9", "bare", "  # deep \\", "Key"],
    };

    pub(super) const GIT: Self = Self {
        format: "git",
        headers: &["core", "remote \"o\"", "CORE", "remote \"O\"", "Remote  \"o\"", "remote.o"],
        behind_headers: &["", "", "", " # c", " key = 7", " [core]"],
        keys: &["key", "KEY", "other-key", "bare"],
        separators: &[" = ", "=", " =", "\t=  "],
        written: &[
            "1",
            "2",
            "",
            "a  b",
            "\"a # b\"",
            "a # c",
            "a;c",
            "\\\\",
            "a\\n",
            "a \\\n  b",
            "\"a \\\nb\" c",
            "\" a\"\"b \"",
            "# c",
            "a \\\n",
        ],
        values: &[
            "1",
            "2",
            "a b",
            " a ",
            "a # b",
            "x;y",
            "\"q\"",
            "C:\\data\\",
            "",
            "a\nb",
            "\ta",
            "ü",
            "a\\\"b",
            "a  b",
            "\r",
        ],
        lines: &["", "", "# note", "; key = 9", "\t#key = 9", "bare", "\tkey", "[include]\n\tpath = x"],
    };

    pub(super) const MYSQL: Self = Self {
        format: "mysql",
        headers: &["mysqld", "client", "MySQLd "],
        behind_headers: &["", "", "", " x", "# c"],
        keys: &["key", "other-key", "other_key", "Key", "skip-x"],
        separators: &[" = ", "=", " =", "= "],
        written: &[
            "1",
            "2",
            "",
            "a b",
            "\"a # b\"",
            "a#c",
            "C:\\data\\",
            "'a\\'b'",
            "it's # x",
            "a\\sb",
            "\\\\",
            "1 # c",
        ],
        values: &[
            "1",
            "2",
            "a b",
            " a ",
            "a # b",
            "'a'",
            "it's",
            "\"q",
            "C:\\new\\",
            "",
            "\\s",
            "a\\\"b#",
            "ü",
            "#",
        ],
        lines: &[
            "",
            "",
            "# note",
            "; key = 9",
            "#key = 9",
            "skip-x",
            "  skip_x # c",
            "key",
            "!include /nowhere/x",
            "  ",
        ],
    };

    pub(super) const SAMBA: Self = Self {
        format: "samba",
        // A share that only has the values of `global` is not told from one that has none.
        headers: &["share", "other", "SHARE", "sh  are", "sh are"],
        behind_headers: &["", "", "", " x", " # c"],
        keys: &["comment", "Com Ment", "preexec", "path"],
        separators: &[" = ", "=", " =", "\t= "],
        written: &["/a", "/b", "/a b", "/a \\\n  b", "/a # c", "/a \\ \nb", "/x  y"],
        values: &["/a", "/b", "/a b", "/a # c", "/a;b", "/x\\y", "/a\\", "/a  b", "/a = b"],
        lines: &["", "", "# note", "; comment = 9", "#path = /9", "bare", "   ; deep"],
    };

    /// Returns the case of a number.
    pub(super) fn case(&self, number: u64) -> Case {
        let mut random = Random::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
        let line_end = if random.below(8) == 0 { "\r\n" } else { "\n" };
        let mut content = String::new();
        // One depth for most lines, as in most files.
        let usual = ["", "", "\t", "  "][random.below(4)];
        for index in 0..3 + random.below(12) {
            let indentation = if random.below(6) == 0 { ["", " ", "    "][random.below(3)] } else { usual };
            let line = match random.below(10) {
                choice if choice < 2 || index == 0 => {
                    let (header, behind) = (random.one_of(self.headers), random.one_of(self.behind_headers));
                    format!("[{header}]{behind}")
                }
                2..=6 => {
                    let (key, separator) = (random.one_of(self.keys), random.one_of(self.separators));
                    format!("{indentation}{key}{separator}{}", random.one_of(self.written))
                }
                _ => random.one_of(self.lines).to_owned(),
            };
            content += &line.replace('\n', line_end);
            content += line_end;
        }
        if random.below(4) == 0 {
            content.truncate(content.len() - line_end.len());
        }
        let section = self.headers[random.below(2)];
        let key = random.one_of(self.keys);
        let value = (random.below(4) > 0).then(|| random.one_of(self.values));
        Case { content: content.into_bytes(), format: self.format, section, key, value }
    }
}
