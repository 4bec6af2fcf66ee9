//! Expansion of words.

use std::rc::Rc;

use crate::braces;
use crate::dialect::ShellDialect;
use crate::edits;
use crate::follow::Follower;
use crate::reading::{DoubtKind, ShellDoubt, ShellInput, ShellWord, UnknownOrigin, WordPiece};
use crate::span::ShellSpan;
use crate::state::{ShellState, VariableValue};
use crate::tree::{ParameterNode, ParameterOperation, WordNode, WordPart};
use crate::unreadable::ReadResult;

/// Expansions of a word that its place asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordPlace {
    /// Among the words of a command: values are split, and patterns look for files.
    Field,
    /// A target of a redirection: patterns may look for a file.
    Target,
    /// A value.
    Value,
}

/// Words that grow piece by piece.
struct FieldBuilder {
    place: WordPlace,
    done: Vec<ShellWord>,
    pieces: Vec<WordPiece>,
    /// The word exists, even if it is empty.
    exists: bool,
    span: ShellSpan,
}

impl FieldBuilder {
    fn new(place: WordPlace, span: ShellSpan) -> Self {
        Self { place, done: Vec::new(), pieces: Vec::new(), exists: false, span }
    }

    fn push(&mut self, piece: WordPiece) {
        self.exists = true;
        self.pieces.push(piece);
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.exists) {
            let pieces = std::mem::take(&mut self.pieces);
            self.done.push(ShellWord { pieces, span: self.span });
        }
    }

    /// Adds text that is not in quotes, with patterns. `ends_bracket` is true if `]` comes behind the text.
    fn plain(&mut self, text: &str, ends_bracket: bool) {
        let mut run = String::with_capacity(text.len());
        for (at, character) in text.char_indices() {
            let is_pattern = match character {
                _ if self.place == WordPlace::Value => false,
                '*' | '?' => true,
                '[' => ends_bracket || text.get(at..).is_some_and(|rest| rest.contains(']')),
                _ => false,
            };
            if is_pattern {
                self.text(&mut run);
                self.push(WordPiece::Pattern(character));
            } else {
                run.push(character);
            }
        }
        self.text(&mut run);
    }

    fn text(&mut self, run: &mut String) {
        if !run.is_empty() {
            self.push(WordPiece::Text { text: std::mem::take(run), is_quoted: false });
        }
    }

    fn quoted(&mut self, text: &str) {
        self.push(WordPiece::Text { text: text.to_owned(), is_quoted: true });
    }

    /// Adds the known value of an expansion that is not in quotes: it is split at blanks.
    fn split(&mut self, value: &str, ends_bracket: bool) {
        let mut parts = value.split(is_blank).peekable();
        while let Some(part) = parts.next() {
            self.plain(part, ends_bracket);
            if parts.peek().is_some() {
                self.end();
            }
        }
    }
}

