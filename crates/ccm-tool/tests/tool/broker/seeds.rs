//! The sentences of the two source documents about tools, each with the tests that hold it.

use ccm_testkit::repository;

/// Sentences of the guarded exec tool, in their order.
const GUARDED: &[(&str, &[&str])] = &[
    (
        "The exec tool allows agents to execute shell commands with extensive safety guards, timeout controls, and \
         workspace restrictions.",
        &[
            "every_kind_of_dangerous_command_is_held",
            "time_limits_are_those_of_the_call_or_the_policy",
            "the_workspace_holds_paths",
        ],
    ),
    ("Execute a shell command and return its output.", &["commands_end_with_their_code"]),
    ("command: The shell command to execute.", &["inputs_that_are_accepted", "commands_end_with_their_code"]),
    ("working_dir: Optional working directory for the command.", &["inputs_that_are_accepted"]),
    (
        "If not specified, uses the tool's default working directory.",
        &["the_workspace_is_the_default_directory"],
    ),
    ("output: The combined stdout and stderr output from the command.", &["commands_end_with_their_code"]),
    (
        "If stderr is present, it's appended with a \"STDERR:\" header.",
        &["output_has_the_form_of_the_guarded_tool"],
    ),
    (
        "exit_code: included in output if non-zero.",
        &["output_has_the_form_of_the_guarded_tool", "commands_end_with_their_code"],
    ),
    ("{ \"command\": \"ls -la\", \"working_dir\": \"/home/user/project\" }", &["inputs_that_are_accepted"]),
    ("The exec tool blocks dangerous commands by default.", &["every_kind_of_dangerous_command_is_held"]),
    ("rm -rf / rm -f - Recursive/forced file deletion", &["every_kind_of_dangerous_command_is_held"]),
    ("del /f / rmdir /s - Windows deletion commands", &["every_kind_of_dangerous_command_is_held"]),
    ("format, mkfs, diskpart - Disk formatting", &["every_kind_of_dangerous_command_is_held"]),
    ("dd if= - Disk imaging/wiping", &["every_kind_of_dangerous_command_is_held"]),
    ("Writes to block devices (> /dev/sd*, etc.)", &["every_kind_of_dangerous_command_is_held"]),
    ("shutdown, reboot, poweroff", &["every_kind_of_dangerous_command_is_held"]),
    ("Fork bombs (: () { ... };:)", &["every_kind_of_dangerous_command_is_held"]),
    (
        "Command substitution: $(...), `...`",
        &["every_kind_of_dangerous_command_is_held", "what_a_text_hides_is_judged_inside"],
    ),
    (
        "Variable expansion: ${...}",
        &["every_kind_of_dangerous_command_is_held", "what_a_text_hides_is_judged_inside"],
    ),
    ("Pipe to shell: | sh, | bash", &["every_kind_of_dangerous_command_is_held"]),
    ("Chained dangerous commands: ; rm -rf, && rm -rf", &["every_kind_of_dangerous_command_is_held"]),
    ("Heredoc: << EOF", &["every_kind_of_dangerous_command_is_held", "what_a_text_hides_is_judged_inside"]),
    ("sudo; chmod, chown; pkill, killall, kill -9", &["every_kind_of_dangerous_command_is_held"]),
    (
        "curl ... | sh; wget ... | bash; ssh user@host; eval; source script.sh",
        &["every_kind_of_dangerous_command_is_held"],
    ),
    (
        "npm install -g; pip install --user; apt install/remove/purge; yum install/remove; dnf install/remove",
        &["every_kind_of_dangerous_command_is_held"],
    ),
    ("docker run, docker exec; git push, git force", &["every_kind_of_dangerous_command_is_held"]),
    (
        "You can extend or override deny patterns: mycriticalcmd, dangerous-operation",
        &[
            "patterns_of_the_operator_extend_and_lift_the_guard",
            "the_patterns_of_the_description_do_what_it_says",
        ],
    ),
    (
        "Explicitly allow commands that match deny patterns: ^npm install --save, ^git push origin feature-",
        &[
            "patterns_of_the_operator_extend_and_lift_the_guard",
            "the_patterns_of_the_description_do_what_it_says",
        ],
    ),
    (
        "Allow patterns take precedence over deny patterns.",
        &["patterns_of_the_operator_extend_and_lift_the_guard"],
    ),
    (
        "enable_deny_patterns: false. Disabling deny patterns removes all safety guards.",
        &["a_guard_that_is_off_refuses_nothing_but_the_workspace"],
    ),
    (
        "Workspace restriction prevents commands from accessing files outside the workspace.",
        &["a_denied_call_is_recorded_and_nothing_runs", "the_workspace_holds_paths"],
    ),
    ("Blocks ../ in commands", &["a_denied_call_is_recorded_and_nothing_runs", "the_workspace_holds_paths"]),
    ("Blocks ..\\ on Windows (left out on purpose: ccm is for Linux)", &[]),
    (
        "Extracts absolute paths from commands and validates them: cat /etc/passwd is blocked, a file of the workspace allowed.",
        &["the_workspace_holds_paths"],
    ),
    (
        "These pseudo-devices are always allowed: null, zero, random, urandom, stdin, stdout, stderr",
        &["the_workspace_holds_paths"],
    ),
    (
        "If working_dir is provided, it's validated against the workspace.",
        &["a_denied_call_is_recorded_and_nothing_runs"],
    ),
    (
        "Commands have a default 60-second timeout. Configure custom timeouts.",
        &["time_limits_are_those_of_the_call_or_the_policy"],
    ),
    ("For no timeout: SetTimeout(0) (left out on purpose: no call is endless)", &["inputs_that_are_refused"]),
    ("When timeout is reached, sends termination signal to process.", &["a_time_limit_ends_the_whole_tree"]),
    (
        "Waits 2 seconds for graceful shutdown. Force kills if process doesn't exit.",
        &["a_command_that_ignores_its_end_is_killed"],
    ),
    (
        "Returns partial output with timeout error: Command timed out after 1m0s",
        &["a_time_limit_ends_the_whole_tree", "a_minute_is_written_as_the_tool_writes_it"],
    ),
    (
        "Stdout and stderr are captured separately, then combined.",
        &["output_has_the_form_of_the_guarded_tool"],
    ),
    (
        "Non-zero exit codes are appended to output: Exit code: exit status 1",
        &["output_has_the_form_of_the_guarded_tool"],
    ),
    (
        "Output is truncated at 10,000 characters: ... (truncated, 5000 more chars)",
        &["long_output_is_cut_with_a_note", "output_of_a_caller_never_reaches_a_terminal_as_it_is"],
    ),
    (
        "Empty Output: (no output)",
        &["commands_end_with_their_code", "output_has_the_form_of_the_guarded_tool"],
    ),
    ("Commands execute via: sh -c \"command\"", &["every_call_waits_unless_the_policy_asks_less"]),
    ("Windows (left out on purpose: ccm is for Linux)", &[]),
    (
        "Commands run in their own process group; all child processes are terminated on timeout or cancellation.",
        &["a_time_limit_ends_the_whole_tree", "a_cancelled_call_is_recorded"],
    ),
    (
        "Termination: graceful to the group, force after 2 seconds, cleanup of all child processes",
        &[
            "a_time_limit_ends_the_whole_tree",
            "a_command_that_ignores_its_end_is_killed",
            "a_cancelled_call_is_recorded",
        ],
    ),
    ("Guard Errors: Command blocked by safety guard (…)", &["a_denied_call_is_recorded_and_nothing_runs"]),
    (
        "failed to start command: exec: \"nonexistent\": executable file not found in $PATH",
        &["commands_end_with_their_code"],
    ),
    ("Timeout Errors: error and output", &["a_time_limit_ends_the_whole_tree"]),
    ("1. Use Specific Commands: grep -r 'TODO' src/", &["good_practice_is_allowed"]),
    (
        "2. Validate Paths: cat config/settings.json, and not cat $(find / -name settings.json)",
        &["good_practice_is_allowed", "the_workspace_holds_paths"],
    ),
    ("3. Set Working Directory", &["good_practice_is_allowed"]),
    (
        "4. Handle Errors Gracefully: Check exit codes and parse stderr for error handling.",
        &["commands_end_with_their_code", "an_allowed_call_is_recorded_run_and_answered"],
    ),
    ("5. Use File Tools When Possible (left out on purpose: ccm has no tools that read or write files)", &[]),
];

