//! Options of containers that open the machine to the container.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::{Analyser, paths, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::ArgumentRole;

impl Analyser<'_> {
    /// Judges an option of a container.
    pub(super) fn container_option(&mut self, call: &Call<'_>, role: ArgumentRole, word: &ShellWord) {
        let text = shell_words::with_placeholders(word).to_ascii_lowercase();
        let source = match role {
            ArgumentRole::Volume => {
                let prefix = word.known_prefix();
                let end = prefix.find(':');
                match end {
                    Some(end) => Some(ShellWord::known(prefix.get(..end).unwrap_or_default(), word.span)),
                    None if word.text().is_none() => Some(word.clone()),
                    None => None,
                }
            }
            ArgumentRole::Mount => {
                let whole = shell_words::with_placeholders(word);
                let source = whole.split(',').find_map(|part| {
                    part.split_once('=')
                        .filter(|(key, _)| matches!(*key, "source" | "src"))
                        .map(|(_, value)| value.to_owned())
                });
                source.map(|source| ShellWord::known(source, word.span))
            }
            _ => None,
        };
        let opens = match role {
            ArgumentRole::Namespace => text == "host",
            ArgumentRole::Capability => {
                let name = text.trim_start_matches("cap_");
                matches!(
                    name,
                    "all"
                        | "sys_admin"
                        | "sys_module"
                        | "sys_ptrace"
                        | "sys_rawio"
                        | "dac_read_search"
                        | "sys_boot"
                        | "bpf"
                ) || text.contains("unconfined")
                    || text.contains("label=disable")
                    || text.contains("label:disable")
                    || text.contains("systempaths")
            }
            ArgumentRole::Device => {
                !matches!(text.split(':').next(), Some("/dev/null" | "/dev/zero" | "/dev/fuse" | "/dev/dri"))
            }
            _ => false,
        };
        if opens {
            self.open(call, &shell_words::shown(word).shown);
        }
        let Some(source) = source else { return };
        let is_path = source.known_prefix().starts_with(['/', '.', '~']) || source.text().is_none();
        if !is_path {
            return;
        }
        self.read_path(call.index, &source, &call.context);
        for resolved in paths::resolve(&source, &call.context.directories) {
            let is_open = match (&resolved.path, resolved.is_partial) {
                (Some(path), false) => !self.is_inside(path) && opens_machine(path),
                _ => true,
            };
            if is_open {
                self.open(call, &shell_words::shown(word).shown);
            }
        }
    }

    fn open(&mut self, call: &Call<'_>, shown: &str) {
        self.effect(call.index, Effect::new(EffectKind::Container, None).with_action("open"));
        let what = format!("`{shown}` opens the machine to the container");
        self.finding(
            call.index,
            GuardClass::ContainerOpen,
            what,
            self.span(call.index),
            Some(WayOut::AskOperator),
        );
    }
}

/// Returns `true` for a directory whose owner owns the machine.
fn opens_machine(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    let is_socket = path.rsplit('/').next().is_some_and(|name| name.split('.').next_back() == Some("sock"));
    is_socket
        || path == "/"
        || matches!(
            first,
            "bin"
                | "boot"
                | "dev"
                | "etc"
                | "lib"
                | "lib64"
                | "proc"
                | "root"
                | "run"
                | "sbin"
                | "sys"
                | "usr"
                | "var"
                | "home"
        ) && !paths::is_within(path, "/var/tmp")
            && (first != "home" || path.split('/').count() <= 3)
            && path != "/etc/localtime"
            && path != "/etc/timezone"
}
