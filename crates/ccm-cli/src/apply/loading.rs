//! Reading and loading of the manifests of a run. Nothing is run if one of them is not valid.

use ccm_runtime::{
    BeginError, BeginFailure, Input, LoadedManifest, ManifestConflict, ManifestSource, RunOptions, Session,
    error_layers,
};

use super::ApplyContext;
use crate::arguments::ReportFormat;
use crate::error::{CommandError, CommandResult};
use crate::{data_explanation, manifest, session, state};

impl ApplyContext {
    /// Returns the sources of the manifests on the command line, and refuses one that is given twice.
    pub(super) fn sources(&self, session: &Session) -> CommandResult<Vec<ManifestSource>> {
        let paths = &self.arguments.manifests;
        let sources: Vec<ManifestSource> = paths.iter().map(|path| manifest::source(path)).collect();
        let Some((first, second)) = session.same_sources(&sources) else { return Ok(sources) };
        let [first_name, second_name] = [first, second].map(|position| paths[position].display().to_string());
        let message = match &sources[second] {
            ManifestSource::StandardInput => "standard input is given twice".to_owned(),
            ManifestSource::File(_) | ManifestSource::Accepted { .. } | ManifestSource::Declared(_)
                if first_name == second_name =>
            {
                format!("the manifest {first_name} is given twice")
            }
            ManifestSource::File(_) | ManifestSource::Accepted { .. } | ManifestSource::Declared(_) => {
                format!("{first_name} and {second_name} are the same manifest")
            }
        };
        Err(CommandError::usage(message).therefore("nothing was run"))
    }

    /// Reads the manifests. One that exists but can't be read is recorded as refused.
    pub(super) async fn read(
        &self,
        session: &Session,
        sources: Vec<ManifestSource>,
    ) -> CommandResult<Vec<Input>> {
        let arguments = &self.arguments;
        let values = session::values(&arguments.values);
        let read = |source: ManifestSource| {
            let input = session.read(source.clone(), &values, arguments.limits.max_manifest_size);
            (source, input)
        };
        let read: Vec<_> = sources.into_iter().map(read).collect();
        for ((_, input), path) in read.iter().zip(&arguments.manifests).skip(1) {
            if let Err(error) = input {
                manifest::refuse_possible_value(path, &arguments.values, error)?;
            }
        }
        let mut inputs = Vec::with_capacity(read.len());
        let mut errors = Vec::new();
        for (source, input) in read {
            match input {
                Ok(input) => inputs.push(input),
                Err(error) => {
                    errors.push(CommandError::from(&error));
                    if !manifest::is_missing(&error) {
                        self.record_refusal(session, &source, &error_layers(&error).join(": ")).await;
                    }
                }
            }
        }
        if errors.is_empty() {
            return Ok(inputs);
        }
        // The others are checked, so that one call shows all errors.
        self.load_each(session, &inputs, &mut errors).await;
        Err(self.invalid(errors))
    }

    /// Loads the manifests, and shows their warnings or errors. A manifest with errors is recorded as refused.
    pub(super) async fn load<'s>(
        &self,
        session: &'s Session,
        inputs: &'s [Input],
    ) -> CommandResult<Vec<LoadedManifest<'s>>> {
        let Self { arguments, console, .. } = self;
        let mut errors = Vec::new();
        let manifests = self.load_each(session, inputs, &mut errors).await;
        if !errors.is_empty() {
            return Err(self.invalid(errors));
        }
        if !arguments.quiet {
            for manifest in &manifests {
                console.findings(manifest.warnings());
                if arguments.verbose > 0 && arguments.run.output.format == ReportFormat::Text {
                    let data = manifest.data();
                    console.explain(data_explanation::of_manifest(manifest.input().name(), &data));
                }
            }
        }
        #[cfg(feature = "secrets")]
        if arguments.from.is_unsigned() && session.has_opened_values() && !arguments.quiet {
            console.warning("encrypted values come from a source that nobody signs: who can write there can exchange them");
            console.hint("name the people who may sign with `--signers FILE`");
        }
        let references: Vec<&LoadedManifest<'_>> = manifests.iter().collect();
        let conflicts = session.conflicts(&references);
        if conflicts.is_empty() {
            return Ok(manifests);
        }
        Err(CommandError::of_several(conflicts.iter().map(conflict_error).collect()))
    }

    /// Loads the manifests, collects the errors of those that have some, and returns the others.
    async fn load_each<'s>(
        &self,
        session: &'s Session,
        inputs: &'s [Input],
        errors: &mut Vec<CommandError>,
    ) -> Vec<LoadedManifest<'s>> {
        let mut manifests = Vec::with_capacity(inputs.len());
        for input in inputs {
            match session.load(input) {
                Ok(manifest) => manifests.push(manifest),
                Err(found) => {
                    errors.push(manifest::not_valid(&found, input));
                    self.record_refusal(session, input.source(), &found.text()).await;
                }
            }
        }
        manifests
    }

    /// Returns the errors of manifests that are not valid, with their number if several manifests were given.
    fn invalid(&self, errors: Vec<CommandError>) -> CommandError {
        match self.arguments.manifests.len() {
            0 | 1 => CommandError::of_several(errors),
            total => {
                let invalid = manifest::invalid_of_several(errors.len(), total);
                invalid.therefore("nothing was run").after(&errors)
            }
        }
    }

    /// Returns the reason why runs can't begin. A manifest whose pending refreshes can't be stored is recorded as
    /// refused.
    pub(super) async fn begin_error(
        &self,
        session: &Session,
        inputs: &[Input],
        failures: &[BeginFailure],
    ) -> CommandError {
        for BeginFailure { position, error } in failures {
            if let (BeginError::Name(_) | BeginError::Ledger(_), Some(input)) = (error, inputs.get(*position))
            {
                self.record_refusal(session, input.source(), &error_layers(error).join(": ")).await;
            }
        }
        let error = |failure: &BeginFailure| state::begin_error(session, &failure.error);
        CommandError::of_several(failures.iter().map(error).collect())
    }

    /// Records that a manifest was refused, unless the call would not have recorded a run.
    pub(super) async fn record_refusal(&self, session: &Session, source: &ManifestSource, errors: &str) {
        let Self { arguments, console, .. } = self;
        if arguments.noop || arguments.render || self.declared.is_some() {
            return;
        }
        let keep_runs = arguments.run.keep_runs.unwrap_or(RunOptions::default().keep_runs);
        if let Err(error) = session.record_refusal(source, errors, keep_runs).await {
            console.warning_of(&error);
        }
    }
}

fn conflict_error(conflict: &ManifestConflict) -> CommandError {
    let (resources, hint) = match conflict {
        ManifestConflict::Claim { first, second, .. } => (vec![first, second], "keep one of them"),
        ManifestConflict::Purge { filler, purger, .. } => {
            (vec![filler, purger], "fill a directory below this one, or remove `purge`")
        }
        _ => (Vec::new(), "give each manifest its own `ccm.name`"),
    };
    let locations = resources.into_iter().filter_map(|resource| resource.location.as_ref());
    let locations = locations.map(|location| format!("at {location}")).collect();
    CommandError::new(conflict.to_string()).therefore("nothing was run").with_list(locations).hint(hint)
}
