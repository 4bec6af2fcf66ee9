//! Files of environment variables.

use std::collections::HashSet;

use ccm_data::dotenv;
use ccm_model::SourceMap;

pub(super) const WORDS: &[&str] =
    &["export ", "A=", "B='", "C=\"", "\\n", "\\\"", " #", "\n\n", "=", "$A", "export="];

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let mut texts = SourceMap::default();
    let source = texts.add(".env", &*text);
    match dotenv::read(source, &text) {
        Ok(variables) => {
            let names: HashSet<&str> = variables.iter().map(|(name, _)| &**name).collect();
            assert_eq!(names.len(), variables.len(), "a name twice");
            for (name, value) in &variables {
                assert!(!name.is_empty() && !name.contains(['=', '\0', ' ', '\n']), "{name:?}");
                assert!(!value.contains('\0'), "{value:?}");
            }
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            super::spans::check(&errors, &texts);
        }
    }
}
