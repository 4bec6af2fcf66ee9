//! Conversion of the parser's events to those of the tree.

use std::borrow::Cow;
use std::ops::Range;

use ccm_model::{Diagnostic, DiagnosticKind, ScalarStyle, SourceId, Span};
use granit_parser::{Event, Marker, Options, Parser, ScanError, StructureStyle, Tag as ParsedTag};

use crate::syntax::{self, PrecedingScalar, SyntaxError};
use crate::tree::{Form, Opening, Tree, TreeBuilder, TreeEvent};
use crate::{Limits, excerpt, extent, tags};

/// Reads a text to its end, or to the first error that ends parsing.
pub(crate) fn read(source: SourceId, text: &str, limits: Limits) -> Result<Tree, Vec<Diagnostic>> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = limits.depth;
    options.block_nesting_limit = limits.depth;

    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut reader = EventReader {
        source,
        text,
        limits,
        tree: TreeBuilder::new(text, limits),
        documents: 0,
        cursor: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
        last_scalar: None,
        suspect: None,
    };
    while let Some(next) = parser.next_event() {
        let last = match next {
            Ok((event, at)) => reader.event(event, &at).err(),
            Err(error) => return reader.syntax_error(&error),
        };
        if last.is_some() || reader.tree.has_max_errors() {
            return Err(reader.tree.into_errors(last));
        }
    }
    reader.tree.finish()
}

struct EventReader<'t> {
    source: SourceId,
    text: &'t str,
    limits: Limits,
    tree: TreeBuilder<'t>,
    documents: usize,
    cursor: usize,
    /// Last scalar, for the message of an error right after it.
    last_scalar: Option<PrecedingScalar>,
    /// Start of the last refused alias or tag.
    suspect: Option<usize>,
}

impl<'t> EventReader<'t> {
    fn event(&mut self, event: Event<'t>, at: &granit_parser::Span) -> Result<(), Diagnostic> {
        let range = offset(&at.start)..offset(&at.end);
        match event {
            Event::DocumentStart(explicit, _) => self.document(explicit, range),
            Event::Scalar(text, style, anchor, tag) => {
                let properties = anchor != 0 || tag.is_some();
                let tag = self.tag(tag.as_deref(), at);
                self.scalar(text, style, anchor, tag.as_ref(), properties, &range)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let tag = self.tag(tag.as_deref(), at);
                self.collection(false, style, anchor, tag.as_ref(), &range)
            }
            Event::MappingStart(style, anchor, tag) => {
                let tag = self.tag(tag.as_deref(), at);
                self.collection(true, style, anchor, tag.as_ref(), &range)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let mut end = None;
                if self.tree.form() == Some(Form::Brackets) {
                    self.cursor = range.end;
                    end = Some(self.span(&range).end);
                }
                self.tree.take(TreeEvent::Close { end }, 0)
            }
            Event::Alias(anchor) => {
                self.cursor = range.end;
                let written = self.span(&range);
                self.tree.take(TreeEvent::Alias { anchor, written }, 0)
            }
            Event::UnresolvedAlias(_) => {
                self.cursor = range.end;
                let span = self.span(&range);
                self.suspect = Some(range.start);
                self.tree.report(syntax::unknown_alias(self.text, span, self.tree.open_bracket().is_some()));
                // Without a stand-in, keys and values would swap.
                self.tree
                    .take(TreeEvent::Scalar { text: Cow::Borrowed("*"), style: ScalarStyle::Quoted, span }, 0)
            }
            _ => Ok(()),
        }
    }

