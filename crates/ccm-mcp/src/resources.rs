//! Documents as resources.

use ccm_tool::{DocumentationPage, ToolDocument};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

/// Document that a URI names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResourceTarget {
    /// Answer of a tool.
    Tool(&'static str, Value),
    /// Document of the broker.
    Document(ToolDocument),
}

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
/// Beginning of the URIs of pages.
const PAGES: &str = "ccm://docs/";

/// URIs of resources: name, MIME type and description.
const RESOURCES: [(&str, &str, &str, &str); 7] = [
    ("ccm://policy", "policy", "application/yaml", "Policy that judges commands on this machine"),
    ("ccm://schema", "schema", JSON, "JSON schema of manifests"),
    ("ccm://facts", "facts", JSON, "Facts of this machine"),
    ("ccm://runs", "runs", JSON, "Recorded runs"),
    ("ccm://status", "status", JSON, "Last run of each manifest, and pending refreshes"),
    ("ccm://types", "types", JSON, "Resource types of manifests"),
    (
        "ccm://audit/checkpoint",
        "checkpoint",
        JSON,
        "End of the audit log, with which anybody can compare the log later",
    ),
];

const TEMPLATES: [(&str, &str, &str); 4] = [
    ("ccm://runs/{id}", "run", "Recorded run; `last` is the newest"),
    ("ccm://types/{name}", "type", "Resource type, or property such as `file.mode`"),
    ("ccm://facts/{path}", "fact", "Facts at a path, such as `host.info.os`"),
    ("ccm://intents/{id}", "intent", "State of a call that needed an approval"),
];

/// Returns the resources.
pub(crate) fn resources() -> Vec<Resource> {
    let resource = |(uri, name, mime, description): (&str, &str, &str, &str)| {
        Resource::new(uri, name).with_mime_type(mime).with_description(description)
    };
    let page = |page: DocumentationPage| {
        Resource::new(format!("{PAGES}{}", page.name()), format!("docs/{}", page.name()))
            .with_mime_type(MARKDOWN)
            .with_description(format!("Documentation: {}", page.title()))
    };
    RESOURCES.into_iter().map(resource).chain(DocumentationPage::all().map(page)).collect()
}

/// Returns the templates of resources with a name.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |(uri, name, description): (&str, &str, &str)| {
        ResourceTemplate::new(uri, name).with_mime_type(JSON).with_description(description)
    };
    TEMPLATES.into_iter().map(template).collect()
}

/// Returns the MIME type of a resource.
pub(crate) fn mime_type(uri: &str) -> &'static str {
    let other = if uri.starts_with(PAGES) { MARKDOWN } else { JSON };
    RESOURCES.into_iter().find(|resource| resource.0 == uri).map_or(other, |resource| resource.2)
}

/// Returns the document that a URI names.
pub(crate) fn target(uri: &str) -> Option<ResourceTarget> {
    let tool = |name, input| Some(ResourceTarget::Tool(name, input));
    let path = uri.strip_prefix("ccm://")?;
    match path.split_once('/') {
        None => match path {
            "policy" => Some(ResourceTarget::Document(ToolDocument::Policy)),
            "schema" => Some(ResourceTarget::Document(ToolDocument::ManifestSchema)),
            "facts" => tool("facts", json!({})),
            "runs" => tool("history", json!({})),
            "status" => tool("status", json!({})),
            "types" => tool("explain", json!({})),
            _ => None,
        },
        Some((_, "")) => None,
        Some(("runs", id)) => tool("history", json!({ "run": id })),
        Some(("types", name)) => tool("explain", json!({ "name": name })),
        Some(("facts", path)) => tool("facts", json!({ "path": path })),
        Some(("audit", "checkpoint")) => Some(ResourceTarget::Document(ToolDocument::AuditCheckpoint)),
        Some(("docs", name)) => {
            Some(ResourceTarget::Document(ToolDocument::Page(DocumentationPage::parse(name)?)))
        }
        Some(("intents", id)) => tool("approval_status", json!({ "intent": id })),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_and_template_leads_to_a_document() {
        for resource in resources() {
            assert!(target(&resource.uri).is_some(), "{}", resource.uri);
        }
        for template in templates() {
            let uri =
                template.uri_template.replace("{id}", "x").replace("{name}", "x").replace("{path}", "x");
            assert!(target(&uri).is_some(), "{uri}");
        }
        for uri in [
            "ccm://docs/secrets",
            "ccm://docs/../tools",
            "ccm://",
            "ccm://runs/",
            "ccm://nothing",
            "ccm://audit/key",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(target(uri), None, "{uri}");
        }
    }
}
