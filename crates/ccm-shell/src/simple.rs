//! Simple commands.

use std::borrow::Cow;
use std::sync::Arc;

use crate::braces;
use crate::dialect::{ShellDialect, is_builtin, is_builtin_of_one};
use crate::follow::Follower;
use crate::grammar::{assigned_name, assigned_value};
use crate::reading::{
    CommandRole, ShellAssignment, ShellCommand, ShellInput, ShellRedirection, ShellWord, UnknownOrigin,
    WordPiece,
};
use crate::span::ShellSpan;
use crate::state::{Flow, ShellState, VariableValue, is_integer, union};
use crate::tree::{
    AssignedValue, AssignmentNode, RedirectionNode, RedirectionOperator, RedirectionTarget, SimpleNode,
    WordNode,
};
use crate::unreadable::{ReadResult, UnreadableText};

/// Builtins whose operands are assignments.
const DECLARATIONS: [&str; 5] = ["export", "readonly", "local", "declare", "typeset"];

/// Maximum length of a value that is followed. A longer one, such as that of a variable that doubles itself, is unknown.
const MAX_VALUE: usize = 4096;

impl Follower<'_> {
    pub(crate) fn simple(&mut self, simple: &SimpleNode, state: &mut ShellState) -> ReadResult<Flow> {
        if simple.redirections.is_empty() {
            return self.redirected(simple, state);
        }
        let before = state.clone();
        let flow = self.redirected(simple, state)?;
        self.or_not_run(&flow, &before, state, simple.span)
    }

    /// Adds the case that a redirection fails, after which shells go on without having run the command.
    pub(crate) fn or_not_run(
        &mut self,
        flow: &Flow,
        before: &ShellState,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Flow> {
        state.join(before, self.budget, span)?;
        let failed = union(&flow.failed, &before.directories);
        Ok(Flow { succeeded: Arc::clone(&flow.succeeded), failed })
    }

    /// Follows a simple command whose redirections succeed.
    fn redirected(&mut self, simple: &SimpleNode, state: &mut ShellState) -> ReadResult<Flow> {
        let words = self.words(simple, state)?;
        let redirections = self.redirections(&simple.redirections, state)?;
        let has_program = !words.is_empty();
        let mut inner = state.clone();
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
            let target = if has_program { &mut inner } else { &mut *state };
            self.assignment(assignment, target, &mut assignments)?;
        }
        let input = self.input_after(&redirections);
        let mut command = self.construct(state, simple.span);
        command.assignments = assignments;
        command.redirections = redirections;
        command.input = input;
        if !has_program {
            if !command.is_nothing() {
                self.commands.push(command);
            }
            return Ok(Flow::same(&state.directories));
        }
        command.words = words;
        if !simple.assignments.is_empty() {
            command.search_path = inner.search_path;
        }
        self.start(command, state)
    }

    /// Expands the words of a command. Operands of `export` and its like that are written as assignments are values.
    fn words(&mut self, simple: &SimpleNode, state: &mut ShellState) -> ReadResult<Vec<ShellWord>> {
        let is_declaration =
            simple.words.first().and_then(WordNode::bare).is_some_and(|name| DECLARATIONS.contains(&name));
        let mut words = Vec::new();
        for node in &simple.words {
            if is_declaration && let Some((name, _)) = assigned_name(node) {
                let AssignedValue::Word(value) = assigned_value(node) else { continue };
                let value = self.single(&value, state)?;
                let mut pieces = vec![WordPiece::Text { text: format!("{name}="), is_quoted: false }];
                pieces.extend(value.pieces);
                words.push(ShellWord { pieces, span: node.span });
            } else if self.dialect == ShellDialect::Bash
                && assigned_name(node).is_some()
                && has_home(node)
                && !braces::may_expand(node)
            {
                // bash looks for `~` in whatever looks like an assignment, unless braces made the word.
                let prefix = assigned_name(node).map(|(name, _)| format!("{name}=")).unwrap_or_default();
                let AssignedValue::Word(value) = assigned_value(node) else { continue };
                let mut value = WordNode { span: node.span, ..value };
                value.parts.insert(0, crate::tree::WordPart::Literal(prefix));
                words.extend(self.fields(&value, state)?);
            } else {
                words.extend(self.fields(node, state)?);
            }
        }
        Ok(words)
    }

    fn assignment(
        &mut self,
        node: &AssignmentNode,
        state: &mut ShellState,
        assignments: &mut Vec<ShellAssignment>,
    ) -> ReadResult<()> {
        if matches!(&*node.name, "BASH_ALIASES" | "BASH_CMDS") {
            let message = format!("`{}` gives names of commands another meaning", node.name);
            return Err(UnreadableText::unsupported(node.span, message));
        }
        let (value, known) = match &node.value {
            AssignedValue::Word(word) => {
                let value = self.single(word, state)?;
                self.assigned_number(&node.name, Some(&value), node.span, state)?;
                let known = if node.appends { None } else { value_of(&value) };
                (Some(value).filter(|_| !node.appends), known)
            }
            AssignedValue::Array(words) => {
                for word in words {
                    self.fields(word, state)?;
                }
                self.assigned_number(&node.name, None, node.span, state)?;
                (None, None)
            }
            AssignedValue::Element { subscript, value } => {
                self.arithmetic(subscript, state)?;
                let value = self.single(value, state)?;
                self.assigned_number(&node.name, Some(&value), node.span, state)?;
                (None, None)
            }
        };
        if node.name == "POSIXLY_CORRECT" {
            let message = "`POSIXLY_CORRECT` changes how bash reads the text";
            return Err(UnreadableText::unsupported(node.span, message));
        }
        state.set(&node.name, known, self.budget, node.span)?;
        assignments.push(ShellAssignment { name: node.name.clone(), value, span: node.span });
        Ok(())
    }

    /// Expands redirections.
    pub(crate) fn redirections(
        &mut self,
        nodes: &[RedirectionNode],
        state: &mut ShellState,
    ) -> ReadResult<Vec<ShellRedirection>> {
        let mut redirections = Vec::new();
        for node in nodes {
            let target = match &node.target {
                RedirectionTarget::Word(word) if node.operator == RedirectionOperator::HereString => {
                    self.single(word, state)?
                }
                RedirectionTarget::Word(word) => self.target(word, state)?,
                RedirectionTarget::HereDocument(number) => {
                    let bodies = std::rc::Rc::clone(&self.bodies);
                    match bodies.get(*number) {
                        Some(body) => self.single(body, state)?,
                        None => ShellWord::default(),
                    }
                }
            };
            redirections.push(ShellRedirection {
                operator: node.operator,
                descriptor: node.descriptor,
                target,
                span: node.span,
            });
        }
        Ok(redirections)
    }

    /// Returns the standard input behind redirections.
    pub(crate) fn input_after(&self, redirections: &[ShellRedirection]) -> ShellInput {
        let mut input = self.input.clone();
        for redirection in redirections {
            let is_input = match redirection.operator {
                RedirectionOperator::Read
                | RedirectionOperator::ReadWrite
                | RedirectionOperator::HereDocument
                | RedirectionOperator::HereString
                | RedirectionOperator::Duplicate => redirection.descriptor.unwrap_or(0) == 0,
                _ => redirection.descriptor == Some(0),
            };
            // `>&3` without a number duplicates standard output.
            let is_output =
                redirection.operator == RedirectionOperator::Duplicate && redirection.descriptor.is_none();
            if !is_input {
                continue;
            }
            input = match redirection.operator {
                RedirectionOperator::HereDocument | RedirectionOperator::HereString => {
                    ShellInput::Text(redirection.target.clone())
                }
                RedirectionOperator::Duplicate if is_output && !matches!(input, ShellInput::Inherited) => {
                    input
                }
                RedirectionOperator::Duplicate => ShellInput::Unknown,
                _ => ShellInput::File(redirection.target.clone()),
            };
        }
        input
    }

    /// Starts a program, builtin or function whose words are known as far as they can be.
    pub(crate) fn start(&mut self, mut command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        self.budget.steps(1 + command.words.len(), command.span)?;
        let first = command.words.first().filter(|word| !word.is_many()).and_then(ShellWord::text);
        let Some(name) = first.map(Cow::into_owned) else {
            // Any builtin is possible.
            command.role = CommandRole::Program;
            self.commands.push(command);
            state.invalidate();
            return Ok(Flow::same(&state.directories));
        };
        self.note_call(&name, command.span);
        if self.is_function(&name) {
            let is_defined = state.functions.contains(&name);
            command.role = if is_defined { CommandRole::Function } else { CommandRole::PossibleFunction };
            self.unset_prefixed(&command, state)?;
            let span = command.span;
            self.commands.push(command);
            self.apply_function_changes(state, span)?;
            return Ok(Flow::same(&state.directories));
        }
        if self.dialect == ShellDialect::Sh && is_builtin_of_one(&name) {
            let message = format!("`{name}` is a builtin in one shell and a program in another");
            return Err(UnreadableText::ambiguous(command.span, message).with_hint("run the text with bash"));
        }
        if is_builtin(&name, self.dialect) {
            return self.builtin(&name, command, state);
        }
        if name == "time" {
            return self.time(command, state);
        }
        command.role = CommandRole::Program;
        self.commands.push(command);
        Ok(Flow::same(&state.directories))
    }

    /// Adds the command behind `time`, which dash starts as a program and bash as a part of its grammar.
    fn time(&mut self, mut command: ShellCommand, state: &mut ShellState) -> ReadResult<Flow> {
        let flow = Flow::same(&state.directories);
        let skipped =
            1 + usize::from(command.words.get(1).and_then(ShellWord::text).as_deref() == Some("-p"));
        command.role = CommandRole::Program;
        let mut inner = command.clone();
        inner.doubts = Vec::new();
        inner.words.drain(..skipped.min(inner.words.len()));
        self.commands.push(command);
        if !inner.words.is_empty() {
            self.start(inner, state)?;
        }
        Ok(flow)
    }

    /// Makes variables unknown that an assignment before a builtin or function may have set for good.
    pub(crate) fn unset_prefixed(
        &mut self,
        command: &ShellCommand,
        state: &mut ShellState,
    ) -> ReadResult<()> {
        for assignment in &command.assignments {
            state.set(&assignment.name, None, self.budget, command.span)?;
        }
        Ok(())
    }
}

