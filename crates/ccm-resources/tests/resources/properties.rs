//! Every property of every type through the loader: with a literal, a computed and a late value, with a value
//! of another kind, and all of these on a resource whose `control` is off.

mod samples;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use ccm_expr::{Timestamp, Value};
use ccm_manifest::{Completion, FactPath, LoadResult, Request, Sources, load, schema};
use ccm_model::{Dependency, Diagnostic, Node, Resource, ResourceIndex, Severity, SourceMap, Spanned};
use ccm_properties::{TypeSpec, aliases};
use samples::{COMMON, SAMPLES, Sample, TypeSamples};

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// A literal.
    Literal,
    /// An expression that is evaluated before the run.
    Known,
    /// An expression that is evaluated when the resource is reached.
    Late,
}

/// Files beside the manifest; no other sources.
struct Files;

impl Sources for Files {
    fn read(&self, path: &Path) -> io::Result<String> {
        match path.to_str() {
            Some("/m/child.yaml") => {
                Ok("data: {a: 0}\nccm: {resources: [{exec: {name: inner}}]}\n".to_owned())
            }
            Some("/m/page.j2") => Ok("page\n".to_owned()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        Ok(Value::map::<&str>([]))
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

fn types() -> Vec<&'static dyn TypeSpec> {
    ccm_resources::types().into_iter().map(|found| found as &dyn TypeSpec).collect()
}

/// Manifest with a resource that sets the property under test.
struct Cell<'a> {
    of_type: &'a TypeSamples,
    sample: &'a Sample,
    given: Given,
    /// True if the value is of another kind.
    is_wrong: bool,
    is_off: bool,
    text: String,
    /// Line of the property, from 1.
    line: usize,
}

impl<'a> Cell<'a> {
    fn new(of_type: &'a TypeSamples, sample: &'a Sample, given: Given, is_wrong: bool, is_off: bool) -> Self {
        let value = if is_wrong { sample.wrong } else { sample.right };
        let TypeSamples { type_name, name, required, .. } = of_type;
        let written = match given {
            Given::Literal => value,
            Given::Known => "'{{ Data.value }}'",
            Given::Late => "'{{ Captures.source.value }}'",
        };
        let mut text = format!(
            "data:\n  value: {value}\nccm:\n  executors: {{builder: {{kind: native}}}}\n  resources:\n    \
             - exec: [source: {{command: 'true', capture: {{value: stdout.raw}}}}]\n    - {type_name}:\n      \
             - {name}:\n"
        );
        let name_in = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
        let is_beside = |name: &str| sample.beside.iter().any(|line| name_in(line) == name);
        let is_other = |line: &&&str| name_in(line) != sample.property && !is_beside(&name_in(line));
        for line in required.iter().filter(is_other).chain(sample.beside) {
            text += &format!("          {line}\n");
        }
        if is_off {
            text += "          control: {if: 'false'}\n";
        }
        text += &format!("          {}: {written}\n", sample.property);
        let line = text.lines().count();
        Self { of_type, sample, given, is_wrong, is_off, text, line }
    }

    fn load(&self) -> LoadResult<'static> {
        let request = Request {
            name: "m.yaml".to_owned(),
            text: self.text.as_str().into(),
            directory: "/m".into(),
            hiera: Vec::new(),
            assignments: Vec::new(),
            allows_new_keys: false,
            resources: None,
            root: None,
            earlier: None,
        };
        load(request, &types(), &Files)
    }

    /// Returns what is wrong with the loaded manifest.
    fn differences(&self) -> Vec<String> {
        let loaded = self.load();
        let errors: Vec<&Diagnostic> =
            loaded.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
        // The values of a resource whose `control` is off are not computed.
        // A child is loaded before the run, with everything that belongs to it.
        let is_early = self.sample.is_early || self.of_type.type_name == "apply";
        let is_refused = match self.given {
            Given::Literal => self.is_wrong,
            Given::Known => self.is_wrong && !self.is_off,
            Given::Late => is_early && !self.is_off,
        };
        let mut differences = Vec::new();
        if is_refused && errors.is_empty() {
            differences.push("it is accepted".to_owned());
        }
        if !is_refused {
            differences.extend(errors.iter().map(|error| format!("it is refused: {error:?}")));
        }
        for error in errors {
            let texts = loaded.texts();
            let place = error.span().and_then(|span| texts.locate(span));
            let line = place.filter(|(name, _)| *name == "m.yaml").map(|(_, position)| position.line);
            if line != Some(self.line) {
                differences.push(format!("an error is at line {line:?}, not at {}: {error:?}", self.line));
            }
        }
        if differences.is_empty() && !is_refused && !self.is_off {
            differences.extend(match self.given {
                Given::Literal => None,
                Given::Known => self.other_values(accepted(&loaded).1),
                Given::Late => self.completion(&loaded),
            });
        }
        differences
    }

    /// Returns the values of a resource if they are not those of the one whose value is written.
    fn other_values(&self, resource: &Resource) -> Option<String> {
        let literal = Self::new(self.of_type, self.sample, Given::Literal, false, false).load();
        let (found, expected) = (self.values(resource), self.values(accepted(&literal).1));
        (found != expected).then(|| format!("its values are {found:#?} and not {expected:#?}"))
    }

    /// The values of a resource by property, without the places of their texts.
    fn values(&self, resource: &Resource) -> BTreeMap<String, String> {
        let on = |dependencies: &[Dependency]| {
            let mut on: Vec<ResourceIndex> = dependencies.iter().map(|dependency| dependency.on).collect();
            // A late value makes an edge of its own to the resource that it comes from.
            on.retain(|index| self.given != Given::Late || index.0 != 0);
            format!("{on:?}")
        };
        let of = |given: &Option<Spanned<String>>| format!("{:?}", given.as_ref().map(|given| &given.value));
        let properties = resource.properties.given();
        properties
            .map(|entry| (entry.key.text.to_string(), value(&entry.value)))
            .chain([
                ("alias".to_owned(), format!("{:?}", resource.aliases)),
                ("ensure".to_owned(), of(&resource.ensure)),
                ("provider".to_owned(), of(&resource.provider)),
                ("require".to_owned(), on(&resource.require)),
                ("subscribe".to_owned(), on(&resource.subscribe)),
            ])
            .collect()
    }

    /// Returns what is wrong once the value is known.
    fn completion(&self, loaded: &LoadResult<'_>) -> Option<String> {
        let value = if self.is_wrong { self.sample.wrong } else { self.sample.right };
        let value: serde_json::Value = serde_json::from_str(value).expect("samples are JSON");
        loaded.late.record_captures(ResourceIndex(0), serde_json::json!({ "value": value }));
        let (index, resource) = accepted(loaded);
        match loaded.late.complete(index, resource, &|_| false) {
            Completion::Resource(resource) if !self.is_wrong => self.other_values(&resource),
            Completion::Invalid(errors) if self.is_wrong => {
                // An alias has been replaced by the name of the property.
                let spec =
                    types().into_iter().find(|spec| spec.name() == self.of_type.type_name).expect("a type");
                let alias = aliases(spec.properties()).find(|(alias, _)| *alias == self.sample.property);
                let name = alias.map_or(self.sample.property, |(_, name)| name);
                let names_it = |error: &Diagnostic| error.property.as_deref() == Some(name);
                let is_named = !errors.is_empty() && errors.iter().all(names_it);
                (!is_named).then(|| format!("the property is not named: {errors:?}"))
            }
            other => Some(format!("its value came to {other:?}")),
        }
    }
}

/// The resource of interest in a manifest without an error: behind the one that captures something, and behind the
/// resources of a child.
fn accepted<'l>(loaded: &'l LoadResult<'_>) -> (ResourceIndex, &'l Resource) {
    let catalog = loaded.catalog.as_ref().expect("no error");
    let index = catalog.indices().last().expect("the resource");
    (index, catalog.resource(index))
}

