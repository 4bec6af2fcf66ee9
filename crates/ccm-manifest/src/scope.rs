//! Evaluating an expression of a manifest.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::templates::{self, ScopeError, TemplateError, TemplateScope};
use ccm_expr::{FunctionError, Scope, Timestamp, Value};
use ccm_model::{Map, ResourceIndex, SourceId, Span, closest};

use crate::world::{NAMES, Read, World, captured_path};

/// A manifest as its expressions see it.
#[derive(Clone, Debug)]
pub(crate) struct ManifestScope {
    /// Its text.
    pub(crate) text: Arc<str>,
    /// The directory it is in.
    pub(crate) directory: PathBuf,
    /// Its resolved values.
    pub(crate) data: Value,
    /// What it says below `ccm` for all resources of a type, by the position of the type.
    pub(crate) settings: HashMap<usize, Arc<Map>>,
}

/// What is known when an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) enum Moment<'a> {
    /// While the values of the manifest are put together: facts and environment.
    Data,
    /// Before a run: the values too. These files will be managed, so their content is not known.
    Early(&'a Managed),
    /// When a resource is reached: all that it waited for.
    Late(&'a dyn Reached),
}

/// The files that the catalog manages.
pub(crate) type Managed = HashMap<String, ResourceIndex>;

/// What is known when a resource is reached.
pub(crate) trait Reached {
    /// What was captured, by the names and aliases of the resources that did.
    fn captures(&self) -> Value;

    /// Tells what has become of what a resource of that name or alias captures.
    fn captured(&self, name: &str) -> Captured;

    /// The resource that manages a file and that has not done so, because it is in noop.
    fn not_before(&self, path: &str) -> Option<ResourceIndex>;
}

/// What has become of what a resource captures.
pub(crate) enum Captured {
    /// It is known.
    Known,
    /// It will be known once that resource was executed, which noop does not do.
    NotBefore(ResourceIndex),
    /// There is nothing, for this reason.
    Nothing(String),
}

/// Why an expression has no value.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// There is a mistake in it.
    Mistake(Mistake),
    /// It names the result of a resource, and can be evaluated when that was reached.
    Late(Vec<LateOn>),
    /// What it needs could not be had, which was reported.
    Reported,
}

/// A mistake in an expression.
#[derive(Debug)]
pub(crate) struct Mistake {
    /// Bytes of the expression.
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
    /// Places in templates that it comes from, the nearest first, each with what is there.
    pub(crate) places: Vec<(Span, String)>,
}

/// What a template rendered to, and which of its lines wrote which line.
pub(crate) struct WithLines {
    pub(crate) text: String,
    pub(crate) lines: Option<Vec<usize>>,
    pub(crate) template: SourceId,
    pub(crate) template_text: Arc<str>,
}

/// What a value waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LateOn {
    /// The file that a resource manages.
    File(ResourceIndex),
    /// What a resource captures.
    Capture {
        /// Its name or alias; none if that is worked out.
        name: Option<String>,
        /// What of it; none if that is worked out, or if it is all.
        key: Option<String>,
    },
    /// The execution of a resource, which noop does not do.
    Execution(ResourceIndex),
    /// Nothing any more: what it needs has no value, for this reason.
    NoValue(String),
}

/// Evaluates the expressions of one manifest at one moment.
pub(crate) struct Evaluator<'a, 's> {
    pub(crate) world: &'a World<'s>,
    pub(crate) manifest: &'a ManifestScope,
    pub(crate) moment: Moment<'a>,
}

impl Evaluator<'_, '_> {
    /// Evaluates an expression.
    pub(crate) fn evaluate(&self, text: &str) -> Result<Value, Trouble> {
        let read = self.world.expression(text);
        let expression = match &read.expression {
            Ok(expression) => expression,
            Err(error) => return Err(Trouble::Mistake(mistake(error))),
        };
        if matches!(self.moment, Moment::Data) && (read.data || !read.captures.is_empty()) {
            return Err(Trouble::Mistake(Mistake {
                range: 0..text.len(),
                message: "values in `data` may name `Facts` and `Environ` only".to_owned(),
                hints: Vec::new(),
                places: Vec::new(),
            }));
        }
        let facts = if read.facts.is_empty() { Value::Null } else { self.world.facts(&read.facts) };
        let calling = Calling { facts, ..Calling::new(self) };
        if let Some(trouble) = calling.awaits(&read) {
            return Err(trouble);
        }
        match expression.evaluate(&calling) {
            Ok(value) => Ok(value),
            Err(_) if calling.has_to_wait() => Err(calling.waits()),
            Err(_) if self.world.is_broken() => Err(Trouble::Reported),
            Err(error) => {
                let mut mistake = mistake(&error);
                mistake.places = calling.places.take();
                Err(Trouble::Mistake(mistake))
            }
        }
    }

