//! Programs that lie beside a manifest, and that an exec without a sandbox starts.

use ccm_testkit::Scratch;

use crate::ccm;

/// Manifest that starts programs of its own directory: as a command, a guard, and in the text of a shell.
const MANIFEST: &str = "ccm:
  resources:
    - exec:
        - command: {command: '{{ Manifest.dir }}/bin/tool command', creates: /nonexistent}
        - guard: {command: 'true', onlyif: '{{ Manifest.dir }}/bin/tool guard'}
        - arguments: {command: '{{ Manifest.dir }}/bin/tool', args: [arguments]}
        - shell: {provider: shell, command: '\"${Manifest.dir}/bin/tool\" shell | cat'}
        - elsewhere: {command: '{{ Manifest.dir }}/bin/tool elsewhere', cwd: /tmp}
";

/// Program that notes its argument beside itself.
const TOOL: &str = "#!/bin/sh\necho \"$1\" >> \"${0%/*}/noted\"\n";

fn noted(scratch: &Scratch, directory: &str) -> String {
    std::fs::read_to_string(scratch.at(&format!("{directory}/bin/noted"))).unwrap_or_default()
}

#[test]
fn programs_beside_a_manifest_start_without_a_sandbox() {
    // A blank in the path stays within a word.
    for directory in ["site", "my site"] {
        let scratch = Scratch::new();
        scratch.write(&format!("{directory}/site.yaml"), MANIFEST);
        scratch.write_program(&format!("{directory}/bin/tool"), TOOL);
        // The working directory of ccm is another one.
        let called = ccm(&scratch, &["apply", &format!("{directory}/site.yaml")]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        assert_eq!(
            noted(&scratch, directory),
            "command\nguard\narguments\nshell\nelsewhere\n",
            "{directory}"
        );
    }
}

#[test]
fn a_child_manifest_starts_the_programs_beside_itself() {
    let scratch = Scratch::new();
    scratch.write("site.yaml", "ccm: {resources: [{apply: [roles/web/web.yaml]}]}\n");
    scratch.write("roles/web/web.yaml", MANIFEST);
    scratch.write_program("roles/web/bin/tool", TOOL);
    scratch.write_program("bin/tool", "#!/bin/sh\nexit 1\n");
    let called = ccm(&scratch, &["apply", "site.yaml"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(noted(&scratch, "roles/web"), "command\nguard\narguments\nshell\nelsewhere\n");
}

#[test]
fn a_program_beside_the_manifest_that_is_missing_is_named_in_noop() {
    let scratch = Scratch::new();
    scratch.write("site/site.yaml", MANIFEST);
    let called = ccm(&scratch, &["apply", "--noop", "site/site.yaml"]).run();
    let expected = "a run would fail now: \"[dir]/site/bin/tool\" not found";
    assert!(called.stdout.contains(expected), "{}", called.shown());
}
