//! Options of compilers and build tools that write files, or start other programs than parts of the compiler.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::started::StartedForm;
use super::{Analyser, shell_words};
use crate::tables::ArgumentRole;

/// Linkers that a compiler knows by a short name.
const LINKERS: [&str; 8] = ["bfd", "gold", "lld", "mold", "ld", "ld.lld", "ld.gold", "ld.mold"];

/// Options of the linker whose value is read, or is no file.
const LINKER_READS: [&str; 16] = [
    "-rpath",
    "--rpath",
    "-rpath-link",
    "--rpath-link",
    "-dynamic-linker",
    "--dynamic-linker",
    "--sysroot",
    "--version-script",
    "--dynamic-list",
    "--just-symbols",
    "--retain-symbols-file",
    "--symbol-ordering-file",
    "-soname",
    "--soname",
    "-L",
    "--library-path",
];

/// Properties with which build tools of Java start nothing, as names or their beginnings and ends.
const PROPERTIES: &str = "\
    test it.test groups excludedGroups skip* *.skip *Skip skipTests maven.test.* failIfNoTests surefire.failIf* \
    *.version version revision changelist sha1 style.color env profile *.profile spring.profiles.active \
    file.encoding user.timezone user.language user.country quickly native maven.javadoc.* checkstyle.* \
    java.awt.headless org.gradle.daemon org.gradle.parallel org.gradle.caching org.gradle.workers.max \
    org.gradle.logging.* org.gradle.configureondemand org.slf4j.simpleLogger.* maven.artifact.threads debug";

impl Analyser<'_> {
    /// Judges `-Wl,-o,FILE`.
    pub(super) fn compiler_words(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        let mut parts = prefix.split(',').skip(usize::from(prefix.starts_with(',')));
        while let Some(part) = parts.next() {
            let (name, attached) = part.split_once('=').unwrap_or((part, ""));
            match name {
                "-o" | "-Map" | "--Map" | "--output" | "--dependency-file" | "--out-implib" | "-M"
                | "-MD" | "-MMD" | "-MF" => {
                    let file = if attached.is_empty() { parts.next().unwrap_or_default() } else { attached };
                    self.write_path(call.index, &ShellWord::known(file, word.span), &call.context);
                }
                "-plugin" | "--plugin" | "-T" | "--script" | "-dT" => {
                    let file = if attached.is_empty() { parts.next().unwrap_or_default() } else { attached };
                    let file = ShellWord::known(file, word.span);
                    self.started(call, ArgumentRole::Library, &file, Some(name));
                }
                _ if is_read_by_linker(name) && attached.contains('/') => {
                    self.read_path(call.index, &ShellWord::known(attached, word.span), &call.context);
                }
                _ if part.starts_with('@') => self.setting_unknown(call, word),
                // `-alh=FILE` of the assembler, and further files of the linker.
                _ if !attached.is_empty() && names_file(name, attached) => {
                    self.write_path(call.index, &ShellWord::known(attached, word.span), &call.context);
                }
                _ => {}
            }
        }
        if word.text().is_none() {
            self.setting_unknown(call, word);
        }
    }

    /// Judges a flag of a compiler, such as `-fdump-tree-all=FILE`.
    pub(super) fn compiler_flag(&mut self, call: &Call<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        let Some((name, value)) = prefix.split_once('=') else { return };
        if name == "module-mapper" {
            let value = shell_words::without_prefix(word, name.len() + 1);
            return self.module_mapper(call, word, &value);
        }
        let is_map = name.ends_with("prefix-map") || name.starts_with("sanitize") || name == "profile-use";
        if !is_map && value.contains('/') {
            let at = value.find('/').unwrap_or_default();
            let start = value[..at].rfind(['=', ':', ',']).map_or(0, |at| at + 1);
            let file = ShellWord::known(&value[start..], word.span);
            self.write_path(call.index, &file, &call.context);
        }
    }

    /// Judges `|PROGRAM`, or the address of a server, that maps modules of C++ to files.
    fn module_mapper(&mut self, call: &Call<'_>, word: &ShellWord, value: &ShellWord) {
        let marks = usize::from(value.known_prefix().starts_with(['|', '@']));
        let program = shell_words::without_prefix(value, marks);
        self.setting_starts(call, word, StartedForm::Words, &program);
    }

    /// Judges `-wrapper PROGRAM,ARGUMENT`, `-fuse-ld=PROGRAM`.
    pub(super) fn compiler_program(&mut self, call: &mut Call<'_>, word: &ShellWord, prefix: &str) {
        if word.text().is_some_and(|text| LINKERS.contains(&&*text)) {
            return;
        }
        let program = match prefix.split_once(',') {
            Some((program, _)) => ShellWord::known(program, word.span),
            None => word.clone(),
        };
        self.started(call, ArgumentRole::Program, &program, None);
    }

    /// Judges `KIND=FILE,KIND=FILE` of rustc.
    pub(super) fn emitted_files(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        for part in prefix.split(',') {
            if let Some((_, file)) = part.split_once('=').filter(|(_, file)| !file.is_empty()) {
                self.write_path(call.index, &ShellWord::known(file, word.span), &call.context);
            }
        }
        if word.text().is_none() {
            self.setting_unknown(call, word);
        }
    }

    /// Judges `NAME=VALUE` of a build tool of Java, whose plugins start programs by such properties.
    pub(super) fn java_property(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        let name = prefix.split('=').next().unwrap_or_default();
        let is_known = PROPERTIES.split_ascii_whitespace().any(|known| {
            match (known.strip_prefix('*'), known.strip_suffix('*')) {
                (Some(end), _) => name.ends_with(end),
                (_, Some(start)) => name.starts_with(start),
                _ => name == known,
            }
        });
        if is_known && (word.text().is_some() || prefix.contains('=')) {
            return;
        }
        let lower = name.to_ascii_lowercase();
        let starts =
            ["executable", "jvm", "command", "program", "shell"].iter().any(|end| lower.ends_with(end));
        if starts && prefix.len() > name.len() {
            let value = shell_words::without_prefix(word, name.len() + 1);
            self.setting_starts(call, word, StartedForm::Words, &value);
        } else {
            self.setting_unknown(call, word);
        }
    }
}

fn is_read_by_linker(name: &str) -> bool {
    LINKER_READS.contains(&name)
}

/// Returns `true` if the value of an option of the assembler or linker may be the name of a file.
fn names_file(name: &str, value: &str) -> bool {
    value.contains('/') || name.starts_with("-a")
}
