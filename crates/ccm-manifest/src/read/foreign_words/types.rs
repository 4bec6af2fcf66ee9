//! Types of other configuration tools, each with what to write in ccm instead.

const LANGUAGE_PACKAGES: &str =
    "packages of languages are not in this version: use an `exec` with a guard such as `creates` or `unless`";
const REPOSITORY: &str = "use `package_repository`";
const UNIT: &str = "use `service`, and `file` for the unit file";
const DATA: &str =
    "write the values below `data:` at the top of the manifest; a command sets values with `capture`";
const KNOWN_FACTS: &str = "remove it: facts are always there, and `ccm facts` shows them";
const WAITING: &str =
    "write `health_checks` with `tries` on the resource that starts what is to be waited for";
const GUARDED: &str = "use an `exec` with a guard such as `creates`, `onlyif` or `unless`";
const FIREWALL: &str = "write the rules with `file`, such as `/etc/nftables.conf`, and load them with a `service` that subscribes to it";
const KNOWN_HOSTS: &str = "use `line` with `path: /etc/ssh/ssh_known_hosts` and `create: true`";
const OTHER_MANIFEST: &str = "use `apply`, with the path of another manifest as the name";
const ORDER: &str = "remove it: `require: [apply#PATH]` orders the resources of whole manifests";

