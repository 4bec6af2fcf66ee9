//! Settings of a container, in the words of an Engine.

use ccm_host::{Command, ContainerReuse, ContainerSettings};
use serde_json::{Map, Value, json};

use crate::answers::ImageConfig;

/// Period of the processor quota, in microseconds.
const CPU_PERIOD: u64 = 100_000;

/// Shell that a container of a whole run is kept alive by: it waits for input, and ends with it.
pub(crate) const KEEPER: &str = "/bin/sh";

/// Returns the container of one command.
pub(crate) fn of_command(
    settings: &ContainerSettings,
    labels: &[(&str, String)],
    user: Option<&str>,
    command: &Command,
) -> Value {
    let args: Vec<_> = command.args.iter().map(|arg| arg.to_string_lossy()).collect();
    let mut body = common(settings, labels);
    // An entrypoint of the image would get the command as its arguments.
    body.insert("Entrypoint".to_owned(), json!([command.program.to_string_lossy()]));
    body.insert("Cmd".to_owned(), json!(args));
    body.insert("Env".to_owned(), environment(command));
    insert_text(&mut body, "WorkingDir", &command.cwd.to_string_lossy());
    insert_text(&mut body, "User", user.unwrap_or_default());
    insert_stdin(&mut body, command.stdin.is_some());
    Value::Object(body)
}

/// Returns the container of a whole run.
pub(crate) fn of_run(settings: &ContainerSettings, labels: &[(&str, String)]) -> Value {
    let mut body = common(settings, labels);
    body.insert("Entrypoint".to_owned(), json!([KEEPER]));
    body.insert("Cmd".to_owned(), json!([]));
    insert_text(&mut body, "User", settings.user.as_deref().unwrap_or_default());
    // The shell loses its input with the connection of ccm, even if ccm is killed.
    insert_stdin(&mut body, true);
    Value::Object(body)
}

/// Returns a command in the container of a run.
pub(crate) fn of_exec(user: Option<&str>, command: &Command) -> Value {
    let program = command.program.to_string_lossy().into_owned();
    let args = command.args.iter().map(|arg| arg.to_string_lossy().into_owned());
    let words: Vec<String> = std::iter::once(program).chain(args).collect();
    let mut body = Map::new();
    body.insert("AttachStdin".to_owned(), json!(command.stdin.is_some()));
    body.insert("AttachStdout".to_owned(), json!(true));
    body.insert("AttachStderr".to_owned(), json!(true));
    body.insert("Cmd".to_owned(), json!(words));
    body.insert("Env".to_owned(), environment(command));
    insert_text(&mut body, "WorkingDir", &command.cwd.to_string_lossy());
    insert_text(&mut body, "User", user.unwrap_or_default());
    Value::Object(body)
}

/// Returns a command that sends TERM to all processes of a container but the first, as far as a user may.
pub(crate) fn of_termination(user: Option<&str>) -> Value {
    let mut body = Map::new();
    body.insert("Cmd".to_owned(), json!([KEEPER, "-c", "kill -s TERM -1"]));
    body.insert("AttachStdout".to_owned(), json!(true));
    insert_text(&mut body, "User", user.unwrap_or_default());
    Value::Object(body)
}

fn common(settings: &ContainerSettings, labels: &[(&str, String)]) -> Map<String, Value> {
    let own = settings.labels.iter().map(|(name, value)| (name.clone(), json!(value)));
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let labels: Map<String, Value> = own.chain(labels).collect();
    let mut body = Map::new();
    body.insert("Image".to_owned(), json!(settings.image));
    body.insert("Labels".to_owned(), Value::Object(labels));
    body.insert("Tty".to_owned(), json!(false));
    body.insert("AttachStdout".to_owned(), json!(true));
    body.insert("AttachStderr".to_owned(), json!(true));
    // A health check of the image would run commands beside the one of the manifest.
    body.insert("Healthcheck".to_owned(), json!({ "Test": ["NONE"] }));
    body.insert("HostConfig".to_owned(), host_config(settings));
    body
}

