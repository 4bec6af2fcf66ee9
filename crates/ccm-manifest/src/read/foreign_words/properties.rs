//! Properties of other configuration tools, each with what to write in ccm instead.

/// Words for a loop. `foreach` is one in the wrong place.
pub(super) const LOOPS: &[&str] =
    &["foreach", "with_items", "with_dict", "with_list", "loop", "for_each", "for", "each", "items"];

/// Words for the state of a resource, whose value is that of `ensure`.
pub(super) const STATES: &[&str] = &["state", "status", "present"];

const AS_USER: &str = "write `user: NAME`, with the user that it runs as";
const VALIDATE: &str = "write `validate`";
const LOCAL: &str = "remove it: ccm manages the accounts of this machine alone";

/// Properties of any type, with advice.
pub(super) const PROPERTIES: &[(&[&str], &str)] = &[
    (
        &["notify", "notifies", "watch_in", "listen_in", "handler"],
        "write `subscribe: [TYPE#NAME]`, with the name of this resource, on the resource to be refreshed",
    ),
    (&["watch", "listen", "subscribes", "onchanges"], "write `subscribe: [TYPE#NAME]`"),
    (
        &["before", "require_in", "required_by", "onchanges_in", "prereq"],
        "write `require: [TYPE#NAME]`, with the name of this resource, on the resource that comes later",
    ),
    (&["depends_on", "depends", "dependencies", "requires", "after"], "write `require: [TYPE#NAME]`"),
    (&["stage"], "write `require: [apply#PATH]`, with the manifest that comes first"),
    (&["when", "condition", "enabled_if"], "write `control: {if: EXPRESSION}`"),
    (LOOPS, "write `foreach: LIST` beside the type of the resource, and `{{ Item }}` for the item"),
    (&["loop_control", "loop_var", "index_var"], "remove it: the item is `Item`, and its number is `Index`"),
    (
        &["become", "become_user", "become_method", "sudo", "run_as"],
        "remove it: ccm runs as root; an `exec`, a `cron` and a `git` have `user: NAME`",
    ),
    (
        &["delegate_to", "delegate_facts", "run_once", "local_action", "remote_user", "connection"],
        "remove it: ccm changes only the machine that it runs on",
    ),
    (&["tags", "tag"], "remove it, and select resources with `--only TYPE#NAME`"),
    (&["ignore_errors", "failhard"], "remove it: a failure stops only what depends on it"),
    (&["any_errors_fatal"], "write `fail_on_error: true` below `ccm`"),
    (&["register"], "remove it: only an `exec` has a result, for which it has `capture`"),
    (
        &["changed_when", "failed_when"],
        "remove it: ccm compares states; only an `exec` has `unchanged_returns` and `returns`",
    ),
    (&["until", "retries"], "write `health_checks` with `tries` on it; an `exec` has `tries` itself"),
    (
        &["no_log", "show_diff", "diff"],
        "write a comment `# @sensitive` above the value in `data`, which hides it everywhere",
    ),
    (&["loglevel", "audit", "async", "poll", "throttle"], "remove it: ccm has nothing like it"),
    (&["vars"], "write `data:` at the top, beside `ccm:`, whose values are `{{ Data.KEY }}`"),
    (STATES, "write `ensure`"),
    (&["title", "id"], "write the name as the key above the properties, and a second name as `alias`"),
    (&["checks", "healthcheck", "healthchecks"], "write `health_checks`"),
    (&["noop", "check_mode"], "run `ccm apply --noop`, or set `noop: true` on an `apply`"),
];

