//! Operands of single programs, such as the time of `date` and the name of `hostname`.

use ccm_shell::{ShellDialect, ShellWord};

use super::entries::Call;
use super::paths::{self, PathMeaning};
use super::{Analyser, CommandContext, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::ArgumentRole;

/// Directories of programs, any of which may have the set-user-id bit.
const PROGRAMS: [&str; 8] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/local", "/opt"];

impl Analyser<'_> {
    /// Judges an operand that only one program has.
    pub(super) fn operand_role(&mut self, call: &mut Call<'_>, role: ArgumentRole, word: &ShellWord) {
        let text = word.text();
        match role {
            ArgumentRole::Date if !word.known_prefix().starts_with('+') => {
                self.changes_system(call, "sets the clock");
            }
            ArgumentRole::HostName => self.changes_system(call, "sets the name of the machine"),
            ArgumentRole::Template => self.temporary(call.index, word, &call.context),
            ArgumentRole::Getent if text.is_none_or(|text| matches!(&*text, "shadow" | "gshadow")) => {
                let path = ShellWord::known("/etc/shadow", word.span);
                self.read_path(call.index, &path, &call.context);
            }
            ArgumentRole::LessOperand if word.known_prefix().starts_with('+') => {
                let prefix = word.known_prefix();
                let command = prefix.trim_start_matches('+');
                if let Some(text) = command.strip_prefix(['!', '#']) {
                    let text = ShellWord::known(text, word.span);
                    self.shell_text(call.index, &text, ShellDialect::Sh, call.commands, &call.context);
                }
                let is_move = word.text().is_some()
                    // A line end ends a pattern, and begins another command.
                    && !command.contains(char::is_control)
                    && (command
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'G' | b'g' | b'F' | b'%'))
                        || command.starts_with(['/', '?']));
                if !is_move {
                    let span = call.context.span.unwrap_or(word.span);
                    self.inline_code(call.index, call.name, word, span);
                }
            }
            ArgumentRole::LessOperand => self.read_path(call.index, word, &call.context),
            ArgumentRole::OpensslFile => {
                let prefix = word.known_prefix();
                match prefix.split_once(':') {
                    Some(("file", _)) => {
                        let path = shell_words::without_prefix(word, 5);
                        self.read_path(call.index, &path, &call.context);
                    }
                    Some(("pass" | "env" | "fd" | "stdin" | "pkcs11" | "rsa" | "ec", _)) => {}
                    _ => self.read_path(call.index, word, &call.context),
                }
            }
            ArgumentRole::ModeOf => {
                self.read_path(call.index, word, &call.context);
                self.copied_mode(call, word, false);
            }
            _ => {}
        }
    }

    fn changes_system(&mut self, call: &Call<'_>, what: &str) {
        self.effect(call.index, Effect::new(EffectKind::System, None).with_action(call.name));
        let what = format!("`{}` {what}", call.name);
        self.finding(call.index, GuardClass::System, what, self.span(call.index), Some(WayOut::AskOperator));
    }

    /// Judges a new file or directory of a name that nobody chose. In a directory of temporary files it harms nobody.
    pub(super) fn temporary(&mut self, index: usize, word: &ShellWord, context: &CommandContext) {
        let home = self.request.variable("HOME");
        let own = self.request.variable("TMPDIR").filter(|path| {
            path.starts_with('/') && *path != "/" && paths::meaning(path, home) == PathMeaning::Plain
        });
        let directories = [Some("/tmp"), Some("/var/tmp"), own];
        let is_temporary =
            |path: &str| directories.iter().flatten().any(|directory| paths::is_within(path, directory));
        for resolved in paths::resolve(word, &context.directories) {
            let Some(path) = resolved.path.as_deref().filter(|path| is_temporary(path)) else {
                self.write_path(index, word, context);
                return;
            };
            // What stands in place of `XXX` is not known.
            let beginning = path.split("XXX").next().unwrap_or_default().to_owned();
            let effect = self.path_effect(EffectKind::Write, &resolved);
            self.effect(index, Effect { object: Some(beginning), is_partial: true, ..effect });
        }
    }

    /// Judges `cp` that keeps modes: a copy of a program may have the set-user-id bit of the program.
    pub(super) fn copied_modes(&mut self, call: &Call<'_>) {
        let keeps = call.parsed.options.iter().any(|option| match &*option.name {
            "-p" | "-a" | "--archive" => true,
            "--preserve" => option.value.as_ref().is_none_or(|value| {
                value.text().is_none_or(|text| text.split(',').any(|part| matches!(part, "mode" | "all")))
            }),
            _ => false,
        });
        if !keeps {
            return;
        }
        let is_tree = call.parsed.has(&["-a", "-r", "-R", "--archive", "--recursive"]);
        let sources = match call.parsed.value_of("-t") {
            Some(_) => &*call.parsed.operands,
            None => call.parsed.operands.split_last().map_or(&[][..], |(_, sources)| sources),
        };
        for source in sources {
            self.copied_mode(call, source, is_tree);
        }
    }

    fn copied_mode(&mut self, call: &Call<'_>, source: &ShellWord, is_tree: bool) {
        for resolved in paths::resolve(source, &call.context.directories) {
            let Some(path) = resolved.path.filter(|path| !self.is_inside(path)) else { continue };
            let is_program = PROGRAMS.iter().any(|directory| {
                paths::is_within(&path, directory) || is_tree && paths::is_within(directory, &path)
            });
            if is_program {
                self.effect(call.index, Effect::new(EffectKind::Privilege, Some(path.clone())));
                let what =
                    format!("gives a file the mode of {path}, which may let everybody run it as its owner");
                let span = call.context.span.unwrap_or(source.span);
                self.finding(call.index, GuardClass::Privilege, what, span, Some(WayOut::AskOperator));
            }
        }
    }
}
