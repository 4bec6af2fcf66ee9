//! Keys of a policy file, with their documentation. The reader and the JSON schema share them.

pub(crate) use super::fields::Key;

pub(crate) const DOCUMENT: &[Key] = &[
    ("ccm_policy", "Version of the format: 1."),
    (
        "trusted",
        "Names of files in `policy.d` that may allow something. The other files can only be stricter.",
    ),
    ("workspace", "Directory in which callers work."),
    ("callers", "Settings of each kind of caller."),
    ("guard", "Verdicts of guard classes, instead of those of the standard guard."),
    ("rules", "Rules. The strictest verdict of all rules that match a command decides."),
    (
        "patterns",
        "Regular expressions that are searched for in each simple command, as its words joined by one blank.",
    ),
    (
        "whitelist",
        "Commands that are allowed; every other command is denied. A command is compared word by word.",
    ),
    ("approval", "Approvers, and the conditions of an approval."),
    ("sandbox", "Sandboxes of governed tools."),
    ("limits", "Limits of governed tools."),
    ("audit", "Audit log."),
    ("tools", "Settings of the exec tool in their older form."),
    ("enable_deny_patterns", "`false` is the same as `guard: off` for the caller `tool`."),
    ("custom_deny_patterns", "The same as `deny` below `patterns`."),
    ("custom_allow_patterns", "The same as `allow` below `patterns`."),
];

/// Keys of a file that can only make the policy stricter.
pub(crate) const ONLY_STRICTER: [&str; 6] =
    ["ccm_policy", "guard", "rules", "patterns", "whitelist", "custom_deny_patterns"];

pub(crate) const WORKSPACE: &[Key] = &[
    ("path", "Absolute path of the workspace."),
    ("restrict", "Deny commands that use paths outside the workspace. Default: `false`."),
];

pub(crate) const CALLERS: &[Key] = &[
    ("apply", "`ccm apply`, which runs the commands of a manifest."),
    ("tool", "Governed tools, whose commands come from an agent."),
];

pub(crate) const CALLER_APPLY: &[Key] = &[
    (
        "guard",
        "`standard` enforces the guard classes, `audit` reports verdicts and refuses nothing, `off` skips the \
               guard classes. Default: `standard`.",
    ),
    ("signed", "`required` applies only manifests with a signature."),
    ("pending", "Time in which a request for approval can be approved. Default: 24h."),
    ("valid", "Time in which an approval can be used. Default: 24h."),
];

pub(crate) const CALLER_TOOL: &[Key] = &[
    (
        "guard",
        "`standard` enforces the guard classes, `audit` reports verdicts and refuses nothing, `off` skips the \
               guard classes. Default: `standard`.",
    ),
    (
        "approval",
        "`must_require` asks for an approval of every call, `on_ask` only where the verdict is ask. \
                  Default: `must_require`.",
    ),
    ("tools", "Sets of tools to offer: `read`, `governed-execute`, `apply`. Default: `read`."),
    ("users", "Users who may call the tools. Default: every user."),
    ("pending", "Time in which a request for approval can be approved. Default: 15m."),
    ("valid", "Time in which an approval can be used. Default: 5m."),
];

pub(crate) const PATTERNS: &[Key] = &[
    ("deny", "Patterns that deny a command, whatever the case of its letters."),
    (
        "allow",
        "Patterns that lift guard classes, `deny` patterns and rules with `deny: true` for a command. They \
               lift no other rule, no restriction to the workspace, and nothing for text that can't be read.",
    ),
];

pub(crate) const RULE: &[Key] = &[
    ("name", "Name of the rule, for messages."),
    ("match", "Commands and changes that the rule is about. All of its keys have to match."),
    (
        "when",
        "Expression that has to be true. An error in it counts as true for `ask` and `deny`, and as false for \
              `allow`.",
    ),
    ("allow", "Guard classes that the rule lifts for a command."),
    ("ask", "Ask for an approval, with its conditions; `true` for those of the policy."),
    ("deny", "`true` denies; `final` denies, and no pattern lifts it."),
    ("say", "Advice that a refused caller gets."),
    ("sandbox", "Sandbox profile for governed tools."),
    ("examples", "Commands with which the rule is tested whenever the policy is loaded."),
];