fn host_config(settings: &ContainerSettings) -> Value {
    let mounts: Vec<Value> = settings
        .volumes
        .iter()
        .map(|volume| {
            // Unlike `Binds`, a mount whose source does not exist is an error, and no directory is made.
            json!({
                "Type": "bind", "Source": volume.source, "Target": volume.target, "ReadOnly": volume.read_only,
            })
        })
        .collect();
    let tmpfs: Map<String, Value> =
        settings.tmpfs.iter().map(|(path, options)| (path.clone(), json!(options))).collect();
    let mut config = json!({
        "NetworkMode": settings.network.name(),
        "AutoRemove": false,
        "ReadonlyRootfs": settings.read_only_root,
        "CapDrop": settings.cap_drop,
        "CapAdd": settings.cap_add,
        "Mounts": mounts,
        "Tmpfs": tmpfs,
        "RestartPolicy": { "Name": "no" },
    });
    let mut set = |name: &str, value: Value| {
        if let Some(config) = config.as_object_mut() {
            config.insert(name.to_owned(), value);
        }
    };
    if settings.no_new_privileges {
        set("SecurityOpt", json!(["no-new-privileges"]));
    }
    if let Some(memory) = settings.memory {
        set("Memory", json!(memory));
        // Without this the container gets as much swap besides.
        set("MemorySwap", json!(memory));
    }
    if let Some(quota) = settings.cpu_quota {
        set("CpuQuota", json!(quota));
        set("CpuPeriod", json!(CPU_PERIOD));
    }
    if let Some(pids) = settings.pids {
        set("PidsLimit", json!(pids));
    }
    if settings.auto_remove {
        // The log would be removed with the container, and until then fill the disk.
        set("LogConfig", json!({ "Type": "none" }));
    }
    config
}

fn environment(command: &Command) -> Value {
    command.environment.iter().map(|(name, value)| Value::from(format!("{name}={value}"))).collect()
}

fn insert_text(body: &mut Map<String, Value>, name: &str, text: &str) {
    if !text.is_empty() {
        body.insert(name.to_owned(), json!(text));
    }
}

fn insert_stdin(body: &mut Map<String, Value>, reads: bool) {
    body.insert("AttachStdin".to_owned(), json!(reads));
    body.insert("OpenStdin".to_owned(), json!(reads));
    body.insert("StdinOnce".to_owned(), json!(reads));
}

/// Returns the user of a command, as an Engine takes it: that of the exec, of the executor, or of the image. A group
/// alone keeps the user.
pub(crate) fn user(
    own: Option<&str>,
    group: Option<&str>,
    settings: &ContainerSettings,
    image: &ImageConfig,
) -> Option<String> {
    let by_default = settings.user.as_deref().or(image.user.as_deref()).filter(|user| !user.is_empty());
    match (own, group) {
        (None, None) => settings.user.clone(),
        (Some(user), None) => Some(user.to_owned()),
        (Some(user), Some(group)) => Some(format!("{user}:{group}")),
        (None, Some(group)) => {
            let user = by_default.and_then(|user| user.split(':').next()).unwrap_or("0");
            Some(format!("{user}:{group}"))
        }
    }
}

/// Returns the search path inside: that of the command, or else of the image, or else the one that an Engine sets.
pub(crate) fn search_path(environment: &[(String, String)], image: &ImageConfig) -> String {
    let of_image = || image.env.iter().flatten().find_map(|variable| variable.strip_prefix("PATH="));
    ccm_host::search_path(environment).or_else(of_image).unwrap_or(ccm_host::SEARCH_PATH).to_owned()
}

