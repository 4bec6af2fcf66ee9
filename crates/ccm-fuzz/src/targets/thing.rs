//! A resource type beside the real ones, with a property for each kind of reader.

use ccm_model::{Checked, Claim, Diagnostic, Kind, Node, PathKind, Properties, Reader, Resource, TypeSpec};

pub(super) struct Thing;

impl TypeSpec for Thing {
    fn name(&self) -> &'static str {
        "thing"
    }

    fn summary(&self) -> &'static str {
        "Is there for tests."
    }

    fn aliases(&self) -> &'static [(&'static str, &'static str)] {
        &[("number", "count")]
    }

    fn not_yet(&self) -> &'static [&'static str] {
        &["later"]
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["one", "two"]
    }

    fn reader(&self, property: &str, provider: Option<&str>, _: &Properties) -> Reader {
        match (property, provider) {
            ("shell", _) => Reader::Shell,
            ("name", Some("two")) | ("words", _) => Reader::Words,
            ("map", _) => Reader::Entries(&[("call", Reader::Call(&["contains"]))]),
            _ => Reader::Nobody,
        }
    }

    fn template_source(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "text"))
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let path = Some(&*resource.id.name).filter(|name| name.starts_with('/'));
        path.map(|path| Claim::path(path, PathKind::Directory)).into_iter().collect()
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let count = checked.resource.properties.get("count");
        let is_number =
            |node: &&Node| node.as_scalar().is_some_and(|scalar| matches!(scalar.kind(), Kind::Int(_)));
        let wrong = count.filter(|node| !is_number(node));
        wrong.map(|node| Diagnostic::error(node.span, "expected a number")).into_iter().collect()
    }

    fn schema(&self) -> schemars::Schema {
        schemars::json_schema!({"type": "object", "properties": {
            "text": {}, "shell": {}, "words": {}, "list": {}, "map": {}, "count": {}, "source": {}
        }})
    }
}
