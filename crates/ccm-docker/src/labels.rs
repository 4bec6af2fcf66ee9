//! Labels of the containers of a run.

use std::cell::OnceCell;
use std::io;

use ccm_host::ContainerSettings;

/// Id of the run.
pub(crate) const RUN: &str = "ccm.run";
/// Resource that the first command belongs to.
pub(crate) const RESOURCE: &str = "ccm.resource";
/// Name of the manifest.
pub(crate) const MANIFEST: &str = "ccm.manifest";
/// `true` for a container that is kept after its end.
pub(crate) const KEEP: &str = "ccm.keep";
/// Id of the state directory of the run.
pub(crate) const OWNER: &str = "ccm.owner";

/// Identity of a run, by which a later run of the same state directory finds its containers.
pub struct RunLabels<'a> {
    run_id: String,
    manifest: String,
    read_owner: Box<dyn Fn() -> io::Result<String> + 'a>,
    owner: OnceCell<String>,
}

impl<'a> RunLabels<'a> {
    /// Creates the identity of a run. `read_owner` returns the id of its state directory, and is called for the
    /// first container only. A state directory has one run at a time, so containers of other runs with its id are
    /// those of runs that were killed.
    pub fn new(
        run_id: impl Into<String>,
        manifest: impl Into<String>,
        read_owner: impl Fn() -> io::Result<String> + 'a,
    ) -> Self {
        Self {
            run_id: run_id.into(),
            manifest: manifest.into(),
            read_owner: Box::new(read_owner),
            owner: OnceCell::new(),
        }
    }

    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    pub(crate) fn owner(&self) -> io::Result<&str> {
        if let Some(owner) = self.owner.get() {
            return Ok(owner);
        }
        let owner = (self.read_owner)()?;
        Ok(self.owner.get_or_init(|| owner))
    }

    /// Returns the labels of a container.
    pub(crate) fn of(&self, settings: &ContainerSettings, resource: String) -> Vec<(&'static str, String)> {
        let mut labels = vec![
            (RUN, self.run_id.clone()),
            (RESOURCE, resource),
            (MANIFEST, self.manifest.clone()),
            (KEEP, (!settings.auto_remove).to_string()),
        ];
        // Without an owner the container can't be found later; the sweep reports why.
        labels.extend(self.owner().ok().map(|owner| (OWNER, owner.to_owned())));
        labels
    }
}