impl Follower<'_> {
    /// Expands a word of a command, which may become none or several.
    pub(crate) fn fields(&mut self, word: &WordNode, state: &mut ShellState) -> ReadResult<Vec<ShellWord>> {
        if self.dialect == ShellDialect::Bash && braces::may_expand(word) {
            let Some(words) = braces::expanded(word) else {
                // The expansions are followed all the same.
                self.expand(word, state, WordPlace::Field)?;
                let piece = WordPiece::Unknown { origin: UnknownOrigin::Braces, is_many: true };
                return Ok(vec![ShellWord { pieces: vec![piece], span: word.span }]);
            };
            let mut fields = Vec::new();
            for word in &words {
                self.budget.node(word.span)?;
                fields.extend(self.expand(word, state, WordPlace::Field)?);
            }
            return Ok(fields);
        }
        self.expand(word, state, WordPlace::Field)
    }

    /// Expands a value, which is one word.
    pub(crate) fn single(&mut self, word: &WordNode, state: &mut ShellState) -> ReadResult<ShellWord> {
        self.one(word, state, WordPlace::Value)
    }

    /// Expands the target of a redirection.
    pub(crate) fn target(&mut self, word: &WordNode, state: &mut ShellState) -> ReadResult<ShellWord> {
        if self.dialect == ShellDialect::Bash && braces::may_expand(word) {
            let piece = WordPiece::Unknown { origin: UnknownOrigin::Braces, is_many: true };
            return Ok(ShellWord { pieces: vec![piece], span: word.span });
        }
        self.one(word, state, WordPlace::Target)
    }

    fn one(&mut self, word: &WordNode, state: &mut ShellState, place: WordPlace) -> ReadResult<ShellWord> {
        let mut words = self.expand(word, state, place)?;
        Ok(match words.len() {
            0 => ShellWord { pieces: Vec::new(), span: word.span },
            1 => words.remove(0),
            // Only the target of a redirection is split, which is an error in bash.
            _ => {
                let origin = UnknownOrigin::Variable(String::new());
                let piece = WordPiece::Unknown { origin, is_many: true };
                ShellWord { pieces: vec![piece], span: word.span }
            }
        })
    }

    /// Expands a word. The length of the texts is counted, because a variable may double itself.
    fn expand(
        &mut self,
        word: &WordNode,
        state: &mut ShellState,
        place: WordPlace,
    ) -> ReadResult<Vec<ShellWord>> {
        let words = self.expand_parts(word, state, place)?;
        let length =
            |piece: &WordPiece| if let WordPiece::Text { text, .. } = piece { text.len() } else { 0 };
        let length = words.iter().flat_map(|word| &word.pieces).map(length).sum();
        self.budget.steps(length, word.span)?;
        Ok(words)
    }

    fn expand_parts(
        &mut self,
        word: &WordNode,
        state: &mut ShellState,
        place: WordPlace,
    ) -> ReadResult<Vec<ShellWord>> {
        let mut builder = FieldBuilder::new(place, word.span);
        for (position, part) in word.parts.iter().enumerate() {
            self.budget.steps(1, word.span)?;
            let rest = word.parts.get(position + 1..).unwrap_or_default();
            match part {
                WordPart::Literal(text) => builder.plain(text, text.contains('[') && may_close(rest)),
                WordPart::Quoted(text) => builder.quoted(text),
                WordPart::Home(user) => home_piece(user, state, &mut builder),
                WordPart::Parameter(parameter) => self.parameter(parameter, state, &mut builder, rest)?,
                WordPart::Substitution { list, is_quoted, .. } => {
                    let list = Rc::clone(list);
                    let range = self.inner(&list, state, None)?;
                    let is_many = !is_quoted && place != WordPlace::Value;
                    builder.push(WordPiece::Unknown { origin: UnknownOrigin::Output(range), is_many });
                }
                WordPart::Process { list, is_input, .. } => {
                    let list = Rc::clone(list);
                    let input = (!is_input).then_some(ShellInput::Unknown);
                    let range = self.inner(&list, state, input)?;
                    // bash 5.2 makes no word of an empty list.
                    let is_many = list.items.is_empty();
                    builder.push(WordPiece::Unknown { origin: UnknownOrigin::Process(range), is_many });
                }
                WordPart::Arithmetic(node) => {
                    let node = Rc::clone(node);
                    self.arithmetic(&node, state)?;
                    builder.push(WordPiece::Unknown { origin: UnknownOrigin::Number, is_many: false });
                }
            }
        }
        builder.end();
        Ok(builder.done)
    }

    fn parameter(
        &mut self,
        parameter: &ParameterNode,
        state: &mut ShellState,
        builder: &mut FieldBuilder,
        rest: &[WordPart],
    ) -> ReadResult<()> {
        let name = &parameter.name;
        let splits = !parameter.is_quoted && builder.place != WordPlace::Value;
        let value = state.variable(name);
        let is_set = matches!(&value, Some(VariableValue::Text(text)) if !text.is_empty())
            || value == Some(VariableValue::Number);
        let known = match &parameter.operation {
            ParameterOperation::Value => value,
            ParameterOperation::Length => Some(VariableValue::Number),
            ParameterOperation::Default(operand) | ParameterOperation::Require(operand) => {
                self.single(operand, state)?;
                value.filter(|_| is_set)
            }
            ParameterOperation::Assign(operand) => {
                let assigned = self.single(operand, state)?;
                self.assigned_number(name, Some(&assigned), parameter.span, state)?;
                if !is_set {
                    state.set(name, None, self.budget, parameter.span)?;
                }
                value.filter(|_| is_set)
            }
            ParameterOperation::Alternative(operand) => {
                self.single(operand, state)?;
                None
            }
            ParameterOperation::Edit(edit, operands) => {
                let operands: Vec<ShellWord> =
                    operands.iter().map(|operand| self.single(operand, state)).collect::<ReadResult<_>>()?;
                // Options of bash change which patterns match.
                value
                    .filter(|_| !self.may_change_options())
                    .and_then(|value| edits::edited(&value, *edit, &operands))
            }
            ParameterOperation::Slice(node) | ParameterOperation::Element(node) => {
                let node = Rc::clone(node);
                self.arithmetic(&node, state)?;
                None
            }
            ParameterOperation::Elements => None,
            ParameterOperation::Indirect => {
                self.doubt(DoubtKind::VariableName, parameter.span);
                None
            }
            ParameterOperation::Expanded => {
                self.doubt(DoubtKind::Code, parameter.span);
                None
            }
        };
        let known = known.or_else(|| special_number(name, &parameter.operation));
        match known {
            Some(VariableValue::Text(text)) if !splits => builder.quoted(&text),
            // bash does not split the value before a `$` that expands nothing, and dash does.
            Some(VariableValue::Text(text)) if text.contains(is_blank) && has_lone_dollar(rest) => {
                let origin = UnknownOrigin::Variable(name.clone());
                builder.push(WordPiece::Unknown { origin, is_many: true });
            }
            Some(VariableValue::Text(text)) if state.has_default_separators() => {
                builder.split(&text, text.contains('[') && may_close(rest));
            }
            Some(VariableValue::Number) => {
                let is_many = splits && !state.has_default_separators();
                builder.push(WordPiece::Unknown { origin: UnknownOrigin::Number, is_many });
            }
            Some(VariableValue::Printed(range)) => {
                let origin = UnknownOrigin::Stored { name: name.clone(), range };
                builder.push(WordPiece::Unknown { origin, is_many: splits });
            }
            // Other separators may leave any part of a path.
            Some(VariableValue::Listed(words)) if !splits || state.has_default_separators() => {
                let origin = UnknownOrigin::Listed { name: name.clone(), words };
                builder.push(WordPiece::Unknown { origin, is_many: splits });
            }
            _ => {
                let is_list = name == "@" || matches!(parameter.operation, ParameterOperation::Elements);
                let is_many = splits || is_list && builder.place != WordPlace::Value;
                let origin = UnknownOrigin::Variable(name.clone());
                builder.push(WordPiece::Unknown { origin, is_many });
            }
        }
        Ok(())
    }

    pub(crate) fn doubt(&mut self, kind: DoubtKind, span: ShellSpan) {
        let doubt = ShellDoubt { kind, output: None, span };
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }
}

/// Returns the value of the parameters that are always numbers.
fn special_number(name: &str, operation: &ParameterOperation) -> Option<VariableValue> {
    let is_number = matches!(name, "#" | "?" | "$") && matches!(operation, ParameterOperation::Value);
    is_number.then_some(VariableValue::Number)
}

/// Returns `true` for the characters that `IFS` holds by default.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n')
}

/// Returns `true` if parts hold a `$` without quotes that begins no expansion, as in `$%`.
fn has_lone_dollar(parts: &[WordPart]) -> bool {
    parts.iter().any(|part| matches!(part, WordPart::Literal(text) if text.contains('$')))
}

/// Returns `true` if parts may hold the `]` that ends a pattern.
fn may_close(parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Literal(text) | WordPart::Quoted(text) => text.contains(']'),
        WordPart::Home(_) => false,
        _ => true,
    })
}

fn home_piece(user: &str, state: &ShellState, builder: &mut FieldBuilder) {
    match state.variable("HOME") {
        Some(VariableValue::Text(home)) if user.is_empty() => builder.quoted(&home),
        _ => {
            builder.push(WordPiece::Unknown { origin: UnknownOrigin::Home(user.to_owned()), is_many: false });
        }
    }
}
