//! A catalog as a manifest again: without data, hierarchy, templates and children, for the same state.

mod late;
mod literal;

use std::collections::HashSet;
use std::sync::Arc;

use ccm_data::nodes;
use ccm_data::printed;
use ccm_expr::Value as Computed;
use ccm_graph::Graph;
use ccm_model::{
    Catalog, Control, Dependency, Diagnostic, Kind, Node, Presentation, Resource, ResourceIndex, Scalar,
    ScalarStyle, Value, escape_control,
};
use ccm_properties::{CommonProperty, IF, PropertyKind, PropertySpec, TextSyntax, UNLESS, find, is_hidden};
use ccm_redaction::REDACTED;
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
    let graph = Graph::of(catalog);
    let renderer = Renderer { catalog, graph, loaded, redaction: Redaction::new(&loaded.data.secrets) };
    let mut text = String::new();
    let mut resources = Vec::new();
    let mut mistakes = Vec::new();
    for index in catalog.indices() {
        match renderer.left_out(index) {
            Some(reason) => {
                let id = renderer.redaction.text(&catalog.resource(index).id.to_string());
                text += &format!("# left out: {}: {reason}\n", escape_control(&id));
            }
            None if catalog.resource(index).node_of.is_some() => {}
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
    if !catalog.fail_on_error && catalog.groups.iter().any(|group| group.fail_on_error && !group.noop) {
        text += "# `fail_on_error` of a manifest that this one applies is not kept\n";
    }
    let mut settings = Vec::new();
    let messages = [
        ("name", &catalog.name),
        ("pre_message", &catalog.pre_message),
        ("post_message", &catalog.post_message),
    ];
    for (key, message) in messages {
        settings.extend(
            message.as_ref().map(|message| (key.to_owned(), renderer.text(message, TextSyntax::Plain))),
        );
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
    graph: Graph,
    loaded: &'a Loaded<'a>,
    redaction: Redaction,
}

impl Renderer<'_> {
    /// Why a resource is not written, if it is not.
    fn left_out(&self, index: ResourceIndex) -> Option<String> {
        let resource = self.catalog.resource(index);
        match &resource.control {
            Control::NotManaged { reason } => Some(reason.clone()),
            _ if resource.group.is_some_and(|group| self.catalog.group(group).noop) => {
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
                    let value = self.node(&entry.value, TextSyntax::Plain, resource, None)?;
                    let name = literal::escape(&self.redaction.text(&entry.key.text), TextSyntax::Plain);
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

    /// Returns what a resource depends on: what it requires itself, what its groups require, what it subscribes to.
    fn dependencies(&self, index: ResourceIndex) -> impl DoubleEndedIterator<Item = ResourceIndex> {
        let resource = self.catalog.resource(index);
        let on = |edge: &Dependency| edge.on;
        let of_groups: Vec<ResourceIndex> = self.graph.requirements(index).collect();
        resource.require.iter().map(on).chain(of_groups).chain(resource.subscribe.iter().map(on))
    }

    /// What the dependencies of a resource come to. In the place of one that is not written stands what that
    /// depends on: the resources of the manifest that it applies, or what has to be before it.
    fn meant(&self, index: ResourceIndex) -> Vec<ResourceIndex> {
        let mut meant = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<ResourceIndex> = self.dependencies(index).rev().collect();
        while let Some(on) = open.pop() {
            if !seen.insert(on) {
                continue;
            }
            if self.catalog.resource(on).node_of.is_none() && self.left_out(on).is_none() {
                meant.push(on);
            } else {
                open.extend(self.dependencies(on).rev());
            }
        }
        meant
    }

    /// What a subscription comes to: it is the resources of a manifest that may change.
    fn sources(&self, edges: &[Dependency]) -> Vec<ResourceIndex> {
        let mut sources = Vec::new();
        for edge in edges {
            match self.catalog.resource(edge.on).node_of {
                None => sources.push(edge.on),
                Some(group) => sources.extend(self.catalog.indices().filter(|index| {
                    let resource = self.catalog.resource(*index);
                    resource.node_of.is_none()
                        && self.catalog.groups_around(resource).any(|around| around == group)
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
        let mut put = |property: CommonProperty, value: Option<Written>| {
            entries.extend(value.map(|value| (property.spec().name.to_owned(), value)));
        };
        put(CommonProperty::Alias, resource.alias.as_ref().map(|alias| self.text(alias, TextSyntax::Plain)));
        put(
            CommonProperty::Ensure,
            resource.ensure.as_ref().map(|ensure| self.text(&ensure.value, TextSyntax::Plain)),
        );
        put(CommonProperty::Provider, provider.map(|provider| self.text(provider, TextSyntax::Plain)));
        let subscribe = self.sources(&resource.subscribe);
        let mut require = self.meant(index);
        require.retain(|on| *on != index && !subscribe.contains(on));
        let mut awaited = waiting.iter().flat_map(|waiting| &waiting.files);
        if let Some(on) = awaited.find(|on| self.left_out(**on).is_some()) {
            return Err(self.waits_for_nothing(resource, *on));
        }
        put(CommonProperty::Require, self.references(&require));
        put(CommonProperty::Subscribe, self.references(&subscribe));
        if let Some(waiting) = waiting.filter(|_| resource.control == Control::Late) {
            put(CommonProperty::Control, Some(self.control(resource, waiting)?));
        }
        for entry in resource.properties.given() {
            let key = &*entry.key.text;
            let table = spec.map(|spec| spec.properties()).unwrap_or_default();
            let property = find(table, key);
            let node = settled(property.map(|property| &property.kind), &entry.value);
            let syntax =
                spec.map_or(TextSyntax::Plain, |spec| spec.syntax(key, provider, &resource.properties));
            let source = spec.and_then(|spec| spec.template_source()).filter(|(source, _)| *source == key);
            let value = match (source, node.as_text(), resource.group) {
                _ if is_hidden(table, &resource.properties, key) => hidden(property, &node),
                (Some(_), Some(path), Some(group)) if !is_late(waiting, &node) => {
                    let path = self.catalog.group(group).directory.join(path);
                    self.text(&path.to_string_lossy(), syntax)
                }
                (Some(_), Some(path), _) if is_late(waiting, &node) => {
                    return Err(unwritable(resource, &format!("the template `{path}`")));
                }
                _ => self.node(&node, syntax, resource, waiting)?,
            };
            entries.push((key.to_owned(), value));
        }
        let syntax =
            spec.map_or(TextSyntax::Plain, |spec| spec.syntax("name", provider, &resource.properties));
        let name = literal::escape(&self.redaction.text(&resource.id.name), syntax);
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

    /// Says that a value comes from a resource that is not written.
    fn waits_for_nothing(&self, resource: &Resource, on: ResourceIndex) -> Diagnostic {
        let on = &self.catalog.resource(on).id;
        refused(resource, &format!("it waits for `{on}`, which is in noop and left out"))
    }

    fn references(&self, on: &[ResourceIndex]) -> Option<Written> {
        let reference = |index: &ResourceIndex| {
            let id = &self.catalog.resource(*index).id;
            self.text(&id.to_string(), TextSyntax::Plain)
        };
        (!on.is_empty()).then(|| Written::List(on.iter().map(reference).collect()))
    }

    fn text(&self, text: &str, syntax: TextSyntax) -> Written {
        Written::Text(literal::escape(&self.redaction.text(text), syntax))
    }

    /// Writes a value, with everything in it.
    fn node(
        &self,
        node: &Node,
        syntax: TextSyntax,
        resource: &Resource,
        waiting: Option<&LateResource>,
    ) -> Result<Written, Diagnostic> {
        Ok(match &node.value {
            Value::List(elements) => {
                let elements = elements.iter().map(|element| self.node(element, syntax, resource, waiting));
                Written::List(elements.collect::<Result<_, _>>()?)
            }
            Value::Map(map) => {
                let entries = map.entries().iter().map(|entry| {
                    let key = literal::escape(&self.redaction.text(&entry.key.text), syntax);
                    let syntax = syntax.of_entry(&entry.key.text);
                    Ok((key, self.node(&entry.value, syntax, resource, waiting)?))
                });
                Written::Map(entries.collect::<Result<_, Diagnostic>>()?)
            }
            Value::Scalar(scalar) => match waiting.filter(|waiting| waiting.texts.covers(node.span)) {
                Some(waiting) => {
                    Written::Text(self.late_texts(waiting.manifest).text(&scalar.text, syntax, resource)?)
                }
                None => self.scalar(scalar, syntax),
            },
        })
    }

    fn scalar(&self, scalar: &Scalar, syntax: TextSyntax) -> Written {
        match nodes::of_scalar(scalar) {
            Computed::Text(text) => self.text(&text, syntax),
            Computed::Null => Written::Plain("null".to_owned()),
            value => {
                let written = printed::to_text(&value).into_owned();
                if self.redaction.text(&written) == written {
                    Written::Plain(written)
                } else {
                    self.text(&written, syntax)
                }
            }
        }
    }

    /// Writes the conditions of a resource and of what is around it as one.
    fn control(&self, resource: &Resource, waiting: &LateResource) -> Result<Written, Diagnostic> {
        let mut entries = Vec::new();
        for (wanted, key, between) in [(true, IF, " && "), (false, UNLESS, " || ")] {
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

/// Writes what a sensitive resource hides: its form without its texts.
fn hidden(property: Option<&PropertySpec>, node: &Node) -> Written {
    let is_part = |kind| property.is_some_and(|property| property.kind == kind);
    match &node.value {
        Value::Scalar(scalar) if property.is_some_and(|property| !property.sensitive) => {
            Written::Plain(scalar.text.to_string())
        }
        Value::Scalar(_) => Written::Text(REDACTED.to_owned()),
        Value::List(elements) => Written::List(
            elements
                .iter()
                .map(|element| match element.as_text().and_then(|text| text.split_once('=')) {
                    Some((name, _))
                        if property.is_some_and(|p| p.presentation == Presentation::Variables) =>
                    {
                        Written::Text(format!("{name}={REDACTED}"))
                    }
                    _ => hidden(property, element),
                })
                .collect(),
        ),
        Value::Map(_) if is_part(PropertyKind::Json) => Written::Text(REDACTED.to_owned()),
        Value::Map(map) => {
            let parts = match property.map(|property| property.kind) {
                Some(PropertyKind::Record { properties, .. }) => properties,
                _ => &[],
            };
            let entry = |entry: &ccm_model::Entry| {
                (entry.key.text.to_string(), hidden(find(parts, &entry.key.text), &entry.value))
            };
            Written::Map(map.entries().iter().map(entry).collect())
        }
    }
}

fn is_late(waiting: Option<&LateResource>, node: &Node) -> bool {
    waiting.is_some_and(|waiting| waiting.texts.covers(node.span))
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

/// Returns a value whose numbers have the form in which everybody reads them alike. Where the property takes text, a
/// number such as `0644` is the text that it was written as.
fn settled(kind: Option<&PropertyKind>, node: &Node) -> Node {
    let value = match &node.value {
        Value::Scalar(scalar) => Value::Scalar(match nodes::of_scalar(scalar) {
            Computed::Text(_) if kind.is_some_and(PropertyKind::takes_text) => {
                Scalar { text: scalar.text.clone(), style: ScalarStyle::Quoted }
            }
            // It was not written as it is printed.
            Computed::Text(_) => printed_number(scalar),
            _ => scalar.clone(),
        }),
        Value::List(elements) => {
            let kind = kind.and_then(PropertyKind::element);
            Value::List(elements.iter().map(|element| settled(kind, element)).collect())
        }
        Value::Map(map) => {
            let mut map = map.clone();
            for entry in map.entries_mut() {
                entry.value = settled(kind.and_then(|kind| kind.entry(&entry.key.text)), &entry.value);
            }
            Value::Map(map)
        }
    };
    Node { value, span: node.span }
}

fn printed_number(scalar: &Scalar) -> Scalar {
    let number = match scalar.kind() {
        Kind::Int(number) => Computed::Int(number),
        Kind::Float(number) => Computed::Float(number),
        _ => return scalar.clone(),
    };
    Scalar { text: printed::to_text(&number).into(), style: ScalarStyle::Computed }
}
