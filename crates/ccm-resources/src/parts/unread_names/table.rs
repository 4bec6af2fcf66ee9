//! Directories whose programs read files by their names.

/// Names that a program reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameRule {
    /// Names with one of these endings. The first is that of most files.
    Ending(&'static [&'static str]),
    /// Letters, digits, `_` and `-` alone.
    Plain,
    /// Small letters, digits and `-`, and names as `org.example-tool`.
    SmallOrDomain,
    /// Names without a dot, and without `~` at their end.
    Dotless,
    /// All names but those that end with one of these texts.
    AllBut(&'static [&'static str]),
    /// Letters, digits, `_`, `-` and `.` with these endings.
    Apt(EndingRule),
}

/// Endings that apt reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndingRule {
    pub(super) endings: &'static [&'static str],
    /// `false` if a name without an ending is read too.
    pub(super) is_required: bool,
}

/// Directories of a program.
#[derive(Debug)]
pub(super) struct ReadDirectory {
    /// Paths; `*` stands for any text within one part.
    pub(super) directories: &'static [&'static str],
    /// Program, as messages name it.
    pub(super) program: &'static str,
    pub(super) rule: NameRule,
}

/// Directory whose files are started.
#[derive(Debug)]
pub(super) struct ExecutableDirectory {
    pub(super) directory: &'static str,
    /// `true` if files that are not executable are skipped without a word.
    pub(super) is_skipped: bool,
}

const fn row(directories: &'static [&'static str], program: &'static str, rule: NameRule) -> ReadDirectory {
    ReadDirectory { directories, program, rule }
}

const fn apt(endings: &'static [&'static str], is_required: bool) -> NameRule {
    NameRule::Apt(EndingRule { endings, is_required })
}

const CONF: NameRule = NameRule::Ending(&["conf"]);

const UNITS: NameRule = NameRule::Ending(&[
    "service",
    "timer",
    "socket",
    "mount",
    "automount",
    "path",
    "target",
    "slice",
    "swap",
    "device",
    "scope",
]);

/// Endings that logrotate skips by default. That of files which are switched off by hand is `.disabled`.
const SKIPPED_BY_LOGROTATE: NameRule = NameRule::AllBut(&[
    ",v",
    ".bak",
    ".cfsaved",
    ".swp",
    ".dpkg-bak",
    ".dpkg-del",
    ".dpkg-dist",
    ".dpkg-new",
    ".dpkg-old",
    ".dpkg-tmp",
    ".rpmnew",
    ".rpmorig",
    ".rpmsave",
    ".ucf-dist",
    ".ucf-new",
    ".ucf-old",
    "~",
]);