    fn document(&mut self, explicit: bool, range: Range<usize>) -> Result<(), Diagnostic> {
        self.documents += 1;
        if self.documents > 1 {
            let end = range.end.max(range.start + excerpt::word_length(self.text, range.start));
            let span = self.span(&(range.start..end));
            return Err(Diagnostic::error(
                DiagnosticKind::Unsupported,
                span,
                "a second document begins here",
            )
            .with_hint("remove the `---`, or split the file: only one document is allowed"));
        }
        if explicit {
            self.cursor = range.end;
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'t, str>,
        written: granit_parser::ScalarStyle,
        anchor: usize,
        tag: Option<&tags::YamlTag<'_>>,
        properties: bool,
        range: &Range<usize>,
    ) -> Result<(), Diagnostic> {
        use granit_parser::ScalarStyle as ParsedStyle;
        let is_missing = written == ParsedStyle::Plain && range.is_empty();
        // The parser reports a missing value as `~`.
        let text = if is_missing { Cow::Borrowed("") } else { text };
        let (mut style, range) = match written {
            ParsedStyle::Plain if is_missing && !properties => {
                (ScalarStyle::Plain, self.missing(range.start))
            }
            ParsedStyle::Plain => (ScalarStyle::Plain, range.clone()),
            ParsedStyle::SingleQuoted | ParsedStyle::DoubleQuoted => (ScalarStyle::Quoted, range.clone()),
            ParsedStyle::Literal | ParsedStyle::Folded => {
                (ScalarStyle::Block, extent::block_scalar(self.text, self.cursor, range))
            }
        };
        // The parser adds a line end to the last line of a block even if the text has none.
        let text = match style {
            ScalarStyle::Block if extent::ends_without_line_end(self.text, &range, &text) => {
                without_line_end(text)
            }
            _ => text,
        };
        if let Some(tag) = tag {
            match tag.style(&text, style) {
                Ok(tagged) => style = tagged,
                Err(error) => self.refuse_tag(tag, error),
            }
        }
        let span = self.span(&range);
        if self.tree.needs_key() && self.tree.form() == Some(Form::Block) {
            self.refuse_tab_before(range.start);
        }
        self.last_scalar = Some(PrecedingScalar { span, is_value: self.tree.needs_value() });
        self.cursor = range.end;
        self.tree.take(TreeEvent::Scalar { text, style, span }, anchor)
    }

    /// Span of a missing scalar.
    fn missing(&self, at: usize) -> Range<usize> {
        let place = if self.tree.needs_value() {
            extent::missing_value(self.text, self.cursor)
        } else if self.tree.needs_key() {
            at
        } else {
            extent::missing_element(self.text, self.cursor)
        };
        place..place
    }

    fn collection(
        &mut self,
        is_map: bool,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&tags::YamlTag<'_>>,
        range: &Range<usize>,
    ) -> Result<(), Diagnostic> {
        if let Some(tag) = tag
            && let Err(error) = tag.collection(if is_map { "a map" } else { "a list" })
        {
            self.refuse_tag(tag, error);
        }
        let form = match self.text.get(range.clone()) {
            Some("[" | "{") => Form::Brackets,
            _ if style == StructureStyle::Flow => Form::Bare,
            _ => Form::Block,
        };
        let mut range = range.clone();
        if form == Form::Block && !is_map {
            if self.tree.needs_value() && self.tree.form() == Some(Form::Block) {
                let start = extent::list_start(self.text, self.cursor, range.start);
                range = start..start;
            }
            self.refuse_tab_before(range.start);
        }
        self.cursor = range.end;
        self.tree.take(TreeEvent::Open(Opening { is_map, form, span: self.span(&range) }), anchor)
    }

    fn tag<'a>(&self, tag: Option<&'a ParsedTag>, at: &granit_parser::Span) -> Option<tags::YamlTag<'a>>
    where
        't: 'a,
    {
        let tag = tag?;
        let range = at.tag_span().map_or(0..0, |span| offset(&span.start)..offset(&span.end));
        Some(tags::YamlTag {
            parsed: tag,
            span: self.span(&range),
            text: self.text.get(range).unwrap_or_default(),
        })
    }

    fn refuse_tag(&mut self, tag: &tags::YamlTag<'_>, error: Diagnostic) {
        self.suspect = Some(tag.span.start as usize);
        self.tree.report(error);
    }

    /// Reports a tab in the indentation of a key or list. The parser counts a tab as a blank, other readers
    /// refuse tabs, and nobody sees them.
    fn refuse_tab_before(&mut self, at: usize) {
        if let Some(range) = extent::tab_before(self.text, at) {
            let span = self.span(&range);
            self.tree.report(syntax::tab(span));
        }
    }

    /// Converts an error of the parser and ends the tree.
    fn syntax_error(self, error: &ScanError) -> Result<Tree, Vec<Diagnostic>> {
        let mut at = offset(error.marker()).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let same_line = |start: usize| start <= at && !self.text[start..at].contains(['\n', '\r']);
        // A refused alias, tag or expression causes the errors after it on its line.
        if self.tree.reported_expression().into_iter().chain(self.suspect).any(same_line) {
            return Err(self.tree.into_errors(None));
        }
        let error = SyntaxError {
            source: self.source,
            text: self.text,
            limits: &self.limits,
            kind: error.kind(),
            at,
            read: self.cursor,
            bracket: self.tree.open_bracket(),
            last_scalar: self.last_scalar,
        };
        let explained = error.explain();
        Err(self.tree.into_errors(Some(explained)))
    }

    fn span(&self, range: &Range<usize>) -> Span {
        Span::new(self.source, range.start, range.end)
    }
}

fn without_line_end(text: Cow<'_, str>) -> Cow<'_, str> {
    match text.strip_suffix('\n') {
        Some(without) => Cow::Owned(without.to_owned()),
        None => text,
    }
}

fn offset(marker: &Marker) -> usize {
    // The parser knows all offsets of a text that it got in one piece.
    marker.byte_offset().unwrap_or_default()
}
