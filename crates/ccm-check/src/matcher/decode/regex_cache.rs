//! Regular expressions of one document, each compiled once.

use std::collections::HashMap;

use ccm_expr::compile_regex;
use ccm_model::escape_control;
use ccm_properties::ValueError;
use regex::Regex;

/// Maximum number of different regular expressions.
const MAX_REGEXES: usize = 1000;
/// Maximum number of regular expressions that are larger than [`USUAL_SIZE`].
const MAX_LARGE: usize = 64;
/// Size of a compiled regular expression in bytes that few are larger than.
const USUAL_SIZE: usize = 64 << 10;
/// Maximum size of a compiled regular expression in bytes.
const MAX_SIZE: usize = 1 << 20;
/// Maximum length of a regular expression in bytes.
const MAX_LENGTH: usize = 16 << 10;

/// Compiled regular expressions.
#[derive(Debug, Default)]
pub(crate) struct RegexCache {
    compiled: HashMap<String, Regex>,
    large: usize,
}

impl RegexCache {
    /// Compiles a regular expression in the syntax of RE2.
    pub(crate) fn compile(&mut self, written: &str) -> Result<Regex, ValueError> {
        if let Some(regex) = self.compiled.get(written) {
            return Ok(regex.clone());
        }
        if written.len() > MAX_LENGTH {
            let message = format!("the regular expression is longer than {MAX_LENGTH} bytes");
            return Err(ValueError::new(message));
        }
        if self.compiled.len() >= MAX_REGEXES {
            let message = format!("there are more than {MAX_REGEXES} different regular expressions");
            return Err(ValueError::new(message).with_hint("write pieces of text where they are enough"));
        }
        let mut compiled = compile_regex(written, USUAL_SIZE);
        if compiled.as_ref().is_err_and(|error| error.limit) && self.large < MAX_LARGE {
            self.large += 1;
            compiled = compile_regex(written, MAX_SIZE);
        }
        let regex = compiled.map_err(|error| ValueError::new(escape_control(&error.to_string())))?;
        self.compiled.insert(written.to_owned(), regex.clone());
        Ok(regex)
    }
}
