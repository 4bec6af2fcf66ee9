//! Errors of the command line, each with what to write instead.

use std::path::Path;

use ccm_runtime::model::{closest, joined, quote_words};
use ccm_runtime::process::own_arguments;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory as _, Error};

use super::foreign_words::{APPLY, FOREIGN_COMMANDS, FOREIGN_INNER_COMMANDS, FOREIGN_OPTIONS, SHOW};
use super::help::{asks_for_short_help, in_groups, shortened};
use super::parsers::wait;
use super::{Arguments, whole_command, with_properties};

/// Maximum number of commands that are named for an option.
const MAX_COMMANDS: usize = 3;

/// Returns an error of clap, or the help, as ccm shows it.
pub(crate) fn adapt(error: Error, is_file: impl Fn(&Path) -> bool) -> Error {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let command = if asks_for_short_help() {
                shortened(whole_command())
            } else {
                with_properties(Arguments::command())
            };
            in_groups(command).try_get_matches().err().unwrap_or(error)
        }
        ErrorKind::InvalidSubcommand => match as_unknown_argument(&error) {
            Some(error) => with_place_of_argument(without_value(error)),
            None => with_own_command(error, is_file),
        },
        ErrorKind::UnknownArgument => with_place_of_argument(without_value(without_far_argument(error))),
        ErrorKind::InvalidValue => without_far_value(error),
        ErrorKind::MissingRequiredArgument => with_example(error),
        _ => error,
    }
}

fn with_tip(mut error: Error, tip: String) -> Error {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// Adds the command of ccm to the error about a manifest, or about a command of another tool, instead of one with a
/// similar name.
fn with_own_command(mut error: Error, is_file: impl Fn(&Path) -> bool) -> Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    // `ccm backup diff` is an error about the commands of `ccm backup`, and `ccm help aply` about those of ccm.
    if let [outer, ..] = &given_command().0[..]
        && outer != "help"
    {
        let inner = FOREIGN_INNER_COMMANDS.iter().find(|(of, foreign, _)| of == outer && foreign == name);
        // Other tools show what would change with `plan MANIFEST`.
        let is_manifest_of_plan = outer == "plan" && error.get(ContextKind::SuggestedSubcommand).is_none();
        let instead = inner.map(|(_, _, instead)| *instead);
        let Some(instead) = instead.or(is_manifest_of_plan.then_some(SHOW)) else { return error };
        error.remove(ContextKind::SuggestedSubcommand);
        return with_tip(error, format!("write `{instead}`"));
    }
    let foreign = FOREIGN_COMMANDS.iter().find(|(foreign, _)| foreign == name);
    let tip = match foreign {
        Some((_, APPLY)) => format!("write `{APPLY}`, or `{SHOW}` to change nothing"),
        Some((_, instead)) if instead.contains("--noop") => {
            format!("write `{instead}` to show what would change")
        }
        Some((_, instead)) => format!("write `{instead}`"),
        None if is_manifest(name, is_file) => {
            let name = quote_words([&**name]);
            format!("write `ccm apply {name}` to apply it, or `ccm apply --noop {name}` to change nothing")
        }
        None => return with_closest_command(error),
    };
    error.remove(ContextKind::SuggestedSubcommand);
    with_tip(error, tip)
}

/// Returns the command of ccm with the most similar name.
fn closest_command(name: &str) -> Option<String> {
    let command = whole_command();
    let known = command.get_subcommands().filter(|inner| !inner.is_hide_set()).map(Command::get_name);
    closest(name, known).map(str::to_owned)
}

/// Removes the suggestion of an option that the command does not have, or that is not similar.
fn without_far_argument(mut error: Error) -> Error {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return error };
    let Some(ContextValue::String(suggested)) = error.get(ContextKind::SuggestedArg) else { return error };
    let has_it = |command: &Command| {
        let long = suggested.trim_start_matches('-');
        command.get_arguments().any(|option| !option.is_hide_set() && option.get_long() == Some(long))
    };
    // Another command may have it, which the tip then names.
    let is_of_other = error.get(ContextKind::SuggestedSubcommand).is_some();
    let name = argument.split('=').next().unwrap_or_default();
    let is_near = closest(name, [&**suggested]).is_some();
    if !is_near || !(is_of_other || has_it(&given_command().1)) {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
    }
    error
}

