//! The command line as bash hands it to a completion: text with its quotes.

/// Characters that need no backslash outside quotes.
const PLAIN: &str = "_-./:=@%+,#";

/// Command line up to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BashLine {
    /// Words behind the name of the command, without their quotes. The last one is completed.
    pub(super) words: Vec<String>,
    /// Beginning of the last word that bash keeps, without its quotes.
    kept: String,
    /// Quotation mark that is open at the cursor.
    quote: Option<char>,
}

impl BashLine {
    /// Splits a command line. `last` is the part of its last word that bash replaces.
    pub(super) fn parse(line: &str, last: &str) -> Self {
        let SplitLine { parts: mut words, last_raw, quote } = split(line);
        // Assignments of variables stand before the name of the command.
        let is_assignment = |word: &String| {
            let name = word.split_once('=').map_or("", |(name, _)| name);
            !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        };
        let assignments = words.iter().take_while(|word| is_assignment(word)).count();
        words.drain(..(assignments + 1).min(words.len()));
        let kept = last_raw.strip_suffix(last).map(|kept| split(kept).parts.pop().unwrap_or_default());
        Self { words, kept: kept.unwrap_or_default(), quote }
    }

    /// Returns the text that bash inserts for a word; `None` if the word can't be written within the open quotes.
    pub(super) fn inserted(&self, word: &str) -> Option<String> {
        let word = word.strip_prefix(&*self.kept)?;
        match self.quote {
            Some('\'') => (!word.contains('\'')).then(|| word.to_owned()),
            Some(_) => Some(backslashed(word, |character| "\"\\$`".contains(character))),
            None => Some(backslashed(word, |character| {
                character.is_ascii() && !character.is_ascii_alphanumeric() && !PLAIN.contains(character)
            })),
        }
    }
}

fn backslashed(text: &str, is_special: impl Fn(char) -> bool) -> String {
    let escape = |character| if is_special(character) { vec!['\\', character] } else { vec![character] };
    text.chars().flat_map(escape).collect()
}

/// Words of a line without their quotes. There is always a last one, which may be empty.
struct SplitLine<'l> {
    parts: Vec<String>,
    last_raw: &'l str,
    quote: Option<char>,
}

fn split(line: &str) -> SplitLine<'_> {
    let mut words = vec![String::new()];
    let mut start = 0;
    let mut quote = None;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let Some(word) = words.last_mut() else { break };
        match (quote, character) {
            (None, ' ' | '\t' | '\n') => {
                if start < at {
                    words.push(String::new());
                }
                start = at + 1;
            }
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '\\') => word.extend(characters.next().map(|(_, escaped)| escaped)),
            (Some('"'), '\\') => match characters.next_if(|(_, next)| "\"\\$`".contains(*next)) {
                Some((_, escaped)) => word.push(escaped),
                None => word.push('\\'),
            },
            _ => word.push(character),
        }
    }
    SplitLine { parts: words, last_raw: line.get(start..).unwrap_or_default(), quote }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_bash_does() {
        for (line, words) in [
            ("ccm ", &[""][..]),
            ("ccm", &[]),
            ("ccm  apply   site.yaml ", &["apply", "site.yaml", ""]),
            ("X=1 Y_2='a b' ccm ap", &["ap"]),
            (r"ccm apply my\ site.yaml --only 'file#a b", &["apply", "my site.yaml", "--only", "file#a b"]),
            (r#"ccm a"b \" \x "'c'd "#, &[r#"ab " \x cd"#, ""]),
            ("ccm --data=a:b", &["--data=a:b"]),
            ("ccm a\\", &["a"]),
            ("ccm '", &[""]),
            ("ccm ''", &[""]),
            ("", &[]),
        ] {
            assert_eq!(BashLine::parse(line, "").words, words, "{line}");
        }
    }

    #[test]
    fn inserted_text_continues_the_word_as_bash_splits_it() {
        for (line, last, word, inserted) in [
            ("ccm --only exec#", "exec#", "exec#make it", Some(r"exec#make\ it")),
            ("ccm --only exec#make\\ i", "exec#make\\ i", "exec#make it", Some(r"exec#make\ it")),
            ("ccm --only 'exec#m", "exec#m", "exec#make it", Some("exec#make it")),
            ("ccm --only 'exec#m", "exec#m", "exec#it's", None),
            ("ccm --only \"exec#m", "exec#m", "exec#a $b", Some("exec#a \\$b")),
            ("ccm --only exec#a:", "", "exec#a:b", Some("b")),
            ("ccm --only=exec#a:b", "b", "--only=exec#a:b=c", Some("b=c")),
            ("ccm --output=", "", "--output=json", Some("json")),
            ("ccm --output=j", "j", "--output=json", Some("json")),
            ("ccm --output 'j", "j", "json", Some("json")),
            ("ccm --outp", "--outp", "--output", Some("--output")),
            ("ccm ", "", "$(reboot);`x`\n", Some("\\$\\(reboot\\)\\;\\`x\\`\\\n")),
        ] {
            assert_eq!(BashLine::parse(line, last).inserted(word).as_deref(), inserted, "{line}");
        }
    }
}
