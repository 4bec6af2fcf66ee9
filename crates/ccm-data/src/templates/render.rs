//! Rendering within limits, on a thread of its own.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use ccm_expr::Value;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Enumerator, Object, Rest, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};

use super::checked_source::CheckedSource;
use super::error::{TemplateError, TemplateFault, TemplateLocation};
use super::error_conversion::{RaisedFault, convert_error};
use super::filters::add_filters;
use super::include_name::normalized;
use super::kinds::{check_kinds, require};
use super::loop_variables::lost_variable;
use super::meter::{self, count_text, measure};
use super::methods::call_method;
use super::operators::{OperatorError, RefusedTag, checks};
use super::output_limits::bound;
use super::render_thread::{ScopeClient, scope_channel};
use super::scan::{Scan, TagToken, TemplateTag, depth, scan};
use super::settings::{BlankSettings, settings};
use super::values::{from_engine, text_of, to_engine};
use super::{FUNCTIONS, MAX_OUTPUT, MAX_TEMPLATE, NAMES, TemplateScope};

/// Stack sizes to try for the rendering thread, in MiB. Only the used part takes memory, but a small machine
/// may refuse the first. minijinja recurses, so the stack limits the steps: every step may nest a value once
/// more, and dropping one level takes up to half a KiB.
const STACKS: [usize; 2] = [1 << 10, 1 << 6];

/// Number of minijinja steps per MiB of stack. Most expressions take two or three steps.
const STEPS_PER_MIB: usize = 1 << 10;

/// Maximum depth of minijinja's tree of an expression, or of a chain of `elif`.
const MAX_EXPRESSION_DEPTH: usize = 1000;

/// Maximum number of templates that render one another through `template(path)`.
const MAX_RENDERS: usize = 16;

/// Renders a template; `name` appears in errors.
pub fn render(name: &str, text: &str, scope: &dyn TemplateScope) -> Result<String, TemplateError> {
    if text.len() > MAX_TEMPLATE {
        return Err(TemplateError::new(TemplateFault::TooLarge));
    }
    let _nested = RenderGuard::enter(scope.renders())?;
    let (name, text) = (Arc::<str>::from(name), Arc::<str>::from(text));
    let start = |stack: usize| {
        let (client, server) = scope_channel();
        let (name, text) = (Arc::clone(&name), Arc::clone(&text));
        let thread = thread::Builder::new().name("template".to_owned()).stack_size(stack << 20);
        thread
            .spawn(move || render_here(&name, &text, client, (stack * STEPS_PER_MIB) as u64))
            .map(|thread| (thread, server))
    };
    let failure = |message: String| TemplateError::new(TemplateFault::Minijinja(message));
    let started = start(STACKS[0]).or_else(|_| start(STACKS[1]));
    let (thread, server) = started.map_err(|error| failure(error.to_string()))?;
    server.serve(scope);
    thread.join().unwrap_or_else(|_| Err(failure("minijinja failed".to_owned())))
}

/// Counts a render of a scope until dropped.
struct RenderGuard<'s>(&'s Cell<usize>);

impl<'s> RenderGuard<'s> {
    fn enter(depth: &'s Cell<usize>) -> Result<Self, TemplateError> {
        if depth.get() >= MAX_RENDERS {
            return Err(TemplateError::new(TemplateFault::TooManyRenders(MAX_RENDERS)));
        }
        depth.set(depth.get() + 1);
        Ok(Self(depth))
    }
}

impl Drop for RenderGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Adds checks to a template, and refuses one that is too large or too deep for minijinja to compile. `outer` are
/// the settings of the template that includes it.
fn prepare(
    name: &str,
    text: &Arc<str>,
    outer: Option<BlankSettings>,
) -> Result<(CheckedSource, BlankSettings), TemplateError> {
    if text.len() > MAX_TEMPLATE {
        return Err(TemplateError::new(TemplateFault::TooLarge));
    }
    let refused = |tag: RefusedTag| TemplateError {
        fault: tag.fault,
        locations: vec![TemplateLocation::new(name, text, tag.range)],
        hints: vec![tag.hint.into_owned()],
    };
    let header = settings(text).map_err(refused)?;
    let (blanks, start) = header.unwrap_or((outer.unwrap_or_default(), 0));
    if outer.is_some_and(|outer| outer != blanks) {
        return Err(refused(RefusedTag {
            range: 0..text[..start].trim_end().len(),
            fault: TemplateFault::Operation(
                "these settings are not those of the including template".to_owned(),
            ),
            hint: "write the same settings into the template that includes this one".into(),
        }));
    }
    let scan = scan(&text[start..]);
    if deepest(&scan) > MAX_EXPRESSION_DEPTH {
        return Err(TemplateError::new(TemplateFault::TooDeep));
    }
    let checked = checks(&scan, start).and_then(|edits| match lost_variable(&scan) {
        Some(tag) => Err(OperatorError::Refused(tag)),
        None => Ok(edits),
    });
    let edits = match checked {
        Ok(edits) => edits,
        Err(OperatorError::Refused(mut tag)) => {
            tag.range = tag.range.start + start..tag.range.end + start;
            return Err(refused(tag));
        }
        // minijinja reports what is wrong.
        Err(OperatorError::Unreadable) => {
            if compiles(name, &text[start..], blanks) {
                let message = "the template holds something that is no expression of Jinja".to_owned();
                return Err(TemplateError::new(TemplateFault::Syntax(message)));
            }
            Vec::new()
        }
    };
    Ok((CheckedSource::new(Arc::clone(text), start, edits), blanks))
}

