//! Commands that an executor starts.

use std::path::Path;

use ccm_model::{Outcome, Resource};

use crate::build::{errors_in_settings, errors_of, with_settings};
use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::failure;

const BUILDER: &str = "{kind=native|default_work_dir=/tmp|default_env={PATH=/opt/bin|LANG=C}|\
                       command_whitelist=[make build|make 'a b'|test -e x]}";

fn with(executors: &str, properties: &[(&str, &str)]) -> Resource {
    with_settings(exec("make build", properties), &[("executors", executors)])
}

fn built(properties: &[(&str, &str)]) -> Resource {
    with(&format!("{{builder={BUILDER}|plain={{kind=exec.native}}}}"), properties)
}

#[test]
fn an_executor_gives_the_directory_and_the_whole_environment() {
    let machine = Machine::new();
    machine.apply(built(&[("executor", "builder")]));
    machine.apply(built(&[("executor", "builder"), ("cwd", "/"), ("environment", "{LANG=de|A=1}")]));
    machine.apply(built(&[("executor", "plain"), ("path", "/x")]));
    machine.apply(built(&[("executor", "plain")]));
    let ran = machine.runner.ran();
    let environment = |at: usize| {
        ran[at].environment.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(
        (ran[0].cwd.as_path(), environment(0)),
        (Path::new("/tmp"), strings(&["PATH=/opt/bin", "LANG=C"]))
    );
    assert_eq!(
        (ran[1].cwd.as_path(), environment(1)),
        (Path::new("/"), strings(&["PATH=/opt/bin", "LANG=de", "A=1"]))
    );
    assert_eq!((ran[2].cwd.as_path(), environment(2)), (Path::new("/"), strings(&["PATH=/x"])));
    assert_eq!(environment(3), Vec::<String>::new());
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_program_is_looked_for_on_the_path_of_the_executor_or_of_the_base() {
    for (executor, looked_in) in [("builder", "/opt/bin"), ("plain", "/usr/bin:/bin")] {
        let machine = Machine::new();
        machine.runner.without("make");
        let transaction = machine.apply(built(&[("executor", executor)]));
        assert_eq!(
            failure(&transaction).hints[0],
            format!("check the name of the program, or add its directory to PATH (now {looked_in})")
        );
    }
}

#[test]
fn only_what_is_on_the_whitelist_is_run() {
    for (properties, allowed) in [
        (&[][..], true),
        (&[("command", "make"), ("args", "[build]")], true),
        (&[("command", "make"), ("args", "[a b]")], true),
        (&[("command", "make build"), ("provider", "shell")], true),
        (&[("unless", "test -e x")], true),
        (&[("command", "make  build")], false),
        (&[("command", "make build; id"), ("provider", "shell")], false),
        (&[("command", "make"), ("args", "[a|b]")], false),
        (&[("onlyif", "[test -e x|test -e y]")], false),
    ] {
        let mut properties = properties.to_vec();
        properties.push(("executor", "builder"));
        let machine = Machine::new();
        machine.runner.answer("test -e x", 1);
        let resource = built(&properties);
        assert_eq!(errors_of(&resource).is_empty(), allowed, "{properties:?}");
        let transaction = machine.apply(resource);
        assert_eq!(transaction.outcome == Outcome::Changed, allowed, "{properties:?}");
        assert!(allowed || machine.runner.ran().is_empty());
    }
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (&[("executor", "bilder")][..], "unknown-reference executor bilder | builder"),
        (&[("executor", "x")], "unknown-reference executor x | …"),
        (
            &[("executor", "builder"), ("command", "make bild")],
            "invalid-value command make bild, builder | make build",
        ),
        (
            &[("executor", "builder"), ("unless", "id")],
            "invalid-value unless id, builder | command_whitelist",
        ),
    ] {
        assert_eq!(errors_of(&built(properties)), [expected], "{properties:?}");
    }
    assert_eq!(
        errors_of(&exec("true", &[("executor", "x")])),
        ["unknown-reference executor x | executors, ccm"]
    );
}

#[test]
fn errors_in_executors_are_reported_once() {
    for (executors, expected) in [
        ("{it={kind=podman}}", "invalid-value podman | docker, host"),
        ("{it={kind=lxc}}", "invalid-value lxc | native, docker"),
        ("{it={default_work_dir=/x}}", "missing kind | kind: native"),
        ("{it={kind=native|default_work_dir=x}}", "invalid-value default_work_dir x | …"),
        (
            "{it={kind=native|comand_whitelist=[a]}}",
            "unknown-property comand_whitelist comand_whitelist | command_whitelist",
        ),
        ("{it=native}", "wrong-type kind, native"),
        ("[it]", "wrong-type"),
    ] {
        let resource = with(executors, &[("executor", "it")]);
        assert_eq!(errors_in_settings(&resource), [expected], "{executors}");
        if !executors.starts_with('[') {
            assert!(errors_of(&resource).is_empty(), "{executors}");
        }
    }
}

#[cfg(not(feature = "docker"))]
#[test]
fn containers_are_refused_where_ccm_was_built_without_them() {
    let resource = with("{it={kind=docker|image=x}}", &[("executor", "it")]);
    assert_eq!(errors_in_settings(&resource), ["unsupported | docker"]);
    assert!(errors_of(&resource).is_empty());
}
