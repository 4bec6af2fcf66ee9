//! Construction of the tree: open lists and maps, expansion of aliases, limits on both.

use std::borrow::Cow;
use std::ops::Range;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Scalar, ScalarStyle, Span,
};

use crate::excerpt::shown;
use crate::{Limits, expression, keys};

/// Maximum number of errors: nobody reads more, and a hostile text could hold millions.
const MAX_ERRORS: usize = 1_000;

/// Root of a document, and the errors of its duplicate keys.
pub(crate) type Tree = (Option<Node>, Vec<Diagnostic>);

/// Event that builds the tree.
#[derive(Clone)]
pub(crate) enum TreeEvent<'t> {
    Scalar { text: Cow<'t, str>, style: ScalarStyle, span: Span },
    Open(Opening),
    Close { end: Option<u32> },
    Alias { anchor: usize, written: Span },
}

#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) is_map: bool,
    pub(crate) form: Form,
    /// Opening bracket, or an empty span at the first byte.
    pub(crate) span: Span,
}

/// Delimiters of a list or map.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// Indentation.
    Block,
    Brackets,
    /// None: the map in `[key: value]`.
    Bare,
}

struct Frame {
    opening: Opening,
    /// End of its content so far.
    end: u32,
    content: FrameContent,
    /// Number of its anchor, and index of its first recorded event.
    anchor: Option<(usize, usize)>,
}

enum FrameContent {
    List(Vec<Node>),
    Map { entries: Vec<NodeEntry>, next: MapState },
}

enum MapState {
    Key,
    Value(NodeKey),
    /// The value of a refused key, which is dropped.
    Dropped,
}

/// Tree under construction, with the errors so far.
pub(crate) struct TreeBuilder<'t> {
    text: &'t str,
    limits: Limits,
    root: Option<Node>,
    frames: Vec<Frame>,
    nodes: usize,
    /// Number of the nodes that aliases repeat.
    repeated: usize,
    /// Events of all anchored nodes, which aliases repeat.
    events: Vec<TreeEvent<'t>>,
    /// Number of open anchored lists and maps.
    recording: usize,
    /// Events of each closed anchor, by number.
    anchors: Vec<Option<Range<usize>>>,
    /// Outermost alias in expansion.
    expanding: Option<Span>,
    /// Start of the last expression without quotes.
    expression: Option<u32>,
    diagnostics: Vec<Diagnostic>,
    duplicates: Vec<Diagnostic>,
}

