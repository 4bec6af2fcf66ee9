//! Login shells, looked for once until something is executed: many users have the same.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::Files;

/// Login shells of this machine.
pub(crate) struct Shells<'a> {
    files: &'a dyn Files,
    known: Rc<KnownShells>,
}

/// Existence by path.
#[derive(Default)]
struct KnownShells(RefCell<HashMap<String, bool>>);

impl<'a> Shells<'a> {
    pub(crate) async fn of(context: &Context<'a>) -> Self {
        let known = context.state_cache(async || Ok::<_, Infallible>(KnownShells::default())).await;
        Self { files: context.host.files, known: known.unwrap_or_else(|never| match never {}) }
    }

    /// Returns `true` if a shell exists, or if that is not known.
    pub(crate) fn has(&self, shell: &str) -> bool {
        if let Some(exists) = self.known.0.borrow().get(shell) {
            return *exists;
        }
        let exists = self.files.exists(Path::new(shell)).unwrap_or(true);
        self.known.0.borrow_mut().insert(shell.to_owned(), exists);
        exists
    }
}
