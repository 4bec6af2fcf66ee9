//! Roles of operands and of values of options: their effects.

use std::borrow::Cow;

use ccm_shell::{ShellDialect, ShellWord};

use super::arguments::ParsedOption;
use super::entries::Call;
use super::exact::ExactCall;
use super::objects::CalledObject;
use super::path_effects::Deletion;
use super::possible_options;
use super::shell_words::{FILE_NAMES, INPUT};
use super::{Analyser, CommandContext, CommandInput, find, shell_words, whole_names};
use crate::analysis::{FindingOrigin, WayOut};
use crate::effect::{CodeSource, Effect, EffectKind};
use crate::grammars::only_reports;
use crate::guard_class::GuardClass;
use crate::tables::ArgumentRole;

impl Analyser<'_> {
    /// Judges an operand, or the value of an option.
    pub(super) fn role(
        &mut self,
        call: &mut Call<'_>,
        role: ArgumentRole,
        word: &ShellWord,
        option: Option<&str>,
    ) {
        let index = call.index;
        let span = call.context.span.unwrap_or(word.span);
        if option.is_some() && self.file_of_tar(call, role, word) {
            return;
        }
        match role {
            ArgumentRole::Text
            | ArgumentRole::Number
            | ArgumentRole::Settings
            | ArgumentRole::Command
            | ArgumentRole::ShellJoined
            | ArgumentRole::GitConfig => {}
            ArgumentRole::Read
            | ArgumentRole::Write
            | ArgumentRole::Delete
            | ArgumentRole::Move
            | ArgumentRole::DeleteTree
            | ArgumentRole::Directory
            | ArgumentRole::ExtractDirectory
            | ArgumentRole::CopyFrom
            | ArgumentRole::CopyTo
            | ArgumentRole::Archive => self.path_role(call, role, word),
            ArgumentRole::WriteOrPipe if word.known_prefix().starts_with(['|', '!']) => {
                let text = shell_words::without_prefix(word, 1);
                self.shell_text(index, &text, ShellDialect::Sh, call.commands, &call.context);
            }
            ArgumentRole::WriteOrPipe => self.write_path(index, word, &call.context),
            ArgumentRole::MaybePath => self.maybe_path(index, word, &call.context),
            ArgumentRole::Shell => {
                call.has_code = true;
                self.shell_text(index, word, ShellDialect::Sh, call.commands, &call.context);
            }
            ArgumentRole::SplitCommand => self.split_command(call, word),
            ArgumentRole::Program
            | ArgumentRole::ProgramWords
            | ArgumentRole::ProgramText
            | ArgumentRole::Library => self.started(call, role, word, option),
            ArgumentRole::SshOption
            | ArgumentRole::TarAction
            | ArgumentRole::AptOption
            | ArgumentRole::CargoSetting
            | ArgumentRole::UnitProperty
            | ArgumentRole::WgetSetting => self.program_setting(call, role, word),
            ArgumentRole::Special(special) => self.special_role(call, special, word, option),
            ArgumentRole::GitConfigFile => self.git_config_file(call, word),
            ArgumentRole::WorkTree => {
                call.context.directories = self.enter_directory(index, word, &call.context);
                self.writes_here(index, &call.context);
            }
            ArgumentRole::Mode => self.mode(index, word),
            ArgumentRole::ModeOf
            | ArgumentRole::Date
            | ArgumentRole::HostName
            | ArgumentRole::Template
            | ArgumentRole::Getent
            | ArgumentRole::LessOperand
            | ArgumentRole::OpensslFile => self.operand_role(call, role, word),
            ArgumentRole::Code => self.code_of_option(call, word),
            ArgumentRole::Script => {
                call.has_code = true;
                self.script(index, word, call.name, call.commands, &call.context.clone());
            }
            ArgumentRole::Module => {
                call.has_code = true;
                let mut inner = vec![word.clone()];
                inner.extend(call.operands.iter().cloned());
                if word.text().is_some_and(|name| crate::tables::find(&name).is_some()) {
                    let context = call.context.within(index);
                    self.program(&inner, call.commands, &context);
                }
            }
            ArgumentRole::Object => call.objects.push(CalledObject::of(word)),
            ArgumentRole::Unit => self.unit(call, word),
            ArgumentRole::Host => {
                self.effect(index, Effect::new(EffectKind::Network, word.text().map(Cow::into_owned)));
                self.metadata_host(index, &shell_words::with_placeholders(word), span);
                call.objects.push(CalledObject::of(word));
            }
            ArgumentRole::Url => self.url(call, word),
            ArgumentRole::Data => self.data(call, word),
            ArgumentRole::Upload => {
                self.read_path(index, word, &call.context);
                self.sent_file(call, word);
            }
            ArgumentRole::Process => self.process(index, word),
            ArgumentRole::Setting => self.setting(call, word),
            ArgumentRole::GitSetting => self.git_setting(call, word),
            ArgumentRole::Volume
            | ArgumentRole::Mount
            | ArgumentRole::Namespace
            | ArgumentRole::Capability
            | ArgumentRole::Device => {
                self.container_option(call, role, word);
            }
        }
    }

    /// Judges code that is the value of an option.
    fn code_of_option(&mut self, call: &mut Call<'_>, word: &ShellWord) {
        call.has_code = true;
        let is_report = matches!(call.name, "gdb" | "lldb" | "cgdb")
            && word.text().is_some_and(|command| only_reports(call.name, &command));
        if !is_report {
            let span = call.context.span.unwrap_or(word.span);
            self.inline_code(call.index, call.name, word, span);
        }
    }

    /// Judges a file that an option of tar names: `-C` is about the files in the archive alone. Returns `false` for others.
    fn file_of_tar(&mut self, call: &Call<'_>, role: ArgumentRole, word: &ShellWord) -> bool {
        let context = CommandContext { directories: call.started_in.clone(), ..call.context.clone() };
        match role {
            _ if !matches!(call.name, "tar" | "bsdtar" | "gtar") => return false,
            ArgumentRole::Read => self.read_path(call.index, word, &context),
            ArgumentRole::Write => self.write_path(call.index, word, &context),
            _ => return false,
        }
        true
    }

    /// Judges an operand or value that is a path.
    fn path_role(&mut self, call: &mut Call<'_>, role: ArgumentRole, word: &ShellWord) {
        let index = call.index;
        match role {
            ArgumentRole::CopyFrom | ArgumentRole::CopyTo if self.is_remote(call, word) => {}
            ArgumentRole::Read | ArgumentRole::CopyFrom => self.read_path(index, word, &call.context),
            ArgumentRole::Write | ArgumentRole::CopyTo => self.write_path(index, word, &call.context),
            ArgumentRole::Delete => {
                let how = Deletion {
                    is_recursive: call.parsed.has(&["-r", "-R", "--recursive"]),
                    is_forced: call.parsed.has(&["-f", "--force"]),
                    is_move: false,
                };
                self.delete_path(index, word, how, &call.context);
            }
            ArgumentRole::Move => {
                self.read_path(index, word, &call.context);
                let is_move = !self.is_file(word, &call.context.directories);
                let how = Deletion { is_move, ..Deletion::default() };
                self.delete_path(index, word, how, &call.context);
            }
            ArgumentRole::DeleteTree => {
                if self.is_remote(call, word) {
                    return;
                }
                self.delete_path(
                    index,
                    word,
                    Deletion { is_recursive: true, is_forced: true, is_move: false },
                    &call.context,
                );
            }
            ArgumentRole::Directory => {
                self.directory_effect(index, word, &call.context);
                call.context.directories = self.enter_directory(index, word, &call.context);
            }
            ArgumentRole::ExtractDirectory => {
                if call.parsed.has(&["-x", "--extract", "--get"]) {
                    self.write_path(index, word, &call.context);
                }
                call.context.directories = self.enter_directory(index, word, &call.context);
            }
            ArgumentRole::Archive => {
                let creates = call.parsed.has(&[
                    "-c",
                    "--create",
                    "-r",
                    "--append",
                    "-u",
                    "--update",
                    "-A",
                    "--catenate",
                    "--concatenate",
                    "--delete",
                ]);
                // `-C` is about the files in the archive.
                let context = CommandContext { directories: call.started_in.clone(), ..call.context.clone() };
                match (self.is_remote(call, word), creates) {
                    (true, _) => {}
                    (false, true) => self.write_path(index, word, &context),
                    (false, false) => self.read_path(index, word, &context),
                }
            }
            _ => {}
        }
    }

    pub(super) fn directory_effect(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        for resolved in super::paths::resolve(word, &context.directories) {
            let effect = self.path_effect(EffectKind::Read, &resolved);
            self.effect(index, effect);
        }
    }

    /// Judges `NAME=VALUE` among the arguments of a program.
    fn setting(&mut self, call: &Call<'_>, word: &ShellWord) {
        let Some(name) = super::variables::setting_name(word) else { return };
        let value = shell_words::without_prefix(word, name.len() + 1);
        let span = call.context.span.unwrap_or(word.span);
        self.with_origin(FindingOrigin::Variable, |analyser| {
            analyser.variable(call.index, &name, Some(&value), span, Some(call.name), &call.context);
        });
        if matches!(call.name, "configure" | "config.status" | "autogen.sh" | "bootstrap.sh") {
            // The variables of `./configure` become those of makefiles.
            let exact = ExactCall {
                index: call.index,
                name: "make",
                commands: call.commands,
                context: &call.context,
            };
            self.variable_of_make(exact, &name, &value, Some("make"));
        }
        if let Some(command) = self.analysis.commands.get_mut(call.index) {
            command.variables.push(name);
        }
    }

    /// Judges the command that a wrapper runs.
    pub(super) fn inner_command(&mut self, call: &mut Call<'_>, operands: &[ShellWord]) {
        let mut inner = operands.to_vec();
        let mut context = call.context.within(call.index);
        let first = operands.first().and_then(ShellWord::text);
        if call.name == "xargs" {
            let is_replacing = |option: &&ParsedOption| option.is_named("-I") || option.is_named("-i");
            let replaced = call.parsed.options.iter().rev().find(is_replacing);
            let span = call.context.span.unwrap_or_else(|| self.span(call.index));
            let reads_names = match &call.context.input {
                CommandInput::Pipe(range) if !call.parsed.has(&["-a", "--arg-file"]) => {
                    possible_options::print_no_option(range, call.commands)
                }
                _ => false,
            };
            let found = match &call.context.input {
                CommandInput::Pipe(range)
                    if reads_names && first.as_deref().is_some_and(|name| self.deletes(name, &context)) =>
                {
                    find::found_below(range, call.commands)
                }
                _ => None,
            };
            if let Some(found) = &found {
                self.delete_path(call.index, found, find::ALL, &context);
            }
            let whole = match &call.context.input {
                CommandInput::Pipe(range) if call.parsed.has(&["-0", "--null"]) => {
                    whole_names::below(range, call.commands)
                }
                _ => None,
            };
            let read = found
                .or(whole)
                .unwrap_or_else(|| shell_words::unknown(if reads_names { FILE_NAMES } else { INPUT }, span));
            // These and `-I` exclude each other.
            let is_appended =
                replaced.is_none() || call.parsed.has(&["-L", "-l", "-n", "--max-args", "--max-lines"]);
            if let Some(option) = replaced {
                let placeholder = option.value.as_ref().and_then(ShellWord::text);
                let placeholder = placeholder.filter(|text| !text.is_empty()).unwrap_or(Cow::Borrowed("{}"));
                inner = inner.iter().map(|word| shell_words::replaced(word, &placeholder, &read)).collect();
            }
            if is_appended {
                inner.push(read);
            }
            // Only with names from a file, or from options, the program keeps its input.
            if !call.parsed.has(&["-a", "--arg-file", "-o", "--open-tty"]) {
                context.input = CommandInput::Empty;
            }
        }
        if matches!(call.name, "flock" | "sg")
            && let (Some("-c" | "--command"), Some(text)) = (first.as_deref(), operands.get(1))
        {
            // `flock FILE -c TEXT`
            self.shell_text(call.index, text, ShellDialect::Sh, call.commands, &context);
            return;
        }
        if call.name == "capsh" {
            // What follows is for bash.
            inner.insert(0, ShellWord::known("bash", self.span(call.index)));
        } else if first.is_some_and(|name| name.starts_with('-') && name.len() > 1) {
            inner.remove(0);
        }
        self.program(&inner, call.commands, &context);
    }

    /// Judges the command behind an option that takes all further words, such as `fd -x`.
    pub(super) fn command_of_option(&mut self, call: &Call<'_>) {
        let span = call.context.span.unwrap_or_else(|| self.span(call.index));
        let found = shell_words::unknown(INPUT, span);
        let command = &call.parsed.command;
        let is_cmake = call
            .parsed
            .options
            .iter()
            .filter_map(|option| option.spec)
            .any(|spec| spec.role == ArgumentRole::Special(crate::tables::SpecialRole::CmakeCommand));
        if is_cmake && let Some(entry) = crate::tables::find("cmake-tool") {
            let name = ShellWord::known("cmake-tool", span);
            let words: Vec<ShellWord> = std::iter::once(name).chain(command.iter().cloned()).collect();
            self.entry(call.index, entry, &words, call.commands, &call.context);
            return;
        }
        let mut inner: Vec<ShellWord> =
            command.iter().map(|word| shell_words::replaced(word, "{}", &found)).collect();
        // `fd` adds the names that it finds.
        if inner == *command && call.name.starts_with("fd") {
            inner.push(found);
        }
        let context = CommandContext { input: CommandInput::Empty, ..call.context.within(call.index) };
        self.program(&inner, call.commands, &context);
    }

    /// Judges operands that are joined to a text for a shell.
    pub(super) fn joined_text(&mut self, call: &Call<'_>, operands: &[ShellWord]) {
        let span = call.context.span.unwrap_or_else(|| super::programs::whole_span(operands));
        let word = match (operands, shell_words::joined(operands)) {
            ([single], _) => single.clone(),
            (_, Some(text)) => ShellWord::known(text, span),
            (_, None) => shell_words::unknown("…", span),
        };
        self.shell_text(call.index, &word, ShellDialect::Sh, call.commands, &call.context);
    }

    /// Judges a text that the program splits to words, without a shell.
    fn split_command(&mut self, call: &Call<'_>, word: &ShellWord) {
        let span = call.context.span.unwrap_or(word.span);
        let split = word.text().and_then(|text| ccm_model::split_words(&text).ok());
        let Some(parts) = split.filter(|parts| !parts.iter().any(|part| part.contains("${"))) else {
            let what = format!("`{}` runs a command that is not known", call.name);
            self.finding(call.index, GuardClass::ProgramUnknown, what, span, Some(WayOut::NameProgram));
            return;
        };
        let mut inner: Vec<ShellWord> = parts.into_iter().map(|part| ShellWord::known(part, span)).collect();
        inner.extend(call.operands.iter().cloned());
        // `env -S 'NAME=VALUE program'`
        let settings = inner.iter().take_while(|word| super::variables::setting_name(word).is_some()).count();
        for word in inner.iter().take(settings) {
            self.setting(call, word);
        }
        inner.drain(..settings);
        let context = call.context.within(call.index);
        self.program(&inner, call.commands, &context);
    }

    /// Judges code that is written in the command, in another language than that of the shell.
    pub(super) fn inline_code(
        &mut self,
        index: usize,
        name: &str,
        word: &ShellWord,
        span: ccm_shell::ShellSpan,
    ) {
        if word.text().is_some_and(|text| text.is_empty()) {
            return;
        }
        self.record_code(index, word);
        self.effect(index, Effect::code(CodeSource::Inline, Some(name.to_owned())));
        let what = format!("`{name}` runs code that is written in the command");
        self.finding(index, GuardClass::CodeInline, what, span, Some(WayOut::SaveCode));
    }

    /// Records code that is none of the words of the command, for rules.
    pub(super) fn record_code(&mut self, index: usize, word: &ShellWord) {
        let shown = shell_words::shown(word);
        if let Some(command) = self.analysis.commands.get_mut(index)
            && !command.words.contains(&shown)
            && !command.codes.contains(&shown)
        {
            command.codes.push(shown);
        }
    }
}
