//! Words of commands in units of systemd.

/// Writes a word of `ExecStart`, in which systemd replaces `%` and `$`, and separates words at blanks.
pub(super) fn systemd_word(word: &str) -> String {
    let is_plain = |part: char| part.is_ascii_alphanumeric() || "-_=/,.:@+#".contains(part);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = "\"".to_owned();
    for part in word.chars() {
        match part {
            '"' | '\\' => quoted.extend(['\\', part]),
            '%' | '$' => quoted.extend([part, part]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            part if part.is_ascii_control() => quoted += &format!("\\x{:02x}", u32::from(part)),
            part => quoted.push(part),
        }
    }
    quoted + "\""
}

/// Reads words that [`systemd_word`] wrote; `None` for a line of another form.
pub(crate) fn words_of_systemd(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (word, after) = if let Some(inside) = rest.strip_prefix('"') {
            quoted_word(inside)?
        } else {
            let (word, after) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
            (word.to_owned(), after)
        };
        words.push(word);
        rest = match after.strip_prefix(' ') {
            Some(next) if !next.is_empty() => next,
            None if after.is_empty() => "",
            _ => return None,
        };
    }
    let is_same = words.iter().map(|word| systemd_word(word)).collect::<Vec<_>>().join(" ") == line;
    (is_same && !words.is_empty()).then_some(words)
}

/// Reads a word up to its closing quote, and returns it with what is behind.
fn quoted_word(inside: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut parts = inside.char_indices();
    while let Some((at, part)) = parts.next() {
        match part {
            '"' => return Some((word, &inside[at + 1..])),
            '%' | '$' => {
                parts.next().filter(|(_, twice)| *twice == part)?;
                word.push(part);
            }
            '\\' => match parts.next()?.1 {
                'n' => word.push('\n'),
                't' => word.push('\t'),
                'x' => {
                    let digits: String = [parts.next()?.1, parts.next()?.1].into_iter().collect();
                    word.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
                }
                escaped => word.push(escaped),
            },
            part => word.push(part),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_written() {
        let words = ["/bin/a", "", "50% $HOME", "say \"hi\"", "back\\slash", "a\nb\tc\u{1}d", "größe", "x=y"];
        let line = words.map(systemd_word).join(" ");
        assert_eq!(words_of_systemd(&line), Some(words.map(str::to_owned).into()));
        for line in ["", "a  b", "\"a", "a;b", "\"%h\"", "'a b'"] {
            assert_eq!(words_of_systemd(line), None, "{line}");
        }
    }

    #[test]
    fn words_are_quoted_for_systemd() {
        for (word, quoted) in [
            ("/srv/site.yaml", "/srv/site.yaml"),
            ("web.port=80,81", "web.port=80,81"),
            ("/srv/my site.yaml", "\"/srv/my site.yaml\""),
            ("/srv/100%.yaml", "\"/srv/100%%.yaml\""),
            ("cost=$5", "\"cost=$$5\""),
            ("a'b", "\"a'b\""),
            ("say \"hi\"", "\"say \\\"hi\\\"\""),
            ("back\\slash", "\"back\\\\slash\""),
            (";", "\";\""),
            ("", "\"\""),
            ("a\nb\tc\u{1}d", "\"a\\nb\\tc\\x01d\""),
            ("größe", "\"größe\""),
            ("{a,b}*?~", "\"{a,b}*?~\""),
        ] {
            assert_eq!(systemd_word(word), quoted, "{word}");
        }
    }
}