pub(crate) const MATCH: &[Key] = &[
    ("program", "Name of the program, or its absolute path. May be a glob, or a list."),
    (
        "args",
        "All arguments, each a glob. Options may stand in any order; `**` stands for any further arguments.",
    ),
    (
        "option",
        "Options with globs of their values, such as `--context: \"prod*\"`; null for an option without a value.",
    ),
    ("effect", "Effect of the command or change, or a list of effects."),
    ("path", "Glob of a path that an effect writes, deletes or reads."),
    ("resource", "Glob of a resource such as `service#{nginx,app}`."),
];

pub(crate) const EXAMPLES: &[Key] =
    &[("yes", "Commands that the rule has to match."), ("no", "Commands that the rule must not match.")];

pub(crate) const ASK: &[Key] = &[
    ("approvers", "Group of approvers, or a list of approvers. Default: every approver."),
    ("count", "Number of approvals from different approvers. Default: 1."),
    ("touch", "Require a touch of a hardware key. Default: `false`."),
    (
        "user_verified",
        "Require a hardware key that asks its user for a PIN or fingerprint. Default: `false`.",
    ),
    ("pending", "Time in which the request can be approved."),
    ("valid", "Time in which the approval can be used."),
    ("via", "Channels of an approval: `ssh`, `elicitation`."),
    ("grant", "Number of uses of an approval, and the time for them."),
];

pub(crate) const GRANT: &[Key] =
    &[("uses", "Number of uses, at most 1000."), ("for", "Time for the uses, at most 8h.")];

pub(crate) const APPROVAL: &[Key] = &[
    ("approvers", "File of approvers in the format of `allowed_signers`. Default: `/etc/ccm/approvers`."),
    ("groups", "Groups of approvers, by name."),
    ("four_eyes", "The approver may not be the caller. Default: `true`."),
    ("via", "Channels of approvals: `ssh`, `elicitation`. Default: `ssh`."),
];

pub(crate) const SANDBOX: &[Key] = &[
    ("default", "Profile for commands without a rule that names one. Default: `no_network_compute`."),
    ("programs", "Programs that may start: `analysed` (those of the command), `any`, or a list of paths."),
    ("profiles", "Profiles of your own, by name."),
];

pub(crate) const PROFILE: &[Key] = &[
    ("network", "Allow the network. Default: `false`."),
    ("unix_sockets", "Allow sockets of this machine. Default: `false`."),
    ("write", "Directories that may be written."),
    ("read", "Directories that may be read. Default: all."),
    ("memory", "Limit of memory, such as `2GiB`."),
    ("processes", "Limit of processes."),
    ("programs", "Programs that may start: `analysed`, `any`, or a list of paths."),
];

pub(crate) const LIMITS: &[Key] = &[
    ("timeout", "Time limit of a command, unless the call has one. Default: 60s."),
    ("max_timeout", "Longest time limit that a call can ask for. Default: 300s."),
    ("output", "Number of characters of output that a caller gets. Default: 10000."),
    ("calls", "Number of calls in a time, such as `60/1m`."),
    ("parallel", "Number of calls at the same time."),
];

pub(crate) const AUDIT: &[Key] = &[
    ("required", "Run nothing that can't be recorded. Default: `true`."),
    ("forward", "Receivers of seals: `journald`, `{file: PATH}` or `{command: [PROGRAM, ARGUMENT]}`."),
];

pub(crate) const TOOLS: &[Key] = &[("exec", "Settings of the exec tool.")];

pub(crate) const TOOLS_EXEC: &[Key] = &[
    ("enable_deny_patterns", "`false` is the same as `guard: off` for the caller `tool`."),
    ("custom_deny_patterns", "The same as `deny` below `patterns`."),
    ("custom_allow_patterns", "The same as `allow` below `patterns`."),
];
