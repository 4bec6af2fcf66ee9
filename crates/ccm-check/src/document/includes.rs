//! Files that a Goss file includes.

use ccm_model::{Diagnostic, DiagnosticKind, NodeEntry, SourceId, Span, escape_control};
use ccm_properties::expected;

use super::settings::Settings;
use super::{Document, MAX_RULES};

/// Maximum nesting of includes.
const MAX_DEPTH: usize = 50;
/// Maximum number of included files.
const MAX_FILES: usize = 1000;

/// Text of a Goss file.
#[derive(Clone, Debug)]
pub struct RuleFile {
    /// Path of the file, always the same for one file.
    pub path: String,
    /// Number of the text, for locations.
    pub source: SourceId,
    /// The text.
    pub text: String,
}

/// Access to the files that a Goss file includes.
pub trait RuleFiles {
    /// Returns the files that a path or a glob pattern names, in order; relative ones are in the directory of the file
    /// that includes them. An error is the reason why a file can't be read.
    fn files(&mut self, pattern: &str, including: &RuleFile) -> Result<Vec<RuleFile>, String>;
}

/// Reader of included files.
pub(super) struct IncludeReader<'f> {
    files: &'f mut dyn RuleFiles,
    /// Paths of the files that are being read, the outermost first.
    open: Vec<String>,
    count: usize,
}

impl<'f> IncludeReader<'f> {
    pub(super) fn new(files: &'f mut dyn RuleFiles) -> Self {
        Self { files, open: Vec::new(), count: 0 }
    }

    /// Reads the files below a key. Their rules replace those of the including file.
    pub(super) fn read(&mut self, entry: &NodeEntry, including: &RuleFile, document: &mut Document) {
        let Some(map) = entry.value.as_map() else {
            if !entry.value.is_null() {
                document.matchers.found.push(expected("a map of files", &entry.value));
            }
            return;
        };
        let mut entries: Vec<&NodeEntry> = map.entries().iter().collect();
        entries.sort_by_key(|entry| &entry.key.text);
        self.open.push(including.path.clone());
        for entry in entries {
            if document.is_full() {
                break;
            }
            let found = &mut document.matchers.found;
            let settings = Settings::read(entry, "key of an include", &["file"], found);
            let Some(settings) = settings else { continue };
            let is_skipped = settings.boolean("skip", found);
            let pattern = settings.text("file", found).unwrap_or_else(|| entry.key.text.to_string());
            if !is_skipped {
                self.read_pattern(&pattern, entry.key.span, including, document);
            }
        }
        self.open.pop();
    }

    fn read_pattern(&mut self, pattern: &str, span: Span, including: &RuleFile, document: &mut Document) {
        let shown = escape_control(pattern).into_owned();
        let files = match self.files.files(pattern, including) {
            Ok(files) => files,
            Err(reason) => {
                let message = format!("`{shown}` can't be read: {}", escape_control(&reason));
                document.matchers.found.push(Diagnostic::error(DiagnosticKind::Unreadable, span, message));
                return;
            }
        };
        if files.is_empty() {
            let message = format!("there is no file `{shown}`");
            document.matchers.found.push(Diagnostic::error(DiagnosticKind::Unreadable, span, message));
        }
        for file in files {
            self.count += 1;
            let refusal = if self.open.contains(&file.path) {
                Some((DiagnosticKind::Cycle, format!("`{shown}` includes itself")))
            } else if self.open.len() >= MAX_DEPTH {
                Some((
                    DiagnosticKind::LimitExceeded,
                    format!("more than {MAX_DEPTH} files include each other"),
                ))
            } else if self.count > MAX_FILES || document.rules.len() > MAX_RULES {
                Some((DiagnosticKind::LimitExceeded, format!("more than {MAX_FILES} files are included")))
            } else {
                None
            };
            match refusal {
                Some((kind, message)) => {
                    document.matchers.found.push(Diagnostic::error(kind, span, message));
                    return;
                }
                None => {
                    document.read_file(&file, self);
                }
            }
        }
    }
}
