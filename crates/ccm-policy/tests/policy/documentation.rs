//! Examples of the documentation: policies, and what the pages say about commands.

use ccm_policy::{Caller, Policy};

use crate::rules_on_commands::{check, policy_of};

const GUARD: &str = include_str!("../../../../docs/reference/guard.md");
const POLICY: &str = concat!(
    include_str!("../../../../docs/use/policy.md"),
    include_str!("../../../../docs/reference/policy.md"),
    include_str!("../../../../docs/reference/policy-settings.md"),
);

/// Returns the policies of a page, in order.
fn policies(page: &str) -> Vec<Policy> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once("```yaml\n") {
        let (block, behind) = behind.split_once("```").expect("a block ends");
        let indent = block.len() - block.trim_start().len();
        let lines: Vec<&str> = block.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
        if lines.first() == Some(&"ccm_policy: 1") {
            found.push(policy_of(&lines.join("\n")));
        }
        rest = behind;
    }
    found
}

/// Checks that a page has each command in code, and that each has the verdict.
fn check_page(page: &str, policy: &Policy, caller: Caller, rows: &[(&str, &[&str])]) {
    let page: String = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for command in rows.iter().flat_map(|(_, commands)| *commands) {
        assert!(page.contains(&format!("`{command}`")), "{command} is not in the page");
    }
    check(policy, caller, rows);
}

#[test]
fn policies_mean_what_the_page_says() {
    let policies = policies(POLICY);
    let [production, audit, publish, features, restarts, patterns, downloads] = &*policies else {
        panic!("{} policies", policies.len());
    };
    check(
        production,
        Caller::Apply,
        &[
            ("deny", &["kubectl --context prod-eu get pods", "kubectl get pods --context=prod-eu"]),
            ("ask", &["cp x /etc/nginx/y", "echo x > /etc/nginx/nginx.conf", "tar -C /etc/nginx -xf x.tar"]),
            ("allow", &["kubectl --context staging get pods", "cat /etc/nginx/nginx.conf"]),
        ],
    );
    check(audit, Caller::Apply, &[("deny", &["cat /etc/shadow"]), ("allow", &["ls"])]);
    assert!(audit.guard_mode(Caller::Apply) == ccm_policy::GuardMode::Audit);
    check(
        publish,
        Caller::Apply,
        &[("deny", &["git push", "npm publish"]), ("ask", &["apt-get install x"]), ("allow", &["git pull"])],
    );
    check(
        features,
        Caller::Tool,
        &[
            ("allow", &["git push origin feature-x", "git push origin feature-x:feature-y"]),
            (
                "ask",
                &[
                    "git push origin main",
                    "git push --force origin feature-x",
                    "git push origin feature-x:main",
                    "git push origin +feature-x",
                    "git push origin :feature-x",
                    "git push origin feature-x > /srv/x",
                    "HOME=./h git push origin feature-x",
                ],
            ),
        ],
    );
    check(
        restarts,
        Caller::Apply,
        &[
            ("ask", &["systemctl restart nginx", "systemctl stop app.service"]),
            ("allow", &["systemctl restart x"]),
        ],
    );
    check(
        patterns,
        Caller::Tool,
        &[
            ("deny", &["mycriticalcmd", "x MyCriticalCmd", "npm install --save x > /etc/x"]),
            ("allow", &["npm install --save x"]),
            ("ask", &["npm install x", "LD_PRELOAD=./x npm install --save x"]),
        ],
    );
    check(downloads, Caller::Tool, &[("allow", &["pip install x"]), ("ask", &["npm install x"])]);
}

#[test]
fn commands_have_the_verdict_that_the_pages_say() {
    let standard = policy_of("ccm_policy: 1\n");
    check_page(
        GUARD,
        &standard,
        Caller::Tool,
        &[
            (
                "deny",
                &[
                    "r''m -r /srv",
                    "env rm -r /srv",
                    "sh -c 'rm -r /srv'",
                    "tar c /var/lib/ccm",
                    "awk 'BEGIN{system(\"rm -r /srv\")}'",
                    "sed 'w /etc/passwd'",
                    "git -c alias.x='!rm -r /srv' x",
                ],
            ),
            ("allow", &["echo 'rm -r /srv'", "cat \"$file\"", "sh build.sh", "make", "apt-mark showhold"]),
            (
                "ask",
                &[
                    "./wrapper git push",
                    "ls --odd",
                    "git odd",
                    "cargo +./x build",
                    "iptables -L -Z",
                    "cargo build --manifest-path /srv/x/Cargo.toml",
                    "cd /srv && make",
                    "pytest /srv/t.py",
                    "tar c /etc",
                    "cp -r ~ x",
                    "grep -r x /",
                    "find / -name id_rsa | xargs cat",
                ],
            ),
        ],
    );
    let forbidden = policy_of("ccm_policy: 1\nrules: [{match: {program: forbidden}, deny: final}]\n");
    check_page(
        GUARD,
        &forbidden,
        Caller::Apply,
        &[("deny", &["tar --checkpoint-action=exec=forbidden", "find . -exec forbidden {} +"])],
    );
    let private = policy_of(
        "ccm_policy: 1\nrules: [{match: {effect: read, path: \"/srv/private/**\"}, deny: final}]\n",
    );
    check_page(
        POLICY,
        &private,
        Caller::Apply,
        &[(
            "deny",
            &[
                "cp -r /srv x",
                "tar cf x /srv",
                "grep -r x /srv",
                "rsync -a /srv/ x",
                "find /srv -exec cat {} +",
            ],
        )],
    );
    let build = policy_of("ccm_policy: 1\npatterns: {allow: ['^rm -rf build/x$']}\n");
    check_page(
        POLICY,
        &build,
        Caller::Apply,
        &[("ask", &["cd /; rm -rf build/x", "env -C / rm -rf build/x"])],
    );
    let whitelist = policy_of("ccm_policy: 1\nwhitelist: [git status, npm run build]\n");
    check_page(POLICY, &whitelist, Caller::Tool, &[("deny", &["git status > x"])]);
}