    /// Renders a template beside the manifest.
    pub(crate) fn template(&self, path: &str) -> Result<String, Trouble> {
        self.rendered(|calling| calling.template(path))
    }

    /// Renders a template beside the manifest, and tells which of its lines wrote which line.
    pub(crate) fn template_with_lines(&self, path: &str) -> Result<WithLines, Trouble> {
        self.rendered(|calling| calling.template_with_lines(path))
    }

    fn rendered<T>(
        &self,
        render: impl FnOnce(&Calling<'_, '_, '_>) -> Result<T, FunctionError>,
    ) -> Result<T, Trouble> {
        let calling = Calling::new(self);
        match render(&calling) {
            Ok(rendered) => Ok(rendered),
            Err(_) if calling.has_to_wait() => Err(calling.waits()),
            Err(_) if self.world.is_broken() => Err(Trouble::Reported),
            Err(error) => Err(Trouble::Mistake(Mistake {
                range: 0..0,
                message: error.message,
                hints: error.hints,
                places: calling.places.take(),
            })),
        }
    }
}

fn mistake(error: &ccm_expr::Error) -> Mistake {
    Mistake {
        range: error.range.clone(),
        message: error.message.clone(),
        hints: error.hints.clone(),
        places: Vec::new(),
    }
}

/// One evaluation.
struct Calling<'a, 'e, 's> {
    evaluator: &'a Evaluator<'e, 's>,
    /// The facts that the expression names.
    facts: Value,
    /// What keeps it from being evaluated now.
    late: RefCell<Vec<LateOn>>,
    /// Why what it names was not captured; only a default makes up for that.
    nothing: RefCell<Option<String>>,
    /// The places in templates that the error came from.
    places: RefCell<Vec<(Span, String)>>,
}

impl Scope for Calling<'_, '_, '_> {
    fn name(&self, name: &str) -> Option<Value> {
        match name {
            "Facts" => Some(self.facts.clone()),
            "Data" => Some(self.evaluator.manifest.data.clone()),
            "Environ" => Some(self.evaluator.world.environment()),
            "Captures" => match self.evaluator.moment {
                Moment::Late(reached) => Some(reached.captures()),
                _ => None,
            },
            _ => None,
        }
    }

    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = match &arguments[0] {
            Value::Text(text) => text,
            other => {
                return Err(FunctionError::new(format!("expected a path, found {}", other.kind())));
            }
        };
        match function {
            "lookup" => self.lookup(text, arguments.get(1)),
            "file" => self.file(text),
            _ => self.template(text).map(Value::text),
        }
    }

    fn now(&self) -> Timestamp {
        self.evaluator.world.sources.now()
    }

    fn strict(&self) -> bool {
        true
    }
}

impl<'a, 'e, 's> Calling<'a, 'e, 's> {
    fn new(evaluator: &'a Evaluator<'e, 's>) -> Self {
        Self {
            evaluator,
            facts: Value::Null,
            late: RefCell::default(),
            nothing: RefCell::default(),
            places: RefCell::default(),
        }
    }

    fn late(&self, on: LateOn) -> FunctionError {
        self.late.borrow_mut().push(on);
        FunctionError::new("this is known only during a run")
    }

    /// Tells whether what went wrong did so because something is not known.
    fn has_to_wait(&self) -> bool {
        !self.late.borrow().is_empty() || self.nothing.borrow().is_some()
    }

    /// What it waits for.
    fn waits(&self) -> Trouble {
        let late = self.late.take();
        let nothing = || self.nothing.take().map(LateOn::NoValue).into_iter().collect();
        Trouble::Late(if late.is_empty() { nothing() } else { late })
    }

    /// Looks ahead at all that an expression names, so that it waits for everything and not for the first.
    fn awaits(&self, read: &Read) -> Option<Trouble> {
        for (path, range) in &read.captures {
            // What has to wait is in `late` by now.
            if let Err(error) = self.captures(path)
                && path.is_empty()
            {
                let FunctionError { message, hints, .. } = error;
                let places = Vec::new();
                return Some(Trouble::Mistake(Mistake { range: range.clone(), message, hints, places }));
            }
        }
        if self.late.borrow().is_empty() {
            return None;
        }
        read.files.iter().for_each(|path| self.awaits_file(path));
        let mut seen = HashSet::new();
        for path in &read.templates {
            // A mistake in it shows when it is rendered.
            let _ = self.awaits_template(path, &mut seen);
        }
        Some(self.waits())
    }

    fn awaits_file(&self, written: &str) {
        if let Moment::Early(managed) = self.evaluator.moment {
            let path = self.evaluator.manifest.directory.join(written);
            let index = managed.get(&*path.to_string_lossy());
            self.late.borrow_mut().extend(index.copied().map(LateOn::File));
        }
    }

