//! Files of facts, as JSON and as YAML.

use ccm_data::facts::{FactFile, FactFormat, read, read_all};
use ccm_expr::Value;
use ccm_model::SourceMap;

pub(super) const WORDS: &[&str] = &[
    "{\"a\": ", "[1, ", "\"a\":", "\\u0000", "\\ud800", "1e400", "-0.0", "nul", "{}", "[]", "a: ", "- b",
    "0644",
];

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let mut texts = SourceMap::default();
    let source = texts.add("facts", &*text);
    for format in [FactFormat::Json, FactFormat::Yaml] {
        let file = FactFile { source, text: &text, format };
        match read(&file) {
            Ok(facts) => {
                assert!(matches!(facts, Value::Map(_)), "{facts:?}");
                let merged = read_all(&[file]).expect("a file that was read");
                assert_eq!(merged.to_json(), facts.to_json());
                read_all(&[file, file]).expect("a file that was read");
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                super::spans::check(&errors, &texts);
            }
        }
    }
}
