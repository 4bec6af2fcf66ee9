//! The properties of an exec, as the manifest writes them.

use std::time::Duration;

use ccm_model::Presentation;
use ccm_properties::{OneOrMany, PropertyKind, Text, TextSyntax, properties};

use super::capture::Captures;
use super::expect::Expectations;
use super::sandbox::SandboxProperties;
use super::values::{AbsolutePath, Environment, ExitCode, LogOutput, SearchPath, Timeout, Tries, Umask};
use crate::principal::Principal;

properties! {
    /// Properties of an exec; their documentation is the reference that users read.
    #[derive(Debug, Default)]
    pub(crate) struct ExecProperties {
        /// The command to run. posix: split into words by shell quoting, and never expanded; shell: given whole
        /// to `/bin/sh -c`.
        command: Text {
            default: Some("the name of the resource"),
            sensitive: true,
            syntax: TextSyntax::Argv,
        },
        /// Arguments. If given, `command` is the program alone and is not split. posix only.
        args: Vec<Text> { sensitive: true },
        /// The working directory, an absolute path; it must exist when the command runs.
        cwd: AbsolutePath { default: Some("`/`") },
        /// Variables added to the base environment: a list of `KEY=VALUE`, or a map.
        environment: Environment { sensitive: true, presentation: Presentation::Variables },
        /// Where programs are looked for, by ccm and by the command: absolute directories with `:` between them.
        path: SearchPath { default: Some("`/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`") },
        /// Exit codes that mean success.
        returns: Vec<ExitCode> { default: Some("`[0]`") },
        /// Exit codes that mean success without a change.
        unchanged_returns: Vec<ExitCode> { default: Some("none") },
        /// How long the command may take, and each guard by itself, such as `30s`, `5m` or `1h30m`; `0` means
        /// for ever.
        timeout: Timeout { default: Some("`1h`") },
        /// Files that the command creates: an absolute path, or a list. If all exist, it is not run.
        creates: OneOrMany<AbsolutePath>,
        /// Guards: commands that must all exit with 0, or the command is not run.
        onlyif: OneOrMany<Text> { sensitive: true, syntax: TextSyntax::Argv },
        /// Guards: commands of which none may exit with 0, or the command is not run.
        unless: OneOrMany<Text> { sensitive: true, syntax: TextSyntax::Argv },
        /// Run only if a resource in `subscribe` changed. `refreshonly` is the same property.
        refresh_only: bool { default: Some("`false`"), aliases: &["refreshonly"] },
        /// Let `creates` and guards hold also when a resource in `subscribe` changed.
        refresh_respects_guards: bool { default: Some("`false`") },
        /// Whether what the command prints goes to the log line by line while it runs. A failure quotes the last
        /// 20 lines of each stream in any case, unless `sensitive` is set.
        logoutput: LogOutput { default: Some("`on_failure`") },
        /// Show and store nothing that the command and its guards print, and hide `command`, `args`, `environment`,
        /// `stdin`, `expect`, `onlyif` and `unless` wherever properties are shown.
        sensitive: bool { default: Some("`false`") },
        /// What the command reads from standard input.
        stdin: Text {
            default: Some("nothing, its input is the null device"),
            sensitive: true,
            presentation: Presentation::Digest,
        },
        /// How often the command is tried until it succeeds.
        tries: Tries { default: Some("`1`") },
        /// The pause after the first try, such as `5s`. It doubles after each further one, up to a minute, and is
        /// up to a quarter longer by chance.
        try_sleep: Duration { default: Some("`1s`") },
        /// Who the command and its guards run as, by name or in digits, with all groups of that user. Only root can
        /// run them as somebody else.
        user: Principal { default: Some("the user who runs ccm") },
        /// Their primary group, by name or in digits.
        group: Principal { default: Some("that of the user") },
        /// The permissions that their new files do not get, in octal digits.
        umask: Umask { default: Some("`022`") },
        /// What the command has to do to count as a success: `exit_code`, `stdout`, `stderr`, `stdout_json`.
        expect: Expectations {
            sensitive: true,
            kind: PropertyKind::Record { properties: Expectations::PROPERTIES, min: 1 },
        },
        /// What other resources may use as `Captures.NAME.KEY`: a map of keys to `stdout.json.a.b`, `stdout.raw`,
        /// `stderr.raw`, `exit_code` or `duration_ms`.
        capture: Captures,
        /// The executor that starts the command, by its name below `ccm` and `executors`.
        executor: Text { default: Some("none") },
        /// What the command and its guards are kept from: `mode`, `workdir`, `env`, `network`, `read`, `write`,
        /// `unix_sockets`, `advisory`. `{}` closes all that can be closed.
        sandbox: SandboxProperties,
    }
}
