//! Arguments of single programs that name files, addresses or commands within a text.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::objects::CalledObject;
use super::started::StartedForm;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::lookup::LookupPathKind;
use crate::tables::{self, ArgumentRole, SpecialRole};

/// Settings of rustc through which it starts nothing and writes nothing, or their beginnings.
const RUSTC: [&str; 18] = [
    "opt-level",
    "debuginfo",
    "debug-assertions",
    "overflow-checks",
    "target-cpu",
    "target-feature",
    "lto",
    "panic",
    "codegen-units",
    "strip",
    "metadata",
    "extra-filename",
    "embed-bitcode",
    "split-debuginfo",
    "relocation-model",
    "code-model",
    "prefer-dynamic",
    "link-dead-code",
];

/// Flags of the compiler, the linker and the assembler of Go through which they start nothing and write nothing else.
const GO_FLAGS: &str = "-B -C -D -E -H -I -K -N -S -T -V -X -a -asan -buildid -buildmode -c -compressdwarf -d -dwarf -e \
    -h -installsuffix -l -lang -libgcc=none -linkmode -m -msan -p -race -s -shared -spectre -std -strictdups -t \
    -tmpdir=none -trimpath -v -w -wb";

/// Returns `true` for flags that change how Go compiles and links alone: `-s -w`, `all=-N -l`.
fn are_plain_go_flags(flags: &str) -> bool {
    // Packages stand in front.
    let flags = match flags.split_once('=') {
        Some((packages, flags)) if !packages.starts_with('-') && !packages.contains(' ') => flags,
        _ => flags,
    };
    let is_plain = |word: &str| {
        let name = word.strip_prefix("--").map_or(word, |_| word.get(1..).unwrap_or_default());
        let name = name.split('=').next().unwrap_or_default();
        let is_static = word.starts_with("-extldflags=") && word.ends_with("=-static");
        let is_counted = |known: &str| {
            name.strip_prefix(known).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()))
        };
        is_static
            || GO_FLAGS.split_ascii_whitespace().any(|known| known == name)
            // `-m=2`, `-l4`
            || is_counted("-l")
            || !word.starts_with('-')
    };
    !flags.contains(['"', '\'']) && flags.split_ascii_whitespace().all(is_plain)
        || flags.starts_with("-X ")
            && flags.split_ascii_whitespace().filter(|word| word.starts_with('-')).all(is_plain)
}

