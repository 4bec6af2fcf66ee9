//! Regular expressions of a policy, compiled together.

use std::ops::Deref;
use std::sync::OnceLock;

use ccm_model::{Diagnostic, DiagnosticKind, escape_control};
use regex::{RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::ParserBuilder;

use crate::document::PolicyPattern;

/// Maximum number of patterns of one kind.
const MAX_PATTERNS: usize = 1_000;
/// Maximum size of all compiled patterns of one kind in bytes.
const MAX_COMPILED: usize = 4 << 20;
const MAX_NESTING: u32 = 100;
/// Maximum length of all patterns of one kind that are compiled when they are first searched for.
const MAX_SIMPLE: usize = 2_000;

/// Letters that a pattern matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PatternCase {
    /// Those of the pattern.
    #[default]
    Exact,
    /// Those of the pattern in either case.
    Either,
}

/// Regular expressions that are searched for at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PatternSet {
    patterns: Vec<PolicyPattern>,
    case: PatternCase,
    /// The patterns, once they were searched for. `None` without patterns, or if they can't be compiled.
    compiled: OnceLock<Option<RegexSet>>,
}

impl PatternSet {
    /// Compiles patterns, or reports those that can't be used.
    pub(crate) fn compile(
        patterns: Vec<PolicyPattern>,
        case: PatternCase,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        if let Some(pattern) = patterns.get(MAX_PATTERNS) {
            let message = format!("the policy has more than {MAX_PATTERNS} regular expressions of this kind");
            let error = Diagnostic::error(DiagnosticKind::LimitExceeded, pattern.span, message);
            found.push(error.with_hint("write one expression for several commands, or use rules"));
            return Self::default();
        }
        if are_simple(&patterns) {
            return Self { patterns, case, compiled: OnceLock::new() };
        }
        let Ok(compiled) = compile(&patterns, case) else {
            report(&patterns, case, found);
            return Self::default();
        };
        // An empty match is in every command.
        let empty = compiled.iter().flat_map(|compiled| compiled.matches("").into_iter().collect::<Vec<_>>());
        for pattern in empty.filter_map(|at| patterns.get(at)) {
            let message = "this regular expression matches the empty text, and so every command";
            let error = Diagnostic::error(DiagnosticKind::InvalidValue, pattern.span, message);
            found.push(error.with_hint("write at least one character that has to be there"));
        }
        Self { patterns, case, compiled: compiled.into() }
    }

    /// Returns the position of the first pattern that is found in a text.
    pub(crate) fn first_match(&self, text: &str) -> Option<usize> {
        if self.patterns.is_empty() {
            return None;
        }
        let compiled = self.compiled.get_or_init(|| compile(&self.patterns, self.case).ok().flatten());
        match (compiled, self.case) {
            (Some(compiled), _) => compiled.matches(text).into_iter().next(),
            // Patterns that deny, and can't be compiled, deny.
            (None, PatternCase::Either) => Some(0),
            (None, PatternCase::Exact) => None,
        }
    }
}

impl Deref for PatternSet {
    type Target = [PolicyPattern];

    fn deref(&self) -> &[PolicyPattern] {
        &self.patterns
    }
}

/// Returns `true` for patterns that are valid, small when they are compiled, and do not match the empty text. Compiling
/// these takes longer than reading the rest of a policy.
fn are_simple(patterns: &[PolicyPattern]) -> bool {
    let mut parser = ParserBuilder::new();
    parser.nest_limit(MAX_NESTING);
    let is_simple = |pattern: &PolicyPattern| {
        let text = pattern.as_str();
        let has_large = text.contains('{')
            || text.contains("(?")
            || !text.is_ascii()
            || text
                .split('\\')
                .skip(1)
                .any(|rest| rest.starts_with(['p', 'P', 'w', 'W', 'd', 'D', 's', 'S', 'x', 'u', 'U']));
        let least = || parser.build().parse(text).ok()?.properties().minimum_len();
        !has_large && least().is_some_and(|least| least > 0)
    };
    let length: usize = patterns.iter().map(|pattern| pattern.as_str().len()).sum();
    length <= MAX_SIMPLE && patterns.iter().all(is_simple)
}

fn compile(patterns: &[PolicyPattern], case: PatternCase) -> Result<Option<RegexSet>, regex::Error> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let compiled = RegexSetBuilder::new(patterns.iter().map(PolicyPattern::as_str))
        .case_insensitive(case == PatternCase::Either)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .nest_limit(MAX_NESTING)
        .build()?;
    Ok(Some(compiled))
}

/// Reports the patterns that can't be compiled.
fn report(patterns: &[PolicyPattern], case: PatternCase, found: &mut Vec<Diagnostic>) {
    let errors = found.len();
    for pattern in patterns {
        // Nothing of a valid expression fits, so that only the syntax is checked.
        let checked = RegexBuilder::new(pattern.as_str()).size_limit(0).nest_limit(MAX_NESTING).build();
        let Err(error) = checked else { continue };
        if matches!(error, regex::Error::CompiledTooBig(_)) {
            continue;
        }
        let message = error.to_string();
        let last = message.trim_end().lines().next_back().unwrap_or_default();
        let reason = escape_control(last.strip_prefix("error: ").unwrap_or(last));
        let message = format!("this regular expression is not valid: {reason}");
        found.push(Diagnostic::error(DiagnosticKind::InvalidValue, pattern.span, message));
    }
    if found.len() > errors {
        return;
    }
    // The first that does not fit with those before.
    let (mut fits, mut exceeds) = (0, patterns.len());
    while exceeds - fits > 1 {
        let middle = fits.midpoint(exceeds);
        match compile(&patterns[..middle], case) {
            Ok(_) => fits = middle,
            Err(_) => exceeds = middle,
        }
    }
    let Some(pattern) = patterns.get(fits) else { return };
    let message = match compile(std::slice::from_ref(pattern), case) {
        Ok(_) => "this regular expression is too large, together with those before",
        Err(_) => "this regular expression is too large",
    };
    found.push(
        Diagnostic::error(DiagnosticKind::LimitExceeded, pattern.span, message)
            .with_hint("use smaller repetitions, such as `{1,10}`"),
    );
}
