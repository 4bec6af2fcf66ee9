//! Mounts of wrappers that give files another path, such as `bwrap --bind /etc /work/etc`.

use ccm_shell::ShellWord;

use super::{Analyser, CommandContext};

/// Options of `bwrap` with a source and a target whose files the inner command can write.
const WRITABLE: [&str; 4] = ["--bind", "--bind-try", "--dev-bind", "--dev-bind-try"];
/// Options of `bwrap` with a source and a target whose files the inner command can only read.
const READABLE: [&str; 2] = ["--ro-bind", "--ro-bind-try"];
/// Options of `proot` with `SOURCE:TARGET`.
const PAIRS: [&str; 4] = ["-b", "--bind", "-m", "--mount"];

impl Analyser<'_> {
    /// Judges the sources of mounts. The inner command is judged by the paths that it names; where a source has another
    /// path inside, these do not show that the source may be written.
    pub(super) fn bind_mounts(&mut self, index: usize, all: &[ShellWord], context: &CommandContext) {
        let is_pair = all.first().and_then(ShellWord::text).is_some_and(|name| name.ends_with("proot"));
        let mut words = all.iter().skip(1);
        while let Some(word) = words.next() {
            let prefix = word.known_prefix();
            if prefix == "--" {
                break;
            }
            let option = prefix.split('=').next().unwrap_or_default();
            let is_attached = option.len() < prefix.len();
            if is_pair && PAIRS.contains(&option) {
                let pair = if is_attached {
                    Some(super::shell_words::without_prefix(word, option.len() + 1))
                } else {
                    words.next().cloned()
                };
                if let Some(pair) = pair {
                    self.pair(index, &pair, context);
                }
            } else if !is_pair
                && (WRITABLE.contains(&option) || READABLE.contains(&option))
                && let (Some(source), Some(target)) = (words.next(), words.next())
            {
                let is_writable = WRITABLE.contains(&option);
                self.bind(index, source, target.text().as_deref(), is_writable, context);
            }
        }
    }

    /// Judges `SOURCE` and `SOURCE:TARGET`, whose files can be written.
    fn pair(&mut self, index: usize, pair: &ShellWord, context: &CommandContext) {
        let Some(text) = pair.text() else { return self.bind(index, pair, None, true, context) };
        // `!` at the end keeps a link from being followed.
        let text = text.trim_end_matches('!');
        let (source, target) = text.split_once(':').unwrap_or((text, text));
        self.bind(index, &ShellWord::known(source, pair.span), Some(target), true, context);
    }

    fn bind(
        &mut self,
        index: usize,
        source: &ShellWord,
        target: Option<&str>,
        is_writable: bool,
        context: &CommandContext,
    ) {
        if source.text().is_some_and(|source| Some(&*source) == target) {
            return;
        }
        if is_writable {
            self.write_path(index, source, context);
        } else {
            self.read_path(index, source, context);
        }
    }
}
