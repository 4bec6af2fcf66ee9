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

#[cfg(test)]
mod tests {
    use super::*;

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
