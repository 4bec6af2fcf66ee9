//! Answers of an Engine, with the fields that ccm reads. Docker and Podman leave out some of the others.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use ccm_model::parse_timestamp;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct ErrorMessage {
    pub message: String,
}

/// Created container or command.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Created {
    pub id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ImageDetails {
    #[serde(default)]
    pub config: Option<ImageConfig>,
}

/// Settings of an image that hold for its containers.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct ImageConfig {
    pub env: Option<Vec<String>>,
    pub working_dir: Option<String>,
    pub user: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Waited {
    pub status_code: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(crate) struct ContainerState {
    pub running: bool,
    #[serde(rename = "OOMKilled")]
    pub oom_killed: bool,
    pub error: String,
    started_at: String,
}

impl ContainerState {
    /// Returns the time of the start by the clock of the Engine.
    pub(crate) fn started_at(&self) -> SystemTime {
        // Too many events are found without it, and none is missed.
        parse_timestamp(&self.started_at).unwrap_or(UNIX_EPOCH)
    }
}

/// State of a command in a running container.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ExecInspection {
    #[serde(default)]
    pub running: bool,
    #[serde(default)]
    pub exit_code: Option<i64>,
    /// 0 for a command that was never started.
    #[serde(default)]
    pub pid: i64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListedContainer {
    pub id: String,
    #[serde(default)]
    pub names: Option<Vec<String>>,
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub state: String,
}

impl ListedContainer {
    /// Returns the name, without the slash that Docker puts before it, or else the number.
    pub(crate) fn name(&self) -> &str {
        let name = self.names.iter().flatten().next().map(|name| name.trim_start_matches('/'));
        name.unwrap_or(&self.id)
    }

    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.as_ref().and_then(|labels| labels.get(name)).map_or("", String::as_str)
    }
}

/// Line that reports the progress of a pull.
#[derive(Debug, Deserialize)]
pub(crate) struct PullProgress {
    #[serde(default)]
    pub error: Option<String>,
}
