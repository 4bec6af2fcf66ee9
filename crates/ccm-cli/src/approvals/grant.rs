//! What an approver grants besides the action that waits. Everything that a use may differ in is shown.

use ccm_runtime::approval::{ApprovalTerms, ApproveError, GrantedRule, IntentDocument, ScreenError};
use ccm_runtime::model::{display_duration, escape_control};

/// Maximum length of a rule that a person can be expected to read.
const MAX_RULE: usize = 4000;

/// Returns the terms of an approval for several uses, and nothing for a single one.
pub(crate) fn terms(
    intent: &IntentDocument,
    terms: &ApprovalTerms,
    rule: Option<&GrantedRule>,
) -> Result<String, ApproveError> {
    if !terms.is_grant() {
        return Ok(String::new());
    }
    let uses = if terms.uses == 1 { "1 USE".to_owned() } else { format!("{} USES", terms.uses) };
    let within = display_duration(terms.valid);
    let Some(rule) = rule else {
        return Ok(format!(
            "GRANTS {uses} of exactly this within {within}, each without a further question\n"
        ));
    };
    let code = &intent.code;
    let lines: Vec<String> = rule.lines.iter().map(|line| format!("  {}\n", escaped(line))).collect();
    let found = lines.iter().map(|line| line.chars().count()).sum();
    if found > MAX_RULE {
        let limit = MAX_RULE;
        let source = ScreenError::TooLongRule { found, limit };
        return Err(ApproveError::Unshowable { code: code.clone(), source });
    }
    let caller = &intent.content.caller;
    let who = escaped(caller.login.as_ref().unwrap_or(&caller.user));
    let location = rule.location.as_ref().map_or_else(String::new, |at| format!(" ({})", escaped(at)));
    Ok(format!(
        "GRANTS {uses} within {within} to {who} ({}), each without a further question:\n\
         NOT ONLY THIS, but whatever {}{location} alone asks for, with the same user and sandbox,\n\
         and any words, directory, variables, input and resource that the rule matches:\n\
         {}root takes it back with `ccm approvals reject {code} --reason TEXT`\n",
        escaped(&intent.content.tool),
        escaped(&rule.label),
        lines.concat(),
    ))
}

fn escaped(text: &str) -> String {
    escape_control(text).replace('\n', "\\n")
}
