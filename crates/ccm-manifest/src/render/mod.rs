//! A catalog as a manifest again: without data, hierarchy, templates and children, for the same state.

mod late;
mod literal;

use std::collections::HashSet;
use std::sync::Arc;

use ccm_data::nodes;
use ccm_data::printed;
use ccm_expr::Value as Computed;
use ccm_model::{
    Catalog, Checked, Control, Dependency, Diagnostic, Entry, Kind, Node, Properties, Reader, Resource,
    ResourceIndex, Scalar, ScalarStyle, Severity, TypeSpec, Value, escape_control,
};
use ccm_redaction::{REDACTED, is_untold};
use ccm_yaml::Written;

use crate::late::LateResource;
use crate::load::Loaded;
use crate::redaction::Redaction;
use late::LateTexts;

/// Writes a catalog as YAML that, applied from the same directory, gives the same state.
///
/// The resources of all manifests stand in one list, with every edge written as `require`. What is not managed
/// and what is in noop is left out and named in a comment. Sensitive values and what sensitive resources
/// do not tell are redacted, and values that wait for a resource are the expressions that they are. The error names what can't be written so.
pub fn render(catalog: &Catalog, loaded: &Loaded<'_>) -> Result<String, Vec<Diagnostic>> {
    let renderer = Renderer { catalog, loaded, redaction: Redaction::new(&loaded.data.secrets) };
    let mut text = String::new();
    let mut resources = Vec::new();
    let mut mistakes = Vec::new();
    for index in catalog.indices() {
        match renderer.left_out(index) {
            Some(reason) => {
                let id = renderer.redaction.text(&catalog.resource(index).id.to_string());
                text += &format!("# left out: {}: {reason}\n", escape_control(&id));
            }
            None if catalog.resource(index).stands_for.is_some() => {}
            None => match renderer.resource(index) {
                Ok(resource) => resources.push(resource),
                Err(mistake) => mistakes.push(mistake),
            },
        }
    }
    let of_types = renderer.settings_of_types().map_err(|mistake| mistakes.push(mistake)).unwrap_or_default();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    if !catalog.fail_on_error && catalog.children.iter().any(|child| child.fail_on_error && !child.noop) {
        text += "# `fail_on_error` of a manifest that this one applies is not kept\n";
    }
    let mut settings = Vec::new();
    let messages = [
        ("name", &catalog.name),
        ("pre_message", &catalog.pre_message),
        ("post_message", &catalog.post_message),
    ];
    for (key, message) in messages {
        settings
            .extend(message.as_ref().map(|message| (key.to_owned(), renderer.text(message, Reader::Nobody))));
    }
    if catalog.fail_on_error {
        settings.push(("fail_on_error".to_owned(), Written::Plain("true".to_owned())));
    }
    settings.extend(of_types);
    settings.push(("resources".to_owned(), Written::List(resources)));
    let manifest = Written::Map(vec![("ccm".to_owned(), Written::Map(settings))]);
    Ok(text + &ccm_yaml::write(&manifest))
}

struct Renderer<'a> {
    catalog: &'a Catalog,
    loaded: &'a Loaded<'a>,
    redaction: Redaction,
}

