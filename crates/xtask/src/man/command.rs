//! Pages of the commands, from the definition of the command line.

use clap::builder::PossibleValue;
use clap::{Arg, Command};

use super::PageSources;
use super::help_end::{HelpEnd, Note};
use super::markdown::add_table;
use super::roff::{ManPage, bold, formatted, italic, reference};

/// Files that ccm reads or writes by themselves, besides those that a command line names.
const FILES: [(&str, &str); 9] = [
    ("/etc/ccm/facts.json, /etc/ccm/facts.yaml, /etc/ccm/facts.d/", "Custom facts of this machine."),
    ("$XDG_CONFIG_HOME/ccm/, ~/.config/ccm/", "Custom facts of the user, under the same names."),
    (".env", "Variables of the environment of a manifest, in its directory."),
    ("/var/lib/ccm/", "State directory of root: the lock, recorded runs, pending refreshes and backups."),
    ("$XDG_STATE_HOME/ccm/, ~/.local/state/ccm/", "State directory of other users."),
    ("/etc/systemd/system/ccm-*.timer", "Timers that `ccm timer install` has written."),
    ("/etc/default/ccm", "Variables for the services `ccm-apply@.service` and `ccm-tool@.service`."),
    ("/run/ccm/tool.sock", "Socket of the service of tools, `ccm-tool.socket`."),
    ("/usr/share/doc/ccm/", "The documentation."),
];

/// Returns the name of the page of a command: `ccm-backup-list` for `ccm backup list`.
pub(crate) fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

/// Returns the page of a command. `parents` are the names of the pages above it.
pub(crate) fn page(command: &Command, parents: &[String], sources: &PageSources) -> String {
    let is_root = parents.is_empty();
    let name = page_name(command);
    let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let help = HelpEnd::parse(&after_help);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = ManPage::new(&name, 1, &sources.date, &sources.version, super::MANUAL);
    page.section("Name");
    page.line(&format!("{} \\- {}", formatted(&name), formatted(&about)));
    page.section("Synopsis");
    page.line(&synopsis(command));
    page.section("Description");
    page.line(&formatted(&format!("{about}.")));
    for note in &help.notes {
        match note {
            Note::Text(text) => page.paragraph(text),
            Note::Lines(lines) => page.verbatim(lines.iter().copied()),
        }
    }
    add_subcommands(&mut page, command);
    add_arguments(&mut page, command);
    page.section("Exit status");
    if is_root {
        add_table(&mut page, &sources.exit_codes);
    } else {
        page.line(&format!("See {}.", reference("ccm", 1)));
    }
    add_environment(&mut page, command, is_root.then_some(&*sources.variables));
    if is_root {
        page.section("Files");
        for (path, meaning) in FILES {
            page.item(&italic(path), meaning);
        }
    }
    if !help.examples.is_empty() {
        page.section("Examples");
        page.verbatim(help.examples.iter().copied());
    }
    page.section("See also");
    let parents = parents.iter().map(|parent| reference(parent, 1));
    let children = visible(command).map(|child| reference(&page_name(child), 1));
    let others: Vec<String> = parents.chain(children).chain([reference("ccm-manifest", 5)]).collect();
    page.line(&others.join(",\n"));
    if let Some(path) = help.documentation {
        page.paragraph(&format!("`{path}`"));
    }
    page.finish()
}

/// Returns the commands below a command that the help shows.
pub(crate) fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| !child.is_hide_set())
}

/// Returns the usage, with the name of the command in bold.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let rest = usage.strip_prefix(name).unwrap_or(usage).trim();
    format!("{} {}", bold(name), formatted(rest))
}

fn add_subcommands(page: &mut ManPage, command: &Command) {
    if !command.has_subcommands() {
        return;
    }
    page.section("Commands");
    for child in visible(command) {
        let aliases: Vec<&str> = child.get_visible_aliases().collect();
        let about = child.get_about().map(ToString::to_string).unwrap_or_default();
        let alias =
            if aliases.is_empty() { String::new() } else { format!(" Alias: `{}`.", aliases.join("`, `")) };
        page.item(&reference(&page_name(child), 1), &format!("{about}.{alias}"));
    }
}

