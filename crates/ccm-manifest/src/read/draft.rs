//! Resources before their references are resolved.

use std::path::PathBuf;
use std::sync::Arc;

use ccm_data::interpolation::{SplitText, lone, may_hold_any, split};
use ccm_model::{
    Control, Diagnostic, DiagnosticKind, Diagnostics, FileVersion, GroupIndex, Node, NodeEntry, NodeKey,
    NodeValue, Properties, Resource, ResourceId, Severity, Span, Spanned, closest,
};
use ccm_properties::{CheckInput, CommonProperty, PropertyKind, PropertyValue as _, TextSyntax, TypeSpec};

use crate::read::common_properties::{
    CommonNodes, Reference, alias, ensure_advice, one_of, references, text,
};
use crate::read::foreign_words;
use crate::read::resources::Declaration;
use crate::read::types::Types;
use crate::resolve::control::{self, Conditions};
use crate::resolve::eval_context::EvalContext;
use crate::resolve::expand::Expander;
use crate::resolve::expansion::Expansion;
use crate::resolve::health_checks;
use crate::resolve::hint_literals::ExpectedKind;
use crate::resolve::messages::{is_blank, shown};
use crate::resolve::scope::{DeferredOn, ManifestEvaluator};
use crate::resolve::text_language::{ProviderChoice, TextLanguage, language_of};

#[derive(Debug)]
pub(crate) struct ResourceDraft {
    pub(crate) type_index: usize,
    /// Resource, still without dependencies.
    pub(crate) resource: Resource,
    pub(crate) alias_span: Span,
    pub(crate) require: Vec<Reference>,
    pub(crate) subscribe: Vec<Reference>,
    /// The manifest gives `subscribe` a value, valid or not.
    pub(crate) subscribes: bool,
    pub(crate) has_name: bool,
    /// Path of the manifest that the resource applies.
    pub(crate) child: Option<PathBuf>,
    /// Group of an earlier declaration that applies the same manifest with the same data.
    pub(crate) same_child: Option<GroupIndex>,
    /// The name or the alias is unknown, because an input was left out.
    pub(crate) has_unknown_name: bool,
    pub(crate) has_errors: bool,
    /// `ensure` is given and has errors.
    pub(crate) lacks_ensure: bool,
    pub(crate) manifest: usize,
    pub(crate) conditions: Conditions,
    /// Values that the conditions wait for.
    pub(crate) control_deferred_on: Vec<(DeferredOn, Span)>,
    /// The conditions read files before the managed files were known.
    pub(crate) needs_recheck: bool,
    /// Errors about files that the conditions need and that do not exist yet.
    pub(crate) missing_in_control: Vec<Diagnostic>,
    /// The conditions use files that no resource manages.
    pub(crate) control_uses_files: bool,
    /// Unknown parts of the resource, and the values that they wait for.
    pub(crate) found: Expansion,
    /// A template wrote the texts, so that they are not expanded.
    pub(crate) verbatim: bool,
    /// Property that the name replaces, expanded with quotes.
    pub(crate) named: Option<NodeEntry>,
    /// Properties before expansion.
    pub(crate) written: Properties,
    /// An unmanaged resource has expressions in `ensure`, `require` or `subscribe`, which were not evaluated.
    pub(crate) has_unknown_common: bool,
    /// Files that the properties use, each with its version before it was first read.
    pub(crate) files: Vec<(PathBuf, Option<FileVersion>)>,
    /// Common properties that are not read yet.
    common: CommonNodes,
    pub(crate) provider: ProviderChoice,
}

/// Builds drafts for the declarations of one manifest.
pub(crate) struct DraftBuilder<'a, 'w, 's> {
    pub(crate) types: &'a Types<'a>,
    pub(crate) manifest: usize,
    /// Conditions of the outer manifests.
    pub(crate) outer_conditions: &'a Conditions,
    /// Returns the evaluator of a manifest.
    pub(crate) evaluator: &'a dyn Fn(usize) -> ManifestEvaluator<'w, 's>,
    /// A template wrote the texts, so that they are not expanded.
    pub(crate) verbatim: bool,
}

