//! Tree of a text: lists of pipelines of commands, and words in parts.

use std::rc::Rc;

use crate::span::ShellSpan;

/// Commands, one after the other.
#[derive(Debug, Default)]
pub(crate) struct CommandList {
    pub(crate) items: Vec<ChainNode>,
}

/// Pipelines with `&&` and `||` between.
#[derive(Debug)]
pub(crate) struct ChainNode {
    pub(crate) first: PipelineNode,
    pub(crate) rest: Vec<(ChainOperator, PipelineNode)>,
    pub(crate) in_background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainOperator {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct PipelineNode {
    pub(crate) is_negated: bool,
    pub(crate) commands: Vec<CommandNode>,
}

#[derive(Debug)]
pub(crate) enum CommandNode {
    Simple(SimpleNode),
    Compound(CompoundNode),
    Function(FunctionNode),
}

#[derive(Debug)]
pub(crate) struct SimpleNode {
    pub(crate) assignments: Vec<AssignmentNode>,
    pub(crate) words: Vec<WordNode>,
    pub(crate) redirections: Vec<RedirectionNode>,
    pub(crate) span: ShellSpan,
}

#[derive(Debug)]
pub(crate) struct AssignmentNode {
    pub(crate) name: String,
    pub(crate) appends: bool,
    pub(crate) value: AssignedValue,
    pub(crate) span: ShellSpan,
}

#[derive(Debug)]
pub(crate) enum AssignedValue {
    Word(WordNode),
    /// `name=(…)` of bash.
    Array(Vec<WordNode>),
    /// `name[subscript]=value` of bash.
    Element {
        subscript: ArithmeticNode,
        value: WordNode,
    },
}

#[derive(Debug)]
pub(crate) struct CompoundNode {
    pub(crate) kind: CompoundKind,
    pub(crate) redirections: Vec<RedirectionNode>,
    pub(crate) span: ShellSpan,
}

#[derive(Debug)]
pub(crate) enum CompoundKind {
    Group(CommandList),
    Subshell(CommandList),
    If {
        arms: Vec<(CommandList, CommandList)>,
        otherwise: Option<CommandList>,
    },
    Loop {
        condition: CommandList,
        body: CommandList,
    },
    For {
        name: String,
        /// `None` for the positional parameters.
        words: Option<Vec<WordNode>>,
        body: CommandList,
    },
    Case {
        subject: WordNode,
        arms: Vec<CaseArm>,
    },
    Arithmetic(ArithmeticNode),
    ArithmeticFor {
        header: ArithmeticNode,
        body: CommandList,
    },
    Conditional(ConditionalNode),
}

#[derive(Debug)]
pub(crate) struct CaseArm {
    pub(crate) patterns: Vec<WordNode>,
    pub(crate) body: CommandList,
}

/// `[[ … ]]` of bash.
#[derive(Debug, Default)]
pub(crate) struct ConditionalNode {
    pub(crate) operands: Vec<WordNode>,
    /// Operands that bash evaluates as arithmetic expressions.
    pub(crate) numbers: Vec<WordNode>,
    /// Operands that bash reads as names of variables.
    pub(crate) names: Vec<WordNode>,
}

#[derive(Debug)]
pub(crate) struct FunctionNode {
    pub(crate) name: String,
    pub(crate) body: Box<CommandNode>,
    pub(crate) span: ShellSpan,
}

#[derive(Debug)]
pub(crate) struct RedirectionNode {
    pub(crate) operator: RedirectionOperator,
    pub(crate) descriptor: Option<u32>,
    pub(crate) target: RedirectionTarget,
    pub(crate) span: ShellSpan,
}

/// Operator of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RedirectionOperator {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&` and `>&` with the number of a descriptor, or `-`.
    Duplicate,
    /// `&>` and `>&` with a file, for both output streams.
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<` and `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

#[derive(Debug)]
pub(crate) enum RedirectionTarget {
    Word(WordNode),
    /// Number of a heredoc of the text.
    HereDocument(usize),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct WordNode {
    pub(crate) parts: Vec<WordPart>,
    pub(crate) span: ShellSpan,
    /// A continued line is within the word.
    pub(crate) is_continued: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum WordPart {
    /// Text without quotes. `*`, `?` and `[` in it are patterns.
    Literal(String),
    /// Text in quotes or after a backslash. May be empty.
    Quoted(String),
    Parameter(Box<ParameterNode>),
    Substitution {
        list: Rc<CommandList>,
        is_quoted: bool,
    },
    /// `<(…)` and `>(…)` of bash.
    Process {
        list: Rc<CommandList>,
        is_input: bool,
    },
    Arithmetic(Rc<ArithmeticNode>),
    /// `~` with the name of a user, or none.
    Home(String),
}

/// `$name` or `${…}`.
#[derive(Clone, Debug)]
pub(crate) struct ParameterNode {
    pub(crate) name: String,
    pub(crate) operation: ParameterOperation,
    pub(crate) is_quoted: bool,
    pub(crate) span: ShellSpan,
}

impl ParameterNode {
    /// Returns `true` for a name without braces, which ends where no character of a name follows.
    pub(crate) fn is_open_name(&self) -> bool {
        let begins_name = self.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        begins_name && !self.is_quoted && self.span.range().len() == self.name.len() + 1
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ParameterOperation {
    /// The value.
    Value,
    /// `${#name}`
    Length,
    /// `${name:-word}`, `${name-word}`
    Default(WordNode),
    /// `${name:=word}`, `${name=word}`
    Assign(WordNode),
    /// `${name:?word}`, `${name?word}`
    Require(WordNode),
    /// `${name:+word}`, `${name+word}`
    Alternative(WordNode),
    /// `${name#word}` and its like, and `${name/a/b}` of bash. The words are patterns and texts.
    Edit(ValueEdit, Vec<WordNode>),
    /// `${name:1:2}` of bash.
    Slice(Rc<ArithmeticNode>),
    /// `${name[subscript]}` of bash.
    Element(Rc<ArithmeticNode>),
    /// `${name[@]}`, `${#name[@]}`, `${!name[@]}` and `${!prefix*}` of bash.
    Elements,
    /// `${!name}` of bash, which reads the variable that the value names.
    Indirect,
    /// `${name@P}` of bash, which expands the value once more.
    Expanded,
}

/// Edit of the value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueEdit {
    /// `${name#word}`, and `${name##word}` with the longest match.
    WithoutBeginning { longest: bool },
    /// `${name%word}`, and `${name%%word}` with the longest match.
    WithoutEnd { longest: bool },
    /// `${name/a/b}`, and `${name//a/b}` with all matches.
    Replaced { all: bool },
    /// `${name,,}`
    LowerCase,
    /// `${name^^}`
    UpperCase,
    /// An edit that is not followed.
    Other,
}

/// Arithmetic expression.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArithmeticNode {
    pub(crate) tokens: Vec<ArithmeticToken>,
    /// A part may be left out, because of `&&`, `||` or `?`.
    pub(crate) is_conditional: bool,
    pub(crate) span: ShellSpan,
}

#[derive(Clone, Debug)]
pub(crate) enum ArithmeticToken {
    /// Name of a variable, whose value is evaluated as well if it is read.
    Name { name: String, is_read: bool, is_assigned: bool },
    /// An expansion, whose value is evaluated as well.
    Expansion(WordPart),
}

impl WordNode {
    /// Returns the text of a word of one part that is not in quotes, such as a reserved word.
    pub(crate) fn bare(&self) -> Option<&str> {
        match &*self.parts {
            [WordPart::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a word without expansions and patterns.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut text = String::new();
        let mut opens_pattern = false;
        for part in &self.parts {
            match part {
                WordPart::Quoted(part) => text += part,
                WordPart::Literal(part) if !part.contains(['*', '?']) => {
                    opens_pattern |= part.contains('[');
                    text += part;
                }
                _ => return None,
            }
        }
        (!opens_pattern || !text.contains(']')).then_some(text)
    }
}