/// Adds the arguments, below the same headings as in the help.
fn add_arguments(page: &mut ManPage, command: &Command) {
    let shown = || command.get_arguments().filter(|argument| !argument.is_hide_set());
    let positionals: Vec<&Arg> = shown().filter(|argument| argument.is_positional()).collect();
    add_section(page, "Arguments", positionals);
    let options = || shown().filter(|argument| !argument.is_positional());
    let mut headings: Vec<Option<&str>> = vec![None];
    for option in options() {
        if !headings.contains(&option.get_help_heading()) {
            headings.push(option.get_help_heading());
        }
    }
    for heading in headings {
        let of_heading = options().filter(|option| option.get_help_heading() == heading).collect();
        let title = heading.map_or_else(|| "Options".to_owned(), |heading| format!("Options: {heading}"));
        add_section(page, &title, of_heading);
    }
}

fn add_section(page: &mut ManPage, title: &str, mut arguments: Vec<&Arg>) {
    if arguments.is_empty() {
        return;
    }
    if !arguments.iter().any(|argument| argument.is_positional()) {
        arguments.sort_by_key(|argument| argument.get_display_order());
    }
    page.section(title);
    for argument in arguments {
        page.item(&term(argument), &meaning(argument));
    }
}

/// Returns an option with its value, or the name of an argument.
fn term(argument: &Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = names.iter().map(|name| italic(name)).collect();
    let more = argument.get_num_args().is_some_and(|range| range.max_values() > names.len().max(1));
    let values = values.join(" ") + if more && takes_value { "..." } else { "" };
    if argument.is_positional() {
        return values;
    }
    let short = argument.get_short().map(|short| bold(&format!("-{short}")));
    let long = argument.get_long().map(|long| bold(&format!("--{long}")));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let names = names.join(", ");
    if takes_value { format!("{names} {values}") } else { names }
}

/// Returns the help of an argument, with its default and its values.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let (help, notes) = split_notes(&help);
    let mut meaning = help.trim_end_matches('.').to_owned() + ".";
    for note in notes {
        meaning += &match note.split_once(": ") {
            Some(("env", variable)) => format!(" Variable: `{variable}`."),
            Some(("default", default)) => format!(" Default: {default}."),
            _ => format!(" [{note}]"),
        };
    }
    if !argument.get_action().takes_values() {
        return meaning;
    }
    let defaults = argument.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<_> = defaults.collect();
    if !defaults.is_empty() {
        meaning += &format!(" Default: `{}`.", defaults.join(" "));
    }
    let values = argument.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let values: Vec<&str> = values.map(PossibleValue::get_name).collect();
    if !values.is_empty() {
        meaning += &format!(" One of `{}`.", values.join("`, `"));
    }
    meaning
}

/// Splits the notes in brackets, such as `[env: CCM_LOG]`, from the end of a help.
fn split_notes(mut help: &str) -> (&str, Vec<&str>) {
    let mut notes = Vec::new();
    while let Some((before, note)) = help.strip_suffix(']').and_then(|help| help.rsplit_once(" [")) {
        notes.insert(0, note);
        help = before;
    }
    (help, notes)
}

/// Adds the variables that set options of the command, or the given ones.
fn add_environment(page: &mut ManPage, command: &Command, all: Option<&[Vec<String>]>) {
    if let Some(all) = all {
        page.section("Environment");
        page.line("A variable sets an option that the command line leaves out.");
        add_table(page, all);
        return;
    }
    let own = command.get_arguments().filter(|argument| !argument.is_global_set() && !argument.is_hide_set());
    let variables: Vec<(&Arg, String)> =
        own.filter_map(|argument| Some((argument, variable(argument)?))).collect();
    if !variables.is_empty() {
        page.section("Environment");
    }
    for (argument, variable) in variables {
        let option = argument.get_long().map(|long| format!("--{long}"));
        let option = option.unwrap_or_else(|| argument.get_id().as_str().to_uppercase());
        page.item(&bold(&variable), &format!("Sets `{option}` if the command line leaves it out."));
    }
}

/// Returns the variable that the help of an argument names.
fn variable(argument: &Arg) -> Option<String> {
    let help = argument.get_help()?.to_string();
    let (_, notes) = split_notes(&help);
    notes.iter().find_map(|note| note.strip_prefix("env: ")).map(str::to_owned)
}
