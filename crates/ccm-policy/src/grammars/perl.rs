//! Lines of perl that print, replace and choose lines: `print if /x/`, `s/a/b/g`.

use super::NotExact;

/// Signs around patterns that are read.
const DELIMITERS: [char; 6] = ['/', '|', ',', '!', '#', '%'];

/// Checks that code only prints what it reads, changed by replacements. Everything else is not known.
pub(crate) fn read_perl_line(code: &str) -> Result<(), NotExact> {
    let is_plain = code.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let mut reader = PerlReader { rest: code };
    if is_plain && reader.statements().is_some() { Ok(()) } else { Err(NotExact("code of perl")) }
}

/// Reader of code. Each function returns `None` for what it does not know.
struct PerlReader<'c> {
    rest: &'c str,
}

impl<'c> PerlReader<'c> {
    fn statements(&mut self) -> Option<()> {
        loop {
            self.blanks();
            if self.rest.is_empty() {
                return Some(());
            }
            if self.take(";") {
                continue;
            }
            self.statement()?;
            self.blanks();
            if !self.rest.is_empty() && !self.take(";") {
                return None;
            }
        }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }

    fn take(&mut self, expected: &str) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = self.rest.get(next.len_utf8()..)?;
        Some(next)
    }

    /// Takes a word in small letters.
    fn word(&mut self) -> &'c str {
        let length = self.rest.bytes().take_while(u8::is_ascii_lowercase).count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    fn digits(&mut self) -> Option<()> {
        let behind = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let has_digit = behind.len() < self.rest.len();
        self.rest = behind;
        has_digit.then_some(())
    }

    fn statement(&mut self) -> Option<()> {
        match self.word() {
            "print" | "say" => {
                self.ends_word()?;
                self.values()?;
            }
            "next" | "last" | "chomp" => self.ends_word()?,
            "s" => self.replacement()?,
            "tr" | "y" => self.translation()?,
            _ => return None,
        }
        self.blanks();
        if self.rest.starts_with('i') || self.rest.starts_with('u') {
            if !matches!(self.word(), "if" | "unless") {
                return None;
            }
            self.conditions()?;
        }
        Some(())
    }

    /// Refuses a name that goes on.
    fn ends_word(&self) -> Option<()> {
        match self.rest.chars().next() {
            None | Some(' ' | ';' | '"' | '$') => Some(()),
            Some(_) => None,
        }
    }

    /// Reads what `print` prints: texts and variables with commas or dots between.
    fn values(&mut self) -> Option<()> {
        self.blanks();
        if self.rest.is_empty() || !self.rest.starts_with(['"', '$']) {
            return Some(());
        }
        loop {
            match self.next()? {
                '"' => self.text('"')?,
                '$' => self.variable()?,
                _ => return None,
            }
            self.blanks();
            // `..` is a range, and `.=` assigns.
            let is_joined = self.take(",")
                || self.rest.starts_with('.') && !self.rest.starts_with("..") && !self.rest.starts_with(".=");
            if !is_joined {
                return Some(());
            }
            self.take(".");
            self.blanks();
        }
    }

    /// Reads the variable behind `$`: the line, a part that a pattern matched, a column, or the number of the line.
    fn variable(&mut self) -> Option<()> {
        let is_in_braces = self.take("{");
        match self.rest.chars().next()? {
            '1'..='9' => self.digits()?,
            '_' | '&' | '.' if !is_in_braces => {
                self.next();
            }
            'F' if !is_in_braces && self.take("F[") => {
                self.take("-");
                self.digits()?;
                if !self.take("]") {
                    return None;
                }
            }
            _ => return None,
        }
        if is_in_braces && !self.take("}") {
            return None;
        }
        // An element, a method, a package or a longer name.
        let goes_on = self.rest.starts_with(['[', '{', '(', '\''])
            || self.rest.starts_with("::")
            || self.rest.starts_with("->")
            || !is_in_braces && self.rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        (!goes_on).then_some(())
    }

    /// Reads a text with variables up to its end.
    fn text(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                c if c == end => return Some(()),
                '\\' => {
                    let escaped = self.next()?;
                    let is_plain = escaped.is_ascii_punctuation()
                        || escaped.is_ascii_digit()
                        || "ntreULEul".contains(escaped);
                    if !is_plain {
                        return None;
                    }
                }
                '@' => return None,
                '$' => self.variable()?,
                _ => {}
            }
        }
    }

    /// Reads a pattern up to its end.
    fn pattern(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                c if c == end => return Some(()),
                '\\' => {
                    let escaped = self.next()?;
                    if !escaped.is_ascii_punctuation()
                        && !"bBdDsSwWhHvVRKnrtAzZGQE123456789".contains(escaped)
                    {
                        return None;
                    }
                }
                // The end of a line, and no variable.
                '$' if self.rest.starts_with([')', '|', end]) => {}
                '@' | '$' => return None,
                '(' if self.rest.starts_with('*') => return None,
                '(' if self.rest.starts_with('?') => {
                    let known = ["?:", "?=", "?!", "?<=", "?<!", "?>", "?i)", "?i:"];
                    if !known.iter().any(|known| self.rest.starts_with(known)) {
                        return None;
                    }
                }
                _ => {}
            }
        }
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|delimiter| DELIMITERS.contains(delimiter))
    }

    fn flags(&mut self, known: &str) -> Option<()> {
        let flags = self.word();
        let ends = !self.rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        (ends && flags.chars().all(|flag| known.contains(flag))).then_some(())
    }

    fn replacement(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.pattern(delimiter)?;
        self.text(delimiter)?;
        self.flags("gims")
    }

    fn translation(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        for _ in 0..2 {
            loop {
                match self.next()? {
                    c if c == delimiter => break,
                    '\\' => {
                        self.next()?;
                    }
                    _ => {}
                }
            }
        }
        self.flags("cds")
    }

    fn conditions(&mut self) -> Option<()> {
        loop {
            self.condition()?;
            self.blanks();
            if !self.take("&&") && !self.take("||") {
                return Some(());
            }
        }
    }

    /// Reads a pattern, a comparison of the number of the line, or a range of lines.
    fn condition(&mut self) -> Option<()> {
        self.blanks();
        while self.take("!") {
            self.blanks();
        }
        match self.next()? {
            '/' => {
                self.pattern('/')?;
                self.flags("ims")
            }
            '$' => {
                if !self.take(".") {
                    return None;
                }
                self.blanks();
                let compares = ["==", "!=", "<=", ">=", "<", ">"].iter().any(|operator| self.take(operator));
                self.blanks();
                compares.then_some(())?;
                self.digits()
            }
            '0'..='9' => {
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
                if !self.take("..") {
                    return None;
                }
                self.digits()
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_only_print_are_known() {
        for code in [
            "print if /x/",
            "print if /^a.*b$/i",
            "print unless /^#/",
            "print if /a/ && !/b/",
            "print if 3..7",
            "print if $. == 3",
            "print \"$1\\n\" if /v=(\\d+)/",
            "print \"$F[0]\\n\"",
            "print $F[-1], \"\\n\"",
            "print $1 . \"\\n\" if /(x|y$)/",
            "print \"$.: $_\" if /x/",
            "s/a/b/",
            "s/a/b/g; s/c/d/",
            "s|/usr|/opt|g",
            "s/(\\w+) (\\w+)/$2 $1/",
            "s/x/${1}0/",
            "s/\\s+$//",
            "s#a#b#; print",
            "s/a/\\$x/",
            "tr/a-z/A-Z/",
            "y/a/b/",
            "next if /^$/; print",
            "s/(?<=a)b/c/; print;",
            "s/a/b/ if /c/",
            "chomp; print \"$_,\"",
            "",
        ] {
            assert!(read_perl_line(code).is_ok(), "{code}");
        }
    }

    #[test]
    fn everything_else_is_not_known() {
        for code in [
            "system 'id'",
            "print `id`",
            "print if /(?{system \"id\"})/",
            "print if /(??{`id`})/",
            "print if /@{[`id`]}/",
            "print if /$x/",
            "print if /$h{`id`}/",
            "s/a/`id`/e",
            "s/a/$x/",
            "s/a/@{[`id`]}/",
            "s/(a)/$1[`id`]/",
            "s/[@]x/y/",
            "s/(a)/$1{x}/",
            "s/(a)/$1->[`id`]/",
            "s/(a)/${\\ `id`}/",
            "s/(a)/${1}[`id`]/",
            "s/(a)/$_/ee",
            "s/a/b/gee",
            "s/a/b/x",
            "s{a}{b}e",
            "s'a'b'",
            "s /a/b/",
            "s/a/b/;`id`",
            "s/a/b/ or system 'id'",
            "s/a/b/ if system 'id'",
            "print if /x/ and system 'id'",
            "print STDERR",
            "print {open F, '|id'} 1",
            "print $fh \"x\"",
            "print $F[`id`]",
            "print $F[0][`id`]",
            "print \"$F[0]->{x}\"",
            "print \"$_[0]\"",
            "print \"$_{x}\"",
            "print \"@ARGV\"",
            "print \"$_::x\"",
            "print \"\\N{U+41}\"",
            "print <F>",
            "print if <F>",
            "print\n`id`",
            "print # x",
            "printf \"x\"",
            "print_x",
            "print $_ x 3",
            "print .. 3",
            "print if \\&x",
            "print if /\\p{IsX}/",
            "print if /(*{x})/",
            "print if /(?(?{1})a)/",
            "print if m/x/",
            "print if $. == `id`",
            "print if $.",
            "BEGIN{`id`} print",
            "print; __END__",
            "tr/a/b/r2",
            "y/a/b/e",
            "print if /é/",
            "nextx",
            "s::a::",
            "s,a,b,e",
            "open F, '>x'",
            "unlink",
            "-e",
            "print if /x/e",
            "s/a/$)/",
            "s/a/$|/",
            "print $",
            "print \"$",
            "s/a",
            "tr/a/b",
        ] {
            assert!(read_perl_line(code).is_err(), "{code}");
        }
    }
}
