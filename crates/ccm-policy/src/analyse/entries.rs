//! Arguments of programs with an entry in the tables.

use ccm_shell::{ShellCommand, ShellDialect, ShellWord};

use super::arguments::{self, ParsedArguments, ParsedOption};
use super::objects::CalledObject;
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::analysis::{AnalysedOption, WayOut};
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::{ArgumentRole, OperandRole, OptionSpec, ProgramEntry, ProgramSyntax};

/// Call of a program, while its arguments are judged.
pub(super) struct Call<'c> {
    pub(super) index: usize,
    /// Name of the program without directories.
    pub(super) name: &'c str,
    pub(super) parsed: &'c ParsedArguments,
    /// Commands of the text, for words that hold the output of commands.
    pub(super) commands: &'c [ShellCommand],
    /// Words that are given to `SplitCommand` as further arguments.
    pub(super) operands: &'c [ShellWord],
    pub(super) context: CommandContext,
    /// Directories in which the program was started.
    pub(super) started_in: std::sync::Arc<ccm_shell::ShellDirectories>,
    /// Objects of what the program does.
    pub(super) objects: Vec<CalledObject>,
    /// Code was named: nothing is read from standard input.
    pub(super) has_code: bool,
}

/// Arguments of a program and of its subcommands.
struct CalledProgram {
    parsed: ParsedArguments,
    /// Entries of the program and of the subcommands.
    levels: Vec<&'static ProgramEntry>,
    /// Names of the subcommands.
    action: String,
}