/// Properties of several types, with advice.
pub(super) const SHARED: &[(&[&str], &[&str], &str)] = &[
    (
        &["line", "block", "setting", "scaffold", "exec"],
        &["no_log", "show_diff", "diff"],
        "write `sensitive: true`",
    ),
    (&["exec", "cron", "git"], &["runas", "become", "become_user", "sudo", "run_as"], AS_USER),
    (
        &["file", "line", "block", "setting"],
        &["unsafe_writes"],
        "remove it: a file gets its new content at once, by a rename",
    ),
    (
        &["file", "line", "block", "setting", "archive"],
        &["attributes", "attr"],
        "remove it, and run `chattr` in an `exec` with a guard",
    ),
    (
        &["file", "line", "block", "setting", "archive"],
        &["selevel", "serole", "setype", "seuser", "seltype", "selrole", "seluser", "selrange"],
        "remove it, and run `semanage fcontext` and `restorecon` in an `exec` with a guard",
    ),
    (&["user", "group"], &["forcelocal", "local"], LOCAL),
    (
        &["archive", "package_repository"],
        &["validate_certs", "sslverify", "allow_insecure"],
        "remove it: certificates of servers are always checked",
    ),
];

/// Properties of one type, with advice.
pub(super) const OF_TYPE: &[(&str, &[&str], &str)] = &[
    ("file", &["path", "dest", "destination", "filename"], "write the path as the name: `- /PATH: {…}`"),
    ("file", &["link", "symlink"], "write `ensure: link` and `target`"),
    ("file", &["src", "template"], "write `source: PATH`; a template is `source: NAME.j2`"),
    ("file", &["text", "contents", "body", "data"], "write `content`"),
    ("file", &["permissions", "perms", "permission", "chmod"], "write `mode`"),
    (
        "file",
        &["directory_mode", "dir_mode", "dirmode"],
        "write `mode`: a directory gets `x` wherever `mode` gives `r` or `w`",
    ),
    (
        "file",
        &["no_log", "show_diff", "diff"],
        "write `sensitive: true` and the mode of the file, such as `mode: \"0600\"`",
    ),
    ("file", &["user", "uid", "own"], "write `owner`"),
    ("file", &["gid"], "write `group`"),
    ("file", &["recursive", "recurselimit"], "write `recurse: true`, or `source` for a tree to copy"),
    ("file", &["remote_src"], "remove it: an absolute path in `source` is one of this machine"),
    ("file", &["exclude", "excludes"], "write `ignore`"),
    (
        "file",
        &["replace", "overwrite"],
        "use an `exec` with `creates: PATH`, such as `cp {{ Manifest.dir }}/x /etc/x`, for a file that is only made once",
    ),
    (
        "file",
        &["follow", "links", "local_follow"],
        "remove it, and write the path that a link leads to as the name",
    ),
    ("file", &["access_time", "modification_time"], "remove it: ccm manages no times of files"),
    ("file", &["sourceselect", "source_permissions", "max_files"], "remove it: ccm has nothing like it"),
    (
        "file",
        &["trim_blocks", "lstrip_blocks"],
        "write it in the first line of the template: `#jinja2: trim_blocks: true, lstrip_blocks: true`",
    ),
    (
        "scaffold",
        &["left_delimiter", "right_delimiter"],
        "remove it: Jinja templates have `{{ … }}` and `{% … %}`, as docs/reference/types/scaffold.md shows",
    ),
    ("scaffold", &["target", "dest", "path"], "write the path as the name: `- /PATH: {…}`"),
    ("file", &["validation", "verify"], VALIDATE),
    ("line", &["match_for_absence"], "write `ensure: absent` with `match` and without `line`"),
    (
        "line",
        &["backrefs"],
        "write the whole line as `line`, in which `\\1` stays as it is, or use an `exec` with `sed -i` and a guard",
    ),
    ("line", &["append_on_no_match"], "remove it: a line that is missing is added"),
    ("line", &["replace"], "remove it, and also `match`, if no other line is to be replaced"),
    ("line", &["firstmatch"], "remove it; if several lines may match, write `multiple: true`"),
    (
        "block",
        &["marker", "marker_begin", "marker_end"],
        "remove it: the lines around the block hold the name of the resource, behind the sign in `comment`",
    ),
    ("block", &["append_newline", "prepend_newline"], "write the empty line into `content`"),
    ("setting", &["section_prefix", "section_suffix"], "remove it: sections are in brackets"),
    ("setting", &["no_extra_spaces"], "write `separator: \"=\"`"),
    ("file", &["directory", "type"], "write `ensure: directory`"),
    (
        "user",
        &["password_expire", "password_max_age", "password_min_age"],
        "run `chage` in an `exec` with a guard",
    ),
    (
        "user",
        &["append"],
        "remove it: the user keeps its other groups; `groups_exclusive: true` takes them away",
    ),
    ("user", &["generate_ssh_key", "ssh_key_file"], "run `ssh-keygen` in an `exec` with `creates`"),
    ("user", &["remove", "purge_home"], "write `manage_home: true`, which also removes the home directory"),
    ("user", &["ssh_authorized_keys", "ssh_keys"], "write a resource `authorized_key` for each key"),
    ("user", &["update_password"], "remove it: the password is set whenever it differs"),
    ("user", &["allowdupe", "non_unique"], "remove it: each user has a number of its own"),
    ("group", &["allowdupe", "non_unique"], "remove it: each group has a number of its own"),
    (
        "authorized_key",
        &["path", "target"],
        "remove it: the key goes to `~/.ssh/authorized_keys` of the user",
    ),
    ("authorized_key", &["exclusive"], "write `purge_keys: true` on the `user`"),
    ("authorized_key", &["manage_dir"], "remove it: the directory is made if it is missing"),
    ("authorized_key", &["type", "enc"], "write type and key as one text: `key: \"ssh-ed25519 AAAA…\"`"),
    ("authorized_key", &["comment"], "write the comment as the name of the resource"),
    ("archive", &["extract_to", "extract_path", "dest", "destination"], "write `extract_parent`"),
    ("archive", &["checksum_type"], "remove it: `checksum` is always SHA-256"),
    (
        "archive",
        &["remote_src", "copy"],
        "remove it: an archive comes from `url`; extract a local one with an `exec` and `creates`",
    ),
    ("archive", &["extract"], "write `extract_parent`, the directory that it is extracted to"),
    (
        "archive",
        &["extra_opts", "extract_flags", "extract_command"],
        "use an `exec` with `tar` and `creates`",
    ),
    (
        "sysctl",
        &["reload", "apply", "persist", "sysctl_set", "permanent"],
        "remove it: the value is set now and saved for the boot",
    ),
    ("mount", &["path", "mount_point"], "write the directory as the name of the resource"),
    (
        "mount",
        &["atboot", "boot"],
        "remove it: `noauto` in `options` keeps a file system from being mounted at boot",
    ),
    ("mount", &["remounts"], "remove it: a mounted file system gets a remount if an option differs"),
    ("hostname", &["hostname"], "write the name of the machine as the name of the resource"),
    ("timezone", &["zone", "timezone"], "write the zone as the name of the resource"),
    ("locale", &["lang", "locale"], "write the locale as the name of the resource"),
    ("exec", &["cmd", "line", "run", "cmdline"], "write `command`"),
    ("exec", &["arguments", "argv"], "write `args`"),
    ("exec", &["shell"], "write the line as `command: LINE`, with `provider: shell` beside it"),
    ("exec", &["executable", "use_shell"], "write `provider: shell`"),
    (
        "exec",
        &["chdir", "cd", "dir", "workdir", "work_dir", "working_dir", "workingDir", "working_directory"],
        "write `cwd`",
    ),
    ("exec", &["env", "environ", "envs"], "write `environment`"),
    ("exec", &["only_if", "if"], "write `onlyif`"),
    ("exec", &["not_if", "if_not"], "write `unless`"),
    ("exec", &["removes"], "write `onlyif: test -e PATH`"),
    ("exec", &["retries", "retry"], "write `tries`"),
    ("exec", &["delay", "retry_delay", "interval"], "write `try_sleep`"),
    ("exec", &["until"], "write `tries`, and `returns` or `expect` for what is a success"),
    ("exec", &["register"], "write `capture`"),
    ("exec", &["changed_when"], "write `unchanged_returns` for exit codes that mean no change"),
    ("exec", &["failed_when", "success_codes", "valid_exit_codes"], "write `returns`"),
    (
        "exec",
        &["ignore_errors"],
        "write the exit codes that are no failure as `returns`, such as `returns: [0, 1]`",
    ),
    (
        "exec",
        &["refresh"],
        "write that command as an `exec` of its own, with `refresh_only: true` and `subscribe`",
    ),
    ("exec", &["async", "poll"], "remove it: ccm waits for the command, as long as `timeout` says"),
    ("exec", &["as_user"], AS_USER),
    ("cron", &["schedule", "cron", "at", "time"], "write `minute` and `hour`, or `special: daily`"),
    ("cron", &["job", "cmd", "script"], "write `command`"),
    (
        "cron",
        &["cron_file"],
        "remove it: each job has a file of its own in /etc/cron.d, which has the name of the resource",
    ),
    ("cron", &["target"], "write `user`, and `provider: crontab` for the crontab of that user"),
    ("cron", &["disabled"], "write `ensure: absent`"),
    ("service", &["enabled", "onboot", "start_on_boot"], "write `enable`"),
    ("service", &["mask", "masks"], "write `masked`"),
    ("service", &["restart", "reload"], "write `on_refresh: restart` or `on_refresh: reload`"),
    (
        "service",
        &["start", "stop"],
        "write `ensure: running` or `ensure: stopped`: systemd has the commands, in the unit file",
    ),
    ("service", &["binary", "manifest", "arguments", "args"], "write it into the unit file, with a `file`"),
    ("service", &["scope"], "write `user: NAME` for the service of a user, or remove it"),
    ("service", &["runlevel", "sleep", "use"], "remove it: ccm has nothing like it"),
    ("service", &["hasrestart", "hasstatus", "pattern"], "remove it: ccm asks systemd"),
    ("service", &["daemon_reload"], "remove it: ccm reloads systemd when a unit file has changed"),
    ("package", &["version", "release"], "write the version as `ensure: VERSION`"),
    ("timer", &["calendar", "on_calender", "OnCalendar"], "write `on_calendar`"),
    ("package", &["pkgs", "packages"], "write a resource for each package"),
    ("package", &["install_recommends"], "write `recommends`"),
    ("package", &["cache_valid_time", "refresh"], "write `update_cache`, such as `update_cache: 1h`"),
    ("package", &["mark", "hold"], "write a resource `package_hold`"),
    ("package", &["upgrade"], "write `ensure: latest`"),
    ("package", &["allow_virtual", "autoremove"], "remove it: ccm has nothing like it"),
    (
        "package",
        &[
            "install_options",
            "uninstall_options",
            "dpkg_options",
            "enablerepo",
            "disablerepo",
            "default_release",
        ],
        "remove it: the package manager gets no other options; an `exec` with a guard can give them",
    ),
    (
        "package",
        &["deb", "source"],
        "declare a `package_repository` with the package, or install the file with an `exec` and `unless`",
    ),
    ("git", &["update", "clone", "bare", "accept_hostkey"], "remove it: ccm has nothing like it"),
    (
        "git",
        &["identity", "key_file"],
        "remove it, and write the key of the server into ~/.ssh/config of the user",
    ),
    ("apply", &["path", "src", "source", "file"], "write the path as the name: `- PATH: {…}`"),
    ("apply", &["vars", "parameters", "params", "values", "args"], "write `data`"),
];

/// Values of one property of one type, with advice.
pub(super) const VALUES: &[(&str, &str, &[&str], &str)] = &[
    ("service", "enable", &["mask", "masked"], "write `masked: true`"),
    ("service", "enable", &["manual", "delayed", "indirect"], "write `enable: false`"),
    ("file", "recurse", &["remote"], "remove it: `ensure: directory` with `source` copies the whole tree"),
    ("file", "recurse", &["inf", "infinite", "limited"], "write `recurse: true`"),
];
