//! Rules about services, packages and accounts, whatever the spelling of a command.

use ccm_policy::Caller;

use crate::rules_on_commands::{check, policy_of};

#[test]
fn a_rule_that_denies_a_service_matches_every_spelling() {
    let policy = policy_of(
        "ccm_policy: 1\nrules: [{match: {effect: service, resource: \"service#{nginx,app}\"}, deny: final}]\n",
    );
    check(
        &policy,
        Caller::Apply,
        &[
            (
                "deny",
                &[
                    "systemctl restart nginx",
                    "systemctl restart nginx.service",
                    "systemctl restart /lib/systemd/system/nginx.service",
                    "systemctl disable --now /etc/systemd/system/app.service",
                    "systemctl restart ./nginx.service",
                    "systemctl restart 'ngin*'",
                    "systemctl restart 'ngin?'",
                    "systemctl restart '[n]ginx'",
                    "systemctl restart '*.service'",
                    "systemctl stop '/lib/systemd/system/ngin*'",
                    "systemctl restart ngin*",
                    "systemctl restart ngin{x,y}",
                    "systemctl restart ssh 'a?p.service'",
                    "systemctl restart \"$x\"",
                    "systemctl restart $x",
                    "systemctl restart \"n$x\"",
                    "systemctl restart ssh$x",
                    "systemctl restart \"/lib/systemd/system/$x\"",
                    "systemctl restart $(echo nginx)",
                    "systemctl \"$x\" nginx",
                    "systemctl $x",
                    "set -- $(echo nginx); systemctl restart \"$1\"",
                    "service \"$x\" restart",
                    "service nginx restart",
                    "systemctl force-reload nginx",
                    "systemctl condstop nginx",
                    "systemctl condreload nginx",
                    "systemctl reload-or-try-restart nginx",
                    "systemctl odd nginx",
                    "systemctl isolate x.target",
                    "busctl call org.freedesktop.systemd1 /x org.freedesktop.systemd1.Manager StopUnit ss nginx.service replace",
                    "dbus-send --system --dest=org.freedesktop.systemd1 /x org.freedesktop.systemd1.Manager.StopUnit string:nginx.service",
                    "gdbus call --system --dest org.freedesktop.systemd1 --object-path / --method x.StopUnit nginx.service replace",
                    "initctl stop nginx",
                    "sv stop nginx",
                    "rc-update del nginx",
                    "supervisorctl stop nginx",
                    "monit stop nginx",
                    "echo nginx | xargs systemctl restart",
                    "echo restart nginx | xargs systemctl",
                    "xargs -I{} systemctl restart {}.service",
                    "for s in $(cat f); do systemctl stop \"$s\"; done",
                ],
            ),
            (
                "allow",
                &[
                    "systemctl restart ssh",
                    "systemctl restart \"ssh$x\"",
                    "systemctl restart 'ss*'",
                    "systemctl restart /lib/systemd/system/nginx-exporter.service",
                    "systemctl restart nginx-exporter",
                    "systemctl status nginx",
                    "systemctl status \"$x\"",
                    "systemctl is-active nginx",
                    "service ssh restart",
                ],
            ),
        ],
    );
}

#[test]
fn a_part_of_the_governance_is_known_by_the_path_of_its_unit() {
    check(
        &policy_of("ccm_policy: 1\n"),
        Caller::Tool,
        &[("deny", &["systemctl stop auditd", "systemctl stop /lib/systemd/system/auditd.service"])],
    );
}

