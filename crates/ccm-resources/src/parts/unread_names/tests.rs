use ccm_model::{SourceMap, Span};

use super::*;

fn span() -> Span {
    Span::new(SourceMap::default().add("m.yaml", ""), 0, 0)
}

/// Returns the hint of the warning; an empty text if it has none.
fn hint(warning: Diagnostic) -> String {
    warning.hints.into_iter().next().unwrap_or_default()
}

#[test]
fn names_that_a_program_skips_are_told_with_what_to_write() {
    for (path, better) in [
        ("/etc/cron.d/backup.sh", "/etc/cron.d/backup"),
        ("/etc/cron.d/web.example.com", "/etc/cron.d/web-example-com"),
        ("/etc/cron.daily/clean.cron", "/etc/cron.daily/clean"),
        ("/etc/network/if-up.d/route.sh", "/etc/network/if-up.d/route"),
        ("/etc/kernel/postinst.d/zz.sh", "/etc/kernel/postinst.d/zz"),
        ("/etc/update-motd.d/10-site.sh", "/etc/update-motd.d/10-site"),
        ("/etc/update-motd.d/10_Site", "/etc/update-motd.d/10-site"),
        ("/etc/sudoers.d/ada.l", "/etc/sudoers.d/ada-l"),
        ("/etc/sudoers.d/ops.conf", "/etc/sudoers.d/ops-conf"),
        ("/etc/logrotate.d/app.bak", "/etc/logrotate.d/app"),
        ("/etc/logrotate.d/app~", "/etc/logrotate.d/app"),
        ("/etc/sysctl.d/99-web", "/etc/sysctl.d/99-web.conf"),
        ("/etc/sysctl.d/99-web.cnf", "/etc/sysctl.d/99-web.conf"),
        ("/etc/sysctl.d/example.com", "/etc/sysctl.d/example.com.conf"),
        ("/etc/tmpfiles.d/app.txt", "/etc/tmpfiles.d/app.conf"),
        ("/etc/modules-load.d/wireguard", "/etc/modules-load.d/wireguard.conf"),
        ("/etc/systemd/journald.conf.d/size", "/etc/systemd/journald.conf.d/size.conf"),
        ("/etc/systemd/system/web.servic", "/etc/systemd/system/web.service"),
        ("/etc/systemd/system/web", "/etc/systemd/system/web.service"),
        ("/etc/systemd/system/nightly.timers", "/etc/systemd/system/nightly.timer"),
        ("/etc/systemd/system/web.service.d/limits", "/etc/systemd/system/web.service.d/limits.conf"),
        ("/etc/systemd/network/10-lan.conf", "/etc/systemd/network/10-lan.network"),
        ("/etc/apt/sources.list.d/docker", "/etc/apt/sources.list.d/docker.list"),
        ("/etc/apt/sources.list.d/my repo.list", "/etc/apt/sources.list.d/my-repo.list"),
        ("/etc/apt/sources.list.d/docker.source", "/etc/apt/sources.list.d/docker.sources"),
        ("/etc/apt/apt.conf.d/99proxy.cfg", "/etc/apt/apt.conf.d/99proxy"),
        ("/etc/apt/preferences.d/pin.conf", "/etc/apt/preferences.d/pin"),
        ("/etc/apt/trusted.gpg.d/docker.key", "/etc/apt/trusted.gpg.d/docker.asc"),
        ("/etc/yum.repos.d/docker.repos", "/etc/yum.repos.d/docker.repo"),
        ("/etc/netplan/50-lan.yml", "/etc/netplan/50-lan.yaml"),
        ("/etc/udev/rules.d/99-usb.rule", "/etc/udev/rules.d/99-usb.rules"),
        ("/usr/local/share/ca-certificates/ours.pem", "/usr/local/share/ca-certificates/ours.crt"),
        ("/etc/profile.d/path", "/etc/profile.d/path.sh"),
        ("/etc/ssh/sshd_config.d/hardening", "/etc/ssh/sshd_config.d/hardening.conf"),
        ("/etc/nginx/conf.d/example.com", "/etc/nginx/conf.d/example.com.conf"),
        ("/etc/apache2/sites-available/example.com", "/etc/apache2/sites-available/example.com.conf"),
        ("/etc/php/8.2/fpm/conf.d/99-own.conf", "/etc/php/8.2/fpm/conf.d/99-own.ini"),
        ("/etc/mysql/conf.d/own.conf", "/etc/mysql/conf.d/own.cnf"),
        ("/etc/fail2ban/jail.d/ssh.cfg", "/etc/fail2ban/jail.d/ssh.conf"),
        ("/etc/ccm/facts.d/role.sh", "/etc/ccm/facts.d/role.yaml"),
    ] {
        let found = warning(path, span()).map(hint);
        assert_eq!(found, Some(format!("call it `{better}`")), "{path}");
        assert!(warning(better, span()).is_none(), "{better}");
    }
}