impl Analyser<'_> {
    /// Judges a call of a program by the program's entry.
    pub(super) fn entry(
        &mut self,
        index: usize,
        entry: &'static ProgramEntry,
        all: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) {
        if let Some(handler) = &entry.handler
            && self.handler(index, handler, all, commands, context)
        {
            return;
        }
        let name = all.first().and_then(ShellWord::text).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        let CalledProgram { parsed, levels, action } = self.command_line(index, entry, all, &name);
        let level = levels.last().copied().unwrap_or(entry);
        let is_report = levels.iter().any(|level| is_report(level, &parsed));
        let mut operands: &[OperandRole] = &level.operands;
        let mut does: Vec<GuardClass> = levels.iter().flat_map(|level| level.does.iter().copied()).collect();
        let mut reads_code = level.reads_code;
        let mut writes_here = levels.iter().any(|level| level.writes_here);
        for (names, change) in levels.iter().flat_map(|level| &level.with) {
            if !names.iter().any(|name| name.split('+').all(|name| parsed.has(&[name]))) {
                continue;
            }
            if change.has_operands {
                operands = &change.operands;
                reads_code = false;
            }
            does.extend(&change.does);
            writes_here |= change.writes_here;
        }
        if name == "git" && does.contains(&GuardClass::Publish) {
            self.other_repository(index, context);
        }
        let mut call = Call {
            index,
            name: &name,
            parsed: &parsed,
            commands,
            operands: &parsed.operands,
            context: context.clone(),
            started_in: std::sync::Arc::clone(&context.directories),
            objects: Vec::new(),
            has_code: false,
        };
        match level.handler.as_deref() {
            Some("git_checkout") => self.git_checkout(&call),
            Some("copied_modes") => self.copied_modes(&call),
            _ => {}
        }
        for option in &parsed.options {
            let Some(spec) = option.spec else { continue };
            if let Some(value) = &option.value {
                self.role(&mut call, spec.role, value, Some(&option.name));
            }
            if !is_report {
                does.extend(&spec.does);
            }
        }
        if !parsed.command.is_empty() {
            self.command_of_option(&call);
        }
        self.operands(&mut call, operands);
        if !is_report {
            self.project_of_directory(&call, &action);
        }
        self.handed_on(&call, &action);
        self.odd_words(&call, all);
        self.shown_secrets(&call);
        self.written_below(&call);
        self.searched_directory(&call);
        self.publishing_words(&call);
        if writes_here && !is_report {
            self.writes_here(index, &call.context);
        }
        if reads_code && !call.has_code && !is_report {
            self.code_from_input(index, &name, commands, &call.context);
        }
        let objects = std::mem::take(&mut call.objects);
        if !is_report {
            self.does(index, &name, &action, &does, &objects);
        }
        if entry.downloads && !is_report {
            self.effect(index, Effect::new(EffectKind::Network, None));
        }
    }

    /// Judges what programs read into words that are options or paths for others.
    fn odd_words(&mut self, call: &Call<'_>, all: &[ShellWord]) {
        match call.name {
            "tmux" => {
                // `;` begins another command, and a format may run one.
                let words = all.iter().skip(1).map(shell_words::with_placeholders);
                for text in words.filter(|text| text.ends_with(';') || text.contains("#(")) {
                    self.unlisted(call.index, call.name, &text);
                }
            }
            "at" | "batch" => {
                if let CommandInput::Text(text) = &call.context.input {
                    self.shell_text(
                        call.index,
                        &text.clone(),
                        ShellDialect::Sh,
                        call.commands,
                        &call.context,
                    );
                }
            }
            "bsdtar" => {
                for word in all.iter().skip(1).filter(|word| word.known_prefix().starts_with('@')) {
                    self.read_path(call.index, &shell_words::without_prefix(word, 1), &call.started());
                }
                if call.parsed.has(&["-s"]) {
                    self.unlisted(call.index, call.name, "-s");
                }
            }
            _ => {}
        }
    }

    /// Parses a command line, with its subcommands.
    fn command_line(
        &mut self,
        index: usize,
        entry: &'static ProgramEntry,
        all: &[ShellWord],
        name: &str,
    ) -> CalledProgram {
        let mut table: Vec<&'static OptionSpec> = entry.options.iter().collect();
        let mut syntax = entry.syntax;
        let stops = syntax == ProgramSyntax::Posix || entry.has_subcommands();
        let words = all.get(1..).unwrap_or_default();
        let mut parsed = arguments::parse(words, &table, syntax, stops);
        let mut action = String::new();
        let mut level = entry;
        let mut levels = vec![entry];
        while level.has_subcommands() {
            let Some(first) = parsed.operands.first() else { break };
            let Some(text) = first.text() else {
                let what = format!("the subcommand of `{name}` is not known");
                let span = self.span(index);
                self.finding(index, GuardClass::ProgramUnknown, what, span, Some(WayOut::NameProgram));
                self.any_subcommand(index, level);
                break;
            };
            let inherited = || level.inherits.then(|| entry.subcommand(&text)).flatten();
            let Some(next) = level.subcommand(&text).or_else(inherited) else {
                if !level.has_operands && !level.is_open {
                    self.unlisted(index, name, &text);
                }
                break;
            };
            if !action.is_empty() {
                action.push(' ');
            }
            action += &text;
            level = next;
            levels.push(next);
            table.splice(0..0, next.options.iter());
            if next.syntax != ProgramSyntax::Gnu {
                syntax = next.syntax;
            }
            let stops = next.stops || next.syntax == ProgramSyntax::Posix || next.has_subcommands();
            self.record(index, std::iter::once(first));
            let inner = parsed.operands.get(1..).unwrap_or_default();
            let further = arguments::parse(inner, &table, syntax, stops);
            parsed.command = further.command;
            parsed.options.extend(further.options);
            parsed.operands = further.operands;
            parsed.before_dashes = further.before_dashes;
        }
        self.record_arguments(index, &parsed);
        if !levels.iter().any(|level| level.is_open) {
            self.unlisted_options(index, name, &parsed);
        }
        CalledProgram { parsed, levels, action }
    }

    /// Reports options that the table does not list.
    pub(super) fn unlisted_options(&mut self, index: usize, name: &str, parsed: &ParsedArguments) {
        for option in &parsed.options {
            let is_report = option.spec.is_none() && matches!(&*option.name, "--help" | "--version");
            if (option.spec.is_none() || option.is_odd) && !is_report {
                self.unlisted(index, name, &option.name);
            }
        }
    }

    /// Reports an option or a subcommand that the table does not list.
    pub(super) fn unlisted(&mut self, index: usize, name: &str, shown: &str) {
        let what = format!("the tables do not list `{shown}` of `{name}`, so that its effects are not known");
        self.finding(index, GuardClass::OptionUnknown, what, self.span(index), Some(WayOut::DropOption));
    }

    fn record<'w>(&mut self, index: usize, operands: impl IntoIterator<Item = &'w ShellWord>) {
        if let Some(command) = self.analysis.commands.get_mut(index) {
            command.operands.extend(operands.into_iter().map(shell_words::shown));
        }
    }

    /// Records options and operands for rules.
    pub(super) fn record_arguments(&mut self, index: usize, parsed: &ParsedArguments) {
        self.record(index, &parsed.operands);
        let Some(command) = self.analysis.commands.get_mut(index) else { return };
        command.options.extend(parsed.options.iter().map(|option| {
            let names = option.spec.map_or(&[][..], |spec| &spec.names);
            AnalysedOption {
                name: option.name.clone(),
                other_names: names
                    .iter()
                    .filter(|name| ***name != option.name)
                    .map(ToString::to_string)
                    .collect(),
                value: option.value.as_ref().map(shell_words::shown),
            }
        }));
    }

    /// Gives each operand its role.
    pub(super) fn operands(&mut self, call: &mut Call<'_>, roles: &[OperandRole]) {
        let operands = call.operands;
        if let ([], Some(OperandRole { role: ArgumentRole::GitConfig, .. })) = (operands, roles.first()) {
            self.git_config(call, &[]);
        }
        let repeated = roles.iter().position(|role| role.is_repeated);
        let before = repeated.unwrap_or(roles.len());
        let behind = repeated.map_or(0, |at| roles.len() - at - 1);
        let last_from = operands.len().saturating_sub(behind).max(before);
        let mut position = 0;
        let mut role_position = 0;
        while let Some(word) = operands.get(position) {
            let role = if role_position < before {
                roles.get(role_position).copied()
            } else if position >= last_from {
                roles.get(before + 1 + position - last_from).copied()
            } else {
                repeated.and_then(|at| roles.get(at)).copied()
            };
            let role = role.map_or(ArgumentRole::Text, |role| role.role);
            let rest = operands.get(position..).unwrap_or_default();
            match role {
                ArgumentRole::Number => {
                    let is_number = word.text().is_none_or(|text| text.parse::<i64>().is_ok());
                    position += usize::from(is_number);
                    role_position += 1;
                    continue;
                }
                ArgumentRole::Settings => {
                    // `env -` is `env -i`.
                    if word.text().as_deref() == Some("-") {
                        position += 1;
                        continue;
                    }
                    let is_setting = super::variables::setting_name(word).is_some();
                    if is_setting {
                        self.role(call, ArgumentRole::Setting, word, None);
                        position += 1;
                    } else {
                        role_position += 1;
                    }
                    continue;
                }
                ArgumentRole::Command => {
                    self.inner_command(call, rest);
                    return;
                }
                ArgumentRole::ShellJoined => {
                    self.joined_text(call, rest);
                    return;
                }
                ArgumentRole::Script | ArgumentRole::Module => {
                    self.role(call, role, word, None);
                    for word in rest.iter().skip(1) {
                        self.maybe_path(call.index, word, &call.context);
                    }
                    return;
                }
                ArgumentRole::GitConfig => {
                    self.git_config(call, rest);
                    return;
                }
                ArgumentRole::Special(special) if self.special_operands(call, special, rest) => return,
                role => self.role(call, role, word, None),
            }
            position += 1;
            role_position += 1;
        }
    }
}