    /// The same for a template and all that it includes.
    fn awaits_template(&self, written: &str, seen: &mut HashSet<PathBuf>) -> Result<(), FunctionError> {
        let path = self.evaluator.manifest.directory.join(written);
        let Ok(text) = self.evaluator.world.read(&path) else { return Ok(()) };
        if !seen.insert(path) {
            return Ok(());
        }
        let found = templates::mentions(&text);
        let named = found.paths.iter().filter(|path| path[0] == "captures").map(|path| path[1..].to_vec());
        for path in named.chain(found.lookups.iter().filter_map(|path| captured_path(path))) {
            match self.captures(&path) {
                Err(error) if path.is_empty() => return Err(error),
                _ => {}
            }
        }
        found.files.iter().for_each(|path| self.awaits_file(path));
        found.templates.iter().chain(&found.includes).try_for_each(|path| self.awaits_template(path, seen))
    }

    /// Looks at what a path into `Captures` leads to.
    fn captures(&self, path: &[String]) -> Result<(), FunctionError> {
        match (self.evaluator.moment, path.first()) {
            (Moment::Data, _) => Ok(()),
            (_, None) => {
                let mut error = FunctionError::new("what is captured has to be named");
                error.hints.push("write `Captures.NAME.KEY`, with the name of the resource".to_owned());
                Err(error)
            }
            (Moment::Early(_), Some(name)) => {
                Err(self.late(LateOn::Capture { name: Some(name.clone()), key: path.get(1).cloned() }))
            }
            (Moment::Late(reached), Some(name)) => match reached.captured(name) {
                Captured::Known => Ok(()),
                Captured::NotBefore(index) => Err(self.late(LateOn::Execution(index))),
                Captured::Nothing(reason) => {
                    self.nothing.borrow_mut().get_or_insert(reason);
                    Ok(())
                }
            },
        }
    }

    fn lookup(&self, text: &str, default: Option<&Value>) -> Result<Value, FunctionError> {
        let read = self.evaluator.world.path(text);
        let path = match &*read {
            Ok(path) => path,
            Err(error) => {
                return Err(FunctionError::new(format!("the path can't be read: {}", error.message)));
            }
        };
        let prefix = path.constant_prefix();
        let root = self.root(&prefix)?;
        let found = path.find(&root).map_err(|error| FunctionError::new(error.to_string()))?;
        match (found, default) {
            (Some(found), _) => Ok(found),
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => {
                let mut error = FunctionError::new(format!("there is no `{}`", text.escape_debug()));
                let roots = ["facts", "data", "environ", "captures"];
                let near = match prefix.first() {
                    Some(first) if !roots.contains(&first.as_str()) => {
                        closest(first, roots).map(str::to_owned)
                    }
                    _ => path.closest(&root),
                };
                error.hints.extend(near.map(|near| format!("did you mean `{near}`?")));
                error.hints.push(format!("give a default if it may be missing: `lookup('{text}', '')`"));
                Err(error)
            }
        }
    }

    /// What a path starts from, with no more in it than the path may need.
    fn root(&self, prefix: &[String]) -> Result<Value, FunctionError> {
        let Evaluator { world, manifest, moment } = self.evaluator;
        let all = prefix.is_empty();
        let names = |root: &str| all || prefix[0] == root;
        let mut roots: Vec<(&str, Value)> = Vec::with_capacity(1);
        if names("facts") {
            roots.push(("facts", world.facts(&[prefix.get(1..).unwrap_or_default().to_vec()])));
        }
        if names("data") {
            if matches!(moment, Moment::Data) && !all {
                return Err(FunctionError::new("values in `data` may name facts and environment only"));
            }
            roots.push(("data", manifest.data.clone()));
        }
        if names("environ") {
            roots.push(("environ", world.environment()));
        }
        if names("captures") && !all {
            self.captures(prefix.get(1..).unwrap_or_default())?;
            if let Moment::Late(reached) = moment {
                roots.push(("captures", reached.captures()));
            }
        }
        Ok(Value::map(roots))
    }

    fn file(&self, written: &str) -> Result<Value, FunctionError> {
        let path = self.evaluator.manifest.directory.join(written);
        let shown = path.to_string_lossy();
        match self.evaluator.moment {
            Moment::Early(managed) => {
                if let Some(index) = managed.get(&*shown) {
                    return Err(self.late(LateOn::File(*index)));
                }
            }
            Moment::Late(reached) => {
                if let Some(index) = reached.not_before(&shown) {
                    return Err(self.late(LateOn::File(index)));
                }
            }
            Moment::Data => {}
        }
        self.read(&path).map(Value::Text)
    }

