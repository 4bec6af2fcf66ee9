//! Renders a catalog as a single manifest for the same state.

mod late;
mod literal;

use std::collections::HashSet;
use std::sync::Arc;

use ccm_data::nodes;
use ccm_data::printed;
use ccm_expr::Value as Computed;
use ccm_graph::Graph;
use ccm_model::{
    Catalog, Control, Dependency, Diagnostic, DiagnosticKind, Node, NodeValue, Presentation, Resource,
    ResourceIndex, Scalar, ScalarKind, ScalarStyle, escape_control,
};
use ccm_properties::{
    CommonProperty, HEALTH_CHECKS, HealthCheckProperties, IF, PropertyKind, PropertySet as _, PropertySpec,
    SourcesView, TextSyntax, UNLESS, find, find_property, is_hidden, is_web_address,
};
use ccm_redaction::REDACTED;
use ccm_yaml::YamlValue;

use crate::late::LateResource;
use crate::load::LoadResult;
use crate::redaction::Redaction;
use late::LateTexts;

/// Renders a catalog as YAML that, applied from the same directory, results in the same state.
///
/// One list holds the resources of all manifests, with every dependency as `require`. Comments name the
/// omitted resources: those that are not managed or in noop. Secrets, queries of web addresses and properties that
/// `sensitive` hides are redacted, late values stay expressions. A resource that can't be rendered is an error.
pub fn render(catalog: &Catalog, loaded: &LoadResult<'_>) -> Result<String, Vec<Diagnostic>> {
    let graph = Graph::of(catalog);
    let renderer = Renderer { catalog, graph, loaded, redaction: Redaction::new(&loaded.data.secrets) };
    let mut text = String::new();
    let mut resources = Vec::new();
    let mut errors = Vec::new();
    for index in catalog.indices() {
        match renderer.omission_reason(index) {
            Some(reason) => {
                let id = renderer.redaction.text(&catalog.resource(index).id.to_string());
                text += &format!("# left out: {}: {reason}\n", escape_control(&id));
            }
            None if catalog.resource(index).node_of.is_some() => {}
            None => match renderer.resource(index) {
                Ok(resource) => resources.push(resource),
                Err(error) => errors.push(error),
            },
        }
    }
    let type_settings = renderer.settings_of_types().map_err(|error| errors.push(error)).unwrap_or_default();
    if !errors.is_empty() {
        return Err(errors);
    }
    if !catalog.fail_on_error && catalog.groups.iter().any(|group| group.fail_on_error && !group.noop) {
        text += "# `fail_on_error` of a child manifest is left out\n";
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
        settings.push(("fail_on_error".to_owned(), YamlValue::Plain("true".to_owned())));
    }
    settings.extend(type_settings);
    if let Some((checks, node)) =
        catalog.checks.as_deref().and_then(|checks| Some((checks, checks.properties.get(HEALTH_CHECKS)?)))
    {
        match renderer.node(node, TextSyntax::Record(HealthCheckProperties::PROPERTIES), checks, None) {
            Ok(value) => settings.push(("checks".to_owned(), value)),
            Err(error) => return Err(vec![error]),
        }
    }
    settings.push(("resources".to_owned(), YamlValue::List(resources)));
    let manifest = YamlValue::Map(vec![("ccm".to_owned(), YamlValue::Map(settings))]);
    Ok(text + &ccm_yaml::write(&manifest))
}

struct Renderer<'a> {
    catalog: &'a Catalog,
    graph: Graph,
    loaded: &'a LoadResult<'a>,
    redaction: Redaction,
}

