//! The policy of the machine, with a real `/etc/ccm` in mounts of the test's own.

use ccm_testkit::{Called, Scratch, needs_own_mounts};

use crate::ccm;

/// Lays a small `/etc` over that of the machine, with the policy of the test.
const MOUNT: &str = "\
mount -t tmpfs -o mode=755 tmpfs /mnt
for name in passwd group nsswitch.conf ld.so.cache; do [ ! -e /etc/$name ] || cp /etc/$name /mnt/$name; done
mkdir -p /mnt/ccm/policy.d
cp policy.yaml /mnt/ccm/policy.yaml
chmod 755 /mnt/ccm /mnt/ccm/policy.d
chmod 644 /mnt/ccm/policy.yaml
mount --bind /mnt /etc
mount -t tmpfs -o mode=755 tmpfs /var/lib
cd /etc/ccm
";

/// Rules that deny `touch`, with a line for each part.
const NO_TOUCH: &str = "rules:\n  - name: no touch\n    match: {program: touch}\n    deny: true\n    say: write a file resource\n";

/// Machine with a policy.
struct GovernedMachine {
    scratch: Scratch,
    setup: String,
}

impl GovernedMachine {
    /// Returns a machine with a policy of these sections, and prepares it with shell commands in `/etc/ccm`. The manifest
    /// makes a file.
    fn new(sections: &str, setup: &str) -> Self {
        let scratch = Scratch::new();
        scratch.write("policy.yaml", format!("ccm_policy: 1\n{sections}"));
        let machine = Self { scratch, setup: setup.to_owned() };
        machine.with_resources("    - exec:\n        - touch [dir]/made: {onlyif: 'true'}\n")
    }

    fn with_resources(self, resources: &str) -> Self {
        let resources = crate::in_place(&self.scratch, resources);
        self.scratch.write("manifest.yaml", format!("ccm:\n  resources:\n{resources}"));
        self
    }

    /// Replaces the sections of the policy; `[dir]` in them stands for the directory of the test.
    fn set_policy(&self, sections: &str) {
        let text = crate::in_place(&self.scratch, &format!("ccm_policy: 1\n{sections}"));
        self.scratch.write("policy.yaml", text);
    }

    fn run(&self, args: &[&str]) -> Called {
        let script = format!("here=$PWD\n{MOUNT}{}\ncd \"$here\"", self.setup);
        ccm(&self.scratch, args).after_mounting(&script).run()
    }

    /// Checks that a call ends with this code and says this, and makes nothing.
    #[track_caller]
    fn expect(&self, args: &[&str], code: i32, parts: &[&str]) -> Called {
        let called = self.run(args);
        let text = format!("{}{}", called.stdout, called.stderr);
        for part in parts {
            assert!(text.contains(part), "{args:?}: {part:?} is missing\n{}", called.shown());
        }
        assert_eq!(called.code, code, "{args:?}\n{}", called.shown());
        assert!(!self.scratch.has("made"), "{args:?}\n{}", called.shown());
        called
    }

    /// Checks that nothing runs, and that every command says so.
    #[track_caller]
    fn expect_refused_at_load(&self, parts: &[&str]) {
        for args in [&["apply"][..], &["apply", "--noop"], &["validate"]] {
            self.expect(&[args, &["manifest.yaml"]].concat(), 1, parts);
        }
    }
}

#[test]
fn without_a_policy_everything_runs() {
    if !needs_own_mounts() {
        return;
    }
    for setup in ["rm policy.yaml", "rm -r /etc/ccm; mkdir /etc/ccm; cd /etc/ccm"] {
        let machine = GovernedMachine::new(NO_TOUCH, setup);
        let called = machine.run(&["apply", "manifest.yaml"]);
        assert!(called.code == 0 && machine.scratch.has("made"), "{}", called.shown());
    }
}

#[test]
fn commands_of_health_checks_are_judged_before_the_run_and_in_it() {
    if !needs_own_mounts() {
        return;
    }
    let of_check =
        |check: &str| format!("    - exec:\n        - echo x: {{creates: /, health_checks: [{check}]}}\n");
    for check in ["{command: touch [dir]/made}", "{command: touch [dir]/made, provider: shell}"] {
        let machine = GovernedMachine::new(NO_TOUCH, "").with_resources(&of_check(check));
        machine.expect_refused_at_load(&["the policy denies this command", "no touch"]);
    }
    let late = "{command: \"{{ file('/etc/ccm/program') }} [dir]/made\"}";
    let program = "    - file:\n        - /etc/ccm/program: {content: touch}\n";
    let resources = format!("{program}{}", of_check(late));
    let machine = GovernedMachine::new(NO_TOUCH, "").with_resources(&resources);
    machine.expect(&["apply", "manifest.yaml"], 4, &["health check `touch` is unknown", "no touch"]);
}

