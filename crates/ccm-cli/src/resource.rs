//! `ccm resource`: the present state of resources, as text, as a document or as a manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_runtime::model::escape_control;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::resource::{
    ManifestOptions, PresentState, ResourceError, ResourcePresence, ResourceSelection,
};
use ccm_runtime::{Config, ExitCode, Session, StopCause, printed, spawn};

use crate::arguments::{ResourceArguments, ResourceFormat, ValueArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::reactor::{SharedRun, supervise};
use crate::{manifest, session};

/// What the command is to do.
struct ResourceRequest {
    selection: ResourceSelection,
    /// Manifest whose resources are left out, with its values.
    against: Option<(PathBuf, ValueArguments, u64)>,
    form: ResultForm,
}

/// Form of the result.
enum ResultForm {
    Shown(ResourceFormat),
    /// A manifest, in a new directory if there is one.
    Manifest(Option<PathBuf>),
}

/// Shows resources, or writes a manifest of them.
pub(crate) fn run(arguments: ResourceArguments, console: &Console) -> CommandResult {
    let ResourceArguments { type_name, names, with_related, .. } = arguments;
    let selection = match type_name {
        Some(type_name) => ResourceSelection::OfType { type_name, names, with_related },
        None => ResourceSelection::MadeByHand,
    };
    let (values, max_size) = (arguments.values, arguments.limits.max_manifest_size);
    let against = arguments.against.map(|path| (path, values, max_size));
    let form = if arguments.manifest {
        ResultForm::Manifest(arguments.out)
    } else {
        ResultForm::Shown(arguments.output.output.format)
    };
    execute(ResourceRequest { selection, against, form }, console)
}

/// Shows the resources of a type with these names.
pub(crate) fn show(
    type_name: &str,
    names: Vec<String>,
    format: ResourceFormat,
    console: &Console,
) -> CommandResult {
    let selection = ResourceSelection::OfType { type_name: type_name.to_owned(), names, with_related: false };
    execute(ResourceRequest { selection, against: None, form: ResultForm::Shown(format) }, console)
}

fn execute(request: ResourceRequest, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let values = request.against.as_ref().map(|(_, values, _)| values);
    let identity = values.and_then(|values| values.identity.identity.clone());
    let config = Config { identity, ..session::config(console, None) };
    let command = ResourceCommand { request, shared: Arc::clone(&shared), console: console.clone() };
    runtime.block_on(async {
        let job = spawn(config, async move |session| Box::pin(command.run(session)).await)?;
        supervise(job, &signals, None, &shared).await
    })
}

/// The command in the thread of its session.
struct ResourceCommand {
    request: ResourceRequest,
    shared: Arc<SharedRun>,
    console: Console,
}

impl ResourceCommand {
    async fn run(&self, session: Session) -> CommandResult {
        let Self { request, shared, console } = self;
        let session = session::with_notices(session, console);
        shared.mark_loaded();
        let mut state = session.present_state(&request.selection, &shared.canceller).await?;
        if request.selection == ResourceSelection::MadeByHand {
            session.without_described_files(&mut state);
        }
        if let Some((path, values, max_size)) = &request.against {
            let input = session.read(manifest::source(path), &session::values(values), *max_size)?;
            let loaded = manifest::load(console, &session, &input)?;
            session.without_managed(&mut state, &loaded);
        }
        let state = match &request.form {
            ResultForm::Shown(format) => self.show(state, *format)?,
            ResultForm::Manifest(out) => self.write_manifest(state, out.as_deref(), &session).await?,
        };
        for unseen in &state.unseen {
            let hint = unseen.reason.hint.as_ref();
            console
                .warning(&format!("{}: not everything could be seen: {}", unseen.type_name, unseen.reason));
            if let Some(hint) = hint {
                console.hint(hint);
            }
        }
        Ok(match shared.canceller.cause() {
            Some(StopCause::Signal { number, .. }) => signal_code(*number),
            _ if self.lacks_named(&state) => ExitCode::Failures,
            _ => ExitCode::Success,
        })
    }

    fn show(&self, state: PresentState, format: ResourceFormat) -> CommandResult<PresentState> {
        let text = match format {
            ResourceFormat::Text => state.text(self.is_list()),
            ResourceFormat::Json => printed::document(&state.json()),
            ResourceFormat::Yaml => printed::yaml_document(&state.json()),
        };
        self.print(&text)?;
        Ok(state)
    }

    async fn write_manifest(
        &self,
        state: PresentState,
        out: Option<&Path>,
        session: &Session,
    ) -> CommandResult<PresentState> {
        let canceller = self.shared.canceller.clone();
        let options = ManifestOptions { out: out.map(Path::to_owned), canceller };
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

    fn is_list(&self) -> bool {
        match &self.request.selection {
            ResourceSelection::OfType { names, .. } => names.is_empty(),
            ResourceSelection::MadeByHand => true,
        }
    }

    fn print(&self, text: &str) -> CommandResult {
        self.console.print(&self.console.secrets().redact(text))
    }

    /// Returns `true` if the state of a resource that the command line names is not exported.
    fn lacks_named(&self, state: &PresentState) -> bool {
        let ResourceSelection::OfType { names, .. } = &self.request.selection else { return false };
        let is_named = |name: &str| names.iter().any(|named| named == name);
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
