//! Answers that a program gives for a service, as the user who calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{AnswerKind, ToolAnswer};

/// Arguments of the program, before the name of the tool.
pub(crate) const READER_ARGUMENTS: [&str; 2] = ["tool", "read"];

/// Answer on its way from the program to the service.
#[derive(Serialize, Deserialize)]
struct ReaderAnswer {
    kind: String,
    structured: Value,
    /// Field of the structured content that is the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text_field: Option<String>,
    /// The text, unless the structured content leads to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Returns an answer as the program prints it for the service.
pub fn reader_answer(answer: &ToolAnswer) -> String {
    let mut fields = answer.structured.as_object().into_iter().flatten();
    let text_field = fields.find(|(_, value)| value.as_str() == Some(&answer.text));
    let text_field = text_field.map(|(name, _)| name.clone());
    let is_document = text_field.is_some() || answer.text == format!("{:#}", answer.structured);
    let answer = ReaderAnswer {
        kind: answer.kind.name().to_owned(),
        structured: answer.structured.clone(),
        text_field,
        text: (!is_document).then(|| answer.text.clone()),
    };
    // Texts and JSON values always have a form in JSON.
    serde_json::to_string(&answer).unwrap_or_default()
}

/// Returns the answer that the program has printed; `None` if it is none.
pub(crate) fn parse(printed: &[u8]) -> Option<ToolAnswer> {
    let ReaderAnswer { kind, structured, text_field, text } = serde_json::from_slice(printed).ok()?;
    let kind = AnswerKind::parse(&kind)?;
    let text = match (text, text_field) {
        (Some(text), _) => text,
        (None, Some(field)) => structured.get(field)?.as_str()?.to_owned(),
        (None, None) => format!("{structured:#}"),
    };
    Some(ToolAnswer { kind, text, structured })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_come_back_as_they_were() {
        let graph = "a\nb\n".to_owned();
        let structured = json!({"status": "done", "format": "text", "graph": graph});
        for answer in [
            ToolAnswer::document(json!({"status": "done", "facts": {"a": [1, 2]}})),
            ToolAnswer { kind: AnswerKind::Done, text: graph, structured },
            ToolAnswer::error(AnswerKind::NotTried, "no manifest", None, &["write one".to_owned()]),
        ] {
            let printed = reader_answer(&answer);
            assert_eq!(parse(printed.as_bytes()), Some(answer), "{printed}");
        }
        for printed in ["", "{}", "{\"kind\": \"other\", \"structured\": {}}", "[]"] {
            assert_eq!(parse(printed.as_bytes()), None, "{printed}");
        }
    }
}
