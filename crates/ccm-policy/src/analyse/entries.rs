//! Arguments of programs with an entry in the tables.

use ccm_shell::{ShellCommand, ShellDialect, ShellWord};

use super::arguments::ParsedArguments;
use super::command_lines::{CalledProgram, is_report};
use super::objects::CalledObject;
use super::started::StartedForm;
use super::{Analyser, CommandContext, CommandInput, shell_words};
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::{ArgumentRole, OperandRole, ProgramEntry};

/// Call of a program, while its arguments are judged.
pub(super) struct Call<'c> {
    pub(super) index: usize,
    /// Name of the program without directories.
    pub(super) name: &'c str,
    /// Names of the subcommands.
    pub(super) action: &'c str,
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
    /// The package whose program is run lies in the workspace, so that nothing is fetched.
    pub(super) is_installed: bool,
}

/// Programs that begin a shell if no command is named. `script` begins one beside its file.
const BEGINS_SHELL: [&str; 9] =
    ["fakechroot", "fakeroot", "fakeroot-ng", "i386", "linux32", "linux64", "pseudo", "setarch", "x86_64"];

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
        let called = self.command_line(index, entry, all, &name);
        let CalledProgram { parsed, levels, action, .. } = &called;
        let level = levels.last().copied().unwrap_or(entry);
        let is_report = levels.iter().any(|at| is_report(at, parsed, std::ptr::eq(*at, level)));
        let mut operands: &[OperandRole] = &level.operands;
        let mut does: Vec<GuardClass> = levels.iter().flat_map(|level| level.does.iter().copied()).collect();
        let mut reads_code = level.reads_code;
        let mut writes_here = levels.iter().any(|level| level.writes_here);
        for (names, change) in levels.iter().flat_map(|level| &level.with) {
            let is_given = |name: &str| match name.strip_prefix('!') {
                Some(name) => !parsed.has(&[name]),
                None => parsed.has(&[name]),
            };
            if !names.iter().any(|name| name.split('+').all(is_given)) {
                continue;
            }
            if change.has_operands {
                operands = &change.operands;
                reads_code = false;
            }
            does.extend(&change.does);
            writes_here |= change.writes_here;
        }
        self.possible_options(index, &name, &called, operands, commands);
        if name == "git" && does.contains(&GuardClass::Publish) {
            self.other_repository(index, context);
        }
        let mut call = Call {
            index,
            name: &name,
            action,
            parsed,
            commands,
            operands: &parsed.operands,
            context: context.clone(),
            started_in: std::sync::Arc::clone(&context.directories),
            objects: Vec::new(),
            has_code: false,
            is_installed: false,
        };
        match level.handler.as_deref() {
            Some("git_checkout") => self.git_checkout(&call),
            Some("copied_modes") => self.copied_modes(&call),
            Some("script_or_program") => self.script_or_program(&call),
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
            self.project_of_directory(&call, action);
        }
        self.listed_names(&call);
        self.handed_on(&call, action);
        self.formatted(&call, action);
        self.odd_words(&call, all);
        self.shown_secrets(&call);
        self.written_below(&call);
        self.searched_directory(&call);
        self.searched_by_git(&call);
        self.addresses(&call, level, all);
        self.publishing_words(&call);
        if writes_here && !is_report {
            self.writes_here(index, &call.context);
        }
        let begins_shell = BEGINS_SHELL.contains(&&*name) && call.operands.is_empty() || name == "script";
        if (reads_code || begins_shell) && !call.has_code && !is_report {
            self.code_from_input(index, &name, commands, &call.context);
        }
        let objects = std::mem::take(&mut call.objects);
        if call.is_installed {
            does.retain(|class| *class != GuardClass::Package);
        }
        if !is_report {
            // git deletes nothing outside of the repository.
            let below = if name == "git" { call.context.directories.only() } else { None };
            self.does(index, &name, action, &does, &objects, below);
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
                    self.format_of_tmux(call, &text);
                }
            }
            "yarn" | "pnpm" => {
                let mut rest = all.iter().skip(1);
                while let Some(word) = rest.next() {
                    let prefix = word.known_prefix();
                    let is_shell = |name: &str| matches!(name, "--script-shell" | "--shell");
                    let shell = match prefix.split_once('=') {
                        Some((name, _)) if is_shell(name) => {
                            Some(shell_words::without_prefix(word, name.len() + 1))
                        }
                        _ if is_shell(&prefix) => rest.next().cloned(),
                        _ => None,
                    };
                    if let Some(shell) = shell {
                        self.started(call, ArgumentRole::ProgramText, &shell, Some("--script-shell"));
                    }
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

    /// Judges the commands `#(…)` of a format.
    fn format_of_tmux(&mut self, call: &Call<'_>, text: &str) {
        for part in text.split("#(").skip(1) {
            let text = part.rsplit_once(')').map_or(part, |(text, _)| text);
            let text = ShellWord::known(text, self.span(call.index));
            self.started_command(call.index, StartedForm::Text, &text, &call.context);
        }
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
