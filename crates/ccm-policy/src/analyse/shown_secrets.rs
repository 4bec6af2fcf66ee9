//! Credentials that programs show without a path.

use super::arguments::ParsedArguments;
use super::entries::Call;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;

impl Analyser<'_> {
    /// Judges a call that shows credentials by its words.
    pub(super) fn shown_secrets(&mut self, call: &Call<'_>) {
        let span = self.span(call.index);
        match call.name {
            "ps" if shows_environment(call.parsed) => {
                self.secret(call.index, "/proc/…/environ", "shows", span);
            }
            "kubectl" | "oc" if names_secret(call.parsed) => {
                let what = format!("`{}` shows secrets of a cluster", call.name);
                self.effect(call.index, Effect::new(EffectKind::Secrets, None));
                self.finding(call.index, GuardClass::Secrets, what, span, Some(WayOut::AskOperator));
            }
            _ => {}
        }
    }
}

/// Returns `true` if an operand names objects of a cluster that are secrets, and a format shows their content.
fn names_secret(parsed: &ParsedArguments) -> bool {
    let is_secret = |part: &str| matches!(part.split('/').next(), Some("secret" | "secrets"));
    let mut operands = parsed.operands.iter().map(shell_words::with_placeholders);
    let shows = ["-o", "--output", "--template", "--raw"];
    // `get --raw /api/v1/secrets`
    let raw = parsed.options.iter().filter(|option| option.is_named("--raw"));
    let raw = raw.filter_map(|option| option.value.as_ref()).map(shell_words::with_placeholders);
    let is_path =
        |text: &String| text.starts_with('/') && text.split(['/', '?']).any(|part| part == "secrets");
    let mut paths = raw.chain(parsed.operands.iter().map(shell_words::with_placeholders));
    paths.any(|path| is_path(&path))
        || operands.any(|operand| operand.split(',').any(is_secret)) && parsed.has(&shows)
}

/// Returns `true` if `ps` shows the variables of processes: `ps e`, `ps auxe`, `ps -o environ`.
fn shows_environment(parsed: &ParsedArguments) -> bool {
    let mut is_value = false;
    let letters = parsed.operands.iter().map(shell_words::with_placeholders).any(|operand| {
        if std::mem::take(&mut is_value) || !operand.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return false;
        }
        // The value of one of these letters follows.
        let end = operand.find(['k', 'o', 'O', 'p', 'q', 't', 'U']);
        is_value = end.is_some();
        operand.get(..end.unwrap_or(operand.len())).is_some_and(|letters| letters.contains('e'))
    });
    let mut words = parsed.options.iter().filter_map(|option| option.value.as_ref()).chain(&parsed.operands);
    letters
        || words.any(|word| {
            let text = shell_words::with_placeholders(word);
            text.split([',', ' ', '=']).any(|part| part == "environ")
        })
}
