//! Completion of command lines in shells.

use std::process::{Command, Stdio};

use ccm_testkit::{Called, Scratch, needs_ordinary_user, skipped};

use crate::{apply, ccm};

const MANIFEST: &str = "data: {port: 80}\nccm:\n  resources:\n    - file:\n        - '/srv/{{ Data.port }}': {alias: page}\n\
                        \x20   - exec:\n        - make it: {command: 'true'}\n        - 'semi;colon:x': {command: 'true'}\n";

/// Returns what may stand at the end of the words, one candidate a line, without descriptions.
fn candidates(scratch: &Scratch, words: &[&str]) -> String {
    let called = complete(scratch, words).run();
    assert_eq!((called.code, &*called.stderr), (0, ""), "{words:?}: {}", called.shown());
    called.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned() + "\n").collect()
}

fn complete(scratch: &Scratch, words: &[&str]) -> ccm_testkit::Ccm {
    ccm(scratch, &["__complete", "fish", "--"]).args(words)
}

#[test]
fn names_come_from_the_manifest_on_the_command_line() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", MANIFEST);
    let names = "words\nfile#/srv/80\nfile#page\nexec#make it\nexec#semi;colon:x\n";
    assert_eq!(candidates(&scratch, &["apply", "m.yaml", "--only", ""]), names);
    assert_eq!(candidates(&scratch, &["apply", "--only", "", "m.yaml"]), "files\n");
    assert_eq!(candidates(&scratch, &["apply", "--only", ""]), "words\n");
    let other = candidates(&scratch, &["apply", "m.yaml", "--data", "port=81", "--only", "file"]);
    assert!(other.starts_with("words\nfile#/srv/81\n"), "{other}");
    scratch
        .write("other.yaml", "ccm: {resources: [{exec: [{'make it': {}}, {other: {command: 'true'}}]}]}\n");
    let both = candidates(&scratch, &["apply", "m.yaml", "other.yaml", "--skip", ""]);
    assert_eq!(both, format!("{names}exec#other\n"));
    let home = complete(&scratch, &["apply", "~/m.yaml", "--only", ""]).variable("HOME", &scratch.at(""));
    assert!(home.run().stdout.starts_with("words\nfile#/srv/80\t\n"));
    let with_option = candidates(&scratch, &["apply", "m.yaml", "--only=ex"]);
    assert!(with_option.contains("\n--only=exec#make it\n"), "{with_option}");
}

#[test]
fn a_broken_manifest_has_the_names_that_are_written_in_it() {
    let scratch = Scratch::new();
    let names = |text: &str| {
        scratch.write("m.yaml", text);
        candidates(&scratch, &["apply", "m.yaml", "--only", ""])
    };
    let written = "words\nfile#page\nexec#make it\nexec#semi;colon:x\n";
    assert_eq!(
        names(&format!("{MANIFEST}        - broken: {{no_such_property: 1}}\n")).replace("exec#broken\n", ""),
        written
    );
    assert_eq!(names(&format!("{MANIFEST}        - {{unclosed: \"\n")), written);
    for nothing in ["", "\u{0}", "[", "ccm: [", "{{{{", "ccm: {resources: {file: 1}}", "&a [*a]"] {
        assert_eq!(names(nothing), "words\n", "{nothing}");
    }
    scratch.write("m.yaml", [0xff, 0xfe]);
    assert_eq!(candidates(&scratch, &["apply", "m.yaml", "--only", ""]), "words\n");
    for path in ["missing.yaml", ".", "-", "", "~/m.yaml", "m.yaml/x"] {
        assert_eq!(candidates(&scratch, &["apply", path, "--only", ""]), "words\n", "{path}");
    }
}

