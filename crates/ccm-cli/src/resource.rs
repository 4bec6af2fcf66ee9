//! `ccm resource`: the present state of resources, as text, as a document or as a manifest.

use std::path::Path;
use std::sync::Arc;

use ccm_runtime::model::escape_control;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::resource::{
    ManifestOptions, PresentState, ResourceError, ResourcePresence, ResourceSelection,
};
use ccm_runtime::{ExitCode, Session, StopCause, printed, spawn};

use crate::arguments::{ResourceArguments, ResourceFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::reactor::{SharedRun, supervise};
use crate::{manifest, session};

/// Shows resources, or writes a manifest of them.
pub(crate) fn run(arguments: ResourceArguments, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let config = session::config(console, None);
    let command = ResourceCommand { arguments, shared: Arc::clone(&shared), console: console.clone() };
    runtime.block_on(async {
        let job = spawn(config, async move |session| Box::pin(command.run(session)).await)?;
        supervise(job, &signals, None, &shared).await
    })
}

/// The command in the thread of its session.
struct ResourceCommand {
    arguments: ResourceArguments,
    shared: Arc<SharedRun>,
    console: Console,
}

impl ResourceCommand {
    async fn run(&self, session: Session) -> CommandResult {
        let Self { arguments, shared, console } = self;
        let session = session::with_notices(session, console);
        let selection = match &arguments.type_name {
            Some(type_name) => ResourceSelection::OfType {
                type_name: type_name.clone(),
                names: arguments.names.clone(),
                with_related: arguments.with_related,
            },
            None => ResourceSelection::MadeByHand,
        };
        shared.mark_loaded();
        let mut state = session.present_state(&selection, &shared.canceller).await?;
        if arguments.all {
            session.without_described_files(&mut state);
        }
        if let Some(path) = &arguments.against {
            self.leave_out_managed(path, &session, &mut state)?;
        }
        let state =
            if arguments.manifest { self.write_manifest(state, &session).await? } else { self.show(state)? };
        for unseen in &state.unseen {
            let hint = unseen.reason.hint.as_ref();
            console
                .warning(&format!("{}: not everything could be seen: {}", unseen.type_name, unseen.reason));
            hint.into_iter().for_each(|hint| console.hint(hint));
        }
        Ok(match shared.canceller.cause() {
            Some(StopCause::Signal { number, .. }) => signal_code(*number),
            _ if self.lacks_named(&state) => ExitCode::Failures,
            _ => ExitCode::Success,
        })
    }

    fn leave_out_managed(
        &self,
        path: &Path,
        session: &Session,
        state: &mut PresentState,
    ) -> CommandResult<()> {
        let values = session::values(&self.arguments.values);
        let input = session.read(manifest::source(path), &values, self.arguments.limits.max_manifest_size)?;
        let loaded = manifest::load(&self.console, session, &input)?;
        session.without_managed(state, &loaded);
        Ok(())
    }

    fn show(&self, state: PresentState) -> CommandResult<PresentState> {
        let text = match self.arguments.output.output.format {
            ResourceFormat::Text => state.text(),
            ResourceFormat::Json => printed::document(&state.json()),
            ResourceFormat::Yaml => printed::yaml_document(&state.json()),
        };
        self.print(&text)?;
        Ok(state)
    }

    async fn write_manifest(&self, state: PresentState, session: &Session) -> CommandResult<PresentState> {
        let options =
            ManifestOptions { out: self.arguments.out.clone(), canceller: self.shared.canceller.clone() };
        let written = session.export_manifest(state, &options).await?;
        match &written.path {
            Some(path) => {
                let path = path.display().to_string();
                let files = match written.files {
                    0 => String::new(),
                    1 => " and 1 file".to_owned(),
                    files => format!(" and {files} files"),
                };
                self.print(&format!("wrote {}{files}\n", escape_control(&path)))?;
            }
            None => {
                self.print(&written.text)?;
            }
        }
        Ok(written.state)
    }

    fn print(&self, text: &str) -> CommandResult {
        self.console.print(&self.console.secrets().redact(text))
    }

    /// Returns `true` if the state of a resource that the command line names is not exported.
    fn lacks_named(&self, state: &PresentState) -> bool {
        let is_named = |name: &str| self.arguments.names.iter().any(|named| named == name);
        let mut of_type = state.resources.iter().filter(|resource| is_named(&resource.id.name));
        of_type.any(|resource| matches!(resource.state, ResourcePresence::NotExported(_)))
    }
}

impl From<ResourceError> for CommandError {
    fn from(error: ResourceError) -> Self {
        let of_error = Self::of(&error);
        match &error {
            ResourceError::UnknownType { nearest, known, .. } => of_error.hints(match nearest {
                Some(nearest) => Some(format!("did you mean `{nearest}`?")),
                None => Some(format!("use one of: {}", known.join(", "))),
            }),
            ResourceError::NotListed { reason, .. } => of_error.hints(reason.hint.clone()),
            ResourceError::Directory { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                of_error.hint("name a directory that does not exist yet")
            }
            ResourceError::Invalid(errors) => Self::located(errors).with_message(error.to_string()),
            _ => of_error,
        }
    }
}
