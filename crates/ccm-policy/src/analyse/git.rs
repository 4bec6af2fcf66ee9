//! Settings of git, and paths that `git checkout` overwrites.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::started::StartedForm;
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::WayOut;
use crate::guard_class::GuardClass;

/// Settings, or sections of settings, through which git runs no program and writes nothing elsewhere.
const HARMLESS: &str = "\
    user. author. committer. color. column. advice. push.default push.autosetupremote push.followtags pull. fetch. \
    init.defaultbranch core.quotepath core.autocrlf core.safecrlf core.filemode core.ignorecase core.abbrev \
    core.longpaths core.eol core.compression core.precomposeunicode core.protecthfs core.protectntfs core.bigfilethreshold \
    core.preloadindex core.untrackedcache core.whitespace core.commentchar core.symlinks core.trustctime \
    core.checkstat core.packedgitlimit core.multipackindex core.commitgraph core.sparsecheckout \
    core.sparsecheckoutcone core.logallrefupdates core.warnambiguousrefs commit.gpgsign commit.status \
    commit.verbose commit.cleanup tag.gpgsign tag.sort branch.sort branch.autosetupmerge branch.autosetuprebase log. \
    status. stash. format.pretty grep. blame.coloring blame.showroot blame.showemail blame.date blame.blankboundary merge.ff merge.conflictstyle merge.renames merge.log merge.stat \
    merge.autostash rebase.autosquash rebase.autostash rebase.updaterefs rebase.stat rerere. diff.context \
    diff.renames diff.algorithm diff.noprefix diff.mnemonicprefix diff.colormoved diff.submodule diff.suppressblankempty \
    diff.wserrorhighlight diff.interhunkcontext diff.statgraphwidth diff.ignoresubmodules http.version \
    http.postbuffer http.lowspeedlimit http.lowspeedtime http.followredirects index. pack. gc. feature. protocol.version \
    submodule.recurse submodule.fetchjobs clone.defaultremotename checkout.guess checkout.defaultremote \
    checkout.workers transfer.fsckobjects fetch.fsckobjects receive.denycurrentbranch help.autocorrect \
    credential.usehttppath maintenance.auto lfs.concurrenttransfers i18n. showbranch. versionsort. worktree.guessremote";

/// Settings whose value is a text for a shell, as a beginning and an end.
const TEXTS: [(&str, &str); 27] = [
    ("core.pager", ""),
    ("core.editor", ""),
    ("core.sshcommand", ""),
    ("core.fsmonitor", ""),
    ("core.gitproxy", ""),
    ("core.alternaterefscommand", ""),
    ("sequence.editor", ""),
    ("pager.", ""),
    ("diff.external", ""),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("merge.", ".driver"),
    ("mergetool.", ".cmd"),
    ("difftool.", ".cmd"),
    ("filter.", ".clean"),
    ("filter.", ".smudge"),
    ("filter.", ".process"),
    ("gpg.", ".defaultkeycommand"),
    ("interactive.difffilter", ""),
    ("uploadpack.packobjectshook", ""),
    ("remote.", ".uploadpack"),
    ("remote.", ".receivepack"),
    ("browser.", ".cmd"),
    ("man.", ".cmd"),
    ("trailer.", ".command"),
    ("trailer.", ".cmd"),
    ("tar.", ".command"),
];

/// Settings whose value is the name of a program, as a beginning and an end.
const NAMES: [(&str, &str); 7] = [
    ("core.askpass", ""),
    ("gpg.program", ""),
    ("gpg.", ".program"),
    ("mergetool.", ".path"),
    ("difftool.", ".path"),
    ("browser.", ".path"),
    ("man.", ".path"),
];

/// What a setting of git does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitSettingKind {
    Harmless,
    /// The value starts a program.
    Starts(StartedForm),
    Alias,
    /// The value names a helper, or is a text for a shell behind `!`.
    Helper,
    Unlisted,
}

