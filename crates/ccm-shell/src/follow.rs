//! Follows a text: its lists, pipelines and constructs.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::dialect::ShellDialect;
use crate::limits::ShellBudget;
use crate::mutations::{MutationScope, Mutations};
use crate::parse::{ParsedText, parse};
use crate::reading::{
    CommandRole, DoubtKind, ShellCommand, ShellDirectories, ShellDoubt, ShellInput, ShellReading, ShellWord,
};
use crate::span::{ShellSpan, SpanOrigin};
use crate::state::{Flow, ShellState, union};
use crate::tree::{
    ChainNode, ChainOperator, CommandList, CommandNode, CompoundKind, CompoundNode, FunctionNode,
    PipelineNode, WordNode,
};
use crate::unreadable::{ReadResult, UnreadableText};

/// Maximum number of commands that print the value of a variable, for a value that is followed.
const MAX_PRINTING: usize = 16;

/// Known facts of a text's environment.
#[derive(Clone, Debug, Default)]
pub struct ShellContext<'a> {
    /// Working directory, an absolute path.
    pub directory: &'a str,
    /// Variables of the environment whose values are known.
    pub variables: Vec<(&'a str, &'a str)>,
}

/// Reads a text: parses it, and follows its variables and directories.
pub fn read(
    text: &str,
    dialect: ShellDialect,
    context: &ShellContext<'_>,
    budget: &mut ShellBudget,
) -> Result<ShellReading, Box<UnreadableText>> {
    let whole = ShellSpan::new(0, text.len());
    budget.enter(whole)?;
    let parsed = parse(text, dialect, SpanOrigin::Offset(0), budget)?;
    let mut state = ShellState::new(context.directory, &context.variables);
    let mut follower = Follower::new(dialect, budget);
    let given = context.variables.iter().map(|(name, _)| *name).chain(["IFS"]);
    follower.given = given.map(str::to_owned).collect();
    follower.text(parsed, &mut state, whole)?;
    follower.fork_bombs()?;
    follower.settle_traps(context.directory);
    follower.settle_stored();
    let commands = follower.commands;
    budget.leave();
    Ok(ShellReading { commands })
}

/// Reader that follows a text from command to command.
pub(crate) struct Follower<'b> {
    pub(crate) dialect: ShellDialect,
    pub(crate) budget: &'b mut ShellBudget,
    pub(crate) commands: Vec<ShellCommand>,
    /// Bodies of the heredocs of the current text.
    pub(crate) bodies: std::rc::Rc<Vec<WordNode>>,
    /// Standard input of the current construct.
    pub(crate) input: ShellInput,
    /// Doubts for the next command.
    pub(crate) doubts: Vec<ShellDoubt>,
    /// Names of all functions, defined or not.
    functions: BTreeSet<String>,
    function_changes: Mutations,
    text_changes: Mutations,
    /// The exit status of the current commands is looked at, so that `set -e` does not end the shell.
    pub(crate) is_condition: bool,
    current_function: Option<String>,
    /// Number of background commands, pipelines and substitutions around the current command.
    pub(crate) forks: u32,
    calls: Vec<FunctionStart>,
    /// Ranges of the commands of traps.
    pub(crate) traps: Vec<Range<usize>>,
    /// Names of the variables of the environment.
    given: BTreeSet<String>,
}

/// Start of a function or program by a command of a function.
struct FunctionStart {
    caller: String,
    called: String,
    forks: bool,
    span: ShellSpan,
}

impl<'b> Follower<'b> {
    fn new(dialect: ShellDialect, budget: &'b mut ShellBudget) -> Self {
        Self {
            dialect,
            budget,
            commands: Vec::new(),
            bodies: std::rc::Rc::default(),
            input: ShellInput::Inherited,
            doubts: Vec::new(),
            functions: BTreeSet::new(),
            function_changes: Mutations::default(),
            text_changes: Mutations::default(),
            is_condition: false,
            current_function: None,
            forks: 0,
            calls: Vec::new(),
            traps: Vec::new(),
            given: BTreeSet::new(),
        }
    }

