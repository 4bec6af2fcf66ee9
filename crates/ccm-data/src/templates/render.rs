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

use super::error::{TemplateError, TemplateFault};
use super::explain::{Raised, explain};
use super::growth::bound;
use super::include_name::normalized;
use super::link::{Asking, link};
use super::scan::{Tag, Token, depth, scan};
use super::values::{map_method, read, shown, text_of};
use super::{FUNCTIONS, LARGEST_OUTPUT, LARGEST_TEMPLATE, NAMES, TemplateScope};

/// The stacks to try for the thread that renders, in MiB. Only what is used of one costs memory, but a small
/// machine may not grant the first.
///
/// The engine walks expressions and values by recursion, so a stack bounds the steps: every step may nest a
/// value once more, and dropping one level of it takes up to half a KiB.
const STACKS: [usize; 2] = [1 << 10, 1 << 6];

/// How many steps of the engine a MiB of stack allows. Most expressions are two or three.
const STEPS_PER_MIB: usize = 1 << 10;

/// How deep the engine's tree of an expression, or of one `elif` after another, may get.
const DEEPEST_EXPRESSION: usize = 1000;

/// How many templates may render one another through `template(path)`.
const MOST_RENDERS: usize = 16;

/// Renders a template. The name is what errors call it.
pub fn render(name: &str, text: &str, scope: &dyn TemplateScope) -> Result<String, TemplateError> {
    check(text)?;
    let _nested = Nested::enter(scope.renders())?;
    let (name, text) = (Arc::<str>::from(name), Arc::<str>::from(text));
    let start = |stack: usize| {
        let (asking, answering) = link();
        let (name, text) = (Arc::clone(&name), Arc::clone(&text));
        let thread = thread::Builder::new().name("template".to_owned()).stack_size(stack << 20);
        thread
            .spawn(move || render_here(&name, &text, asking, (stack * STEPS_PER_MIB) as u64))
            .map(|thread| (thread, answering))
    };
    let engine = |message: String| TemplateError::new(TemplateFault::Engine(message));
    let started = start(STACKS[0]).or_else(|_| start(STACKS[1]));
    let (thread, answering) = started.map_err(|error| engine(error.to_string()))?;
    answering.serve(scope);
    thread.join().unwrap_or_else(|_| Err(engine("the engine failed".to_owned())))
}

/// One more render of a scope, for as long as this lives.
struct Nested<'s>(&'s Cell<usize>);

impl<'s> Nested<'s> {
    fn enter(renders: &'s Cell<usize>) -> Result<Self, TemplateError> {
        if renders.get() >= MOST_RENDERS {
            return Err(TemplateError::new(TemplateFault::TooManyRenders(MOST_RENDERS)));
        }
        renders.set(renders.get() + 1);
        Ok(Self(renders))
    }
}

impl Drop for Nested<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Refuses what is too large or too deep for the engine to compile.
fn check(text: &str) -> Result<(), TemplateError> {
    if text.len() > LARGEST_TEMPLATE {
        return Err(TemplateError::new(TemplateFault::TooLarge));
    }
    let mut branches = vec![0_usize];
    let mut deepest = 0;
    for tag in scan(text).tags {
        let (Tag::Expression(tokens) | Tag::Statement(tokens)) = tag;
        deepest = deepest.max(depth(&tokens));
        match tokens.first() {
            Some(Token::Name("if")) => branches.push(0),
            Some(Token::Name("endif")) if branches.len() > 1 => drop(branches.pop()),
            Some(Token::Name("elif")) => *branches.last_mut().unwrap_or(&mut 0) += 1,
            _ => continue,
        }
        deepest = deepest.max(branches.iter().sum());
    }
    if deepest > DEEPEST_EXPRESSION {
        return Err(TemplateError::new(TemplateFault::TooDeep));
    }
    Ok(())
}

/// Everything a running template needs.
pub(super) struct Running {
    asking: Asking,
    names: [OnceLock<Option<Value>>; NAMES.len()],
    /// The text of every template that was read, by name.
    texts: Mutex<HashMap<String, Arc<str>>>,
}

impl Running {
    /// The value of a name in either case.
    pub(super) fn name(&self, name: &str) -> Option<&Value> {
        let (index, proper) = NAMES.iter().enumerate().find(|(_, proper)| {
            **proper == name
                || proper.eq_ignore_ascii_case(name) && name.bytes().all(|byte| byte.is_ascii_lowercase())
        })?;
        self.names[index].get_or_init(|| self.asking.name(proper)).as_ref()
    }

