//! Resource type for tests that load manifests.

use ccm_model::{Claim, Diagnostic, DiagnosticKind, Node, PathKind, Properties, Resource, ScalarKind};
use ccm_properties::{CheckInput, PropertySpec, SourcesView, Text, TextSyntax, TypeDeclaration, TypeSpec};
use serde_json::Value as Json;

/// Resource type with a property for each syntax.
#[derive(Clone, Copy, Debug)]
pub struct Thing;

/// Properties, one for each syntax.
const PROPERTIES: &[PropertySpec] = &[
    PropertySpec::new::<Text>("text", &[]),
    PropertySpec { syntax: TextSyntax::Shell, ..PropertySpec::new::<Text>("shell", &[]) },
    PropertySpec { syntax: TextSyntax::Argv, ..PropertySpec::new::<Text>("words", &[]) },
    PropertySpec::new::<Vec<Text>>("list", &[]),
    PropertySpec { syntax: TextSyntax::Record(CALL), ..PropertySpec::new::<Json>("map", &[]) },
    PropertySpec { aliases: &["number"], ..PropertySpec::new::<i64>("count", &[]) },
    PropertySpec::new::<Text>("source", &[]),
];

const CALL: &[PropertySpec] =
    &[PropertySpec { syntax: TextSyntax::Call(&["contains"]), ..PropertySpec::new::<Text>("call", &[]) }];

impl TypeSpec for Thing {
    fn refreshes(&self) -> bool {
        true
    }

    fn syntax(&self, property: &str, provider: Option<&str>, properties: &Properties) -> TextSyntax {
        match (property, provider) {
            ("name", Some("two")) => TextSyntax::Argv,
            _ => self.declared_syntax(property, properties),
        }
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let path = Some(&*resource.id.name).filter(|name| name.starts_with('/'));
        path.map(|path| Claim::path(path, PathKind::Directory)).into_iter().collect()
    }

    fn sources(&self) -> Option<&dyn SourcesView> {
        Some(self)
    }
}

impl SourcesView for Thing {
    fn template(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "text"))
    }
}

impl TypeDeclaration for Thing {
    fn name(&self) -> &'static str {
        "thing"
    }

    fn summary(&self) -> &'static str {
        "Is there for tests."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> Vec<&'static str> {
        vec!["one", "two"]
    }

    fn properties(&self) -> &'static [PropertySpec] {
        PROPERTIES
    }

    fn check(&self, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let count = checked.resource.properties.get("count");
        let is_number =
            |node: &&Node| node.as_scalar().is_some_and(|scalar| matches!(scalar.kind(), ScalarKind::Int(_)));
        let wrong = count.filter(|node| !is_number(node));
        wrong
            .map(|node| Diagnostic::error(DiagnosticKind::WrongType, node.span, "expected a number"))
            .into_iter()
            .collect()
    }
}
