//! Executors that start commands in containers: their settings, and what they ask of an exec.

use std::path::PathBuf;

use ccm_host::{
    ContainerNetwork, ContainerReuse, ContainerSettings, EngineAddress, Executor, Launch, LaunchPlan, Local,
    PullPolicy, Purpose, StartError, Volume,
};
use ccm_model::Resource;

use crate::build::{errors_in_settings, errors_of, with_settings};
use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::{failure, run_simply};

fn with(executor: &str, properties: &[(&str, &str)]) -> Resource {
    let mut properties = properties.to_vec();
    properties.push(("executor", "box"));
    with_settings(exec("make build", &properties), &[("executors", &format!("{{box={executor}}}"))])
}

/// Executor that starts nothing, and keeps the launch that it was asked for.
#[derive(Default)]
struct Recorder(std::cell::RefCell<Option<(Launch, Purpose)>>);

impl Executor for Recorder {
    fn resolve<'a>(
        &'a self,
        launch: &'a Launch,
        purpose: Purpose,
    ) -> Local<'a, Result<Box<dyn LaunchPlan + 'a>, StartError>> {
        *self.0.borrow_mut() = Some((launch.clone(), purpose));
        Box::pin(std::future::ready(Err(StartError::NotInNoop)))
    }
}

/// Returns the launch of an exec.
fn launch(resource: Resource) -> Launch {
    let (machine, recorder) = (Machine::new(), Recorder::default());
    let host = ccm_host::Host {
        executor: &recorder,
        system: &machine.runner,
        files: &machine.files,
        clock: &machine.clock,
    };
    run_simply(vec![resource], host, false);
    let (launch, _) = recorder.0.into_inner().expect("a launch");
    launch
}

fn settings(executor: &str) -> ContainerSettings {
    let container = launch(with(executor, &[])).container.expect("a container");
    ContainerSettings::clone(&container.settings)
}

#[test]
fn every_field_has_its_default() {
    assert_eq!(
        settings("{kind=docker|image=debian:12}"),
        ContainerSettings {
            executor: "box".to_owned(),
            engine: EngineAddress::Unix(PathBuf::from("/var/run/docker.sock")),
            image: "debian:12".to_owned(),
            reuse: ContainerReuse::PerCommand,
            pull: PullPolicy::Never,
            platform: None,
            labels: Vec::new(),
            network: ContainerNetwork::Bridge,
            volumes: Vec::new(),
            tmpfs: Vec::new(),
            user: None,
            memory: None,
            cpu_quota: None,
            pids: None,
            auto_remove: false,
            read_only_root: false,
            no_new_privileges: false,
            cap_drop: Vec::new(),
            cap_add: Vec::new(),
        }
    );
}

#[test]
fn every_field_is_read() {
    let all = "{kind=exec.docker|image=python:3.11-slim|host=unix:///run/podman/podman.sock|container=per_run|\
               pull=missing|platform=linux/arm64|labels={team=web}|network_mode=none|\
               volumes=[/app/data:/workspace/data:ro|/a:/b/]|user=1000:1000|memory_limit=536870912|\
               cpu_quota=50000|pids_limit=100|auto_remove=true|read_only_rootfs=true|no_new_privileges=true|\
               cap_drop=[ALL]|cap_add=[CAP_NET_ADMIN]}";
    let volume = |source: &str, target: &str, read_only| Volume {
        source: source.to_owned(),
        target: target.to_owned(),
        read_only,
    };
    assert_eq!(
        settings(all),
        ContainerSettings {
            executor: "box".to_owned(),
            engine: EngineAddress::Unix(PathBuf::from("/run/podman/podman.sock")),
            image: "python:3.11-slim".to_owned(),
            reuse: ContainerReuse::PerRun,
            pull: PullPolicy::Missing,
            platform: Some("linux/arm64".to_owned()),
            labels: vec![("team".to_owned(), "web".to_owned())],
            network: ContainerNetwork::None,
            volumes: vec![volume("/app/data", "/workspace/data", true), volume("/a", "/b", false)],
            tmpfs: Vec::new(),
            user: Some("1000:1000".to_owned()),
            memory: Some(536_870_912),
            cpu_quota: Some(50_000),
            pids: Some(100),
            auto_remove: true,
            read_only_root: true,
            no_new_privileges: true,
            cap_drop: vec!["ALL".to_owned()],
            cap_add: vec!["NET_ADMIN".to_owned()],
        }
    );
}