impl DraftBuilder<'_, '_, '_> {
    fn expander(&self) -> Expander<'_, '_> {
        Expander::new((self.evaluator)(self.manifest)).verbatim(self.verbatim)
    }

    /// Reads the control, provider, alias and name of a resource.
    pub(crate) fn draft(&self, declaration: Declaration, diagnostics: &mut Diagnostics) -> ResourceDraft {
        let Declaration { type_index, mut name, split, defaults } = declaration;
        let reported = diagnostics.found();
        let types = self.types;
        let spec = types.spec(type_index);
        let has_errors = split.has_errors || defaults.as_ref().is_some_and(|defaults| defaults.has_errors);
        let (mut common, below) = match defaults {
            Some(defaults) => (split.common.or_defaults(&defaults.common), Some(Arc::clone(&defaults.own))),
            None => (split.common.without_nulls(), None),
        };
        let properties = Properties::new(split.own, below);
        report_unknown_nulls(&properties, type_index, types, diagnostics);

        let mut conditions = self.outer_conditions.clone();
        if let Some(control) = common.take(CommonProperty::Control) {
            conditions = control::read(&control, self.manifest, diagnostics).with_outer(&conditions);
        }
        let decision = conditions.decide(self.evaluator, diagnostics);
        let idle = matches!(decision.control, Control::NotManaged { .. });

        let mut expander = self.expander();
        expander.idle = idle;
        // An empty part of a name or of a path leads to another error.
        expander.evaluator.literals = expander.evaluator.literals.of(ExpectedKind::Name);
        let mut alias_node = common.take(CommonProperty::Alias);
        let mut provider_node = common.take(CommonProperty::Provider);
        for node in [&mut alias_node, &mut provider_node].into_iter().flatten() {
            expander.node(node, TextLanguage::PLAIN);
        }
        let provider = provider_node.filter(|node| !expander.found.is_unknown(node.span));
        let provider = provider.map(|node| read_provider(&node, spec, diagnostics));
        let choice = provider_choice(provider.as_ref());
        let language = language_of(spec, "name", &choice, &properties);
        let named = self.expand_name(&mut name, spec, language, &mut expander);
        let mut found = expander.found;
        found.refuse_late();
        if !found.is_unknown(name.span) && is_blank(&name.text) {
            diagnostics.push(Diagnostic::error(DiagnosticKind::Missing, name.span, "the name is empty"));
            found.refuse(name.span);
        }
        diagnostics.append(&mut found.diagnostics);
        let has_unknown_name = found.unchecked.covers(name.span)
            || alias_node.as_ref().is_some_and(|node| found.unchecked.covers(node.span));
        let alias_node = alias_node.filter(|node| !found.is_unknown(node.span));
        let alias = report(alias_node.map(|node| alias(&node)), diagnostics);
        let resource = Resource {
            id: ResourceId { type_name: Arc::clone(types.name(type_index)), name: name.text.into() },
            span: name.span,
            aliases: alias.iter().map(|alias| Arc::clone(&alias.value)).collect(),
            provider: provider.flatten(),
            properties,
            control: decision.control,
            settings: (self.evaluator)(self.manifest)
                .manifest
                .settings
                .get(type_index)
                .cloned()
                .unwrap_or_default(),
            ..Resource::default()
        };
        ResourceDraft {
            type_index,
            alias_span: alias.map_or(name.span, |alias| alias.span),
            require: Vec::new(),
            subscribe: Vec::new(),
            subscribes: false,
            has_name: !found.is_unknown(name.span),
            has_unknown_name,
            child: None,
            same_child: None,
            has_errors: has_errors || diagnostics.found() > reported,
            lacks_ensure: false,
            manifest: self.manifest,
            conditions,
            control_deferred_on: decision.deferred_on,
            needs_recheck: decision.needs_recheck,
            missing_in_control: decision.missing_files,
            control_uses_files: false,
            has_unknown_common: false,
            found,
            verbatim: self.verbatim,
            named,
            written: Properties::default(),
            files: Vec::new(),
            common,
            provider: choice,
            resource,
        }
    }

    /// Expands the name of a resource. Returns the property that the name stands for, if its text differs.
    fn expand_name(
        &self,
        name: &mut NodeKey,
        spec: &dyn TypeSpec,
        language: TextLanguage,
        expander: &mut Expander<'_, '_>,
    ) -> Option<NodeEntry> {
        if !may_hold_any(&name.text) {
            if language.syntax != TextSyntax::Shell {
                expander.warn_of_dollar(&name.text, name.span);
            }
            return None;
        }
        let mut quoted = name.clone();
        if expander.idle {
            // The name of an unmanaged resource may use values that this machine lacks, which is no error.
            let mut trial = self.expander();
            trial.key(name, language.unquoted());
            if trial.found.is_unknown(name.span) {
                expander.key(name, language.unquoted());
            }
            return None;
        }
        expander.key(name, language.unquoted());
        // References have the name without quotes, but the property needs them to stay one word per value.
        let property = spec.named_property().filter(|_| language.is_words())?;
        self.expander().key(&mut quoted, language);
        let is_needed = quoted.text != name.text && !expander.found.is_unknown(name.span);
        is_needed.then(|| NodeEntry {
            key: NodeKey { text: property.into(), span: name.span },
            value: Node::text(quoted.text, name.span),
        })
    }

    /// Expands the data that an unmanaged resource passes to its manifest, whose names others may refer to. Values that this
    /// machine lacks are no error: what uses them is unknown.
    pub(crate) fn expand_idle_data(&self, draft: &mut ResourceDraft) {
        if !matches!(draft.resource.control, Control::NotManaged { .. }) {
            return;
        }
        let child = self.types.spec(draft.type_index).child_manifest(&draft.resource);
        let Some(span) = child.and_then(|child| child.data).map(|data| data.span) else { return };
        let given = draft.resource.properties.given().find(|entry| entry.value.span == span);
        let Some(mut entry) = given.cloned() else { return };
        let mut trial = self.expander();
        trial.node(&mut entry.value, TextLanguage::PLAIN);
        let mut pending = vec![&entry.value];
        while let Some(node) = pending.pop() {
            match &node.value {
                NodeValue::Scalar(_) if trial.found.is_unknown(node.span) => {
                    draft.found.unchecked.insert(node.span);
                }
                NodeValue::Scalar(_) => {}
                NodeValue::List(elements) => pending.extend(elements),
                NodeValue::Map(map) => pending.extend(map.entries().iter().map(|entry| &entry.value)),
            }
        }
        draft.resource.properties.replace(entry);
    }

    /// Reads the rest of a resource, once all names are known.
    pub(crate) fn complete(&self, draft: &mut ResourceDraft, diagnostics: &mut Diagnostics) {
        let reported = diagnostics.found();
        let spec = self.types.spec(draft.type_index);
        let mut common = std::mem::take(&mut draft.common);
        let [mut ensure, mut require, mut subscribe] =
            [CommonProperty::Ensure, CommonProperty::Require, CommonProperty::Subscribe]
                .map(|property| common.take(property));
        let mut expander = self.expander();
        expander.idle = draft.resource.is_off();
        for node in [&mut ensure, &mut require, &mut subscribe].into_iter().flatten() {
            expander.node(node, TextLanguage::PLAIN);
        }
        let mut autorequire = common.take(CommonProperty::Autorequire);
        if let Some(node) = &mut autorequire {
            expander.node(node, TextLanguage::PLAIN);
        }
        draft.has_unknown_common = !expander.found.late.is_empty();
        expander.found.refuse_late();
        expander.found.add(std::mem::take(&mut draft.found));
        let context = (self.evaluator)(self.manifest).context;
        context.take_reads();
        draft.written = draft.resource.properties.clone();
        expander.properties(&mut draft.resource.properties, spec, &draft.provider);
        let wanted =
            ensure.as_ref().filter(|node| !expander.found.is_unknown(node.span)).and_then(Node::as_text);
        if let Some(rendered) = expander.tree(&draft.resource.properties, spec, wanted) {
            draft.resource.rendered = rendered;
        }
        draft.files = context.take_reads();
        if draft.files.is_empty() && !draft.control_uses_files {
            draft.written = Properties::default();
        }
        // Inserted after the expansion, because this text is expanded already.
        if let Some(named) = draft.named.clone() {
            draft.resource.properties.replace(named);
        }
        let mut found = expander.found;
        diagnostics.append(&mut found.diagnostics);

        let known = |node: &Node| !found.is_unknown(node.span);
        let is_ensured = ensure.as_ref().is_some_and(|node| !node.is_null());
        let ensure = ensure.filter(known).map(|node| {
            let advice = || {
                let written = &*node.as_scalar()?.text;
                let of_type = spec.ensure_advice(written).map(str::to_owned);
                of_type.or_else(|| ensure_advice(written, spec.ensures()))
            };
            let found = match spec.ensure_pattern() {
                Some(_) => text(&node),
                None => one_of(&node, spec.ensures()),
            };
            found.map_err(|error| {
                let advice = if error.hints.is_empty() { advice() } else { None };
                advice.into_iter().fold(error, Diagnostic::with_hint)
            })
        });
        draft.resource.ensure = report(ensure, diagnostics);
        draft.lacks_ensure = is_ensured && draft.resource.ensure.is_none();
        let mut wrong = Vec::new();
        draft.resource.autorequire =
            autorequire.filter(known).and_then(|node| bool::decode(&node, &mut wrong));
        diagnostics.extend(wrong);
        let is_given = |node: &Node| !node.is_null() && node.as_list().is_none_or(|list| !list.is_empty());
        draft.subscribes = subscribe.as_ref().is_some_and(is_given);
        let mut read = |node: Option<Node>| {
            let mut references =
                node.filter(known).map(|node| references(node, diagnostics)).unwrap_or_default();
            references.retain(|reference| known(&reference.0));
            references
        };
        (draft.require, draft.subscribe) = (read(require), read(subscribe));
        draft.found = found;
        draft.has_errors |= diagnostics.found() > reported;
    }
}