impl Renderer<'_> {
    /// Why a resource is not written, if it is not.
    fn left_out(&self, index: ResourceIndex) -> Option<String> {
        let resource = self.catalog.resource(index);
        match &resource.control {
            Control::NotManaged { reason } => Some(reason.clone()),
            _ if resource.child.is_some_and(|child| self.catalog.child(child).noop) => {
                Some("nothing is changed in its manifest".to_owned())
            }
            _ => None,
        }
    }

    /// What the manifests say below `ccm` for all resources of a type, those of all in one.
    fn settings_of_types(&self) -> Result<Vec<(String, Written)>, Diagnostic> {
        let mut settings: Vec<(String, Vec<(String, Written)>)> = Vec::new();
        let mut seen = Vec::new();
        for index in self.catalog.indices().filter(|index| self.left_out(*index).is_none()) {
            let resource = self.catalog.resource(index);
            if seen.iter().any(|seen| Arc::ptr_eq(seen, &resource.settings)) {
                continue;
            }
            seen.push(Arc::clone(&resource.settings));
            for setting in resource.settings.entries() {
                let key = &*setting.key.text;
                if settings.iter().all(|(known, _)| known != key) {
                    settings.push((key.to_owned(), Vec::new()));
                }
                let Some((_, named)) = settings.iter_mut().find(|(known, _)| known == key) else { continue };
                for entry in setting.value.as_map().into_iter().flat_map(ccm_model::Map::entries) {
                    let value = self.node(&entry.value, Reader::Nobody, resource, None)?;
                    let name = literal::escape(&self.redaction.text(&entry.key.text), Reader::Nobody);
                    match named.iter().find(|(known, _)| *known == name) {
                        Some((_, known)) if *known != value => {
                            let message =
                                format!("`{name}` of `{key}` differs between the manifests that are applied");
                            let mistake = Diagnostic::error(entry.key.span, escape_control(&message));
                            return Err(mistake.with_hint("give one of them another name"));
                        }
                        Some(_) => {}
                        None => named.push((name, value)),
                    }
                }
            }
        }
        settings.retain(|(_, named)| !named.is_empty());
        Ok(settings.into_iter().map(|(key, named)| (key, Written::Map(named))).collect())
    }

    /// What the dependencies of a resource come to. In the place of one that is not written stands what that
    /// depends on: the resources of the manifest that it stands for, or what has to be before it.
    fn meant(&self, resource: &Resource) -> Vec<ResourceIndex> {
        let mut meant = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<&Dependency> = edges(resource).collect();
        open.reverse();
        while let Some(edge) = open.pop() {
            if !seen.insert(edge.on) {
                continue;
            }
            let on = self.catalog.resource(edge.on);
            if on.stands_for.is_none() && self.left_out(edge.on).is_none() {
                meant.push(edge.on);
            } else {
                let first = open.len();
                open.extend(edges(on));
                open[first..].reverse();
            }
        }
        meant
    }

    /// What a subscription comes to: it is the resources of a manifest that may change.
    fn sources(&self, edges: &[Dependency]) -> Vec<ResourceIndex> {
        let mut sources = Vec::new();
        for edge in edges {
            match self.catalog.resource(edge.on).stands_for {
                None => sources.push(edge.on),
                Some(child) => sources.extend(self.catalog.indices().filter(|index| {
                    let resource = self.catalog.resource(*index);
                    resource.stands_for.is_none()
                        && self.catalog.children_around(resource).any(|around| around == child)
                })),
            }
        }
        sources.retain(|index| self.left_out(*index).is_none());
        sources
    }

    fn resource(&self, index: ResourceIndex) -> Result<Written, Diagnostic> {
        let resource = self.catalog.resource(index);
        let provider = resource.provider.as_ref().map(|provider| &*provider.value);
        let waiting = self.loaded.late.waiting.get(&index);
        let spec = self.loaded.late.types.iter().find(|spec| *spec.name() == *resource.id.type_name);
        let mut entries = Vec::new();
        let mut put =
            |key: &str, value: Option<Written>| entries.extend(value.map(|value| (key.to_owned(), value)));
        put("alias", resource.alias.as_ref().map(|alias| self.text(alias, Reader::Nobody)));
        put("ensure", resource.ensure.as_ref().map(|ensure| self.text(&ensure.value, Reader::Nobody)));
        put("provider", provider.map(|provider| self.text(provider, Reader::Nobody)));
        let subscribe = self.sources(&resource.subscribe);
        let mut require = self.meant(resource);
        require.retain(|on| *on != index && !subscribe.contains(on));
        let mut awaited = waiting.iter().flat_map(|waiting| &waiting.files);
        if let Some(on) = awaited.find(|on| self.left_out(**on).is_some()) {
            return Err(self.waits_for_nothing(resource, *on));
        }
        put("require", self.references(&require));
        put("subscribe", self.references(&subscribe));
        if let Some(waiting) = waiting.filter(|_| resource.control == Control::Late) {
            put("control", Some(self.control(resource, waiting)?));
        }
        for entry in resource.properties.given() {
            let entry = match spec {
                Some(spec) => settled(*spec, resource, entry, self.text_of(index)),
                None => entry.clone(),
            };
            let key = &*entry.key.text;
            let reader = spec.map_or(Reader::Nobody, |spec| spec.reader(key, provider, &resource.properties));
            let source = spec.and_then(|spec| spec.template_source()).filter(|(source, _)| *source == key);
            let value = match (source, entry.value.as_text(), resource.child) {
                _ if is_untold(&resource.properties, key) => untold(key, &entry.value),
                (Some(_), Some(path), Some(child)) if !is_late(waiting, &entry.value) => {
                    let path = self.catalog.child(child).directory.join(path);
                    self.text(&path.to_string_lossy(), reader)
                }
                (Some(_), Some(path), _) if is_late(waiting, &entry.value) => {
                    return Err(unwritable(resource, &format!("the template `{path}`")));
                }
                _ => self.node(&entry.value, reader, resource, waiting)?,
            };
            put(key, Some(value));
        }
        let reader = spec.map_or(Reader::Nobody, |spec| spec.reader("name", provider, &resource.properties));
        let name = literal::escape(&self.redaction.text(&resource.id.name), reader);
        let properties = match () {
            // That name has a meaning in a list.
            () if name == "defaults" => {
                entries.insert(0, ("name".to_owned(), Written::Text(name)));
                Written::Map(entries)
            }
            () if entries.is_empty() => {
                Written::List(vec![Written::Map(vec![(name, Written::Map(Vec::new()))])])
            }
            () => Written::List(vec![Written::Map(vec![(name, Written::Map(entries))])]),
        };
        Ok(Written::Map(vec![(resource.id.type_name.to_string(), properties)]))
    }

    /// The text that a resource stands in.
    fn text_of(&self, index: ResourceIndex) -> &str {
        let late = &self.loaded.late;
        late.standing.get(index.get()).map_or("", |manifest| &late.manifests[*manifest].text)
    }

    /// Says that a value comes from a resource that is not written.
    fn waits_for_nothing(&self, resource: &Resource, on: ResourceIndex) -> Diagnostic {
        let on = &self.catalog.resource(on).id;
        refused(resource, &format!("it waits for `{on}`, which is in noop and left out"))
    }

    fn references(&self, on: &[ResourceIndex]) -> Option<Written> {
        let reference = |index: &ResourceIndex| {
            let id = &self.catalog.resource(*index).id;
            self.text(&id.to_string(), Reader::Nobody)
        };
        (!on.is_empty()).then(|| Written::List(on.iter().map(reference).collect()))
    }

    fn text(&self, text: &str, reader: Reader) -> Written {
        Written::Text(literal::escape(&self.redaction.text(text), reader))
    }

    /// Writes a value, with everything in it.
    fn node(
        &self,
        node: &Node,
        reader: Reader,
        resource: &Resource,
        waiting: Option<&LateResource>,
    ) -> Result<Written, Diagnostic> {
        Ok(match &node.value {
            Value::List(elements) => {
                let elements = elements.iter().map(|element| self.node(element, reader, resource, waiting));
                Written::List(elements.collect::<Result<_, _>>()?)
            }
            Value::Map(map) => {
                let entries = map.entries().iter().map(|entry| {
                    let key = literal::escape(&self.redaction.text(&entry.key.text), reader);
                    let reader = reader.of_entry(&entry.key.text);
                    Ok((key, self.node(&entry.value, reader, resource, waiting)?))
                });
                Written::Map(entries.collect::<Result<_, Diagnostic>>()?)
            }
            Value::Scalar(scalar) => match waiting.filter(|waiting| waiting.texts.covers(node.span)) {
                Some(waiting) => {
                    Written::Text(self.late_texts(waiting.manifest).text(&scalar.text, reader, resource)?)
                }
                None => self.scalar(scalar, reader),
            },
        })
    }

    fn scalar(&self, scalar: &Scalar, reader: Reader) -> Written {
        match nodes::of_scalar(scalar) {
            Computed::Text(text) => self.text(&text, reader),
            Computed::Null => Written::Plain("null".to_owned()),
            value => {
                let written = printed::to_text(&value).into_owned();
                if self.redaction.text(&written) == written {
                    Written::Plain(written)
                } else {
                    self.text(&written, reader)
                }
            }
        }
    }

    /// Writes the conditions of a resource and of what is around it as one.
    fn control(&self, resource: &Resource, waiting: &LateResource) -> Result<Written, Diagnostic> {
        let mut entries = Vec::new();
        for (wanted, key, between) in [(true, "if", " && "), (false, "unless", " || ")] {
            let mut expressions = Vec::new();
            for (of, expression, manifest) in waiting.conditions.expressions() {
                if of == wanted {
                    let expression = self.late_texts(manifest).expression(expression, resource)?;
                    expressions.push(expression);
                }
            }
            if expressions.len() > 1 {
                for expression in &mut expressions {
                    *expression = format!("({expression})");
                }
            }
            if !expressions.is_empty() {
                entries.push((key.to_owned(), Written::Text(expressions.join(between))));
            }
        }
        Ok(Written::Map(entries))
    }

    fn late_texts(&self, manifest: usize) -> LateTexts<'_> {
        let late = &self.loaded.late;
        LateTexts {
            late,
            manifest: &late.manifests[manifest],
            root: &late.manifests[0].directory,
            redaction: &self.redaction,
        }
    }
}