impl Analyser<'_> {
    /// Judges an argument of a special role.
    pub(super) fn special_role(
        &mut self,
        call: &mut Call<'_>,
        role: SpecialRole,
        word: &ShellWord,
        option: Option<&str>,
    ) {
        let prefix = word.known_prefix().into_owned();
        let is_known = word.text().is_some();
        match role {
            SpecialRole::FilesFrom => {
                self.read_path(call.index, word, &call.context);
                let is_plain = call.parsed.has(&["--verbatim-files-from", "--null"]);
                if call.parsed.has(&["-x", "--extract", "--get"]) && !is_plain {
                    self.unlisted(call.index, call.name, "--files-from");
                }
            }
            SpecialRole::RsyncOption => {
                let merges = ["merge", "dir-merge", ".", ":"];
                let is_rule = matches!(option, Some("-f" | "--filter"));
                if !is_rule || !is_known || merges.iter().any(|rule| prefix.starts_with(rule)) {
                    self.setting_unknown(call, word);
                }
            }
            SpecialRole::ModeList => {
                let set = prefix
                    .split(',')
                    .find(|mode| super::modes::is_set_id(mode.trim_start_matches(['D', 'F'])));
                match set {
                    Some(mode) => {
                        let mode = ShellWord::known(mode.trim_start_matches(['D', 'F']), word.span);
                        self.mode(call.index, &mode);
                    }
                    None if !is_known => self.mode(call.index, word),
                    None => {}
                }
            }
            SpecialRole::Cookie if !prefix.contains('=') => self.read_path(call.index, word, &call.context),
            SpecialRole::WriteOut => self.write_out(call, word, &prefix),
            SpecialRole::Proxy => {
                let text = shell_words::with_placeholders(word);
                let span = call.context.span.unwrap_or(word.span);
                self.metadata_host(call.index, &text, span);
                for part in text.split([':', ',', '[', ']', '/']) {
                    self.metadata_host(call.index, part, span);
                }
            }
            SpecialRole::HttpItem => {
                match prefix.split_once('@').filter(|(_, file)| !file.is_empty() || !is_known) {
                    Some((name, _)) if !name.contains("://") => {
                        let file = shell_words::without_prefix(word, name.len() + 1);
                        self.read_path(call.index, &file, &call.context);
                        self.sent_file(call, &file);
                    }
                    _ => self.url(call, word),
                }
            }
            SpecialRole::HostOrText => {
                let span = call.context.span.unwrap_or(word.span);
                let text = shell_words::with_placeholders(word);
                self.metadata_host(call.index, text.trim_start_matches('@'), span);
            }
            SpecialRole::Manifest | SpecialRole::UrlOrFile if prefix.contains("://") => self.url(call, word),
            SpecialRole::Manifest | SpecialRole::UrlOrFile => self.read_path(call.index, word, &call.context),
            SpecialRole::Project
            | SpecialRole::ProjectDirectory
            | SpecialRole::GoPackage
            | SpecialRole::XPath
            | SpecialRole::CompilerFlag
            | SpecialRole::MergeStrategy => self.project_role(call, role, word, option),
            SpecialRole::ManualPage
            | SpecialRole::ListPattern
            | SpecialRole::NameSuffix
            | SpecialRole::DocumentFormat
            | SpecialRole::TexInput
            | SpecialRole::PytestSetting
            | SpecialRole::ReportFile
            | SpecialRole::VirtualMachineFlag
            | SpecialRole::NamedFile
            | SpecialRole::DeviceCache
            | SpecialRole::TestLogger
            | SpecialRole::PackageFile
            | SpecialRole::DataExpression
            | SpecialRole::SocketAddress => self.file_role(call, role, word, &prefix),
            _ => self.tool_role(call, role, word, &prefix),
        }
    }

    /// Judges an argument of a tool of developers.
    fn tool_role(&mut self, call: &mut Call<'_>, role: SpecialRole, word: &ShellWord, prefix: &str) {
        let is_known = word.text().is_some();
        match role {
            SpecialRole::GoFlags if !is_known || !are_plain_go_flags(prefix) => {
                self.setting_unknown(call, word);
            }
            SpecialRole::CmakeSetting => self.cmake_setting(call, word, prefix),
            SpecialRole::JsModule if !is_known || prefix.starts_with(['/', '.']) => {
                let context = call.context.clone();
                self.script(call.index, word, call.name, call.commands, &context);
            }
            SpecialRole::CompilerWords => self.compiler_words(call, word, prefix),
            SpecialRole::CompilerInput | SpecialRole::JavaMain if prefix.starts_with('@') => {
                let file = shell_words::without_prefix(word, 1);
                self.started(call, ArgumentRole::Library, &file, Some("@"));
            }
            SpecialRole::JavaMain if prefix.contains('/') => {
                let context = call.context.clone();
                self.script(call.index, word, call.name, call.commands, &context);
            }
            SpecialRole::CompilerInput => self.read_path(call.index, word, &call.context),
            SpecialRole::RustcSetting => {
                let name = prefix.split('=').next().unwrap_or_default();
                if matches!(name, "incremental" | "profile-generate") && prefix.contains('=') {
                    let value = shell_words::without_prefix(word, name.len() + 1);
                    self.write_path(call.index, &value, &call.context);
                } else if matches!(name, "linker" | "ar") {
                    let value = shell_words::without_prefix(word, (name.len() + 1).min(prefix.len()));
                    self.setting_starts(call, word, StartedForm::Name, &value);
                } else if !RUSTC.contains(&name) {
                    self.setting_unknown(call, word);
                }
            }
            SpecialRole::LibraryPath => {
                let kinds = ["all=", "crate=", "dependency=", "framework=", "native="];
                let kind = kinds.iter().find(|kind| prefix.starts_with(**kind)).map_or(0, |kind| kind.len());
                self.read_path(call.index, &shell_words::without_prefix(word, kind), &call.context);
            }
            SpecialRole::EmittedFiles => self.emitted_files(call, word, prefix),
            SpecialRole::CompilerProgram => self.compiler_program(call, word, prefix),
            SpecialRole::JavaProperty => self.java_property(call, word, prefix),
            SpecialRole::ScmSetting => {
                let name = prefix.split('=').next().unwrap_or_default();
                let value = match prefix.get(name.len()..) {
                    Some("") | None => word.clone(),
                    Some(_) => shell_words::without_prefix(word, name.len() + 1),
                };
                let mark = value.known_prefix().starts_with('!');
                let value = shell_words::without_prefix(&value, usize::from(mark));
                self.setting_starts(call, word, StartedForm::Text, &value);
            }
            SpecialRole::Sysctl if !prefix.contains('=') && prefix.contains("..") => {
                let path = ShellWord::known(format!("/proc/sys/{prefix}"), word.span);
                self.read_path(call.index, &path, &call.context);
            }
            SpecialRole::Sysctl if !is_known || prefix.contains('=') => {
                if prefix.contains(['|', '/']) {
                    // The kernel starts programs by `kernel.core_pattern` and `kernel.modprobe`.
                    self.setting_unknown(call, word);
                }
                self.effect(call.index, Effect::new(EffectKind::System, None).with_action(call.name));
                let what = format!("`{}` sets {}", call.name, shell_words::shown(word).shown);
                let span = call.context.span.unwrap_or(word.span);
                self.finding(call.index, GuardClass::System, what, span, Some(WayOut::AskOperator));
            }
            _ => {}
        }
    }

    /// Judges operands that have a special role together. Returns `false` for the other roles.
    pub(super) fn special_operands(
        &mut self,
        call: &mut Call<'_>,
        role: SpecialRole,
        words: &[ShellWord],
    ) -> bool {
        match role {
            SpecialRole::Ar => self.archive_members(call, words),
            SpecialRole::NpmConfig => self.npm_config(call, words),
            SpecialRole::SameProgram => {
                let name = ShellWord::known(call.name, self.span(call.index));
                let words: Vec<ShellWord> = std::iter::once(name).chain(words.iter().cloned()).collect();
                self.program(&words, call.commands, &call.context.within(call.index));
            }
            SpecialRole::PackageCommand => {
                let context = call.context.within(call.index);
                if let Some(installed) = self.installed_program(call, words) {
                    call.is_installed = true;
                    let mut words = words.to_vec();
                    if let Some(first) = words.first_mut() {
                        *first = ShellWord::known(installed, first.span);
                    }
                    self.program(&words, call.commands, &context);
                    return true;
                }
                if let Some(package) = words.first() {
                    call.objects.push(CalledObject::of(package));
                }
                self.program(words, call.commands, &context);
            }
            _ => return false,
        }
        true
    }

    /// Returns the path of a program that npm has installed in the workspace, and that is run in place of a download.
    fn installed_program(&self, call: &Call<'_>, words: &[ShellWord]) -> Option<String> {
        let is_known = matches!(call.name, "npx" | "bunx" | "bun");
        if !is_known || call.parsed.has(&["-p", "--package", "-c", "--call", "--registry"]) {
            return None;
        }
        let name = words.first()?.text()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let mut directory = Some(call.context.directories.only()?).filter(|_| name.chars().all(is_plain))?;
        while self.is_inside(directory) {
            let path = ccm_shell::join_path(directory, &format!("node_modules/.bin/{name}"));
            if self.lookup.path_kind(&path) == LookupPathKind::File {
                return Some(path);
            }
            directory = directory.rsplit_once('/')?.0;
        }
        None
    }

    /// Judges `%output{FILE}` and `@FILE` of curl.
    fn write_out(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        if prefix.starts_with('@') {
            self.read_path(call.index, &shell_words::without_prefix(word, 1), &call.context);
        }
        for part in prefix.split("%output{").skip(1) {
            let file = part.split('}').next().unwrap_or_default();
            let file = ShellWord::known(file.trim_start_matches(">>"), word.span);
            self.write_path(call.index, &file, &call.context);
        }
        if word.text().is_none() {
            self.setting_unknown(call, word);
        }
    }

    /// Judges `NAME=VALUE` of cmake.
    fn cmake_setting(&mut self, call: &Call<'_>, word: &ShellWord, prefix: &str) {
        const STARTED: [&str; 10] = [
            "COMPILER",
            "LAUNCHER",
            "LINKER",
            "PROGRAM",
            "EXECUTABLE",
            "COMMAND",
            "TOOL",
            "RULE",
            "WRAPPER",
            "EMULATOR",
        ];
        const LOADED: [&str; 4] = ["TOOLCHAIN_FILE", "INCLUDE", "MODULE_PATH", "PROJECT_TOP_LEVEL_INCLUDES"];
        let name = prefix.split(['=', ':']).next().unwrap_or_default();
        let Some(at) = prefix.find('=') else { return self.setting_unknown(call, word) };
        let value = shell_words::without_prefix(word, at + 1);
        let has =
            |ends: &[&str]| ends.iter().any(|end| name.ends_with(end) || name.contains(&format!("_{end}_")));
        let is_compiler = name.starts_with("CMAKE_")
            && name.ends_with("_COMPILER")
            && value.text().is_some_and(|text| tables::find(&text).is_some() && !text.contains('/'));
        if is_compiler || name.contains("VERBOSE") || name.starts_with("CMAKE_EXPORT_COMPILE_COMMANDS") {
            return;
        }
        if name.ends_with("_FLAGS") || name.contains("_FLAGS_") {
            let context = call.context.within(call.index);
            self.options_in_variable(call.index, name, "gcc", &value, &context);
        } else if has(&STARTED) {
            self.setting_starts(call, word, StartedForm::Words, &value);
        } else if has(&LOADED) {
            self.started(call, ArgumentRole::Library, &value, Some("-D"));
        }
    }

    /// Judges letters, archive and members of ar.
    fn archive_members(&mut self, call: &mut Call<'_>, words: &[ShellWord]) {
        let mut rest = words.iter();
        let mut letters = None;
        for word in rest.by_ref() {
            let prefix = word.known_prefix();
            let is_harmless = matches!(&*prefix, "--thin" | "--help" | "--version");
            if prefix.starts_with("--") && !is_harmless || prefix.starts_with('@') || word.text().is_none() {
                self.setting_unknown(call, word);
            }
            if !prefix.starts_with("--") {
                letters = Some(word.clone());
                break;
            }
        }
        let Some(letters) = letters else { return };
        let text = shell_words::with_placeholders(&letters);
        if call.name.ends_with("ranlib") {
            self.write_path(call.index, &letters, &call.context);
        }
        let reads = text.trim_start_matches('-').starts_with(['t', 'p', 'x']);
        let archive = if text.contains(['a', 'b', 'i', 'N']) { rest.nth(1) } else { rest.next() };
        if let Some(archive) = archive {
            if reads {
                self.read_path(call.index, archive, &call.context);
            } else {
                self.write_path(call.index, archive, &call.context);
            }
        }
        let is_options = |word: &ShellWord| word.known_prefix().starts_with('@');
        // `-M` reads commands from standard input.
        if words.iter().skip(1).any(is_options) || text.contains('M') {
            self.unlisted(call.index, call.name, "@");
        }
        if text.contains('x') {
            self.writes_here(call.index, &call.context);
        } else if !reads {
            for member in rest {
                self.read_path(call.index, member, &call.context);
            }
        }
    }
}