impl ShellCommand {
    /// Returns `true` for a command without effects.
    fn is_nothing(&self) -> bool {
        self.words.is_empty()
            && self.assignments.is_empty()
            && self.redirections.is_empty()
            && self.doubts.is_empty()
    }
}

/// Returns the value that a word sets a variable to.
pub(crate) fn value_of(word: &ShellWord) -> Option<VariableValue> {
    match word.text() {
        Some(text) if text.len() > MAX_VALUE => None,
        Some(text) => Some(VariableValue::Text(text.into_owned())),
        None if crate::numbers::is_number(word) => Some(VariableValue::Number),
        None => printed(word).map(VariableValue::Printed),
    }
}

/// Returns the range of the commands whose output a word is.
pub(crate) fn printed(word: &ShellWord) -> Option<std::ops::Range<usize>> {
    let is_empty = |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
    let mut pieces = word.pieces.iter().filter(|piece| !is_empty(piece));
    match (pieces.next(), pieces.next()) {
        (
            Some(WordPiece::Unknown {
                origin: UnknownOrigin::Output(range) | UnknownOrigin::Stored { range, .. },
                ..
            }),
            None,
        ) => Some(range.clone()),
        _ => None,
    }
}

fn has_home(node: &WordNode) -> bool {
    node.parts.iter().any(|part| matches!(part, crate::tree::WordPart::Literal(text) if text.contains('~')))
}

/// Returns a position for messages about the operand of a builtin.
pub(crate) fn operand_span(command: &ShellCommand, word: &ShellWord) -> ShellSpan {
    if word.span == ShellSpan::default() { command.span } else { word.span }
}

/// Returns `true` for an operand such as `3`, which names a signal or a number.
pub(crate) fn is_numeric(word: &ShellWord) -> bool {
    word.text().is_some_and(|text| is_integer(&text))
}
