//! A resource type as anybody would add it: its properties, what it wants, and a provider.

mod properties;

use std::cell::RefCell;
use std::fmt;

use ccm_engine::{
    Context, Decision, Described, DynProvider, Export, ExportedState, InstanceScope, Instances, NotExported,
    Provider, ReadPurpose, ResourceKind, Rule, Trigger, Verified,
};

use ccm_model::{Action, DiagnosticKind, Failure, Resource, Verb};
use ccm_properties::{PropertyError, Providers, TypeSpec, TypedResource};

use properties::{Colour, MemoProperties};

/// The type `memo`.
pub(crate) struct MemoType;

impl TypeSpec for MemoType {}

impl TypedResource for MemoType {
    type Written = MemoProperties;
    type Desired = String;
    type Provider = dyn DynProvider<MemoKind>;

    const NAME: &'static str = "memo";
    const SUMMARY: &'static str = "Pins a memo to the wall.";
    const ENSURES: &'static [&'static str] = &["present"];
    const PROVIDERS: Providers<Self::Provider> = &[("wall", &Wall)];

    fn build(resource: &Resource, written: MemoProperties) -> Result<String, Vec<PropertyError>> {
        let copies = written.copies.unwrap_or(1);
        if copies < 1 {
            return Err(vec![PropertyError::new(
                DiagnosticKind::InvalidValue,
                "copies",
                "a memo has at least one copy",
            )]);
        }
        let colour = written.colour.unwrap_or(Colour("white")).0;
        let [text, label] = [written.text, written.label].map(Option::unwrap_or_default);
        Ok(format!("{} {label}: {copies} {colour} {text}", resource.id.name))
    }
}

impl Export for MemoType {
    async fn instances(&self, _: InstanceScope, _: &mut Context<'_>) -> Result<Instances, NotExported> {
        Ok(Instances::default())
    }

    async fn export(&self, _: &str, _: &mut Context<'_>) -> Result<Option<ExportedState>, NotExported> {
        Ok(None)
    }
}

pub(crate) struct MemoKind;

impl ResourceKind for MemoKind {
    type Properties = String;
    type State = bool;
    type Effect = ();
    type Rule = MemoRule;

    fn decide(_: &String, is_there: &bool, _: Option<&Trigger>) -> Decision<MemoRule> {
        match is_there {
            true => Decision::Keep { reason: MemoRule },
            false => Decision::Change { reason: MemoRule, action: Action::new(Verb::Create), diff: None },
        }
    }

    fn verify(_: &String, _: &bool, (): &()) -> Result<Verified<MemoRule>, Failure> {
        Ok(Verified::Changed)
    }

    fn describe(_: &String, _: &bool, _: &str) -> Described {
        Described::new("present")
    }
}

pub(crate) struct MemoRule;

impl Rule for MemoRule {
    fn name(&self) -> &'static str {
        "wall"
    }
}

impl fmt::Display for MemoRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("what hangs on the wall decides")
    }
}

thread_local! {
    /// Memos on the wall.
    pub(crate) static WALL: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Wall;

impl Provider<MemoKind> for Wall {
    async fn status(
        &self,
        memo: &String,
        _: ReadPurpose<'_, ()>,
        _: &mut Context<'_>,
    ) -> Result<bool, Failure> {
        Ok(WALL.with_borrow(|wall| wall.contains(memo)))
    }

    async fn execute(&self, memo: &String, _: &bool, _: &mut Context<'_>) -> Result<(), Failure> {
        WALL.with_borrow_mut(|wall| wall.push(memo.clone()));
        Ok(())
    }
}
