//! Addresses, hosts and data that are sent.

use ccm_shell::{ShellSpan, ShellWord};

use super::entries::Call;
use super::metadata::{host_of, is_metadata};
use super::started::StartedForm;
use super::{Analyser, curl_globs, paths, shell_words};
use crate::analysis::{AnalysedCommand, WayOut};
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::ProgramEntry;
use crate::verdict::{Caller, PolicyVerdict};

impl Analyser<'_> {
    /// Judges an address that is fetched, or all those that curl reads from one.
    pub(super) fn url(&mut self, call: &Call<'_>, word: &ShellWord) {
        if call.name == "curl"
            && !call.parsed.has(&["-g", "--globoff"])
            && let Some(text) = word.text().filter(|text| text.contains(['{', '[']))
        {
            for text in curl_globs::expand(&text) {
                self.one_url(call, &ShellWord::known(text, word.span));
            }
        }
        self.one_url(call, word);
    }

    fn one_url(&mut self, call: &Call<'_>, word: &ShellWord) {
        let span = call.context.span.unwrap_or(word.span);
        let text = shell_words::with_placeholders(word);
        if text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
            return self.file_address(call, word);
        }
        // `--proto-default file` makes a path of it.
        if text.starts_with('/') && call.name == "curl" {
            return self.read_path(call.index, word, &call.context);
        }
        if text.starts_with('@') && call.name == "curl" {
            return self.read_path(call.index, &shell_words::without_prefix(word, 1), &call.context);
        }
        if let Some((helper, _)) = text.split_once("::").filter(|(helper, _)| matches!(*helper, "ext" | "fd"))
        {
            let what = format!("the address {} runs a program", shell_words::shown(word).shown);
            self.finding(call.index, GuardClass::Options, what, span, Some(WayOut::DropOption));
            if helper == "ext" {
                let command = shell_words::without_prefix(word, 5);
                self.started_command(call.index, StartedForm::Words, &command, &call.context);
            }
        }
        let host = host_of(&text);
        let effect =
            Effect::new(EffectKind::Network, (!host.is_empty() && host != "x").then(|| host.clone()));
        self.effect(call.index, effect);
        self.metadata_host(call.index, &text, span);
        if text.starts_with("scp://") || text.starts_with("sftp://") || text.starts_with("telnet://") {
            let what = format!("exchanges data with {host}");
            self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::AskOperator));
        }
    }

    /// Judges the address of a file: `file:///etc/x`, `FILE://localhost/etc/x`, `file:/etc/x`.
    fn file_address(&mut self, call: &Call<'_>, word: &ShellWord) {
        let file = shell_words::without_prefix(word, 5);
        let prefix = file.known_prefix();
        let host_length =
            prefix.strip_prefix("//").map_or(0, |rest| 2 + rest.find('/').unwrap_or(rest.len()));
        let path = shell_words::without_prefix(&file, host_length);
        match path.text() {
            // Curl reads `{a,b}` and `[a-b]` as several addresses.
            Some(text) if text.contains(['{', '[']) => self.unlisted(call.index, call.name, &text),
            Some(text) => {
                let path = ShellWord::known(paths::decode_percent(&text), word.span);
                self.read_path(call.index, &path, &call.context);
            }
            None => self.read_path(call.index, &path, &call.context),
        }
    }

    /// Refuses the metadata service of a cloud.
    pub(super) fn metadata_host(&mut self, index: usize, host: &str, span: ShellSpan) {
        if is_metadata(host) {
            let what = format!("{host} is the metadata service of a cloud, which hands out credentials");
            self.finding(index, GuardClass::Metadata, what, span, Some(WayOut::AskOperator));
        }
    }

    /// Judges the addresses among the words of a program that may fetch them, whatever the option.
    pub(super) fn addresses(&mut self, call: &Call<'_>, level: &ProgramEntry, all: &[ShellWord]) {
        let asks = |class: &GuardClass| class.default_verdict(Caller::Tool) > PolicyVerdict::Allow;
        let is_unknown = |command: &AnalysedCommand| command.has_unknown_effects();
        let may_fetch = level.is_open
            || level.does.iter().any(asks)
            || self.analysis.commands.get(call.index).is_some_and(is_unknown);
        for word in all.iter().skip(1).filter(|_| may_fetch) {
            let text = shell_words::with_placeholders(word);
            let span = call.context.span.unwrap_or(word.span);
            let is_address = |part: &&str| {
                part.contains("://") || part.starts_with(|c: char| c.is_ascii_digit() || c == '[')
            };
            for part in text.split(['=', ',', ' ', '"', '\'']).filter(is_address) {
                self.metadata_host(call.index, part, span);
            }
        }
    }

    /// Judges data of a request: `@file`, `name=@file`, `name@file`.
    pub(super) fn data(&mut self, call: &Call<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        let is_named = |option: &super::arguments::ParsedOption| {
            option.value.as_ref() == Some(word)
                && matches!(&*option.name, "--data-urlencode" | "--url-query" | "--variable")
        };
        let named = prefix.find('@').filter(|at| !prefix.get(..*at).is_some_and(|name| name.contains('=')));
        let named = named.filter(|_| call.parsed.options.iter().any(is_named));
        let mark = if let Some(at) = named {
            Some(at + 1)
        } else if prefix.starts_with(['@', '<']) {
            Some(1)
        } else {
            prefix.find("=@").or_else(|| prefix.find("=<")).map(|at| at + 2)
        };
        let Some(mark) = mark else { return };
        let is_form = |option: &super::arguments::ParsedOption| {
            option.value.as_ref() == Some(word) && matches!(&*option.name, "-F" | "--form")
        };
        // Quotes, several files, and headers from files.
        let rest = prefix.get(mark..).unwrap_or_default();
        if (rest.contains(['"', ',']) || rest.contains("headers=")) && call.parsed.options.iter().any(is_form)
        {
            self.unlisted(call.index, call.name, &prefix);
        }
        let file = shell_words::without_prefix(word, mark);
        let end = file.known_prefix().find(';');
        let file = match end {
            Some(end) => ShellWord::known(file.known_prefix().get(..end).unwrap_or_default(), file.span),
            None => file,
        };
        self.read_path(call.index, &file, &call.context);
        self.sent_file(call, &file);
    }

    /// Judges a file that is sent to another machine.
    pub(super) fn sent_file(&mut self, call: &Call<'_>, file: &ShellWord) {
        for resolved in paths::resolve(file, &call.context.directories) {
            let Some(path) = resolved.path else { continue };
            if !self.is_inside(&path) && paths::meaning(&path, None) != paths::PathMeaning::SafeDevice {
                let span = call.context.span.unwrap_or(file.span);
                self.effect(call.index, Effect::new(EffectKind::Remote, None));
                let outside = if self.workspace.is_some() { ", outside the workspace," } else { "" };
                let what = format!("sends {path}{outside} to another machine");
                self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::StayInWorkspace));
            }
        }
    }

    /// Judges an operand of the form `host:path`; returns `true` if the operand is one.
    pub(super) fn is_remote(&mut self, call: &Call<'_>, word: &ShellWord) -> bool {
        let prefix = word.known_prefix();
        let Some(colon) = prefix.find(':') else { return false };
        let host = prefix.get(..colon).unwrap_or_default();
        if host.contains('/') || host.is_empty() || prefix.starts_with("file:") {
            return false;
        }
        let span = call.context.span.unwrap_or(word.span);
        let host = if prefix.get(colon..).is_some_and(|rest| rest.starts_with("://")) {
            host_of(&prefix)
        } else {
            host.to_owned()
        };
        let host = host.rsplit('@').next().unwrap_or_default().to_owned();
        self.effect(call.index, Effect::new(EffectKind::Remote, Some(host.clone())).with_action(call.name));
        let what = format!("`{}` exchanges files with {host}", call.name);
        self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::AskOperator));
        true
    }
}