#[test]
fn files_that_others_may_have_written_are_refused() {
    if !needs_own_mounts() {
        return;
    }
    let fragment = "printf 'ccm_policy: 1\\n' > policy.d/a.yaml; chmod 644 policy.d/a.yaml; ";
    for (setup, expected) in [
        ("chmod 600 policy.yaml", "policy.yaml can't be read by everybody (mode 0600)"),
        ("chmod 666 policy.yaml", "policy.yaml can be written by others (mode 0666)"),
        ("chmod 775 /etc/ccm", "/etc/ccm can be written by others (mode 0775)"),
        ("chown 1 policy.yaml", "policy.yaml belongs to uid 1, not to root"),
        ("chown 1 /etc/ccm", "/etc/ccm belongs to uid 1, not to root"),
        ("mv policy.yaml a; ln -s a policy.yaml", "policy.yaml is a symbolic link"),
        (
            "mkdir /etc/b; mv policy.yaml /etc/b; rm -r /etc/ccm; ln -s b /etc/ccm",
            "/etc/ccm is a symbolic link",
        ),
        ("rm policy.yaml; mkdir policy.yaml", "policy.yaml is not a file"),
        ("rm policy.yaml; mkfifo -m 644 policy.yaml", "policy.yaml is not a file"),
        (
            "head -c 10485760 /dev/zero | tr '\\0' '#' > policy.yaml",
            "policy.yaml is longer than 1048576 bytes",
        ),
        ("printf '\\377' >> policy.yaml", "policy.yaml is not UTF-8 text"),
        (&format!("{fragment}chmod 666 policy.d/a.yaml"), "policy.d/a.yaml can be written by others"),
        (&format!("{fragment}chmod 777 policy.d"), "policy.d can be written by others"),
        ("ln -s ../policy.yaml policy.d/a.yaml", "policy.d/a.yaml is a symbolic link"),
    ] {
        let machine = GovernedMachine::new("", setup);
        machine.expect(&["apply", "manifest.yaml"], 1, &[expected]);
        machine.expect(&["validate", "manifest.yaml"], 1, &[expected]);
        machine.expect(&["policy", "check"], 1, &[expected]);
    }
}

#[test]
fn files_of_policy_d_that_would_not_be_read_are_refused() {
    if !needs_own_mounts() {
        return;
    }
    let fragment = "printf 'ccm_policy: 1\\n' > policy.d/a";
    for (setup, expected) in [
        (
            format!("{fragment}.yml"),
            "/etc/ccm/policy.d/a.yml is not read: the names of policies end in `.yaml`",
        ),
        (
            format!("{fragment}.yaml; rm policy.yaml"),
            "/etc/ccm/policy.d/a.yaml has no effect: there is no policy.yaml",
        ),
    ] {
        let machine = GovernedMachine::new("", &setup);
        machine.expect(&["apply", "manifest.yaml"], 1, &[expected]);
        machine.expect(&["policy", "check"], 1, &[expected]);
    }
}

#[test]
fn errors_in_a_policy_are_shown_with_their_lines() {
    if !needs_own_mounts() {
        return;
    }
    let example = "rules:\n  - match: {program: touch}\n    deny: true\n    examples: {yes: [ls]}\n";
    let contradiction = "rules:\n  - {name: a, match: {program: git, args: [push]}, allow: [publish]}\n  - {name: b, match: {program: git}, deny: true}\n";
    for (sections, parts) in [
        (example, &["/etc/ccm/policy.yaml:5:22", "this example does not match the rule"][..]),
        (contradiction, &["/etc/ccm/policy.yaml:3:12", "this rule allows what another rule always denies"]),
        ("patterns: {deny: ['(\\w{100}){100}']}\n", &["/etc/ccm/policy.yaml:2:19", "too large"]),
        ("rulez: []\n", &["/etc/ccm/policy.yaml:2:1", "did you mean `rules`?"]),
        (&format!("sandbox: {}\n", "[".repeat(2000)), &["/etc/ccm/policy.yaml:2:", "error"]),
    ] {
        let machine = GovernedMachine::new(sections, "");
        machine.expect(&["policy", "check"], 1, parts);
        machine.expect_refused_at_load(parts);
    }
}

