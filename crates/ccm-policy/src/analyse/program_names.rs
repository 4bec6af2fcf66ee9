//! Programs under another name: through links, and as copies that the same text makes.

use ccm_shell::{ShellWord, join_path};

use super::{Analyser, CommandContext};
use crate::analysis::{AnalysedCommand, WayOut};
use crate::effect::EffectKind;
use crate::guard_class::GuardClass;
use crate::lookup::ProgramLocation;
use crate::tables::{self, ProgramEntry};

/// Programs that do what the name of a link says, whatever the name.
const MULTI_CALL: [&str; 11] = [
    "asdf",
    "busybox",
    "ccache",
    "coreutils",
    "mise",
    "rustup",
    "snap",
    "toybox",
    "volta-shim",
    "xtables-legacy-multi",
    "xtables-nft-multi",
];

/// Directories whose links have the names that the system gave them.
const NAMED_BY_SYSTEM: [&str; 9] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/",
    "/usr/lib/",
    "/usr/libexec/",
    "/lib/",
    "/nix/store/",
];

/// Program that a command may start under another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CopiedProgram {
    /// Path of the program of which the file is a copy.
    Known(String),
    /// A file that is not known.
    Unknown,
}

/// Returns the entry of a program that is called by a link of another name, with the program's own name.
pub(super) fn behind_link<'l>(
    base: &str,
    location: Option<&'l ProgramLocation>,
) -> Option<(&'l str, &'static ProgramEntry)> {
    let location = location?;
    let own = location.canonical.rsplit('/').next().filter(|own| *own != base)?;
    let entry = tables::find(own)?;
    let is_by_name = match tables::find(base) {
        _ if own == "git" && base.starts_with("git-") => true,
        None => false,
        Some(named) => {
            std::ptr::eq(named, entry)
                || MULTI_CALL.contains(&own)
                || NAMED_BY_SYSTEM.iter().any(|directory| location.path.starts_with(directory))
        }
    };
    (!is_by_name).then_some((own, entry))
}

impl Analyser<'_> {
    /// Returns the program that the same text copied or linked to a name before.
    pub(super) fn copied_program(&self, name: &str, context: &CommandContext) -> Option<CopiedProgram> {
        let directories = &context.directories;
        let paths: Vec<String> = match name.contains('/') {
            true if name.starts_with('/') => vec![join_path("/", name)],
            true => directories.paths.iter().map(|directory| join_path(directory, name)).collect(),
            false => Vec::new(),
        };
        let by_name = !name.contains('/') || directories.is_unknown && !name.starts_with('/');
        let base = name.rsplit('/').next();
        let is_it = |written: &str| {
            paths.iter().any(|path| path == written) || by_name && written.rsplit('/').next() == base
        };
        let commands = self.analysis.commands.iter().rev();
        let mut writers = commands.filter(|command| {
            let mut written = command.effects.iter().filter(|effect| effect.kind == EffectKind::Write);
            written.any(|effect| !effect.is_partial && effect.object.as_deref().is_some_and(is_it))
        });
        writers.find_map(|command| self.copied_by(command, &paths))
    }

    fn copied_by(&self, command: &AnalysedCommand, paths: &[String]) -> Option<CopiedProgram> {
        let directory = command.directory.as_deref();
        let words = command.words.iter().skip(1);
        let source = words.clone().filter_map(|word| word.text()).find_map(|text| {
            let text = text.strip_prefix("if=").unwrap_or(text);
            let source =
                if text.starts_with('/') { join_path("/", text) } else { join_path(directory?, text) };
            if paths.contains(&source) {
                return None;
            }
            let found = self.lookup.find_program(&source, "", "/")?;
            let own = found.canonical.rsplit('/').next().unwrap_or_default();
            tables::find(own).map(|_| found.canonical.clone())
        });
        let copies = matches!(
            command.base_name(),
            Some("cp" | "mv" | "ln" | "link" | "install" | "ginstall" | "dd" | "cat" | "rsync")
        );
        match source {
            Some(source) => Some(CopiedProgram::Known(source)),
            None => (copies && words.clone().any(|word| !word.is_known)).then_some(CopiedProgram::Unknown),
        }
    }

    /// Reports a program that is a copy made by the same text.
    pub(super) fn is_copy(&mut self, index: usize, copied: &CopiedProgram, word: &ShellWord, base: &str) {
        let what = match copied {
            CopiedProgram::Known(source) => format!("`{base}` is a copy of {source}, made by the same text"),
            CopiedProgram::Unknown => format!("`{base}` is a copy of a file that is not known"),
        };
        self.finding(index, GuardClass::ProgramUnknown, what, word.span, Some(WayOut::NameProgram));
    }
}
