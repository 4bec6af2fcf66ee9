//! Words of other configuration tools, with what to write in ccm instead.

use ccm_model::closest;

use crate::read::foreach;

/// Type names that are unknown to ccm, with advice.
const TYPES: &[(&[&str], &str)] = &[
    (&["users", "user.present", "account", "accounts"], "use `user`"),
    (&["groups", "group.present"], "use `group`"),
    (&["ssh_authorized_key", "ssh_auth.present", "sshkey"], "use `authorized_key`"),
    (&["cronjob", "cron.present", "cron_d"], "use `cron` or `timer`"),
    (&["systemd_timer", "systemd::timer", "systemd.timer"], "use `timer`"),
    (&["link", "symlink", "file.symlink"], "use `file` with `ensure: link` and `target`"),
    (&["vcsrepo", "git.latest", "git_repository"], "use `git`"),
    (&["sysctl.present", "sysctl_conf"], "use `sysctl`"),
    (&["mount.mounted", "mounts", "filesystem", "fstab"], "use `mount`"),
    (&["modprobe", "kmod", "kmod.present", "kernel_modules"], "use `kernel_module`"),
    (
        &["unarchive", "get_url", "remote_file", "download", "staging::deploy"],
        "use `archive` with `url`, and `extract_parent` to extract it",
    ),
    (
        &["apt", "yum", "dnf", "zypper", "pkg", "packages", "pkg.installed", "apt_package", "yum_package"],
        "use `package`",
    ),
    (
        &["pip", "gem", "npm", "snap", "flatpak"],
        "packages of languages are not in this version: use an `exec` with a guard such as `creates` or `unless`",
    ),
    (&["yumrepo", "apt_repository", "yum_repository", "pkgrepo", "apt::source"], "use `package_repository`"),
    (
        &["systemd", "systemd_service", "systemd_unit", "daemon", "services", "service.running"],
        "use `service`, and `file` for the unit file",
    ),
    (
        &["template", "cookbook_file", "copy", "files", "file.managed", "remote_directory"],
        "use `file` with `content`, `source: PATH` or `source: NAME.j2`",
    ),
    (&["directory", "folder", "file.directory"], "use `file` with `ensure: directory`"),
    (&["command", "cmd", "run", "execute", "cmd.run", "cmd.wait", "raw"], "use `exec`"),
    (&["shell", "bash", "script", "sh"], "use `exec` with `provider: shell`"),
    (&["lineinfile", "file_line", "replace", "file.line", "file.replace"], "use `line`"),
    (&["blockinfile", "file.blockreplace"], "use `block`"),
    (
        &["ini_setting", "ini_file", "ini_subsetting", "ini.options_present", "augeas"],
        "use `setting`, `line` or `block`",
    ),
    (&["concat"], "use `block` for parts of a file, or `file` and `source: NAME.j2` for the whole"),
    (
        &[
            "include",
            "include_role",
            "import_tasks",
            "import_playbook",
            "include_tasks",
            "class",
            "includes",
            "role",
            "roles",
            "module",
            "modules",
            "classes",
            "import",
            "imports",
        ],
        "use `apply`, with the path of another manifest as the name",
    ),
    (&["hosts", "host.present", "etc_hosts"], "use `host`"),
    (&["notify", "debug", "log"], "use `pre_message` or `post_message` below `ccm`"),
    (&["timezone.system"], "use `timezone`"),
    (&["locale_gen", "locale.system", "locales"], "use `locale`"),
    (
        &["docker_container", "container", "docker"],
        "run the container as a systemd unit: `file` and `service`",
    ),
];

/// Words for a loop. `foreach` is one in the wrong place.
const LOOPS: &[&str] =
    &["foreach", "with_items", "with_dict", "with_list", "loop", "for_each", "for", "each", "items"];

/// Properties of any type, with advice.
const PROPERTIES: &[(&[&str], &str)] = &[
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
    (&["when", "condition", "enabled_if"], "write `control: {if: EXPRESSION}`"),
    (LOOPS, "write `foreach: LIST` beside the type of the resource, and `{{ Item }}` for the item"),
    (
        &["become", "become_user", "sudo", "run_as"],
        "remove it: ccm runs as root; an `exec`, a `cron` and a `git` have `user: NAME`",
    ),
    (&["tags", "tag"], "select resources with `--only TYPE#NAME`"),
    (&["ignore_errors", "failhard"], "remove it: a failure stops only what depends on it"),
    (&["state", "status", "present"], "write `ensure`"),
    (&["title", "id"], "write the name as the key above the properties, and a second name as `alias`"),
    (&["checks", "healthcheck", "healthchecks"], "write `health_checks`"),
    (&["noop", "check_mode"], "run `ccm apply --noop`, or set `noop: true` on an `apply`"),
];

