//! Files that a text downloads and runs, and what is published or reached by the words of build tools.

use ccm_shell::ShellWord;

use super::entries::Call;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables;

impl Analyser<'_> {
    /// Returns `true` if a command before has downloaded a file.
    pub(super) fn is_downloaded(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        self.analysis.commands.iter().any(|command| {
            // `curl -O` and `wget` take the name from the address.
            let is_named = || {
                command.words.iter().skip(1).any(|word| {
                    let address = word.shown.split(['?', '#']).next().unwrap_or_default();
                    address.rsplit_once('/').is_some_and(|(_, last)| last == name)
                })
            };
            let writes = |effect: &Effect| {
                let object = effect.object.as_deref().unwrap_or_default();
                let is_below = || super::paths::is_within(path, object) && is_named();
                effect.kind == EffectKind::Write && (object == path || effect.is_recursive && is_below())
            };
            let downloads =
                || command.base_name().and_then(tables::find).is_some_and(|entry| entry.downloads);
            command.effects.iter().any(writes) && downloads()
        })
    }

    /// Judges words of a build tool that publish something, and the address of a daemon that is reached by `ssh`.
    pub(super) fn publishing_words(&mut self, call: &Call<'_>) {
        let publishes = match call.name {
            "mvn" | "mvnw" => is_published_by_maven,
            "gradle" | "gradlew" | "sbt" => is_published_by_gradle,
            "docker" | "podman" | "nerdctl" => return self.remote_daemon(call),
            _ => return,
        };
        let words: Vec<String> = call.operands.iter().map(shell_words::with_placeholders).collect();
        if let Some(word) = words.iter().find(|word| publishes(word)) {
            self.effect(call.index, Effect::new(EffectKind::Publish, None).with_action(word.clone()));
            let what = format!("`{} {word}` publishes", call.name);
            let span = self.span(call.index);
            self.finding(call.index, GuardClass::Publish, what, span, Some(WayOut::AskOperator));
        }
    }

    fn remote_daemon(&mut self, call: &Call<'_>) {
        let is_host = |name: &str| matches!(name, "-H" | "--host" | "--url" | "--connection");
        let values: Vec<ShellWord> = call
            .parsed
            .options
            .iter()
            .filter(|option| is_host(&option.name))
            .filter_map(|option| option.value.clone())
            .collect();
        for value in values {
            let text = shell_words::with_placeholders(&value).to_ascii_lowercase();
            let is_local = text.starts_with("unix://") || text.starts_with('/');
            if value.text().is_none() || !is_local {
                self.effect(call.index, Effect::new(EffectKind::Remote, None).with_action(call.name));
                let what = format!("`{}` works on the daemon {text}", call.name);
                let span = self.span(call.index);
                self.finding(call.index, GuardClass::Remote, what, span, Some(WayOut::AskOperator));
            }
        }
    }
}

/// Returns `true` for a phase or goal of Maven that uploads.
fn is_published_by_maven(word: &str) -> bool {
    let goal = word.rsplit(':').next().unwrap_or_default();
    matches!(word, "deploy" | "site-deploy")
        || word.contains(':') && matches!(goal, "deploy" | "deploy-file" | "perform" | "push" | "release")
        || word.starts_with("jib:build")
}

/// Returns `true` for a task of Gradle or sbt that uploads. Gradle accepts abbreviations.
fn is_published_by_gradle(word: &str) -> bool {
    let task = word.rsplit(['/', ':']).next().unwrap_or_default().trim_start_matches('+');
    let is_local = ["publishLocal", "publishM2", "publishToMavenLocal"].contains(&task);
    let is_short = task.len() >= 3 && "publish".starts_with(task);
    let starts = ["publish", "upload", "closeAndRelease", "releaseSonatype"];
    !is_local && (is_short || starts.iter().any(|start| task.starts_with(start)))
}
