//! Settings of git, and paths that `git checkout` overwrites.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;

/// Settings, or sections of settings, through which git runs no program.
const HARMLESS: [&str; 26] = [
    "user.",
    "author.",
    "committer.",
    "color.",
    "advice.",
    "push.default",
    "push.autosetupremote",
    "pull.",
    "fetch.prune",
    "init.defaultbranch",
    "core.quotepath",
    "core.autocrlf",
    "core.filemode",
    "core.ignorecase",
    "core.abbrev",
    "core.longpaths",
    "core.eol",
    "core.compression",
    "commit.gpgsign",
    "tag.gpgsign",
    "log.",
    "status.",
    "merge.ff",
    "diff.context",
    "safe.directory",
    "http.version",
];

impl Analyser<'_> {
    /// Judges a setting `name=value`.
    pub(super) fn git_setting(&mut self, call: &Call<'_>, word: &ShellWord) {
        let span = call.context.span.unwrap_or(word.span);
        let shown = shell_words::shown(word).shown;
        let name = shown.split('=').next().unwrap_or_default().to_ascii_lowercase();
        let value = shown.split_once('=').map_or("", |(_, value)| value);
        let is_pager = name == "core.pager" && super::roles::is_harmless_program(value);
        if !is_harmless(&name) && !is_pager {
            let what = format!("the setting {shown} of git can run programs");
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
        }
    }

    /// Judges the operands of `git config`.
    pub(super) fn git_config(&mut self, call: &Call<'_>, operands: &[ShellWord]) {
        let texts: Vec<String> = operands.iter().map(|word| shell_words::shown(word).shown).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let (name, has_value) = match &*texts {
            ["get" | "list" | "unset" | "edit" | "remove-section" | "rename-section", ..] | [] => return,
            ["set", name, ..] => (*name, true),
            [name, rest @ ..] => (*name, !rest.is_empty()),
        };
        let reads = [
            "--get",
            "--get-all",
            "--get-regexp",
            "--list",
            "-l",
            "--unset",
            "--unset-all",
            "--get-urlmatch",
        ];
        if !has_value || call.parsed.has(&reads) {
            return;
        }
        let span = call.context.span.unwrap_or_else(|| self.span(call.index));
        if !is_harmless(&name.to_ascii_lowercase()) && !is_inert(name) {
            let what = format!("the setting {name} of git can run programs");
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::AskOperator));
        }
        let scope = if call.parsed.has(&["--global"]) {
            self.request.variable("HOME").map(|home| format!("{home}/.gitconfig"))
        } else if call.parsed.has(&["--system"]) {
            Some("/etc/gitconfig".to_owned())
        } else {
            None
        };
        if let Some(path) = scope {
            self.write_path(call.index, &ShellWord::known(path, span), &call.context);
        }
    }

    /// Judges `git checkout`: with paths, it overwrites them.
    pub(super) fn git_checkout(&mut self, call: &Call<'_>) {
        let names_paths = call.parsed.before_dashes.is_some_and(|before| call.operands.len() > before)
            || call.operands.iter().any(|word| {
                word.text().is_some_and(|text| matches!(&*text, "." | "./" | "..") || text.starts_with("./"))
                    || word.pieces.iter().any(|piece| matches!(piece, ccm_shell::WordPiece::Pattern(_)))
            });
        if names_paths {
            let what = "`git checkout` of paths throws away their changes";
            self.finding(
                call.index,
                GuardClass::DeleteInside,
                what,
                self.span(call.index),
                Some(WayOut::AskOperator),
            );
        }
    }
}

fn is_harmless(name: &str) -> bool {
    HARMLESS
        .iter()
        .any(|harmless| if harmless.ends_with('.') { name.starts_with(harmless) } else { name == *harmless })
}

/// Returns `true` for settings of remotes and branches that name no program.
fn is_inert(name: &str) -> bool {
    let inert = [".url", ".fetch", ".push", ".merge", ".rebase", ".remote", ".description"];
    (name.starts_with("remote.") || name.starts_with("branch."))
        && inert.iter().any(|end| name.ends_with(end))
}
