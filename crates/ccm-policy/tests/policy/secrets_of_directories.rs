//! Credentials, whatever the spelling of their paths and of the directories above.

use ccm_policy::Caller;

use crate::rules_on_commands::{check, policy_of};

#[test]
fn addresses_of_files_are_paths() {
    for caller in [Caller::Tool, Caller::Apply] {
        check(
            &policy_of("ccm_policy: 1\n"),
            caller,
            &[(
                "deny",
                &[
                    "curl -s file:///etc/shadow",
                    "curl -s FILE:///etc/shadow",
                    "curl file:/etc/shadow",
                    "curl File://localhost/etc/shadow",
                    "curl file:///etc/%73hadow",
                    "curl 'file:///etc/{shadow,x}'",
                    "curl 'file:///etc/{x,y,shadow}'",
                    "curl 'file:///etc/sh[a-a]dow'",
                    "curl 'file:///etc/s[a-z]adow'",
                    "curl 'file:///{etc,srv}/{hosts,shadow}'",
                    "curl '{http,file}:///etc/shadow'",
                    "curl 'fil[e-e]:///etc/shadow'",
                    "curl --url 'FILE:///etc/{shadow}'",
                    "curl --proto-default=file /etc/shadow",
                    "git clone FILE:///root/.ssh x",
                    "cat file:///etc/shadow",
                ],
            )],
        );
    }
}

#[test]
fn a_directory_that_is_read_as_a_whole_holds_its_credentials() {
    let whole: &[&str] = &[
        "cp -r ~ x",
        "cp -a /etc/. x",
        "cp -rT /etc x",
        "cp --recursive /root x",
        "tar cf - /etc",
        "tar cf x.tar ~",
        "tar -C / -czf x.tgz etc",
        "tar czf x.tgz -C /etc .",
        "cd /etc && tar cf /w/x.tar .",
        "grep -r root: /etc/",
        "grep -R x /",
        "cd / && grep -r x",
        "rg -uuu root /etc",
        "ag x /etc",
        "cd ~ && rg token",
        "rsync -a /etc/ x/",
        "rsync -r ~/ x",
        "scp -r /etc ./x",
        "zip -r x.zip /etc",
        "7z a x.7z /etc",
        "diff -r /etc x",
        "cp -r /etc/ssl x",
        "cp -r ~/.config x",
        "tar cf x /var/lib",
        "tar cf x /home",
        "cp -r /etc/letsencrypt x",
        "find / -name id_rsa | xargs cat",
        "find / -name id_rsa -print0 | xargs -0 cat",
        "find ~ -name '*.pem' -exec cat {} \\;",
        "find ~ -type f -exec cat {} +",
        "find /etc -name 'shad*' -execdir cat {} \\;",
        "cat $(find / -name shadow)",
        "for f in $(find /etc -type f); do cat \"$f\"; done",
        "find /etc -type f | while read f; do cat \"$f\"; done",
        "fd id_rsa ~ | xargs cat",
        "locate id_rsa | xargs cat",
        "find /etc -name x -o -name shadow | xargs cat",
    ];
    for caller in [Caller::Tool, Caller::Apply] {
        let denies = policy_of("ccm_policy: 1\nguard: {secrets: deny}\n");
        check(&denies, caller, &[("deny", whole)]);
    }
    // Who copies a whole directory may well mean it.
    check(
        &policy_of("ccm_policy: 1\n"),
        Caller::Apply,
        &[
            ("ask", whole),
            (
                "deny",
                &[
                    "cp -r /var/lib/ccm/audit out",
                    "cp -r /var/lib/ccm x",
                    "cp -r ~/.ssh x",
                    "tar cf x /etc/ccm",
                    "find /etc -type f -exec grep -H x {} +",
                ],
            ),
        ],
    );
}