/// What is written of a property that a sensitive resource does not tell: its form without its texts.
fn untold(key: &str, node: &Node) -> Written {
    let redacted = || Written::Text(REDACTED.to_owned());
    match &node.value {
        // It is told anyway by whether it was as expected.
        Value::Scalar(scalar) if key == "exit_code" => Written::Plain(scalar.text.to_string()),
        Value::Scalar(_) => redacted(),
        Value::List(elements) => Written::List(
            elements
                .iter()
                .map(|element| match element.as_text().and_then(|text| text.split_once('=')) {
                    Some((name, _)) if key == "environment" => Written::Text(format!("{name}={REDACTED}")),
                    _ => untold(key, element),
                })
                .collect(),
        ),
        Value::Map(_) if key == "stdout_json" => redacted(),
        Value::Map(map) => {
            let entries = map.entries().iter();
            Written::Map(
                entries
                    .map(|entry| (entry.key.text.to_string(), untold(&entry.key.text, &entry.value)))
                    .collect(),
            )
        }
    }
}

fn is_late(waiting: Option<&LateResource>, node: &Node) -> bool {
    waiting.is_some_and(|waiting| waiting.texts.covers(node.span))
}

fn edges(resource: &Resource) -> impl DoubleEndedIterator<Item = &Dependency> {
    resource.require.iter().chain(&resource.subscribe)
}

