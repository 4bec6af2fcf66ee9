//! Parts of an analysis: commands, effects, options, and the limits.

use ccm_policy::testing::PolicyMachine;
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, EffectKind, GuardClass, LookupPathKind, PolicyRequest, PolicyVerdict,
    RequestInput, Workspace, analyse,
};
use ccm_shell::ShellDialect;

fn request(command: &str) -> PolicyRequest {
    let mut request = PolicyRequest::text(command, ShellDialect::Sh, "/w");
    request.environment =
        vec![("HOME".to_owned(), "/home/agent".to_owned()), ("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: false });
    request
}

fn analysed(command: &str) -> Analysis {
    analyse(&request(command), &PolicyMachine::debian(), &AnalysisLimits::default())
}

/// Returns the effects of all commands but starting them.
fn effects(command: &str) -> Vec<String> {
    let analysis = analysed(command);
    let effects = analysis.commands.iter().flat_map(|command| &command.effects);
    effects.map(ToString::to_string).filter(|effect| !effect.starts_with("run: ")).collect()
}

#[test]
fn effects_have_their_objects() {
    for (command, expected) in [
        ("cp a sub/../b", &["read: /w/a", "write: /w/b"][..]),
        ("cd sub && cat x > ../y", &["read: /w/sub/x", "write: /w/y"]),
        ("rm -rf build", &["delete: recursive forced /w/build"]),
        ("rm \"$X\"", &["delete"]),
        ("cat src/*.c", &["read: /w/src…"]),
        ("echo x >> ~/log", &["write: /home/agent/log"]),
        ("systemctl restart nginx.service app", &["service: restart nginx", "service: restart app"]),
        ("apt-get -y install nginx", &["package: install nginx"]),
        ("git -C sub push origin main", &["read: /w/sub", "publish: push origin", "publish: push main"]),
        ("kill -9 42", &["signal: 42"]),
        ("curl -s https://x.example/a", &["network: x.example", "network"]),
        ("python3 -c x", &["code: inline python3"]),
        ("sh x.sh", &["code: file /w/x.sh", "read: /w/x.sh"]),
        ("tar -C out -xf a.tgz", &["write: /w/out", "read: /w/a.tgz", "write: recursive /w/out"]),
        ("env -C sub cat f", &["read: /w/sub", "read: /w/sub/f"]),
        ("find src -name x -exec cat {} +", &["read: /w/src", "read: /w/src…"]),
        ("sort -uo out in", &["write: /w/out", "read: /w/in"]),
        ("rm -r 'x y'", &["delete: recursive /w/x y"]),
    ] {
        assert_eq!(effects(command), expected, "{command}");
    }
}

#[test]
fn commands_within_commands_have_a_parent() {
    let analysis = analysed("env FOO=1 timeout 5 sh -c 'cat x | wc -l'; ls");
    let commands: Vec<(String, Option<usize>)> =
        analysis.commands.iter().map(|command| (command.shown(), command.parent)).collect();
    assert_eq!(
        commands,
        [
            ("env FOO=1 timeout 5 sh -c cat x | wc -l".to_owned(), None),
            ("timeout 5 sh -c cat x | wc -l".to_owned(), Some(0)),
            ("sh -c cat x | wc -l".to_owned(), Some(1)),
            ("cat x".to_owned(), Some(2)),
            ("wc -l".to_owned(), Some(2)),
            ("ls".to_owned(), None),
        ]
    );
    let ls = analysis.commands.last().unwrap();
    assert_eq!(ls.base_name(), Some("ls"));
    assert!(ls.program.as_ref().unwrap().location.as_ref().unwrap().is_trusted);
}

#[test]
fn options_and_operands_are_told_apart() {
    let analysis = analysed("git -C sub push --force -o x origin \"feature-$X\"");
    let command = &analysis.commands[0];
    let options: Vec<String> = command
        .options
        .iter()
        .map(|option| {
            let value = option.value.as_ref().map(|value| format!("={}", value.shown)).unwrap_or_default();
            format!("{}{value} {}", option.name, option.other_names.join(" ")).trim_end().to_owned()
        })
        .collect();
    assert_eq!(options, ["-C=sub", "--force -f", "-o=x --push-option"]);
    let operands: Vec<(&str, bool)> =
        command.operands.iter().map(|operand| (&*operand.shown, operand.is_known)).collect();
    assert_eq!(operands, [("push", true), ("origin", true), ("feature-$X", false)]);
}

#[test]
fn words_without_a_shell_are_judged_as_they_are() {
    let machine = PolicyMachine::debian();
    let verdict = |words: &[&str]| {
        let mut request = PolicyRequest::words(words.iter().copied(), "/w");
        request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted: false });
        analyse(&request, &machine, &AnalysisLimits::default()).default_verdict(Caller::Tool)
    };
    assert_eq!(verdict(&["echo", "$(rm -rf /srv)", ";", "reboot"]), PolicyVerdict::Allow);
    assert_eq!(verdict(&["rm", "-rf", "/srv"]), PolicyVerdict::Deny);
    assert_eq!(verdict(&["rm", "-rf", "build"]), PolicyVerdict::Ask);
    assert_eq!(verdict(&["sh", "-c", "rm -rf /srv"]), PolicyVerdict::Deny);
    assert_eq!(verdict(&["rm", "-rf", "~"]), PolicyVerdict::Ask);
    let request = PolicyRequest::words(["ls", "a\u{202e}b"], "/w");
    let hidden = analyse(&request, &machine, &AnalysisLimits::default()).unreadable.unwrap();
    assert_eq!(hidden.class, GuardClass::Hidden);
    assert_eq!(&request.shown_text()[hidden.span.range()], "\u{202e}");
}

