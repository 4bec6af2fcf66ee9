//! Files that were read, shared by all parts of the same file until something is executed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{FileError, Files};

use super::MAX_FILE;

/// Contents by path, as many as a file of the maximum size holds.
#[derive(Default)]
pub(crate) struct ReadFiles {
    contents: RefCell<HashMap<PathBuf, Rc<Vec<u8>>>>,
    length: Cell<u64>,
}

impl ReadFiles {
    pub(crate) async fn of(context: &Context<'_>) -> Rc<Self> {
        let cache = context.state_cache(async || Ok::<_, Infallible>(Self::default())).await;
        cache.unwrap_or_else(|never| match never {})
    }

    /// Returns the content of a file; `None` if the file is too large.
    pub(crate) fn content(&self, path: &Path, files: &dyn Files) -> Result<Option<Rc<Vec<u8>>>, FileError> {
        if let Some(known) = self.contents.borrow().get(path) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(content) = files.content(path, MAX_FILE)? else { return Ok(None) };
        let content = Rc::new(content);
        let mut contents = self.contents.borrow_mut();
        self.length.set(self.length.get() + content.len() as u64);
        if self.length.get() > MAX_FILE {
            contents.clear();
            self.length.set(content.len() as u64);
        }
        contents.insert(path.to_owned(), Rc::clone(&content));
        Ok(Some(content))
    }
}
