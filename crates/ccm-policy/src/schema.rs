//! JSON schema of a policy file, for editors.

use ccm_properties::{PropertyValue as _, schema};
use serde_json::{Value, json};

use crate::document::PolicyDocument;

/// Returns the JSON schema (draft 2020-12) of a policy file.
pub fn policy_schema() -> Value {
    let mut schema = schema(&PolicyDocument::KIND);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("ccm policy");
    schema["description"] = json!("Rules about the commands that ccm and its tools may run.");
    schema
}
