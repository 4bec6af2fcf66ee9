//! The tree while it grows: open lists and maps, the expansion of aliases, and the bounds on both.

use std::borrow::Cow;
use std::ops::Range;

use ccm_model::{Diagnostic, Entry, Key, Map, Node, Scalar, ScalarStyle, Span, Value};

use crate::excerpt::shown;
use crate::{Limits, expression, keys};

/// How many mistakes are collected: nobody reads more, and a hostile text could hold millions.
const MOST_MISTAKES: usize = 1_000;

/// One step in writing a tree down.
#[derive(Clone)]
pub(crate) enum Step<'t> {
    Scalar { text: Cow<'t, str>, style: ScalarStyle, span: Span },
    Open(Opening),
    Close { end: Option<u32> },
    Alias { anchor: usize, written: Span },
}

/// The begin of a list or map.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) is_map: bool,
    pub(crate) form: Form,
    /// Its bracket, or an empty span at its first byte.
    pub(crate) span: Span,
}

/// How a list or map is delimited.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// By indentation.
    Block,
    /// By brackets.
    Brackets,
    /// Not at all: the map of `[key: value]`.
    Bare,
}

/// A list or map that is still open.
struct Frame {
    opening: Opening,
    /// Behind the last byte that belongs to it so far.
    end: u32,
    content: Content,
    /// Its anchor, and where its steps begin.
    anchor: Option<(usize, usize)>,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, next: Next },
}

/// What a map needs next.
enum Next {
    Key,
    Value(Key),
    /// The value of a key that was refused: it is read and dropped.
    Dropped,
}

