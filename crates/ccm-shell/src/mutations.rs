//! Changes that a part of a text may make to variables and directories, found without following it. They are for loops,
//! which come back, and for functions, which are called from anywhere.

use std::collections::HashMap;

use crate::dialect::{ShellDialect, is_builtin, is_name, is_special};
use crate::grammar::assigned_name;
use crate::limits::ShellBudget;
use crate::span::ShellSpan;
use crate::state::{ShellState, VariableValue, is_integer};
use crate::tree::{
    ArithmeticNode, ArithmeticToken, AssignedValue, CommandList, CommandNode, CompoundKind,
    ParameterOperation, RedirectionTarget, SimpleNode, WordNode, WordPart,
};
use crate::unreadable::ReadResult;

/// Changes of a part of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mutations {
    /// Anything may change, also without a trap.
    pub(crate) anything: bool,
    /// An option that is not known may name a variable: `printf "$x"`.
    may_set_others: bool,
    /// Number of traps, each of which may change anything.
    traps: u32,
    pub(crate) directory: bool,
    pub(crate) calls: Vec<String>,
    pub(crate) removes_functions: bool,
    names: HashMap<String, VariableChanges>,
}

/// Changes of a variable.
#[derive(Clone, Copy, Debug)]
struct VariableChanges {
    count: u32,
    /// All set a number.
    is_number: bool,
}

/// Extent of a search for changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MutationScope {
    /// Changes that are seen after the part, in the same shell.
    SameShell,
    /// All changes, those in subshells and functions included.
    Anywhere,
}

impl Mutations {
    pub(crate) fn of(
        lists: &[&CommandList],
        scope: MutationScope,
        budget: &mut ShellBudget,
    ) -> ReadResult<Self> {
        let mut finder = Finder { found: Self::default(), scope, budget };
        for list in lists {
            finder.list(list)?;
        }
        Ok(finder.found)
    }

    pub(crate) fn of_command(
        command: &CommandNode,
        scope: MutationScope,
        budget: &mut ShellBudget,
    ) -> ReadResult<Self> {
        let mut finder = Finder { found: Self::default(), scope, budget };
        finder.command(command)?;
        Ok(finder.found)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.anything |= other.anything;
        self.may_set_others |= other.may_set_others;
        self.traps = self.traps.saturating_add(other.traps);
        self.directory |= other.directory;
        self.removes_functions |= other.removes_functions;
        self.calls.extend(other.calls.iter().cloned());
        for (name, changes) in &other.names {
            self.add_changes(name, *changes);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len() + self.calls.len()
    }

    pub(crate) fn may_set(&self, name: &str) -> bool {
        self.changes_everything() || self.names.contains_key(name)
    }

    /// Returns the number of places that may change a variable, in a text with a single trap; `None` if there are
    /// others that are not known.
    pub(crate) fn changes_beside_trap(&self, name: &str) -> Option<u32> {
        let is_known = !self.anything && !self.may_set_others && self.traps == 1;
        is_known.then(|| self.names.get(name).map_or(0, |changes| changes.count))
    }

    fn changes_everything(&self) -> bool {
        self.anything || self.traps > 0
    }

    fn name(&mut self, name: &str, is_number: bool) {
        self.add_changes(name, VariableChanges { count: 1, is_number });
    }

    fn add_changes(&mut self, name: &str, changes: VariableChanges) {
        let none = VariableChanges { count: 0, is_number: true };
        let all = self.names.entry(name.to_owned()).or_insert(none);
        all.count = all.count.saturating_add(changes.count);
        all.is_number &= changes.is_number;
    }

    /// Makes what may have changed unknown.
    pub(crate) fn apply(
        &self,
        state: &mut ShellState,
        budget: &mut ShellBudget,
        span: ShellSpan,
    ) -> ReadResult<()> {
        if self.changes_everything() {
            state.invalidate();
            return Ok(());
        }
        if self.directory {
            state.directories = std::sync::Arc::new(crate::reading::ShellDirectories::unknown());
        }
        if self.calls.iter().any(|name| name == "set") {
            state.exits_on_error = false;
        }
        for (name, changes) in &self.names {
            let stays_number =
                changes.is_number && state.variable(name).is_some_and(|value| value.is_number());
            state.set(name, stays_number.then_some(VariableValue::Number), budget, span)?;
        }
        Ok(())
    }
}

struct Finder<'b> {
    found: Mutations,
    scope: MutationScope,
    budget: &'b mut ShellBudget,
}

