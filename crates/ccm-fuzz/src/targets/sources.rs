//! Sources in memory: an input is a manifest and the files beside it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ccm_expr::{Timestamp, Value};
use ccm_manifest::{DataFile, FactPath, Request, Sources};
use ccm_model::{Diagnostic, SourceMap};
use serde_json::json;

pub(super) const DIRECTORY: &str = "/m";

/// Beginning of a line with the name of the next file.
const NEXT: &str = "#--- ";

pub(super) struct MemorySources {
    files: HashMap<PathBuf, String>,
}

static FACTS: LazyLock<Value> = LazyLock::new(|| {
    Value::from(json!({
        "role": "web", "evil": "{{ x }} ${ y } $(z) ' \" \n#", "count": 3, "list": ["a", "b"],
        "host": {"info": {"os": "linux", "hostname": "web1", "platformFamily": "debian"}},
        "memory": {"virtual": {"total": 1_073_741_824}},
    }))
});

impl MemorySources {
    /// Returns the manifest, and sources with the other files: each begins after a line `#--- NAME`.
    pub(super) fn of(input: &str) -> (String, Self) {
        let mut manifest = String::new();
        let mut files = HashMap::new();
        let mut name: Option<PathBuf> = None;
        for line in input.split_inclusive('\n') {
            if let Some(next) = line.strip_prefix(NEXT) {
                name = Some(Path::new(DIRECTORY).join(next.trim_end()));
                continue;
            }
            match &name {
                None => manifest.push_str(line),
                Some(name) => files.entry(name.clone()).or_insert_with(String::new).push_str(line),
            }
        }
        (manifest, Self { files })
    }

    pub(super) fn request(&self, text: &str) -> Request {
        let hiera = self.file("hiera.yaml");
        Request {
            name: "m.yaml".to_owned(),
            text: text.into(),
            directory: DIRECTORY.into(),
            hiera: hiera
                .map(|text| DataFile { name: "hiera.yaml".to_owned(), text: text.into() })
                .into_iter()
                .collect(),
            allows_new_keys: true,
            resources: None,
            root: None,
            earlier: None,
            assignments: self
                .file("assignments")
                .into_iter()
                .flat_map(str::lines)
                .map(str::to_owned)
                .collect(),
        }
    }

    fn file(&self, name: &str) -> Option<&str> {
        self.files.get(&Path::new(DIRECTORY).join(name)).map(String::as_str)
    }
}

impl Sources for MemorySources {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        Ok(FACTS.clone())
    }

    fn environment(&self, texts: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        let Some(text) = self.file(".env") else { return Ok(vec![("STAGE".to_owned(), "prod".to_owned())]) };
        let source = texts.add(".env", text);
        ccm_data::dotenv::read(source, text)
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}
