//! State of a shell between commands: variables, directories, functions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::directories::join_path;
use crate::limits::ShellBudget;
use crate::reading::{ShellDirectories, ShellSearchPath, ShellWord};
use crate::span::ShellSpan;
use crate::unreadable::ReadResult;

/// Maximum number of directories that a command may run in before all are possible.
pub(crate) const MAX_DIRECTORIES: usize = 8;
/// Value of `IFS` when a shell starts.
const DEFAULT_SEPARATORS: &str = " \t\n";

/// Value of a variable. A variable without an entry is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariableValue {
    Text(String),
    /// An integer, which is not known.
    Number,
    /// One of these words, or a path that one of them matches.
    Listed(Arc<[ShellWord]>),
    /// Output of commands: their range among the commands of the text.
    Printed(Range<usize>),
}

impl VariableValue {
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Number => true,
            Self::Text(text) => is_integer(text),
            Self::Listed(_) | Self::Printed(_) => false,
        }
    }
}

pub(crate) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Clone, Debug)]
pub(crate) struct ShellState {
    variables: Rc<BTreeMap<String, VariableValue>>,
    pub(crate) directories: Arc<ShellDirectories>,
    pub(crate) search_path: Arc<ShellSearchPath>,
    /// Functions that are certainly defined.
    pub(crate) functions: Rc<BTreeSet<String>>,
    /// `set -e` is certainly on.
    pub(crate) exits_on_error: bool,
    /// `PWD` is the directory, because nothing assigned to it.
    has_directory_variable: bool,
    /// `CDPATH` may be set, so that `cd` may find its directory elsewhere.
    pub(crate) may_search_directories: bool,
    /// Variables that may be read-only, so that assignments may fail.
    fixed: Rc<BTreeSet<String>>,
}

/// Directories after a command that succeeded, and after one that failed.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) succeeded: Arc<ShellDirectories>,
    pub(crate) failed: Arc<ShellDirectories>,
}

impl Flow {
    pub(crate) fn same(directories: &Arc<ShellDirectories>) -> Self {
        Self { succeeded: Arc::clone(directories), failed: Arc::clone(directories) }
    }

    pub(crate) fn either(&self) -> Arc<ShellDirectories> {
        union(&self.succeeded, &self.failed)
    }
}