#[test]
fn a_completion_shows_no_secret_and_leaves_nothing_behind() {
    let scratch = Scratch::new();
    scratch.write(
        "m.yaml",
        "data:\n  # @sensitive\n  key: correct-horse\nccm:\n  resources:\n    - exec: [{'{{ Data.key }}': {command: 'true'}}, {plain: \
         {command: 'true'}}, {\"bell\\a\": {command: 'true'}}]\n",
    );
    assert_eq!(candidates(&scratch, &["apply", "m.yaml", "--only", ""]), "words\nexec#plain\n");
    let state = scratch.at("state");
    assert_eq!(candidates(&scratch, &["history", "--state-dir", &state, ""]), "words\n");
    assert_eq!(scratch.names(), ["m.yaml"]);
}

#[test]
fn a_pipe_is_not_read() {
    let scratch = Scratch::new();
    let pipe = scratch.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for words in [&["apply", &pipe, "--only", ""][..], &["apply", "m.yaml", "--hiera", &pipe, "--only", ""]] {
        scratch.write("m.yaml", MANIFEST);
        let found = candidates(&scratch, words);
        assert!(found.starts_with("words\n"), "{found}");
    }
}

#[test]
fn runs_types_and_facts_are_found() {
    let scratch = Scratch::new();
    apply(&scratch, "ccm: {resources: [{exec: [{'true': {}}]}]}", &[]);
    let state = scratch.state().display().to_string();
    let runs = complete(&scratch, &["history", "--state-dir", &state, ""]).run().stdout;
    let lines: Vec<&str> = runs.lines().collect();
    assert_eq!(lines[..2], ["words", "last\tthe newest run"]);
    assert!(lines[2].starts_with("01") && lines[2].ends_with(" changed [dir]/manifest.yaml"), "{runs}");
    let of_environment = complete(&scratch, &["history", ""]).variable("CCM_STATE_DIR", &state).run();
    assert_eq!(of_environment.stdout, runs);
    assert_eq!(candidates(&scratch, &["history", "--state-dir", &state, "last", ""]), "words\nexec#true\n");
    let types = candidates(&scratch, &["explain", "ex"]);
    assert!(types.starts_with("words\nexec\nfile\n") && !types.contains("exec.timeout"), "{types}");
    let properties = candidates(&scratch, &["explain", "exec."]);
    assert!(
        properties.contains("\nexec.timeout\n") && properties.contains("\nexec.require\n"),
        "{properties}"
    );
    assert!(!properties.contains("\nexec.sandbox.network\n"), "{properties}");
    assert!(candidates(&scratch, &["explain", "exec.sandbox.n"]).contains("\nexec.sandbox.network\n"));
    let behind = candidates(&scratch, &["explain", "exec", "ti"]);
    assert!(behind.contains("\ntimeout\n") && !behind.contains("exec."), "{behind}");
    assert!(candidates(&scratch, &["explain", "exec", "sandbox.n"]).contains("\nsandbox.network\n"));
    assert!(candidates(&scratch, &["explain", "exec.sandbox", "n"]).contains("\nnetwork\n"));
    assert_eq!(candidates(&scratch, &["explain", "nosuch", "t"]), "words\n");
    let facts = candidates(&scratch, &["facts", "host"]);
    assert!(facts.contains("\nhost.info.hostname\n"), "{facts}");
    if !needs_ordinary_user() {
        return;
    }
    assert_eq!(candidates(&scratch, &["history", "--state-dir", "/root/ccm", ""]), "words\n");
}

/// A directory with the script of a shell, and with ccm in `bin`.
fn scratch_with(shell: &str) -> Scratch {
    let scratch = Scratch::new();
    let script = ccm(&scratch, &["completions", shell]).run();
    assert_eq!((script.code, &*script.stderr), (0, ""));
    scratch.write("script", script.stdout);
    scratch.write("my site.yaml", MANIFEST);
    std::fs::create_dir(scratch.path().join("bin")).expect("a directory");
    let binary = std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned());
    std::os::unix::fs::symlink(binary, scratch.path().join("bin/ccm")).expect("a link");
    scratch
}

