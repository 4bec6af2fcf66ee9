//! Progress of a run on a terminal.

use std::process::{Child, Command, Stdio};

use ccm_testkit::{Scratch, wait_until};

/// A run with a command that takes its time, on a terminal of its own, made by script(1).
struct OnTerminal {
    scratch: Scratch,
    script: Child,
}

impl OnTerminal {
    /// Starts it, and waits until its command runs.
    fn start(variables: &str, options: &str) -> Self {
        let scratch = Scratch::new();
        let state = scratch.state().display().to_string();
        let slow = format!(
            "#!/bin/sh\ntouch {}\nwhile [ ! -e {} ]; do sleep 0.01; done\n",
            scratch.at("begun"),
            scratch.at("go")
        );
        scratch.write_program("slow", &slow);
        scratch.write(
            "manifest.yaml",
            format!("ccm: {{resources: [{{exec: {{name: slow, command: {}}}}}]}}", scratch.at("slow")),
        );
        let command =
            format!("env -i {variables} {} apply manifest.yaml --state-dir {state} {options}", binary());
        let script = on_terminal(&scratch, &command);
        wait_until("the command runs", || scratch.has("begun"));
        Self { scratch, script }
    }

    /// Waits until the command has shown itself so many times.
    fn wait_until_shown(&self, times: usize) {
        wait_until("the command shows itself", || {
            self.scratch
                .read("typescript")
                .is_some_and(|text| text.matches("[1/1] exec#slow ").count() >= times)
        });
    }

    /// Ends the command, and returns what the terminal showed and what else was written.
    fn finish(self) -> (String, String) {
        let Self { scratch, script } = self;
        scratch.write("go", "");
        script.wait_with_output().expect("its end");
        let text = scratch.read("typescript").expect("what the terminal showed");
        let text = text.lines().filter(|line| !line.starts_with("Script ")).collect::<Vec<_>>().join("\n");
        (text, scratch.read("report").unwrap_or_default())
    }
}

pub(crate) fn binary() -> String {
    std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned())
}

/// Starts a command on a terminal of its own. What the terminal shows goes to the file `typescript`.
fn on_terminal(scratch: &Scratch, command: &str) -> Child {
    Command::new("script")
        .args(["-qfec", command, "typescript"])
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("script")
}

/// Returns what commands on a terminal of a width show.
fn shown_on_terminal(scratch: &Scratch, width: usize, variables: &str, commands: &[&str]) -> String {
    let state = scratch.state().display().to_string();
    let lines: Vec<String> = commands
        .iter()
        .map(|command| {
            format!("env -i LC_ALL=C.UTF-8 TERM=xterm {variables} {} {command} --state-dir {state}", binary())
        })
        .collect();
    let mut script = on_terminal(scratch, &format!("stty cols {width}; {}", lines.join("; ")));
    script.wait().expect("its end");
    let text = scratch.read("typescript").expect("what the terminal showed");
    let lines = text.lines().filter(|line| !line.starts_with("Script ")).map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn tables_fit_the_terminal() {
    let scratch = Scratch::new();
    let directory = "sites/of/the/team/that/runs/the/shop/and/its/database";
    let (manifest, kept) = (format!("{directory}/web.yaml"), scratch.at(&format!("{directory}/kept.conf")));
    scratch.write(&format!("{directory}/kept.conf"), "old\n");
    scratch.write(
        &manifest,
        format!("ccm: {{resources: [{{file: [{{{kept}: {{content: new, backup: true}}}}]}}]}}"),
    );
    assert_eq!(crate::ccm(&scratch, &["apply", &manifest]).run().code, 0);
    let tables = ["history", "status", "history last --slowest", "backup list"];
    for (width, variables, fits) in
        [(40, "", 40), (80, "", 80), (200, "", 200), (40, "COLUMNS=80", 80), (80, "COLUMNS=none", 80)]
    {
        let text = shown_on_terminal(&scratch, width, variables, &tables);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(widest <= fits, "{widest} of {fits}\n{text}");
        // The beginning and the end of a path stay.
        let [heads, manifests, backups] =
            ["MANIFEST", "b.yaml", "kept.conf"].map(|part| text.matches(part).count());
        assert_eq!((heads, manifests > 1, backups), (2, true, 2), "{text}");
        assert!(text.contains("BY") && text.contains("root") || !is_root(), "{text}");
    }
    let piped = crate::ccm(&scratch, &["history"]).variable("COLUMNS", "40").run();
    assert!(piped.stdout.contains(&format!("[dir]/{manifest}\n")), "{}", piped.shown());
}

#[test]
fn words_of_errors_fit_the_terminal() {
    let scratch = Scratch::new();
    scratch.write("bad.yaml", "ccm: {resources: [{file: [{/x: {cnotent: a}}]}]}\n");
    scratch.write("m.yaml", "ccm: {resources: []}\n");
    let commands = ["apply bad.yaml", "history last", "apply m.yaml --only file#/a --skip file#/b"];
    for width in [40, 80] {
        let text = shown_on_terminal(&scratch, width, "", &commands);
        // The lines of an excerpt stay as they are.
        let is_of_words = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphabetic());
        let words: Vec<&str> = text.lines().filter(is_of_words).collect();
        let widest = words.iter().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(widest <= width, "{widest} of {width}\n{text}");
        assert!(text.replace("\n  ", " ").contains("error: 1 error in bad.yaml; nothing was run"), "{text}");
    }
}

