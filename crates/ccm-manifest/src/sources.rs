//! What the loader asks the outside for.

use std::io;
use std::path::Path;

use ccm_expr::{Timestamp, Value};
use ccm_model::{Diagnostic, SourceMap};

/// A path into the facts, such as `host`, `info`, `os`; the empty one names all of them.
pub type FactPath = Vec<String>;

/// What a manifest is made of beside its own text. The loader opens nothing itself.
pub trait Sources {
    /// Reads a text that a manifest names: another manifest, a template, a file.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// The facts: at least what is at or below these paths, if it exists.
    ///
    /// It is asked again when more is needed, and gives what it gave before as well. Texts in which there are
    /// mistakes are added to `texts`.
    fn facts(&self, needed: &[FactPath], texts: &mut SourceMap) -> Result<Value, Vec<Diagnostic>>;

    /// The variables of the environment, those of the file beside the manifest included. Asked at most once.
    fn environment(&self, texts: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>>;

    /// The moment that expressions call now; the same whenever it is asked.
    fn now(&self) -> Timestamp;
}
