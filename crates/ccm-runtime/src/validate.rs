//! Validation of manifests without a run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_governance::policy::PolicyError;
use ccm_manifest::OmittedInputs;
use ccm_model::{Diagnostic, DiagnosticKind, Findings, Label, Location, ManifestErrors, Position, Severity};

use crate::begin::BeginError;
use crate::early_policy::{EarlyInput, early_questions};
use crate::evaluate::EvaluatedData;
use crate::input::{GivenFacts, Input};
use crate::ledger::NameMissing;
use crate::session::Session;

/// Result of validating a manifest without an error.
#[derive(Clone, Debug)]
pub struct Validation {
    /// Number of resources.
    pub resources: usize,
    /// Warnings, then notes.
    pub warnings: Findings,
    /// Approvals that a run will need, with the locations of the commands. Empty for a signed manifest.
    pub approvals: Vec<(Option<Location>, String)>,
    /// The warnings and notes with those that only [`Validation::strict`] counts, if there are any of these.
    strict_findings: Option<Findings>,
    /// Values in the data of the manifest.
    pub data: Arc<EvaluatedData>,
}

/// Extent of a validation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValidationExtent {
    /// Everything that a run checks before it starts.
    #[default]
    Everything,
    /// Everything that needs no file of the machine. Files with an absolute path are not read. Other files that can't
    /// be read, variables that are not set and, without given files of facts, facts that only some machines have are no
    /// errors but notes.
    WithoutFiles,
}

impl Validation {
    /// Returns the number of uses of inputs that were left out.
    pub fn unchecked(&self) -> usize {
        self.warnings.diagnostics.iter().filter(|found| found.kind == DiagnosticKind::NotChecked).count()
    }

    /// Returns an error if there is any warning or note, except about inputs that were left out.
    pub fn strict(mut self) -> Result<Self, ValidationError> {
        if let Some(findings) = self.strict_findings.take() {
            self.warnings = findings;
        }
        if self.warnings.diagnostics.len() == self.unchecked() {
            return Ok(self);
        }
        let is_checked = |found: &&mut Diagnostic| found.kind != DiagnosticKind::NotChecked;
        for found in self.warnings.diagnostics.iter_mut().filter(is_checked) {
            found.severity = Severity::Error;
        }
        Err(ValidationError::Manifest(ManifestErrors(self.warnings)))
    }
}

/// Reason why a manifest is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// Errors in the manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestErrors),
    /// The manifest needs a name.
    #[error(transparent)]
    Name(#[from] NameMissing),
    /// The policy can't be used.
    #[error(transparent)]
    Policy(#[from] Arc<PolicyError>),
    /// The manifest has to be signed, and is not.
    #[error(transparent)]
    Begin(#[from] Arc<BeginError>),
}

/// Error or warning that several validations may have in common.
#[derive(Clone, Debug)]
pub struct SharedFinding<'v> {
    /// The error or warning.
    pub diagnostic: &'v Diagnostic,
    /// Findings that contain the error or warning, with its texts.
    pub findings: &'v Findings,
    /// Positions of the validations with this error or warning.
    pub machines: Vec<usize>,
}

impl Session {
    /// Validates a manifest. Nothing is run.
    ///
    /// Given files of facts describe another machine: no fact of this machine is gathered then.
    pub fn validate(&self, input: &Input, extent: ValidationExtent) -> Result<Validation, ValidationError> {
        if input.facts().files.is_empty() {
            return self.validate_here(input, extent, Machine::This);
        }
        self.validate_here(&input.for_machine(self, input.facts().clone()), extent, Machine::Given)
    }

    /// Validates a manifest for several machines, each with only these facts.
    pub fn validate_for(
        &self,
        input: &Input,
        machines: &[GivenFacts],
        extent: ValidationExtent,
    ) -> Vec<Result<Validation, ValidationError>> {
        let validate = |facts: &GivenFacts| {
            self.validate_here(&input.for_machine(self, facts.clone()), extent, Machine::OfMatrix)
        };
        let mut validations: Vec<_> = machines.iter().map(validate).collect();
        retain_shared_notes(&mut validations);
        validations
    }

    fn validate_here(
        &self,
        input: &Input,
        extent: ValidationExtent,
        machine: Machine,
    ) -> Result<Validation, ValidationError> {
        let has_facts = machine != Machine::This;
        let files = extent == ValidationExtent::WithoutFiles;
        let manifest = self.load_omitting(
            input,
            OmittedInputs { files, facts: files && !has_facts, encrypted: true, copied: false },
        )?;
        manifest.check_name()?;
        self.governance.policy()?;
        // Facts of another machine say nothing about the files of this one.
        if !files && !has_facts {
            manifest.check_signed().map_err(Arc::new)?;
        }
        let resources = manifest.catalog().resources.len();
        let mut approvals = Vec::new();
        let is_signed = !files && !has_facts && manifest.input.reads().signed().is_some();
        if let Some(checked) = self.governance.policy()?.filter(|_| !is_signed) {
            let texts = manifest.loaded.texts();
            let input = EarlyInput {
                policy: &checked.policy,
                types: &self.types,
                catalog: manifest.catalog(),
                late: &manifest.loaded.late,
            };
            for (span, text) in early_questions(&input) {
                approvals.push((texts.location(span), self.secrets.redact(&text).into_owned()));
            }
        }
        let is_of_matrix = machine == Machine::OfMatrix;
        let warnings = manifest.warnings_and_notes(is_of_matrix);
        Ok(Validation {
            resources,
            warnings,
            approvals,
            data: Arc::new(manifest.data()),
            strict_findings: manifest.strict_findings(is_of_matrix),
        })
    }
}

/// Machine that a manifest is validated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    /// This one.
    This,
    /// Another one, given by its facts.
    Given,
    /// One of several.
    OfMatrix,
}