    pub(super) fn text(&self, template: &str) -> Option<Arc<str>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).get(template).cloned()
    }

    fn keep_text(&self, template: &str, text: Arc<str>) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(template.to_owned(), text);
    }

    fn include(&self, name: &str) -> Result<Option<String>, Error> {
        let name = normalized(name).ok_or_else(|| Raised::new(TemplateFault::Outside))?;
        let Some(text) = self.asking.include(name).map_err(Raised::from)? else { return Ok(None) };
        check(&text).map_err(|error| Raised::new(error.fault))?;
        Ok(Some(text))
    }

    fn call(
        &self,
        function: &'static str,
        arguments: &[minijinja::Value],
    ) -> Result<minijinja::Value, Error> {
        let mut read_arguments = Vec::with_capacity(arguments.len());
        for argument in arguments {
            // Asking an undefined value for anything is the one way to an error that remembers its expression.
            if argument.is_undefined() {
                argument.get_attr(function)?;
            }
            let refused = || {
                let message = format!("`{function}` can't take this argument");
                Raised::new(TemplateFault::Operation(message))
            };
            read_arguments.push(read(argument).ok_or_else(refused)?);
        }
        let value = self.asking.call(function, read_arguments).map_err(Raised::from)?;
        Ok(shown(&value))
    }
}

/// What a template finds its names in.
struct Root(Arc<Running>);

impl std::fmt::Debug for Root {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the names of a template")
    }
}

impl Object for Root {
    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        self.0.name(key.as_str()?).map(shown)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&NAMES)
    }
}

fn render_here(name: &str, text: &Arc<str>, asking: Asking, steps: u64) -> Result<String, TemplateError> {
    let running = Arc::new(Running { asking, names: Default::default(), texts: Mutex::default() });
    running.keep_text(name, Arc::clone(text));
    let mut environment = environment(&running);
    environment.set_fuel(Some(steps));
    let mut output = Limited::default();
    let rendered = environment
        .template_from_named_str(name, text)
        .and_then(|template| {
            template
                .render_captured_to(minijinja::Value::from_object(Root(Arc::clone(&running))), &mut output)
        })
        .map(drop);
    match rendered {
        Ok(()) => String::from_utf8(output.bytes)
            .map_err(|_| TemplateError::new(TemplateFault::Engine("its output is no text".to_owned()))),
        Err(error) => {
            let mut error = explain(&error, &running);
            if output.full {
                error.fault = TemplateFault::TooMuchOutput;
            }
            if error.fault == TemplateFault::TooManySteps(0) {
                error.fault = TemplateFault::TooManySteps(steps);
            }
            Err(error)
        }
    }
}

fn environment(running: &Arc<Running>) -> Environment<'static> {
    let mut environment = bare_environment();
    for function in FUNCTIONS {
        let running = Arc::clone(running);
        environment.add_function(function, move |arguments: Rest<minijinja::Value>| {
            running.call(function, &arguments)
        });
    }
    let running = Arc::clone(running);
    environment.set_loader(move |name| {
        let Some(text) = running.include(name)? else { return Ok(None) };
        running.keep_text(name, Arc::from(&*text));
        // The engine forgets which tag asked for a template that does not compile; it remembers it for an
        // error of the loader.
        match bare_environment().template_from_named_str(name, &text) {
            Ok(_) => Ok(Some(text)),
            Err(error) => Err(Error::new(ErrorKind::BadInclude, "").with_source(error)),
        }
    });
    environment
}

/// The engine with our settings, and without anything to ask.
fn bare_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // It writes down every value in reach.
    environment.remove_global("debug");
    bound(&mut environment);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // With it the engine remembers which expression it was that had no value.
    environment.set_debug(true);
    let syntax = SyntaxConfig::builder().keep_trailing_newline(true).build();
    // The delimiters are the usual ones, which always build.
    environment.set_syntax(syntax.unwrap_or_default());
    environment.set_formatter(|out, _, value| match value.kind() {
        // What `if` without `else` gives is nothing.
        ValueKind::Undefined => Ok(()),
        _ => Ok(out.write_str(&text_of(value)?)?),
    });
    environment
        .set_unknown_method_callback(|_, value, method, arguments| map_method(value, method, arguments));
    environment
}

/// Takes no more than the output may have.
#[derive(Default)]
struct Limited {
    bytes: Vec<u8>,
    full: bool,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > LARGEST_OUTPUT {
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
