//! Programs whose arguments no table describes.

use std::borrow::Cow;

use ccm_model::{Glob, GlobKind};
use ccm_shell::{ShellCommand, ShellWord, UnknownOrigin, WordPiece};

use super::entries::Call;
use super::exact::ExactCall;
use super::objects::CalledObject;
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::grammars::shell_of_command;
use crate::guard_class::GuardClass;

/// Names of the functions of this module, for checking the tables.
#[cfg(test)]
pub(super) const HANDLERS: [&str; 31] = [
    "interpreter",
    "ed",
    "sqlite",
    "psql",
    "mysql",
    "dc",
    "m4",
    "debugger",
    "python",
    "perl",
    "node",
    "ruby",
    "php",
    "lua",
    "shell",
    "env",
    "sed",
    "awk",
    "make",
    "find",
    "kill",
    "chmod",
    "dd",
    "git_checkout",
    "copied_modes",
    "parallel",
    "windows",
    "editor",
    "netcat",
    "bind_mounts",
    "script_or_program",
];

impl Analyser<'_> {
    /// Runs the function of an entry. Returns `false` if the entry's other parts have to be read as well.
    pub(super) fn handler(
        &mut self,
        index: usize,
        handler: &str,
        all: &[ShellWord],
        commands: &[ShellCommand],
        context: &CommandContext,
    ) -> bool {
        let name = all.first().and_then(ShellWord::text).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let exact = ExactCall { index, name, commands, context };
        match handler {
            "python" => self.python(exact, all),
            "perl" => self.perl(exact, all),
            "node" => self.node(exact, all),
            "ruby" => self.ruby(exact, all),
            "php" => self.php(exact, all),
            "lua" => self.lua(exact, all),
            "sqlite" => self.sqlite(exact, all),
            "psql" => self.psql(exact, all),
            "mysql" => self.mysql(exact, all),
            "dc" => self.dc(exact, all),
            "m4" => self.m4(exact, all),
            "env" => self.env(exact, all),
            "sed" => self.sed(exact, all),
            "awk" => self.awk(exact, all),
            "make" => self.make(exact, all),
            "shell" => self.shell(index, all, commands, context),
            "find" => self.find(index, all, commands, context),
            "kill" => self.kill(index, all),
            "dd" => self.dd(index, all, context),
            "parallel" => self.parallel(index, all, commands, context),
            "windows" => self.windows(index, all),
            "chmod" => {
                self.mode_operand(index, all);
                return false;
            }
            "editor" => {
                self.editor(index, all);
                self.shell_commands(exact, all, &["-c", "--cmd"]);
                return false;
            }
            "interpreter" => {
                self.other_interpreter(exact, all);
                return false;
            }
            "ed" => {
                self.ed_input(exact);
                self.shell_commands(exact, all, &["-c", "--cmd"]);
                return false;
            }
            "debugger" => {
                self.debugger(exact, all);
                return false;
            }
            "bind_mounts" => {
                self.bind_mounts(index, all, context);
                return false;
            }
            "netcat" => {
                self.socket_address(index, all);
                return false;
            }
            _ => return false,
        }
        true
    }

    pub(super) fn record_operands(&mut self, index: usize, operands: &[ShellWord]) {
        if let Some(command) = self.analysis.commands.get_mut(index) {
            command.operands.extend(operands.iter().map(shell_words::shown));
        }
    }

    /// Judges `kill`.
    fn kill(&mut self, index: usize, all: &[ShellWord]) {
        let words = all.get(1..).unwrap_or_default();
        let mut rest = words.iter();
        let mut signal: Option<String> = None;
        let mut is_first = true;
        let mut processes: Vec<&ShellWord> = Vec::new();
        while let Some(word) = rest.next() {
            let text = shell_words::with_placeholders(word);
            let is_option = is_first && text.len() > 1 && text.starts_with('-') && word.text().is_some();
            match &*text {
                "-l" | "-L" | "--list" | "--table" if is_first => return,
                "--" => {}
                "-s" | "-n" | "-q" | "--signal" | "--queue" if is_first => {
                    let value = rest.next().and_then(ShellWord::text);
                    signal = signal.or(value.map(Cow::into_owned));
                    continue;
                }
                "-p" | "--pid" | "-a" | "--all" | "--verbose" if is_first => continue,
                option if is_option && !(signal.is_some() && is_number(option)) => {
                    // `kill -9 1` has a signal; `kill -1` alone is an error.
                    signal = Some(option.trim_start_matches('-').trim_start_matches("signal=").to_owned());
                    continue;
                }
                _ => processes.push(word),
            }
            is_first = false;
        }
        let operands: Vec<ShellWord> = processes.iter().map(|word| (*word).clone()).collect();
        self.record_operands(index, &operands);
        if processes.is_empty() {
            return;
        }
        // `%1` and `$!` are jobs of this shell.
        let is_job = |word: &ShellWord| {
            let is_empty =
                |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
            let mut pieces = word.pieces.iter().filter(|piece| !is_empty(piece));
            let is_last = match (pieces.next(), pieces.next()) {
                (Some(WordPiece::Unknown { origin: UnknownOrigin::Variable(name), .. }), None) => name == "!",
                _ => false,
            };
            is_last || word.text().is_some_and(|text| text.starts_with('%'))
        };
        for process in processes {
            if is_job(process) {
                let job = shell_words::shown(process).shown;
                self.effect(index, Effect::new(EffectKind::Signal, Some(job)));
            } else {
                self.process(index, process);
            }
        }
        if signal.as_deref() == Some("0")
            && let Some(command) = self.analysis.commands.get_mut(index)
        {
            // Only asks whether the process exists.
            command.findings.retain(|finding| finding.class != GuardClass::Signal);
        }
    }

    /// Judges the number of a process that gets a signal.
    pub(super) fn process(&mut self, index: usize, word: &ShellWord) {
        let text = word.text();
        self.effect(index, Effect::new(EffectKind::Signal, text.clone().map(Cow::into_owned)));
        let number = text.as_deref().and_then(|text| text.parse::<i64>().ok());
        let (class, what) = match number {
            Some(1) => (GuardClass::SignalAll, "sends a signal to init".to_owned()),
            Some(-1) => (GuardClass::SignalAll, "sends a signal to every process".to_owned()),
            _ => (GuardClass::Signal, format!("sends a signal to {}", shell_words::shown(word).shown)),
        };
        self.finding(index, class, what, self.span(index), Some(WayOut::AskOperator));
    }

    /// Judges `dd`.
    fn dd(&mut self, index: usize, all: &[ShellWord], context: &CommandContext) {
        self.record_operands(index, all.get(1..).unwrap_or_default());
        for word in all.iter().skip(1) {
            let prefix = word.known_prefix();
            if prefix.starts_with("if=") {
                self.read_path(index, &shell_words::without_prefix(word, 3), context);
            } else if prefix.starts_with("of=") {
                self.write_path(index, &shell_words::without_prefix(word, 3), context);
            } else if is_harmless_operand_of_dd(&prefix) {
            } else if !prefix.is_empty() {
                self.unlisted(index, "dd", &shell_words::shown(word).shown);
            } else {
                let what = "an operand of `dd` is not known";
                self.finding(index, GuardClass::WriteOutside, what, self.span(index), Some(WayOut::NamePath));
            }
        }
    }

    /// Judges programs of Windows, with its spelling of options.
    fn windows(&mut self, index: usize, all: &[ShellWord]) {
        self.record_operands(index, all.get(1..).unwrap_or_default());
        let name = all.first().and_then(ShellWord::text).unwrap_or_default();
        let has = |option: &str| {
            all.iter().skip(1).filter_map(ShellWord::text).any(|text| text.eq_ignore_ascii_case(option))
        };
        let names_drive = all.iter().skip(1).filter_map(ShellWord::text).any(|text| {
            let mut bytes = text.bytes();
            bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic()) && bytes.eq(*b":")
        });
        let class = match &*name {
            "del" | "erase" if has("/f") || has("/s") || has("/q") => GuardClass::DeleteOutside,
            "diskpart" => GuardClass::Disk,
            "format" if names_drive => GuardClass::Disk,
            _ => return,
        };
        let what = format!("`{name}` is a command of Windows that {}", class.description());
        self.finding(index, class, what, self.span(index), Some(WayOut::AskOperator));
    }

    /// Judges commands of an editor: `+cmd`.
    fn editor(&mut self, index: usize, all: &[ShellWord]) {
        for word in all.iter().skip(1) {
            let prefix = word.known_prefix();
            let is_line = prefix.get(1..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
            if prefix.len() > 1 && prefix.starts_with('+') && !is_line && !prefix.starts_with("+/") {
                self.inline_code(index, "the editor", word, self.span(index));
            }
        }
    }

    /// Judges commands that start a shell, among those that an editor or debugger gets.
    fn shell_commands(&mut self, call: ExactCall<'_>, all: &[ShellWord], options: &[&str]) {
        for (position, word) in all.iter().enumerate().skip(1) {
            let Some(text) = word.text() else { continue };
            let behind =
                all.get(position + 1).filter(|_| options.contains(&&*text)).and_then(ShellWord::text);
            let attached = options.iter().find_map(|option| text.strip_prefix(option)?.strip_prefix('='));
            let command = behind.as_deref().or(attached).or(text.strip_prefix('+'));
            if let Some(shell) = command.and_then(shell_of_command) {
                self.text_actions(call, &[shell], call.span(word));
            }
        }
    }

    /// Judges the lines of the standard input of a line editor that start a shell.
    fn ed_input(&mut self, call: ExactCall<'_>) {
        let super::CommandInput::Text(text) = &call.context.input else { return };
        let span = call.span(text);
        for shell in shell_words::with_placeholders(text).lines().filter_map(shell_of_command) {
            self.text_actions(call, &[shell], span);
        }
    }

    /// Judges addresses of socat that run programs.
    fn socket_address(&mut self, index: usize, all: &[ShellWord]) {
        let runs = all.iter().skip(1).any(|word| {
            let text = shell_words::with_placeholders(word).to_ascii_lowercase();
            text.starts_with("exec:") || text.starts_with("system:") || text.starts_with("shell:")
        });
        if runs {
            let what = "a program of this machine is given to another";
            self.finding(index, GuardClass::RemoteShell, what, self.span(index), Some(WayOut::AskOperator));
        }
    }

    /// Judges a unit of the service manager.
    pub(super) fn unit(&mut self, call: &mut Call<'_>, word: &ShellWord) {
        let shown = shell_words::shown(word).shown;
        let name = shown.rsplit('/').next().unwrap_or_default();
        let name = name.strip_suffix(".service").unwrap_or(name).to_owned();
        let guards = ["auditd", "ccm", "ccm-tool", "apparmor", "falco", "osqueryd"];
        let glob = Glob::parse(&name, GlobKind::Text).ok().filter(|_| name.contains(['*', '?', '[']));
        let is_guard = guards.contains(&&*name)
            || name.starts_with("ccm-")
            || name.starts_with("ccm.")
            || glob.is_some_and(|glob| {
                // `systemctl` knows patterns of units.
                guards.iter().any(|guard| glob.matches(guard) || glob.matches(format!("{guard}.service")))
            });
        if is_guard
            && !matches!(call.parsed.operands.first().and_then(ShellWord::text).as_deref(), Some("status"))
        {
            self.effect(call.index, Effect::new(EffectKind::Govern, Some(name.clone())));
            let what = format!("changes {name}, a part of the governance");
            self.finding(
                call.index,
                GuardClass::Govern,
                what,
                self.span(call.index),
                Some(WayOut::AskOperator),
            );
        }
        let targets = [
            "poweroff",
            "reboot",
            "halt",
            "kexec",
            "shutdown",
            "suspend",
            "hibernate",
            "rescue",
            "emergency",
        ];
        if targets.iter().any(|target| name == format!("{target}.target")) {
            let what = format!("starts {name}, which stops the machine");
            self.finding(
                call.index,
                GuardClass::Power,
                what,
                self.span(call.index),
                Some(WayOut::AskOperator),
            );
        }
        call.objects.push(CalledObject::unit(word));
    }
}

fn is_harmless_operand_of_dd(operand: &str) -> bool {
    const NAMES: [&str; 16] = [
        "bs", "cbs", "conv", "count", "ibs", "iflag", "obs", "oflag", "seek", "oseek", "skip", "iseek",
        "status", "files", "fillchar", "speed",
    ];
    matches!(operand, "--help" | "--version")
        || operand.split_once('=').is_some_and(|(name, _)| NAMES.contains(&name))
}

fn is_number(text: &str) -> bool {
    text.parse::<i64>().is_ok()
}
