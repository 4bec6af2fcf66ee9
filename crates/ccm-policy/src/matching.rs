//! Matching of rules with commands and with changes of resources.

mod arguments;
mod possible;

use ccm_model::Glob;

use arguments::{compare_arguments, compare_option};

use crate::analysis::{AnalysedCommand, AnalysedWord};
use crate::effect::{Effect, EffectKind};
use crate::links::LinkDestination;
use crate::resource_names::compare_resource;
use crate::rule::RuleMatch;

/// What a rule is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'s> {
    Command(&'s AnalysedCommand),
    Change(&'s GovernedChange),
}

/// Change of a resource, which ccm makes with its own tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GovernedChange {
    /// Type of the resource.
    pub type_name: String,
    /// Name of the resource.
    pub name: String,
    /// Other names of the resource, such as its alias.
    pub other_names: Vec<String>,
    /// Effects of the change.
    pub effects: Vec<Effect>,
}

/// Result of comparing a rule with a command or change. Rules that ask or deny take a possible match as a match, rules
/// that allow do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Matching {
    No,
    Possible,
    Yes,
}

impl Matching {
    pub(crate) fn of(matches: bool) -> Self {
        if matches { Self::Yes } else { Self::No }
    }

    pub(crate) fn at_most_possible(matches: bool) -> Self {
        if matches { Self::Possible } else { Self::No }
    }
}

/// Direction in which a doubt is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchPurpose {
    /// The rule makes the verdict stricter: any part of the command may match.
    Restrict,
    /// The rule lifts something: all of the command has to match as written.
    Lift,
}

impl RuleMatch {
    pub(crate) fn compare(&self, subject: Subject<'_>, purpose: MatchPurpose) -> Matching {
        let own = match subject {
            Subject::Command(command) => self.compare_command(command, purpose),
            Subject::Change(_) if self.is_about_commands() => Matching::No,
            Subject::Change(_) => Matching::Yes,
        };
        if own == Matching::No {
            return Matching::No;
        }
        own.min(self.compare_effects(subject, purpose))
    }

    fn compare_command(&self, command: &AnalysedCommand, purpose: MatchPurpose) -> Matching {
        let mut result = Matching::Yes;
        if !self.programs.is_empty() {
            let each = self.programs.iter().map(|glob| compare_program(glob, command, purpose));
            result = result.min(each.max().unwrap_or(Matching::No));
        }
        if result == Matching::No && purpose == MatchPurpose::Restrict {
            return Matching::at_most_possible(self.may_be_started(command));
        }
        if result > Matching::No
            && let Some(patterns) = &self.arguments
        {
            result = result.min(compare_arguments(patterns, command, purpose));
        }
        for option in &self.options {
            if result > Matching::No {
                result = result.min(compare_option(option, command, purpose));
            }
        }
        result
    }

    /// Returns `true` if a word of a command, whose effects are not known, may start a program of the rule.
    fn may_be_started(&self, command: &AnalysedCommand) -> bool {
        possible::programs(command).any(|(position, name)| {
            let is_named = |glob: &Glob| !glob.as_str().contains('/') && glob.matches(name);
            let matches_words = || {
                let words = command.words.get(position..).unwrap_or_default().to_vec();
                let is_operand = |word: &&AnalysedWord| !word.shown.starts_with('-');
                let operands = words.iter().skip(1).filter(is_operand).cloned().collect();
                let started = AnalysedCommand { words, operands, options: Vec::new(), ..command.clone() };
                let arguments = self.arguments.as_ref();
                arguments.is_none_or(|patterns| {
                    compare_arguments(patterns, &started, MatchPurpose::Restrict) != Matching::No
                }) && self
                    .options
                    .iter()
                    .all(|option| compare_option(option, &started, MatchPurpose::Restrict) != Matching::No)
            };
            self.programs.iter().any(is_named) && matches_words()
        })
    }