fn value(node: &Node) -> String {
    match &node.value {
        ccm_model::NodeValue::Scalar(scalar) => format!("{:?} {:?}", scalar.kind(), scalar.text),
        ccm_model::NodeValue::List(elements) => {
            elements.iter().map(|element| value(element) + "\n").collect()
        }
        ccm_model::NodeValue::Map(map) => {
            let entries = map.entries().iter();
            entries
                .map(|entry| format!("{}: {}", entry.key.text, value(&entry.value)))
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}

/// The properties that a resource of a type may have, according to the schema.
fn properties(schema: &serde_json::Value, type_name: &str) -> BTreeSet<String> {
    let properties = schema["$defs"][type_name]["properties"].as_object().expect("properties");
    // `control` is no value; resources that are switched off here have one.
    properties.keys().filter(|name| *name != "control").cloned().collect()
}

/// Returns the samples of a type, apart from those of common properties.
fn samples_of(type_name: &str) -> &'static TypeSamples {
    let found = SAMPLES.iter().find(|samples| samples.type_name == type_name);
    assert!(found.is_some(), "add an entry of `{type_name}` to tests/resources/properties/samples.rs");
    found.expect("an entry")
}

#[test]
fn every_property_of_every_type_has_a_sample() {
    let schema = schema(&types());
    for spec in types() {
        let samples = samples_of(spec.name()).properties;
        let is_of = |property: &str| samples.iter().chain(COMMON).any(|sample| sample.property == property);
        let properties = properties(&schema, spec.name());
        let missing: Vec<&String> = properties.iter().filter(|property| !is_of(property)).collect();
        assert!(missing.is_empty(), "add samples of {} for {missing:?}", spec.name());
        let gone = samples.iter().map(|sample| sample.property).filter(|name| !properties.contains(*name));
        let gone: Vec<_> = gone.collect();
        assert!(gone.is_empty(), "{} has no {gone:?}", spec.name());
    }
}

#[test]
fn every_property_is_accepted_or_refused_at_its_line() {
    let mut differences = String::new();
    for spec in types() {
        let of_type = samples_of(spec.name());
        for sample in COMMON.iter().chain(of_type.properties) {
            for given in [Given::Literal, Given::Known, Given::Late] {
                for (is_wrong, is_off) in [(false, false), (true, false), (false, true), (true, true)] {
                    let cell = Cell::new(of_type, sample, given, is_wrong, is_off);
                    for difference in cell.differences() {
                        differences += &format!(
                            "--- {}.{}, {given:?}, wrong: {is_wrong}, off: {is_off}: {difference}\n{}",
                            of_type.type_name, sample.property, cell.text
                        );
                    }
                }
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}