const AS_USER: &str = "write `user: NAME`, with the user that it runs as";

/// Properties of one type, with advice.
const OF_TYPE: &[(&str, &[&str], &str)] = &[
    ("file", &["path", "dest", "destination", "filename"], "write the path as the name: `- /PATH: {…}`"),
    ("file", &["link", "symlink"], "write `ensure: link` and `target`"),
    ("file", &["src", "template"], "write `source: PATH`; a template is `source: NAME.j2`"),
    ("file", &["text", "contents", "body", "data"], "write `content`"),
    ("file", &["permissions", "perms", "permission", "chmod"], "write `mode`"),
    ("file", &["user", "uid", "own"], "write `owner`"),
    ("file", &["gid"], "write `group`"),
    (
        "file",
        &["recursive", "recurselimit", "remote_src"],
        "write `recurse: true`, or `source` for a tree to copy",
    ),
    ("file", &["exclude", "excludes"], "write `ignore`"),
    (
        "scaffold",
        &["left_delimiter", "right_delimiter"],
        "remove it: Jinja templates have `{{ … }}` and `{% … %}`, as docs/reference/types/scaffold.md shows",
    ),
    ("scaffold", &["target", "dest", "path"], "write the path as the name: `- /PATH: {…}`"),
    ("file", &["validation", "verify"], "write `validate`"),
    ("line", &["match_for_absence"], "write `ensure: absent` with `match` and without `line`"),
    (
        "line",
        &["append_on_no_match", "replace", "backrefs", "firstmatch"],
        "remove it: the manual of `line` says what ccm does",
    ),
    ("setting", &["section_prefix", "section_suffix"], "remove it: sections are in brackets"),
    ("file", &["checksum", "sha256"], "use `archive` with `url` and `checksum` for a file from a web server"),
    ("file", &["directory", "type"], "write `ensure: directory`"),
    (
        "user",
        &["password_expire", "password_max_age", "password_min_age"],
        "run `chage` in an `exec` with a guard",
    ),
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
    ("authorized_key", &["type", "enc"], "write type and key as one text: `key: \"ssh-ed25519 AAAA…\"`"),
    ("authorized_key", &["comment"], "write the comment as the name of the resource"),
    ("archive", &["extract_to", "extract_path", "dest", "destination"], "write `extract_parent`"),
    ("sysctl", &["reload", "apply", "persist"], "remove it: the value is set now and saved for the boot"),
    ("mount", &["path", "mount_point"], "write the directory as the name of the resource"),
    (
        "mount",
        &["remounts", "atboot"],
        "remove it: `noauto` in `options` keeps a file system from being mounted at boot",
    ),
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
    ("exec", &["register"], "write `capture`"),
    ("exec", &["changed_when"], "write `unchanged_returns` for exit codes that mean no change"),
    ("exec", &["failed_when", "success_codes", "valid_exit_codes"], "write `returns`"),
    ("exec", &["runas", "as_user", "become", "become_user", "sudo", "run_as"], AS_USER),
    ("cron", &["runas", "become", "become_user", "sudo", "run_as"], AS_USER),
    ("cron", &["schedule", "cron", "at", "time"], "write `minute` and `hour`, or `special: daily`"),
    ("cron", &["job", "cmd", "script"], "write `command`"),
    ("git", &["runas", "become", "become_user", "sudo", "run_as"], AS_USER),
    ("service", &["enabled", "onboot", "start_on_boot"], "write `enable`"),
    ("service", &["mask", "masks"], "write `masked`"),
    ("service", &["restart", "reload"], "write `on_refresh: restart` or `on_refresh: reload`"),
    ("service", &["hasrestart", "hasstatus", "pattern"], "remove it: ccm asks systemd"),
    ("service", &["daemon_reload"], "remove it: ccm reloads systemd when a unit file has changed"),
    ("package", &["version", "release"], "write the version as `ensure: VERSION`"),
    ("timer", &["calendar", "on_calender", "OnCalendar"], "write `on_calendar`"),
    ("package", &["pkgs", "packages"], "write a resource for each package"),
    ("package", &["install_recommends"], "write `recommends`"),
    ("package", &["cache_valid_time", "refresh"], "write `update_cache`, such as `update_cache: 1h`"),
    ("apply", &["path", "src", "source", "file"], "write the path as the name: `- PATH: {…}`"),
    ("apply", &["vars", "parameters", "params", "values", "args"], "write `data`"),
];