#[test]
fn a_rule_that_denies_a_package_matches_every_spelling() {
    let policy = policy_of(
        "ccm_policy: 1\nrules: [{match: {effect: package, resource: \"package#{telnetd,flask}\"}, deny: final}]\n",
    );
    check(
        &policy,
        Caller::Apply,
        &[
            (
                "deny",
                &[
                    "apt-get install telnetd",
                    "dpkg -i x",
                    "dpkg --unpack x",
                    "dpkg -iR dir",
                    "pkcon install telnetd",
                    "gdebi x.deb",
                    "alien -i x.rpm",
                    "nala install telnetd",
                    "pipx install telnetd",
                    "nix profile install telnetd",
                    "npm odd telnetd",
                    "apt-get install -y ssh telnetd",
                    "apt-get install \"$x\"",
                    "apt-get install $(cat x)",
                    "apt-get install tel$x",
                    "apt-get \"$x\" telnetd",
                    "xargs apt-get install",
                    "cat x | xargs -n1 apt-get install -y",
                    "apt-get install telnetd=1",
                    "apt-get install telnetd:amd64",
                    "apt-get install telnetd:amd64=1:2-3",
                    "apt-get install telnetd/stable",
                    "apt-get install telnetd+",
                    "apt-get install telnetd-",
                    "apt-get remove telnetd+",
                    "apt-get install '^telnetd$'",
                    "apt-get install 'telnet.'",
                    "apt-get install 'telne*'",
                    "apt-get install '?name(telnet)'",
                    "aptitude install '~ntelnet'",
                    "apt install ./telnetd.deb",
                    "apt install /tmp/x.deb",
                    "dpkg -i telnetd.deb",
                    "dpkg -i telnetd_1.0_amd64.deb",
                    "dpkg --purge telnetd:amd64",
                    "dpkg -P telnetd",
                    "dnf install telnetd-1.0",
                    "dnf install telnetd-1.0-1.fc40.x86_64",
                    "dnf install telnetd.x86_64",
                    "dnf install 1:telnetd",
                    "yum install 'telnet*'",
                    "dnf install @group",
                    "rpm -e telnetd",
                    "pacman -S core/telnetd",
                    "pacman -S 'telnetd>1'",
                    "apk add telnetd=1",
                    "apk add telnetd@edge",
                    "pip install flask==1",
                    "pip install 'Flask[async]>=2'",
                    "pip install -r requirements.txt",
                    "pip install ./flask",
                    "npm install telnetd@1",
                    "npm install x@npm:telnetd",
                ],
            ),
            (
                "allow",
                &[
                    "apt-get install telnetd-ssl",
                    "apt-get install ssh=1:2",
                    "apt-get install python3.11",
                    "apt-get install g++",
                    "apt-get install libtelnetd",
                    "dnf install telnet-1.0",
                    "pip install 'requests[security]==2.0'",
                    "npm install @types/node@20",
                    "apt-get update",
                    "apt list telnetd",
                    "dpkg -l telnetd",
                    "dpkg -L \"$x\"",
                ],
            ),
        ],
    );
}

#[test]
fn a_rule_that_denies_an_account_matches_what_is_not_known() {
    let policy = policy_of(
        "ccm_policy: 1\nrules: [{match: {effect: account, resource: \"account#alice\"}, deny: final}]\n",
    );
    check(
        &policy,
        Caller::Apply,
        &[
            (
                "deny",
                &[
                    "userdel alice",
                    "userdel \"$x\"",
                    "userdel $(cat x)",
                    "cat x | xargs -n1 userdel",
                    "userdel \"al$x\"",
                    "usermod -L \"$x\"",
                ],
            ),
            ("allow", &["userdel bob", "userdel \"bob$x\"", "id alice", "usermod -L bob"]),
        ],
    );
}

#[test]
fn a_rule_that_allows_matches_no_pattern_and_nothing_unknown() {
    let policy = policy_of(
        "ccm_policy: 1\nrules: [{match: {effect: [service, package], resource: \"{service#ngin?,package#tel*}\"}, allow: [service, package]}]\n",
    );
    check(
        &policy,
        Caller::Tool,
        &[
            (
                "allow",
                &["systemctl restart nginx", "systemctl restart nginx.service", "apt-get install telnet"],
            ),
            (
                "ask",
                &[
                    "systemctl restart 'ngin*'",
                    "systemctl restart 'ngin?'",
                    "systemctl restart \"ngin$x\"",
                    "systemctl restart nginx \"$x\"",
                    "systemctl restart nginx ssh",
                    "apt-get install 'tel*'",
                    "apt-get install \"tel$x\"",
                    "apt-get install telnet ./x.deb",
                    "systemctl daemon-reload",
                ],
            ),
        ],
    );
}