/// Returns `true` if commands of a run share the container.
pub(crate) fn is_shared(settings: &ContainerSettings) -> bool {
    settings.reuse == ContainerReuse::PerRun
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ccm_host::{ContainerNetwork, EngineAddress, Volume};

    use super::*;

    pub(crate) fn settings() -> ContainerSettings {
        ContainerSettings::new("box", EngineAddress::Unix("/run/docker.sock".into()), "debian:12")
    }

    #[test]
    fn no_limit_is_sent_for_zero() {
        let config = host_config(&settings());
        for name in ["Memory", "MemorySwap", "CpuQuota", "CpuPeriod", "PidsLimit", "SecurityOpt", "LogConfig"]
        {
            assert_eq!(config.get(name), None, "{name}");
        }
        assert_eq!(config["NetworkMode"], "bridge");
    }

    #[test]
    fn every_setting_is_sent() {
        let all = ContainerSettings {
            network: ContainerNetwork::None,
            volumes: vec![Volume { source: "/a".to_owned(), target: "/b".to_owned(), read_only: true }],
            tmpfs: vec![("/tmp".to_owned(), "size=1m".to_owned())],
            memory: Some(7),
            cpu_quota: Some(8),
            pids: Some(9),
            auto_remove: true,
            read_only_root: true,
            no_new_privileges: true,
            cap_drop: vec!["ALL".to_owned()],
            cap_add: vec!["CHOWN".to_owned()],
            ..settings()
        };
        assert_eq!(
            host_config(&all),
            json!({
                "NetworkMode": "none", "AutoRemove": false, "ReadonlyRootfs": true, "CapDrop": ["ALL"],
                "CapAdd": ["CHOWN"],
                "Mounts": [{"Type": "bind", "Source": "/a", "Target": "/b", "ReadOnly": true}],
                "Tmpfs": {"/tmp": "size=1m"}, "RestartPolicy": {"Name": "no"},
                "SecurityOpt": ["no-new-privileges"], "Memory": 7, "MemorySwap": 7, "CpuQuota": 8,
                "CpuPeriod": 100_000, "PidsLimit": 9, "LogConfig": {"Type": "none"},
            })
        );
    }

    #[test]
    fn a_command_replaces_the_entrypoint_of_the_image() {
        let command = Command {
            args: vec!["-c".into(), "x".into()],
            cwd: PathBuf::new(),
            environment: vec![("A".to_owned(), "b=c".to_owned())],
            ..Command::new("sh")
        };
        let body = of_command(&settings(), &[("ccm.run", "r".to_owned())], Some("1:2"), &command);
        assert_eq!((&body["Entrypoint"], &body["Cmd"]), (&json!(["sh"]), &json!(["-c", "x"])));
        assert_eq!((&body["Env"], &body["User"]), (&json!(["A=b=c"]), &json!("1:2")));
        assert_eq!(body["Labels"], json!({"ccm.run": "r"}));
        assert_eq!(body.get("WorkingDir"), None);
    }

    #[test]
    fn a_group_alone_keeps_the_user() {
        let image = ImageConfig { user: Some("app:app".to_owned()), ..ImageConfig::default() };
        let with_user = ContainerSettings { user: Some("5".to_owned()), ..settings() };
        for (own, group, settings, expected) in [
            (None, None, settings(), None),
            (None, None, with_user.clone(), Some("5")),
            (Some("a"), None, with_user.clone(), Some("a")),
            (Some("a"), Some("g"), settings(), Some("a:g")),
            (None, Some("g"), settings(), Some("app:g")),
            (None, Some("g"), with_user, Some("5:g")),
        ] {
            assert_eq!(user(own, group, &settings, &image).as_deref(), expected);
        }
        assert_eq!(user(None, Some("g"), &settings(), &ImageConfig::default()).as_deref(), Some("0:g"));
    }

    #[test]
    fn the_search_path_is_that_of_the_command_or_of_the_image() {
        let image =
            ImageConfig { env: Some(vec!["A=b".to_owned(), "PATH=/i".to_owned()]), ..ImageConfig::default() };
        let own = [("PATH".to_owned(), "/o".to_owned())];
        assert_eq!(search_path(&own, &image), "/o");
        assert_eq!(search_path(&[], &image), "/i");
        assert!(search_path(&[], &ImageConfig::default()).ends_with(":/bin"));
    }
}
