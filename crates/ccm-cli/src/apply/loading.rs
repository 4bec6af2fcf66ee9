//! Reading and loading of the manifests of a run. Nothing is run if one of them is not valid.

use std::path::PathBuf;

use ccm_runtime::{
    BeginError, BeginFailure, ExitCode, Input, LoadedManifest, ManifestConflict, ManifestSource, RunOptions,
    Session, error_layers,
};

use super::ApplyContext;
use crate::{diagnostics, manifest, session, state};

impl ApplyContext {
    /// Refuses manifests that are given twice.
    pub(super) fn refuse_duplicates(&self, session: &Session) -> Result<(), ExitCode> {
        let paths = &self.arguments.manifests;
        let sources: Vec<ManifestSource> = paths.iter().map(|path| manifest::source(path)).collect();
        let Some((first, second)) = session.same_sources(&sources) else { return Ok(()) };
        let [first_name, second_name] = [first, second].map(|position| paths[position].display().to_string());
        let message = match &sources[second] {
            ManifestSource::StandardInput => "standard input is given twice".to_owned(),
            ManifestSource::File(_) if first_name == second_name => {
                format!("the manifest {first_name} is given twice")
            }
            ManifestSource::File(_) => format!("{first_name} and {second_name} are the same manifest"),
        };
        self.console.error(&format!("{message}; nothing was run"), &[], &[]);
        Err(ExitCode::Usage)
    }

    /// Reads the manifests. One that exists but can't be read is recorded as refused.
    pub(super) async fn read(&self, session: &Session) -> Result<Vec<Input>, ExitCode> {
        let Self { arguments, console, .. } = self;
        let values = session::values(&arguments.values);
        let read = |path: &PathBuf| {
            let source = manifest::source(path);
            let input = session.read(source.clone(), &values, arguments.limits.max_manifest_size);
            (source, input)
        };
        let read: Vec<_> = arguments.manifests.iter().map(read).collect();
        for ((_, input), path) in read.iter().zip(&arguments.manifests).skip(1) {
            if let Err(error) = input {
                manifest::refuse_possible_value(console, path, &arguments.values, error)?;
            }
        }
        let mut inputs = Vec::with_capacity(read.len());
        for (source, input) in read {
            match input {
                Ok(input) => inputs.push(input),
                Err(error) => {
                    manifest::report_input_error(console, &error);
                    if !manifest::is_missing(&error) {
                        self.record_refusal(session, &source, &error_layers(&error).join(": ")).await;
                    }
                }
            }
        }
        if inputs.len() < arguments.manifests.len() {
            // The others are checked, so that one call shows all errors.
            let valid = self.load_each(session, &inputs).await.len();
            return Err(self.report_invalid(arguments.manifests.len() - valid));
        }
        Ok(inputs)
    }

    /// Loads the manifests, and shows their warnings or errors. A manifest with errors is recorded as refused.
    pub(super) async fn load<'s>(
        &self,
        session: &'s Session,
        inputs: &'s [Input],
    ) -> Result<Vec<LoadedManifest<'s>>, ExitCode> {
        let Self { arguments, console, .. } = self;
        let manifests = self.load_each(session, inputs).await;
        if manifests.len() < inputs.len() {
            return Err(self.report_invalid(inputs.len() - manifests.len()));
        }
        if !arguments.quiet {
            for manifest in &manifests {
                diagnostics::print(console, manifest.warnings());
            }
        }
        let references: Vec<&LoadedManifest<'_>> = manifests.iter().collect();
        let conflicts = session.conflicts(&references);
        if !conflicts.is_empty() {
            for conflict in &conflicts {
                self.report_conflict(conflict);
            }
            return Err(ExitCode::NothingRun);
        }
        Ok(manifests)
    }

    /// Loads the manifests, shows the errors of those that have some, and returns the others.
    async fn load_each<'s>(&self, session: &'s Session, inputs: &'s [Input]) -> Vec<LoadedManifest<'s>> {
        let mut manifests = Vec::with_capacity(inputs.len());
        for input in inputs {
            match session.load(input) {
                Ok(manifest) => manifests.push(manifest),
                Err(errors) => {
                    manifest::report_manifest_errors(&self.console, &errors, input);
                    self.record_refusal(session, input.source(), &errors.text()).await;
                }
            }
        }
        manifests
    }

    /// Reports the number of manifests that are not valid, if several were given.
    fn report_invalid(&self, invalid: usize) -> ExitCode {
        let total = self.arguments.manifests.len();
        if total > 1 {
            let message = format!("{}; nothing was run", manifest::count_of_invalid(invalid, total));
            self.console.error(&message, &[], &[]);
        }
        ExitCode::NothingRun
    }

    fn report_conflict(&self, conflict: &ManifestConflict) {
        let (resources, hint) = match conflict {
            ManifestConflict::Claim { first, second, .. } => (vec![first, second], "keep one of them"),
            ManifestConflict::Purge { filler, purger, .. } => {
                (vec![filler, purger], "fill a directory below this one, or remove `purge`")
            }
            _ => (Vec::new(), "give each manifest its own `ccm.name`"),
        };
        let locations = resources.into_iter().filter_map(|resource| resource.location.as_ref());
        let locations: Vec<String> = locations.map(|location| format!("at {location}")).collect();
        let message = format!("{conflict}; nothing was run");
        if locations.is_empty() {
            self.console.error(&message, &[], &[hint.to_owned()]);
        } else {
            self.console.error_with_list(&message, &locations, &[hint.to_owned()]);
        }
    }

    /// Reports why runs can't begin. A manifest whose pending refreshes can't be stored is recorded as refused.
    pub(super) async fn report_begin_failures(
        &self,
        session: &Session,
        inputs: &[Input],
        failures: &[BeginFailure],
    ) -> ExitCode {
        let mut code = ExitCode::NothingRun;
        for BeginFailure { position, error } in failures {
            code = state::report_begin_error(&self.console, session, error);
            if let (BeginError::Name(_) | BeginError::Ledger(_), Some(input)) = (error, inputs.get(*position))
            {
                self.record_refusal(session, input.source(), &error_layers(error).join(": ")).await;
            }
        }
        code
    }

    /// Records that a manifest was refused, unless the call would not have recorded a run.
    async fn record_refusal(&self, session: &Session, source: &ManifestSource, errors: &str) {
        let Self { arguments, console, .. } = self;
        if arguments.noop || arguments.render {
            return;
        }
        let keep_runs = arguments.keep_runs.unwrap_or(RunOptions::default().keep_runs);
        if let Err(error) = session.record_refusal(source, errors, keep_runs).await {
            console.warning_of(&error);
        }
    }
}
