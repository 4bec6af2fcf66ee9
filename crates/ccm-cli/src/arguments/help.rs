//! Help of ccm itself, with the commands in groups.

use anstream::adapter::strip_str;
use ccm_runtime::process::own_arguments;
use clap::Command;

use super::headings;

/// Headings whose options only the long help has.
const LONG: [&str; 4] = [headings::SOURCE, headings::DATA, headings::LIMITS, headings::RECORD];
/// End of a short help.
const SHORT_END: &str = "`--help` shows all options, and examples.";

/// Returns `true` if the command line asks for the help with `-h`.
pub(crate) fn asks_for_short_help() -> bool {
    let words = own_arguments();
    let is_short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('h');
    words.iter().any(is_short) && !words.iter().any(|word| word == "--help")
}

/// Leaves out of the help what few need: options of sources, data, limits and records, and the examples.
pub(crate) fn shortened(command: Command) -> Command {
    let is_long = |heading: Option<&str>| heading.is_some_and(|heading| LONG.contains(&heading));
    let has_more = command.get_after_help().is_some()
        || command.get_arguments().any(|argument| is_long(argument.get_help_heading()));
    let command = if has_more { command.after_help(SHORT_END) } else { command };
    let command = command.mut_args(|argument| match argument.get_help_heading() {
        heading if is_long(heading) => argument.hide(true),
        _ => argument,
    });
    command.mut_subcommands(shortened)
}

/// Headings with their commands, the most used first.
const GROUPS: &[(&str, &[&str])] = &[
    ("Every day", &["apply", "ensure", "session", "validate", "init", "plan", "timer", "pause", "backup"]),
    (
        "Looking",
        &[
            "status",
            "resource",
            "history",
            "check",
            "explain",
            "graph",
            "facts",
            "eval",
            "hiera",
            "schema",
            "completions",
            "help",
        ],
    ),
    #[cfg(feature = "archive")]
    ("Many machines", &["push", "release", "source", "secret"]),
    ("Governance", &["approvals", "approve", "policy", "audit", "tool", "mcp"]),
];

/// Puts the commands of the help under headings. clap knows one list of commands; its lines are taken, so that they
/// are wrapped, aligned and coloured like all others.
pub(crate) fn in_groups(root: Command) -> Command {
    let list = root.clone().help_template("{subcommands}").render_help().ansi().to_string();
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in list.lines() {
        let plain = strip_str(line).to_string();
        if let Some(rest) = plain.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            entries.push((rest.split(' ').next().unwrap_or_default().to_owned(), format!("{line}\n")));
        } else if let Some((_, entry)) = entries.last_mut() {
            *entry += &format!("{line}\n");
        }
    }
    let style = root.get_styles().get_header();
    let heading = |text: &str| format!("{style}{text}:{style:#}\n");
    let mut template = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (name, commands) in GROUPS {
        template += &heading(name);
        for command in *commands {
            let found = entries.iter().filter(|(name, _)| name == command);
            template.extend(found.map(|(_, entry)| entry.as_str()));
        }
        template.push('\n');
    }
    template += &heading("Options");
    root.help_template(template + "{options}{after-help}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn every_command_is_in_one_group() {
        let mut root = Arguments::command();
        root.build();
        let visible = root.get_subcommands().filter(|command| !command.is_hide_set());
        let visible: BTreeSet<&str> = visible.map(Command::get_name).collect();
        let grouped = GROUPS.iter().flat_map(|(_, commands)| commands.iter().copied());
        assert_eq!(grouped.clone().count(), visible.len());
        assert_eq!(grouped.collect::<BTreeSet<_>>(), visible);
    }
}
