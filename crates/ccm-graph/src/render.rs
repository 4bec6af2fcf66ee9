//! Pictures and lists of a graph.

use std::fmt::Write as _;

use ccm_model::{Catalog, ResourceIndex, escape_control, escape_json};
use serde_json::json;

use crate::Graph;

/// Format of a picture or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenderFormat {
    /// Language of Graphviz.
    Dot,
    /// Mermaid flowchart.
    Mermaid,
    /// Order of a run, one resource per line.
    Text,
    /// Order of a run, as a JSON document.
    Json,
}

/// Writes the graph of a catalog. In pictures, arrows point in the direction of time: from a dependency to
/// its dependants. Only pictures show a cycle; text and JSON leave out resources that could never run.
///
/// `shown` returns the form of a name that may be shown. Pictures escape what it returns.
pub fn render(catalog: &Catalog, format: RenderFormat, shown: &dyn Fn(&str) -> String) -> String {
    let graph = Graph::of(catalog);
    let labelled = Names { catalog, shown };
    let mut out = String::new();
    let written = match format {
        RenderFormat::Dot => dot(&mut out, &labelled, &graph),
        RenderFormat::Mermaid => mermaid(&mut out, &labelled, &graph),
        RenderFormat::Text => text(&mut out, &labelled, &graph),
        RenderFormat::Json => json(&mut out, catalog, &graph),
    };
    debug_assert!(written.is_ok(), "a String takes everything");
    out
}

/// Names of resources as they are shown.
struct Names<'a> {
    catalog: &'a Catalog,
    shown: &'a dyn Fn(&str) -> String,
}

impl Names<'_> {
    fn label(&self, index: ResourceIndex) -> String {
        escape_control(&(self.shown)(&self.catalog.resource(index).id.to_string())).into_owned()
    }
}

/// Returns `true` if the manifest does not name this dependency.
fn is_auto(catalog: &Catalog, resource: ResourceIndex, on: ResourceIndex) -> bool {
    catalog.resource(resource).autorequired.contains(&on)
}

/// Returns the identifier of a resource in a picture. Escaped names may be equal, positions never are.
fn picture_id(index: ResourceIndex) -> String {
    format!("r{}", index.get() + 1)
}

fn dot(out: &mut String, labelled: &Names<'_>, graph: &Graph) -> std::fmt::Result {
    let catalog = labelled.catalog;
    writeln!(out, "// An arrow points from a dependency to the resource that depends on it.")?;
    writeln!(out, "// Solid: require. Dashed: subscribe.")?;
    if catalog.resources.iter().any(|resource| !resource.autorequired.is_empty()) {
        writeln!(out, "// Gray: added by autorequire.")?;
    }
    writeln!(out, "digraph ccm {{")?;
    writeln!(out, "  node [shape=box];")?;
    for index in catalog.indices() {
        writeln!(out, "  {} [label=\"{}\"];", picture_id(index), dot_label(&labelled.label(index)))?;
    }
    for index in catalog.indices() {
        let to = picture_id(index);
        for from in graph.requirements(index) {
            let style = if is_auto(catalog, index, from) { " [color=gray]" } else { "" };
            writeln!(out, "  {} -> {to}{style};", picture_id(from))?;
        }
        for from in graph.subscriptions(index).map(picture_id) {
            writeln!(out, "  {from} -> {to} [style=dashed];")?;
        }
    }
    writeln!(out, "}}")
}

/// Escapes what Graphviz reads in a quoted label: its own `\N` and `\l`, and entities as in HTML.
fn dot_label(label: &str) -> String {
    label.replace('\\', r"\\").replace('"', "\\\"").replace('&', "&amp;")
}

fn mermaid(out: &mut String, labelled: &Names<'_>, graph: &Graph) -> std::fmt::Result {
    let catalog = labelled.catalog;
    writeln!(out, "%% An arrow points from a dependency to the resource that depends on it.")?;
    writeln!(out, "%% Solid: require. Dotted: subscribe.")?;
    writeln!(out, "flowchart TD")?;
    for index in catalog.indices() {
        writeln!(out, "  {}[\"{}\"]", picture_id(index), mermaid_label(&labelled.label(index)))?;
    }
    for index in catalog.indices() {
        let to = picture_id(index);
        for from in graph.requirements(index) {
            let label = if is_auto(catalog, index, from) { "|needs|" } else { "" };
            writeln!(out, "  {} -->{label} {to}", picture_id(from))?;
        }
        for from in graph.subscriptions(index).map(picture_id) {
            writeln!(out, "  {from} -.-> {to}")?;
        }
    }
    Ok(())
}

/// Escapes every character that is not known to be harmless, as in `#34;`. Mermaid has no quoting that keeps
/// everything: it reads HTML, Markdown, formulas, `%%{directives}%%` and its own entities inside quotes too.
/// A `#` may stay, because every `;` that could make an entity of it is escaped.
fn mermaid_label(label: &str) -> String {
    let harmless = |character: char| character.is_alphanumeric() || " /.,-_=+@~()#".contains(character);
    let escape = |character: char| {
        if harmless(character) { character.to_string() } else { format!("#{};", u32::from(character)) }
    };
    label.chars().map(escape).collect()
}

