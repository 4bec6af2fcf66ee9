//! The properties of an exec, as the manifest writes them.

use ccm_model::Text;
use schemars::JsonSchema;
use serde::Deserialize;

use super::capture::Captures;
use super::expect::Expectations;
use super::sandbox::SandboxProperties;
use super::values::{
    AbsolutePath, Environment, ExitCode, LogOutput, OneOrMany, SearchPath, Timeout, Tries, Umask,
};
use crate::length::Length;
use crate::principal::Principal;

/// What a manifest can say about an exec; its documentation is the reference that users read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExecProperties {
    /// The command to run. posix: split into words by shell quoting, and never expanded; shell: given whole
    /// to `/bin/sh -c`. Default: the name of the resource.
    pub command: Option<Text>,
    /// Arguments. If given, `command` is the program alone and is not split. posix only.
    pub args: Option<Vec<Text>>,
    /// The working directory, an absolute path; it must exist when the command runs. Default: `/`.
    pub cwd: Option<AbsolutePath>,
    /// Variables added to the base environment: a list of `KEY=VALUE`, or a map.
    pub environment: Option<Environment>,
    /// Where programs are looked for, by ccm and by the command: absolute directories with `:` between them.
    /// Default: `/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`.
    pub path: Option<SearchPath>,
    /// Exit codes that mean success. Default: `[0]`.
    pub returns: Option<Vec<ExitCode>>,
    /// Exit codes that mean success without a change. Default: none.
    pub unchanged_returns: Option<Vec<ExitCode>>,
    /// How long the command may take, and each guard by itself, such as `30s`, `5m` or `1h30m`; `0` means
    /// for ever. Default: `1h`.
    pub timeout: Option<Timeout>,
    /// Files that the command creates: an absolute path, or a list. If all exist, it is not run.
    pub creates: Option<OneOrMany<AbsolutePath>>,
    /// Guards: commands that must all exit with 0, or the command is not run.
    pub onlyif: Option<OneOrMany<Text>>,
    /// Guards: commands of which none may exit with 0, or the command is not run.
    pub unless: Option<OneOrMany<Text>>,
    /// Run only if a resource in `subscribe` changed. `refreshonly` is the same property. Default: `false`.
    pub refresh_only: Option<bool>,
    /// Let `creates` and guards hold also when a resource in `subscribe` changed. Default: `false`.
    pub refresh_respects_guards: Option<bool>,
    /// Whether what the command prints goes to the log line by line while it runs. A failure quotes the last
    /// 20 lines of each stream in any case, unless `sensitive` is set. Default: `on_failure`.
    pub logoutput: Option<LogOutput>,
    /// Show and store nothing that the command and its guards print, and hide `command`, `args`, `environment`,
    /// `stdin`, `expect`, `onlyif` and `unless` wherever properties are shown. Default: `false`.
    pub sensitive: Option<bool>,
    /// What the command reads from standard input. Default: nothing, its input is the null device.
    pub stdin: Option<Text>,
    /// How often the command is tried until it succeeds. Default: `1`.
    pub tries: Option<Tries>,
    /// The pause after the first try, such as `5s`. It doubles after each further one, up to a minute, and is
    /// up to a quarter longer by chance. Default: `1s`.
    pub try_sleep: Option<Length>,
    /// Who the command and its guards run as, by name or in digits, with all groups of that user. Only root can
    /// run them as somebody else. Default: the user who runs ccm.
    pub user: Option<Principal>,
    /// Their primary group, by name or in digits. Default: that of the user.
    pub group: Option<Principal>,
    /// The permissions that their new files do not get, in octal digits. Default: `022`.
    pub umask: Option<Umask>,
    /// What the command has to do to count as a success: `exit_code`, `stdout`, `stderr`, `stdout_json`.
    pub expect: Option<Expectations>,
    /// What other resources may use as `Captures.NAME.KEY`: a map of keys to `stdout.json.a.b`, `stdout.raw`,
    /// `stderr.raw`, `exit_code` or `duration_ms`.
    pub capture: Option<Captures>,
    /// The executor that starts the command, by its name below `ccm` and `executors`. Default: none.
    pub executor: Option<Text>,
    /// What the command and its guards are kept from: `mode`, `workdir`, `env`, `network`, `read`, `write`,
    /// `unix_sockets`, `advisory`. `{}` closes all that can be closed.
    pub sandbox: Option<SandboxProperties>,
}