#[test]
fn added_variables_and_input_are_judged() {
    let machine = PolicyMachine::debian();
    let mut request = PolicyRequest::words(["sh"], "/w");
    let verdict = |request: &PolicyRequest| {
        analyse(request, &machine, &AnalysisLimits::default()).default_verdict(Caller::Tool)
    };
    assert_eq!(verdict(&request), PolicyVerdict::Allow);
    request.input = RequestInput::Text("ls; rm -rf /srv".to_owned());
    assert_eq!(verdict(&request), PolicyVerdict::Deny);
    request.input = RequestInput::Text("ls".to_owned());
    assert_eq!(verdict(&request), PolicyVerdict::Allow);
    request.input = RequestInput::Unknown;
    assert_eq!(verdict(&request), PolicyVerdict::Deny);
    request = PolicyRequest::words(["ls"], "/w");
    request.added_variables = vec![("LD_PRELOAD".to_owned(), "./x.so".to_owned())];
    assert_eq!(verdict(&request), PolicyVerdict::Ask);
    request.added_variables = vec![("FOO".to_owned(), "1".to_owned())];
    assert_eq!(verdict(&request), PolicyVerdict::Allow);
}

#[test]
fn links_are_followed_where_something_is_written() {
    let machine = PolicyMachine::debian()
        .with_link("/w/out", "/etc")
        .with_link("/w/disk", "/dev/sda")
        .with("/w/src", LookupPathKind::Directory);
    let verdict = |command: &str, is_restricted| {
        let mut request = request(command);
        request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted });
        analyse(&request, &machine, &AnalysisLimits::default()).default_verdict(Caller::Tool)
    };
    assert_eq!(verdict("echo x > out/passwd", false), PolicyVerdict::Deny);
    assert_eq!(verdict("rm -rf out/passwd", false), PolicyVerdict::Deny);
    assert_eq!(verdict("echo x > disk", false), PolicyVerdict::Deny);
    assert_eq!(verdict("cat disk", false), PolicyVerdict::Deny);
    assert_eq!(verdict("cat out/passwd", true), PolicyVerdict::Allow);
    assert_eq!(verdict("echo x > src/f", true), PolicyVerdict::Allow);
    // The link alone is deleted, and not what it leads to.
    assert_eq!(verdict("rm out", true), PolicyVerdict::Allow);
    assert_eq!(verdict("rm disk", true), PolicyVerdict::Allow);
    assert_eq!(verdict("rm out/passwd", false), PolicyVerdict::Deny);
}