    fn read(&self, path: &Path) -> Result<Arc<str>, FunctionError> {
        self.evaluator.world.read(path).map_err(|source| {
            let message = format!("`{}` can't be read", path.display());
            FunctionError { message: format!("{message}: {source}"), ..FunctionError::default() }
        })
    }

    fn template(&self, written: &str) -> Result<String, FunctionError> {
        let (text, source, rendering) = self.opened(written)?;
        templates::render(written, &text, &rendering).map_err(|error| self.refuse(written, source, &error))
    }

    fn template_with_lines(&self, written: &str) -> Result<WithLines, FunctionError> {
        let (template_text, template, rendering) = self.opened(written)?;
        match templates::render_with_lines(written, &template_text, &rendering) {
            Ok((text, lines)) => Ok(WithLines { text, lines, template, template_text }),
            Err(error) => Err(self.refuse(written, template, &error)),
        }
    }

    /// Reads a template and what it mentions.
    fn opened(
        &self,
        written: &str,
    ) -> Result<(Arc<str>, SourceId, Rendering<'_, '_, '_, '_>), FunctionError> {
        let path = self.evaluator.manifest.directory.join(written);
        let text = self.read(&path)?;
        self.awaits_template(written, &mut HashSet::new())?;
        if !self.late.borrow().is_empty() {
            return Err(FunctionError::new("this is known only during a run"));
        }
        let source = self.evaluator.world.template_source(&path, &path.display().to_string(), &text);
        let rendering = Rendering { calling: self, mentions: RefCell::default() };
        rendering.mention(&text);
        Ok((text, source, rendering))
    }

    /// Remembers where in templates an error came from, and puts it into words.
    fn refuse(&self, written: &str, source: SourceId, error: &TemplateError) -> FunctionError {
        let mut places = self.places.borrow_mut();
        for place in &error.places {
            let source = if place.template == written {
                source
            } else {
                let path = self.evaluator.manifest.directory.join(&place.template);
                let Ok(text) = self.evaluator.world.read(&path) else { continue };
                self.evaluator.world.template_source(&path, &path.display().to_string(), &text)
            };
            places.push((Span::new(source, place.range.start, place.range.end), String::new()));
        }
        FunctionError {
            message: format!("the template `{written}` can't be rendered: {error}"),
            hints: error.hints.clone(),
            source: None,
        }
    }
}

/// A template that is being rendered.
struct Rendering<'a, 'c, 'e, 's> {
    calling: &'a Calling<'c, 'e, 's>,
    /// The facts that it mentions.
    mentions: RefCell<Vec<Vec<String>>>,
}

impl Rendering<'_, '_, '_, '_> {
    /// Remembers what a text of it mentions.
    fn mention(&self, text: &str) {
        let found = templates::mentions(text);
        let mut mentions = self.mentions.borrow_mut();
        if found.dynamic {
            mentions.push(Vec::new());
        }
        let facts = found.paths.iter().filter(|path| path.first().is_some_and(|first| first == "facts"));
        mentions.extend(facts.map(|path| path[1..].to_vec()));
        for include in &found.includes {
            let path = self.calling.evaluator.manifest.directory.join(include);
            if mentions.len() > 1000 || include.is_empty() {
                mentions.push(Vec::new());
            } else if self.calling.evaluator.world.read(&path).is_ok() {
                // What an include mentions is not known before it is read, and it may be read again.
                mentions.push(Vec::new());
            }
        }
    }
}

impl TemplateScope for Rendering<'_, '_, '_, '_> {
    fn name(&self, name: &str) -> Option<Value> {
        let evaluator = self.calling.evaluator;
        match name {
            "Facts" => Some(evaluator.world.facts(&self.mentions.borrow())),
            "Captures" if matches!(evaluator.moment, Moment::Early(_)) => {
                let _ = self.calling.late(LateOn::Capture { name: None, key: None });
                None
            }
            "Data" if matches!(evaluator.moment, Moment::Data) => None,
            _ => self.calling.name(name),
        }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, ScopeError> {
        let most = if function == "lookup" { 2 } else { 1 };
        if arguments.is_empty() || arguments.len() > most {
            let takes = if most == 2 { "one or two arguments" } else { "one argument" };
            return Err(ScopeError::new(format!("`{function}` takes {takes}, found {}", arguments.len())));
        }
        Scope::call(self.calling, function, arguments).map_err(|error| {
            let mut refused = ScopeError::new(error.message);
            refused.hints = error.hints;
            refused
        })
    }

    fn include(&self, path: &str) -> Result<Option<String>, ScopeError> {
        let path = self.calling.evaluator.manifest.directory.join(path);
        match self.calling.evaluator.world.read(&path) {
            Ok(text) => Ok(Some(text.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ScopeError::new(format!("`{}` can't be read: {error}", path.display()))),
        }
    }
}