/// Keys below `ccm` that other tools have, with advice.
const SETTINGS: &[(&[&str], &str)] = &[
    (
        &["health_checks", "health_check", "healthchecks"],
        "write `checks`, the health checks after all resources",
    ),
    (
        &["vars", "variables", "parameters", "params", "values", "defaults", "attributes"],
        "write `data:` at the top, beside `ccm:`, whose values are `{{ Data.KEY }}`",
    ),
    (&["tasks", "steps", "states", "pre_tasks", "post_tasks"], "write them as resources below `resources:`"),
    (
        &["handlers"],
        "write each handler below `resources:`, with `subscribe: [TYPE#NAME]`; an `exec` also needs `refresh_only: true`",
    ),
    (
        &["roles", "includes", "include", "imports", "import", "modules", "classes", "dependencies"],
        "write `- apply: [PATH]` below `resources:` for each manifest",
    ),
    (&["hosts"], "remove it: ccm applies the manifest to this machine; `ccm push` applies it to others"),
    (&["become", "gather_facts", "connection"], "remove it: ccm runs as root, on the machine itself"),
    (&["noop", "check_mode"], "remove it, and run `ccm apply --noop`"),
    (&["version"], "remove it: a manifest has no version"),
];

/// Returns advice on a key below `ccm` that another tool has.
pub(crate) fn setting(key: &str) -> Option<&'static str> {
    SETTINGS.iter().find(|(words, _)| words.contains(&key)).map(|(_, advice)| *advice)
}

/// Returns advice on a type of another tool.
pub(crate) fn resource_type(name: &str) -> Option<&'static str> {
    let found = TYPES.iter().find(|(words, _)| words.contains(&name) || words.contains(&short(name)));
    found.map(|(_, advice)| *advice)
}

/// Returns advice on a property of another tool, for a resource of this type.
pub(crate) fn property(type_name: &str, name: &str) -> Option<&'static str> {
    let of_type = OF_TYPE.iter().find(|(owner, words, _)| *owner == type_name && words.contains(&name));
    let of_any = || PROPERTIES.iter().find(|(words, _)| words.contains(&name)).map(|(_, advice)| *advice);
    of_type.map(|(_, _, advice)| *advice).or_else(of_any)
}

/// Returns `true` for a word that means `foreach`, and for a misspelt one.
pub(crate) fn is_loop(word: &str) -> bool {
    LOOPS.contains(&word) || closest(word, [foreach::KEY]).is_some()
}

/// Returns the name of a module without its collection: `copy` of `ansible.builtin.copy`.
fn short(name: &str) -> &str {
    name.strip_prefix("ansible.builtin.").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_word_is_listed_twice() {
        let mut seen = HashSet::new();
        let types = TYPES.iter().flat_map(|(words, _)| words.iter().map(|word| ("", "type", *word)));
        let any = PROPERTIES.iter().flat_map(|(words, _)| words.iter().map(|word| ("", "property", *word)));
        let own =
            OF_TYPE.iter().flat_map(|(owner, words, _)| words.iter().map(|word| (*owner, "property", *word)));
        let settings = SETTINGS.iter().flat_map(|(words, _)| words.iter().map(|word| ("", "setting", *word)));
        for word in types.chain(any).chain(own).chain(settings) {
            assert!(seen.insert(word), "{word:?}");
        }
    }

    #[test]
    fn words_of_a_type_come_before_those_of_any() {
        assert_eq!(property("exec", "cmd"), Some("write `command`"));
        assert_eq!(property("file", "cmd"), None);
        assert_eq!(property("apply", "path"), Some("write the path as the name: `- PATH: {…}`"));
        assert_eq!(property("service", "state"), Some("write `ensure`"));
        assert_eq!(resource_type("ansible.builtin.copy"), resource_type("copy"));
        assert_eq!(resource_type("unheard"), None);
    }
}