#[test]
fn effects_name_what_links_lead_to() {
    let machine = PolicyMachine::debian()
        .with_link("/w/out", "/etc/app")
        .with_link("/w/file", "out/main")
        .with_link("/w/root", "/")
        .with_link("/w/loop", "loop");
    for (command, expected) in [
        ("cat out/x", "read: /w/out/x (a link to /etc/app/x)"),
        ("cat src/x", "read: /w/src/x"),
        ("cat out/../shadow", "read: /w/shadow (a link to /etc/shadow)"),
        ("cat src/../x", "read: /w/x"),
        ("cd out && cat ../shadow", "read: /w/shadow (a link to /etc/shadow)"),
        ("cat root", "read: /w/root (a link to /)"),
        ("cat root/etc/shadow", "read: /w/root/etc/shadow (a link to /etc/shadow)"),
        ("echo > out/new", "write: /w/out/new (a link to /etc/app/new)"),
        ("echo > file", "write: /w/file (a link to /etc/app/main)"),
        ("rm file", "delete: /w/file"),
        ("rm out/main", "delete: /w/out/main (a link to /etc/app/main)"),
        ("rm -r out", "delete: recursive /w/out (a link to /etc/app)"),
        ("rm out/*", "delete: /w/out… (a link to /etc/app)"),
        ("cat loop", "read: /w/loop (a link to what is not known)"),
        ("cat /proc/self/cwd/x", "read: /proc/self/cwd/x (a link to what is not known)"),
        ("env -C out/.. cat shadow", "read: /etc/shadow"),
        ("git -C out status", "read: /w/out (a link to /etc/app)"),
        ("echo > /dev/stderr", "write: /dev/stderr"),
    ] {
        let analysis = analyse(&request(command), &machine, &AnalysisLimits::default());
        let effects = analysis.commands.iter().flat_map(|command| &command.effects);
        let effects: Vec<String> = effects.map(ToString::to_string).collect();
        assert!(effects.iter().any(|effect| effect == expected), "{command}: {effects:?}");
    }
}

#[test]
fn what_is_written_into_a_directory_is_named() {
    let machine = PolicyMachine::debian()
        .with("/w/file", LookupPathKind::File)
        .with("/w/tree", LookupPathKind::Directory)
        .with_link("/w/out", "/etc");
    let written = |command: &str| {
        let analysis = analyse(&request(command), &machine, &AnalysisLimits::default());
        let effects = analysis.commands.iter().flat_map(|command| &command.effects);
        let effects = effects.filter(|effect| effect.kind == EffectKind::Write).map(ToString::to_string);
        effects.map(|effect| effect.replacen("write: ", "", 1)).collect::<Vec<_>>().join(", ")
    };
    for (command, expected) in [
        ("cp file /etc", "/etc, /etc/file"),
        ("cp x/file new", "/w/new"),
        ("cp x/file new/", "/w/new, /w/new/file"),
        ("cp a b new", "/w/new, /w/new/a, /w/new/b"),
        ("cp -t /etc a", "/etc, /etc/a"),
        ("cp --target-dir=/etc a", "/etc, /etc/a"),
        ("cp file out", "/w/out (a link to /etc), /w/out/file (a link to /etc/file)"),
        ("cp -T file /etc", "/etc"),
        ("cp -r file /etc", "/etc, /etc/file"),
        ("cp -r tree /etc", "/etc, recursive /etc/tree"),
        ("cp -r tree new", "/w/new, recursive /w/new"),
        ("cp -a tree/. /etc", "/etc, recursive /etc"),
        ("cp *.conf /etc", "/etc, recursive /etc"),
        ("mv file /etc/", "/etc, /etc/file"),
        ("mv tree /etc/", "/etc, recursive /etc/tree"),
        ("install -m 644 a b /etc", "/etc, /etc/a, /etc/b"),
        ("install -d /etc/x", "/etc/x"),
        ("ln -s /x/passwd /etc", "/etc, /etc/passwd"),
        ("ln -s /x/passwd", "/x/passwd, /w/passwd"),
        ("ln -sfn /x/passwd out", "/w/out (a link to /etc)"),
        ("ln -sf --no-dereference /x/passwd out", "/w/out (a link to /etc)"),
        ("ln -sfn /x/passwd /etc", "/etc, /etc/passwd"),
        ("rsync -a tree/ /etc/", "/etc, recursive /etc"),
        ("tar -xf a.tar", "recursive /w"),
        ("tar -C /etc -xf a.tar", "/etc, recursive /etc"),
        ("tar -tf a.tar", ""),
        ("unzip -d /etc a.zip", "/etc, recursive /etc"),
    ] {
        assert_eq!(written(command), expected, "{command}");
    }
}

