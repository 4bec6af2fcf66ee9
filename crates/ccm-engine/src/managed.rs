//! A resource bound to its provider, with its types erased so that the walk can hold any.

use ccm_host::{Host, Local};
use ccm_model::Failure;

use crate::contract::{Context, Decision, Described, Provider, Reading, ResourceKind, Suitability, Verified};

/// A resource bound to its provider.
pub trait Managed {
    /// The provider's name.
    fn provider(&self) -> &'static str;

    /// Reads the state, to decide.
    fn read<'a>(
        &'a mut self,
        triggered: bool,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<(), Failure>>;

    /// Decides on the state that was read.
    fn decide(&self, triggered: bool) -> Decision;

    /// Names what can be seen now that would make an execution fail.
    fn foresee(&self, context: &Context<'_>) -> Vec<String>;

    /// Changes the system.
    fn execute<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<(), Failure>>;

    /// Reads the state again, and compares it with what was asked for.
    fn verify<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<Verified, Failure>>;

    /// What the execution yields for others to use.
    fn captured(&self) -> Option<serde_json::Value>;

    /// Describes the state that was read last.
    fn describe(&self, decision: &str) -> Option<Described>;
}

/// Chooses among the providers of a type and binds the properties to it: the one that is named, else the
/// one that suits the host with the lowest number.
pub fn bind<K: ResourceKind>(
    properties: K::Properties,
    named: Option<&str>,
    providers: &[&'static dyn Provider<K>],
    host: Host<'_>,
) -> Result<Box<dyn Managed>, Failure> {
    let provider = match named {
        Some(name) => by_name(name, providers, host)?,
        None => best(providers, host)?,
    };
    Ok(Box::new(Bound { properties, provider, state: None, effect: None }))
}

fn by_name<K: ResourceKind>(
    name: &str,
    providers: &[&'static dyn Provider<K>],
    host: Host<'_>,
) -> Result<&'static dyn Provider<K>, Failure> {
    let provider = providers.iter().find(|provider| provider.name() == name);
    let provider = *provider.ok_or_else(|| Failure::new(format!("unknown provider `{name}`")))?;
    match provider.suitability(host) {
        Suitability::Unsuitable(reason) => {
            Err(Failure::new(reason).because_of(format!("provider `{name}` can't work on this host")))
        }
        Suitability::Suits(_) => Ok(provider),
    }
}

fn best<K: ResourceKind>(
    providers: &[&'static dyn Provider<K>],
    host: Host<'_>,
) -> Result<&'static dyn Provider<K>, Failure> {
    let mut best: Option<(u32, &'static dyn Provider<K>)> = None;
    let mut reasons = Vec::new();
    for provider in providers {
        match provider.suitability(host) {
            Suitability::Suits(priority) if best.is_none_or(|(lowest, _)| priority < lowest) => {
                best = Some((priority, *provider));
            }
            Suitability::Suits(_) => {}
            Suitability::Unsuitable(reason) => reasons.push(format!("{}: {reason}", provider.name())),
        }
    }
    best.map(|(_, provider)| provider).ok_or_else(|| {
        let mut failure = Failure::new("no provider can work on this host");
        failure.chain.extend(reasons);
        failure
    })
}

struct Bound<K: ResourceKind> {
    properties: K::Properties,
    provider: &'static dyn Provider<K>,
    state: Option<K::State>,
    effect: Option<K::Effect>,
}

/// The harness reads before it decides and executes before it verifies; this says so if it ever does not.
fn out_of_order(step: &str) -> Failure {
    Failure::new(format!("internal error: {step} was asked for too early"))
}

impl<K: ResourceKind> Managed for Bound<K> {
    fn provider(&self) -> &'static str {
        self.provider.name()
    }

    fn read<'a>(
        &'a mut self,
        triggered: bool,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<(), Failure>> {
        Box::pin(async move {
            let reading = Reading::Before { triggered };
            self.state = Some(self.provider.status(&self.properties, reading, context).await?);
            Ok(())
        })
    }

    fn decide(&self, triggered: bool) -> Decision {
        match &self.state {
            Some(state) => K::decide(&self.properties, state, triggered),
            None => Decision::Fail { reason: String::new(), failure: out_of_order("a decision") },
        }
    }

    fn foresee(&self, context: &Context<'_>) -> Vec<String> {
        self.provider.foresee(&self.properties, context)
    }

    fn execute<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<(), Failure>> {
        Box::pin(async move {
            let state = self.state.as_ref().ok_or_else(|| out_of_order("an execution"))?;
            self.effect = Some(self.provider.execute(&self.properties, state, context).await?);
            Ok(())
        })
    }

    fn verify<'a>(&'a mut self, context: &'a mut Context<'_>) -> Local<'a, Result<Verified, Failure>> {
        Box::pin(async move {
            let effect = self.effect.as_ref().ok_or_else(|| out_of_order("a verification"))?;
            let state = self.provider.status(&self.properties, Reading::After(effect), context).await?;
            let verified = K::verify(&self.properties, &state, effect);
            self.state = Some(state);
            verified
        })
    }

    fn captured(&self) -> Option<serde_json::Value> {
        self.effect.as_ref().and_then(|effect| K::captured(&self.properties, effect))
    }

    fn describe(&self, decision: &str) -> Option<Described> {
        self.state.as_ref().map(|state| K::describe(&self.properties, state, decision))
    }
}
