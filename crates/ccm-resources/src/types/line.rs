//! The line resource: one line of a text file, present or absent.

mod desired;
mod plan;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Resource};
use ccm_properties::{
    CheckInput, CommandsView, PropertyError, Providers, TextPart, TextView, TypeSpec, TypedResource,
    is_sensitive,
};

use crate::parts::text::{PartEditor, PartKind, detached, path_claim, path_of, unread_path};
use crate::parts::validator::VALIDATE;
use crate::support::export::without_state;
use desired::{DesiredLine, group_reference};
use properties::LineProperties;

#[derive(Debug)]
pub(crate) struct LineType;

without_state!(
    LineType,
    "a `line` is a part of a file, which can't be told from the other lines",
    "export the file: `ccm resource file PATH`"
);

impl TypedResource for LineType {
    type Written = LineProperties;
    type Desired = DesiredLine;
    type Provider = dyn DynProvider<PartKind<DesiredLine>>;

    const NAME: &'static str = "line";
    const SUMMARY: &'static str = "Manages one line of a text file.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PartEditor::<DesiredLine>::NEW)];

    fn build(resource: &Resource, written: LineProperties) -> Result<DesiredLine, Vec<PropertyError>> {
        DesiredLine::build(resource, written)
    }

    fn warnings(line: &DesiredLine, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let warning = group_reference(line).map(|reference| {
            let span = resource.properties.get("line").map_or(resource.span, |line| line.span);
            let message =
                format!("`{reference}` in `line` is written as it is, and not as a group of `match`");
            Diagnostic::warning(DiagnosticKind::NoEffect, span, message)
                .with_hint("write the text of the line in full, or use `setting` to change a value alone")
        });
        warning.into_iter().chain(unread_path(resource)).collect()
    }
}

impl TypeSpec for LineType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let is_shown = !is_sensitive(&resource.properties);
        let text = |name| resource.properties.get(name).and_then(|node| node.as_text()).filter(|_| is_shown);
        let line = text("line").zip(path_of(resource));
        let claim = |key| Claim::exclusive(ClaimKind::Line, key);
        // Each of two resources with one expression would replace the line of the other.
        let pattern = text("match").filter(|_| !resource.is_absent()).zip(line);
        let pattern = pattern.map(|(pattern, (_, path))| claim(format!("{path}: what matches {pattern}")));
        let line = line.map(|(line, path)| claim(format!("{path}: {line}")));
        path_claim(resource).into_iter().chain(line).chain(pattern).collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }

    fn text(&self) -> Option<&dyn TextView> {
        Some(self)
    }
}

impl TextView for LineType {
    fn changes_other_lines(&self, resource: &Resource) -> bool {
        resource.properties.get("match").is_some()
    }

    fn part(&self, resource: &Resource) -> Option<Box<dyn TextPart>> {
        detached::<Self>(resource)
    }
}
