//! Follows constructs: conditions, loops and cases.

use std::sync::Arc;

use crate::follow::Follower;
use crate::limits::ShellBudget;
use crate::numbers::is_integer_variable;
use crate::reading::{ShellAssignment, ShellDirectories, ShellWord};
use crate::span::ShellSpan;
use crate::state::{Flow, ShellState, VariableValue, is_integer, union};
use crate::tree::{CaseArm, CommandList, CompoundKind, CompoundNode, WordNode};
use crate::unreadable::ReadResult;

impl Follower<'_> {
    pub(crate) fn construct_of(
        &mut self,
        compound: &CompoundNode,
        state: &mut ShellState,
    ) -> ReadResult<Flow> {
        let span = compound.span;
        match &compound.kind {
            CompoundKind::Group(list) => self.list(list, state),
            CompoundKind::Subshell(list) => {
                let mut inner = state.clone();
                self.list(list, &mut inner)?;
                Ok(Flow::same(&state.directories))
            }
            CompoundKind::If { arms, otherwise } => self.conditions(arms, otherwise.as_ref(), state),
            CompoundKind::Loop { condition, body } => self.condition_loop(condition, body, state, span),
            CompoundKind::For { name, words, body } => {
                self.word_loop(name, words.as_deref(), body, state, span)
            }
            CompoundKind::Case { subject, arms } => self.case(subject, arms, state, span),
            CompoundKind::Arithmetic(node) => {
                self.arithmetic(node, state)?;
                self.push_doubts(state, span);
                Ok(Flow::same(&state.directories))
            }
            CompoundKind::ArithmeticFor { header, body } => {
                self.enter_loop(&[body], None, state, span)?;
                self.arithmetic(header, state)?;
                self.push_doubts(state, span);
                let mut inner = state.clone();
                self.list(body, &mut inner)?;
                Ok(Flow::same(&state.directories))
            }
            CompoundKind::Conditional(node) => {
                self.conditional(node, state)?;
                self.push_doubts(state, span);
                Ok(Flow::same(&state.directories))
            }
        }
    }

    fn condition_loop(
        &mut self,
        condition: &CommandList,
        body: &CommandList,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Flow> {
        self.enter_loop(&[condition, body], None, state, span)?;
        let mut inner = state.clone();
        let flow = self.as_condition(condition, &mut inner)?;
        inner.directories = flow.either();
        self.list(body, &mut inner)?;
        Ok(Flow::same(&state.directories))
    }

    fn word_loop(
        &mut self,
        name: &str,
        words: Option<&[WordNode]>,
        body: &CommandList,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Flow> {
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            values.extend(self.fields(word, state)?);
        }
        self.enter_loop(&[body], Some(name), state, span)?;
        // A single word is the value in each pass.
        let only = match &*values {
            [only] if !only.is_many() => Some(only.clone()),
            _ => None,
        };
        let assigned: Vec<Option<ShellWord>> = match words {
            Some(_) if is_integer_variable(name) => values.iter().cloned().map(Some).collect(),
            Some(_) => Vec::new(),
            None => vec![None],
        };
        let is_numeric = |value: &ShellWord| value.text().is_some_and(|text| is_integer(&text));
        let is_number =
            |word: &WordNode| is_number_range(word) || word.literal().is_some_and(|text| is_integer(&text));
        let value = match only.as_ref().and_then(ShellWord::text) {
            Some(text) => Some(VariableValue::Text(text.into_owned())),
            None if words.is_none() => None,
            None if values.iter().all(is_numeric) => Some(VariableValue::Number),
            None if words.unwrap_or_default().iter().all(is_number) => Some(VariableValue::Number),
            None => listed(values, self.budget, span)?,
        };
        for assigned in &assigned {
            self.assigned_number(name, assigned.as_ref(), span, state)?;
        }
        let mut construct = self.construct(state, span);
        construct.assignments.push(ShellAssignment { name: name.to_owned(), value: only, span });
        self.commands.push(construct);
        let mut inner = state.clone();
        inner.set(name, value, self.budget, span)?;
        self.list(body, &mut inner)?;
        Ok(Flow::same(&state.directories))
    }

    fn case(
        &mut self,
        subject: &WordNode,
        arms: &[CaseArm],
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Flow> {
        self.single(subject, state)?;
        let start = state.clone();
        let mut directories = Arc::clone(&state.directories);
        for arm in arms {
            let mut inner = start.clone();
            for pattern in &arm.patterns {
                self.single(pattern, &mut inner)?;
            }
            self.push_doubts(&inner, span);
            let flow = self.list(&arm.body, &mut inner)?;
            directories = union(&directories, &flow.either());
            state.join(&inner, self.budget, span)?;
        }
        self.push_doubts(&start, span);
        state.directories = directories;
        Ok(Flow::same(&state.directories))
    }

    fn as_condition(&mut self, list: &CommandList, state: &mut ShellState) -> ReadResult<Flow> {
        let was_condition = std::mem::replace(&mut self.is_condition, true);
        let flow = self.list(list, state)?;
        self.is_condition = was_condition;
        Ok(flow)
    }

    fn conditions(
        &mut self,
        arms: &[(CommandList, CommandList)],
        otherwise: Option<&CommandList>,
        state: &mut ShellState,
    ) -> ReadResult<Flow> {
        let mut joined: Option<(ShellState, Arc<ShellDirectories>)> = None;
        for (condition, body) in arms {
            let flow = self.as_condition(condition, state)?;
            let mut inner = state.clone();
            inner.directories = flow.succeeded;
            let end = self.list(body, &mut inner)?.either();
            self.join_arm(&mut joined, inner, end)?;
            state.directories = flow.failed;
        }
        if let Some(list) = otherwise {
            let end = self.list(list, state)?.either();
            state.directories = end;
        }
        if let Some((other, directories)) = joined {
            state.join(&other, self.budget, ShellSpan::default())?;
            state.directories = union(&state.directories, &directories);
        }
        Ok(Flow::same(&state.directories))
    }

    fn join_arm(
        &mut self,
        joined: &mut Option<(ShellState, Arc<ShellDirectories>)>,
        arm: ShellState,
        directories: Arc<ShellDirectories>,
    ) -> ReadResult<()> {
        *joined = Some(match joined.take() {
            None => (arm, directories),
            Some((mut state, before)) => {
                state.join(&arm, self.budget, ShellSpan::default())?;
                (state, union(&before, &directories))
            }
        });
        Ok(())
    }
}

/// Returns `true` for `{1..3}` and `{1..9..2}` of bash.
fn is_number_range(word: &WordNode) -> bool {
    let inner = word.bare().and_then(|text| text.strip_prefix('{')).and_then(|text| text.strip_suffix('}'));
    inner.is_some_and(|inner| {
        let count = inner.split("..").count();
        matches!(count, 2 | 3) && inner.split("..").all(is_integer)
    })
}

/// Maximum number of words of a loop whose variable is still followed.
const MAX_LISTED: usize = 32;

/// Returns the value of the variable of a loop over these words, if it is one of them or a path that one of them matches.
fn listed(
    words: Vec<ShellWord>,
    budget: &mut ShellBudget,
    span: ShellSpan,
) -> ReadResult<Option<VariableValue>> {
    let is_listed = words.len() <= MAX_LISTED && !words.iter().any(ShellWord::has_unknown);
    budget.steps(words.len(), span)?;
    Ok(is_listed.then(|| VariableValue::Listed(words.into())))
}
