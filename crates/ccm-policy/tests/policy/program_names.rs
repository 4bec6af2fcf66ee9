//! Programs under another name: through links, and as copies.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{AnalysisLimits, Caller, LookupPathKind, PolicyRequest, analyse};
use ccm_shell::ShellDialect;

use crate::rules_on_commands::{check_on, policy_of};

/// Machine with links to programs in the workspace.
fn machine() -> PolicyMachine {
    let mut machine = PolicyMachine::debian();
    for program in ["dd", "find", "cp", "busybox", "vim.basic", "touch", "rustup", "gcc-13"] {
        machine = machine.with(&format!("/usr/bin/{program}"), LookupPathKind::File);
    }
    for (link, program) in [
        ("/w/lrm", "/usr/bin/rm"),
        ("/w/ls", "/usr/bin/rm"),
        ("/w/lg", "/usr/bin/git"),
        ("/w/lsh", "/usr/bin/sh"),
        ("/w/lcp", "/usr/bin/cp"),
        ("/w/lf", "/usr/bin/find"),
        ("/w/ldd", "/usr/bin/dd"),
        ("/w/lsys", "/usr/bin/systemctl"),
        ("/w/twice", "lrm"),
        ("/w/rm", "/usr/bin/busybox"),
        ("/w/bb", "/usr/bin/busybox"),
        ("/w/cargo", "/usr/bin/rustup"),
        ("/w/python", "/usr/bin/python3"),
        ("/usr/bin/vi", "/usr/bin/vim.basic"),
        ("/usr/bin/zap", "/usr/bin/rm"),
        ("/usr/bin/cc", "/usr/bin/gcc-13"),
        ("/usr/bin/reboot", "/usr/bin/systemctl"),
    ] {
        machine = machine.with_link(link, program);
    }
    machine.with("/w/prog", LookupPathKind::File)
}

#[test]
fn a_link_of_another_name_is_judged_as_what_it_leads_to() {
    let guard = policy_of("ccm_policy: 1\n");
    check_on(
        &machine(),
        &guard,
        Caller::Tool,
        &[
            (
                "deny",
                &[
                    "./lrm -rf /srv",
                    "./lsh -c 'rm -rf /srv'",
                    "./lf / -delete",
                    "./lcp x /etc/motd",
                    "./ldd if=x of=/dev/sda",
                    "./ls -rf /srv",
                    "./twice -rf /srv",
                    "env ./lrm -rf /srv",
                    "zap -rf /srv",
                    "./rm -rf /srv",
                    "./bb rm -rf /srv",
                    "reboot",
                ],
            ),
            (
                "ask",
                &[
                    "./lrm -rf build",
                    "./lg push origin main",
                    "./lsys restart x",
                    "find . -exec ./lrm -f {} +",
                ],
            ),
            (
                "allow",
                &[
                    "./lg status",
                    "./lsys status x",
                    "vi --version",
                    "ls -la",
                    "./cargo build",
                    "./python x.py",
                    "cc -c x.c",
                ],
            ),
        ],
    );
    check_on(
        &machine(),
        &guard,
        Caller::Apply,
        &[("ask", &["./lrm -rf /srv", "/w/lrm -rf /srv", "/w/twice -rf /srv"])],
    );
}

#[test]
fn a_copy_made_by_the_same_text_is_not_known() {
    let copies: &[&str] = &[
        "cp /bin/rm zz; ./zz x",
        "cp /usr/bin/rm zz; ./zz x",
        "ln -s /usr/bin/rm zz && ./zz x",
        "install -m 755 /usr/bin/rm zz; ./zz x",
        "cat /usr/bin/rm > zz; chmod +x zz; ./zz x",
        "dd if=/usr/bin/rm of=zz; ./zz x",
        "cp \"$x\" zz; ./zz x",
        "mv /usr/bin/rm zz; ./zz x",
        "cd d; cp /usr/bin/rm zz; ./zz x",
        "cp /usr/bin/rm /w/zz; sh -c './zz x'",
    ];
    let machine = machine().with("/bin/rm", LookupPathKind::File);
    let rule = policy_of("ccm_policy: 1\nrules: [{match: {program: rm}, deny: final}]\n");
    check_on(&machine, &rule, Caller::Apply, &[("deny", copies)]);
    let guard = policy_of("ccm_policy: 1\n");
    check_on(
        &machine,
        &guard,
        Caller::Tool,
        &[
            ("ask", &["cp /usr/bin/rm zz; ./zz x", "ln -s /usr/bin/rm zz; ./zz x", "cp \"$x\" zz; ./zz x"]),
            ("allow", &["gcc -o prog x.c && ./prog", "cp prog other && ./other", "make && ./prog"]),
        ],
    );
}

#[test]
fn what_npm_has_installed_in_the_workspace_is_no_download() {
    let machine = ["tsc", "eslint", "mytool"].iter().fold(PolicyMachine::debian(), |machine, name| {
        machine.with(&format!("/w/node_modules/.bin/{name}"), LookupPathKind::File)
    });
    let rows: [(&str, &[&str]); 3] = [
        (
            "allow",
            &[
                "npx tsc --noEmit",
                "npx --no-install eslint src",
                "cd packages/a && npx tsc",
                "npx mytool",
                "bun x tsc",
                "bunx tsc",
            ],
        ),
        (
            "ask",
            &[
                "npx jest",
                "npx tsc@5",
                "npx -p typescript tsc",
                "npx \"$x\"",
                "npx eslint --odd src",
                "cd /srv && npx tsc",
                "pnpx tsc",
                "npx mytool git push",
            ],
        ),
        ("deny", &["npx tsc --outdir /etc/x", "npx -c 'rm -rf /srv'", "npx mytool; rm -rf /srv"]),
    ];
    check_on(&machine, &policy_of("ccm_policy: 1\n"), Caller::Tool, &rows);
}

#[test]
fn programs_start_others_by_themselves() {
    let helpers = |text: &str| {
        let request = PolicyRequest::text(text, ShellDialect::Sh, "/w");
        let machine = PolicyMachine::debian();
        analyse(&request, &machine, &AnalysisLimits::default()).helper_programs()
    };
    for (text, expected) in [
        ("tar czf o.tgz m.c", "gzip"),
        ("ls | xargs -n1 tar tf", "xz"),
        ("dpkg -l", "dpkg-query"),
        ("git status", "/usr/lib/git-core/git"),
        ("zgrep x f.gz", "grep"),
        ("watch ls", "sh"),
    ] {
        assert!(helpers(text).is_some_and(|found| found.contains(&expected)), "{text}: {:?}", helpers(text));
    }
    for text in ["ls", "cat f | sort", "rm f", "curl x.example"] {
        assert_eq!(helpers(text), Some(Vec::new()), "{text}");
    }
    for text in [
        "make",
        "timeout 5 make test",
        "gcc -c m.c",
        "g++-13 m.cc",
        "cargo test",
        "git commit -m x",
        "npm test",
        "ldd m",
        "chmod +x run.sh && ./run.sh",
    ] {
        assert_eq!(helpers(text), None, "{text}");
    }
}
