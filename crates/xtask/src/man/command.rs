//! Pages of the commands, from the definition of the command line.

use std::io::Write;

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::PageSources;
use super::help_end::{HelpEnd, Note};
use super::markdown::{add_item, add_lines, add_table, inlines, reference};

/// Files that ccm reads or writes by themselves, besides those that a command line names.
const FILES: [(&str, &str); 10] = [
    ("/etc/ccm/facts.json, /etc/ccm/facts.yaml, /etc/ccm/facts.d/", "Custom facts of this machine."),
    ("$XDG_CONFIG_HOME/ccm/, ~/.config/ccm/", "Custom facts of the user, under the same names."),
    (".env", "Variables of the environment of a manifest, in its directory."),
    (".hiera", "Values for `ccm ensure`, in the working directory."),
    ("/var/lib/ccm/", "State directory of root: the lock, recorded runs, pending refreshes and backups."),
    ("$XDG_STATE_HOME/ccm/, ~/.local/state/ccm/", "State directory of other users."),
    ("/etc/systemd/system/ccm-*.timer", "Timers that `ccm timer install` has written."),
    ("/etc/default/ccm", "Variables for the services `ccm-apply@.service` and `ccm-tool@.service`."),
    ("/run/ccm/tool.sock", "Socket of the service of tools, `ccm-tool.socket`."),
    ("/usr/share/doc/ccm/", "The documentation."),
];

/// Returns the name of the page of a command: `ccm-backup-list` for `ccm backup list`.
pub(crate) fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Returns the page of a command. `parents` are the names of the pages above it.
pub(crate) fn page(command: &Command, parents: &[String], sources: &PageSources) -> Result<String, String> {
    let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let help = HelpEnd::parse(&after_help);
    let man = Man::new(for_library(command))
        .title(page_name(command).to_uppercase())
        .date(&sources.date)
        .source(&sources.version)
        .manual(super::MANUAL);
    let rendered = |render: fn(&Man, &mut dyn Write) -> std::io::Result<()>| {
        let mut section = Vec::new();
        render(&man, &mut section).map_err(|error| format!("{}: {error}", page_name(command)))?;
        Ok::<_, String>(code_in_bold(&String::from_utf8_lossy(&section)))
    };
    let mut page = rendered(Man::render_title)?;
    page += super::LAYOUT;
    page += &rendered(Man::render_name_section)?;
    page += &rendered(Man::render_synopsis_section)?;
    page += &rendered(Man::render_description_section)?;
    page += &notes(&help).render();
    if command.has_subcommands() {
        page += &rendered(Man::render_subcommands_section)?;
    }
    page += &rendered(Man::render_options_section)?;
    Ok(page + &other_sections(command, parents, sources, &help).render())
}

/// Returns the commands below a command that the help shows.
pub(crate) fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|child| !child.is_hide_set())
}

/// Returns the command with what the library would show otherwise, or not at all: the usage of the help, which does not
/// repeat all options, a section for arguments, values of options, and other names of commands.
fn for_library(command: &Command) -> Command {
    let usage = command.clone().render_usage().to_string();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    command
        .clone()
        .override_usage(usage.trim_start_matches("Usage:").trim().to_owned())
        .long_about(format!("{about}."))
        .subcommand_help_heading("COMMANDS")
        .mut_args(|argument| {
            let argument = with_values_in_help(argument);
            if argument.is_positional() { argument.help_heading("Arguments") } else { argument }
        })
        .mut_subcommands(|child| {
            let aliases: Vec<&str> = child.get_visible_aliases().collect();
            let about = child.get_about().map(ToString::to_string).unwrap_or_default();
            let alias = if aliases.is_empty() {
                String::new()
            } else {
                format!(". Alias: `{}`", aliases.join("`, `"))
            };
            child.about(about + &alias)
        })
}

/// Moves the values that an option can have to the end of its help. The library makes a list with a line for each.
fn with_values_in_help(option: Arg) -> Arg {
    let values = option.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let values: Vec<&str> = values.map(PossibleValue::get_name).collect();
    if values.is_empty() || !option.get_action().takes_values() {
        return option;
    }
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let help = format!("{help} [possible values: {}]", values.join(", "));
    option.help(help).hide_possible_values(true)
}

/// Sets code between backticks in bold. The library shows the help of options as it is.
fn code_in_bold(section: &str) -> String {
    let mut result = String::new();
    for line in section.lines() {
        let mut is_code = false;
        for part in line.split('`') {
            result += &if is_code { format!("\\fB{part}\\fR") } else { part.to_owned() };
            is_code = !is_code;
        }
        result.push('\n');
    }
    result
}

/// Returns the notes below a help, which continue the description.
fn notes(help: &HelpEnd<'_>) -> Roff {
    let mut roff = Roff::new();
    for note in &help.notes {
        roff.control("PP", []);
        match note {
            Note::Text(text) => drop(roff.text(inlines(text))),
            Note::Lines(lines) => add_lines(&mut roff, lines.iter().copied()),
        }
    }
    roff
}

/// Returns the sections behind the options.
fn other_sections(command: &Command, parents: &[String], sources: &PageSources, help: &HelpEnd<'_>) -> Roff {
    let is_root = parents.is_empty();
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    if is_root {
        add_table(&mut roff, &sources.exit_codes);
    } else {
        roff.text([vec![roman("See ")], reference("ccm", 1), vec![roman(".")]].concat());
    }
    add_environment(&mut roff, command, is_root.then_some(&*sources.variables));
    if is_root {
        roff.control("SH", ["FILES"]);
        for (path, meaning) in FILES {
            add_item(&mut roff, [italic(path)], inlines(meaning));
        }
    }
    if !help.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        add_lines(&mut roff, help.examples.iter().copied());
    }
    roff.control("SH", ["SEE ALSO"]);
    let parents = parents.iter().map(|parent| reference(parent, 1));
    let children = visible(command).map(|child| reference(page_name(child), 1));
    let others: Vec<Vec<Inline>> = parents.chain(children).chain([reference("ccm-manifest", 5)]).collect();
    roff.text(others.join(&roman(", ")));
    if let Some(path) = help.documentation {
        roff.control("PP", []).text([bold(path)]);
    }
    roff
}

/// Adds the variables that set options of the command, or the given ones.
fn add_environment(roff: &mut Roff, command: &Command, all: Option<&[Vec<Vec<Inline>>]>) {
    if let Some(all) = all {
        roff.control("SH", ["ENVIRONMENT"]);
        roff.text([roman("A variable sets an option that the command line leaves out.")]);
        add_table(roff, all);
        return;
    }
    let own = command.get_arguments().filter(|argument| !argument.is_global_set() && !argument.is_hide_set());
    let variables: Vec<(&Arg, String)> =
        own.filter_map(|argument| Some((argument, variable(argument)?))).collect();
    if !variables.is_empty() {
        roff.control("SH", ["ENVIRONMENT"]);
    }
    for (argument, variable) in variables {
        let option = argument.get_long().map(|long| format!("--{long}"));
        let option = option.unwrap_or_else(|| argument.get_id().as_str().to_uppercase());
        let meaning = [roman("Sets "), bold(option), roman(" if the command line leaves it out.")];
        add_item(roff, [bold(variable)], meaning);
    }
}

/// Returns the variable that the help of an argument names, as in `[env: CCM_LOG]`.
fn variable(argument: &Arg) -> Option<String> {
    let help = argument.get_help()?.to_string();
    Some(help.split_once("[env: ")?.1.split_once(']')?.0.to_owned())
}
