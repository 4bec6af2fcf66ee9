//! What an expression or a template has to wait for, found before it is evaluated, so that it waits for all of
//! it and not for the first that is missing.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use ccm_data::templates;
use ccm_expr::FunctionError;

use super::{Calling, Captured, LateOn, MOST_INCLUDES, Mistake, Moment, Trouble};
use crate::paths::normal;
use crate::world::{Read, captured_path};

impl Calling<'_, '_, '_> {
    /// Looks at all that an expression names. If it has to wait for any of it, says for what.
    pub(super) fn awaits(&self, read: &Read) -> Option<Trouble> {
        for (path, range) in &read.captures {
            // What has to wait is in `late` by now.
            if let Err(error) = self.captures(path, Some(range))
                && path.is_empty()
            {
                let FunctionError { message, hints, .. } = error;
                let places = Vec::new();
                let range = range.clone();
                let mistake = Mistake { range, message, hints, nearest: None, places, missing: None };
                return Some(Trouble::Mistake(mistake));
            }
        }
        if self.late.borrow().is_empty() {
            return None;
        }
        read.files.iter().for_each(|path| self.awaits_file(path));
        let mut seen = HashSet::new();
        for path in &read.templates {
            self.awaits_file(path);
            // A mistake in it shows when it is rendered.
            let _ = self.awaits_template(path, &mut seen);
        }
        Some(Trouble::Late(self.late.take()))
    }

    fn awaits_file(&self, written: &str) {
        if let Moment::Early(managed) = self.evaluator.moment {
            let path = normal(&self.evaluator.manifest.directory.join(written));
            let indices = managed.get(&*path.to_string_lossy()).into_iter().flatten();
            self.late.borrow_mut().extend(indices.copied().map(LateOn::File));
        }
    }

    /// The same for a template and all that it includes.
    pub(super) fn awaits_template(
        &self,
        written: &str,
        seen: &mut HashSet<PathBuf>,
    ) -> Result<(), FunctionError> {
        let path = normal(&self.evaluator.manifest.directory.join(written));
        let Ok(text) = self.evaluator.world.read(&path) else { return Ok(()) };
        if seen.len() > MOST_INCLUDES || !seen.insert(path) {
            return Ok(());
        }
        let found = templates::mentions(&text);
        let named = found.paths.iter().filter(|path| path[0] == "captures").map(|path| path[1..].to_vec());
        for path in named.chain(found.lookups.iter().filter_map(|path| captured_path(path))) {
            match self.captures(&path, None) {
                Err(error) if path.is_empty() => return Err(error),
                _ => {}
            }
        }
        if !self.late.borrow().is_empty() {
            found.files.iter().for_each(|path| self.awaits_file(path));
        }
        found.templates.iter().chain(&found.includes).try_for_each(|path| self.awaits_template(path, seen))
    }

    /// Looks at what a path into `Captures` leads to, which stands there in the expression.
    pub(super) fn captures(
        &self,
        path: &[String],
        range: Option<&Range<usize>>,
    ) -> Result<(), FunctionError> {
        match (self.evaluator.moment, path.first()) {
            (Moment::Data, _) => Ok(()),
            (_, None) => {
                let mut error = FunctionError::new("what is captured has to be named");
                error.hints.push("write `Captures.NAME.KEY`, with the name of the resource".to_owned());
                Err(error)
            }
            (Moment::Names | Moment::Early(_), Some(name)) => {
                let (name, key) = (Some(name.clone()), path.get(1).cloned());
                Err(self.late(LateOn::Capture { name, key, range: range.cloned() }))
            }
            (Moment::Late(reached), Some(name)) => match reached.captured(name) {
                Captured::Known => Ok(()),
                Captured::NotBefore(index) => Err(self.late(LateOn::Execution(index))),
                Captured::Nothing(reason) => {
                    self.nothing.borrow_mut().get_or_insert(reason);
                    Ok(())
                }
            },
        }
    }
}
