//! Verdicts on commands outside of runs.

use std::path::Path;

use ccm_expr::{Timestamp, Value};
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, ConditionValues, Policy, PolicyDecision, PolicyRequest, analyse,
};

use super::lookup::MachineLookup;
use crate::input::GivenFacts;
use crate::session::Session;

/// Analysis of a request, and the decision on it.
#[derive(Clone, Debug)]
pub struct JudgedRequest {
    /// The analysis.
    pub analysis: Analysis,
    /// The decision.
    pub decision: PolicyDecision,
}

struct SessionValues<'s> {
    session: &'s Session,
    user: Option<&'s str>,
}

impl ConditionValues for SessionValues<'_> {
    fn user(&self) -> Option<String> {
        self.user.map(str::to_owned)
    }

    fn facts(&self) -> Option<Value> {
        self.session.facts(&GivenFacts::default(), None).ok()
    }

    fn now(&self) -> Timestamp {
        Timestamp::try_from(self.session.doors.clock.now()).unwrap_or_default()
    }
}

impl Session {
    /// Judges a request of a user under a policy. Nothing is run.
    pub fn judge(
        &self,
        policy: &Policy,
        request: &PolicyRequest,
        caller: Caller,
        user: Option<&str>,
    ) -> JudgedRequest {
        let analysis = analyse(request, &MachineLookup, &AnalysisLimits::default());
        let decision = policy.decide(&analysis, caller, &SessionValues { session: self, user });
        JudgedRequest { analysis, decision }
    }

    /// Returns the kind of an absolute path of this machine. Links are followed.
    pub fn path_kind(&self, path: &Path) -> ccm_policy::LookupPathKind {
        use ccm_policy::Lookup as _;
        path.to_str().map_or(ccm_policy::LookupPathKind::Missing, |path| MachineLookup.path_kind(path))
    }
}
