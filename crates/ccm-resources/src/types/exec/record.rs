//! The files of an execution in the record of the run. They never hold values of the environment, values of
//! arguments or standard input.

use std::path::Path;

use ccm_host::{CapturedOutput, ContainerNetwork, Exit, Finished};
use ccm_model::{
    Artifact, ExecutedCommand, ExecutionMetadata, METADATA_FILE, RecordedContainer, STDERR_FILE, STDOUT_FILE,
};

use super::capture::milliseconds;
use super::command::Exec;
use super::output;
use super::provider::exit_code;

/// Returns the files; none for a success without output, and only the result of a sensitive exec.
pub(crate) fn files(
    exec: &Exec,
    cwd: Option<&Path>,
    finished: Option<&Finished>,
    failed: bool,
) -> Vec<Artifact> {
    let printed = |finished: &Finished| finished.stdout.total() + finished.stderr.total() > 0;
    let is_recorded = exec.expect.is_some()
        || !exec.capture.0.is_empty()
        || exec.executor.is_some()
        || exec.sandbox.is_some();
    if !failed && !is_recorded && !finished.is_some_and(printed) {
        return Vec::new();
    }
    let nothing = CapturedOutput::default();
    let (stdout, stderr) =
        finished.map_or((&nothing, &nothing), |finished| (&finished.stdout, &finished.stderr));
    let command = ExecutedCommand {
        command: exec.line.program.clone(),
        args: exec.line.args.len(),
        stdout: STDOUT_FILE.into(),
        stderr: STDERR_FILE.into(),
        workdir: cwd.map(|cwd| cwd.display().to_string()),
    };
    let metadata = ExecutionMetadata {
        command: Some(command).filter(|_| !exec.sensitive),
        exit_code: finished.and_then(exit_code),
        duration_ms: finished.map(|finished| milliseconds(finished.duration)),
        timed_out: finished.is_some_and(|finished| matches!(finished.exit, Exit::TimedOut { .. })),
        stdout_truncated: stdout.truncated(),
        stderr_truncated: stderr.truncated(),
        sandbox: exec.sandbox.as_ref().map(|_| "process".into()),
        network: match exec.container() {
            Some(container) => container.network != ContainerNetwork::None,
            None => exec.sandbox.as_ref().is_none_or(|sandbox| sandbox.network == Some(true)),
        },
        container: finished.and_then(|finished| finished.container.as_ref()).map(|container| {
            RecordedContainer { name: container.name.clone(), image: container.image.clone() }
        }),
        sensitive: exec.sensitive,
    };
    let described = Artifact {
        name: METADATA_FILE.into(),
        content: format!("{:#}\n", serde_json::json!(metadata)).into_bytes(),
    };
    if exec.sensitive {
        return vec![described];
    }
    let mut files = vec![
        Artifact { name: STDOUT_FILE.into(), content: output::kept(stdout) },
        Artifact { name: STDERR_FILE.into(), content: output::kept(stderr) },
        described,
    ];
    if let Ok(json) = output::json(stdout) {
        files.push(Artifact { name: "stdout.json".into(), content: format!("{json:#}\n").into_bytes() });
    }
    files
}

#[cfg(test)]
mod tests {
    use ccm_model::NodeMap;
    use ccm_testkit::FakeRunner;
    use serde_json::{Value, json};

    use super::*;
    use crate::types::exec::command::CommandSyntax;
    use crate::types::exec::properties::ExecProperties;

    fn exec(name: &str) -> Exec {
        Exec::build(name, CommandSyntax::Words, ExecProperties::default(), &NodeMap::default()).unwrap()
    }

    fn finished(code: i32, stdout: &str) -> Finished {
        let stdout = CapturedOutput { head: stdout.into(), ..CapturedOutput::default() };
        Finished { stdout, ..FakeRunner::finished(Exit::Code(code)) }
    }

    fn names(files: &[Artifact]) -> Vec<&str> {
        files.iter().map(|file| &*file.name).collect()
    }

    #[test]
    fn silent_success_leaves_nothing_unless_somebody_watches() {
        let exec = exec("true");
        assert!(files(&exec, Some(Path::new("/")), Some(&finished(0, "")), false).is_empty());
        assert_eq!(names(&files(&exec, None, None, true)), ["stdout.txt", "stderr.txt", "metadata.json"]);
        let watched = Exec { expect: Some(super::super::expect::Expectations::default()), ..exec };
        assert_eq!(files(&watched, Some(Path::new("/")), Some(&finished(0, "")), false).len(), 3);
    }

    #[test]
    fn metadata_holds_no_value_of_an_argument_or_a_variable() {
        let mut exec = exec("printf %s s3cret");
        exec.environment.push(("TOKEN".to_owned(), "t0ken".to_owned()));
        exec.stdin = Some("st4in".to_owned());
        let files = files(&exec, Some(Path::new("/")), Some(&finished(0, "{\"a\": [1]}")), false);
        assert_eq!(names(&files), ["stdout.txt", "stderr.txt", "metadata.json", "stdout.json"]);
        let metadata: Value = serde_json::from_slice(&files[2].content).unwrap();
        assert_eq!(
            metadata,
            json!({
                "command": "printf", "args": 2, "exit_code": 0, "duration_ms": 0, "timed_out": false,
                "stdout": "stdout.txt", "stderr": "stderr.txt", "stdout_truncated": false,
                "stderr_truncated": false, "workdir": "/", "sandbox": null, "network": true,
            })
        );
        let json: Value = serde_json::from_slice(&files[3].content).unwrap();
        assert_eq!(json, json!({"a": [1]}));
    }

    #[test]
    fn of_a_sensitive_exec_only_its_end_is_kept() {
        let sensitive = Exec { sensitive: true, ..exec("prog s3cret") };
        let files = files(&sensitive, Some(Path::new("/s3cret")), Some(&finished(3, "s3cret")), true);
        assert_eq!(names(&files), ["metadata.json"]);
        let metadata: Value = serde_json::from_slice(&files[0].content).unwrap();
        assert_eq!(
            metadata,
            json!({
                "exit_code": 3, "duration_ms": 0, "timed_out": false, "stdout_truncated": false,
                "stderr_truncated": false, "sandbox": null, "network": true, "sensitive": true,
            })
        );
    }

    #[test]
    fn what_was_dropped_is_marked() {
        let stdout = CapturedOutput { head: b"begin".to_vec(), tail: b"end".to_vec(), dropped: 7 };
        let finished = Finished { stdout, ..finished(0, "") };
        let files = files(&exec("x"), Some(Path::new("/")), Some(&finished), false);
        assert_eq!(files[0].content, b"begin\n... (7 bytes are not kept)\nend");
    }
}