/// Sentences of the governed runtime tools, in their order.
const GOVERNED: &[(&str, &[&str])] = &[
    (
        "Four governed runtime execution tools: exec, process, code-execution, and bash.",
        &["names_lead_to_their_tools"],
    ),
    (
        "Every invocation goes through policy → intent signing → approval → sandbox → audit.",
        &["every_call_waits_unless_the_policy_asks_less", "an_allowed_call_is_recorded_run_and_answered"],
    ),
    (
        "General-purpose command execution in a sandboxed environment.",
        &["an_allowed_call_is_recorded_run_and_answered"],
    ),
    (
        "exec: Action class: execute | Side effects: privileged | Approval: required",
        &["every_call_waits_unless_the_policy_asks_less", "each_runtime_tool_waits_for_its_approval"],
    ),
    (
        "command: Executable name or path; args: Positional arguments",
        &["inputs_that_are_accepted", "an_allowed_call_is_recorded_run_and_answered"],
    ),
    (
        "env: Extra environment variables",
        &["variables_are_sorted_and_checked", "variables_are_harmless_asked_about_or_denied"],
    ),
    (
        "workingDir: Working directory in sandbox",
        &["inputs_that_are_accepted", "the_workspace_is_the_default_directory"],
    ),
    (
        "timeoutMs: Max execution time (≤300 000 ms)",
        &["inputs_that_are_refused", "schemas_describe_the_accepted_inputs"],
    ),
    (
        "{ command, args, exitCode, stdout, stderr, timedOut, durationMs }",
        &["an_allowed_call_is_recorded_run_and_answered"],
    ),
    ("All output is EXTERNAL_UNTRUSTED.", &["an_allowed_call_is_recorded_run_and_answered"]),
    ("No network egress (no_network_compute sandbox)", &["an_allowed_call_is_recorded_run_and_answered"]),
    ("Approval required per invocation", &["every_call_waits_unless_the_policy_asks_less"]),
    (
        "Output must not be promoted to control-trusted status",
        &["output_of_a_caller_never_reaches_a_terminal_as_it_is"],
    ),
    (
        "process: Inspect and manage processes within the sandbox.",
        &["a_caller_sees_and_signals_its_own_processes_only"],
    ),
    (
        "process: Action class: execute | Side effects: privileged | Approval: required",
        &["each_runtime_tool_waits_for_its_approval", "a_caller_sees_and_signals_its_own_processes_only"],
    ),
    (
        "list — list sandbox processes; inspect — inspect a specific PID",
        &["a_caller_sees_and_signals_its_own_processes_only"],
    ),
    ("kill — send a signal to a PID (irreversible)", &["a_caller_sees_and_signals_its_own_processes_only"]),
    (
        "Scoped to the current sandbox namespace only",
        &[
            "a_caller_sees_and_signals_its_own_processes_only",
            "foreign_processes_are_refused_by_name",
            "a_recycled_number_is_refused",
        ],
    ),
    (
        "Signal operations are irreversible — approval required",
        &["a_caller_sees_and_signals_its_own_processes_only"],
    ),
    ("Run code text in a managed language runtime.", &["code_runs_from_a_file_and_never_from_an_argument"]),
    (
        "code-execution: Action class: execute | Approval: required",
        &["each_runtime_tool_waits_for_its_approval", "verdicts_ask_and_code_asks"],
    ),
    (
        "Supported languages: python, javascript, typescript, shell",
        &["code_runs_from_a_file_and_never_from_an_argument", "a_language_without_a_runtime_is_named"],
    ),
    (
        "language: Runtime language; code: Code to execute; timeoutMs: Max execution time (≤120 000 ms)",
        &["inputs_that_are_accepted", "inputs_that_are_refused"],
    ),
    ("No network access from code runtime", &["code_has_no_network"]),
    ("Package installation subject to operator allow list", &["packages_need_a_rule_of_the_operator"]),
    (
        "Convenience alias for running a bash script through the governed runtime. Approval: required",
        &["code_runs_from_a_file_and_never_from_an_argument", "each_runtime_tool_waits_for_its_approval"],
    ),
    (
        "bash: Equivalent to code-execution with language=shell but optimised for multi-line scripts.",
        &["inputs_that_are_accepted", "code_runs_from_a_file_and_never_from_an_argument"],
    ),
    (
        "Runtime tools are included in the Governed Execute Set.",
        &["a_set_that_only_reads_has_no_tool_that_executes"],
    ),
    (
        "They are not included in read-only sets or the Controlled Write Set. Enable them deliberately.",
        &["a_set_that_only_reads_has_no_tool_that_executes", "a_policy_that_offers_less_is_obeyed"],
    ),
    (
        "Policy requirements: action execute, resourceClass execution-node, approvalHint must_require",
        &["every_call_waits_unless_the_policy_asks_less"],
    ),
    (
        "All runtime tools require must_require approval policy.",
        &["every_call_waits_unless_the_policy_asks_less", "each_runtime_tool_waits_for_its_approval"],
    ),
    (
        "Configure the approval service and TTL before enabling.",
        &["without_approvers_an_ask_is_a_refusal", "the_policy_names_the_time_of_a_question"],
    ),
];

#[test]
fn every_sentence_has_its_tests() {
    let folders = ["crates/ccm-tool/tests/tool", "crates/ccm-tool/tests/tool/broker", "crates/ccm-tool/src"];
    let mut sources = String::new();
    for folder in folders {
        for entry in std::fs::read_dir(repository(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|ending| ending == "rs") {
                sources += &std::fs::read_to_string(path).expect("a source");
            }
        }
    }
    for (sentence, tests) in GUARDED.iter().chain(GOVERNED) {
        assert!(!tests.is_empty() || sentence.contains("left out on purpose"), "{sentence}");
        for test in *tests {
            assert!(
                sources.contains(&format!("\nfn {test}()"))
                    || sources.contains(&format!("    #[test]\n    fn {test}()")),
                "{sentence}: there is no test {test}"
            );
        }
    }
}
