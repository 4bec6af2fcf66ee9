//! The executor: every launch, on this machine or in a container.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;

use ccm_host::{
    Cancellation, Clock, ClosedPlan, EngineAddress, Executor, Launch, LaunchPlan, Local, Purpose, StartError,
    random,
};
use ccm_redaction::Secrets;

use crate::engine_use::EngineUse;
use crate::labels::RunLabels;
use crate::logins::{self, Login, LoginError};
use crate::plan::ContainerPlan;
use crate::reference::ImageReference;

/// Number of characters of the id of a run in the name of a container.
const SHORT_ID: usize = 8;

/// Executor of one run that starts commands in containers where a launch asks for one, and hands every other launch
/// to the executor of this machine.
pub struct DockerExecutor<'a> {
    pub(crate) inner: Rc<dyn Executor + 'a>,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) secrets: &'a Secrets,
    pub(crate) cancellation: &'a Cancellation,
    pub(crate) labels: RunLabels<'a>,
    /// Returns the file with logins at registries.
    login_file: Option<Box<dyn Fn() -> Option<PathBuf> + 'a>>,
    engines: RefCell<Vec<Rc<EngineUse>>>,
    containers: Cell<u32>,
}

impl<'a> DockerExecutor<'a> {
    /// Creates the executor of a run. Nothing is connected yet.
    pub fn new(
        inner: Rc<dyn Executor + 'a>,
        clock: &'a dyn Clock,
        secrets: &'a Secrets,
        cancellation: &'a Cancellation,
        labels: RunLabels<'a>,
    ) -> Self {
        Self {
            inner,
            clock,
            secrets,
            cancellation,
            labels,
            login_file: None,
            engines: RefCell::default(),
            containers: Cell::new(0),
        }
    }

    /// Uses the logins at registries in a file of the client of Docker. It is looked up and read when an image is
    /// pulled.
    #[must_use]
    pub fn with_logins(self, file: impl Fn() -> Option<PathBuf> + 'a) -> Self {
        Self { login_file: Some(Box::new(file)), ..self }
    }

    /// Returns the login at the registry of an image. Its values are secrets from now on.
    pub(crate) fn login(&self, image: &str) -> Result<Option<Login>, LoginError> {
        let Some(file) = self.login_file.as_ref().and_then(|file| file()) else { return Ok(None) };
        let login = logins::read(&file, ImageReference::registry(image))?;
        self.secrets.add(login.iter().flat_map(|login| &login.secrets));
        Ok(login)
    }

    /// Stops and removes the containers of the run, and returns what is to be reported.
    pub async fn close(&self) -> ClosedPlan {
        let mut closed = ClosedPlan::default();
        let engines = self.engines.take();
        for used in engines {
            for container in used.shared.take() {
                container.close(&used, self.cancellation, &mut closed).await;
            }
            for name in used.live.take() {
                if let Err(error) = used.engine.remove(&name).await {
                    let error = self.secrets.redact(&error.to_string()).into_owned();
                    closed.warnings.push(format!(
                        "the container {name} is left behind ({error}); a later run removes it"
                    ));
                }
            }
        }
        closed
    }

    /// Returns the Engine at an address.
    pub(crate) fn engine(&self, address: &EngineAddress) -> Rc<EngineUse> {
        let mut engines = self.engines.borrow_mut();
        if let Some(known) = engines.iter().find(|used| used.engine.address() == address) {
            return Rc::clone(known);
        }
        let used = Rc::new(EngineUse::new(address.clone()));
        engines.push(Rc::clone(&used));
        used
    }

    /// Returns a name for the next container.
    pub(crate) fn next_name(&self) -> String {
        let number = self.containers.get() + 1;
        self.containers.set(number);
        let run: String =
            self.labels.run_id().chars().filter(char::is_ascii_alphanumeric).take(SHORT_ID).collect();
        // Another machine may have begun a run in the same moment.
        format!("ccm-{run}-{number}-{:04x}", random() & 0xffff)
    }
}

impl Executor for DockerExecutor<'_> {
    fn resolve<'a>(
        &'a self,
        launch: &'a Launch,
        purpose: Purpose,
    ) -> Local<'a, Result<Box<dyn LaunchPlan + 'a>, StartError>> {
        let Some(request) = &launch.container else { return self.inner.resolve(launch, purpose) };
        Box::pin(async move {
            let plan = ContainerPlan::resolve(self, launch, request, purpose).await?;
            Ok(Box::new(plan) as Box<dyn LaunchPlan + 'a>)
        })
    }
}
