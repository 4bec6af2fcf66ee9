//! Objects of what a program does, such as services and packages.

use std::borrow::Cow;

use ccm_shell::{ShellWord, WordPiece};

use super::entries::effect_kind;
use super::{Analyser, shell_words};
use crate::analysis::WayOut;
use crate::effect::{Effect, EffectKind};
use crate::guard_class::GuardClass;
use crate::tables::ProgramEntry;

/// Object that a word names.
#[derive(Clone, Debug)]
pub(super) struct CalledObject {
    /// The object as it is shown.
    pub(super) shown: String,
    /// What is known of the word: all of it, or its beginning.
    known: Option<String>,
    is_partial: bool,
}

impl CalledObject {
    pub(super) fn of(word: &ShellWord) -> Self {
        let shown = shell_words::shown(word).shown;
        if let Some(text) = word.text() {
            return Self { shown, known: Some(text.into_owned()), is_partial: false };
        }
        // `a$x` without quotes may be several words.
        let is_many =
            word.pieces.iter().any(|piece| matches!(piece, WordPiece::Unknown { is_many: true, .. }));
        let known = Some(word.known_prefix()).filter(|prefix| !is_many && !prefix.is_empty());
        let known = known.map(Cow::into_owned);
        Self { shown, is_partial: known.is_some(), known }
    }

    /// Returns an object that a word leaves open, such as the package in a file.
    pub(super) fn any(word: &ShellWord) -> Self {
        Self { shown: shell_words::shown(word).shown, known: None, is_partial: false }
    }

    /// Returns a unit of the service manager, without the ending that everybody leaves out.
    pub(super) fn unit(word: &ShellWord) -> Self {
        let strip = |text: String| text.strip_suffix(".service").map(str::to_owned).unwrap_or(text);
        let object = Self::of(word);
        Self { shown: strip(object.shown), known: object.known.map(strip), ..object }
    }

    /// Returns an effect on the object.
    fn effect(&self, effect: Effect) -> Effect {
        Effect { object: self.known.clone(), is_partial: self.is_partial, ..effect }
    }
}

impl Analyser<'_> {
    /// Adds the effects and findings of what a program does by itself. It deletes only below a directory, if one is given.
    pub(super) fn does(
        &mut self,
        index: usize,
        name: &str,
        action: &str,
        classes: &[GuardClass],
        objects: &[CalledObject],
        below: Option<&str>,
    ) {
        let span = self.span(index);
        let call = if action.is_empty() { name.to_owned() } else { format!("{name} {action}") };
        for class in classes {
            if let Some(kind) = effect_kind(*class) {
                let action = if action.is_empty() { name } else { action };
                let deleted = below.filter(|_| kind == EffectKind::Delete);
                let first = Effect {
                    is_recursive: deleted.is_some(),
                    ..Effect::new(kind, deleted.map(str::to_owned)).with_action(action)
                };
                if objects.is_empty() {
                    self.effect(index, first);
                } else {
                    for object in objects {
                        self.effect(index, object.effect(first.clone()));
                    }
                }
            }
            let what = match objects {
                [] => format!("`{call}` {}", class.description()),
                objects => {
                    let shown: Vec<&str> = objects.iter().take(3).map(|object| &*object.shown).collect();
                    let more = if objects.len() > 3 { ", …" } else { "" };
                    format!("`{call}` {}: {}{more}", class.description(), shown.join(", "))
                }
            };
            self.finding(index, *class, what, span, Some(WayOut::AskOperator));
        }
    }

    /// Adds the effects of all subcommands, if a call may be any of them.
    pub(super) fn any_subcommand(&mut self, index: usize, level: &ProgramEntry) {
        let classes = level.subcommands.iter().flat_map(|(_, entry)| &entry.does);
        let kinds: std::collections::BTreeSet<EffectKind> =
            classes.filter_map(|class| effect_kind(*class)).filter(|kind| kind.names_objects()).collect();
        for kind in kinds {
            self.effect(index, Effect::new(kind, None));
        }
    }
}