#[test]
fn rules_in_each_others_way_are_shown_by_a_check() {
    if !needs_own_mounts() {
        return;
    }
    let sections = "rules:\n  - name: pushes\n    match: {program: git, args: [push, '**']}\n    allow: [publish]\n    examples: {yes: [git push origin main]}\n  - {name: no main, match: {program: git, args: ['**', main]}, deny: true}\n";
    let machine = GovernedMachine::new(sections, "");
    machine.expect(
        &["policy", "check"],
        0,
        &["rule \"no main\" is stricter", "/etc/ccm/policy.yaml is valid"],
    );
}

#[test]
fn expressions_that_could_be_slow_take_no_time() {
    if !needs_own_mounts() {
        return;
    }
    let sections = "patterns: {deny: ['(a+)+$', '(a|aa)+b', '(x+x+)+y']}\n";
    let text = format!("{}!", "ax".repeat(2000));
    let machine = GovernedMachine::new(sections, "")
        .with_resources(&format!("    - exec:\n        - run: {{command: 'true {text}'}}\n"));
    machine.expect(&["apply", "manifest.yaml"], 0, &[]);
}

#[test]
fn further_files_only_add_strictness_unless_they_are_trusted() {
    if !needs_own_mounts() {
        return;
    }
    let allow =
        "printf 'ccm_policy: 1\\nrules: [{match: {program: git}, allow: [publish]}]\\n' > policy.d/a.yaml";
    let machine = GovernedMachine::new("", allow);
    machine.expect_refused_at_load(&["/etc/ccm/policy.d/a.yaml:2:33", "`allow` is not allowed in this file"]);
    let machine = GovernedMachine::new("trusted: [a.yaml]\n", allow);
    machine.expect(&["policy", "check"], 0, &["/etc/ccm/policy.d/a.yaml is valid: 1 rule"]);
    let deny = "printf 'ccm_policy: 1\\nrules: [{match: {program: touch}, deny: true}]\\n' > policy.d/b.yaml";
    let machine = GovernedMachine::new("", deny);
    machine.expect_refused_at_load(&["manifest.yaml:4:11", "/etc/ccm/policy.d/b.yaml:2:10", "rule 1"]);
}

#[test]
fn known_commands_are_refused_before_the_run() {
    if !needs_own_mounts() {
        return;
    }
    let machine = GovernedMachine::new(NO_TOUCH, "");
    let parts =
        ["manifest.yaml:4:11", "/etc/ccm/policy.yaml:3:11", "rule \"no touch\"", "write a file resource"];
    machine.expect_refused_at_load(&parts);
    // Each kind of command, with its location.
    for (resources, location) in [
        ("    - exec:\n        - run: {command: 'true', onlyif: ['true', touch x]}\n", "4:51"),
        ("    - exec:\n        - run: {command: 'true', unless: touch x}\n", "4:42"),
        ("    - exec:\n        - run: {command: 'ls; touch x', provider: shell}\n", "4:26"),
        ("    - exec:\n        - run: {command: touch, args: [x]}\n", "4:26"),
        ("    - exec:\n        - run: {command: 'touch x', sandbox: {}}\n", "4:26"),
        ("    - file:\n        - /srv/x: {content: a, validate: 'touch %s'}\n", "4:42"),
        (
            "    - line:\n        - /srv/x: {path: /srv/x, line: a, validate: ['true %s', 'touch %s']}\n",
            "4:65",
        ),
        ("    - scaffold:\n        - /srv/x: {source: t, post: [{'*': touch}]}\n", "4:44"),
    ] {
        let machine = GovernedMachine::new(NO_TOUCH, "mkdir -p \"$here/t\"").with_resources(resources);
        let location = format!("manifest.yaml:{location}");
        machine.expect_refused_at_load(&[&location, "/etc/ccm/policy.yaml:3:11"]);
    }
    // What is not managed is not refused.
    let off = GovernedMachine::new(NO_TOUCH, "")
        .with_resources("    - exec:\n        - touch x: {control: {if: 'false'}}\n");
    off.expect(&["apply", "manifest.yaml"], 0, &[]);
}