/// Reports unknown properties that are null. The type reports all others; it never sees null properties.
fn report_unknown_nulls(
    properties: &Properties,
    type_index: usize,
    types: &Types<'_>,
    diagnostics: &mut Diagnostics,
) {
    for entry in properties.written().filter(|entry| entry.value.is_null()) {
        let key = &*entry.key.text;
        if !types.has_property(type_index, key) {
            let error = Diagnostic::error(
                DiagnosticKind::UnknownProperty,
                entry.key.span,
                format!("unknown property `{}`", shown(key)),
            );
            let glued = key.split_once(':').filter(|(name, _)| types.has_property(type_index, name));
            if let Some((name, value)) = glued {
                let hint = format!("put a space after the colon: `{name}: {}`", shown(value));
                diagnostics.push(error.with_hint(hint));
                continue;
            }
            diagnostics.push(match foreign_words::property(types.name(type_index), key) {
                Some(advice) => error.with_hint(advice),
                None => error.with_suggestion(types.closest_property(type_index, key)),
            });
        }
    }
}

/// Reads the provider; for a misspelt one the closest, against which the other properties are checked.
fn provider_choice(provider: Option<&Option<Spanned<String>>>) -> ProviderChoice {
    match provider {
        None => ProviderChoice::Valid(None),
        Some(None) => ProviderChoice::Invalid,
        Some(Some(provider)) => ProviderChoice::Valid(Some(provider.value.clone())),
    }
}