#[test]
fn names_that_are_read_or_set_aside_are_fine() {
    for path in [
        "/etc/cron.d/backup_2-x",
        "/etc/cron.d/.placeholder",
        "/etc/cron.d/README",
        "/etc/cron.daily/clean",
        "/etc/update-motd.d/10-org.example-tool",
        "/etc/update-motd.d/a_b-c",
        "/etc/sudoers.d/ada",
        "/etc/sudoers.d/ada.disabled",
        "/etc/sudoers.d/README",
        "/etc/logrotate.d/app.conf",
        "/etc/logrotate.d/app.disabled",
        "/etc/sysctl.d/99-web.conf",
        "/etc/sysctl.d/99-web.conf.dpkg-old",
        "/etc/sysctl.d/README.sysctl",
        "/etc/systemd/system/web@.service",
        "/etc/systemd/system/web@1.socket",
        "/etc/systemd/system/web.env",
        "/etc/systemd/system/multi-user.target.wants/web.service",
        "/etc/systemd/system/web.service.d/limits.conf",
        "/etc/systemd/system.conf",
        "/etc/kernel/install.d/50-own.install",
        "/etc/apt/apt.conf.d/20auto-upgrades",
        "/etc/apt/preferences.d/pin-nginx",
        "/etc/nginx/conf.d/common.inc",
        "/etc/nginx/conf.d/htpasswd",
        "/etc/nginx/sites-enabled/example.com",
        "/etc/dovecot/conf.d/auth-sql.conf.ext",
        "/etc/sudoers.d/more/a.b",
        "/etc/motd",
        "/srv/etc/cron.d/a.b",
        "a.b",
    ] {
        assert!(warning(path, span()).is_none(), "{path}");
    }
}

#[test]
fn new_programs_have_to_be_executable() {
    for (path, mode, expected) in [
        ("/etc/cron.daily/clean", None, true),
        ("/etc/cron.daily/clean", Some(0o644), true),
        ("/etc/cron.daily/clean", Some(0o755), false),
        ("/etc/cron.daily/.placeholder", None, false),
        ("/etc/cron.daily/clean.disabled", None, false),
        ("/etc/cron.d/clean", None, false),
        ("/etc/letsencrypt/renewal-hooks/deploy/nginx", None, true),
        ("/usr/local/bin/backup", None, true),
        ("/usr/local/bin/backup", Some(0o700), false),
        // A library of a shell, for others to read.
        ("/usr/local/bin/common.sh", Some(0o644), false),
        ("/opt/app/bin/run", None, true),
        ("/opt/bin", None, false),
        ("/etc/motd", None, false),
    ] {
        assert_eq!(not_executable(path, mode, span()).is_some(), expected, "{path} {mode:?}");
    }
}

#[test]
fn every_better_name_is_read() {
    for directory in DIRECTORIES {
        for name in ["own", "own.x", "own.conf", "own.txt", "a b", "own.yml", "own.service", "own.SH"] {
            let better = directory.rule.better_name(name);
            let better = better.filter(|_| !directory.rule.reads(name));
            assert!(
                better.is_none_or(|better| directory.rule.reads(&better)),
                "{} {name}",
                directory.program
            );
        }
    }
}