fn compiles(name: &str, text: &str, blanks: BlankSettings) -> bool {
    empty_environment(blanks).template_from_named_str(name, text).is_ok()
}

/// Returns the depth of the deepest expression that may be too deep, or of the longest chain of `elif`.
fn deepest(scan: &Scan<'_>) -> usize {
    let mut branches = vec![0_usize];
    let mut deepest = 0;
    for tag in scan.tags() {
        let (TemplateTag::Expression(tokens) | TemplateTag::Statement(tokens)) = tag;
        // An expression is at most as deep as it has tokens.
        if tokens.len() > MAX_EXPRESSION_DEPTH {
            deepest = deepest.max(depth(&tokens));
        }
        match tokens.first() {
            Some(TagToken::Name("if")) => branches.push(0),
            Some(TagToken::Name("endif")) if branches.len() > 1 => drop(branches.pop()),
            Some(TagToken::Name("elif")) => *branches.last_mut().unwrap_or(&mut 0) += 1,
            _ => continue,
        }
        deepest = deepest.max(branches.iter().sum());
    }
    deepest
}

/// Value of a name at the root of a template.
struct RootValue {
    value: Value,
    /// The same value for minijinja.
    engine: minijinja::Value,
}

pub(super) struct RenderState {
    client: ScopeClient,
    names: [OnceLock<Option<RootValue>>; NAMES.len()],
    /// Settings of the outermost template.
    blanks: BlankSettings,
    /// Every template read so far, by name.
    sources: Mutex<HashMap<String, Arc<CheckedSource>>>,
}

impl RenderState {
    /// Returns the value of a name in either case.
    pub(super) fn name(&self, name: &str) -> Option<&Value> {
        self.root_value(name).map(|root| &root.value)
    }

    fn root_value(&self, name: &str) -> Option<&RootValue> {
        let (index, proper) = NAMES.iter().enumerate().find(|(_, proper)| {
            **proper == name
                || proper.eq_ignore_ascii_case(name) && name.bytes().all(|byte| byte.is_ascii_lowercase())
        })?;
        let read = || {
            let value = self.client.name(proper)?;
            Some(RootValue { engine: to_engine(&value), value })
        };
        self.names[index].get_or_init(read).as_ref()
    }

    pub(super) fn source(&self, template: &str) -> Option<Arc<CheckedSource>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).get(template).cloned()
    }

    fn keep_source(&self, template: &str, source: Arc<CheckedSource>) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).insert(template.to_owned(), source);
    }

    fn include(&self, name: &str) -> Result<Option<CheckedSource>, Error> {
        let path = normalized(name).ok_or_else(|| RaisedFault::new(TemplateFault::Outside))?;
        let Some(text) = self.client.include(path).map_err(RaisedFault::from)? else { return Ok(None) };
        let (source, _) = prepare(name, &Arc::from(text), Some(self.blanks)).map_err(RaisedFault::from)?;
        Ok(Some(source))
    }

    fn call(
        &self,
        function: &'static str,
        arguments: &[minijinja::Value],
    ) -> Result<minijinja::Value, Error> {
        let mut read_arguments = Vec::with_capacity(arguments.len());
        for argument in arguments {
            require(argument)?;
            measure(argument)?;
            let refused = || {
                let message = format!("`{function}` does not support this argument");
                RaisedFault::new(TemplateFault::Operation(message))
            };
            read_arguments.push(from_engine(argument).ok_or_else(refused)?);
        }
        let value = self.client.call(function, read_arguments).map_err(RaisedFault::from)?;
        let value = to_engine(&value);
        count_text(value.as_str().map_or(0, str::len) as u64)?;
        Ok(value)
    }
}

/// Names at the root of a template.
struct RootNames(Arc<RenderState>);

impl std::fmt::Debug for RootNames {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the names of a template")
    }
}

impl Object for RootNames {
    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<minijinja::Value> {
        self.0.root_value(key).map(|root| root.engine.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&NAMES)
    }
}

