//! Files with kernel parameters, read once until something is executed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Context;
use ccm_model::Failure;

use super::properties::normalized;
use crate::parts::parameter_key::ParameterKey;
use crate::parts::text::{TextFile, lines, shown};

/// Files by path.
#[derive(Default)]
pub(super) struct ParameterFiles(RefCell<HashMap<PathBuf, Rc<ParameterFile>>>);

/// File such as `/etc/sysctl.d/90-ccm.conf`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ParameterFile {
    pub file: TextFile,
    parameters: HashMap<ParameterKey, SavedParameter>,
}

/// Parameter in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SavedParameter {
    /// The last of several values, which counts.
    pub value: String,
    /// Number of lines with the parameter.
    pub lines: usize,
}

impl ParameterFiles {
    /// Returns a file, which is read again after a command was executed.
    pub(super) async fn file(path: &Path, context: &Context<'_>) -> Result<Rc<ParameterFile>, Failure> {
        let cache = context.state_cache(async || Ok::<_, Infallible>(Self::default())).await;
        let cache = cache.unwrap_or_else(|never| match never {});
        if let Some(known) = cache.0.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let file = Rc::new(ParameterFile::parse(TextFile::read(path, context)?));
        cache.0.borrow_mut().insert(path.to_owned(), Rc::clone(&file));
        Ok(file)
    }
}

impl ParameterFile {
    pub(super) fn parse(file: TextFile) -> Self {
        let mut parameters: HashMap<ParameterKey, SavedParameter> = HashMap::new();
        for (key, value) in file.iter().filter_map(line) {
            let lines = parameters.get(&key).map_or(0, |saved| saved.lines) + 1;
            parameters.insert(key, SavedParameter { value, lines });
        }
        Self { file, parameters }
    }

    pub(super) fn get(&self, key: &ParameterKey) -> Option<&SavedParameter> {
        self.parameters.get(key)
    }

    /// Returns the content with one line for a parameter, or without the parameter.
    pub(super) fn with(&self, key: &ParameterKey, desired: Option<(&str, &str)>) -> Vec<u8> {
        let new = desired.map(|(name, value)| format!("{name} = {value}"));
        let mut lines = self.file.lines();
        let is_its = |text: &[u8]| line(text).is_some_and(|(found, _)| found == *key);
        lines.set(is_its, new.as_deref().map(str::as_bytes));
        lines.into_content()
    }
}

/// Returns the parameters that a content sets, in their order.
pub(super) fn assignments(content: &[u8]) -> impl Iterator<Item = (ParameterKey, String)> {
    lines(content).filter_map(line)
}

/// Returns the last line of a content that sets a parameter: its index, and its value.
pub(super) fn last_line(content: &[u8], key: &ParameterKey) -> Option<(usize, String)> {
    let found = lines(content).enumerate().filter_map(|(index, text)| Some((index, line(text)?)));
    found.filter(|(_, (found, _))| found == key).map(|(index, (_, value))| (index, value)).last()
}

/// Returns the parameter of a line. A dash in front of the name, which makes sysctl ignore errors, is left out.
fn line(text: &[u8]) -> Option<(ParameterKey, String)> {
    let text = text.trim_ascii();
    if text.starts_with(b"#") || text.starts_with(b";") {
        return None;
    }
    let (name, value) = text.split_at(memchr::memchr(b'=', text)?);
    let name = str::from_utf8(name).ok()?.trim();
    let key = ParameterKey::parse(name.strip_prefix('-').unwrap_or(name))?;
    Some((key, normalized(&shown(&value[1..]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# vm.swappiness = 5\nvm.swappiness=1\n;net.x.y = 1\n\n-net/ipv4/ip_forward = 1\nvm.swappiness = 2\nodd\n";

    fn key(name: &str) -> ParameterKey {
        ParameterKey::parse(name).expect("a key")
    }

    #[test]
    fn last_line_counts() {
        let file = ParameterFile::parse(TextFile::of(FILE));
        let saved = |value: &str, lines| Some(SavedParameter { value: value.to_owned(), lines });
        assert_eq!(file.get(&key("vm.swappiness")).cloned(), saved("2", 2));
        assert_eq!(file.get(&key("net.ipv4.ip_forward")).cloned(), saved("1", 1));
        assert_eq!(file.get(&key("net.x.y")), None);
    }

    #[test]
    fn parameter_has_one_line_afterwards() {
        let file = ParameterFile::parse(TextFile::of(FILE));
        let text = |content| String::from_utf8(content).expect("text");
        let with = |name, value: Option<&str>| text(file.with(&key(name), value.map(|value| (name, value))));
        assert_eq!(
            with("vm.swappiness", Some("3")),
            FILE.replace("vm.swappiness=1", "vm.swappiness = 3").replace("vm.swappiness = 2\n", "")
        );
        assert_eq!(with("kernel.sysrq", Some("0")), format!("{FILE}kernel.sysrq = 0\n"));
        assert_eq!(with("kernel.sysrq", None), FILE);
        assert_eq!(
            with("vm.swappiness", None),
            FILE.replace("\nvm.swappiness=1", "").replace("vm.swappiness = 2\n", "")
        );
        assert_eq!(ParameterFile::default().with(&key("a.b"), Some(("a.b", "1"))), b"a.b = 1\n");
        // What ccm can't read stays, and a value of another encoding is replaced.
        let file = ParameterFile::parse(TextFile::of(b"# caf\xe9\n\xe9=1\na.b = \xe9"));
        assert_eq!(file.with(&key("a.b"), Some(("a.b", "1"))), b"# caf\xe9\n\xe9=1\na.b = 1");
    }
}