impl Renderer<'_> {
    /// Returns the reason why a resource is omitted, if it is.
    fn omission_reason(&self, index: ResourceIndex) -> Option<String> {
        let resource = self.catalog.resource(index);
        match &resource.control {
            Control::NotManaged { reason } => Some(reason.clone()),
            _ if resource.group.is_some_and(|group| self.catalog.group(group).noop) => {
                Some("its manifest is in noop".to_owned())
            }
            _ => None,
        }
    }

    /// Returns the settings of resource types, merged from all manifests.
    fn settings_of_types(&self) -> Result<Vec<(String, YamlValue)>, Diagnostic> {
        let mut settings: Vec<(String, Vec<(String, YamlValue)>)> = Vec::new();
        let mut seen = Vec::new();
        for index in self.catalog.indices().filter(|index| self.omission_reason(*index).is_none()) {
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
                for entry in setting.value.as_map().into_iter().flat_map(ccm_model::NodeMap::entries) {
                    let value = self.node(&entry.value, TextSyntax::Plain, resource, None)?;
                    let name = literal::escape(&self.redaction.text(&entry.key.text), TextSyntax::Plain);
                    match named.iter().find(|(known, _)| *known == name) {
                        Some((_, known)) if *known != value => {
                            let message = format!(
                                "`{name}` of `{key}` is defined differently in another manifest of this run"
                            );
                            let error = Diagnostic::error(
                                DiagnosticKind::Conflict,
                                entry.key.span,
                                escape_control(&message),
                            );
                            return Err(error.with_hint("rename one of them"));
                        }
                        Some(_) => {}
                        None => named.push((name, value)),
                    }
                }
            }
        }
        settings.retain(|(_, named)| !named.is_empty());
        Ok(settings.into_iter().map(|(key, named)| (key, YamlValue::Map(named))).collect())
    }

    /// Returns all dependencies of a resource: its requirements, those of its groups, its subscriptions.
    fn dependencies(&self, index: ResourceIndex) -> impl DoubleEndedIterator<Item = ResourceIndex> {
        let resource = self.catalog.resource(index);
        let on = |edge: &Dependency| edge.on;
        let of_groups: Vec<ResourceIndex> = self.graph.requirements(index).collect();
        resource.require.iter().map(on).chain(of_groups).chain(resource.subscribe.iter().map(on))
    }

    /// Returns the rendered dependencies of a resource, with those of omitted and `apply` resources in their
    /// place.
    fn effective_dependencies(&self, index: ResourceIndex) -> Vec<ResourceIndex> {
        let mut dependencies = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<ResourceIndex> = self.dependencies(index).rev().collect();
        while let Some(on) = open.pop() {
            if !seen.insert(on) {
                continue;
            }
            if self.catalog.resource(on).node_of.is_none() && self.omission_reason(on).is_none() {
                dependencies.push(on);
            } else {
                open.extend(self.dependencies(on).rev());
            }
        }
        dependencies
    }

    /// Returns the rendered sources of subscriptions. The resources of a group replace its `apply` resource.
    fn subscription_sources(&self, edges: &[Dependency]) -> Vec<ResourceIndex> {
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
        sources.retain(|index| self.omission_reason(*index).is_none());
        sources
    }

    fn resource(&self, index: ResourceIndex) -> Result<YamlValue, Diagnostic> {
        let resource = self.catalog.resource(index);
        let provider = resource.provider.as_ref().map(|provider| &*provider.value);
        let waiting = self.loaded.late.waiting.get(&index);
        let spec = self.loaded.late.types.iter().find(|spec| *spec.name() == *resource.id.type_name);
        let mut entries = Vec::new();
        let mut put = |property: CommonProperty, value: Option<YamlValue>| {
            entries.extend(value.map(|value| (property.spec().name.to_owned(), value)));
        };
        put(CommonProperty::Alias, resource.aliases.first().map(|alias| self.text(alias, TextSyntax::Plain)));
        put(
            CommonProperty::Ensure,
            resource.ensure.as_ref().map(|ensure| self.text(&ensure.value, TextSyntax::Plain)),
        );
        put(CommonProperty::Provider, provider.map(|provider| self.text(provider, TextSyntax::Plain)));
        let subscribe = self.subscription_sources(&resource.subscribe);
        let mut require = self.effective_dependencies(index);
        require.retain(|on| *on != index && !subscribe.contains(on));
        let mut awaited = waiting.iter().flat_map(|waiting| &waiting.files);
        if let Some(on) = awaited.find(|on| self.omission_reason(**on).is_some()) {
            return Err(self.depends_on_omitted(resource, *on));
        }
        put(CommonProperty::Require, self.references(&require));
        put(CommonProperty::Subscribe, self.references(&subscribe));
        let autorequire = resource.autorequire.map(|is_on| YamlValue::Plain(is_on.to_string()));
        put(CommonProperty::Autorequire, autorequire);
        if let Some(waiting) = waiting.filter(|_| resource.control == Control::Late) {
            put(CommonProperty::Control, Some(self.control(resource, waiting)?));
        }
        for entry in resource.properties.given() {
            let key = &*entry.key.text;
            let table = spec.map(|spec| spec.properties()).unwrap_or_default();
            let property = find_property(table, key);
            let node = canonical(property.map(|property| &property.kind), &entry.value);
            let syntax =
                spec.map_or(TextSyntax::Plain, |spec| spec.syntax(key, provider, &resource.properties));
            let sources = spec.and_then(|spec| spec.sources());
            let source = sources.and_then(SourcesView::template).filter(|(source, _)| *source == key);
            let ensure = resource.ensure.as_ref().map(|ensure| &*ensure.value);
            let tree = sources.and_then(|view| view.tree(ensure)).filter(|tree| tree.property == key);
            let is_waiting = waiting.is_some_and(|waiting| waiting.texts.covers(node.span));
            if tree.is_some() && (is_waiting || !resource.rendered.entries().is_empty()) {
                return Err(unrenderable(
                    resource,
                    "it renders the templates of a directory when it is applied",
                ));
            }
            let value = match (source, node.as_text(), resource.group) {
                _ if is_hidden(table, &resource.properties, key) => redacted(property, &node),
                (_, Some(url), _) if !is_late(waiting, &node) && has_query(url) => {
                    let (address, _) = url.split_once('?').unwrap_or((url, ""));
                    self.text(&format!("{address}?{REDACTED}"), syntax)
                }
                (Some(_), Some(path), Some(group)) if !is_late(waiting, &node) && !is_web_address(path) => {
                    let path = self.catalog.group(group).directory.join(path);
                    self.text(&path.to_string_lossy(), syntax)
                }
                (Some(_), Some(path), _) if is_late(waiting, &node) => {
                    return Err(late_template(resource, &format!("the template `{path}`")));
                }
                _ => self.node(&node, syntax, resource, waiting)?,
            };
            entries.push((key.to_owned(), value));
        }
        let syntax =
            spec.map_or(TextSyntax::Plain, |spec| spec.syntax("name", provider, &resource.properties));
        let name = literal::escape(&self.redaction.text(&resource.id.name), syntax);
        let properties = match () {
            // `defaults` as a key in a list is no resource.
            () if name == "defaults" => {
                entries.insert(0, ("name".to_owned(), YamlValue::Text(name)));
                YamlValue::Map(entries)
            }
            () if entries.is_empty() => {
                YamlValue::List(vec![YamlValue::Map(vec![(name, YamlValue::Map(Vec::new()))])])
            }
            () => YamlValue::List(vec![YamlValue::Map(vec![(name, YamlValue::Map(entries))])]),
        };
        Ok(YamlValue::Map(vec![(resource.id.type_name.to_string(), properties)]))
    }

    /// Returns the error for a value from an omitted resource.
    fn depends_on_omitted(&self, resource: &Resource, on: ResourceIndex) -> Diagnostic {
        let on = &self.catalog.resource(on).id;
        unrenderable(resource, &format!("it depends on `{on}`, which is in noop and therefore left out"))
    }

    fn references(&self, on: &[ResourceIndex]) -> Option<YamlValue> {
        let reference = |index: &ResourceIndex| {
            let id = &self.catalog.resource(*index).id;
            self.text(&id.to_string(), TextSyntax::Plain)
        };
        (!on.is_empty()).then(|| YamlValue::List(on.iter().map(reference).collect()))
    }

    fn text(&self, text: &str, syntax: TextSyntax) -> YamlValue {
        YamlValue::Text(literal::escape(&self.redaction.text(text), syntax))
    }

    fn node(
        &self,
        node: &Node,
        syntax: TextSyntax,
        resource: &Resource,
        waiting: Option<&LateResource>,
    ) -> Result<YamlValue, Diagnostic> {
        Ok(match &node.value {
            NodeValue::List(elements) => {
                let elements = elements.iter().map(|element| self.node(element, syntax, resource, waiting));
                YamlValue::List(elements.collect::<Result<_, _>>()?)
            }
            NodeValue::Map(map) => {
                let for_shell = TextSyntax::is_for_shell(map);
                let entries = map.entries().iter().map(|entry| {
                    let key = literal::escape(&self.redaction.text(&entry.key.text), syntax);
                    let syntax = syntax.of_entry(&entry.key.text, for_shell);
                    Ok((key, self.node(&entry.value, syntax, resource, waiting)?))
                });
                YamlValue::Map(entries.collect::<Result<_, Diagnostic>>()?)
            }
            NodeValue::Scalar(scalar) => match waiting.filter(|waiting| waiting.texts.covers(node.span)) {
                Some(waiting) => {
                    YamlValue::Text(self.late_texts(waiting.manifest).text(&scalar.text, syntax, resource)?)
                }
                None => self.scalar(scalar, syntax),
            },
        })
    }

    fn scalar(&self, scalar: &Scalar, syntax: TextSyntax) -> YamlValue {
        match nodes::of_scalar(scalar) {
            Computed::Text(text) => self.text(&text, syntax),
            Computed::Null => YamlValue::Plain("null".to_owned()),
            value => {
                let written = printed::to_text(&value).into_owned();
                if self.redaction.text(&written) == written {
                    YamlValue::Plain(written)
                } else {
                    self.text(&written, syntax)
                }
            }
        }
    }

    /// Merges the conditions of a resource and of the outer manifests.
    fn control(&self, resource: &Resource, waiting: &LateResource) -> Result<YamlValue, Diagnostic> {
        let mut entries = Vec::new();
        for (desired, key, between) in [(true, IF, " && "), (false, UNLESS, " || ")] {
            let mut expressions = Vec::new();
            for (of, expression, manifest) in waiting.conditions.expressions() {
                if of == desired {
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
                entries.push((key.to_owned(), YamlValue::Text(expressions.join(between))));
            }
        }
        Ok(YamlValue::Map(entries))
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

/// Returns `true` for a web address with a query, which may hold a token, as no message shows one.
fn has_query(text: &str) -> bool {
    is_web_address(text) && text.contains('?')
}

/// Writes a redacted property: its structure without its texts.
fn redacted(property: Option<&PropertySpec>, node: &Node) -> YamlValue {
    let is_part = |kind| property.is_some_and(|property| property.kind == kind);
    match &node.value {
        NodeValue::Scalar(scalar)
            if property.is_some_and(|property| !property.sensitive && !property.secret) =>
        {
            YamlValue::Plain(scalar.text.to_string())
        }
        NodeValue::Scalar(_) => YamlValue::Text(REDACTED.to_owned()),
        NodeValue::List(elements) => YamlValue::List(
            elements
                .iter()
                .map(|element| match element.as_text().and_then(|text| text.split_once('=')) {
                    Some((name, _))
                        if property.is_some_and(|p| p.presentation == Presentation::Variables) =>
                    {
                        YamlValue::Text(format!("{name}={REDACTED}"))
                    }
                    _ => redacted(property, element),
                })
                .collect(),
        ),
        NodeValue::Map(_) if is_part(PropertyKind::Json) => YamlValue::Text(REDACTED.to_owned()),
        NodeValue::Map(map) => {
            let parts = match property.map(|property| property.kind) {
                Some(PropertyKind::Record { properties, .. }) => properties,
                _ => &[],
            };
            let entry = |entry: &ccm_model::NodeEntry| {
                (entry.key.text.to_string(), redacted(find(parts, &entry.key.text), &entry.value))
            };
            YamlValue::Map(map.entries().iter().map(entry).collect())
        }
    }
}

fn is_late(waiting: Option<&LateResource>, node: &Node) -> bool {
    waiting.is_some_and(|waiting| waiting.texts.covers(node.span))
}

fn late_template(resource: &Resource, what: &str) -> Diagnostic {
    unrenderable(resource, &format!("{what} is rendered only during the run"))
}

fn unrenderable(resource: &Resource, why: &str) -> Diagnostic {
    let message = format!("`{}` can't be rendered: {why}", resource.id);
    Diagnostic::error(DiagnosticKind::Unrenderable, resource.span, escape_control(&message))
}

/// Returns a value with canonical numbers; in a text property, a number such as `0644` keeps its text.
fn canonical(kind: Option<&PropertyKind>, node: &Node) -> Node {
    let value = match &node.value {
        NodeValue::Scalar(scalar) => NodeValue::Scalar(match nodes::of_scalar(scalar) {
            Computed::Text(_) if kind.is_some_and(PropertyKind::takes_text) => {
                Scalar { text: scalar.text.clone(), style: ScalarStyle::Quoted }
            }
            Computed::Text(_) => printed_number(scalar),
            _ => scalar.clone(),
        }),
        NodeValue::List(elements) => {
            let kind = kind.and_then(PropertyKind::element);
            NodeValue::List(elements.iter().map(|element| canonical(kind, element)).collect())
        }
        NodeValue::Map(map) => {
            let mut map = map.clone();
            for entry in map.entries_mut() {
                entry.value = canonical(kind.and_then(|kind| kind.entry(&entry.key.text)), &entry.value);
            }
            NodeValue::Map(map)
        }
    };
    Node { value, span: node.span }
}

fn printed_number(scalar: &Scalar) -> Scalar {
    let number = match scalar.kind() {
        ScalarKind::Int(number) => Computed::Int(number),
        ScalarKind::Float(number) => Computed::Float(number),
        _ => return scalar.clone(),
    };
    Scalar { text: printed::to_text(&number).into(), style: ScalarStyle::Computed }
}