#[test]
fn commands_of_executors_are_refused_before_the_run() {
    if !needs_own_mounts() {
        return;
    }
    for (executor, command) in [
        ("{kind: native, default_work_dir: /srv}", "touch x"),
        ("{kind: docker, image: debian}", "sh -c 'touch x'"),
    ] {
        let machine = GovernedMachine::new(NO_TOUCH, "");
        let manifest = format!(
            "ccm:\n  executors: {{inside: {executor}}}\n  resources:\n    - exec:\n        - run: {{command: \"{command}\", executor: inside}}\n"
        );
        machine.scratch.write("manifest.yaml", manifest);
        machine.expect_refused_at_load(&["manifest.yaml:5:26", "/etc/ccm/policy.yaml:3:11"]);
    }
}

#[test]
fn late_commands_are_refused_in_their_turn() {
    if !needs_own_mounts() {
        return;
    }
    // Whether the condition holds is known only in the run.
    let when =
        "rules: [{name: late, match: {program: touch}, when: \"caller.kind == 'apply'\", deny: true}]\n";
    let machine = GovernedMachine::new(when, "");
    machine.expect(&["validate", "manifest.yaml"], 0, &[]);
    let called = machine.expect(
        &["apply", "manifest.yaml", "--output", "json"],
        4,
        &["\"denied\"", "rule \\\"late\\\""],
    );
    assert!(
        called.stdout.contains("\"changed\":false") || called.stdout.contains("\"changed\": false"),
        "{}",
        called.shown()
    );
    machine.expect(&["apply", "--noop", "manifest.yaml"], 4, &["rule \"late\""]);
    // So is a command with a value of another one. It is no command of the whitelist before.
    let machine = GovernedMachine::new("whitelist: ['printf ls', 'ls x']\n", "").with_resources(
        "    - exec:\n        - first: {command: printf ls, capture: {program: stdout.raw}}\n        - second: {command: '${ Captures.first.program } y'}\n",
    );
    machine.expect(&["validate", "manifest.yaml"], 0, &[]);
    machine.expect(&["apply", "manifest.yaml"], 4, &["the whitelist does not have it"]);
    let ask = GovernedMachine::new("rules: [{match: {program: touch}, ask: true}]\n", "");
    ask.expect(&["validate", "manifest.yaml"], 0, &[]);
    ask.expect(&["apply", "manifest.yaml", "--output", "json"], 4, &["\"approval_required\""]);
}

#[test]
fn an_audit_reports_and_refuses_nothing() {
    if !needs_own_mounts() {
        return;
    }
    let sections = format!("callers: {{apply: {{guard: audit}}}}\n{NO_TOUCH}");
    let machine = GovernedMachine::new(&sections, "");
    machine.expect(&["validate", "manifest.yaml"], 0, &[]);
    machine.expect(&["apply", "--noop", "manifest.yaml"], 0, &[]);
    let called = machine.run(&["apply", "manifest.yaml"]);
    assert!(called.code == 0 && machine.scratch.has("made"), "{}", called.shown());
    let warning = "would be denied if `guard` were not `audit`";
    assert!(called.stderr.contains(warning) && called.stderr.contains("no touch"), "{}", called.shown());
}

#[test]
fn users_have_policies_of_their_own_that_can_only_be_stricter() {
    if !needs_own_mounts() {
        return;
    }
    let own = |sections: &str, as_user: bool| {
        let machine = GovernedMachine::new(
            "guard: {publish: deny}\nrules: [{name: a, match: {program: git}, allow: [remote]}]\n",
            "",
        );
        machine.scratch.write("config/ccm/policy.yaml", format!("ccm_policy: 1\n{sections}"));
        let user =
            "chmod -R a+rX .\nexec setpriv --reuid=65534 --regid=65534 --clear-groups /etc/ccm-binary \"$@\"";
        let script = format!(
            "here=$PWD\n{MOUNT}cp \"$0\" /etc/ccm-binary\nchmod 755 /etc/ccm-binary\ncd \"$here\"\n{}",
            if as_user { user } else { "" }
        );
        let config = machine.scratch.at("config");
        let call = |args: &[&str]| {
            ccm(&machine.scratch, args).variable("XDG_CONFIG_HOME", &config).after_mounting(&script).run()
        };
        call(&["validate", "manifest.yaml"])
    };
    let denied = own(NO_TOUCH, true);
    assert_eq!(denied.code, 1, "{}", denied.shown());
    assert!(denied.stderr.contains("config/ccm/policy.yaml:3:11"), "{}", denied.shown());
    // Root is not governed by the file of another user.
    assert_eq!(own(NO_TOUCH, false).code, 0);
    // The rule of the system keeps its name and its meaning.
    let stricter =
        own("guard: {publish: deny}\nrules: [{name: a, match: {program: git}, deny: true}]\n", true);
    assert_eq!(stricter.code, 0, "{}", stricter.shown());
    for (sections, line) in [
        ("rules: [{match: {program: git}, allow: [publish]}]\n", "2:33"),
        ("rules: [{match: {program: git}, ask: {grant: {uses: 2, for: 1h}}}]\n", "2:39"),
        ("callers: {apply: {guard: off}}\n", "2:1"),
        ("guard: {publish: ask}\n", "2:18"),
        ("patterns: {allow: ['^git']}\n", "2:12"),
        ("trusted: [a.yaml]\n", "2:1"),
    ] {
        let called = own(sections, true);
        let location = format!("config/ccm/policy.yaml:{line}");
        assert!(called.code == 1 && called.stderr.contains(&location), "{sections}{}", called.shown());
    }
}