/// The tree while it grows, and the mistakes found so far.
pub(crate) struct Tree<'t> {
    text: &'t str,
    limits: Limits,
    root: Option<Node>,
    frames: Vec<Frame>,
    nodes: usize,
    /// The steps of everything that is anchored, so that an alias can repeat them.
    steps: Vec<Step<'t>>,
    /// How many of the open lists and maps are anchored.
    recording: usize,
    /// The steps of each anchor whose node has ended, by number.
    anchors: Vec<Option<Range<usize>>>,
    /// The outermost alias that is being expanded.
    expanding: Option<Span>,
    /// Where an expression without quotes was found last.
    expression: Option<u32>,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Tree<'t> {
    pub(crate) fn new(text: &'t str, limits: Limits) -> Self {
        Self {
            text,
            limits,
            root: None,
            frames: Vec::new(),
            nodes: 0,
            steps: Vec::new(),
            recording: 0,
            anchors: Vec::new(),
            expanding: None,
            expression: None,
            diagnostics: Vec::new(),
        }
    }

    /// Takes the next step of the text; `anchor` numbers the anchor of its node, 0 is none. A mistake that is
    /// returned ends the reading.
    pub(crate) fn take(&mut self, step: Step<'t>, anchor: usize) -> Result<(), Diagnostic> {
        let first_step = self.steps.len();
        let anchored = (anchor != 0).then_some((anchor, first_step));
        if anchored.is_some() || self.recording > 0 {
            self.steps.push(step.clone());
        }
        match step {
            Step::Scalar { text, style, span } => {
                if let Some(anchored) = anchored {
                    self.end_anchor(anchored);
                }
                if !self.needs_key() {
                    self.count(1, span, None)?;
                }
                self.place(scalar(text, style, span), span);
            }
            Step::Open(opening) => {
                self.recording += usize::from(anchored.is_some());
                self.open(opening, anchored)?;
            }
            Step::Close { end } => {
                if let Some(anchored) = self.close(end) {
                    self.recording -= 1;
                    self.end_anchor(anchored);
                }
            }
            Step::Alias { anchor, written } => {
                let steps = std::mem::take(&mut self.steps);
                self.expand(&steps, anchor, written)?;
                self.steps = steps;
            }
        }
        Ok(())
    }

    fn end_anchor(&mut self, (anchor, first_step): (usize, usize)) {
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        self.anchors[anchor] = Some(first_step..self.steps.len());
    }

    /// Repeats what an alias stands for. This recurses less deep than the tree it builds, because an alias
    /// within an anchored node stands within a list or map of it.
    fn expand(&mut self, steps: &[Step<'t>], anchor: usize, written: Span) -> Result<(), Diagnostic> {
        let Some(range) = self.anchors.get(anchor).cloned().flatten() else {
            let name = shown(self.text.get(written.range()).unwrap_or_default());
            return Err(Diagnostic::error(
                written,
                format!("the alias `{name}` stands inside its own anchor"),
            ));
        };
        if let [Step::Scalar { text, style, span }] = &steps[range.clone()] {
            self.count(copied(text), written, self.expanding.or(Some(written)))?;
            self.place(scalar(text.clone(), *style, *span), written);
            return Ok(());
        }
        if self.needs_key() {
            let mistake = keys::not_a_key(written, "a list or map");
            self.refuse_key(Some(mistake));
            return Ok(());
        }
        let outermost = self.expanding.is_none();
        self.expanding.get_or_insert(written);
        for step in &steps[range] {
            match step {
                Step::Scalar { text, style, span } => {
                    self.count(copied(text), *span, self.expanding)?;
                    self.place(scalar(text.clone(), *style, *span), *span);
                }
                Step::Open(opening) => self.open(*opening, None)?,
                Step::Close { end } => {
                    self.close(*end);
                }
                Step::Alias { anchor, written } => self.expand(steps, *anchor, *written)?,
            }
        }
        if outermost {
            self.expanding = None;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.end = frame.end.max(written.end);
        }
        Ok(())
    }

    fn open(&mut self, opening: Opening, anchor: Option<(usize, usize)>) -> Result<(), Diagnostic> {
        if self.frames.len() >= self.limits.depth {
            return Err(too_deep(self.expanding.unwrap_or(opening.span), &self.limits));
        }
        self.count(1, opening.span, self.expanding)?;
        let content = if opening.is_map {
            Content::Map { entries: Vec::new(), next: Next::Key }
        } else {
            Content::List(Vec::new())
        };
        self.frames.push(Frame { opening, end: opening.span.end, content, anchor });
        Ok(())
    }

    /// Ends the innermost list or map, at `end` or behind what it holds, and returns its anchor.
    fn close(&mut self, end: Option<u32>) -> Option<(usize, usize)> {
        let frame = self.frames.pop()?;
        let span = Span { end: end.unwrap_or(frame.end), ..frame.opening.span };
        let value = match frame.content {
            Content::List(elements) => Value::List(elements),
            Content::Map { entries, .. } => {
                self.report_duplicates(&entries);
                Value::Map(Map::new(entries))
            }
        };
        self.place(Node { value, span }, span);
        frame.anchor
    }

    /// Puts a finished node where it belongs. `written` is where it stands, which for an alias is not where
    /// its text does.
    fn place(&mut self, node: Node, written: Span) {
        let needs_key = self.needs_key();
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        frame.end = frame.end.max(written.end);
        match &mut frame.content {
            Content::List(elements) => elements.push(node),
            Content::Map { .. } if needs_key => self.place_key(node, written),
            Content::Map { entries, next } => {
                if let Next::Value(key) = std::mem::replace(next, Next::Key) {
                    entries.push(Entry { key, value: node });
                }
            }
        }
    }

    fn place_key(&mut self, node: Node, written: Span) {
        if let Some(start) = self.expression_around(&node) {
            let is_new = self.expression.replace(start) != Some(start);
            let in_flow = self.frames.iter().rev().skip(1).any(|frame| frame.opening.form == Form::Brackets);
            let mistake = || expression::unquoted(written.source, self.text, start as usize, in_flow);
            let mistake = is_new.then(mistake);
            self.refuse_key(mistake);
            return;
        }
        match keys::key_of(node, written) {
            Err(mistake) => self.refuse_key(Some(mistake)),
            Ok(key) => {
                if let Some(Frame { content: Content::Map { next, .. }, .. }) = self.frames.last_mut() {
                    *next = Next::Value(key);
                }
            }
        }
    }

    fn refuse_key(&mut self, mistake: Option<Diagnostic>) {
        if let Some(mistake) = mistake {
            self.report(mistake);
        }
        if let Some(Frame { content: Content::Map { next, .. }, .. }) = self.frames.last_mut() {
            *next = Next::Dropped;
        }
    }

    /// Tells whether a key is the inner map of `{{ … }}`, or all of it, and where that begins.
    fn expression_around(&self, key: &Node) -> Option<u32> {
        key.as_map()?;
        if self.expression == Some(key.span.start) {
            return self.expression;
        }
        let outer = self.frames.last()?.opening;
        let adjacent = outer.span.end == key.span.start;
        let inner_is_flow = self.text.as_bytes().get(key.span.start as usize) == Some(&b'{');
        (outer.form == Form::Brackets && adjacent && inner_is_flow).then_some(outer.span.start)
    }

    /// Counts nodes that come from the text at `written` or that `alias` repeats.
    fn count(&mut self, nodes: usize, written: Span, alias: Option<Span>) -> Result<(), Diagnostic> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= self.limits.nodes {
            return Ok(());
        }
        let limit = self.limits.nodes;
        Err(match alias {
            Some(alias) => {
                Diagnostic::error(alias, format!("aliases make this text larger than {limit} values"))
            }
            None => Diagnostic::error(written, format!("more than {limit} values in one text")),
        })
    }

    fn report_duplicates(&mut self, entries: &[Entry]) {
        if self.expanding.is_none() {
            let room = MOST_MISTAKES.saturating_sub(self.diagnostics.len());
            self.diagnostics.extend(keys::duplicates(entries, room));
        }
    }

    /// Keeps a mistake, unless it was found when the anchored text itself was read.
    pub(crate) fn report(&mut self, mistake: Diagnostic) {
        if self.expanding.is_none() && !self.has_most_mistakes() {
            self.diagnostics.push(mistake);
        }
    }

    /// Tells whether so many mistakes were found that it is no use to read on.
    pub(crate) fn has_most_mistakes(&self) -> bool {
        self.diagnostics.len() >= MOST_MISTAKES
    }

    /// Tells whether a key comes next.
    pub(crate) fn needs_key(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { content: Content::Map { next: Next::Key, .. }, .. }))
    }

    /// Tells whether the value of a key comes next.
    pub(crate) fn needs_value(&self) -> bool {
        !self.needs_key() && matches!(self.frames.last(), Some(Frame { content: Content::Map { .. }, .. }))
    }

    /// How the innermost open list or map is delimited.
    pub(crate) fn form(&self) -> Option<Form> {
        self.frames.last().map(|frame| frame.opening.form)
    }

    /// The innermost bracket that is still open.
    pub(crate) fn open_bracket(&self) -> Option<Span> {
        let brackets = |frame: &&Frame| frame.opening.form == Form::Brackets;
        self.frames.iter().rev().find(brackets).map(|frame| frame.opening.span)
    }

    /// Where an expression without quotes was reported last.
    pub(crate) fn reported_expression(&self) -> Option<usize> {
        self.expression.map(|start| start as usize)
    }

    /// The tree, or every mistake in the order of the text. `last` ended the reading early.
    pub(crate) fn finish(mut self, last: Option<Diagnostic>) -> Result<Option<Node>, Vec<Diagnostic>> {
        self.expanding = None;
        for frame in std::mem::take(&mut self.frames) {
            if let Content::Map { entries, .. } = frame.content {
                self.report_duplicates(&entries);
            }
        }
        let mut mistakes = self.diagnostics;
        mistakes.extend(last);
        if mistakes.is_empty() {
            return Ok(self.root);
        }
        mistakes.sort_by_key(|mistake| mistake.span().map(|span| span.start));
        mistakes.dedup();
        Err(mistakes)
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, span: Span) -> Node {
    Node { value: Value::Scalar(Scalar { text: text.into(), style }), span }
}

/// What a repeated text counts for: a small text that holds a big anchor's aliases must not fill the memory.
fn copied(text: &str) -> usize {
    1 + text.len() / 64
}

/// Says that lists and maps are nested too deep.
pub(crate) fn too_deep(span: Span, limits: &Limits) -> Diagnostic {
    Diagnostic::error(span, format!("nested deeper than {} levels", limits.depth))
}