#[test]
fn a_rule_that_denies_what_is_in_a_directory_matches_the_directories_above() {
    let policy = policy_of(
        "ccm_policy: 1\nrules: [{match: {effect: read, path: \"/srv/private/**\"}, deny: final}]\n",
    );
    check(
        &policy,
        Caller::Apply,
        &[
            (
                "deny",
                &[
                    "cp -r /srv x",
                    "cp -a /srv/private x",
                    "grep -r x /srv",
                    "grep -r x /",
                    "cd /srv && grep -rn x",
                    "cd /srv && rg x",
                    "tar cf x /srv",
                    "tar -C /srv -cf x private",
                    "rsync -a /srv/ x/",
                    "zip -r x.zip /srv",
                    "find /srv -type f -exec cat {} +",
                    "find /srv | xargs cat",
                    "cat /srv/private/x",
                    "cat /srv/*/x",
                ],
            ),
            (
                "allow",
                &[
                    "cp -r /srv/public x",
                    "cp /srv/x y",
                    "grep x /srv/x",
                    "grep -r x .",
                    "tar xf /srv/x.tar",
                    "rsync /srv/x y",
                    "rg x src",
                    "cat x | rg y",
                ],
            ),
        ],
    );
    let lifted = policy_of(
        "ccm_policy: 1\nguard: {outside_workspace: deny}\nrules: [{match: {effect: read, path: \"/etc/ssl/certs\"}, allow: [secrets]}]\n",
    );
    check(&lifted, Caller::Apply, &[("ask", &["cp -r /etc/ssl /w/x"])]);
}

#[test]
fn more_credentials_are_known() {
    let commands: &[&str] = &[
        "cat /etc/ccm/secrets/database",
        "cat /etc/ccm/secrets/*",
        "cat /run/credentials/x.service/y",
        "cat /etc/credstore/x",
        "cat /etc/credstore.encrypted/x",
        "cat /var/lib/ccm/approvals/salt",
        "cat ~/.local/state/ccm/approvals/salt",
        "cat /etc/letsencrypt/live/x/privkey.pem",
        "cat /etc/letsencrypt/archive/x/privkey1.pem",
        "cat /etc/letsencrypt/live/*/privkey.pem",
        "cat /etc/NetworkManager/system-connections/x.nmconnection",
        "cat /var/backups/shadow.bak",
        "cat /etc/shadow.bak",
        "cat /proc/$PPID/environ",
        "cat /proc/1/environ",
        "cat /proc/*/environ",
        "ps auxe",
        "ps axeww",
        "ps e",
        "ps -o pid,environ",
        "ps aux e",
        "kubectl get secret x -o yaml",
        "kubectl get secrets -o json",
        "kubectl get --raw /api/v1/secrets",
        "kubectl get --raw /api/v1/namespaces/x/secrets/y",
        "kubectl config view --raw",
        "systemd-creds decrypt x -",
        "systemd-creds cat x",
        "ansible-vault view x",
        "ansible-vault decrypt x",
        "ansible-vault edit x",
    ];
    for caller in [Caller::Tool, Caller::Apply] {
        check(&policy_of("ccm_policy: 1\n"), caller, &[("deny", commands)]);
    }
    check(
        &policy_of("ccm_policy: 1\n"),
        Caller::Tool,
        &[(
            "allow",
            &[
                "ps -e",
                "ps aux",
                "ps -ef",
                "ps -eo pid,comm",
                "ps axo pid,etime",
                "cat /etc/letsencrypt/live/x/fullchain.pem",
                "kubectl get secrets",
                "kubectl get --raw /api/v1/pods",
                "kubectl config view",
            ],
        )],
    );
}

#[test]
fn daily_work_reads_whole_directories() {
    check(
        &policy_of("ccm_policy: 1\n"),
        Caller::Tool,
        &[(
            "allow",
            &[
                "grep -r x .",
                "grep -rn x src",
                "grep -rn TODO",
                "rg x",
                "cp -r src dst",
                "cp -a . ../w/x",
                "tar czf x.tgz .",
                "tar czf x.tgz -C src .",
                "zip -r x.zip src",
                "rsync -a src/ dst/",
                "find . -name '*.rs' -exec grep -l x {} +",
                "find . -type f | xargs grep -l x",
                "find /etc -name '*.conf' -exec grep -l x {} +",
                "find . -name '*.rs' | xargs wc -l",
                "find / -name '*.log' | head",
                "find /etc -name '*.conf' | xargs ls -l",
                "find /usr/include -name '*.h' | xargs grep -l x",
                "grep -r x /usr/include",
                "grep -r x /etc/nginx",
                "cp -r /usr/share/doc/x .",
                "diff -r a b",
                "ls -R /etc",
                "du -sh /etc",
            ],
        )],
    );
}
