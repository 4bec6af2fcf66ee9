//! Directories that are read as a whole, and the credentials below.

use ccm_shell::{ShellSpan, ShellWord, WordPiece};

use super::entries::Call;
use super::{Analyser, CommandInput, credentials};
use crate::analysis::{AnalysedCommand, GuardFinding};
use crate::effect::EffectKind;
use crate::guard_class::GuardClass;
use crate::verdict::PolicyVerdict;

/// Directories that hold keys or secrets, and nothing that others need as a whole.
const OWN: [&str; 4] = ["/etc/ccm", "/var/lib/ccm", "/var/lib/ccm/audit", "/var/lib/ccm/approvals"];

/// Such directories in a home directory.
const OWN_IN_HOME: [&str; 3] =
    ["/.local/state/ccm", "/.local/state/ccm/audit", "/.local/state/ccm/approvals"];

/// Returns `true` for programs that read names and properties alone.
fn is_listing_program(name: &str) -> bool {
    matches!(
        name,
        "[" | "basename"
            | "cd"
            | "chcon"
            | "chgrp"
            | "chmod"
            | "chown"
            | "df"
            | "dir"
            | "dirname"
            | "du"
            | "eza"
            | "exa"
            | "fd"
            | "fdfind"
            | "file"
            | "find"
            | "findmnt"
            | "fuser"
            | "getfacl"
            | "inotifywait"
            | "ln"
            | "ls"
            | "lsattr"
            | "lsd"
            | "lsof"
            | "mkdir"
            | "mountpoint"
            | "namei"
            | "pushd"
            | "readlink"
            | "realpath"
            | "restorecon"
            | "stat"
            | "test"
            | "touch"
            | "tree"
            | "vdir"
    )
}

/// Programs that read all that is below a directory, and the options with which they do. `*` stands for no option.
const WHOLE: [(&str, &str); 24] = [
    ("7z", "*"),
    ("7za", "*"),
    ("7zr", "*"),
    ("ack", "*"),
    ("ag", "*"),
    ("bsdtar", "-c -r -u --create --append --update"),
    ("cp", "-r -R -a --recursive --archive"),
    ("colordiff", "-r --recursive"),
    ("diff", "-r --recursive"),
    ("egrep", "-r -R --recursive --dereference-recursive"),
    ("fgrep", "-r -R --recursive --dereference-recursive"),
    ("git", "--no-index"),
    ("grep", "-r -R --recursive --dereference-recursive"),
    ("gtar", "-c -r -u --create --append --update"),
    ("rg", "*"),
    ("rgrep", "*"),
    ("rar", "*"),
    ("rsync", "-r -a --recursive --archive"),
    ("scp", "-r"),
    ("rsync-ssl", "-r -a --recursive --archive"),
    ("tar", "-c -r -u --create --append --update"),
    ("ugrep", "-r -R --recursive --dereference-recursive"),
    ("zip", "-r --recurse-paths"),
    ("zipx", "-r --recurse-paths"),
];

/// Programs that print the paths of what they find.
const FINDERS: [&str; 7] = ["bfs", "fd", "fdfind", "find", "locate", "mlocate", "plocate"];

/// Programs that search the working directory if no path is named.
const SEARCHERS: [&str; 8] = ["ack", "ag", "egrep", "fgrep", "grep", "rg", "rgrep", "ugrep"];

/// Maximum number of programs of a text whose findings are followed.
const MAX_FOUND: usize = 16;

/// Paths that a program prints: directories below which they lie, and patterns of their names, if all are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FoundPaths {
    directories: Vec<String>,
    names: Option<Vec<String>>,
}

impl FoundPaths {
    /// Returns the word of what lies below a directory, if the pattern of its name is known.
    pub(super) fn below(&self, directory: &ShellWord) -> Option<ShellWord> {
        let [name] = self.names.as_deref()? else { return None };
        let mut word = directory.clone();
        word.pieces.push(WordPiece::Text { text: "/".to_owned(), is_quoted: true });
        // A path is never known as a whole: the file may lie further below.
        word.pieces.push(WordPiece::Pattern('*'));
        for character in name.chars() {
            word.pieces.push(match character {
                '*' | '?' | '[' => WordPiece::Pattern(character),
                _ => WordPiece::Text { text: character.to_string(), is_quoted: true },
            });
        }
        Some(word)
    }
}