/// Says that a template can't be written.
fn unwritable(resource: &Resource, what: &str) -> Diagnostic {
    refused(resource, &format!("{what} is rendered only during the run"))
        .with_hint("what a template names is known to this manifest alone")
}

/// Says why a resource can't be written.
fn refused(resource: &Resource, why: &str) -> Diagnostic {
    let message = format!("`{}` can't be written: {why}", resource.id);
    Diagnostic::error(resource.span, escape_control(&message))
}

/// A property whose numbers have the form in which everybody reads them alike. Where the type takes text, a
/// number such as `0644` is the text that it was written as.
fn settled(spec: &dyn TypeSpec, resource: &Resource, entry: &Entry, source_text: &str) -> Entry {
    if !holds_odd_number(&entry.value) {
        return entry.clone();
    }
    let errors = |properties: &Properties| {
        let resource = Resource { properties: properties.clone(), ..resource.clone() };
        let found = spec.check(&Checked { resource: &resource, source_text, secrets: &[] });
        found.iter().filter(|found| found.severity == Severity::Error).count()
    };
    let mut texts = entry.clone();
    settle(&mut texts.value, &|scalar| (scalar.text.clone(), ScalarStyle::Quoted));
    let mut properties = resource.properties.clone();
    let before = errors(&properties);
    properties.replace(texts.clone());
    if errors(&properties) <= before {
        return texts;
    }
    let mut numbers = entry.clone();
    settle(&mut numbers.value, &|scalar| {
        let number = match scalar.kind() {
            Kind::Int(number) => Computed::Int(number),
            Kind::Float(number) => Computed::Float(number),
            _ => return (scalar.text.clone(), scalar.style),
        };
        (printed::to_text(&number).into(), ScalarStyle::Computed)
    });
    numbers
}

/// Tells whether it is a number that was not written as it is printed.
fn is_odd(scalar: &Scalar) -> bool {
    matches!(scalar.kind(), Kind::Int(_) | Kind::Float(_))
        && matches!(nodes::of_scalar(scalar), Computed::Text(_))
}

fn holds_odd_number(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => is_odd(scalar),
        Value::List(elements) => elements.iter().any(holds_odd_number),
        Value::Map(map) => map.entries().iter().any(|entry| holds_odd_number(&entry.value)),
    }
}

fn settle(node: &mut Node, form: &dyn Fn(&Scalar) -> (Box<str>, ScalarStyle)) {
    match &mut node.value {
        Value::Scalar(scalar) if is_odd(scalar) => (scalar.text, scalar.style) = form(scalar),
        Value::Scalar(_) => {}
        Value::List(elements) => elements.iter_mut().for_each(|element| settle(element, form)),
        Value::Map(map) => map.entries_mut().iter_mut().for_each(|entry| settle(&mut entry.value, form)),
    }
}

#[cfg(test)]
mod tests;