    /// Follows a parsed text in the current shell.
    pub(crate) fn text(
        &mut self,
        parsed: ParsedText,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Flow> {
        let changes = Mutations::of(&[&parsed.list], MutationScope::Anywhere, self.budget)?;
        self.text_changes.add(&changes);
        self.find_functions(&parsed.list, span)?;
        let bodies = std::mem::replace(&mut self.bodies, std::rc::Rc::new(parsed.bodies));
        let flow = self.list(&parsed.list, state)?;
        self.bodies = bodies;
        Ok(flow)
    }

    /// Follows a text that is the value of words.
    pub(crate) fn inner_text(
        &mut self,
        text: &str,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<Flow> {
        self.budget.enter(span)?;
        let parsed = parse(text, self.dialect, SpanOrigin::Fixed(span), self.budget)?;
        let flow = self.text(parsed, state, span)?;
        self.budget.leave();
        Ok(flow)
    }

    fn find_functions(&mut self, list: &CommandList, span: ShellSpan) -> ReadResult<()> {
        for chain in &list.items {
            for pipeline in std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, next)| next)) {
                for command in &pipeline.commands {
                    self.find_functions_in(command, span)?;
                }
            }
        }
        Ok(())
    }

    fn find_functions_in(&mut self, command: &CommandNode, span: ShellSpan) -> ReadResult<()> {
        self.budget.steps(1, span)?;
        let kind = match command {
            CommandNode::Simple(_) => return Ok(()),
            CommandNode::Function(function) => {
                self.functions.insert(function.name.clone());
                let changes = Mutations::of_command(&function.body, MutationScope::SameShell, self.budget)?;
                self.function_changes.add(&changes);
                return self.find_functions_in(&function.body, span);
            }
            CommandNode::Compound(compound) => &compound.kind,
        };
        let lists: Vec<&CommandList> = match kind {
            CompoundKind::Group(list) | CompoundKind::Subshell(list) => vec![list],
            CompoundKind::If { arms, otherwise } => {
                let arms = arms.iter().flat_map(|(condition, body)| [condition, body]);
                arms.chain(otherwise).collect()
            }
            CompoundKind::Loop { condition, body } => vec![condition, body],
            CompoundKind::For { body, .. } | CompoundKind::ArithmeticFor { body, .. } => vec![body],
            CompoundKind::Case { arms, .. } => arms.iter().map(|arm| &arm.body).collect(),
            CompoundKind::Arithmetic(_) | CompoundKind::Conditional(_) => Vec::new(),
        };
        lists.into_iter().try_for_each(|list| self.find_functions(list, span))
    }

    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Returns `true` if a command of the text may change how patterns match.
    pub(crate) fn may_change_options(&self) -> bool {
        self.text_changes.anything
    }

    /// Returns `true` if a command of the text may set a variable.
    pub(crate) fn may_set(&self, name: &str) -> bool {
        self.text_changes.may_set(name)
    }

    /// Returns `true` for a variable that has its value for good once a command has set it, until the only trap runs.
    pub(crate) fn is_set_for_good(&self, name: &str) -> bool {
        match self.text_changes.changes_beside_trap(name) {
            Some(0) => true,
            Some(1) => !self.given.contains(name),
            _ => false,
        }
    }

    /// Makes unknown which commands have printed the value of a variable, if a name may mean another program than it says.
    fn settle_stored(&mut self) {
        let is_doubtful = self.text_changes.anything
            || self.commands.iter().flat_map(|command| &command.doubts).any(|doubt| doubt.output.is_none());
        let mut words = Vec::new();
        for (position, command) in self.commands.iter().enumerate() {
            let is_evaluated = command.doubts.iter().any(|doubt| doubt.output.is_some());
            if is_evaluated || command.stored().next().is_some() {
                words.push(position);
            }
        }
        for position in words {
            let Some(command) = self.commands.get(position) else { continue };
            let may_differ = |range: &Range<usize>| {
                let printing = self.commands.get(range.clone()).unwrap_or_default();
                let is_other = |command: &ShellCommand| {
                    command.words.first().and_then(ShellWord::text).is_none_or(|name| self.is_function(&name))
                };
                printing.len() > MAX_PRINTING || printing.iter().any(is_other)
            };
            let evaluated = command.doubts.iter().filter_map(|doubt| doubt.output.as_ref());
            let ends = is_doubtful || command.stored().chain(evaluated).any(may_differ);
            if ends && let Some(command) = self.commands.get_mut(position) {
                command.forget_stored();
            }
        }
    }

    /// Makes unknown what the functions of the text may change.
    pub(crate) fn apply_function_changes(
        &mut self,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<()> {
        self.function_changes.apply(state, self.budget, span)
    }

    pub(crate) fn is_in_function(&self) -> bool {
        self.current_function.is_some()
    }

    /// Notes a command for the search for fork bombs.
    pub(crate) fn note_call(&mut self, name: &str, span: ShellSpan) {
        if let Some(caller) = &self.current_function {
            let forks = self.forks > 0;
            self.calls.push(FunctionStart { caller: caller.clone(), called: name.to_owned(), forks, span });
        }
    }

    pub(crate) fn list(&mut self, list: &CommandList, state: &mut ShellState) -> ReadResult<Flow> {
        let mut flow = Flow::same(&state.directories);
        for chain in &list.items {
            flow = self.chain(chain, state)?;
            state.directories = flow.either();
        }
        Ok(flow)
    }

    fn chain(&mut self, chain: &ChainNode, state: &mut ShellState) -> ReadResult<Flow> {
        if chain.in_background {
            let mut inner = state.clone();
            self.forks += 1;
            self.chain_in(chain, &mut inner)?;
            self.forks -= 1;
            return Ok(Flow::same(&state.directories));
        }
        self.chain_in(chain, state)
    }

    fn chain_in(&mut self, chain: &ChainNode, state: &mut ShellState) -> ReadResult<Flow> {
        let was_condition = self.is_condition;
        self.is_condition |= !chain.rest.is_empty();
        let mut flow = self.pipeline(&chain.first, state)?;
        let last = chain.rest.len();
        for (position, (operator, pipeline)) in chain.rest.iter().enumerate() {
            self.is_condition = was_condition || position + 1 < last;
            let before = state.clone();
            state.directories = match operator {
                ChainOperator::And => Arc::clone(&flow.succeeded),
                ChainOperator::Or => Arc::clone(&flow.failed),
            };
            let next = self.pipeline(pipeline, state)?;
            state.join(&before, self.budget, ShellSpan::default())?;
            flow = match operator {
                ChainOperator::And => {
                    Flow { succeeded: next.succeeded, failed: union(&flow.failed, &next.failed) }
                }
                ChainOperator::Or => {
                    Flow { succeeded: union(&flow.succeeded, &next.succeeded), failed: next.failed }
                }
            };
        }
        self.is_condition = was_condition;
        // With `set -e`, what follows a failed command is never reached.
        if state.exits_on_error && !self.is_condition && chain.rest.is_empty() && !chain.first.is_negated {
            flow.failed = Arc::new(ShellDirectories::unreachable());
        }
        Ok(flow)
    }

    fn pipeline(&mut self, pipeline: &PipelineNode, state: &mut ShellState) -> ReadResult<Flow> {
        let was_condition = self.is_condition;
        self.is_condition |= pipeline.is_negated;
        let flow = match &*pipeline.commands {
            [command] => self.command(command, state)?,
            commands => {
                let outer = self.input.clone();
                self.forks += 1;
                for (position, command) in commands.iter().enumerate() {
                    let start = self.commands.len();
                    let mut inner = state.clone();
                    self.command(command, &mut inner)?;
                    if position + 1 < commands.len() {
                        self.input = ShellInput::Pipe(start..self.commands.len());
                    }
                }
                self.forks -= 1;
                self.input = outer;
                Flow::same(&state.directories)
            }
        };
        self.is_condition = was_condition;
        Ok(if pipeline.is_negated { Flow { succeeded: flow.failed, failed: flow.succeeded } } else { flow })
    }

    fn command(&mut self, command: &CommandNode, state: &mut ShellState) -> ReadResult<Flow> {
        match command {
            CommandNode::Simple(simple) => self.simple(simple, state),
            CommandNode::Compound(compound) => self.compound(compound, state),
            CommandNode::Function(function) => self.function(function, state),
        }
    }

    fn function(&mut self, function: &FunctionNode, state: &mut ShellState) -> ReadResult<Flow> {
        state.define(&function.name, self.budget, function.span)?;
        // The body is read for a call at any point of the text.
        let mut inner = state.clone();
        self.text_changes.apply(&mut inner, self.budget, function.span)?;
        inner.exits_on_error = false;
        if self.text_changes.removes_functions {
            inner.functions = std::rc::Rc::default();
        }
        self.budget.enter(function.span)?;
        let input = std::mem::replace(&mut self.input, ShellInput::Unknown);
        let caller = self.current_function.replace(function.name.clone());
        let forks = std::mem::take(&mut self.forks);
        self.command(&function.body, &mut inner)?;
        self.budget.leave();
        self.forks = forks;
        self.current_function = caller;
        self.input = input;
        Ok(Flow::same(&state.directories))
    }

    fn compound(&mut self, compound: &CompoundNode, state: &mut ShellState) -> ReadResult<Flow> {
        let outer = self.input.clone();
        let before = (!compound.redirections.is_empty()).then(|| state.clone());
        if before.is_some() {
            let redirections = self.redirections(&compound.redirections, state)?;
            let input = self.input_after(&redirections);
            let mut construct = self.construct(state, compound.span);
            construct.redirections = redirections;
            construct.input = input.clone();
            self.commands.push(construct);
            self.input = input;
        }
        self.budget.enter(compound.span)?;
        let flow = self.construct_of(compound, state)?;
        self.budget.leave();
        self.input = outer;
        match before {
            Some(before) => self.or_not_run(&flow, &before, state, compound.span),
            None => Ok(flow),
        }
    }

    /// Makes unknown what a loop may change, because its commands run again after the change.
    pub(crate) fn enter_loop(
        &mut self,
        lists: &[&CommandList],
        variable: Option<&str>,
        state: &mut ShellState,
        span: ShellSpan,
    ) -> ReadResult<()> {
        let mut changes = Mutations::of(lists, MutationScope::SameShell, self.budget)?;
        if changes.calls.iter().any(|name| self.functions.contains(name)) {
            self.budget.steps(self.function_changes.len(), span)?;
            changes.add(&self.function_changes);
        }
        changes.apply(state, self.budget, span)?;
        if let Some(variable) = variable {
            state.set(variable, None, self.budget, span)?;
        }
        Ok(())
    }

    /// Follows commands in a shell of their own, and returns their range.
    pub(crate) fn inner(
        &mut self,
        list: &CommandList,
        state: &ShellState,
        input: Option<ShellInput>,
    ) -> ReadResult<Range<usize>> {
        let doubts = std::mem::take(&mut self.doubts);
        let outer = input.map(|input| std::mem::replace(&mut self.input, input));
        let was_condition = self.is_condition;
        let start = self.commands.len();
        let mut inner = state.clone();
        // bash turns `set -e` off in substitutions.
        inner.exits_on_error = false;
        self.forks += 1;
        self.budget.enter(ShellSpan::default())?;
        self.find_functions(list, ShellSpan::default())?;
        self.list(list, &mut inner)?;
        self.budget.leave();
        self.forks -= 1;
        self.is_condition = was_condition;
        if let Some(outer) = outer {
            self.input = outer;
        }
        self.doubts = doubts;
        Ok(start..self.commands.len())
    }

    /// Returns a command without words.
    pub(crate) fn construct(&mut self, state: &ShellState, span: ShellSpan) -> ShellCommand {
        ShellCommand {
            role: CommandRole::Construct,
            words: Vec::new(),
            assignments: Vec::new(),
            redirections: Vec::new(),
            input: self.input.clone(),
            directories: Arc::clone(&state.directories),
            search_path: Arc::clone(&state.search_path),
            doubts: std::mem::take(&mut self.doubts),
            span,
        }
    }

    pub(crate) fn push_doubts(&mut self, state: &ShellState, span: ShellSpan) {
        if !self.doubts.is_empty() {
            let construct = self.construct(state, span);
            self.commands.push(construct);
        }
    }

    /// Finds functions that start themselves in the background or in a pipeline.
    fn fork_bombs(&mut self) -> ReadResult<()> {
        let mut bombs = Vec::new();
        for start in self.calls.iter().filter(|start| start.forks && self.functions.contains(&start.called)) {
            let mut reached: BTreeSet<&str> = BTreeSet::from([&*start.called]);
            let mut is_growing = true;
            while is_growing {
                self.budget.steps(self.calls.len(), start.span)?;
                let before = reached.len();
                let next: Vec<&str> = self
                    .calls
                    .iter()
                    .filter(|call| reached.contains(&*call.caller) && self.functions.contains(&call.called))
                    .map(|call| &*call.called)
                    .collect();
                reached.extend(next);
                is_growing = reached.len() > before;
            }
            if reached.contains(&*start.caller) {
                bombs.push(start.span);
            }
        }
        for span in bombs {
            let bomb = ShellDoubt { kind: DoubtKind::ForkBomb, output: None, span };
            let mut found = self.commands.iter_mut().filter(|command| command.span == span);
            if let Some(command) = found.next() {
                command.doubts.push(bomb);
            }
        }
        Ok(())
    }
}
