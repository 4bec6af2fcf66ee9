//! Directories with the keys and secrets of ccm itself, read as a whole.

use ccm_shell::ShellSpan;

use super::Analyser;
use crate::analysis::{AnalysedCommand, GuardFinding};
use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

/// Directories that hold keys or secrets, and nothing that others need as a whole.
const OWN: [&str; 4] = ["/etc/ccm", "/var/lib/ccm", "/var/lib/ccm/audit", "/var/lib/ccm/approvals"];

/// Such directories in a home directory.
const OWN_IN_HOME: [&str; 3] =
    ["/.local/state/ccm", "/.local/state/ccm/audit", "/.local/state/ccm/approvals"];

/// Directories above.
const ABOVE: [&str; 3] = ["/", "/var", "/var/lib"];

/// Programs that read names and properties alone.
const LISTING: &str = "\
    [ basename cd chcon chgrp chmod chown df dir dirname du eza exa fd fdfind file find findmnt fuser getfacl \
    inotifywait ln ls lsattr lsd lsof mkdir mountpoint namei pushd readlink realpath restorecon stat test touch tree vdir";

/// Programs that read all that is below a directory, and the options with which they do. `*` stands for no option.
const WHOLE: [(&str, &str); 18] = [
    ("7z", "*"),
    ("7za", "*"),
    ("ack", "*"),
    ("ag", "*"),
    ("bsdtar", "-c -r -u --create --append --update"),
    ("cp", "-r -R -a --recursive --archive"),
    ("diff", "-r --recursive"),
    ("egrep", "-r -R --recursive --dereference-recursive"),
    ("fgrep", "-r -R --recursive --dereference-recursive"),
    ("grep", "-r -R --recursive --dereference-recursive"),
    ("gtar", "-c -r -u --create --append --update"),
    ("rg", "*"),
    ("rgrep", "*"),
    ("rsync", "-r -a --recursive --archive"),
    ("scp", "-r"),
    ("tar", "-c -r -u --create --append --update"),
    ("zip", "-r --recurse-paths"),
    ("zipx", "-r --recurse-paths"),
];

impl Analyser<'_> {
    /// Judges a directory that is read, or a part of one that is not known.
    pub(super) fn key_directory(&mut self, index: usize, path: &str, span: ShellSpan) {
        let Some(command) = self.analysis.commands.get(index) else { return };
        if is_own(path) {
            let name = command.base_name().unwrap_or_default();
            if !LISTING.split_ascii_whitespace().any(|known| known == name) {
                self.secret(index, path, "reads what is in", span);
            }
        } else if ABOVE.contains(&path) && reads_whole(command) {
            self.secret(index, path, "reads all that is in", span);
            // Who copies a whole machine may well mean it.
            let is_new =
                |finding: &&mut GuardFinding| finding.class == GuardClass::Secrets && finding.span == span;
            let findings = self.analysis.commands.get_mut(index).map(|command| &mut command.findings);
            if let Some(finding) = findings.and_then(|findings| findings.iter_mut().rev().find(is_new)) {
                finding.at_most = Some(PolicyVerdict::Ask);
            }
        }
    }
}

fn is_own(path: &str) -> bool {
    OWN.contains(&path) || OWN_IN_HOME.iter().any(|directory| path.ends_with(directory))
}

fn reads_whole(command: &AnalysedCommand) -> bool {
    let name = command.base_name().unwrap_or_default();
    let Some((_, options)) = WHOLE.iter().find(|(known, _)| *known == name) else { return false };
    let is_listed = |name: &str| options.split(' ').any(|option| option == name);
    let mut given = command.options.iter();
    is_listed("*")
        || given
            .any(|option| is_listed(&option.name) || option.other_names.iter().any(|name| is_listed(name)))
}