/// Removes the suggestion of a value that is not similar: `tcsh` is no misspelt `zsh`.
fn without_far_value(mut error: Error) -> Error {
    let is_near = match (error.get(ContextKind::InvalidValue), error.get(ContextKind::SuggestedValue)) {
        (Some(ContextValue::String(value)), Some(ContextValue::String(suggested))) => {
            closest(value, [&**suggested]).is_some()
        }
        _ => true,
    };
    if !is_near {
        error.remove(ContextKind::SuggestedValue);
    }
    error
}

/// Leaves the closest of several suggested commands.
fn with_closest_command(mut error: Error) -> Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let meant = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(suggested)) => {
            closest(name, suggested.iter().map(String::as_str)).map(str::to_owned)
        }
        // `ccm help aply` gets no suggestion of clap.
        _ => closest_command(name),
    };
    let Some(meant) = meant else {
        // What clap finds similar is not what is meant.
        error.remove(ContextKind::SuggestedSubcommand);
        return error;
    };
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![meant]));
    error
}

/// Returns the error of a word behind a command that takes no such word, such as `ccm status site.yaml`, although there
/// is a command below it. A word that resembles that command is a misspelt one.
fn as_unknown_argument(error: &Error) -> Option<Error> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let command = given_command().1;
    let is_misspelt = error.get(ContextKind::SuggestedSubcommand).is_some();
    if !command.is_args_conflicts_with_subcommands_set() || is_misspelt {
        return None;
    }
    let mut found = Error::new(ErrorKind::UnknownArgument).with_cmd(&command);
    found.insert(ContextKind::InvalidArg, ContextValue::String(word.clone()));
    if let Some(usage) = error.get(ContextKind::Usage) {
        found.insert(ContextKind::Usage, usage.clone());
    }
    Some(found)
}

/// Returns `true` for a word in the place of a command that is a manifest.
fn is_manifest(word: &str, is_file: impl Fn(&Path) -> bool) -> bool {
    let is_named_so = [".yaml", ".yml", ".json"].iter().any(|ending| word.ends_with(ending));
    let is_url = ["http://", "https://"].iter().any(|scheme| word.starts_with(scheme));
    is_named_so || is_url || word == "-" || is_file(Path::new(word))
}

/// Returns the command that the command line names, as far as it can be read: its words behind `ccm`, its definition,
/// and its arguments.
fn given_command() -> (Vec<String>, Command, Option<ArgMatches>) {
    let mut matches = Arguments::command().ignore_errors(true).try_get_matches().ok();
    let mut command = whole_command();
    let mut words = Vec::new();
    while let Some((name, inner)) = matches.as_mut().and_then(ArgMatches::remove_subcommand) {
        let Some(found) = command.find_subcommand(&name).cloned() else { break };
        command = found;
        words.push(name);
        matches = Some(inner);
    }
    (words, command, matches)
}

/// Removes a possible value from the error about an unknown argument: `password=…` may have lost its
/// `--data`, and a word behind `--data password=a` may be the rest of a value without quotes.
fn without_value(mut error: Error) -> Error {
    // The suggestion of clap, to put `--` before the argument, does not help here.
    error.remove(ContextKind::Suggested);
    let shown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => match argument.split_once('=') {
            Some((key, _)) => Some(format!("{key}=…")),
            None => (!argument.starts_with('-') && takes_values()).then(|| "…".to_owned()),
        },
        _ => None,
    };
    let Some(shown) = shown else { return error };
    error.insert(ContextKind::InvalidArg, ContextValue::String(shown));
    let why = "the argument may be part of a value, so it is not shown; quote a value with blanks: --data 'motd=a b'";
    with_tip(error, why.to_owned())
}

/// Returns `true` if the command line sets values, as far as it can be read.
fn takes_values() -> bool {
    let Some(matches) = given_command().2 else { return true };
    ["data", "fact", "given"].into_iter().any(|id| matches!(matches.try_contains_id(id), Ok(true)))
}