    fn compare_effects(&self, subject: Subject<'_>, purpose: MatchPurpose) -> Matching {
        if self.effects.is_empty() && self.path.is_none() && self.resource.is_none() {
            return Matching::Yes;
        }
        let effects = match subject {
            Subject::Command(command) => &*command.effects,
            Subject::Change(change) => &*change.effects,
        };
        let names = |glob: &Glob| match subject {
            Subject::Command(_) => None,
            Subject::Change(change) => {
                let id = |name: &String| format!("{}#{name}", change.type_name);
                let mut ids = std::iter::once(&change.name).chain(&change.other_names).map(id);
                Some(Matching::of(ids.any(|id| glob.matches(&id))))
            }
        };
        let program = match subject {
            Subject::Command(command) => command.base_name(),
            Subject::Change(_) => None,
        };
        let resource_of_change = self.resource.as_ref().and_then(names);
        if resource_of_change == Some(Matching::No) {
            return Matching::No;
        }
        // A program or option that the tables do not list may change what it is given.
        let is_about_paths = self.effects.is_empty() || self.effects.iter().any(|kind| has_path(*kind));
        let may_change = match subject {
            Subject::Command(command) => {
                purpose == MatchPurpose::Restrict
                    && self.path.is_some()
                    && is_about_paths
                    && command.has_unknown_effects()
            }
            Subject::Change(_) => false,
        };
        if let (Subject::Command(command), Some(path), None) = (subject, &self.path, &self.resource)
            && purpose == MatchPurpose::Restrict
            && is_about_paths
            && possible::may_name_path(path, command)
        {
            return Matching::Possible;
        }
        let concerned = effects.iter().filter(|effect| {
            let is_kind = self.effects.is_empty()
                || self.effects.contains(&effect.kind)
                || may_change && effect.kind == EffectKind::Read;
            let is_path = self.path.is_none() || has_path(effect.kind);
            let is_resource =
                self.resource.is_none() || resource_of_change.is_some() || effect.kind.names_objects();
            is_kind && is_path && is_resource
        });
        let compare = |effect: &Effect| {
            let mut result = Matching::Yes;
            if let Some(glob) = &self.path {
                result = result.min(compare_path(glob, effect, purpose));
            }
            if let Some(glob) = self.resource.as_ref().filter(|_| resource_of_change.is_none()) {
                result = result.min(compare_resource(glob, effect, program, purpose));
            }
            result
        };
        let compared = concerned.map(compare);
        let found = match purpose {
            MatchPurpose::Restrict => compared.max(),
            // One effect that a rule does not name is enough to keep the class.
            MatchPurpose::Lift => compared.min(),
        };
        let only_by_name = self.effects.is_empty() && self.path.is_none();
        found.or(resource_of_change.filter(|_| only_by_name)).unwrap_or(Matching::No)
    }
}

fn has_path(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Write
            | EffectKind::Delete
            | EffectKind::Read
            | EffectKind::Permissions
            | EffectKind::Disk
    )
}

fn compare_program(glob: &Glob, command: &AnalysedCommand, purpose: MatchPurpose) -> Matching {
    let Some(program) = &command.program else {
        // A builtin, or a function whose commands are compared by themselves.
        return match command.words.first() {
            Some(word) => word.text().map_or(Matching::Possible, |text| Matching::of(glob.matches(text))),
            None => Matching::No,
        };
    };
    let Some(name) = program.name.as_deref() else { return Matching::Possible };
    let is_path = glob.as_str().contains('/');
    match (&program.location, purpose) {
        (Some(location), MatchPurpose::Lift) => {
            let matches = if is_path {
                glob.matches(&location.path) || glob.matches(&location.canonical)
            } else {
                glob.matches(base(&location.path))
            };
            Matching::of(matches && location.is_trusted)
        }
        (location, _) => {
            let paths = location.iter().flat_map(|location| [&*location.path, &*location.canonical]);
            let mut names = std::iter::once(name).chain(paths);
            let matches =
                names.any(|name| if is_path { glob.matches(name) } else { glob.matches(base(name)) });
            // A program that is not found is judged by its name alone, and not by that of a file of anybody.
            Matching::of(matches && (purpose == MatchPurpose::Restrict || !name.contains('/') || is_path))
        }
    }
}

/// Returns the name of a file without its directories.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Compares the path as written, and the path that links lead to: one of them is enough to restrict, and both have to
/// match to lift.
fn compare_path(glob: &Glob, effect: &Effect, purpose: MatchPurpose) -> Matching {
    let Some(object) = effect.object.as_deref() else { return Matching::Possible };
    let written = compare_object(glob, object, effect, purpose);
    let reached = match &effect.link_target {
        LinkDestination::Same => return written,
        LinkDestination::Path(path) => compare_object(glob, path, effect, purpose),
        LinkDestination::Unknown => Matching::Possible,
    };
    match purpose {
        MatchPurpose::Restrict => written.max(reached),
        MatchPurpose::Lift => written.min(reached),
    }
}

fn compare_object(glob: &Glob, object: &str, effect: &Effect, purpose: MatchPurpose) -> Matching {
    if effect.is_partial && effect.may_climb {
        return Matching::at_most_possible(purpose == MatchPurpose::Restrict);
    }
    if effect.is_partial {
        return Matching::at_most_possible(glob.may_match_prefix(object));
    }
    let below = || format!("{}/", object.trim_end_matches('/'));
    match (purpose, effect.is_recursive) {
        (_, false) => Matching::of(glob.matches(object)),
        (MatchPurpose::Restrict, true) => {
            Matching::of(glob.matches(object) || glob.may_match_prefix(below()))
        }
        // No name of a file has these characters, so that only wildcards match them.
        (MatchPurpose::Lift, true) => {
            Matching::of(glob.matches(object) && glob.matches(below() + "\u{1}/\u{1}/\u{1}"))
        }
    }
}
