//! An Engine as one run uses it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel, ContainerSettings, EngineAddress, PullPolicy, after};
use tokio::sync::OnceCell;

use crate::activation;
use crate::answers::ImageConfig;
use crate::engine::Engine;
use crate::error::{EngineError, Step};
use crate::executor::DockerExecutor;
use crate::shared::SharedContainer;

/// Time that a stop leaves to a container that is being created or started.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// An Engine, and what the run has there.
pub(crate) struct EngineUse {
    pub engine: Engine,
    pub is_swept: Cell<bool>,
    would_start: OnceCell<bool>,
    /// Images that were pulled, with their platforms.
    pulled: RefCell<HashSet<(String, Option<String>)>>,
    /// Names of the containers that have to be stopped or removed before the end of the run.
    pub live: RefCell<BTreeSet<String>>,
    /// Containers of the whole run.
    pub shared: RefCell<Vec<Rc<SharedContainer>>>,
}

impl EngineUse {
    pub(crate) fn new(address: EngineAddress) -> Self {
        Self {
            engine: Engine::new(address),
            is_swept: Cell::new(false),
            would_start: OnceCell::new(),
            pulled: RefCell::default(),
            live: RefCell::default(),
            shared: RefCell::default(),
        }
    }

    /// Returns `true` if the Engine does not run, and a connection would start it.
    pub(crate) async fn would_start(&self, executor: &DockerExecutor<'_>) -> bool {
        *self.would_start.get_or_init(|| activation::would_start(executor, self.engine.address())).await
    }

    /// Finds the image of a container; `None` if the Engine does not have it and a run would pull it.
    pub(crate) async fn find_image(
        &self,
        settings: &ContainerSettings,
    ) -> Result<Option<ImageConfig>, EngineError> {
        match self.engine.image(&settings.image).await {
            Ok(details) => Ok(Some(details.config.unwrap_or_default())),
            Err(error) if error.status() != Some(404) => Err(error),
            Err(error) if settings.pull == PullPolicy::Never => Err(self.no_image(settings, &error)),
            Err(_) => Ok(None),
        }
    }

    /// Returns the image of a container, which is pulled if the settings ask for that, and a note on a pull.
    pub(crate) async fn image(
        &self,
        settings: &ContainerSettings,
        executor: &DockerExecutor<'_>,
    ) -> Result<(ImageConfig, Option<String>), EngineError> {
        let key = (settings.image.clone(), settings.platform.clone());
        let may_have = settings.pull != PullPolicy::Always || self.pulled.borrow().contains(&key);
        if may_have && let Some(image) = self.find_image(settings).await? {
            return Ok((image, None));
        }
        let login = executor.login(&settings.image);
        let sent = login.as_ref().ok().and_then(Option::as_ref);
        let pulled = self.engine.pull(&settings.image, settings.platform.as_deref(), sent).await;
        pulled.map_err(|error| error.of_pull(login))?;
        self.pulled.borrow_mut().insert(key);
        let details = self.engine.image(&settings.image).await?;
        Ok((details.config.unwrap_or_default(), Some(format!("pulled the image {}", settings.image))))
    }

    fn no_image(&self, settings: &ContainerSettings, error: &EngineError) -> EngineError {
        let message = format!("there is no image `{}` at {}", settings.image, self.engine.address());
        EngineError::Refused { step: Step::InspectImage, status: error.status().unwrap_or_default(), message }
    }
}

/// Finishes a step of the Engine that a stop must not cut short, because its container would be lost. Returns `None`
/// if the run is killed, or if the step takes too long after a stop.
pub(crate) async fn patiently<T>(cancellation: &Cancellation, step: impl Future<Output = T>) -> Option<T> {
    let impatient = async {
        cancellation.reached(CancellationLevel::Stop).await;
        after(Some(STOP_PATIENCE)).await;
    };
    tokio::select! {
        biased;
        value = step => Some(value),
        () = impatient => None,
        () = cancellation.reached(CancellationLevel::Kill) => None,
    }
}