#[test]
fn zero_and_null_mean_no_limit() {
    let unlimited = "{kind=docker|image=x|memory_limit=0|cpu_quota=0|pids_limit=0|user=null|volumes=[]}";
    assert_eq!(settings(unlimited), settings("{kind=docker|image=x}"));
}

#[test]
fn a_launch_lays_the_environment_of_the_exec_over_that_of_the_executor() {
    let executor = "{kind=docker|image=x|default_work_dir=/srv|default_env={A=1|B=2}}";
    let launch = launch(with(executor, &[("environment", "{B=3}"), ("path", "/opt/bin"), ("user", "app")]));
    assert_eq!(launch.cwd.as_deref(), Some(std::path::Path::new("/srv")));
    let environment: Vec<_> =
        launch.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(environment, ["A=1", "B=2", "B=3", "PATH=/opt/bin"]);
    assert_eq!(launch.user.as_deref(), Some("app"));
    assert_eq!(launch.container.map(|container| container.resource).as_deref(), Some("exec#make build"));
}

#[test]
fn a_launch_without_an_executor_for_containers_fails_on_this_machine() {
    let transaction = Machine::new().apply(with("{kind=docker|image=x}", &[]));
    let failure = failure(&transaction);
    assert_eq!(failure.chain, ["this program can't start containers"]);
    assert_eq!(failure.property.as_deref(), Some("executor"));
}

#[test]
fn wrong_settings_are_refused() {
    for (settings, expected) in [
        ("kind=docker", "missing image | image: debian:12"),
        ("kind=docker|image=", "invalid-value image | debian:12"),
        ("kind=docker|image=a b", "invalid-value image a b | debian:12"),
        ("kind=docker|image=x?y", "invalid-value image x?y | debian:12"),
        ("kind=docker|image=x|imgae=y", "unknown-property imgae imgae | image"),
        ("kind=native|image=x", "conflict image, docker | kind: docker, image"),
        ("kind=native|memory_limit=0", "conflict memory_limit, docker | kind: docker, memory_limit"),
        (
            "kind=docker|image=x|network_mode=hots",
            "invalid-value network_mode bridge, host, none, hots | host",
        ),
        (
            "kind=docker|image=x|network_mode=container:a",
            "invalid-value network_mode bridge, host, none, container:a",
        ),
        ("kind=docker|image=x|container=once", "invalid-value container per_command, per_run, once"),
        ("kind=docker|image=x|pull=newer", "invalid-value pull never, missing, always, newer | never"),
        ("kind=docker|image=x|platform=Linux", "invalid-value platform Linux | linux/arm64"),
        ("kind=docker|image=x|user=a:b:c", "invalid-value user a:b:c | USER, USER:GROUP"),
        ("kind=docker|image=x|memory_limit=-1", "invalid-value memory_limit memory_limit | 0"),
        ("kind=docker|image=x|memory_limit=512", "invalid-value memory_limit memory_limit | 0"),
        ("kind=docker|image=x|memory_limit=1g", "wrong-type memory_limit 1g"),
        ("kind=docker|image=x|cpu_quota=1", "invalid-value cpu_quota cpu_quota | 0"),
        ("kind=docker|image=x|pids_limit=-5", "invalid-value pids_limit pids_limit | 0"),
        ("kind=docker|image=x|cap_drop=[all]", "invalid-value cap_drop all | NET_ADMIN, ALL"),
        ("kind=docker|image=x|cap_drop=[A]|cap_add=[A]", "conflict A"),
        ("kind=docker|image=x|labels={ccm.run=x}", "invalid-value labels ccm., ccm.run | …"),
        ("kind=docker|image=x|auto_remove=yes", "wrong-type auto_remove yes | true, yes"),
        (
            "kind=docker|image=x|host=/run/docker.sock",
            "invalid-value host /run/docker.sock | unix:///var/run/docker.sock",
        ),
        (
            "kind=docker|image=x|host=unix://docker.sock",
            "invalid-value host unix://docker.sock | unix:///run/podman/podman.sock",
        ),
        (
            "kind=docker|image=x|host=tcp://engine",
            "invalid-value host tcp://engine | tcp://engine.example:2375",
        ),
        (
            "kind=docker|image=x|host=tcp://user@engine:1",
            "invalid-value host tcp://user@engine:1 | tcp://engine.example:2375",
        ),
        (
            "kind=docker|image=x|host=https://engine:2376",
            "unsupported host https://engine:2376 | ssh -L, unix://",
        ),
        ("kind=docker|image=x|host=ssh://engine", "unsupported host ssh:// | unix://"),
        ("kind=docker|image=x|host=tcp://engine:2375", "exposed-secret | unix://, ssh -L"),
    ] {
        let resource = with(&format!("{{{settings}}}"), &[]);
        assert_eq!(errors_in_settings(&resource), [expected], "{settings}");
    }
}