fn read_provider(node: &Node, spec: &dyn TypeSpec, diagnostics: &mut Diagnostics) -> Option<Spanned<String>> {
    let text = node.as_text().unwrap_or_default();
    let error = match one_of(node, &spec.providers()) {
        Ok(provider) => return Some(provider),
        Err(error) => spec.provider_advice(text).into_iter().fold(error, Diagnostic::with_hint),
    };
    diagnostics.push(error);
    let meant = closest(text, spec.providers())?;
    Some(Spanned { value: meant.to_owned(), span: node.span })
}

/// Returns advice to write a value as `ensure`, where that of another tool would be the next error.
fn with_value(written: &str, spec: &dyn TypeSpec) -> Option<String> {
    if spec.ensures().contains(&written) {
        return Some(format!("write `ensure: {written}`"));
    }
    spec.ensure_advice(written).map(str::to_owned).or_else(|| ensure_advice(written, spec.ensures()))
}

fn report<T>(read: Option<Result<T, Diagnostic>>, diagnostics: &mut Diagnostics) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(error) => {
            diagnostics.push(error);
            None
        }
    }
}

impl ResourceDraft {
    /// Evaluates the conditions again, once the managed files are known.
    pub(crate) fn recheck_control<'a, 's: 'a>(
        &mut self,
        context: &EvalContext<'_>,
        evaluator: impl Fn(usize) -> ManifestEvaluator<'a, 's>,
        diagnostics: &mut Diagnostics,
    ) {
        let is_off = matches!(self.resource.control, Control::NotManaged { .. });
        if is_off || !std::mem::take(&mut self.needs_recheck) {
            return;
        }
        context.take_reads();
        let decision = self.conditions.decide(evaluator, diagnostics);
        self.resource.control = decision.control;
        self.control_deferred_on = decision.deferred_on;
        self.missing_in_control = decision.missing_files;
        self.control_uses_files = !context.take_reads().is_empty();
    }

    /// Lets the type check the resource. A resource with errors gets no warnings: an error may cause them.
    pub(crate) fn check(
        &self,
        types: &Types<'_>,
        source_text: &str,
        secrets: &[String],
        diagnostics: &mut Diagnostics,
    ) {
        let subscribes = self.subscribes;
        let checked = CheckInput { resource: &self.resource, source_text, secrets, subscribes };
        let spec = types.spec(self.type_index);
        let mut found = spec.check(&checked);
        found.extend(health_checks::check(&checked, spec.refreshes()));
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        let has_errors = self.has_errors || found.iter().any(is_error);
        // What a property needs depends on `ensure`.
        let follows = |diagnostic: &Diagnostic| {
            self.lacks_ensure && matches!(diagnostic.kind, DiagnosticKind::Conflict | DiagnosticKind::Missing)
        };
        let is_new = |diagnostic: &Diagnostic| {
            !self.found.explains(diagnostic) && !follows(diagnostic) && (!has_errors || is_error(diagnostic))
        };
        let explained = found.into_iter().filter(is_new).map(|mut error| {
            if let Some(advice) = self.advice_on_property(&error, types) {
                error.hints = vec![advice];
            }
            error.hints.extend(self.value_of_other_tool(&error).map(str::to_owned));
            error.hints.extend(self.words_of_command(&error, source_text));
            error.hints.extend(self.listed_options(&error));
            let is_computed = error.span().is_some_and(|span| self.is_computed(span, types, source_text));
            if !is_computed {
                error.hints.extend(self.structured_content(&error).map(str::to_owned));
            }
            let is_about_value = error.kind != DiagnosticKind::ExposedSecret;
            if !self.verbatim && is_error(&error) && is_computed && is_about_value {
                error = error.with_hint("this is the value of the expression");
                error.hints.extend(self.text_of_list(&error, types, source_text));
            }
            error
        });
        diagnostics.extend(explained);
        diagnostics.extend(self.secret_name(source_text, secrets));
    }

    /// Returns the warning about a name with a sensitive value. That of an exec is its command, which has a warning of its own.
    fn secret_name(&self, source_text: &str, secrets: &[String]) -> Option<Diagnostic> {
        let name = &*self.resource.id.name;
        let is_secret = secrets.iter().any(|secret| !secret.is_empty() && name.contains(&**secret));
        if !is_secret || &*self.resource.id.type_name == "exec" {
            return None;
        }
        let span = self.resource.span;
        source_text.get(span.range()).filter(|written| may_hold_any(written))?;
        let message = "the name holds a sensitive value, and names are shown everywhere";
        let warning = Diagnostic::warning(DiagnosticKind::ExposedSecret, span, message);
        Some(warning.with_hint("write a name without the value, which a property may hold"))
    }

    /// Returns advice on an unknown property that another tool has.
    fn advice_on_property(&self, error: &Diagnostic, types: &Types<'_>) -> Option<String> {
        let span = error.span().filter(|_| error.kind == DiagnosticKind::UnknownProperty)?;
        let entry = self.resource.properties.given().find(|entry| entry.key.span == span)?;
        let advice = foreign_words::property(&self.resource.id.type_name, &entry.key.text)?;
        let written = entry.value.as_text().filter(|_| foreign_words::is_state(&entry.key.text));
        let value = written.and_then(|written| with_value(written, types.spec(self.type_index)));
        Some(value.unwrap_or_else(|| advice.to_owned()))
    }

    /// Returns advice on a value that another tool has.
    fn value_of_other_tool(&self, error: &Diagnostic) -> Option<&'static str> {
        let is_value = matches!(error.kind, DiagnosticKind::WrongType | DiagnosticKind::InvalidValue);
        let span = error.span().filter(|_| is_value && error.hints.is_empty())?;
        let entry = self.resource.properties.given().find(|entry| entry.value.span == span)?;
        foreign_words::value(&self.resource.id.type_name, &entry.key.text, entry.value.as_text()?)
    }

    /// Returns advice on a command that is written as the list of its words.
    fn words_of_command(&self, error: &Diagnostic, source_text: &str) -> Option<String> {
        let span = error.span().filter(|_| error.kind == DiagnosticKind::WrongType)?;
        let is_command = |entry: &&NodeEntry| entry.value.span == span && &*entry.key.text == "command";
        let words = self.resource.properties.given().find(is_command)?.value.as_list()?;
        let is_exec = &*self.resource.id.type_name == "exec";
        let [program, arguments @ ..] = words else { return None };
        let written = |word: &Node| source_text.get(word.span.range()).filter(|text| !text.contains('\n'));
        let arguments: Option<Vec<&str>> = arguments.iter().map(written).collect();
        let (program, arguments) = (written(program)?, arguments?.join(", "));
        // A list that an expression yields is not written here.
        let is_written = source_text.get(span.range())?.starts_with('[');
        let is_short = program.len() + arguments.len() <= 60;
        let hint = format!("write `command: {program}` and `args: [{arguments}]`");
        (is_exec && is_written && is_short).then_some(hint)
    }

    /// Returns advice on options that are written as a list, where the type takes them as one text.
    fn listed_options(&self, error: &Diagnostic) -> Option<String> {
        let span = error.span().filter(|_| error.kind == DiagnosticKind::WrongType)?;
        let is_options = |entry: &&NodeEntry| entry.value.span == span && &*entry.key.text == "options";
        let list = self.resource.properties.given().find(is_options)?.value.as_list()?;
        let options: Option<Vec<&str>> = list.iter().map(Node::as_text).collect();
        (&*self.resource.id.type_name == "mount").then_some(())?;
        Some(format!("write `\"{}\"`", shown(&options?.join(","))))
    }

    /// Returns advice on a content that is written as a list or a map.
    fn structured_content(&self, error: &Diagnostic) -> Option<&'static str> {
        let span = error.span().filter(|_| error.kind == DiagnosticKind::WrongType)?;
        let is_content = |entry: &&NodeEntry| entry.value.span == span && &*entry.key.text == "content";
        match &self.resource.properties.given().find(is_content)?.value.value {
            NodeValue::List(elements) if elements.len() > 1 => Some("write the lines below `content: |`"),
            NodeValue::Map(_) => {
                Some("write the text below `content: |`, or `toJSON(…)` of data in an expression")
            }
            _ => None,
        }
    }

    /// Returns advice on an expression that yields a list or a map where the type takes text.
    fn text_of_list(&self, error: &Diagnostic, types: &Types<'_>, source_text: &str) -> Option<String> {
        let span = error.span().filter(|_| error.kind == DiagnosticKind::WrongType)?;
        let entry = self.resource.properties.given().find(|entry| entry.value.span == span)?;
        let properties = types.spec(self.type_index).properties();
        let property = properties.iter().find(|property| property.name == &*entry.key.text)?;
        let written = source_text.get(span.range())?.trim_matches(['"', '\'']);
        let SplitText::Parts(parts) = split(written, false) else { return None };
        let expression = shown(written[lone(&parts)?].trim());
        match (property.kind, &entry.value.value) {
            (PropertyKind::Text(_), NodeValue::List(_)) => {
                Some(format!("write `join({expression}, \" \")` for its elements, or `toJSON({expression})`"))
            }
            (PropertyKind::Text(_), NodeValue::Map(_)) => Some(format!("write `toJSON({expression})`")),
            _ => None,
        }
    }

    /// Returns `true` if the value at a span comes from an expression. A text that is split into words must
    /// be a single expression, because a value never leaves its word.
    fn is_computed(&self, span: Span, types: &Types<'_>, source_text: &str) -> bool {
        let Some(written) = source_text.get(span.range()).filter(|text| may_hold_any(text)) else {
            return false;
        };
        let properties = &self.resource.properties;
        let spec = types.spec(self.type_index);
        let is_words = properties.given().any(|entry| {
            entry.value.span.contains(span)
                && language_of(spec, &entry.key.text, &self.provider, properties).is_words()
        });
        let text = written.trim_matches(['"', '\'']);
        !is_words || matches!(split(text, false), SplitText::Parts(parts) if lone(&parts).is_some())
    }
}
