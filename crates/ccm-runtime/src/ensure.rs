//! One resource without a manifest: its options, the words of a command line, and the requests of programs.
//!
//! A declared resource becomes the tree of a manifest with one resource, whose locations are those of the command line or of
//! the request. From there on it goes the way of every manifest.

mod assigned_value;
mod documents;
mod options;
mod outcomes;
mod request;
mod requests;
mod session_store;
mod tree;
mod words;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use ccm_governance::signed::ReadRecord;
use ccm_host::{ConfigurationError, absolute, file_text};
use ccm_manifest::{DataFile, EarlierResources, Request};
use ccm_model::{Diagnostic, ManifestErrors, Node, SourceMap};

use crate::input::{GivenValues, Input, InputError, ManifestSource, data_files};
use crate::machine::MachineSources;
use crate::session::{Notice, Session};

pub use documents::{DocumentStream, MAX_REQUEST, StreamDocument};
pub use options::{EnsureOption, EnsureType, ensure_type, ensure_types};
pub(crate) use outcomes::OutcomesGate;
pub use outcomes::SharedOutcomes;
pub use request::failure as request_failure;
pub use requests::{EnsureRequests, PAUSE_BETWEEN_RUNS};
pub use session_store::{
    SessionOutcome, SessionOutcomes, SessionResource, SessionStoreError, new_session_directory,
    remove_session, session_outcomes,
};
pub use words::{DeclaredWords, asks_for_help, asks_for_noop};

/// Name of a command line in messages.
pub(crate) const COMMAND_LINE: &str = "the command line";

/// File of values in the working directory.
const DATA_FILE: &str = ".hiera";

/// Maximum size of the file of values, in bytes.
const MAX_DATA_FILE: u64 = 64 << 20;

/// Name of the runs of requests, in records.
pub(crate) const REQUESTS: &str = "ensure api pipe";

/// Beginning of the names of runs without a manifest, in records.
pub(crate) const RECORD_PREFIX: &str = "ensure ";

/// Hint for a reference without a session.
const NO_SESSION: &str =
    "begin a session with `eval \"$(ccm session new)\"`, and ensure that resource in it before";

/// Resource that was declared without a manifest.
#[derive(Clone, Debug)]
pub struct DeclaredResource {
    /// Name of the text in messages.
    pub(crate) text_name: String,
    /// Text that the locations are in.
    pub(crate) text: Arc<str>,
    /// Manifest with the resource.
    pub(crate) root: Node,
    /// Type and name, for records.
    pub(crate) record_name: String,
}

impl Session {
    /// Declares a resource by the words of a command line: its name, its state and its options. Errors point at the
    /// words.
    pub fn declare_words(&self, words: &DeclaredWords) -> Result<DeclaredResource, ManifestErrors> {
        let (text, declared) = words.declare(&self.specs());
        declared.map_err(|diagnostics| self.errors_in(COMMAND_LINE, &text, diagnostics))
    }

    pub(crate) fn errors_in(&self, name: &str, text: &str, diagnostics: Vec<Diagnostic>) -> ManifestErrors {
        let mut texts = SourceMap::default();
        texts.add(name, text);
        self.errors(diagnostics, &texts)
    }

    /// Reads the values for a declared resource. Variables and values come from `.env` and `.hiera` of the working directory
    /// as well, unless a stranger may have written them.
    pub fn read_declared(
        &self,
        declared: DeclaredResource,
        values: &GivenValues,
    ) -> Result<Input, InputError> {
        let directory = absolute(std::path::Path::new(".")).map_err(InputError::Directory)?;
        let dotenv = (!values.no_dotenv).then(|| directory.join(".env"));
        let reads = ReadRecord::new(self.records_reads());
        let machine = MachineSources::new(&self.shared, values.facts.clone(), dotenv, reads);
        let hiera = self.data_of_directory(values, &machine, &directory)?;
        Ok(declared_input(declared, values.clone(), Rc::new(machine), directory, hiera))
    }

    /// Reads the files of values: those that the caller names, or else that of the working directory.
    pub(crate) fn data_of_directory(
        &self,
        values: &GivenValues,
        machine: &MachineSources,
        directory: &std::path::Path,
    ) -> Result<Vec<DataFile>, InputError> {
        let named = data_files(&values.data.files, machine)?;
        if values.no_dotenv || !named.is_empty() {
            return Ok(named);
        }
        let path = directory.join(DATA_FILE);
        let unreadable = |source| InputError::Data { path: path.clone(), source };
        match self.doors.doors.dotenv(&path, MAX_DATA_FILE) {
            Ok(None) => Ok(Vec::new()),
            Ok(Some(bytes)) => {
                machine.reads.add(&path, Some(&bytes)).map_err(unreadable)?;
                let text = file_text(bytes).map_err(unreadable)?;
                Ok(vec![DataFile { name: path.display().to_string(), text: text.into() }])
            }
            Err(
                error @ (ConfigurationError::Foreign { .. }
                | ConfigurationError::Exposed { .. }
                | ConfigurationError::Shared { .. }),
            ) => {
                self.notices.report(&Notice::DataFile(&error));
                Ok(Vec::new())
            }
            Err(ConfigurationError::Read { source, .. }) => Err(unreadable(source)),
            Err(error) => Err(unreadable(std::io::Error::other(error))),
        }
    }
}

/// Returns the input of a declared resource.
fn declared_input(
    declared: DeclaredResource,
    values: GivenValues,
    machine: Rc<MachineSources>,
    directory: PathBuf,
    hiera: Vec<DataFile>,
) -> Input {
    let DeclaredResource { text_name, text, root, record_name } = declared;
    let request = Request {
        name: text_name,
        text,
        directory,
        hiera,
        assignments: values.data.assignments.clone(),
        allows_new_keys: true,
        resources: None,
        root: Some(root),
        earlier: Some(Rc::new(EarlierResources { hint: NO_SESSION.to_owned(), ..Default::default() })),
    };
    let source = ManifestSource::Declared(record_name);
    Input::declared(source, request, values, machine)
}