#[test]
fn spans_are_places_in_the_text() {
    let text = "ls\nenv rm -rf /srv > log";
    let analysis = analysed(text);
    let finding = analysis.commands.iter().flat_map(|command| &command.findings).next().unwrap();
    assert_eq!(&text[finding.span.range()], "/srv");
    let text = "echo a; sh -c 'ls; rm -rf /srv'";
    let analysis = analysed(text);
    let finding = analysis.commands.iter().flat_map(|command| &command.findings).next().unwrap();
    assert_eq!(&text[finding.span.range()], "'ls; rm -rf /srv'");
}

#[test]
fn more_than_the_limits_is_unreadable() {
    let machine = PolicyMachine::debian();
    let limits = AnalysisLimits { depth: 4, commands: 10, effects: 20 };
    let mut tight = Vec::new();
    for command in
        ["env ".repeat(6) + "ls", "ls; ".repeat(11), "cat ".to_owned() + &"x y z ".repeat(30) + "; ls a"]
    {
        let distinct: String = command
            .split(' ')
            .enumerate()
            .map(
                |(n, word)| {
                    if matches!(word, "x" | "y" | "z") { format!("{word}{n} ") } else { format!("{word} ") }
                },
            )
            .collect();
        let analysis = analyse(&request(&distinct), &machine, &limits);
        assert!(analysis.commands.len() <= 10);
        tight.push(analysis.unreadable.map(|reason| reason.class));
    }
    assert_eq!(tight, [Some(GuardClass::Unreadable); 3]);
    let nested = "env ".repeat(40) + "ls";
    assert_eq!(analysed(&nested).default_verdict(Caller::Tool), PolicyVerdict::Deny);
    // What may be a command is no more than a question, however deep.
    let suspected = "unknown-tool ".to_owned() + &"timeout 1 xargs ".repeat(20) + "ls";
    let mut request = request(&suspected);
    for is_restricted in [false, true] {
        request.workspace = Some(Workspace { path: "/w".to_owned(), is_restricted });
        let analysis = analyse(&request, &machine, &AnalysisLimits::default());
        assert_eq!(analysis.default_verdict(Caller::Tool), PolicyVerdict::Ask);
    }
}

#[test]
fn programs_are_named_through_wrappers() {
    let started = |text: &str| analysed(text).started_programs();
    let names = |text: &str| {
        let mut names: Vec<String> = started(text).expect(text);
        names.retain(|name| !name.starts_with("/usr/bin/") && !name.starts_with("/bin/"));
        names.join(" ")
    };
    for (text, expected) in [
        ("ls && cd x", "ls"),
        ("timeout 5 make", "timeout make"),
        ("env A=1 nice -n 5 stdbuf -oL make", "env nice stdbuf make"),
        ("ls | xargs -0 rm", "ls xargs rm"),
        ("find . -name x -exec rm {} + -o -exec mv {} y ';'", "find rm mv"),
        ("flock lock sh -c 'ls; rm x'", "flock sh ls rm"),
        ("bwrap --ro-bind / / --chdir /w ls", "bwrap ls"),
        ("timeout 5 ./tool x", "timeout /w/tool"),
        ("setpriv --reuid 1 tini -- dumb-init -c ls", "setpriv tini dumb-init ls"),
        // These may be no commands.
        ("./tool rm -rf /srv", "/w/tool"),
        ("echo rm", ""),
        // What an interpreter runs is not known, and the sandbox refuses it.
        ("timeout 5 python3 -c 'x'", "timeout python3"),
    ] {
        assert_eq!(names(text), expected, "{text}");
    }
    for text in
        ["timeout 5 $X", "xargs \"$X\"", "eval \"$X\"", "timeout 5 sh -c \"$X\"", "ls &>/dev/null rm x"]
    {
        assert!(started(text).is_err(), "{text}: {:?}", started(text));
    }
}