impl Analyser<'_> {
    /// Judges a directory that is read, or a part of one that is not known.
    pub(super) fn directory_of_secrets(&mut self, index: usize, path: &str, span: ShellSpan) {
        let Some(command) = self.analysis.commands.get(index) else { return };
        if is_own(path) {
            if !is_listing(command) {
                self.secret(index, path, "reads what is in", span);
            }
        } else if reads_whole(command) {
            self.all_below(index, path, None, span);
        }
    }

    /// Returns `true` if a command reads all that is below the directories that it names.
    pub(super) fn reads_whole(&self, index: usize) -> bool {
        self.analysis.commands.get(index).is_some_and(reads_whole)
    }

    /// Judges the files below a directory, all of which a command reads.
    fn all_below(&mut self, index: usize, directory: &str, names: Option<&[String]>, span: ShellSpan) {
        let is_workspace = directory != "/" && self.is_inside(directory);
        if is_workspace {
            return;
        }
        let home = self.request.variable("HOME");
        let Some(secret) = credentials::secret_below(directory, names, home) else { return };
        self.secret(index, &secret, &format!("reads what is below {directory}, such as"), span);
        // Who copies a whole directory may well mean it.
        let is_new =
            |finding: &&mut GuardFinding| finding.class == GuardClass::Secrets && finding.span == span;
        let findings = self.analysis.commands.get_mut(index).map(|command| &mut command.findings);
        if let Some(finding) = findings.and_then(|findings| findings.iter_mut().rev().find(is_new)) {
            finding.at_most = Some(PolicyVerdict::Ask);
        }
    }

    /// Judges the working directory that a program searches, because no path is named.
    pub(super) fn searched_directory(&mut self, call: &Call<'_>) {
        if !SEARCHERS.contains(&call.name) || !self.reads_whole(call.index) {
            return;
        }
        let has_pattern = call.parsed.has(&["-e", "--regexp", "-f", "--file", "--files", "--type-list"]);
        let is_filter = !call.name.ends_with("grep")
            && !matches!(call.context.input, CommandInput::Empty | CommandInput::Unknown);
        if call.parsed.operands.len() <= usize::from(!has_pattern) && !is_filter {
            let here = ShellWord::known(".", self.span(call.index));
            self.read_path(call.index, &here, &call.context);
        }
    }

    /// Judges the files that a command of a text finds for the others: through a pipe, or by a variable. `from` is the
    /// position of the text's first command.
    pub(super) fn found_in_text(&mut self, from: usize) {
        let mut all: Vec<FoundPaths> = Vec::new();
        for found in (from..self.analysis.commands.len()).filter_map(|index| self.found_paths(index)) {
            if !all.contains(&found) && all.len() < MAX_FOUND {
                all.push(found);
            }
        }
        for found in &all {
            self.read_found(found, from);
        }
    }

    /// Judges commands that read files which a command found, by their positions.
    pub(super) fn read_found(&mut self, found: &FoundPaths, from: usize) {
        for index in from..self.analysis.commands.len() {
            let Some(command) = self.analysis.commands.get(index) else { continue };
            let is_unknown = |effect: &crate::effect::Effect| {
                effect.kind == EffectKind::Read && (effect.object.is_none() || effect.is_partial)
            };
            if is_listing(command) || !command.effects.iter().any(is_unknown) {
                continue;
            }
            let span = command.span;
            for directory in &found.directories {
                self.all_below(index, directory, found.names.as_deref(), span);
            }
        }
    }

    /// Returns the paths that a command prints, if the command searches for paths.
    pub(super) fn found_paths(&self, index: usize) -> Option<FoundPaths> {
        let command = self.analysis.commands.get(index)?;
        let name = command.base_name().filter(|name| FINDERS.contains(name))?;
        if name.ends_with("locate") {
            return Some(FoundPaths { directories: vec!["/".to_owned()], names: None });
        }
        let reads = command.effects.iter().filter(|effect| effect.kind == EffectKind::Read);
        let directories: Vec<String> = reads.filter_map(|effect| effect.object.clone()).collect();
        let is_plain =
            command.words.iter().all(|word| !matches!(&*word.shown, "!" | "-not" | "-o" | "-or" | "(" | ","));
        let mut names: Vec<String> = Vec::new();
        for option in command.options.iter().filter(|_| name == "find") {
            if let ("-name", Some(value)) = (&*option.name, &option.value) {
                names.extend(value.text().map(str::to_owned));
            }
        }
        // All names have to match, so that the first one is enough.
        names.truncate(1);
        Some(FoundPaths { directories, names: Some(names).filter(|names| is_plain && !names.is_empty()) })
    }
}

fn is_own(path: &str) -> bool {
    OWN.contains(&path) || OWN_IN_HOME.iter().any(|directory| path.ends_with(directory))
}

fn is_listing(command: &AnalysedCommand) -> bool {
    command.base_name().is_some_and(is_listing_program)
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