impl Analyser<'_> {
    /// Judges a setting `name=value`.
    pub(super) fn git_setting(&mut self, call: &Call<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        let name = prefix.split('=').next().unwrap_or_default();
        let value = match prefix.get(name.len()..) {
            Some("") if word.text().is_some() => ShellWord::known("true", word.span),
            Some("") | None => return self.setting_unknown(call, word),
            Some(_) => shell_words::without_prefix(word, name.len() + 1),
        };
        // `--config-env=name=VARIABLE`
        let is_direct = !call.parsed.has(&["--config-env"]);
        let kind = kind_of(name, value.text().as_deref().filter(|_| is_direct));
        self.judge_git_setting(call, kind, word, &value);
    }

    fn judge_git_setting(
        &mut self,
        call: &Call<'_>,
        kind: GitSettingKind,
        word: &ShellWord,
        value: &ShellWord,
    ) {
        let text = value.text().unwrap_or_default();
        match kind {
            GitSettingKind::Harmless => {}
            GitSettingKind::Starts(form) => self.setting_starts(call, word, form, value),
            GitSettingKind::Alias | GitSettingKind::Helper if text.starts_with('!') => {
                let value = shell_words::without_prefix(value, 1);
                self.setting_starts(call, word, StartedForm::Text, &value);
            }
            GitSettingKind::Alias => {
                let command = ShellWord::known(format!("git {text}"), value.span);
                self.setting_starts(call, word, StartedForm::Words, &command);
            }
            GitSettingKind::Helper => {
                let is_path = text.starts_with('/');
                let text = if is_path { text.into_owned() } else { format!("git credential-{text}") };
                let command = ShellWord::known(text, value.span);
                self.setting_starts(call, word, StartedForm::Words, &command);
            }
            GitSettingKind::Unlisted => {
                let shown = shell_words::shown(word).shown;
                let what = format!("the setting {shown} of git can run programs");
                let span = call.context.span.unwrap_or(word.span);
                self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
            }
        }
    }

    /// Judges a call in a repository outside the workspace, whose settings nobody in the workspace has written.
    pub(super) fn other_repository(&mut self, index: usize, context: &CommandContext) {
        let outside = context.directories.paths.iter().find(|path| !self.is_inside(path)).cloned();
        if let (Some(path), Some(_)) = (outside, &self.workspace) {
            let what = format!("settings of the repository {path}, outside the workspace, can run programs");
            let span = context.span.unwrap_or_else(|| self.span(index));
            self.finding(index, GuardClass::Options, what, span, Some(WayOut::StayInWorkspace));
        }
    }

    /// Judges the files that `git grep` and `git diff` read, with `--no-index` and in directories that are no repository.
    pub(super) fn searched_by_git(&mut self, call: &Call<'_>) {
        if call.name != "git" || !matches!(call.action, "grep" | "diff" | "difftool") {
            return;
        }
        let is_index = !call.parsed.has(&["--no-index"]);
        let is_grep = call.action == "grep";
        let has_pattern = call.parsed.has(&["-e", "-f"]);
        let paths = call.operands.get(usize::from(is_grep && !has_pattern)..).unwrap_or_default();
        let here = [ShellWord::known(".", self.span(call.index))];
        let is_outside = !call.context.directories.only().is_some_and(|directory| self.is_inside(directory));
        let searched = if paths.is_empty() && is_grep { &here[..] } else { paths };
        for path in searched {
            if !is_index || is_outside && (is_grep || paths.len() == 2) {
                self.read_path(call.index, path, &call.context);
            }
            if is_grep {
                self.everything_read_below(call.index, path, &call.context);
            }
        }
    }

    /// Judges the operands of `git config`.
    pub(super) fn git_config(&mut self, call: &Call<'_>, operands: &[ShellWord]) {
        let texts: Vec<String> = operands.iter().map(|word| shell_words::shown(word).shown).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let (at, is_change) = match &*texts {
            ["edit", ..] => return self.git_config_edit(call),
            [] if call.parsed.has(&["-e", "--edit"]) => return self.git_config_edit(call),
            ["get" | "list", ..] | [] => return,
            ["set" | "unset" | "remove-section" | "rename-section", ..] => (1, true),
            [_, rest @ ..] => (0, !rest.is_empty()),
        };
        let reads = ["--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--get-color"];
        if call.parsed.has(&reads) || !(is_change || is_unset(call)) {
            return;
        }
        let span = call.context.span.unwrap_or_else(|| self.span(call.index));
        if let (Some(name), Some(value)) = (texts.get(at), operands.get(at + 1))
            && !is_unset(call)
            && !matches!(texts.first(), Some(&("unset" | "remove-section" | "rename-section")))
        {
            let kind = kind_of(name, value.text().as_deref());
            let is_inert = is_inert(name, value);
            if !is_inert {
                let setting = ShellWord::known(format!("{name}={}", shell_words::shown(value).shown), span);
                self.judge_git_setting(call, kind, &setting, value);
            }
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

    fn git_config_edit(&mut self, call: &Call<'_>) {
        let what = "an editor changes the settings of git, which can run programs";
        let span = call.context.span.unwrap_or_else(|| self.span(call.index));
        self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::AskOperator));
    }

    /// Judges `--file` of `git config`.
    pub(super) fn git_config_file(&mut self, call: &Call<'_>, word: &ShellWord) {
        let reads = ["--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch", "--get-color"];
        let first = call.operands.first().and_then(ShellWord::text);
        let is_read = call.parsed.has(&reads)
            || matches!(first.as_deref(), Some("get" | "list"))
            || call.operands.len() < 2 && !is_unset(call) && first.as_deref() != Some("edit");
        if is_read {
            self.read_path(call.index, word, &call.context);
        } else {
            self.write_path(call.index, word, &call.context);
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

fn is_unset(call: &Call<'_>) -> bool {
    let changes = ["--unset", "--unset-all", "--remove-section", "--rename-section", "-e", "--edit"];
    call.parsed.has(&changes)
}

/// Returns what a setting does. The value is `None` if it is not known.
fn kind_of(name: &str, value: Option<&str>) -> GitSettingKind {
    let name = name.to_ascii_lowercase();
    let is_flag =
        value.is_some_and(|value| matches!(value, "true" | "false" | "yes" | "no" | "0" | "1" | ""));
    let is_null = value == Some("/dev/null");
    let has = |(start, end): &(&str, &str)| match *end {
        "" if start.ends_with('.') => name.starts_with(start),
        "" => name == *start,
        end => name.starts_with(start) && name.ends_with(end) && name.len() > start.len() + end.len() - 1,
    };
    let is_harmless = HARMLESS
        .split_ascii_whitespace()
        .any(|harmless| if harmless.ends_with('.') { name.starts_with(harmless) } else { name == harmless });
    match &*name {
        "core.fsmonitor" if is_flag => GitSettingKind::Harmless,
        "core.hookspath" | "core.attributesfile" | "core.excludesfile" if is_null => GitSettingKind::Harmless,
        _ if name.starts_with("pager.") && is_flag => GitSettingKind::Harmless,
        _ if name.starts_with("alias.") => GitSettingKind::Alias,
        "credential.helper" if value == Some("") => GitSettingKind::Harmless,
        _ if name.starts_with("credential.") && name.ends_with(".helper") || name == "credential.helper" => {
            GitSettingKind::Helper
        }
        _ if TEXTS.iter().any(has) => GitSettingKind::Starts(StartedForm::Text),
        _ if NAMES.iter().any(has) => GitSettingKind::Starts(StartedForm::Name),
        _ if is_harmless => GitSettingKind::Harmless,
        _ => GitSettingKind::Unlisted,
    }
}

/// Returns `true` for settings of remotes and branches that name no program.
fn is_inert(name: &str, value: &ShellWord) -> bool {
    let inert = [
        ".url",
        ".pushurl",
        ".fetch",
        ".push",
        ".merge",
        ".rebase",
        ".remote",
        ".pushremote",
        ".description",
    ];
    let runs = value.text().is_none_or(|text| text.starts_with("ext::") || text.starts_with("fd::"));
    (name.starts_with("remote.") || name.starts_with("branch."))
        && inert.iter().any(|end| name.ends_with(end))
        && !runs
}