impl Finder<'_> {
    fn list(&mut self, list: &CommandList) -> ReadResult<()> {
        for chain in &list.items {
            for pipeline in std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, next)| next)) {
                let is_subshell = chain.in_background || pipeline.commands.len() > 1;
                if is_subshell && self.scope == MutationScope::SameShell {
                    continue;
                }
                for command in &pipeline.commands {
                    self.command(command)?;
                }
            }
        }
        Ok(())
    }

    fn command(&mut self, command: &CommandNode) -> ReadResult<()> {
        match command {
            CommandNode::Simple(simple) => self.simple(simple),
            CommandNode::Function(function) => match self.scope {
                MutationScope::SameShell => Ok(()),
                MutationScope::Anywhere => self.command(&function.body),
            },
            CommandNode::Compound(compound) => {
                for redirection in &compound.redirections {
                    if let RedirectionTarget::Word(word) = &redirection.target {
                        self.word(word)?;
                    }
                }
                self.compound(&compound.kind)
            }
        }
    }

    fn compound(&mut self, kind: &CompoundKind) -> ReadResult<()> {
        match kind {
            CompoundKind::Group(list) => self.list(list),
            CompoundKind::Subshell(list) => match self.scope {
                MutationScope::SameShell => Ok(()),
                MutationScope::Anywhere => self.list(list),
            },
            CompoundKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.list(condition)?;
                    self.list(body)?;
                }
                otherwise.as_ref().map_or(Ok(()), |list| self.list(list))
            }
            CompoundKind::Loop { condition, body } => {
                self.list(condition)?;
                self.list(body)
            }
            CompoundKind::For { name, words, body } => {
                self.found.name(name, false);
                self.found.name("REPLY", false);
                words.iter().flatten().try_for_each(|word| self.word(word))?;
                self.list(body)
            }
            CompoundKind::Case { subject, arms } => {
                self.word(subject)?;
                for arm in arms {
                    arm.patterns.iter().try_for_each(|word| self.word(word))?;
                    self.list(&arm.body)?;
                }
                Ok(())
            }
            CompoundKind::Arithmetic(node) => self.arithmetic(node),
            CompoundKind::ArithmeticFor { header, body } => {
                self.arithmetic(header)?;
                self.list(body)
            }
            CompoundKind::Conditional(node) => {
                self.found.name("BASH_REMATCH", false);
                let words = node.operands.iter().chain(&node.numbers).chain(&node.names);
                words.into_iter().try_for_each(|word| self.word(word))
            }
        }
    }

    fn simple(&mut self, simple: &SimpleNode) -> ReadResult<()> {
        self.budget.steps(1 + simple.words.len(), simple.span)?;
        for word in &simple.words {
            self.word(word)?;
        }
        for redirection in &simple.redirections {
            if let RedirectionTarget::Word(word) = &redirection.target {
                self.word(word)?;
            }
        }
        // Before a program and most builtins, an assignment is for the command alone.
        let name = simple.words.first().map(WordNode::literal);
        let stays =
            !matches!(name, Some(Some(name)) if is_builtin(&name, ShellDialect::Bash) && !is_special(&name));
        for assignment in &simple.assignments {
            let is_number = match &assignment.value {
                AssignedValue::Word(word) => {
                    self.word(word)?;
                    !assignment.appends && is_number(word)
                }
                AssignedValue::Element { value, subscript } => {
                    self.arithmetic(subscript)?;
                    self.word(value)?;
                    false
                }
                AssignedValue::Array(words) => {
                    words.iter().try_for_each(|word| self.word(word))?;
                    false
                }
            };
            if stays {
                self.found.name(&assignment.name, is_number);
            }
        }
        self.program(&simple.words);
        Ok(())
    }

    /// Finds the changes that a builtin makes.
    fn program(&mut self, words: &[WordNode]) {
        let Some((program, operands)) = words.split_first() else { return };
        // Braces and expansions may make any program.
        let Some(name) = program.literal().filter(|_| !crate::braces::may_expand(program)) else {
            self.found.anything = true;
            return;
        };
        match &*name {
            "cd" | "chdir" | "pushd" | "popd" => {
                self.found.directory = true;
                self.found.name("OLDPWD", false);
            }
            "command" | "builtin" | "exec" | "time" => {
                let skipped = operands
                    .iter()
                    .take_while(|word| word.bare().is_some_and(|text| text.starts_with('-')))
                    .count();
                self.program(operands.get(skipped..).unwrap_or_default());
            }
            "trap" => self.found.traps += 1,
            "eval" | "." | "source" | "let" | "enable" | "alias" | "shopt" | "mapfile" | "readarray"
            | "declare" | "typeset" => self.found.anything = true,
            "export" | "readonly" | "local" | "read" | "unset" | "getopts" | "printf" | "wait" => {
                self.operands(&name, operands);
            }
            "set" => self.found.calls.push("set".to_owned()),
            _ => self.found.calls.push(name),
        }
    }

    fn operands(&mut self, builtin: &str, operands: &[WordNode]) {
        match builtin {
            "read" => self.found.name("REPLY", false),
            "unset" => {
                let is_name =
                    |word: &WordNode| word.literal().is_some_and(|text| is_name(&text) || text == "-v");
                self.found.removes_functions |= !operands.iter().all(is_name);
            }
            "getopts" => ["OPTARG", "OPTIND"].into_iter().for_each(|name| self.found.name(name, false)),
            "printf" if !self.may_set_by_printf(operands) => return,
            _ => {}
        }
        for operand in operands {
            let assigned = assigned_name(operand).map(|(name, _)| name.to_owned());
            match assigned.or_else(|| operand.literal()) {
                Some(name) if is_name(&name) => self.found.name(&name, false),
                // `read -ax`; `local -n r=x`, behind which `r` is `x`; `readonly -l x`, which changes a value.
                Some(option) if option.starts_with('-') => {
                    let attached = option.split_once('a').map(|(_, name)| name).filter(|name| is_name(name));
                    if let Some(name) = attached.filter(|_| builtin == "read") {
                        self.found.name(name, false);
                    }
                    let is_declaration = matches!(builtin, "local" | "export" | "readonly");
                    self.found.anything |= is_declaration && option.contains(['n', 'l', 'u', 'c', 'i']);
                }
                Some(_) => {}
                None if builtin == "printf" => {}
                None => self.found.anything = true,
            }
        }
    }

    /// Returns `true` for `printf -v NAME`. A name that is attached is added.
    fn may_set_by_printf(&mut self, operands: &[WordNode]) -> bool {
        let Some(first) = operands.first() else { return false };
        if let Some(text) = first.literal() {
            if let Some(name) = text.strip_prefix("-v").filter(|name| is_name(name)) {
                self.found.name(name, false);
            }
            return text == "-v";
        }
        let is_text = match first.parts.first() {
            Some(WordPart::Literal(text) | WordPart::Quoted(text)) => {
                !text.is_empty() && !text.starts_with('-')
            }
            _ => false,
        };
        self.found.may_set_others |= !is_text;
        !is_text
    }

    fn word(&mut self, word: &WordNode) -> ReadResult<()> {
        word.parts.iter().try_for_each(|part| self.part(part, word.span))
    }

    fn part(&mut self, part: &WordPart, span: ShellSpan) -> ReadResult<()> {
        self.budget.steps(1, span)?;
        match part {
            WordPart::Parameter(parameter) => match &parameter.operation {
                ParameterOperation::Assign(word) => {
                    self.found.name(&parameter.name, false);
                    self.word(word)
                }
                ParameterOperation::Default(word)
                | ParameterOperation::Require(word)
                | ParameterOperation::Alternative(word) => self.word(word),
                ParameterOperation::Edit(_, words) => words.iter().try_for_each(|word| self.word(word)),
                ParameterOperation::Slice(node) | ParameterOperation::Element(node) => self.arithmetic(node),
                _ => Ok(()),
            },
            WordPart::Arithmetic(node) => self.arithmetic(node),
            WordPart::Substitution { list, .. } | WordPart::Process { list, .. }
                if self.scope == MutationScope::Anywhere =>
            {
                self.list(list)
            }
            _ => Ok(()),
        }
    }

    fn arithmetic(&mut self, node: &ArithmeticNode) -> ReadResult<()> {
        for token in &node.tokens {
            match token {
                ArithmeticToken::Name { name, is_assigned: true, .. } => self.found.name(name, true),
                ArithmeticToken::Name { .. } => {}
                ArithmeticToken::Expansion(part) => self.part(part, node.span)?,
            }
        }
        Ok(())
    }
}

/// Returns `true` for a value that is a number, whatever the variables hold.
fn is_number(word: &WordNode) -> bool {
    match &*word.parts {
        [WordPart::Arithmetic(_)] => true,
        [WordPart::Quoted(empty), WordPart::Arithmetic(_)] => empty.is_empty(),
        _ => word.literal().is_some_and(|text| is_integer(&text)),
    }
}
