//! `control`, which decides whether a resource is managed.

use ccm_model::Control;

use crate::fake::manifest;
use crate::machine::Machine;

#[test]
fn conditions_decide_what_is_managed() {
    let machine = Machine::with_facts("{role: web, on: true}").file("f", "x");
    for (control, reason) in [
        ("{if: 'true'}", None),
        ("{if: true}", None),
        ("{}", None),
        ("", None),
        ("{if: , unless: ~}", None),
        ("{if: Facts.on}", None),
        ("{if: \"Facts.role == 'web'\", unless: \"Facts.role == 'db'\"}", None),
        ("{if: \"lookup('facts.on')\"}", None),
        ("{if: \"file('f') == 'x'\"}", None),
        ("{if: 'false'}", Some("`if` is false")),
        ("{unless: Facts.on}", Some("`unless` is true")),
        ("{if: 'true', unless: 'true'}", Some("`unless` is true")),
    ] {
        let catalog = machine.catalog(&manifest(&format!("- note: [a: {{control: {control}}}]")));
        let expected = match reason {
            None => Control::Managed,
            Some(reason) => Control::NotManaged { reason: reason.to_owned() },
        };
        assert_eq!(catalog.resources[0].control, expected, "{control}");
    }
}

#[test]
fn defaults_may_hold_conditions() {
    let machine = Machine::default();
    let catalog = machine.catalog(&manifest(
        "- note: [defaults: {control: {if: 'false'}}, a: , b: {control: {if: 'true'}}, c: {control: }]",
    ));
    let managed: Vec<bool> =
        catalog.resources.iter().map(|resource| resource.control == Control::Managed).collect();
    assert_eq!(managed, [false, true, false]);
}

#[test]
fn unmanaged_resources_are_not_evaluated() {
    let machine = Machine::with_facts("{a: 1}");
    let catalog = machine.catalog(&manifest(
        "- task:\n    - 'x {{ Facts.gone }}': {control: {if: 'false'}, alias: '{{ Facts.gone }}', \
         ensure: '{{ Facts.gone }}', provider: '{{ Facts.gone }}', timeout: '{{ Facts.gone }}', \
         require: '{{ Facts.gone }}', environment: {'{{ Facts.gone }}': x}}\n    \
         - 'y {{ Facts.a }}': {control: {unless: 'true'}, timeout: '{{ Facts.a }}'}\n    \
         - z: {require: ['task#y 1']}\n- copy: [/a: {control: {if: 'false'}, source: gone.j2}]",
    ));
    assert_eq!(catalog.resources.len(), 4);
    assert_eq!(catalog.resources[2].require.len(), 1);
}

#[test]
fn invalid_conditions_are_errors() {
    Machine::with_facts("{role: web, n: 5}").check_all(&[
        (&manifest("- note: [a: {control: {if: '{{ true }}'}}]"), &["3:32 expression-syntax | if: true"]),
        (
            &manifest("- note: [a: {control: {unless: ' ${ Facts.role }'}}]"),
            &["3:36 expression-syntax | unless: Facts.role"],
        ),
        (&manifest("- note: [a: {control: {if: Facts.n}}]"), &["3:32 wrong-type"]),
        (
            &manifest("- note: [a: {control: {if: \"Facts.rloe == 'web'\"}}]"),
            &["3:39 unknown-name Facts.rloe | role"],
        ),
        (&manifest("- note: [a: {control: {if: 'x =='}}]"), &["3:37 expression-syntax"]),
        (&manifest("- note: [a: {control: {if: ''}}]"), &["3:33 expression-syntax"]),
        (
            &manifest("- note: [a: {control: {if: [x], unless: {a: b}}}]"),
            &["3:32 wrong-type", "3:45 wrong-type"],
        ),
        (
            &manifest("- note: [a: {control: {fi: 'true', when: 'true'}}]"),
            &["3:28 unknown-key | if", "3:40 unknown-key | if, unless"],
        ),
        (&manifest("- note: [a: {control: 'true'}]"), &["3:27 wrong-type | control: {if: \"true\"}"]),
        (&manifest("- note: [a: {control: [if: 'true']}]"), &["3:27 wrong-type"]),
        // Other errors are reported too.
        (
            &manifest("- note: [a: {control: {if: x}, text: '{{ y }}'}]"),
            &[
                "3:32 unknown-name | Facts, Data, Environ, Captures",
                "3:46 unknown-name | Facts, Data, Environ, Captures",
            ],
        ),
        (
            &manifest("- note: [defaults: {control: {if: x}}, a: , b: ]"),
            &["3:39 unknown-name | Facts, Data, Environ, Captures"],
        ),
        // Resources that are not managed are checked too.
        (
            &manifest("- note: [a: {control: {if: 'false'}, txet: x, require: [note#gone]}]"),
            &["3:42 unknown-property txet | text", "3:61 unknown-reference | note"],
        ),
    ]);
}
