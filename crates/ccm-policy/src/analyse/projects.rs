//! Tools of developers: projects outside the workspace, and words that such a tool hands on.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::{Analyser, CommandContext, CommandInput, paths, shell_words};
use crate::analysis::WayOut;
use crate::effect::{CodeSource, Effect};
use crate::guard_class::GuardClass;
use crate::tables::{ArgumentRole, SpecialRole};
use crate::verdict::PolicyVerdict;

/// Strategies of `git merge` that are parts of git.
const STRATEGIES: [&str; 7] = ["ours", "recursive", "resolve", "octopus", "ort", "subtree", "theirs"];

/// Functions of `XPath` that only compute a value.
const FUNCTIONS: &str = "\
    boolean ceiling comment concat contains count current false floor format-number generate-id id key lang last \
    local-name name namespace-uri node normalize-space not number position processing-instruction round starts-with \
    string string-length substring substring-after substring-before sum text translate true and or div mod";

/// Programs that run code, or obey settings that name programs, of the directory in which they work.
const RUNS_PROJECT: &str = "\
    ant bazel buck2 bun bundle cargo composer ctest deno eslint flask go gradle gulp invoke jest just lein mill mix mocha \
    mvn ninja nox npm npx phpunit pipenv pnpm poetry pre-commit prettier pylint pytest rake rspec sbt scons task terraform \
    tofu tox tsc uv vite vitest webpack yarn";

/// Subcommands of git that run hooks.
const HOOKED: [&str; 9] =
    ["am", "checkout", "cherry-pick", "commit", "merge", "pull", "rebase", "revert", "switch"];