#[test]
fn programs_behind_every_wrapper_are_named() {
    for wrapper in [
        "bwrap --bind / / --unshare-all --setenv A b --",
        "firejail --net=none --profile=x",
        "unshare --fork --pid --mount-proc --setgroups deny",
        "nsenter -t 1 -a -w",
        "setpriv --reuid 1 --clear-groups --nnp",
        "runuser -u nobody --",
        "setsid --wait",
        "chrt --batch",
        "chrt -f 10",
        "ionice -c 2 -n 7",
        "taskset -c 0-3",
        "taskset 0x3",
        "numactl --interleave all --preferred-many 0",
        "prlimit --nofile=9:9",
        "chroot --userspec=a:b /",
        "systemd-run --scope -p MemoryMax=1G --nice 5",
        "systemd-inhibit --what=sleep --why x",
        "flock -w 5 lock",
        "stdbuf -i0 -oL",
        "script -q /dev/null --",
        "watch -n 5 -d -q 3",
        "strace -f -o out -e trace=file -X raw",
        "ltrace -n 2 -l lib -o out",
        "/usr/bin/time -f %e -o out",
        "sudo -u nobody",
        "doas -u nobody",
        "busybox nice -n 5",
        "parallel -j 4 --halt now,fail=1",
        "sem -j 2",
        "entr -c -r",
        "catchsegv",
        "dbus-run-session --config-file=x --",
        "dbus-launch --exit-with-session",
        "xvfb-run -a -s '-screen 0 1x1x8'",
        "fakeroot -s a -i b",
        "eatmydata --",
        "unbuffer -p",
        "tini -s -p TERM --",
        "dumb-init --rewrite 15:3",
        "gosu nobody",
        "su-exec nobody:x",
        "s6-setuidgid nobody",
        "s6-envuidgid nobody",
        "s6-applyuidgid -u 1 -U",
        "chpst -u nobody -b name -P",
        "softlimit -m 10 -a 10",
        "faketime -f '+1d'",
        "torsocks -u a -p b",
        "proxychains4 -q -f conf",
        "nohup",
        "timeout -k 5 -s TERM 10",
        "xargs -r -n 1",
        "env - A=b",
        "setarch x86_64 -R",
        "choom -n 5 --",
        "coresched new -t pid --",
        "enosys -s openat2",
        "/lib64/ld-linux-x86-64.so.2 --argv0 x",
        "ssh-agent -t 60",
        "screen -dmS x",
        "tmux -L x new-session -d -s y",
        "ip -n x netns exec y",
        "cpulimit -l 50 --",
    ] {
        let text = format!("{wrapper} make all");
        let analysis = analysed(&text);
        let programs = analysis.started_programs().expect(&text);
        assert!(programs.iter().any(|program| program == "make"), "{text}: {programs:?}");
        let is_make = |command: &ccm_policy::AnalysedCommand| {
            command.words.first().and_then(|word| word.text()) == Some("make") && !command.is_suspected
        };
        assert!(analysis.commands.iter().any(is_make), "{text}");
    }
    // The command is a text.
    for text in ["su nobody -c 'make all'", "runuser nobody -c 'make all'", "script -qc 'make all' out"] {
        let programs = analysed(text).started_programs().expect(text);
        assert!(programs.iter().any(|program| program == "make"), "{text}: {programs:?}");
    }
}
