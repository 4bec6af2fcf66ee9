//! The properties of a memo.

use ccm_model::Presentation;
use ccm_properties::{PropertyKind, Text, TextValue, ValueError, properties};

properties! {
    /// Properties of a memo.
    #[derive(Default)]
    pub(crate) struct MemoProperties {
        /// Words of the memo.
        text: Text { sensitive: true, presentation: Presentation::Digest },
        /// Colour of the paper.
        colour: Colour { aliases: &["color"], default: Some("`white`") },
        /// Number on the label, as it is written.
        label: Text,
        /// Number of copies.
        copies: i64 { default: Some("`1`") },
        /// Hide the text.
        sensitive: bool { default: Some("`false`") },
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Colour(pub &'static str);

const COLOURS: [&str; 2] = ["white", "yellow"];

impl TextValue for Colour {
    const KIND: PropertyKind = PropertyKind::Words(&COLOURS);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let known = COLOURS.into_iter().find(|colour| *colour == text);
        known.map(Self).ok_or_else(|| ValueError::not_one_of(text, &COLOURS))
    }
}
