//! Requests for facts and environment.

use crate::fake::manifest;
use crate::machine::Machine;

const FACTS: &str = "{host: {info: {os: linux, hostname: h}}, cpu: {info: []}, role: web}";

fn requested(machine: &Machine) -> Vec<String> {
    machine.requested.borrow().iter().map(|path| path.join(".")).collect()
}

#[test]
fn facts_are_gathered_only_if_used() {
    let none: &[&str] = &[];
    for (items, expected) in [
        ("- note: [a: {text: x}]", none),
        ("- note: [a: {text: '{{ 1 + 1 }}'}]", none),
        ("- note: [a: {text: '{{ Environ.A ?? 1 }}'}]", none),
        ("- note: [a: {text: '{{ Facts.role }}'}]", &["role"]),
        (
            "- note: [a: {text: '{{ Facts.host.info.os }}', alias: '{{ Facts.host.info.os }}-x'}]",
            &["host.info.os"],
        ),
        (
            "- note: [a: {text: '<{{ Facts.host.info }}>'}, b: {text: '{{ Facts.host.info.os }}'}]",
            &["host.info"],
        ),
        (
            "- note: [a: {text: '{{ Facts.role }}'}, b: {text: '{{ Facts.host.info.os }}'}]",
            &["role", "host.info.os"],
        ),
        ("- note: [a: {text: \"{{ lookup('facts.host.info.os') }}\"}]", &["host.info.os"]),
        ("- note: [a: {text: \"{{ lookup('facts.' + 'role') }}\"}]", &["role"]),
        ("- note: [a: {text: \"{{ lookup('facts.cpu.info.#') }}\"}]", &["cpu.info"]),
        ("- note: [a: {text: \"{{ Facts['host'].info['os'] }}\"}]", &["host.info.os"]),
        ("- note: [a: {text: \"{{ Facts['ro' + 'le'] }}\"}]", &[""]),
        ("- note: [a: {text: '{{ Facts | keys() | len() }}'}]", &[""]),
        ("- note: [a: {text: '{{ $env[\"Facts\"].role }}'}]", &["role"]),
        ("- note: [a: {control: {if: Facts.role == 'web'}}]", &["role"]),
        // An unmanaged resource requests no facts.
        ("- note: [a: {control: {if: 'false'}, text: '{{ Facts.role }}'}]", none),
        ("- copy: [/a: {source: facts.j2}]", &["host.info.os"]),
        ("- copy: [/a: {source: includes.j2}]", &["role", "host.info.os"]),
    ] {
        let machine = Machine::with_facts(FACTS)
            .file("facts.j2", "{{ Facts.host.info.os }}")
            .file("includes.j2", "{{ Facts.role }}{% include 'facts.j2' %}");
        machine.catalog(&manifest(items));
        assert_eq!(requested(&machine), expected, "{items}");
    }
}

#[test]
fn unused_overrides_impose_no_annotations() {
    let machine = Machine::with_facts(FACTS);
    machine.catalog(&format!(
        "data: {{a: 1}}\nhierarchy: {{order: ['role:{{{{ Facts.role }}}}', other]}}\n\
         overrides: {{'role:web': {{a: 2}}, other: {{a: '{{{{ Facts.host }}}}'}}}}\n{}",
        manifest("- note: [a: {text: '{{ Data.a }}'}]")
    ));
    assert_eq!(requested(&machine), ["role"]);
}

#[test]
fn the_environment_is_read_once_and_only_if_used() {
    let machine = Machine::default().variable("A", "x");
    machine.catalog(&manifest("- note: [a: {text: '{{ 1 }}'}]"));
    assert_eq!(machine.environment_requests.get(), 0);
    machine.catalog(&manifest("- note: [a: {text: '{{ Environ.A }}'}, b: {text: '{{ Environ.A }}'}]"));
    assert_eq!(machine.environment_requests.get(), 1);
}

#[test]
fn a_file_is_read_once() {
    let machine = Machine::default().file("f", "x");
    machine.catalog(&manifest("- note: [a: {text: \"{{ file('f') }}\"}, b: {text: \"{{ file('./f') }}\"}]"));
    assert_eq!(machine.read.borrow().len(), 1);
}