/// Directories with the rules of their programs. The first that fits counts.
pub(super) const DIRECTORIES: &[ReadDirectory] = &[
    row(&["/etc/cron.d"], "cron of Debian", NameRule::Plain),
    row(
        &["/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly", "/etc/cron.yearly"],
        "run-parts of Debian",
        NameRule::Plain,
    ),
    row(
        &["/etc/network/if-*.d", "/etc/ppp/ip*-up.d", "/etc/ppp/ip*-down.d", "/etc/X11/Xsession.d"],
        "run-parts of Debian",
        NameRule::Plain,
    ),
    row(
        &["/etc/kernel/p*.d", "/etc/kernel/header_*.d", "/etc/initramfs/post-update.d"],
        "run-parts of Debian",
        NameRule::Plain,
    ),
    row(&["/etc/update-motd.d"], "run-parts of Debian", NameRule::SmallOrDomain),
    row(&["/etc/sudoers.d"], "sudo", NameRule::Dotless),
    row(&["/etc/logrotate.d"], "logrotate", SKIPPED_BY_LOGROTATE),
    row(
        &["/etc/sysctl.d", "/run/sysctl.d", "/usr/lib/sysctl.d", "/usr/local/lib/sysctl.d"],
        "systemd-sysctl",
        CONF,
    ),
    row(&["/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/lib/tmpfiles.d"], "systemd-tmpfiles", CONF),
    row(&["/etc/sysusers.d", "/run/sysusers.d", "/usr/lib/sysusers.d"], "systemd-sysusers", CONF),
    row(
        &["/etc/modules-load.d", "/run/modules-load.d", "/usr/lib/modules-load.d"],
        "systemd-modules-load",
        CONF,
    ),
    row(&["/etc/binfmt.d", "/etc/environment.d", "/etc/systemd/*.conf.d"], "systemd", CONF),
    row(&["/etc/modprobe.d", "/etc/depmod.d", "/lib/modprobe.d", "/usr/lib/modprobe.d"], "kmod", CONF),
    row(
        &[
            "/etc/systemd/system",
            "/etc/systemd/user",
            "/run/systemd/system",
            "/usr/local/lib/systemd/system",
            "/usr/lib/systemd/system",
            "/usr/lib/systemd/user",
            "/lib/systemd/system",
            "/etc/systemd/system/*.wants",
            "/etc/systemd/system/*.requires",
        ],
        "systemd",
        UNITS,
    ),
    row(
        &[
            "/etc/systemd/system/*.d",
            "/etc/systemd/user/*.d",
            "/run/systemd/system/*.d",
            "/usr/lib/systemd/system/*.d",
            "/lib/systemd/system/*.d",
            "/etc/systemd/network/*.d",
        ],
        "systemd",
        CONF,
    ),
    row(
        &["/etc/systemd/network", "/usr/lib/systemd/network"],
        "systemd-networkd",
        NameRule::Ending(&["network", "netdev", "link"]),
    ),
    row(&["/etc/systemd/nspawn"], "systemd-nspawn", NameRule::Ending(&["nspawn"])),
    row(&["/etc/systemd/*-preset"], "systemd", NameRule::Ending(&["preset"])),
    row(
        &["/etc/containers/systemd", "/usr/share/containers/systemd"],
        "Podman",
        NameRule::Ending(&["container", "volume", "network", "pod", "kube", "image", "build"]),
    ),
    row(&["/etc/containers/registries.conf.d", "/etc/containers/containers.conf.d"], "Podman", CONF),
    row(
        &["/etc/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"],
        "udev",
        NameRule::Ending(&["rules"]),
    ),
    row(&["/etc/polkit-1/rules.d", "/usr/share/polkit-1/rules.d"], "polkit", NameRule::Ending(&["rules"])),
    row(&["/etc/audit/rules.d"], "augenrules", NameRule::Ending(&["rules"])),
    row(&["/etc/audit/plugins.d"], "auditd", CONF),
    row(&["/etc/netplan", "/usr/lib/netplan"], "netplan", NameRule::Ending(&["yaml"])),
    row(&["/etc/NetworkManager/conf.d", "/usr/lib/NetworkManager/conf.d"], "NetworkManager", CONF),
    row(&["/etc/apt/sources.list.d"], "apt", apt(&["list", "sources"], true)),
    row(&["/etc/apt/apt.conf.d"], "apt", apt(&["conf"], false)),
    row(&["/etc/apt/preferences.d"], "apt", apt(&["pref"], false)),
    row(&["/etc/apt/auth.conf.d"], "apt", apt(&["conf"], true)),
    row(&["/etc/apt/trusted.gpg.d"], "apt", apt(&["asc", "gpg"], true)),
    row(&["/etc/yum.repos.d"], "dnf", NameRule::Ending(&["repo"])),
    row(&["/etc/ld.so.conf.d"], "ldconfig", CONF),
    row(
        &["/usr/local/share/ca-certificates", "/usr/local/share/ca-certificates/*"],
        "update-ca-certificates",
        NameRule::Ending(&["crt"]),
    ),
    row(&["/etc/profile.d"], "/etc/profile", NameRule::Ending(&["sh", "csh"])),
    row(&["/etc/default/grub.d"], "update-grub", NameRule::Ending(&["cfg"])),
    row(&["/etc/dracut.conf.d"], "dracut", CONF),
    row(&["/etc/security/limits.d"], "PAM", CONF),
    row(&["/etc/ssh/sshd_config.d"], "sshd", CONF),
    row(&["/etc/ssh/ssh_config.d"], "ssh", CONF),
    row(&["/etc/rsyslog.d"], "rsyslog", CONF),
    row(&["/etc/syslog-ng/conf.d"], "syslog-ng", CONF),
    row(&["/etc/chrony/conf.d"], "chrony", CONF),
    row(&["/etc/chrony/sources.d"], "chrony", NameRule::Ending(&["sources"])),
    row(&["/etc/sssd/conf.d"], "sssd", CONF),
    row(&["/etc/exports.d"], "exportfs", NameRule::Ending(&["exports"])),
    row(&["/etc/auto.master.d"], "automount", NameRule::Ending(&["autofs"])),
    row(&["/etc/cloud/cloud.cfg.d"], "cloud-init", NameRule::Ending(&["cfg"])),
    row(&["/etc/nginx/conf.d", "/etc/nginx/modules-enabled"], "nginx", CONF),
    row(
        &[
            "/etc/apache2/conf-available",
            "/etc/apache2/conf-enabled",
            "/etc/apache2/sites-available",
            "/etc/apache2/sites-enabled",
            "/etc/httpd/conf.d",
            "/etc/httpd/conf.modules.d",
        ],
        "Apache",
        CONF,
    ),
    row(&["/etc/php/*/fpm/pool.d", "/etc/php-fpm.d"], "PHP", CONF),
    row(&["/etc/php/*/*/conf.d", "/etc/php.d"], "PHP", NameRule::Ending(&["ini"])),
    row(
        &["/etc/mysql/conf.d", "/etc/mysql/mysql.conf.d", "/etc/mysql/mariadb.conf.d", "/etc/my.cnf.d"],
        "MySQL",
        NameRule::Ending(&["cnf"]),
    ),
    row(&["/etc/postgresql/*/*/conf.d"], "PostgreSQL", CONF),
    row(&["/etc/supervisor/conf.d"], "supervisord", CONF),
    row(&["/etc/supervisord.d"], "supervisord", NameRule::Ending(&["ini"])),
    row(
        &[
            "/etc/fail2ban/jail.d",
            "/etc/fail2ban/filter.d",
            "/etc/fail2ban/action.d",
            "/etc/fail2ban/fail2ban.d",
        ],
        "fail2ban",
        NameRule::Ending(&["conf", "local"]),
    ),
    row(&["/etc/unbound/unbound.conf.d"], "unbound", CONF),
    row(&["/etc/dovecot/conf.d"], "dovecot", CONF),
    row(&["/etc/needrestart/conf.d"], "needrestart", CONF),
    row(&["/etc/X11/xorg.conf.d", "/usr/share/X11/xorg.conf.d"], "Xorg", CONF),
    row(&["/etc/dbus-1/system.d", "/etc/dbus-1/session.d"], "dbus", CONF),
    row(&["/etc/ccm/facts.d"], "ccm", NameRule::Ending(&["yaml", "yml", "json"])),
];