fn is_root() -> bool {
    crate::owner().starts_with("root:")
}

#[test]
fn progress_of_a_file_is_shown_and_can_be_interrupted() {
    let scratch = Scratch::new();
    // It takes minutes to read, and nothing else happens meanwhile.
    let source = std::fs::File::create(scratch.path().join("source")).expect("a file");
    source.set_len(1 << 40).expect("a long file");
    let copy = scratch.at("copy");
    scratch
        .write("manifest.yaml", format!("ccm: {{resources: [{{file: [{{{copy}: {{source: source}}}}]}}]}}"));
    let apply = format!("{} apply manifest.yaml --state-dir {}", binary(), scratch.state().display());
    let mut script =
        on_terminal(&scratch, &format!("echo $$ > pid; exec env -i --default-signal=INT TERM=xterm {apply}"));
    let shown = || scratch.read("typescript").unwrap_or_default();
    wait_until("the file shows itself", || shown().contains("[1/1] file#"));
    let pid = scratch.read("pid").expect("the process");
    let killed = Command::new("kill").args(["-INT", pid.trim()]).status().expect("kill");
    assert!(killed.success());
    script.wait().expect("its end");
    assert!(shown().contains("the run was stopped by SIGINT"), "{}", shown());
    assert!(!scratch.has("copy"));
}

#[cfg(feature = "archive")]
#[test]
fn progress_of_a_download_is_shown_and_ctrl_c_ends_it_at_once() {
    use ccm_testkit::{WebServer, answer_head, stay_silent};

    const HALF: usize = 1 << 20;
    // Half of the file comes, and then nothing more.
    let server = WebServer::start(|_, stream| {
        answer_head(stream, "200 OK", &[("ETag", "\"1\""), ("Accept-Ranges", "bytes")], Some(2 * HALF))?;
        stream.write_all(&vec![b'x'; HALF])?;
        stay_silent(stream)
    });
    let scratch = Scratch::new();
    scratch.write("app.conf", "old\n");
    let manifest = format!(
        "ccm:\n  resources:\n    - file:\n        - {}: {{source: \"{}\", checksum: {}, backup: true}}\n    - \
         exec:\n        - touch {}: {{}}\n",
        scratch.at("app.conf"),
        server.url("/app.conf"),
        "ab".repeat(32),
        scratch.at("next-ran")
    );
    scratch.write("manifest.yaml", manifest);
    let apply = format!("{} apply manifest.yaml --state-dir {}", binary(), scratch.state().display());
    let command =
        format!("stty cols 300; echo $$ > pid; exec env -i --default-signal=INT TERM=xterm {apply}");
    let mut script = on_terminal(&scratch, &command);
    let shown = || scratch.read("typescript").unwrap_or_default();
    wait_until("the download shows half of the file", || {
        shown().contains("app.conf: 1.0 MiB of 2.0 MiB (50%)")
    });
    let pid = scratch.read("pid").expect("the process");
    let killed = Command::new("kill").args(["-INT", pid.trim()]).status().expect("kill");
    assert!(killed.success());
    // The server never ends the connection: nothing but the signal ends the run.
    script.wait().expect("its end");
    assert!(shown().contains("the run was stopped by SIGINT"), "{}", shown());
    assert_eq!(scratch.read("app.conf").as_deref(), Some("old\n"));
    assert_eq!(server.requests().len(), 1);
    let names = scratch.names();
    let is_left = |name: &String| name.ends_with(".ccm-new") || name == "next-ran";
    assert!(!names.iter().any(is_left), "{names:?}");
}