/// Maximum width of the column of names. Longer names do not widen it.
const MAX_COLUMN_WIDTH: usize = 40;

fn text(out: &mut String, labelled: &Names<'_>, graph: &Graph) -> std::fmt::Result {
    let catalog = labelled.catalog;
    let labels: Vec<String> = catalog.indices().map(|index| labelled.label(index)).collect();
    let width = |label: &String| label.chars().count();
    let widest = labels.iter().map(width).filter(|width| *width <= MAX_COLUMN_WIDTH).max().unwrap_or(0);
    let digits = labels.len().to_string().len();

    for (number, index) in (1..).zip(graph.order()) {
        let named = |indices: &mut dyn Iterator<Item = ResourceIndex>| {
            indices.map(|index| labels[index.get()].as_str()).collect::<Vec<_>>().join(", ")
        };
        let requires = named(&mut graph.requirements(index).filter(|on| !is_auto(catalog, index, *on)));
        let needs = named(&mut graph.requirements(index).filter(|on| is_auto(catalog, index, *on)));
        let subscribes = named(&mut graph.subscriptions(index));
        let mut line = format!("{number:>digits$}  {:<widest$}", labels[index.get()]);
        if !requires.is_empty() {
            write!(line, "   requires {requires}")?;
        }
        if !needs.is_empty() {
            write!(line, "   needs {needs} (autorequire)")?;
        }
        if !subscribes.is_empty() {
            write!(line, "   subscribes to {subscribes}")?;
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn json(out: &mut String, catalog: &Catalog, graph: &Graph) -> std::fmt::Result {
    let name = |index: ResourceIndex| catalog.resource(index).id.to_string();
    let resource = |index: ResourceIndex| {
        let (auto, require): (Vec<_>, Vec<_>) =
            graph.requirements(index).partition(|on| is_auto(catalog, index, *on));
        let names = |indices: Vec<ResourceIndex>| indices.into_iter().map(name).collect::<Vec<_>>();
        json!({
            "resource": name(index),
            "require": names(require),
            "autorequire": names(auto),
            "subscribe": names(graph.subscriptions(index).collect()),
        })
    };
    let resources: Vec<_> = graph.order().into_iter().map(resource).collect();
    let document = format!("{:#}", json!({ "resources": resources }));
    writeln!(out, "{}", escape_json(&document))
}

#[cfg(test)]
mod tests {
    use ccm_model::{Dependency, Resource, ResourceId, Span};

    use super::*;

    fn rendered(catalog: &Catalog, format: RenderFormat) -> String {
        render(catalog, format, &str::to_owned)
    }

    /// Builds a catalog from ids with the positions that each requires and subscribes to.
    fn catalog(resources: &[(&str, &[u32], &[u32])]) -> Catalog {
        let dependencies = |on: &[u32]| {
            on.iter().map(|on| Dependency { on: ResourceIndex(*on), span: Span::default() }).collect()
        };
        let resource = |(id, require, subscribe): &(&str, &[u32], &[u32])| Resource {
            id: ResourceId::parse(id).expect("a reference"),
            require: dependencies(require),
            subscribe: dependencies(subscribe),
            ..Resource::default()
        };
        Catalog { resources: resources.iter().map(resource).collect(), ..Catalog::default() }
    }

    fn sample() -> Catalog {
        catalog(&[
            ("exec#reload", &[2, 2], &[1]),
            ("file#/etc/x", &[], &[]),
            ("exec#a", &[], &[]),
            ("exec#both", &[1], &[1, 2]),
        ])
    }

    #[test]
    fn text_is_the_order_of_the_run() {
        let expected = "\
1  file#/etc/x
2  exec#a
3  exec#reload   requires exec#a   subscribes to file#/etc/x
4  exec#both     subscribes to file#/etc/x, exec#a
";
        assert_eq!(rendered(&sample(), RenderFormat::Text), expected);
    }

    #[test]
    fn json_is_the_order_of_the_run() {
        let mut catalog = sample();
        catalog.resources[0].autorequired.push(ResourceIndex(2));
        let rendered = rendered(&catalog, RenderFormat::Json);
        let resource = |name: &str, require: &[&str], autorequire: &[&str], subscribe: &[&str]| json!({ "resource": name, "require": require, "autorequire": autorequire, "subscribe": subscribe });
        let expected = json!({ "resources": [
            resource("file#/etc/x", &[], &[], &[]),
            resource("exec#a", &[], &[], &[]),
            resource("exec#reload", &[], &["exec#a"], &["file#/etc/x"]),
            resource("exec#both", &[], &[], &["file#/etc/x", "exec#a"]),
        ] });
        assert_eq!(rendered, format!("{expected:#}\n"));
    }

    #[test]
    fn dependencies_that_the_manifest_does_not_name_are_marked() {
        let mut catalog = sample();
        catalog.resources[0].autorequired.push(ResourceIndex(2));
        let text = rendered(&catalog, RenderFormat::Text);
        assert!(
            text.contains("exec#reload   needs exec#a (autorequire)   subscribes to file#/etc/x"),
            "{text}"
        );
        let dot = rendered(&catalog, RenderFormat::Dot);
        assert!(
            dot.contains("// Gray: added by autorequire.\n") && dot.contains("r3 -> r1 [color=gray];"),
            "{dot}"
        );
        assert!(rendered(&catalog, RenderFormat::Mermaid).contains("r3 -->|needs| r1"));
    }

    #[test]
    fn text_lines_up_under_long_names_and_numbers() {
        let long = format!("exec#{}", "x".repeat(60));
        let mut resources: Vec<(&str, &[u32], &[u32])> =
            vec![(&long, &[9], &[]), ("exec#b\n\u{9b}2J", &[9], &[])];
        resources.resize(10, ("exec#c", &[], &[]));
        let lines = rendered(&catalog(&resources), RenderFormat::Text);
        let shown: Vec<&str> = lines.lines().collect();
        assert_eq!(shown.len(), 10);
        assert_eq!(shown[0], " 1  exec#c");
        assert_eq!(shown[8], format!(" 9  {long}   requires exec#c"));
        assert_eq!(shown[9], r"10  exec#b\n\u{9b}2J   requires exec#c");
    }

    #[test]
    fn dot_shows_the_direction_of_time() {
        let expected = r#"// An arrow points from a dependency to the resource that depends on it.
// Solid: require. Dashed: subscribe.
digraph ccm {
  node [shape=box];
  r1 [label="exec#reload"];
  r2 [label="file#/etc/x"];
  r3 [label="exec#a"];
  r4 [label="exec#both"];
  r3 -> r1;
  r2 -> r1 [style=dashed];
  r2 -> r4 [style=dashed];
  r3 -> r4 [style=dashed];
}
"#;
        assert_eq!(rendered(&sample(), RenderFormat::Dot), expected);
    }

    #[test]
    fn mermaid_shows_the_direction_of_time() {
        let expected = r#"%% An arrow points from a dependency to the resource that depends on it.
%% Solid: require. Dotted: subscribe.
flowchart TD
  r1["exec#reload"]
  r2["file#/etc/x"]
  r3["exec#a"]
  r4["exec#both"]
  r3 --> r1
  r2 -.-> r1
  r2 -.-> r4
  r3 -.-> r4
"#;
        assert_eq!(rendered(&sample(), RenderFormat::Mermaid), expected);
    }

    #[test]
    fn hostile_names_stay_inside_their_quotes() {
        for (id, dot, mermaid) in [
            ("exec#say \"hi\"", r#"exec#say \"hi\""#, "exec#say #34;hi#34;"),
            (r"exec#a\", r"exec#a\\", "exec#a#92;"),
            (r#"exec#a\"b"#, r#"exec#a\\\"b"#, "exec#a#92;#34;b"),
            (r"exec#\N \l", r"exec#\\N \\l", "exec##92;N #92;l"),
            ("exec#a\nb", r"exec#a\\nb", "exec#a#92;nb"),
            ("exec#\x1b[31m", r"exec#\\u{1b}[31m", "exec##92;u#123;1b#125;#91;31m"),
            ("exec#<b>&lt;", "exec#<b>&amp;lt;", "exec##60;b#62;#38;lt#59;"),
            ("exec#a;b`c`", "exec#a;b`c`", "exec#a#59;b#96;c#96;"),
            (
                "exec#%%{init: {}}%%",
                "exec#%%{init: {}}%%",
                "exec##37;#37;#123;init#58; #123;#125;#125;#37;#37;",
            ),
            ("exec#ä 日本 $$x$$", "exec#ä 日本 $$x$$", "exec#ä 日本 #36;#36;x#36;#36;"),
        ] {
            let catalog = catalog(&[(id, &[], &[])]);
            let dot = format!("  r1 [label=\"{dot}\"];");
            assert_eq!(rendered(&catalog, RenderFormat::Dot).lines().nth(4), Some(&*dot), "{id}");
            let mermaid = format!("  r1[\"{mermaid}\"]");
            assert_eq!(rendered(&catalog, RenderFormat::Mermaid).lines().nth(3), Some(&*mermaid), "{id}");
        }
    }

    #[test]
    fn pictures_show_a_cycle_too() {
        let catalog = catalog(&[("exec#a", &[1], &[]), ("exec#b", &[], &[0])]);
        assert!(rendered(&catalog, RenderFormat::Dot).contains("  r2 -> r1;\n  r1 -> r2 [style=dashed];\n"));
        assert!(rendered(&catalog, RenderFormat::Mermaid).ends_with("  r2 --> r1\n  r1 -.-> r2\n"));
    }
}
