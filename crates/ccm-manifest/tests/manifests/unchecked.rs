//! Manifests that are checked without inputs of their machine.

use ccm_manifest::OmittedInputs;

use crate::machine::Machine;

const FILES: OmittedInputs = OmittedInputs { files: true, facts: false, encrypted: false, copied: false };
const ALL: OmittedInputs = OmittedInputs { files: true, facts: true, encrypted: false, copied: false };

/// Compares the errors and the inputs that were left out.
fn check(machine: &Machine, omitted: OmittedInputs, cases: &[(&str, &[&str], &[&str])]) {
    let mut differences = String::new();
    for (text, errors, unchecked) in cases {
        let found = machine.checked_without(text, omitted);
        if found.0 != *errors || found.1 != *unchecked {
            differences += &format!("--- {text}\n{found:#?}\n");
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn files_of_the_machine_are_not_read_and_those_beside_the_manifest_may_be_missing() {
    let machine = Machine::default()
        .file("near", "loud")
        .file("/etc/level", "no level")
        .file("near.j2", "{{ file('/etc/level') }}{{ file('gone') }}");
    check(
        &machine,
        FILES,
        &[
            ("ccm: {resources: [task: [a: {level: \"{{ file('near') }}\"}]]}", &[], &[]),
            // A file of the machine is not read, even if it exists.
            (
                "ccm: {resources: [task: [a: {level: \"{{ file('/etc/level') }}\"}]]}",
                &[],
                &["1:37 file /etc/level"],
            ),
            ("ccm: {resources: [task: [a: {level: \"{{ file('gone') }}\"}]]}", &[], &["1:37 file /m/gone"]),
            // A default does not hide that the value is unknown.
            (
                "ccm: {resources: [task: [a: {level: \"{{ file('gone') ?? 'x' }}\"}]]}",
                &[],
                &["1:37 file /m/gone"],
            ),
            (
                "ccm: {resources: [task: [a: {level: \"{{ template('near.j2') }}\"}]]}",
                &[],
                &["1:37 file /etc/level"],
            ),
            ("ccm: {resources: [copy: [/a: {source: gone.j2}]]}", &[], &["1:39 file /m/gone.j2"]),
            // Everything else is checked.
            (
                "ccm: {resources: [task: [a: {level: x, guard: \"{{ file('gone') }}\", timeout: \"{{ file('gone' }}\"}]]}",
                &["1:37 invalid-value level", "1:94 expression-syntax"],
                &["1:47 file /m/gone"],
            ),
        ],
    );
    let (errors, _) = machine.checked_without("ccm: {resources: [apply: [gone.yaml: ]]}", FILES);
    assert_eq!(errors, ["1:27 unreadable | …"], "a manifest is part of what is checked");
}

#[test]
fn data_made_of_unknown_values_is_unknown_and_other_data_is_checked() {
    const DATA: &str = "data:\n  # @require\n  # @validate len(value) > 3\n  secret: \"{{ file('/key') }}\"\n  level: x\n  all: [1, \"{{ file('/key') }}\"]\n";
    let with = |resources: &str| format!("{DATA}ccm: {{resources: [{resources}]}}\n");
    let all: Vec<(String, Vec<&str>, Vec<&str>)> = vec![
        (with("task: [a: {level: '{{ Data.secret }}'}]"), vec![], vec!["4:11 file /key", "6:12 file /key"]),
        (
            with("task: [a: {level: '{{ Data.level }}'}]"),
            vec!["7:37 invalid-value level | …"],
            vec!["4:11 file /key", "6:12 file /key"],
        ),
        (
            with("task: [a: {level: '{{ Data.levl }}'}]"),
            vec!["7:46 unknown-name Data.levl | level"],
            vec!["4:11 file /key", "6:12 file /key"],
        ),
        (
            with("task: [a: {level: '{{ Data.all[0] }}'}, b: {level: \"{{ lookup('data.all.0') }}\"}]"),
            vec![],
            vec!["4:11 file /key", "6:12 file /key"],
        ),
        // A computed key may be any key.
        (
            with("task: [a: {level: '{{ Data[Data.level] }}'}, b: {level: '{{ len(Data) }}'}]"),
            vec![],
            vec!["4:11 file /key", "6:12 file /key"],
        ),
        (
            with("task: [\"{{ Data.secret }}\": , b: {require: ['task#x', 'note#y']}]"),
            vec!["7:73 unknown-reference | note"],
            vec!["4:11 file /key", "6:12 file /key"],
        ),
    ];
    for (text, errors, unchecked) in all {
        let found = Machine::default().checked_without(&text, FILES);
        assert_eq!((found.0, found.1), (owned(&errors), owned(&unchecked)), "{text}");
    }
    // A value from the command line is known.
    let machine = Machine::default().assignment("secret=loud").assignment("all=1");
    let found = machine.checked_without(&with("task: [a: {level: '{{ Data.secret }}'}]"), FILES);
    assert!(found.1.is_empty(), "{found:?}");
    let machine = Machine::default().assignment("secret=none");
    let (errors, _) = machine.checked_without(&with("task: [a: {level: '{{ Data.secret }}'}]"), FILES);
    assert_eq!(errors, ["7:37 invalid-value level | …"]);
}

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn unknown_data_is_unknown_in_templates_overrides_data_files_and_children() {
    let secret = "secret: \"{{ file('/key') }}\"";
    let child = "data: {other: x}\nccm: {resources: [task: [c: {level: '{{ Data.secret }}', timeout: '{{ Data.other }}'}]]}";
    let machine = || {
        Machine::with_facts("{os: debian}")
            .file("of_secret.j2", "{{ Data.secret }}")
            .file("of_level.j2", "{% include 'of_other.j2' %}")
            .file("of_other.j2", "{{ Data.other }}")
            .file("text.templ", "{{ Data.secret }}")
            .file("child.yaml", child)
    };
    let errors_of = |machine: Machine, text: &str| machine.checked_without(text, FILES).0;
    let data = format!("data: {{{secret}, other: x}}\n");
    for (level, is_known) in [
        ("template('of_secret.j2')", false),
        ("template('of_level.j2')", true),
        ("template('text.templ')", false),
        ("$env['Data'].other", true),
        ("len($env) > 0 ? 'x' : 'x'", false),
    ] {
        let text = format!("{data}ccm: {{resources: [task: [a: {{level: \"{{{{ {level} }}}}\"}}]]}}");
        assert_eq!(errors_of(machine(), &text).len(), usize::from(is_known), "{level}");
    }
    let using = "ccm: {resources: [task: [a: {level: '{{ Data.secret }}', timeout: '{{ Data.other }}'}]]}";
    let only_other = |errors: Vec<String>| errors.len() == 1 && errors[0].contains("timeout");
    let overridden = format!(
        "data: {{secret: x, other: x}}\nhierarchy: {{order: ['os:debian']}}\noverrides: {{'os:debian': {{{secret}}}}}\n{using}"
    );
    assert!(only_other(errors_of(machine(), &overridden)), "{:?}", errors_of(machine(), &overridden));
    let from_file = machine().hiera("f.yaml", &format!("data: {{{secret}}}"));
    let errors = errors_of(from_file, &format!("data: {{secret: x, other: x}}\n{using}"));
    assert!(only_other(errors.clone()), "{errors:?}");
    for apply in [
        format!("data: {{{secret}}}\nccm: {{resources: [apply: [child.yaml: ]]}}"),
        format!("ccm: {{resources: [apply: [child.yaml: {{data: {{{secret}}}}}]]}}"),
    ] {
        let errors = errors_of(machine(), &apply);
        assert!(only_other(errors.clone()), "{apply}: {errors:?}");
    }
}

#[test]
fn variables_and_facts_may_be_missing() {
    const TEXT: &str = "ccm:\n  resources:\n    - task:\n        - a: {level: '{{ Environ.LEVEL }}'}\n        - b: {level: \"{{ lookup('facts.level.x') }}\"}\n";
    let machine = || Machine::with_facts("{host: {info: {os: linux}}, role: web}").variable("HOME", "/root");
    check(
        &machine(),
        FILES,
        &[(
            TEXT,
            &["5:26 unknown-name facts.level.x | lookup('facts.level.x', '')"],
            &["4:22 variable LEVEL"],
        )],
    );
    check(
        &machine(),
        ALL,
        &[
            (TEXT, &[], &["4:22 variable LEVEL", "5:22 fact level.x"]),
            // A fact of every machine is there, and a misspelt one is an error.
            (
                "ccm: {resources: [task: [a: {level: '{{ Facts.host.info.oss }}'}]]}",
                &["1:57 unknown-name Facts.host.info.oss | os"],
                &[],
            ),
            (
                "ccm: {resources: [task: [a: {level: '{{ Facts.rolle }}'}]]}",
                &["1:47 unknown-name Facts.rolle | role"],
                &[],
            ),
            // A condition that is unknown hides no error of its resource.
            (
                "ccm: {resources: [task: [a: {level: x, control: {if: Facts.level == 1}}]]}",
                &["1:37 invalid-value level"],
                &["1:54 fact level"],
            ),
            ("ccm: {resources: [task: [a: {level: '{{ Environ.LEVEL ?? \"loud\" }}'}]]}", &[], &[]),
        ],
    );
}

#[test]
fn sources_may_be_missing_unless_a_resource_makes_them() {
    let machine = Machine::default().reporting_missing().file("there", "").file("/etc/there", "");
    let with = |resources: &str| format!("ccm: {{resources: [{resources}]}}");
    let [near, of_machine, made] = [
        with("copy: [/a: {source: there}, /b: {source: gone}]"),
        with("copy: [/a: {source: /etc/there}]"),
        with("copy: [/a: {content: x}, /b: {source: /a}]"),
    ];
    check(
        &machine,
        FILES,
        &[
            (&near, &[], &["1:60 file /m/gone"]),
            (&of_machine, &[], &["1:39 file /etc/there"]),
            (&made, &[], &[]),
        ],
    );
}

#[test]
fn generated_resources_may_be_unknown() {
    let machine = Machine::default().file("list.j2", "- task: [\"{{ file('/names') }}\": ]\n");
    let text = "ccm: {resources_template: list.j2}";
    let found = machine.checked_without(text, FILES);
    assert_eq!((found.0, found.1), (vec![], vec!["1:27 file /names".to_owned()]));
}

#[test]
fn the_list_of_a_foreach_may_be_unknown() {
    check(
        &Machine::default(),
        FILES,
        &[(
            "ccm: {resources: [{foreach: \"{{ split(file('/users'), ',') }}\", task: [\"{{ Item }}\": ]}, {task: [b: {require: [task#bob, copy#/a]}]}]}",
            &["1:122 unknown-reference | copy"],
            &["1:29 file /users"],
        )],
    );
}
