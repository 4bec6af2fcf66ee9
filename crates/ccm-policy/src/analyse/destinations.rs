//! Files that a program writes below a directory which its arguments name.

use ccm_shell::{ShellDirectories, ShellWord, join_path};

use super::entries::Call;
use super::paths::{self, WordPath};
use super::{Analyser, CommandContext};
use crate::effect::{Effect, EffectKind};
use crate::lookup::{LinkReading, LookupPathKind};

impl Analyser<'_> {
    /// Adds the effects on what a program writes into a directory, such as `/etc/passwd` of `cp passwd /etc`.
    pub(super) fn written_below(&mut self, call: &Call<'_>) {
        let context = &call.context;
        match call.name {
            "cp" | "mv" | "ln" | "install" => self.copied(call),
            "rsync" | "scp" => {
                let target = call.parsed.operands.last().filter(|word| !self.is_remote(call, word)).cloned();
                if let Some(target) = target {
                    self.everything_below(call.index, &target, context);
                }
            }
            "tar" | "bsdtar" | "gtar"
                if call.parsed.has(&["-x", "--extract", "--get"])
                    && !call.parsed.has(&["-O", "--to-stdout", "--to-command"]) =>
            {
                // `-C` has changed the directory.
                self.writes_here(call.index, context);
                if call.parsed.has(&["-P", "--absolute-names"]) {
                    // The names in the archive decide.
                    self.effect(call.index, Effect::new(EffectKind::Write, None));
                }
            }
            "unzip" => match call.parsed.value_of("-d") {
                Some(target) => self.everything_below(call.index, &target.clone(), context),
                None if call.parsed.has(&["-l", "-t", "-v", "-z", "-p", "-Z"]) => {}
                None => self.writes_here(call.index, context),
            },
            "wget" | "wget2" if !call.parsed.has(&["-O", "-P", "--spider", "-e", "--execute"]) => {
                self.writes_here(call.index, context);
            }
            _ => {}
        }
    }

    fn copied(&mut self, call: &Call<'_>) {
        let has = |names: &[&str]| call.parsed.has(names);
        if call.name == "install" && has(&["-d", "--directory"]) {
            return;
        }
        let operands = &*call.parsed.operands;
        let here = ShellWord::known(".", self.span(call.index));
        let (sources, target, is_directory) = match (call.parsed.value_of("-t"), operands.split_last()) {
            (Some(target), _) => (operands, target, true),
            // `ln x/y` makes a link `y` here.
            (None, Some((_, []))) if call.name == "ln" => (operands, &here, true),
            (None, Some((target, sources))) => (sources, target, sources.len() > 1),
            (None, None) => return,
        };
        let is_directory = is_directory || target.text().is_some_and(|text| text.ends_with('/'));
        let is_tree = call.name == "mv" || has(&["-r", "-R", "--recursive", "-a", "--archive"]);
        for path in paths::resolve(target, &call.context.directories) {
            let Some(directory) = path.path.clone().filter(|_| !path.is_partial && !path.is_pattern) else {
                continue;
            };
            // `ln -n` replaces a link, also one to a directory.
            let is_replaced = call.name == "ln"
                && has(&["-n", "-h", "--no-dereference"])
                && matches!(self.lookup.read_link(&directory), LinkReading::Link(_));
            let is_directory = !is_replaced
                && !has(&["-T", "--no-target-directory"])
                && (is_directory || self.lookup.path_kind(&directory) == LookupPathKind::Directory);
            for source in sources {
                let is_recursive = is_tree && !self.is_file(source, &call.context.directories);
                let below = file_name(source).map(|name| WordPath {
                    path: Some(join_path(&directory, &name)),
                    climbing: path.climbing.as_ref().map(|climbing| format!("{climbing}/{name}")),
                    ..path.clone()
                });
                match below {
                    Some(below) if is_directory => {
                        let effect = self.path_effect(EffectKind::Write, &below);
                        self.effect(call.index, Effect { is_recursive, ..effect });
                    }
                    // The names in the directory are those of the source, which are not known.
                    _ if is_directory || is_recursive => {
                        let effect = self.path_effect(EffectKind::Write, &path);
                        self.effect(call.index, Effect { is_recursive: true, ..effect });
                    }
                    _ => {}
                }
            }
        }
    }

    /// Judges a program that changes files in its working directory.
    pub(super) fn writes_here(&mut self, index: usize, context: &CommandContext) {
        let here = ShellWord::known(".", self.span(index));
        self.everything_below(index, &here, context);
        self.judge_directory(index, &here, context);
    }

    fn everything_below(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        for path in paths::resolve(word, &context.directories) {
            let effect = self.path_effect(EffectKind::Write, &path);
            self.effect(index, Effect { is_recursive: path.path.is_some(), ..effect });
        }
    }

    /// Returns `true` if a word is known to name a file.
    pub(super) fn is_file(&self, word: &ShellWord, directories: &std::sync::Arc<ShellDirectories>) -> bool {
        let paths = paths::resolve(word, directories);
        let is_file = |path: &WordPath| {
            let known = path.path.as_ref().filter(|_| !path.is_partial && !path.is_pattern);
            known.is_some_and(|path| self.lookup.path_kind(path) == LookupPathKind::File)
        };
        !paths.is_empty() && paths.iter().all(is_file)
    }
}

/// Returns the last name of a path, if it is known and names something in the directory.
fn file_name(word: &ShellWord) -> Option<String> {
    let text = word.text()?;
    let name = text.trim_end_matches('/').rsplit('/').next()?;
    (!matches!(name, "" | "." | "..")).then(|| name.to_owned())
}