fn render_here(
    name: &str,
    text: &Arc<str>,
    client: ScopeClient,
    steps: u64,
) -> Result<String, TemplateError> {
    meter::begin();
    let (source, blanks) = prepare(name, text, None)?;
    let source = Arc::new(source);
    let state = RenderState { client, names: Default::default(), blanks, sources: Mutex::default() };
    let state = Arc::new(state);
    state.keep_source(name, Arc::clone(&source));
    let mut environment = environment(&state);
    environment.set_fuel(Some(steps));
    let mut output = LimitedOutput::default();
    let rendered = environment
        .template_from_named_str(name, &source.compiled)
        .map_err(|error| syntax_error(error, name, &state))
        .and_then(|template| {
            template
                .render_captured_to(minijinja::Value::from_object(RootNames(Arc::clone(&state))), &mut output)
        })
        .map(drop);
    match rendered {
        Ok(()) => String::from_utf8(output.bytes).map_err(|_| {
            TemplateError::new(TemplateFault::Minijinja("the output is not UTF-8 text".to_owned()))
        }),
        Err(error) => {
            let mut error = convert_error(&error, &state, steps);
            if output.full {
                error.fault = TemplateFault::TooMuchOutput;
            }
            Err(error)
        }
    }
}

/// Returns the syntax error of a template as it is written, in place of that of the text with checks.
fn syntax_error(error: Error, name: &str, state: &RenderState) -> Error {
    let Some(source) = state.source(name) else { return error };
    let plain = Arc::new(source.without_checks());
    state.keep_source(name, Arc::clone(&plain));
    match empty_environment(state.blanks).template_from_named_str(name, &plain.compiled) {
        // Checks add brackets.
        Ok(_) => RaisedFault::new(TemplateFault::TooDeep).into(),
        Err(error) => error,
    }
}

fn environment(state: &Arc<RenderState>) -> Environment<'static> {
    let mut environment = filled_environment(state.blanks);
    for function in FUNCTIONS {
        let state = Arc::clone(state);
        environment.add_function(function, move |arguments: Rest<minijinja::Value>| {
            state.call(function, &arguments)
        });
    }
    let state = Arc::clone(state);
    environment.set_loader(move |name| {
        let Some(source) = state.include(name)? else { return Ok(None::<String>) };
        let text = source.compiled.to_string();
        state.keep_source(name, Arc::new(source));
        // minijinja reports the including tag only for errors of the loader, not for one of the compiler.
        match empty_environment(state.blanks).template_from_named_str(name, &text) {
            Ok(_) => Ok(Some(text)),
            Err(error) => {
                let error = syntax_error(error, name, &state);
                Err(Error::new(ErrorKind::BadInclude, "").with_source(error))
            }
        }
    });
    environment
}

/// Builds an environment that compiles, without filters and tests.
fn empty_environment(blanks: BlankSettings) -> Environment<'static> {
    let mut environment = Environment::empty();
    configure(&mut environment, blanks);
    environment
}

fn configure(environment: &mut Environment<'static>, blanks: BlankSettings) {
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // Debug mode records which expression was undefined.
    environment.set_debug(true);
    let syntax = SyntaxConfig::builder()
        .keep_trailing_newline(true)
        .trim_blocks(blanks.trim_blocks)
        .lstrip_blocks(blanks.lstrip_blocks)
        .build();
    // The default delimiters are valid.
    environment.set_syntax(syntax.unwrap_or_default());
}

/// Returns an environment of minijinja with ccm's settings and filters, without functions and includes.
pub(super) fn filled_environment(blanks: BlankSettings) -> Environment<'static> {
    // A copy shares the filters, which are many.
    static FILLED: OnceLock<Environment<'static>> = OnceLock::new();
    let mut environment = FILLED.get_or_init(fill_environment).clone();
    configure(&mut environment, blanks);
    environment
}

fn fill_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // `debug` prints every value in reach.
    environment.remove_global("debug");
    bound(&mut environment);
    check_kinds(&mut environment);
    add_filters(&mut environment);
    environment.set_formatter(|out, _, value| {
        // What a block captures is no output yet.
        let mut write = |text: &str| {
            count_text(text.len() as u64)?;
            Ok(out.write_str(text)?)
        };
        match (value.kind(), value.as_str()) {
            // An `if` without `else` yields nothing.
            (ValueKind::Undefined, _) => Ok(()),
            (_, Some(text)) => write(text),
            (ValueKind::Number, _) if value.is_integer() => Ok(write!(out, "{value}")?),
            _ => write(&text_of(value)?),
        }
    });
    environment.add_function("__literal", |length: u64| count_text(length).map(|()| ""));
    environment
        .set_unknown_method_callback(|_, value, method, arguments| call_method(value, method, arguments));
    environment
}

/// Writer that refuses to exceed the maximum output.
#[derive(Default)]
struct LimitedOutput {
    bytes: Vec<u8>,
    full: bool,
}

impl io::Write for LimitedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MAX_OUTPUT {
            self.full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