/// Links in a directory: to a guarded directory and file, dangling, to the root, through another link, and in a loop.
const LINKS: &str = "\
mkdir -p \"$here/guarded/below\" \"$here/open\"
touch \"$here/guarded/file\"
cd \"$here/open\"
ln -s ../guarded relative
ln -s \"$here/guarded/file\" file
ln -s \"$here/guarded/new\" dangling
ln -s / root
ln -s relative/below chain
ln -s loop loop
";

#[test]
fn commands_of_a_manifest_have_no_workspace_of_their_own() {
    if !needs_own_mounts() {
        return;
    }
    for (policy, cwd, is_refused) in [
        ("", "/", true),
        ("", "[dir]", true),
        ("guard: {delete_outside: deny}\n", "/", true),
        ("workspace: {path: '[dir]'}\n", "/", false),
        ("workspace: {path: '[dir]/other'}\n", "[dir]", true),
    ] {
        for command in ["rm -rf [dir]/victim", "find [dir]/victim -delete", "cd [dir] && rm -rf victim"] {
            let provider = if command.contains("&&") { ", provider: shell" } else { "" };
            let resources = format!("    - exec:\n        - '{command}': {{cwd: '{cwd}'{provider}}}\n");
            let machine = GovernedMachine::new("", "mkdir -p \"$here/victim\" \"$here/other\"\n")
                .with_resources(&resources);
            machine.set_policy(policy);
            let called = machine.run(&["apply", "manifest.yaml"]);
            assert_eq!(called.code != 0, is_refused, "{policy} {command}\n{}", called.shown());
            assert_eq!(machine.scratch.has("victim"), is_refused, "{policy} {command}");
            // The explanation says the same, wherever it is asked for.
            let text = command.replace("[dir]", &machine.scratch.path().to_string_lossy());
            let explained =
                machine.run(&["policy", "explain", "--caller", "apply", "--shell", &text, "--cwd", "/"]);
            assert_eq!(explained.code != 0, is_refused, "{policy} {command}\n{}", explained.shown());
        }
    }
}

#[test]
fn rules_about_paths_look_through_links() {
    if !needs_own_mounts() {
        return;
    }
    for (action, code) in [("deny: true", 1), ("ask: true", 4)] {
        let rule = format!("rules: [{{name: guarded, match: {{path: '[dir]/guarded/**'}}, {action}}}]\n");
        for (command, is_refused) in [
            ("touch [dir]/open/made", false),
            ("touch [dir]/guarded/made", true),
            ("touch [dir]/open/relative/made", true),
            ("touch [dir]/open/file", true),
            ("touch [dir]/open/dangling", true),
            ("touch [dir]/open/root[dir]/guarded/made", true),
            ("touch [dir]/open/chain/made", true),
            // The directory above what the link leads to.
            ("touch [dir]/open/chain/../made", true),
            ("rm -f [dir]/open/relative/file", true),
            ("cat [dir]/open/file", true),
            // Nobody knows where a loop leads.
            ("cat [dir]/open/loop", true),
            // The link alone is deleted.
            ("rm [dir]/open/file", false),
            ("ls -d [dir]/open", false),
        ] {
            let resources = format!("    - exec:\n        - '{command}': {{cwd: /}}\n");
            let machine = GovernedMachine::new("", LINKS).with_resources(&resources);
            machine.set_policy(&rule);
            let called = machine.run(&["apply", "manifest.yaml"]);
            let expected = if is_refused { code } else { 0 };
            assert_eq!(called.code, expected, "{action} {command}\n{}", called.shown());
            let is_named = called.stderr.contains("guarded") || called.stdout.contains("rule \"guarded\"");
            assert!(is_named || !is_refused, "{}", called.shown());
            assert!(!machine.scratch.has("guarded/made") && !machine.scratch.has("guarded/new"), "{command}");
            assert!(machine.scratch.has("guarded/file"), "{command}");
        }
    }
}

