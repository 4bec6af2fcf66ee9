//! Verdicts on commands outside of runs.

use std::path::Path;

use ccm_expr::{Timestamp, Value};
use ccm_policy::{
    Analysis, AnalysisLimits, Caller, ConditionValues, Policy, PolicyDecision, PolicyRequest, analyse,
};

use super::lookup::MachineLookup;
use crate::governance::Governance;

/// Analysis of a request, and the decision on it.
#[derive(Clone, Debug)]
pub struct JudgedRequest {
    /// The analysis.
    pub analysis: Analysis,
    /// The decision.
    pub decision: PolicyDecision,
}

/// Values for conditions of rules about a request.
pub(super) struct RequestValues<'s> {
    pub(super) governance: &'s Governance,
    pub(super) user: Option<&'s str>,
}

impl ConditionValues for RequestValues<'_> {
    fn user(&self) -> Option<String> {
        self.user.map(str::to_owned)
    }

    fn facts(&self) -> Option<Value> {
        self.governance.doors.facts()
    }

    fn now(&self) -> Timestamp {
        Timestamp::try_from(self.governance.doors.clock().now()).unwrap_or_default()
    }
}

impl Governance {
    /// Judges a request of a user under a policy. Nothing is run.
    pub fn judge(
        &self,
        policy: &Policy,
        request: &PolicyRequest,
        caller: Caller,
        user: Option<&str>,
    ) -> JudgedRequest {
        let analysis = analyse(request, &MachineLookup, &AnalysisLimits::default());
        let decision = policy.decide(&analysis, caller, &RequestValues { governance: self, user });
        JudgedRequest { analysis, decision }
    }

    /// Returns the kind of an absolute path of this machine. Links are followed.
    pub fn path_kind(&self, path: &Path) -> ccm_policy::LookupPathKind {
        use ccm_policy::Lookup as _;
        path.to_str().map_or(ccm_policy::LookupPathKind::Missing, |path| MachineLookup.path_kind(path))
    }
}