/// Adds to the error about an unknown argument the commands that have this option, or the option for this argument.
fn with_place_of_argument(mut error: Error) -> Error {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return error };
    let (words, command, _) = given_command();
    match (&words.join(" ")[..], argument) {
        ("eval", _) => {
            return with_tip(error, "quote the expression: `ccm eval 'Data.port == 80'`".to_owned());
        }
        ("hiera parse", option) if option.split('=').next() == Some("--fact") => {
            error.remove(ContextKind::SuggestedArg);
            let tip = "write the fact behind the file: `ccm hiera parse data.yaml role=web`";
            return with_tip(error, tip.to_owned());
        }
        ("policy explain", option) if option.starts_with('-') => {
            return with_tip(
                error,
                "write `--` before the command: `ccm policy explain -- rm -rf /srv`".to_owned(),
            );
        }
        _ => {}
    }
    let long = own_arguments().into_iter().find_map(|word| {
        let name = word.strip_prefix('-')?.to_owned();
        let is_long = command.get_arguments().any(|option| option.get_long() == Some(&name));
        (is_long && !argument.starts_with("--") && word.contains(argument.trim_start_matches('-')))
            .then_some(name)
    });
    if let Some(name) = long {
        return with_tip(error, format!("write `--{name}`"));
    }
    let has = |option: &str| command.get_arguments().any(|argument| argument.get_long() == Some(option));
    let is_graph = command.get_name() == "graph";
    let foreign = FOREIGN_OPTIONS.iter().find(|(words, own, _)| {
        let is_for_command = match *own {
            "" => true,
            "output" if **words == ["--dot"] => is_graph,
            own => has(own),
        };
        words.contains(&&**argument) && is_for_command
    });
    if let Some((_, _, tip)) = foreign {
        error.remove(ContextKind::SuggestedArg);
        return with_tip(error, (*tip).to_owned());
    }
    if command.get_name() == "pause" && wait(argument).is_ok() {
        let tip = format!("write `ccm pause --for {argument} --reason TEXT`");
        return with_tip(error, tip);
    }
    let mut commands = Vec::new();
    if let Some(option) = argument.strip_prefix("--") {
        collect_commands_with(&whole_command(), "ccm", option, &mut commands);
    } else if is_manifest(argument, |_| false) {
        let option = ["manifest", "policy"].into_iter().find(|option| has(option));
        let tip = option.map(|option| format!("write `--{option} {}`", quote_words([&**argument])));
        return match tip {
            Some(tip) => with_tip(error, tip),
            None => error,
        };
    }
    if commands.is_empty() {
        let is_of_ccm = words.is_empty();
        let meant = argument.strip_prefix("--").filter(|_| is_of_ccm).and_then(|option| {
            let is_command = |inner: &Command| inner.get_name() == option && !inner.is_hide_set();
            let is_exact = command.get_subcommands().any(is_command);
            if is_exact { Some(option.to_owned()) } else { closest_command(option) }
        });
        return match meant {
            Some(meant) => {
                error.remove(ContextKind::SuggestedArg);
                with_tip(error, format!("write `ccm {meant}`"))
            }
            None => error,
        };
    }
    if commands.len() > MAX_COMMANDS {
        commands.truncate(MAX_COMMANDS - 1);
        commands.push("other commands".to_owned());
    }
    let tip = format!("'{argument}' is an option of {}", joined(&commands, "and"));
    // What another command has is no misspelt option of this one.
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedArg);
    with_tip(error, tip)
}

/// Collects the commands that have a long option.
fn collect_commands_with(command: &Command, name: &str, option: &str, found: &mut Vec<String>) {
    let has_option = command.get_arguments().any(|argument| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        !argument.is_hide_set() && (argument.get_long() == Some(option) || aliases.contains(&option))
    });
    if has_option {
        found.push(format!("`{name}`"));
    }
    // What stands below it are types with their properties.
    if command.get_name() == "ensure" {
        return;
    }
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect_commands_with(inner, &format!("{name} {}", inner.get_name()), option, found);
    }
}

/// Adds an example to the error about missing arguments: one of the help that has them, and if possible the options that
/// are given, or else the usage.
fn with_example(error: Error) -> Error {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return error };
    let (words, command, matches) = given_command();
    let name = format!("ccm {}", words.join(" "));
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let needed: Vec<&str> = missing.iter().flat_map(|argument| argument.split(' ')).collect();
    let needed = || needed.iter().filter(|word| word.starts_with("--"));
    let is_given = |id: &str| {
        matches.as_ref().is_some_and(|matches| {
            // The words behind a type of `ccm ensure` are no arguments yet.
            matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
        })
    };
    let given = command.get_arguments().filter(|option| is_given(option.get_id().as_str()));
    let given: Vec<String> = given.filter_map(Arg::get_long).map(|long| format!("--{long}")).collect();
    let examples = help.lines().filter_map(|line| line.trim().split("  ").next());
    let fitting = examples.filter(|example| {
        example.starts_with(&format!("{name} ")) && needed().all(|option| example.contains(option))
    });
    let lacks = |example: &str| given.iter().filter(|option| !example.contains(&***option)).count();
    let example = fitting
        .min_by_key(|example| (lacks(example), example.len()))
        .map_or_else(|| format!("{name} {}", missing.join(" ").replace(['<', '>'], "")), str::to_owned);
    with_tip(error, format!("write for example `{example}`"))
}