pub(crate) fn union(one: &Arc<ShellDirectories>, other: &Arc<ShellDirectories>) -> Arc<ShellDirectories> {
    if Arc::ptr_eq(one, other) || one == other || other.is_unreachable() {
        return Arc::clone(one);
    }
    if one.is_unreachable() {
        return Arc::clone(other);
    }
    if !one.is_bounded() || !other.is_bounded() {
        return Arc::new(ShellDirectories::unknown());
    }
    let is_unknown = one.is_unknown || other.is_unknown;
    let all = [&one.paths, &one.below, &other.paths, &other.below];
    let mut paths: Vec<String> = Vec::new();
    for path in all.into_iter().flatten() {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    if paths.len() > MAX_DIRECTORIES {
        return Arc::new(ShellDirectories::unknown());
    }
    Arc::new(if is_unknown {
        ShellDirectories::below(paths)
    } else {
        ShellDirectories { paths, ..ShellDirectories::default() }
    })
}

/// Returns `true` for a variable that a shell sets itself, so that an assignment may have no effect.
fn is_dynamic(name: &str) -> bool {
    matches!(
        name,
        "_" | "UID"
            | "EUID"
            | "PPID"
            | "GROUPS"
            | "RANDOM"
            | "SRANDOM"
            | "SECONDS"
            | "LINENO"
            | "EPOCHSECONDS"
            | "EPOCHREALTIME"
            | "HISTCMD"
            | "DIRSTACK"
            | "FUNCNAME"
            | "PIPESTATUS"
            | "SHELLOPTS"
            | "COMP_WORDBREAKS"
    ) || name.starts_with("BASH")
}

impl ShellState {
    pub(crate) fn new(directory: &str, variables: &[(&str, &str)]) -> Self {
        let given = variables.iter().chain(&[("IFS", DEFAULT_SEPARATORS)]);
        let mut values: BTreeMap<String, VariableValue> = given
            .map(|(name, value)| ((*name).to_owned(), VariableValue::Text((*value).to_owned())))
            .collect();
        values.remove("PWD");
        let may_search_directories = values.contains_key("CDPATH");
        Self {
            variables: Rc::new(values),
            directories: Arc::new(ShellDirectories::one(join_path("/", directory))),
            search_path: Arc::new(ShellSearchPath::Initial),
            functions: Rc::new(BTreeSet::new()),
            exits_on_error: false,
            has_directory_variable: true,
            may_search_directories,
            fixed: Rc::default(),
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<VariableValue> {
        if name == "PWD" && self.has_directory_variable {
            return self.directories.only().map(|path| VariableValue::Text(path.to_owned()));
        }
        self.variables.get(name).cloned()
    }

    /// Sets a variable; `None` if the value is not known.
    pub(crate) fn set(
        &mut self,
        name: &str,
        value: Option<VariableValue>,
        budget: &mut ShellBudget,
        span: ShellSpan,
    ) -> ReadResult<()> {
        let value = value.filter(|_| !is_dynamic(name) && !self.fixed.contains(name));
        if name == "PATH" {
            self.search_path = Arc::new(match &value {
                Some(VariableValue::Text(path)) => ShellSearchPath::Path(path.clone()),
                _ => ShellSearchPath::Unknown,
            });
        }
        self.has_directory_variable &= name != "PWD";
        self.may_search_directories |= name == "CDPATH";
        if value.is_none() && !self.variables.contains_key(name) {
            return Ok(());
        }
        self.charge(budget, span)?;
        let variables = Rc::make_mut(&mut self.variables);
        match value {
            Some(value) => {
                variables.insert(name.to_owned(), value);
            }
            None => {
                variables.remove(name);
            }
        }
        Ok(())
    }

    /// Counts the copy of the variables that a change makes.
    fn charge(&self, budget: &mut ShellBudget, span: ShellSpan) -> ReadResult<()> {
        let is_shared = Rc::strong_count(&self.variables) > 1;
        budget.steps(if is_shared { 1 + self.variables.len() } else { 1 }, span)
    }

    /// Forgets all variables and directories, because commands that are not known may have changed them.
    pub(crate) fn invalidate(&mut self) {
        self.variables = Rc::default();
        self.directories = Arc::new(ShellDirectories::unknown());
        self.functions = Rc::new(BTreeSet::new());
        self.exits_on_error = false;
        self.has_directory_variable = false;
        self.may_search_directories = true;
    }

    pub(crate) fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Takes over the variables of another state that are kept.
    pub(crate) fn take_variables(&mut self, from: &Self, is_kept: impl Fn(&str) -> bool) {
        let kept = from.variables.iter().filter(|(name, _)| is_kept(name));
        self.variables = Rc::new(kept.map(|(name, value)| (name.clone(), value.clone())).collect());
    }

    pub(crate) fn has_default_separators(&self) -> bool {
        matches!(self.variables.get("IFS"), Some(VariableValue::Text(text)) if text == DEFAULT_SEPARATORS)
    }

    /// Joins the variables and functions of two ways to one point of the text. Directories are those of `self`.
    pub(crate) fn join(&mut self, other: &Self, budget: &mut ShellBudget, span: ShellSpan) -> ReadResult<()> {
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            budget.steps(1 + self.variables.len(), span)?;
            let joined = self.variables.iter().filter_map(|(name, value)| {
                let others = other.variables.get(name)?;
                let value = match (value, others) {
                    (one, two) if one == two => one.clone(),
                    (one, two) if one.is_number() && two.is_number() => VariableValue::Number,
                    _ => return None,
                };
                Some((name.clone(), value))
            });
            self.variables = Rc::new(joined.collect());
        }
        if self.search_path != other.search_path {
            self.search_path = Arc::new(ShellSearchPath::Unknown);
        }
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            budget.steps(1 + self.functions.len(), span)?;
            self.functions = Rc::new(self.functions.intersection(&other.functions).cloned().collect());
        }
        self.exits_on_error &= other.exits_on_error;
        self.has_directory_variable &= other.has_directory_variable;
        self.may_search_directories |= other.may_search_directories;
        if !Rc::ptr_eq(&self.fixed, &other.fixed) {
            budget.steps(1 + self.fixed.len() + other.fixed.len(), span)?;
            self.fixed = Rc::new(self.fixed.union(&other.fixed).cloned().collect());
        }
        Ok(())
    }

    pub(crate) fn define(&mut self, name: &str, budget: &mut ShellBudget, span: ShellSpan) -> ReadResult<()> {
        budget.steps(1 + self.functions.len(), span)?;
        Rc::make_mut(&mut self.functions).insert(name.to_owned());
        Ok(())
    }

    /// Makes a variable read-only.
    pub(crate) fn fix(&mut self, name: &str, budget: &mut ShellBudget, span: ShellSpan) -> ReadResult<()> {
        budget.steps(1 + self.fixed.len(), span)?;
        Rc::make_mut(&mut self.fixed).insert(name.to_owned());
        Ok(())
    }

    pub(crate) fn undefine(&mut self, name: &str) {
        if self.functions.contains(name) {
            Rc::make_mut(&mut self.functions).remove(name);
        }
    }
}
