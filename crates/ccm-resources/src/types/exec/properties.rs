//! The properties of an exec, as the manifest writes them.

use std::time::Duration;

use ccm_model::Presentation;
use ccm_properties::{Exposure, OneOrMany, PropertyKind, Text, TextSyntax, properties};

use super::capture::Captures;
use super::expect::Expectations;
use super::sandbox::SandboxProperties;
use super::values::{Environment, ExitCodeValue, LogOutput, SearchPath, Tries, Umask};
use crate::support::values::absolute_path::AbsolutePath;
use crate::support::values::principal::Principal;
use crate::support::values::timeout::Timeout;

properties! {
    /// Properties of an exec; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct ExecProperties {
        /// Command to run. posix: split into words by shell quoting, never expanded; shell: passed whole to
        /// `/bin/sh -c`.
        command: Text {
            exposure: Exposure::Arguments,
            default: Some("the name of the resource"),
            sensitive: true,
            syntax: TextSyntax::Argv,
            foreign_names: &["cmd", "exec", "run", "script"],
        },
        /// Arguments. With `args`, `command` is the program alone and is not split. posix only.
        args: Vec<Text> { exposure: Exposure::Arguments, sensitive: true },
        /// Working directory. It must exist when the command runs.
        cwd: AbsolutePath { default: Some("`/`") },
        /// Variables added to the base environment: a list of `KEY=VALUE`, or a map.
        environment: Environment { sensitive: true, presentation: Presentation::Variables },
        /// Search path for programs, for ccm and for the command: absolute directories separated by `:`.
        path: SearchPath { default: Some("`/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`") },
        /// Exit codes that mean success.
        returns: Vec<ExitCodeValue> { default: Some("`[0]`") },
        /// Exit codes that mean success without a change.
        unchanged_returns: Vec<ExitCodeValue> { default: Some("none") },
        /// Time limit of the command, and of each guard, such as `30s`, `5m` or `1h30m`; `0` means no limit.
        timeout: Timeout { default: Some("`1h`") },
        /// Paths that the command creates: one, or a list. If all exist, the command is not run.
        creates: OneOrMany<AbsolutePath>,
        /// Guards: the command is run only if all of these commands exit with 0.
        onlyif: OneOrMany<Text> { exposure: Exposure::Arguments, sensitive: true, syntax: TextSyntax::Argv },
        /// Guards: the command is run only if none of these commands exits with 0.
        unless: OneOrMany<Text> { exposure: Exposure::Arguments, sensitive: true, syntax: TextSyntax::Argv },
        /// Run only if a resource in `subscribe` changed. `refreshonly` is the same property.
        refresh_only: bool { default: Some("`false`"), aliases: &["refreshonly"] },
        /// Let `creates` and guards decide even if a resource in `subscribe` changed.
        refresh_respects_guards: bool { default: Some("`false`") },
        /// Show the output of the command line by line while it runs. Whatever the value is, a failure quotes the last
        /// 20 lines of each stream, unless `sensitive` is set.
        logoutput: LogOutput { default: Some("`on_failure`") },
        /// Neither show nor record the output of the command and its guards, and hide the properties that may
        /// hold a secret wherever properties are shown.
        sensitive: bool { default: Some("`false`") },
        /// Standard input of the command.
        stdin: Text {
            default: Some("the null device"),
            sensitive: true,
            presentation: Presentation::Size,
        },
        /// Maximum number of tries until the command succeeds.
        tries: Tries { default: Some("`1`") },
        /// Pause after the first try, such as `5s`. The pause doubles after each further try, up to a minute, and is
        /// up to a quarter longer at random.
        try_sleep: Duration { default: Some("`1s`") },
        /// User that the command and its guards run as, by name or number, with all groups of that user. Only root
        /// can name another user.
        user: Principal { default: Some("the user who runs ccm") },
        /// Primary group of the command and its guards, by name or number.
        group: Principal { default: Some("the primary group of the user") },
        /// Permissions that new files of the command and its guards do not get, in octal digits.
        umask: Umask { default: Some("`022`") },
        /// Expected result, without which the command fails: `exit_code`, `stdout`, `stderr`, `stdout_json`.
        expect: Expectations {
            sensitive: true,
            kind: PropertyKind::Record { properties: Expectations::PROPERTIES, min: 1 },
        },
        /// Values for other resources, which use them as `Captures.NAME.KEY`: a map of keys to `stdout.json.a.b`,
        /// `stdout.raw`, `stderr.raw`, `exit_code` or `duration_ms`.
        capture: Captures,
        /// Name of the executor that starts the command, declared in `executors` below `ccm`.
        executor: Text { default: Some("none") },
        /// Confinement of the command and its guards: `mode`, `workdir`, `env`, `network`, `read`, `write`,
        /// `programs`, `profile`, `unix_sockets`, `processes`, `memory`, `file_size`, `cpu`, `advisory`. `{}` closes
        /// everything that can be closed.
        sandbox: SandboxProperties,
    }
}