/// Runs a shell in the directory, with ccm in its search path; `None` if the shell is not installed.
fn run(scratch: &Scratch, program: &str, arguments: &[&str], input: &str) -> Option<Called> {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", scratch.at("bin"));
    scratch.write("input", input);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(scratch.path()).env_clear().env("PATH", path);
    command
        .env("HOME", scratch.path())
        .env("TERM", "dumb")
        .env("LC_ALL", "C.UTF-8")
        .env("HISTFILE", "/dev/null");
    command.stdin(std::fs::File::open(scratch.at("input")).expect("the input")).stdout(Stdio::piped());
    match command.stderr(Stdio::piped()).output() {
        Ok(output) => Some(Called {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Err(error) => {
            skipped(&format!("{program} is not installed: {error}"));
            None
        }
    }
}

#[test]
fn shells_accept_the_scripts() {
    for (shell, program) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        let scratch = scratch_with(shell);
        let checked = run(&scratch, program, &["-n", "script"], "");
        assert!(
            checked.as_ref().is_none_or(|called| called.code == 0 && called.stderr.is_empty()),
            "{checked:?}"
        );
    }
}

/// Function of bash that prints the candidates for a line. Its second argument is the last word as bash splits it.
const CANDIDATES: &str = "source ./script\ncandidates() {\n  COMP_LINE=$1 COMP_POINT=${#1}\n  _ccm ccm \"$2\" \"\"\n\
                          \x20 printf '[%s]' \"${COMPREPLY[@]}\"; echo\n}\n";

#[test]
fn bash_gets_candidates_with_its_quotes() {
    let scratch = scratch_with("bash");
    for (line, last, expected) in [
        ("ccm val", "val", "[validate]"),
        ("ccm apply --out", "--out", "[--output]"),
        ("ccm apply --output=js", "js", "[jsonl][json]"),
        ("ccm apply 'my site.yaml' --only exec#m", "exec#m", "[exec#make\\ it]"),
        ("ccm apply my\\ site.yaml --only 'exec#m", "exec#m", "[exec#make it]"),
        ("ccm apply my\\ site.yaml --only exec#s", "exec#s", "[exec#semi\\;colon:x]"),
        ("ccm apply my\\ site.yaml --only exec#semi\\;colon:", "", "[x]"),
        ("ccm apply ", "", "[]"),
        ("ccm no-such ", "", "[]"),
        ("ccm explain exec.sandbox.netw", "exec.sandbox.netw", "[exec.sandbox.network]"),
        ("ccm explain exec timeo", "timeo", "[timeout]"),
    ] {
        scratch.write("call", format!("{CANDIDATES}candidates {line:?} {last:?}\n"));
        let called = run(&scratch, "bash", &["--norc", "call"], "").expect("bash");
        assert_eq!((called.code, called.stdout.trim_end(), &*called.stderr), (0, expected, ""), "{line}");
    }
    // Only a list that is shown has descriptions.
    for (kind, line, last, expected) in [
        (9, "ccm ap", "ap", "[apply][approvals][approve]"),
        (37, "ccm ap", "ap", "[apply][approvals][approve]"),
        (63, "ccm app", "app", "[apply      (Apply a manifest"),
        (63, "ccm app", "app", "[approvals  (List what waits"),
        (63, "ccm app", "app", "[approve    (Approve what waits"),
        (63, "ccm appl", "appl", "[apply]"),
    ] {
        scratch.write("call", format!("{CANDIDATES}COMP_TYPE={kind}\ncandidates {line:?} {last:?}\n"));
        let called = run(&scratch, "bash", &["--norc", "call"], "").expect("bash");
        assert_eq!((called.code, &*called.stderr), (0, ""), "{line}");
        assert!(called.stdout.contains(expected), "{kind} {line}: {}", called.stdout);
        assert!(kind == 63 || !called.stdout.contains('('), "{kind} {line}: {}", called.stdout);
    }
    scratch.write("m.yaml", "ccm: {resources: []}");
    let state = ["--state-dir", "state"];
    for _ in 0..2 {
        assert_eq!(ccm(&scratch, &["apply", "m.yaml"]).args(&state).run().code, 0);
    }
    scratch.write(
        "call",
        format!("{CANDIDATES}COMP_TYPE=63 COLUMNS=70\ncandidates 'ccm history --state-dir state 0' 0\n"),
    );
    let called = run(&scratch, "bash", &["--norc", "call"], "").expect("bash");
    let with_date = called.stdout.matches("  (20").count();
    assert_eq!((with_date, called.stdout.matches(" unchanged ").count()), (2, 2), "{}", called.stdout);
    assert!(called.stdout.split("][").all(|line| line.chars().count() <= 70), "{}", called.stdout);
    scratch.write("call", format!("{CANDIDATES}PATH=/nowhere\ncandidates 'ccm ap' ap\n"));
    let called = run(&scratch, "bash", &["--norc", "call"], "").expect("bash");
    assert_eq!((called.code, &*called.stdout, &*called.stderr), (0, "[]\n", ""), "without ccm");
}

/// Types a line into an interactive shell on a terminal, and returns what the terminal shows.
fn typed(scratch: &Scratch, shell: &str, preparation: &str, line: &str) -> Option<String> {
    let input = format!("{preparation}{line}\nexit\n");
    let version = run(scratch, shell.split(' ').next()?, &["--version"], "")?;
    assert_eq!(version.code, 0);
    let called = run(scratch, "script", &["-qec", shell, "/dev/null"], &input)?;
    Some(called.stdout)
}

#[test]
fn the_tab_key_completes_in_bash_and_zsh() {
    let bash = scratch_with("bash");
    let zsh = scratch_with("zsh");
    let zsh_preparation = "autoload -U compinit; compinit -u -D\nsource ./script\n";
    for (scratch, shell, preparation) in
        [(&bash, "bash --norc --noprofile -i", "source ./script\n"), (&zsh, "zsh -f -i", zsh_preparation)]
    {
        for (line, shown) in [
            ("ccm expl\texec.sandbox.netw\t", "exec.sandbox.network: boolean"),
            ("ccm validate m\t", "my site.yaml is valid"),
            ("ccm validate my\\ si\t", "my site.yaml is valid"),
            ("ccm graph --format=dot my\t", "digraph"),
            ("ccm graph 'my site.yaml' --ou\tdot", "digraph"),
        ] {
            let Some(terminal) = typed(scratch, shell, preparation, line) else { break };
            assert!(terminal.contains(shown), "{shell}: {line:?}: {terminal}");
        }
    }
}

#[test]
fn fish_gets_candidates_and_files() {
    let scratch = scratch_with("fish");
    for (line, expected) in [
        ("ccm val", "validate\tCheck a manifest"),
        ("ccm validate m", "my site.yaml"),
        ("ccm apply --facts=m", "--facts=my site.yaml"),
        ("ccm apply --state-dir=b", "--state-dir=bin/"),
        ("ccm apply 'my site.yaml' --only exec#m", "exec#make it"),
        ("ccm apply my\\\\ site.yaml --only=exec#m", "--only=exec#make it"),
        ("ccm explain exec.sandbox.netw", "exec.sandbox.network\tAllow"),
        ("ccm explain exec timeo", "timeout\t"),
        ("ccm eval ", ""),
    ] {
        scratch.write("call", format!("source ./script\ncomplete -C \"{line}\"\n"));
        let Some(called) = run(&scratch, "fish", &["--no-config", "call"], "") else { return };
        assert_eq!((called.code, &*called.stderr), (0, ""), "{line}: {}", called.stdout);
        assert!(called.stdout.lines().count() <= 3, "{line}: {}", called.stdout);
        assert!(called.stdout.starts_with(expected), "{line}: {}", called.stdout);
    }
    scratch.write("call", "source ./script\nset PATH /nowhere\ncomplete -C \"ccm ap\"\n");
    let Some(called) = run(&scratch, "fish", &["--no-config", "call"], "") else { return };
    assert_eq!((&*called.stdout, &*called.stderr), ("", ""), "without ccm");
}