#[test]
fn wrong_volumes_are_refused() {
    const FORM: &str = "/PATH/ON/THE/HOST:/PATH/INSIDE, :ro";
    for (volumes, expected) in [
        ("[data:/x]", format!("invalid-value volumes data | {FORM}")),
        ("[./data:/x]", format!("invalid-value volumes ./data | {FORM}")),
        ("[/data]", format!("invalid-value volumes /data | {FORM}")),
        ("[/data:/x:ro:z]", format!("invalid-value volumes /data:/x:ro:z | {FORM}")),
        ("[/data:/x:z]", format!("invalid-value volumes z | {FORM}")),
        ("[/data:x]", "invalid-value volumes x".to_owned()),
        ("[/data:/]", "invalid-value volumes".to_owned()),
        ("[/data:/a/../b]", "invalid-value volumes /a/../b, ., .. | …".to_owned()),
        ("[/data:/x|/more:/x/]", "conflict /x".to_owned()),
    ] {
        let resource = with(&format!("{{kind=docker|image=x|volumes={volumes}}}"), &[]);
        assert_eq!(errors_in_settings(&resource), [expected], "{volumes}");
    }
}

#[test]
fn wrong_file_systems_in_memory_are_refused() {
    for (tmpfs, expected) in [
        ("{/tmp=rw,noexec,nosuid,size=64m}", None),
        ("{/tmp=}", None),
        ("{/tmp=nosize}", Some("invalid-value tmpfs nosize | size")),
        ("{/tmp=rw,,ro}", Some("invalid-value tmpfs | rw,noexec,nosuid,size=64m")),
        ("{/tmp=bind}", Some("invalid-value tmpfs bind | rw,noexec,nosuid,size=64m")),
        ("{tmp=rw}", Some("invalid-value tmpfs tmp")),
        ("[/tmp]", Some("wrong-type tmpfs")),
    ] {
        let resource = with(&format!("{{kind=docker|image=x|tmpfs={tmpfs}}}"), &[]);
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(errors_in_settings(&resource), expected, "{tmpfs}");
    }
    let resource = with("{kind=docker|image=x|tmpfs={/x=rw}|volumes=[/data:/x]}", &[]);
    assert_eq!(errors_in_settings(&resource), ["conflict /x"]);
}

#[test]
fn an_exec_asks_of_a_container_only_what_it_can_do() {
    const KEPT: &str = "{kind=docker|image=x}";
    const REMOVED: &str = "{kind=docker|image=x|auto_remove=true}";
    for (executor, properties, expected) in [
        (KEPT, &[("provider", "docker")][..], None),
        (KEPT, &[("provider", "shell")], None),
        (
            "{kind=native}",
            &[("provider", "docker")],
            Some("conflict executor provider: docker, docker, box | provider"),
        ),
        (
            KEPT,
            &[("sandbox", "{network=false}")],
            Some("conflict sandbox sandbox, box | network_mode, cap_drop"),
        ),
        (KEPT, &[("umask", "027")], Some("conflict umask umask, box | umask, provider: shell")),
        (
            KEPT,
            &[("environment", "{TOKEN=hunter22}")],
            Some("exposed-secret environment box | auto_remove: true, stdin"),
        ),
        (REMOVED, &[("environment", "{TOKEN=hunter22}")], None),
        (KEPT, &[("environment", "{TOKEN=public}")], None),
        (
            KEPT,
            &[("environment", "{TOKEN=public}"), ("sensitive", "true")],
            Some("exposed-secret environment box | auto_remove: true, stdin"),
        ),
        (REMOVED, &[("environment", "{TOKEN=public}"), ("sensitive", "true")], None),
        (
            "{kind=docker|image=x|default_env={TOKEN=hunter22}}",
            &[],
            Some("exposed-secret executor box | auto_remove: true, stdin"),
        ),
        (
            "{kind=docker|image=x|command_whitelist=[make test]}",
            &[],
            Some("invalid-value command make build, box | command_whitelist"),
        ),
    ] {
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(errors_of(&with(executor, properties)), expected, "{executor} {properties:?}");
    }
    assert_eq!(
        errors_of(&exec("make build", &[("provider", "docker")])),
        ["missing executor provider: docker, executor, docker | executors, ccm, executor"]
    );
    // The check of all executors reports the missing image.
    assert!(errors_of(&with("{kind=docker}", &[("provider", "docker")])).is_empty());
}