impl<'t> TreeBuilder<'t> {
    pub(crate) fn new(text: &'t str, limits: Limits) -> Self {
        Self {
            text,
            limits,
            root: None,
            frames: Vec::new(),
            nodes: 0,
            repeated: 0,
            events: Vec::new(),
            recording: 0,
            anchors: Vec::new(),
            expanding: None,
            expression: None,
            diagnostics: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    /// Applies the next event; `anchor` numbers its anchor, 0 for none. A returned error ends parsing.
    pub(crate) fn take(&mut self, event: TreeEvent<'t>, anchor: usize) -> Result<(), Diagnostic> {
        let first_event = self.events.len();
        let anchored = (anchor != 0).then_some((anchor, first_event));
        if anchored.is_some() || self.recording > 0 {
            self.events.push(event.clone());
        }
        match event {
            TreeEvent::Scalar { text, style, span } => {
                if let Some(anchored) = anchored {
                    self.end_anchor(anchored);
                }
                if !self.needs_key() {
                    self.count(1, span, None)?;
                }
                self.attach(scalar(text, style, span), span);
            }
            TreeEvent::Open(opening) => {
                self.recording += usize::from(anchored.is_some());
                self.open(opening, anchored)?;
            }
            TreeEvent::Close { end } => {
                if let Some(anchored) = self.close(end) {
                    self.recording -= 1;
                    self.end_anchor(anchored);
                }
            }
            TreeEvent::Alias { anchor, written } => {
                let events = std::mem::take(&mut self.events);
                self.expand(&events, anchor, written)?;
                self.events = events;
            }
        }
        Ok(())
    }

    fn end_anchor(&mut self, (anchor, first_event): (usize, usize)) {
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        self.anchors[anchor] = Some(first_event..self.events.len());
    }

    /// Repeats the events of an alias. The recursion is less deep than the tree, because an alias in an
    /// anchored node is in a list or map of that node.
    fn expand(&mut self, events: &[TreeEvent<'t>], anchor: usize, written: Span) -> Result<(), Diagnostic> {
        let Some(range) = self.anchors.get(anchor).cloned().flatten() else {
            let name = shown(self.text.get(written.range()).unwrap_or_default());
            return Err(Diagnostic::error(
                DiagnosticKind::Cycle,
                written,
                format!("the alias `{name}` is inside its own anchor"),
            ));
        };
        if let [TreeEvent::Scalar { text, style, span }] = &events[range.clone()] {
            self.count(copied(text), written, self.expanding.or(Some(written)))?;
            self.attach(scalar(text.clone(), *style, *span), written);
            return Ok(());
        }
        if self.needs_key() {
            let error = keys::not_a_key(written, "a list or map");
            self.refuse_key(Some(error));
            return Ok(());
        }
        let outermost = self.expanding.is_none();
        self.expanding.get_or_insert(written);
        for event in &events[range] {
            match event {
                TreeEvent::Scalar { text, style, span } => {
                    self.count(copied(text), *span, self.expanding)?;
                    self.attach(scalar(text.clone(), *style, *span), *span);
                }
                TreeEvent::Open(opening) => self.open(*opening, None)?,
                TreeEvent::Close { end } => {
                    self.close(*end);
                }
                TreeEvent::Alias { anchor, written } => self.expand(events, *anchor, *written)?,
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
            FrameContent::Map { entries: Vec::new(), next: MapState::Key }
        } else {
            FrameContent::List(Vec::new())
        };
        self.frames.push(Frame { opening, end: opening.span.end, content, anchor });
        Ok(())
    }

    /// Closes the innermost list or map, at `end` or after its content, and returns its anchor.
    fn close(&mut self, end: Option<u32>) -> Option<(usize, usize)> {
        let frame = self.frames.pop()?;
        let span = Span { end: end.unwrap_or(frame.end), ..frame.opening.span };
        let value = match frame.content {
            FrameContent::List(elements) => NodeValue::List(elements),
            FrameContent::Map { entries, .. } => {
                self.report_duplicates(&entries);
                let is_unique = self.duplicates.is_empty() || self.has_max_errors();
                NodeValue::Map(NodeMap::new(if is_unique { entries } else { keys::joined(entries) }))
            }
        };
        self.attach(Node { value, span }, span);
        frame.anchor
    }

    /// Adds a finished node, written at `written`, to the innermost list or map.
    fn attach(&mut self, node: Node, written: Span) {
        let needs_key = self.needs_key();
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return;
        };
        frame.end = frame.end.max(written.end);
        match &mut frame.content {
            FrameContent::List(elements) => elements.push(node),
            FrameContent::Map { .. } if needs_key => self.attach_key(node, written),
            FrameContent::Map { entries, next } => {
                if let MapState::Value(key) = std::mem::replace(next, MapState::Key) {
                    entries.push(NodeEntry { key, value: node });
                }
            }
        }
    }

    fn attach_key(&mut self, node: Node, written: Span) {
        if let Some(start) = self.expression_around(&node) {
            let is_new = self.expression.replace(start) != Some(start);
            let in_flow = self.frames.iter().rev().skip(1).any(|frame| frame.opening.form == Form::Brackets);
            let error = || expression::unquoted(written.source, self.text, start as usize, in_flow);
            let error = is_new.then(error);
            self.refuse_key(error);
            return;
        }
        match keys::key_of(node, written) {
            Err(error) => self.refuse_key(Some(error)),
            Ok(key) => {
                if let Some(Frame { content: FrameContent::Map { next, .. }, .. }) = self.frames.last_mut() {
                    *next = MapState::Value(key);
                }
            }
        }
    }

    fn refuse_key(&mut self, error: Option<Diagnostic>) {
        if let Some(error) = error {
            self.report(error);
        }
        if let Some(Frame { content: FrameContent::Map { next, .. }, .. }) = self.frames.last_mut() {
            *next = MapState::Dropped;
        }
    }

    /// Returns the start of a `{{ … }}`, if the key is its inner map or all of it.
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

    /// Counts nodes at `written`, or repeated by `alias`.
    fn count(&mut self, nodes: usize, written: Span, alias: Option<Span>) -> Result<(), Diagnostic> {
        let Limits { nodes: most, repeated: most_repeated, .. } = self.limits;
        self.nodes = self.nodes.saturating_add(nodes);
        if alias.is_some() {
            self.repeated = self.repeated.saturating_add(nodes);
        }
        if self.nodes <= most && self.repeated <= most_repeated {
            return Ok(());
        }
        let message = match alias {
            Some(_) if self.repeated > most_repeated => {
                format!("aliases repeat more than {most_repeated} values")
            }
            Some(_) => format!("aliases make this text larger than {most} values"),
            None => format!("more than {most} values in one text"),
        };
        Err(Diagnostic::error(DiagnosticKind::LimitExceeded, alias.unwrap_or(written), message))
    }

    fn report_duplicates(&mut self, entries: &[NodeEntry]) {
        if self.expanding.is_none() {
            let room = MAX_ERRORS.saturating_sub(self.diagnostics.len() + self.duplicates.len());
            self.duplicates.extend(keys::duplicates(entries, room));
        }
    }

    /// Records an error, unless an alias repeats it.
    pub(crate) fn report(&mut self, error: Diagnostic) {
        if self.expanding.is_none() && !self.has_max_errors() {
            self.diagnostics.push(error);
        }
    }

    pub(crate) fn has_max_errors(&self) -> bool {
        self.diagnostics.len() + self.duplicates.len() >= MAX_ERRORS
    }

    pub(crate) fn needs_key(&self) -> bool {
        matches!(
            self.frames.last(),
            Some(Frame { content: FrameContent::Map { next: MapState::Key, .. }, .. })
        )
    }

    pub(crate) fn needs_value(&self) -> bool {
        !self.needs_key()
            && matches!(self.frames.last(), Some(Frame { content: FrameContent::Map { .. }, .. }))
    }

    pub(crate) fn form(&self) -> Option<Form> {
        self.frames.last().map(|frame| frame.opening.form)
    }

    pub(crate) fn open_bracket(&self) -> Option<Span> {
        let brackets = |frame: &&Frame| frame.opening.form == Form::Brackets;
        self.frames.iter().rev().find(brackets).map(|frame| frame.opening.span)
    }

    pub(crate) fn reported_expression(&self) -> Option<usize> {
        self.expression.map(|start| start as usize)
    }

    /// Returns the tree after the last event, or all errors.
    pub(crate) fn finish(mut self) -> Result<Tree, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() {
            Ok((self.root.take(), sorted(self.duplicates)))
        } else {
            Err(self.into_errors(None))
        }
    }

    /// Returns all errors. `last` is the error that ended parsing.
    pub(crate) fn into_errors(mut self, last: Option<Diagnostic>) -> Vec<Diagnostic> {
        self.expanding = None;
        for frame in std::mem::take(&mut self.frames) {
            if let FrameContent::Map { entries, .. } = frame.content {
                self.report_duplicates(&entries);
            }
        }
        let mut errors = self.diagnostics;
        errors.append(&mut self.duplicates);
        errors.extend(last);
        sorted(errors)
    }
}

/// Sorts errors by position and removes duplicates.
fn sorted(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|error| error.span().map(|span| span.start));
    errors.dedup();
    errors
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, span: Span) -> Node {
    Node { value: NodeValue::Scalar(Scalar { text: text.into(), style }), span }
}

/// Weight of a repeated text: aliases in a small text must not fill the memory.
fn copied(text: &str) -> usize {
    1 + text.len() / 64
}

pub(crate) fn too_deep(span: Span, limits: &Limits) -> Diagnostic {
    Diagnostic::error(
        DiagnosticKind::LimitExceeded,
        span,
        format!("nested deeper than {} levels", limits.depth),
    )
}