#[test]
fn progress_of_a_command_is_shown_and_erased() {
    let plain = OnTerminal::start("TERM=xterm NO_COLOR=1", "");
    let coloured = OnTerminal::start("TERM=xterm", "");
    coloured.wait_until_shown(1);
    let (text, _) = coloured.finish();
    let (before, behind) = text.split_once("[1/1] exec#slow ").unwrap_or_else(|| panic!("{text:?}"));
    assert!(before.ends_with("/manifest.yaml\u{1b}[0m\n\r\u{1b}[K"), "{text:?}");
    assert!(behind.contains("\r\u{1b}[K  \u{1b}[32m!\u{1b}[0m "), "{text:?}");
    plain.wait_until_shown(1);
    let (plain, _) = plain.finish();
    assert!(plain.contains("\r\u{1b}[K  ! exec "), "{plain:?}");
}

#[test]
fn progress_is_shown_on_capable_terminals_only() {
    let elsewhere = [("TERM=dumb", ""), ("", ""), ("TERM=xterm", "-q"), ("TERM=xterm", "2> report")];
    let runs = elsewhere.map(|(variables, options)| OnTerminal::start(variables, options));
    let shown = OnTerminal::start("TERM=xterm", "> report");
    // The second time, the commands of the other runs have run for long enough to show themselves.
    shown.wait_until_shown(2);
    let (terminal, report) = shown.finish();
    assert!(terminal.contains("[1/1] exec#slow "), "{terminal:?}");
    assert!(report.contains("\n  ! exec     slow ") && !report.contains('\u{1b}'), "{report:?}");
    for (run, (variables, options)) in runs.into_iter().zip(elsewhere) {
        let (terminal, report) = run.finish();
        assert!(!terminal.contains("[1/1]"), "{variables} {options}: {terminal:?}");
        assert!(!report.contains("[1/1]"), "{variables} {options}: {report:?}");
    }
}

/// Script that prints its last line without a line end, and waits.
const TELLS: &str = "#!/bin/sh\nprintf 'begun\\n\\033[32m50%%\\033[0m with %s' \"$1\"\n: > \"$2\"\n\
                     while [ ! -e \"$3\" ]; do sleep 0.01; done\n";

#[test]
fn progress_shows_the_last_line_of_a_command_that_is_not_sensitive() {
    for (properties, expected) in [("", "s: 50% with [redacted]"), ("sensitive: true, ", "s\r")] {
        let scratch = Scratch::new();
        scratch.write_program("tells", TELLS);
        let command =
            format!("'{} swordfish {} {}'", scratch.at("tells"), scratch.at("begun"), scratch.at("go"));
        scratch.write(
            "manifest.yaml",
            format!(
                "data:\n  # @sensitive\n  word: swordfish\nccm: {{resources: [{{exec: {{name: slow, {properties}command: {command}}}}}]}}"
            ),
        );
        let apply = format!("{} apply manifest.yaml --state-dir {}", binary(), scratch.state().display());
        let mut script = on_terminal(&scratch, &format!("env -i TERM=xterm {apply}"));
        let shown = || scratch.read("typescript").unwrap_or_default();
        // The second time, the line is updated after the command has printed.
        wait_until("the command shows itself", || {
            scratch.has("begun") && shown().matches("[1/1] exec#slow ").count() >= 2
        });
        scratch.write("go", "");
        script.wait().expect("its end");
        let text = shown();
        let (_, progress) = text.rsplit_once("[1/1] exec#slow ").unwrap_or_default();
        let progress = progress.trim_start_matches(|digit: char| digit.is_ascii_digit());
        assert!(progress.starts_with(expected), "{text:?}");
        assert!(!text.contains("swordfish"), "{text:?}");
    }
}