/// Drops the notes about what has no effect on one machine but may have on another one. A machine with errors may use anything.
fn retain_shared_notes(validations: &mut [Result<Validation, ValidationError>]) {
    let is_without_effect =
        |found: &Diagnostic| found.severity == Severity::Note && found.kind == DiagnosticKind::NoEffect;
    let messages = |validation: &Result<Validation, ValidationError>| -> HashSet<String> {
        let findings = validation
            .iter()
            .flat_map(|valid| std::iter::once(&valid.warnings).chain(&valid.strict_findings));
        let found = findings.flat_map(|findings| &findings.diagnostics);
        found.filter(|found| is_without_effect(found)).map(|found| found.message.clone()).collect()
    };
    let shared = validations.iter().map(messages).reduce(|one, other| &one & &other).unwrap_or_default();
    for validation in validations.iter_mut().flatten() {
        let findings = std::iter::once(&mut validation.warnings).chain(&mut validation.strict_findings);
        for found in findings {
            let is_kept = |found: &Diagnostic| !is_without_effect(found) || shared.contains(&found.message);
            found.diagnostics.retain(is_kept);
        }
    }
}

/// Collects the errors and warnings of several validations, each once, sorted by the number of affected
/// machines.
pub fn shared_findings(validations: &[Result<Validation, ValidationError>]) -> Vec<SharedFinding<'_>> {
    let mut all: Vec<SharedFinding<'_>> = Vec::new();
    let mut known = HashMap::new();
    for (machine, validation) in validations.iter().enumerate() {
        let findings = match validation {
            Ok(validation) => &validation.warnings,
            Err(ValidationError::Manifest(errors)) => &**errors,
            Err(ValidationError::Name(_) | ValidationError::Policy(_) | ValidationError::Begin(_)) => {
                continue;
            }
        };
        for diagnostic in &findings.diagnostics {
            let position = *known.entry(DiagnosticKey::of(diagnostic, findings)).or_insert_with(|| {
                all.push(SharedFinding { diagnostic, findings, machines: Vec::new() });
                all.len() - 1
            });
            if all[position].machines.last() != Some(&machine) {
                all[position].machines.push(machine);
            }
        }
    }
    all.sort_by(|one, other| {
        other.machines.len().cmp(&one.machines.len()).then_with(|| one.machines.cmp(&other.machines))
    });
    all
}

/// A diagnostic as a user sees it. One text may have different ids for different machines.
#[derive(PartialEq, Eq, Hash)]
struct DiagnosticKey<'d> {
    severity: Severity,
    message: &'d str,
    /// Name of the text, line, column and text of each label.
    labels: Vec<(&'d str, usize, usize, &'d str)>,
    hints: &'d [String],
}

impl<'d> DiagnosticKey<'d> {
    fn of(diagnostic: &'d Diagnostic, findings: &'d Findings) -> Self {
        let Diagnostic { severity, message, labels, hints, .. } = diagnostic;
        let label = |label: &'d Label| {
            let (name, at) =
                findings.texts.locate(label.span).unwrap_or(("", Position { line: 0, column: 0 }));
            (name, at.line, at.column, &*label.text)
        };
        Self { severity: *severity, message, labels: labels.iter().map(label).collect(), hints }
    }
}
