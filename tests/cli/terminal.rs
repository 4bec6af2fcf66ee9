//! What a running command shows on a terminal, and that nothing of it is seen elsewhere.

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
        let binary =
            std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned());
        let command =
            format!("env -i {variables} {binary} apply manifest.yaml --state-dir {state} {options}");
        let script = Command::new("script")
            .args(["-qfec", &command, "typescript"])
            .current_dir(scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("script");
        wait_until("the command runs", || scratch.has("begun"));
        Self { scratch, script }
    }

    /// Waits until the command has shown itself so many times.
    fn wait_until_shown(&self, times: usize) {
        wait_until("the command shows itself", || {
            self.scratch.read("typescript").is_some_and(|text| text.matches("running").count() >= times)
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

#[test]
fn a_command_that_takes_its_time_shows_itself_and_is_erased() {
    let plain = OnTerminal::start("TERM=xterm NO_COLOR=1", "");
    let coloured = OnTerminal::start("TERM=xterm", "");
    coloured.wait_until_shown(1);
    let (text, _) = coloured.finish();
    let (before, behind) = text.split_once("exec#slow running ").unwrap_or_else(|| panic!("{text:?}"));
    assert_eq!(before, "\r\u{1b}[K");
    assert!(behind.contains("\r\u{1b}[K\u{1b}[33mWARN"), "{text:?}");
    plain.wait_until_shown(1);
    let (plain, _) = plain.finish();
    assert!(plain.contains("\r\u{1b}[KWARN "), "{plain:?}");
}

#[test]
fn nothing_of_it_goes_to_a_file_a_pipe_or_a_dumb_terminal() {
    let elsewhere = [("TERM=dumb", ""), ("", ""), ("TERM=xterm", "-q"), ("TERM=xterm", "2> report")];
    let runs = elsewhere.map(|(variables, options)| OnTerminal::start(variables, options));
    let shown = OnTerminal::start("TERM=xterm", "> report");
    // The second time, the commands of the other runs have run for long enough to show themselves.
    shown.wait_until_shown(2);
    let (terminal, report) = shown.finish();
    assert!(terminal.contains("exec#slow running "), "{terminal:?}");
    assert!(report.starts_with("WARN  exec#slow changed") && !report.contains('\u{1b}'), "{report:?}");
    for (run, (variables, options)) in runs.into_iter().zip(elsewhere) {
        let (terminal, report) = run.finish();
        assert!(!terminal.contains("running"), "{variables} {options}: {terminal:?}");
        assert!(!report.contains("running"), "{variables} {options}: {report:?}");
    }
}