/// Type names that are unknown to ccm, with advice.
pub(super) const TYPES: &[(&[&str], &str)] = &[
    (&["users", "user.present", "account", "accounts"], "use `user`"),
    (&["groups", "group.present"], "use `group`"),
    (&["ssh_authorized_key", "ssh_auth.present"], "use `authorized_key`"),
    (&["sshkey", "known_hosts", "ssh_known_hosts", "ssh_known_hosts.present"], KNOWN_HOSTS),
    (&["cronjob", "cron.present", "cron_d", "cron::job"], "use `cron` or `timer`"),
    (&["systemd_timer", "systemd::timer", "systemd.timer"], "use `timer`"),
    (&["link", "symlink", "file.symlink"], "use `file` with `ensure: link` and `target`"),
    (&["vcsrepo", "git.latest", "git_repository"], "use `git`"),
    (&["subversion", "svn", "hg"], "use an `exec` with `creates`"),
    (&["sysctl.present", "sysctl_conf"], "use `sysctl`"),
    (&["mount.mounted", "mounts", "fstab"], "use `mount`"),
    (&["modprobe", "kmod", "kmod.present", "kernel_modules"], "use `kernel_module`"),
    (
        &["unarchive", "get_url", "remote_file", "download", "staging::deploy", "archive.extracted"],
        "use `archive` with `url`, and `extract_parent` to extract it",
    ),
    (
        &[
            "apt",
            "yum",
            "dnf",
            "dnf5",
            "zypper",
            "pkg",
            "packages",
            "apt_package",
            "yum_package",
            "ensure_packages",
        ],
        "use `package`",
    ),
    (
        &[
            "pip", "pip3", "pipx", "gem", "npm", "yarn", "cargo", "composer", "cpanm", "bundler", "snap",
            "flatpak", "chef_gem",
        ],
        LANGUAGE_PACKAGES,
    ),
    (
        &[
            "yumrepo",
            "apt_repository",
            "yum_repository",
            "pkgrepo",
            "apt::source",
            "apt::ppa",
            "pkgrepo.managed",
        ],
        REPOSITORY,
    ),
    (
        &["apt_key", "apt::key", "rpm_key"],
        "write `key`, the file with the key, and `fingerprint` on the `package_repository`",
    ),
    (&["apt::pin"], "use `file` for `/etc/apt/preferences.d/NAME`"),
    (&["dpkg_selections", "yum_versionlock", "versionlock", "apt_mark", "pkg.held"], "use `package_hold`"),
    (&["systemd", "systemd_service", "systemd_unit", "daemon", "services", "runit", "supervisorctl"], UNIT),
    (
        &["template", "cookbook_file", "copy", "files", "remote_directory", "epp", "erb"],
        "use `file` with `content`, `source: PATH` or `source: NAME.j2`",
    ),
    (&["directory", "folder", "file.directory"], "use `file` with `ensure: directory`"),
    (
        &["synchronize", "rsync", "file.recurse"],
        "use `file` with `ensure: directory` and `source: PATH`, which copies a tree, or an `exec` with `rsync`",
    ),
    (&["tempfile"], "make the file in an `exec` with `provider: shell`: `mktemp`"),
    (&["assemble"], "use `block` for parts of a file, or `file` and `source: NAME.j2` for the whole"),
    (&["slurp", "fetch"], "write `{{ file('PATH') }}` where the content is used"),
    (&["command", "cmd", "run", "execute", "cmd.wait", "raw", "module.run", "ruby_block"], "use `exec`"),
    (&["expect"], "use an `exec`, whose `stdin` holds the answers"),
    (&["shell", "bash", "script", "sh", "cmd.script"], "use `exec` with `provider: shell`"),
    (
        &["lineinfile", "file_line", "replace", "file.line", "file.replace", "file.append", "file.comment"],
        "use `line`",
    ),
    (&["blockinfile", "file.blockreplace"], "use `block`"),
    (
        &["ini_setting", "ini_file", "ini_subsetting", "ini.options_present", "augeas"],
        "use `setting`, `line` or `block`",
    ),
    (
        &["concat", "concat::fragment", "concat_file", "concat_fragment", "datacat", "datacat_fragment"],
        "use `block` for parts of a file, or `file` and `source: NAME.j2` for the whole",
    ),
    (
        &["tidy", "find", "file.tidied"],
        "use an `exec` with `find PATH … -delete`, or `purge: true` on a `file` with `ensure: directory`",
    ),
    (
        &[
            "include",
            "include_role",
            "import_role",
            "import_tasks",
            "import_playbook",
            "include_tasks",
            "include_recipe",
            "hiera_include",
            "create_resources",
            "ensure_resource",
            "ensure_resources",
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
        OTHER_MANIFEST,
    ),
    (&["stage", "anchor", "contain"], ORDER),
    (
        &["resources"],
        "remove it: types stand directly in this list; to remove what nobody declares, a `file` has `purge: true`",
    ),
    (&["defaults"], "write `- defaults: {…}` in the list below a type, such as `file:`"),
    (&["filebucket"], "remove it: a `file` with `backup: true` keeps what it replaces"),
    (&["schedule"], "remove it, and apply the manifest at its times: `ccm timer install`"),
    (
        &["sudo::conf", "sudoers", "sudo"],
        "use `file` for `/etc/sudoers.d/NAME` with `mode: \"0440\"` and `validate: visudo -cf %s`",
    ),
    (&["pam_limits", "limits::limits"], "use `file` for `/etc/security/limits.d/NAME.conf`"),
    (&["logrotate::rule", "logrotate", "logrotate_app"], "use `file` for `/etc/logrotate.d/NAME`"),
    (
        &["mailalias"],
        "use `line` with `path: /etc/aliases`, and an `exec` with `refresh_only: true` for `newaliases`",
    ),
    (&["hosts", "host.present", "etc_hosts"], "use `host`"),
    (
        &["nmcli", "netplan", "network", "network.managed", "network_config"],
        "use `file` for the configuration of the network, and a `service` that subscribes to it",
    ),
    (&["notify", "debug", "log", "warning"], "use `pre_message` or `post_message` below `ccm`"),
    (&["set_fact", "set_facts", "set_stats", "include_vars"], DATA),
    (
        &["assert", "fail", "validate_argument_spec"],
        "write a comment `# @validate EXPRESSION` above the key in `data`",
    ),
    (
        &["stat", "exists"],
        "use an `exec` with `command: test -e PATH`, `unchanged_returns: [0, 1]` and `capture`, or the guards `creates` and `onlyif`",
    ),
    (
        &["uri", "http_request", "http"],
        "use `health_checks` with `goss_rules` to see that a service answers, or an `exec` with `curl` and `tries`",
    ),
    (&["wait_for", "wait_for_connection"], WAITING),
    (&["pause", "sleep"], "remove it: `health_checks` with `tries` wait until something works"),
    (
        &["meta", "flush_handlers"],
        "remove it: a resource with `subscribe` is refreshed at its place in the order",
    ),
    (
        &["add_host", "group_by"],
        "remove it: ccm applies the manifest to this machine, and `ccm push` takes others from its inventory",
    ),
    (&["setup", "gather_facts", "facter", "ohai", "ping"], KNOWN_FACTS),
    (
        &["iptables", "nftables", "firewalld", "ufw", "firewall", "firewallchain", "firewalld_rich_rule"],
        FIREWALL,
    ),
    (
        &["selinux", "seboolean", "selboolean", "selmodule", "sefcontext", "seport"],
        "use an `exec` with a guard, such as `setsebool -P NAME on` with `unless`",
    ),
    (
        &["alternatives", "update_alternatives"],
        "use an `exec` with `update-alternatives --set NAME PATH` and `unless`",
    ),
    (
        &["filesystem", "mkfs", "parted", "lvg", "lvol", "logical_volume", "volume_group", "physical_volume"],
        "use an `exec` with a guard, such as `unless: blkid DEVICE`",
    ),
    (
        &[
            "getent",
            "debconf",
            "htpasswd",
            "mysql_db",
            "mysql_user",
            "mysql::db",
            "postgresql_db",
            "postgresql_user",
            "openssl_privatekey",
            "openssl_csr",
            "x509_certificate",
            "acme_certificate",
            "crypttab",
        ],
        GUARDED,
    ),
    (&["timezone.system"], "use `timezone`"),
    (&["locale_gen", "locale.system", "locales"], "use `locale`"),
    (
        &["docker_container", "container", "docker", "docker::run", "podman_container", "docker_compose"],
        "run the container as a systemd unit: `file` and `service`",
    ),
];

/// Modules of Puppet and of Salt whose types and functions have one counterpart.
pub(super) const MODULES: &[(&str, &str)] = &[
    ("systemd", UNIT),
    ("service", "use `service`"),
    ("pkg", "use `package`"),
    ("pkgrepo", REPOSITORY),
    ("cmd", "use `exec`"),
    ("file", "use `file`"),
    ("user", "use `user`"),
    ("group", "use `group`"),
    ("cron", "use `cron` or `timer`"),
    ("git", "use `git`"),
    ("ssh_auth", "use `authorized_key`"),
    ("mount", "use `mount`"),
    ("host", "use `host`"),
    ("sysctl", "use `sysctl`"),
    ("kmod", "use `kernel_module`"),
    ("pip", LANGUAGE_PACKAGES),
    ("npm", LANGUAGE_PACKAGES),
    ("gem", LANGUAGE_PACKAGES),
    ("concat", "use `block` for parts of a file, or `file` and `source: NAME.j2` for the whole"),
    ("firewall", FIREWALL),
    ("firewalld", FIREWALL),
    ("iptables", FIREWALL),
];

/// Functions of Salt behind the name of a module.
pub(super) const STATES: &[&str] = &[
    "absent",
    "accumulated",
    "bootstrap",
    "cloned",
    "copy",
    "dead",
    "detached",
    "disabled",
    "enabled",
    "exists",
    "installed",
    "keyvalue",
    "latest",
    "managed",
    "masked",
    "missing",
    "prepend",
    "present",
    "purged",
    "removed",
    "rename",
    "retention_schedule",
    "run",
    "running",
    "serialize",
    "touch",
    "uncomment",
    "unmounted",
    "uptodate",
];

/// Advice on a type of a module of Puppet that has no other.
pub(super) const OF_PUPPET: &str = "this is a type of a Puppet module: write its resources, such as `file` and `service`, or `apply` a manifest that has them";