const fn skipped(directory: &'static str) -> ExecutableDirectory {
    ExecutableDirectory { directory, is_skipped: true }
}

const fn programs(directory: &'static str) -> ExecutableDirectory {
    ExecutableDirectory { directory, is_skipped: false }
}

/// Directories whose files are started.
pub(super) const EXECUTABLES: &[ExecutableDirectory] = &[
    skipped("/etc/cron.hourly"),
    skipped("/etc/cron.daily"),
    skipped("/etc/cron.weekly"),
    skipped("/etc/cron.monthly"),
    skipped("/etc/cron.yearly"),
    skipped("/etc/update-motd.d"),
    skipped("/etc/network/if-*.d"),
    skipped("/etc/ppp/ip*-up.d"),
    skipped("/etc/ppp/ip*-down.d"),
    skipped("/etc/kernel/*.d"),
    skipped("/etc/initramfs/post-update.d"),
    skipped("/etc/NetworkManager/dispatcher.d"),
    skipped("/etc/letsencrypt/renewal-hooks/*"),
    skipped("/etc/grub.d"),
    skipped("/etc/initramfs-tools/hooks"),
    skipped("/lib/systemd/system-shutdown"),
    skipped("/lib/systemd/system-sleep"),
    skipped("/usr/lib/systemd/system-shutdown"),
    skipped("/usr/lib/systemd/system-sleep"),
    programs("/usr/local/bin"),
    programs("/usr/local/sbin"),
    programs("/usr/bin"),
    programs("/usr/sbin"),
    programs("/opt/*/bin"),
    programs("/root/bin"),
    programs("/home/*/bin"),
];