impl Call<'_> {
    /// Returns the context in which the program was started.
    fn started(&self) -> CommandContext {
        CommandContext { directories: self.started_in.clone(), ..self.context.clone() }
    }
}

/// Returns `true` if the program only reports something.
fn is_report(entry: &ProgramEntry, parsed: &ParsedArguments) -> bool {
    let first_words = |name: &str| {
        let words = name.split('+').filter(|part| !part.starts_with(['-', '!', '(']));
        let operands = parsed.operands.iter().map(ShellWord::text);
        words
            .zip(operands.chain(std::iter::repeat(None)))
            .all(|(word, operand)| operand.as_deref() == Some(word))
    };
    // `-S+-s` stands for both together, `!-w` for an option that is not there, `()` for no further operands, and other
    // words for the first operands.
    let is_listed = |name: &str| {
        let words = name.split('+').filter(|part| !part.starts_with(['-', '!', '('])).count();
        let options = name.split('+').all(|part| match part.strip_prefix('!') {
            Some(part) => !parsed.has(&[part]),
            None if part == "()" && name == "()" => parsed.operands.is_empty() && parsed.options.is_empty(),
            None if part == "()" => parsed.operands.len() == words,
            None => !part.starts_with('-') || parsed.has(&[part]),
        });
        options && first_words(name)
    };
    let is_known = |option: &ParsedOption| {
        option.spec.is_some() && !option.is_odd
            || entry.unless.iter().any(|name| name.split('+').any(|name| option.is_named(name)))
    };
    // What an option that is not known adds is no report.
    entry.unless.iter().any(|name| is_listed(name)) && parsed.options.iter().all(is_known)
        || parsed.has(&["--help", "--version"]) && parsed.operands.is_empty()
}

/// Returns the kind of effect that a class stands for.
pub(super) fn effect_kind(class: GuardClass) -> Option<EffectKind> {
    Some(match class {
        GuardClass::Disk => EffectKind::Disk,
        GuardClass::Power => EffectKind::Power,
        GuardClass::Kernel => EffectKind::Kernel,
        GuardClass::Govern => EffectKind::Govern,
        GuardClass::Secrets => EffectKind::Secrets,
        GuardClass::RemoteShell | GuardClass::Remote => EffectKind::Remote,
        GuardClass::Metadata => EffectKind::Network,
        GuardClass::SignalAll | GuardClass::Signal => EffectKind::Signal,
        GuardClass::ContainerOpen | GuardClass::Container => EffectKind::Container,
        GuardClass::Privilege => EffectKind::Privilege,
        GuardClass::CodePipe | GuardClass::CodeInline | GuardClass::CodeOutside => EffectKind::Code,
        GuardClass::DeleteOutside | GuardClass::DeleteInside => EffectKind::Delete,
        GuardClass::Permissions => EffectKind::Permissions,
        GuardClass::Service => EffectKind::Service,
        GuardClass::Package => EffectKind::Package,
        GuardClass::Publish => EffectKind::Publish,
        GuardClass::Persist => EffectKind::Persist,
        GuardClass::Account => EffectKind::Account,
        GuardClass::System => EffectKind::System,
        _ => return None,
    })
}
