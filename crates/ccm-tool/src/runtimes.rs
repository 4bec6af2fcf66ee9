//! Language runtimes of the machine.

use std::path::Path;
use std::time::Duration;

use ccm_host::{Cancellation, Command, Exit, locate_program};
use ccm_runtime::Commands;

use crate::call::CodeLanguage;

/// Runtime that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LanguageRuntime {
    /// Name of the program, which is looked up on the search path.
    pub(crate) program: &'static str,
    /// Arguments in front of the file.
    pub(crate) arguments: &'static [&'static str],
    /// Name of the file with the code.
    pub(crate) file: &'static str,
    /// Option that takes code as an argument, which stands for the file where a command is judged.
    pub(crate) inline: &'static str,
}

/// Error about a language without a runtime.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no runtime for {} was found in {path}", language.name())]
pub(crate) struct RuntimeMissing {
    language: CodeLanguage,
    path: String,
}

impl RuntimeMissing {
    /// Returns what to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self.language {
            CodeLanguage::Python => "install python3, or use another language",
            CodeLanguage::JavaScript => "install node, deno or bun, or use another language",
            CodeLanguage::TypeScript => {
                "install node 22.6 or newer, deno, bun or tsx, or use another language"
            }
        }
    }
}

/// First version of node that removes types on request, and the first that does so by itself.
const STRIPS_TYPES: (u32, u32) = (22, 6);
const STRIPS_BY_ITSELF: (u32, u32) = (23, 6);
const STRIPS_BY_ITSELF_22: (u32, u32) = (22, 18);

/// Arguments of deno, whose own permissions are no narrower than the sandbox.
const DENO: &[&str] = &["run", "--quiet", "--no-prompt", "--allow-all"];

/// Finds the runtime of a language on a search path.
pub(crate) async fn find(
    language: CodeLanguage,
    path: &str,
    commands: &dyn Commands,
) -> Result<LanguageRuntime, RuntimeMissing> {
    let is_there = |program: &str| locate_program(program, path, Path::new("/")).is_some();
    let runtime = |program, arguments, file, inline| LanguageRuntime { program, arguments, file, inline };
    let found = match language {
        CodeLanguage::Python => ["python3", "python"]
            .into_iter()
            .find(|program| is_there(program))
            .map(|program| runtime(program, &[], "code.py", "-c")),
        CodeLanguage::JavaScript if is_there("node") => Some(runtime("node", &[], "code.js", "-e")),
        CodeLanguage::JavaScript if is_there("deno") => Some(runtime("deno", DENO, "code.js", "eval")),
        CodeLanguage::JavaScript if is_there("bun") => Some(runtime("bun", &["run"], "code.js", "-e")),
        CodeLanguage::JavaScript => None,
        CodeLanguage::TypeScript => {
            let node = if is_there("node") { node_version(path, commands).await } else { None };
            match node.and_then(type_stripping) {
                Some(arguments) => Some(runtime("node", arguments, "code.ts", "-e")),
                None if is_there("deno") => Some(runtime("deno", DENO, "code.ts", "eval")),
                None if is_there("bun") => Some(runtime("bun", &["run"], "code.ts", "-e")),
                None if is_there("tsx") => Some(runtime("tsx", &[], "code.ts", "-e")),
                None => None,
            }
        }
    };
    found.ok_or_else(|| RuntimeMissing { language, path: path.to_owned() })
}

/// Returns the arguments with which a version of node runs TypeScript; `None` if it can't.
fn type_stripping(version: (u32, u32)) -> Option<&'static [&'static str]> {
    let by_itself = version >= STRIPS_BY_ITSELF || (version.0 == 22 && version >= STRIPS_BY_ITSELF_22);
    match version {
        _ if by_itself => Some(&["--no-warnings"]),
        version if version >= STRIPS_TYPES => Some(&["--no-warnings", "--experimental-strip-types"]),
        _ => None,
    }
}

async fn node_version(path: &str, commands: &dyn Commands) -> Option<(u32, u32)> {
    const LIMIT: Duration = Duration::from_secs(10);
    let program = locate_program("node", path, Path::new("/"))?;
    let command = Command {
        args: vec!["--version".into()],
        environment: commands.base_environment(),
        timeout: Some(LIMIT),
        origin: ccm_host::CommandOrigin::Ccm,
        role: ccm_host::Role::Query,
        ..Command::new(program.canonical)
    };
    let finished = commands.run(&command, &Cancellation::never(), &mut |_, _| {}).await.ok()?;
    (finished.exit == Exit::Code(0)).then_some(())?;
    parse_version(&String::from_utf8_lossy(&finished.stdout.head))
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_run_typescript_from_22_6_on() {
        for (text, arguments) in [
            ("v20.20.2\n", None),
            ("v22.5.1", None),
            ("v22.6.0", Some(2)),
            ("v22.17.1", Some(2)),
            ("v22.18.0", Some(1)),
            ("v23.0.0", Some(2)),
            ("v23.6.0", Some(1)),
            ("v24.1.0", Some(1)),
        ] {
            let version = parse_version(text).expect("a version");
            assert_eq!(type_stripping(version).map(<[_]>::len), arguments, "{text}");
        }
        assert_eq!(parse_version("node 22"), None);
    }
}
