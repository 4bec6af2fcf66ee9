//! The table of a judged command: its commands, effects and verdicts, with the reasons.

use ccm_runtime::model::escape_control;
use ccm_runtime::policy::{
    AnalysedCommand, ExplainedCommand, GuardMode, Policy, PolicyVerdict, cause_text, lifter_text, need_text,
    way_out,
};

/// Maximum width of a column; a longer text is followed by a new line.
const MAX_WIDTH: usize = 60;

/// Returns the table, and what an approval would need.
pub(super) fn text(policy: &Policy, explained: &ExplainedCommand) -> String {
    let ExplainedCommand { analysis, decision, .. } = explained;
    let mut text = format!("for {}, in {}\n", explained.caller.name(), escape_control(&explained.directory));
    if let Some(unreadable) = &analysis.unreadable {
        let span = unreadable.span.range();
        let before = explained.text.get(..span.start.min(explained.text.len())).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        text +=
            &format!("  {line}:{column}  {}: {}\n", unreadable.class, escape_control(&unreadable.message));
        if let Some(hint) = unreadable.hint {
            text += &format!("       instead: {hint}\n");
        }
    }
    let rows: Vec<(String, String)> =
        analysis.commands.iter().map(|command| (shown(command), effects(command))).collect();
    let width = |column: fn(&(String, String)) -> &String| {
        let widths = rows.iter().map(|row| column(row).chars().count());
        widths.filter(|width| *width <= MAX_WIDTH).max().unwrap_or(0)
    };
    let (first, second) = (width(|row| &row.0), width(|row| &row.1));
    for (at, (command, effects)) in rows.iter().enumerate() {
        let judged = &decision.commands[at];
        let line = format!("{:3}  {command:first$}  {effects:second$}  {}", at + 1, judged.verdict().name());
        text += &format!("{}\n", line.trim_end());
        let analysed = analysis.commands.get(at);
        for cause in &judged.causes {
            let reason = cause_text(policy, cause, analysed);
            text += &format!("       {} by {}\n", cause.verdict.name(), escape_control(&reason));
            if let Some(advice) = way_out(policy, cause, analysed) {
                text += &format!("       instead: {}\n", escape_control(&advice));
            }
        }
        for lifted in &judged.lifted {
            let by = lifter_text(policy, lifted.by);
            text += &format!("       {} is lifted by {by}\n", lifted.class);
        }
    }
    text += &format!("verdict: {}", decision.verdict.name());
    text += match decision.mode {
        GuardMode::Standard => "",
        GuardMode::Audit => " (only reported: `guard: audit`)",
        GuardMode::Off => " (guard classes are off)",
    };
    text.push('\n');
    if let Some(message) = decision.guard_message(analysis) {
        text += &format!("{message}\n");
    }
    if decision.verdict == PolicyVerdict::Ask {
        for need in decision.needs(policy) {
            text += &format!("needs: {}\n", escape_control(&need_text(policy, &need)));
        }
    }
    text
}

fn shown(command: &AnalysedCommand) -> String {
    let text = if command.words.is_empty() { "(no program)".to_owned() } else { command.shown() };
    escape_control(&text).into_owned()
}

fn effects(command: &AnalysedCommand) -> String {
    // That a program is started is on the left.
    let effects = command.effects.iter().map(ToString::to_string).filter(|effect| !effect.starts_with("run"));
    let effects: Vec<String> = effects.collect();
    escape_control(&effects.join(", ")).into_owned()
}