#[test]
fn changes_of_resources_are_judged_by_what_links_lead_to() {
    if !needs_own_mounts() {
        return;
    }
    for (resource, is_refused) in [
        ("file:\n        - [dir]/open/made: {content: a}", false),
        ("file:\n        - [dir]/open/relative/made: {content: a}", true),
        ("file:\n        - [dir]/open/root[dir]/guarded/made: {content: a}", true),
        ("file:\n        - [dir]/open/chain/made: {ensure: directory}", true),
        ("file:\n        - [dir]/open/dangling: {content: a}", true),
        ("file:\n        - [dir]/open/relative/file: {ensure: absent}", true),
        // The link alone is removed.
        ("file:\n        - [dir]/open/file: {ensure: absent}", false),
        ("line:\n        - x: {path: [dir]/open/relative/file, line: made}", true),
    ] {
        for args in [&["apply", "--noop", "manifest.yaml"][..], &["apply", "manifest.yaml"]] {
            let machine = GovernedMachine::new("", LINKS).with_resources(&format!("    - {resource}\n"));
            machine.set_policy("rules: [{name: guarded, match: {path: '[dir]/guarded/**'}, deny: true}]\n");
            let called = machine.run(args);
            let expected = if is_refused { 4 } else { 0 };
            assert_eq!(called.code, expected, "{args:?} {resource}\n{}", called.shown());
            assert!(
                !machine.scratch.has("guarded/made") && machine.scratch.has("guarded/file"),
                "{resource}"
            );
            assert_eq!(machine.scratch.read("guarded/file").as_deref(), Some(""), "{resource}");
        }
    }
}

#[test]
fn a_link_does_not_widen_what_a_rule_allows() {
    if !needs_own_mounts() {
        return;
    }
    let rules = "guard: {write_outside: deny, write_system: deny}\nrules: [{match: {effect: write, path: '[dir]/open/**'}, allow: [write_outside, write_system]}]\n";
    for (command, is_allowed) in [
        ("touch [dir]/open/made", true),
        ("touch [dir]/open/relative/made", false),
        ("touch [dir]/open/dangling", false),
        ("touch [dir]/open/root[dir]/open/fine", true),
        ("touch [dir]/open/loop", false),
        // A way into the directory that is not written as the rule is.
        ("touch [dir]/way/made", false),
    ] {
        let resources = format!("    - exec:\n        - '{command}': {{cwd: /usr}}\n");
        let setup = format!("{LINKS}ln -s open ../way\n");
        let machine = GovernedMachine::new("", &setup).with_resources(&resources);
        machine.set_policy(rules);
        let called = machine.run(&["apply", "manifest.yaml"]);
        assert_eq!(called.code, i32::from(!is_allowed), "{command}\n{}", called.shown());
    }
}

#[test]
fn what_a_resource_fills_is_judged_with_everything_below() {
    if !needs_own_mounts() {
        return;
    }
    let policy = "rules:\n  - name: certificates\n    match: {effect: write, path: '[dir]/etc/letsencrypt/**'}\n    deny: true\n";
    for (resource, is_denied) in [
        ("file: [{'[dir]/etc/letsencrypt/x': {content: y}}]", true),
        ("file: [{'[dir]/etc': {ensure: directory, source: tree}}]", true),
        ("file: [{'[dir]/etc': {ensure: directory, purge: true, force: true}}]", true),
        ("file: [{'[dir]/etc': {ensure: directory, recurse: true, mode: '0750'}}]", true),
        ("scaffold: [{'[dir]/etc': {source: tree}}]", true),
        ("file: [{'[dir]/etc': {ensure: directory, mode: '0750'}}]", false),
        ("file: [{'[dir]/etc/other': {ensure: directory, source: tree}}]", false),
    ] {
        let machine = GovernedMachine::new("", "").with_resources(&format!("    - {resource}\n"));
        machine.set_policy(policy);
        machine.scratch.write("etc/letsencrypt/live", "kept");
        machine.scratch.write("tree/letsencrypt/live", "evil");
        let called = machine.run(&["apply", "manifest.yaml"]);
        assert_eq!(called.stdout.contains("certificates"), is_denied, "{resource}: {}", called.shown());
        assert_eq!(machine.scratch.read("etc/letsencrypt/live").as_deref(), Some("kept"), "{resource}");
    }
}
