//! Formatters and other programs that change the files which their operands name, and do so below directories.

use super::Analyser;
use super::entries::Call;
use crate::analysis::AnalysedCommand;

/// Programs that change their operands: names, a subcommand with which they do, options of which one has to be given
/// (none: always), and options with which they do not.
const IN_PLACE: [(&str, &str, &str, &str); 11] = [
    ("rustfmt", "", "", "--check --emit --print-config --dump-default-config"),
    ("gofmt goimports gofumpt shfmt", "", "-w --write", ""),
    ("clang-format", "", "-i", ""),
    ("clang-tidy", "", "--fix --fix-errors", ""),
    (
        "golangci-lint rubocop stylelint eslint biome markdownlint markdownlint-cli2",
        "",
        "--fix -a -A --auto-correct --autocorrect --write --apply",
        "",
    ),
    ("prettier", "", "--write -w", ""),
    ("black isort", "", "", "--check --diff --check-only -c"),
    ("autopep8 yapf", "", "-i --in-place", ""),
    ("ruff", "format", "", "--check --diff"),
    ("ruff", "check", "--fix --unsafe-fixes", "--diff"),
    ("codespell typos actionlint", "", "-w --write-changes", ""),
];

/// Programs that write all that is below the directories which they are given, and the options with which they do. `*`
/// stands for no option.
const WHOLE: [(&str, &str); 16] = [
    ("chmod", "-R --recursive"),
    ("chown", "-R --recursive"),
    ("chgrp", "-R --recursive"),
    ("chcon", "-R --recursive"),
    ("chattr", "-R"),
    ("setfacl", "-R --recursive"),
    ("restorecon", "-R -r"),
    ("gzip", "-r --recursive"),
    ("gunzip", "-r --recursive"),
    ("xz", "-r --recursive"),
    ("zstd", "-r"),
    ("dpkg", "-x --extract -X --vextract -R --raw-extract"),
    ("dpkg-deb", "-x --extract -X --vextract -R --raw-extract"),
    ("mount", "*"),
    ("unrar", "*"),
    ("terraform", "-recursive"),
];

impl Analyser<'_> {
    /// Judges the operands of a formatter that changes them.
    pub(super) fn formatted(&mut self, call: &Call<'_>, action: &str) {
        if !changes_operands(call, action) {
            return;
        }
        for word in call.operands {
            // Somebody else's file is a reason by itself.
            self.write_path(call.index, word, &call.context);
        }
    }

    /// Returns `true` if a command writes all that is below the directories that it is given.
    pub(super) fn writes_whole(&self, index: usize) -> bool {
        self.analysis.commands.get(index).is_some_and(writes_whole)
    }
}

fn is_in(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

fn changes_operands(call: &Call<'_>, action: &str) -> bool {
    let has = |names: &str| names.split(' ').any(|name| !name.is_empty() && call.parsed.has(&[name]));
    IN_PLACE.iter().any(|(names, subcommand, needed, excluded)| {
        is_in(names, call.name)
            && (subcommand.is_empty() || *subcommand == action)
            && (needed.is_empty() || has(needed))
            && !has(excluded)
    })
}

fn writes_whole(command: &AnalysedCommand) -> bool {
    let name = command.base_name().unwrap_or_default();
    if IN_PLACE.iter().any(|(names, ..)| is_in(names, name)) {
        return true;
    }
    let Some((_, options)) = WHOLE.iter().find(|(known, _)| *known == name) else { return false };
    let mut given = command.options.iter();
    *options == "*"
        || given.any(|option| {
            is_in(options, &option.name) || option.other_names.iter().any(|name| is_in(options, name))
        })
}