impl Analyser<'_> {
    /// Judges the directory in which a tool of developers works.
    pub(super) fn project_of_directory(&mut self, call: &Call<'_>, action: &str) {
        let runs = match call.name {
            "git" => HOOKED.contains(&action),
            name => RUNS_PROJECT.split_ascii_whitespace().any(|known| known == name),
        };
        if runs {
            self.code_of_directory(call.index, call.name, &call.context, "runs what is in its directory");
        }
    }

    /// Judges a program that runs code of the directory in which it works.
    pub(super) fn code_of_directory(
        &mut self,
        index: usize,
        name: &str,
        context: &CommandContext,
        deed: &str,
    ) {
        let directories = &context.directories;
        let mut known = directories.paths.iter().chain(&directories.below);
        let outside = known.find(|path| !self.is_inside(path)).cloned();
        if outside.is_none() && directories.is_bounded() {
            return;
        }
        let (what, way_out) = match &outside {
            Some(path) => {
                (format!("`{name}` {deed}: {path}, outside the workspace"), WayOut::StayInWorkspace)
            }
            None => (format!("`{name}` {deed}, in a directory that is not known"), WayOut::NamePath),
        };
        self.effect(index, Effect::code(CodeSource::File, outside));
        let span = self.span(index);
        self.finding(index, GuardClass::CodeOutside, what, span, Some(way_out));
    }

    /// Judges an argument of a tool of developers that names a project, or code of one.
    pub(super) fn project_role(
        &mut self,
        call: &mut Call<'_>,
        role: SpecialRole,
        word: &ShellWord,
        option: Option<&str>,
    ) {
        match role {
            SpecialRole::Project => self.project(call, word),
            SpecialRole::ProjectDirectory => {
                self.project(call, word);
                call.context.directories = self.enter_directory(call.index, word, &call.context);
            }
            SpecialRole::GoPackage => self.go_package(call, word),
            SpecialRole::XPath => self.xpath(call, word),
            SpecialRole::CompilerFlag => self.compiler_flag(call, word),
            SpecialRole::MergeStrategy if !word.text().is_some_and(|text| STRATEGIES.contains(&&*text)) => {
                self.started(call, ArgumentRole::Text, word, option);
            }
            _ => {}
        }
    }

    /// Judges a file or directory of a project. Outside the workspace, somebody else decides what the project runs.
    fn project(&mut self, call: &Call<'_>, word: &ShellWord) {
        let prefix = word.known_prefix();
        if prefix.starts_with('@') && matches!(call.name, "dotnet" | "msbuild" | "xbuild") {
            return self.started(
                call,
                ArgumentRole::Library,
                &shell_words::without_prefix(word, 1),
                Some("@"),
            );
        }
        // `tests/test_a.py::test_b`, `--option=path`.
        let part = prefix.split("::").next().unwrap_or_default();
        let part = part.split_once('=').map_or(part, |(_, value)| value);
        let is_path = part.starts_with('/')
            || part.split('/').any(|part| part == "..")
            || prefix.is_empty() && word.has_unknown();
        if !is_path {
            return self.maybe_path(call.index, word, &call.context);
        }
        let word = match word.text() {
            Some(_) => ShellWord::known(part, word.span),
            None => word.clone(),
        };
        for resolved in paths::resolve(&word, &call.context.directories) {
            let Some(path) = resolved.path.filter(|path| !self.is_inside(path)) else { continue };
            if paths::is_within(&path, "/usr") || paths::is_within(&path, "/dev") {
                continue;
            }
            self.effect(call.index, Effect::code(CodeSource::File, Some(path.clone())));
            let what = format!("`{}` works on {path}, outside the workspace", call.name);
            let span = call.context.span.unwrap_or(word.span);
            self.finding(call.index, GuardClass::CodeOutside, what, span, Some(WayOut::StayInWorkspace));
        }
        self.read_path(call.index, &word, &call.context);
    }

    /// Judges an argument of `go run` and its like. What follows the first package are files or arguments.
    fn go_package(&mut self, call: &Call<'_>, word: &ShellWord) {
        let text = shell_words::with_placeholders(word);
        let is_first = call.parsed.operands.first() == Some(word);
        if is_first && text.contains('@') {
            let what = format!("`{}` downloads and builds {text}", call.name);
            let span = call.context.span.unwrap_or(word.span);
            self.finding(call.index, GuardClass::Package, what, span, Some(WayOut::AskOperator));
        } else if is_first || text.rsplit('.').next() == Some("go") {
            self.project(call, word);
        } else {
            self.maybe_path(call.index, word, &call.context);
        }
    }

    /// Judges an expression of `XPath`: `document("/etc/x")` reads a file.
    fn xpath(&mut self, call: &Call<'_>, word: &ShellWord) {
        let text = shell_words::with_placeholders(word);
        let mut before = text.split('(');
        before.next_back();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | ':' | '_' | '.');
        let is_unknown = before.any(|text| {
            let text = text.trim_end();
            let name = text.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
            // `child::text()`, `self::node()`.
            let name = name.rsplit_once("::").map_or(name, |(_, name)| name);
            !name.is_empty() && !FUNCTIONS.split_ascii_whitespace().any(|known| known == name)
        });
        if is_unknown || word.text().is_none() {
            let span = call.context.span.unwrap_or(word.span);
            self.inline_code(call.index, call.name, word, span);
        }
    }

    /// Judges the words behind `--` that a tool hands on to a program, such as `cargo clippy -- -D warnings`.
    pub(super) fn handed_on(&mut self, call: &Call<'_>, action: &str) {
        let Some(count) = call.parsed.before_dashes else { return };
        let program = match (call.name, action) {
            ("cargo", "rustc" | "clippy" | "fix") => "rustc",
            ("cargo", "rustdoc") => "rustdoc",
            ("cargo", "fmt") => "rustfmt",
            ("cmake", _) => "make",
            _ => return,
        };
        let words = call.parsed.operands.get(count..).unwrap_or_default();
        if words.is_empty() {
            return;
        }
        let span = call.context.span.unwrap_or_else(|| self.span(call.index));
        let mut inner = vec![ShellWord::known(program, span)];
        inner.extend(words.iter().cloned());
        let before = self.analysis.commands.len();
        let context = CommandContext {
            at_most: Some(PolicyVerdict::Ask),
            input: CommandInput::Empty,
            ..call.context.within(call.index)
        };
        self.program(&inner, call.commands, &context);
        if self.analysis.commands.iter().skip(before).all(|command| command.findings.is_empty()) {
            self.analysis.commands.truncate(before);
        }
    }
}
