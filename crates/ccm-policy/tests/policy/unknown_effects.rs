//! Rules on programs and paths, where a command is given more than its tables know, or the directory above.

use ccm_policy::Caller;

use crate::rules_on_commands::{check, policy_of};

#[test]
fn a_rule_on_a_path_holds_for_the_directories_above() {
    check(
        &policy_of(
            "ccm_policy: 1\nrules: [{match: {effect: [write, delete], path: \"/etc/nginx/**\"}, deny: final}]\n",
        ),
        Caller::Apply,
        &[
            (
                "deny",
                &[
                    "mv /etc /e",
                    "mv /etc/nginx n",
                    "mv /etc e",
                    "rm -r /",
                    "rm -rf /etc",
                    "cp -r x/. /",
                    "cp -a etc /",
                    "rsync -a x/ /",
                    "rsync --delete -a x/ /etc/",
                    "chmod -R 600 /etc",
                    "chmod -R 755 /",
                    "chown -R nobody /etc/nginx",
                    "chgrp --recursive x /etc",
                    "setfacl -R -m u:x:r /etc",
                    "mount --bind x /etc/nginx",
                    "mount -t tmpfs x /etc",
                    "dpkg -x x.deb /",
                    "dpkg-deb -x x.deb /etc",
                    "tar -C / -xf x",
                    "unzip -d / a.zip",
                    "unrar x a.rar /etc/",
                    "find / -delete",
                    "find /etc -name x | xargs rm",
                    "gzip -r /etc",
                    "cd /etc/nginx && patch -p1 < x",
                    "git -C /etc clean -fdx",
                    // Formatters.
                    "rustfmt /etc/nginx/x.rs",
                    "gofmt -w /etc",
                    "clang-format -i /etc/nginx/x.c",
                    "black /etc/nginx/x.py",
                    "ruff format /etc/nginx",
                    "prettier --write /etc",
                    "eslint --fix /etc/nginx/x.js",
                    "shfmt -w /etc/nginx/x.sh",
                    "terraform fmt /etc/nginx/x.tf",
                    // Neither the program nor the option is known.
                    "stylua /etc/nginx/x.lua",
                    "dos2unix /etc/nginx/x",
                    "cat --odd /etc/nginx/x",
                ],
            ),
            (
                "allow",
                &[
                    "mv /etc/hosts /e",
                    "cp -r x /srv",
                    "chmod 600 /etc/hosts",
                    "chmod -R 600 /etc/ssh",
                    "black --check /etc/nginx/x.py",
                    "gofmt -l /etc/nginx",
                    "prettier --check /etc/nginx",
                    "cat /etc/nginx/x",
                    "ls -R /etc",
                    "dos2unix /srv/x",
                ],
            ),
        ],
    );
}

#[test]
fn a_rule_on_a_program_holds_behind_a_program_that_no_table_lists() {
    check(
        &policy_of(
            "ccm_policy: 1\nrules:\n- {match: {program: git, args: [push, \"**\"]}, deny: final}\n\
             - {match: {program: forbidden, option: {-x: \"*\"}}, deny: final}\n",
        ),
        Caller::Apply,
        &[
            (
                "deny",
                &[
                    "chamber exec x -- git push origin",
                    "kitty /usr/bin/git push",
                    "doppler run -- forbidden -x=1",
                    "ls --odd forbidden -x=1",
                    "bear -- git push",
                    "watchexec git push",
                ],
            ),
            (
                "allow",
                &[
                    "chamber exec x -- git status",
                    "doppler run -- forbidden -y=1",
                    "kitty push git",
                    "echo git push",
                    "grep git push",
                ],
            ),
        ],
    );
}
