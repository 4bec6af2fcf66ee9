//! Manifests: loaded, completed, rendered and loaded again.

use ccm_manifest::{DataFile, LoadResult, load, parse_data, render};
use ccm_model::{Diagnostic, REDACTED, Severity, SourceMap};
use ccm_properties::TypeSpec;
use ccm_testkit::Thing;

use super::sources::MemorySources;

pub(super) const WORDS: &[&str] = &[
    "ccm:",
    "resources:",
    "data:",
    "hierarchy:",
    "overrides:",
    "order: [",
    "merge: deep",
    "data_dir: d",
    "# @merge unique\n",
    "# @merge first\n",
    "#--- d/role/web.yaml\n",
    "- file:",
    "- exec:",
    "- apply:",
    "- thing:",
    "- foreach: [a, b]\n      ",
    "- foreach: {a: 1}\n      ",
    "- foreach: \"{{ Data.a }}\"\n      ",
    "defaults: {",
    "ensure: present",
    "ensure: absent",
    "ensure: directory",
    "provider: shell",
    "provider: two",
    "alias: a",
    "require: [",
    "subscribe: [",
    "exec#a",
    "file#/a",
    "thing#a",
    "control: {if: 'true'}",
    "unless: ",
    "health_checks:",
    "content: ",
    "source: t.j2",
    "mode: 0644",
    "owner: root",
    "command: ",
    "args: [",
    "cwd: /",
    "creates: ",
    "onlyif: ",
    "timeout: 5m",
    "environment: ",
    "returns: [0]",
    "refresh_only: true",
    "refreshonly: true",
    "sandbox: {",
    "expect: {",
    "capture: {a: stdout.json.a}",
    "executor: e",
    "executors: {",
    "{{ Facts.role }}",
    "{{ Data.a }}",
    "${ Environ.STAGE }",
    "{{ lookup('data.a', 1) }}",
    "{{ file('/a') }}",
    "{{ template('t.j2') }}",
    "{{ Captures.a.b }}",
    "{{ Item }}",
    "${Index}",
    "{{ Item.key }}",
    "# @sensitive\n",
    "# @require\n",
    "# @validate value > 1\n",
    "#--- t.j2\n",
    "#--- c.yaml\n",
    "#--- hiera.yaml\n",
    "resources_from: ",
    "fail_on_error: true",
    "text: ",
    "words: ",
    "shell: ",
    "count: ",
    "sensitive: true",
    "\\${",
];

pub(super) fn run(input: &[u8]) {
    let (text, sources) = MemorySources::of(&super::text(input));
    let loaded = loaded(&text, &sources);
    let again = self::loaded(&text, &sources);
    assert_eq!(format!("{:?}", loaded.diagnostics), format!("{:?}", again.diagnostics), "other diagnostics");
    assert_eq!(loaded.catalog, again.catalog, "another catalog");

    let file = DataFile { name: "m.yaml".to_owned(), text: text.as_str().into() };
    let parsed = parse_data(&file, &[], false, &sources);
    super::spans::check(&parsed.diagnostics, &parsed.texts);
    for part in ccm_data::annotations::sensitive_parts_of_invalid(&text) {
        assert!(text.get(part.clone()).is_some(), "{part:?}");
    }

    let Some(catalog) = &loaded.catalog else { return };
    // A redacted manifest differs from the original: some properties are always sensitive.
    if loaded.data.secrets.is_empty()
        && let Ok(rendered) = render(catalog, &loaded)
        && !rendered.contains(REDACTED)
    {
        let from_rendered = self::loaded(&rendered, &sources);
        let Some(its_catalog) = &from_rendered.catalog else {
            // All resources may have been left out.
            assert!(rendered.contains("resources: []"), "{rendered}\n{:?}", from_rendered.diagnostics);
            return;
        };
        let twice =
            render(its_catalog, &from_rendered).unwrap_or_else(|found| panic!("{rendered}\n{found:?}"));
        assert_eq!(without_comments(&rendered), without_comments(&twice));
    }
    for index in catalog.indices() {
        let completed = format!("{:?}", loaded.late.complete(index, catalog.resource(index), &|_| false));
        assert!(!completed.is_empty());
    }
    super::spans::check(&loaded.diagnostics, &loaded.texts());
}

/// Returns the diagnostics of an input of this target, and the texts of their spans.
pub fn manifest_errors(input: &[u8]) -> (Vec<Diagnostic>, SourceMap) {
    let (text, sources) = MemorySources::of(&super::text(input));
    let loaded = loaded(&text, &sources);
    let texts = loaded.texts();
    (loaded.diagnostics, texts)
}

fn loaded<'s>(text: &str, sources: &'s MemorySources) -> LoadResult<'s> {
    let mut specs: Vec<&'static dyn TypeSpec> =
        ccm_resources::types().into_iter().map(|found| found as &dyn TypeSpec).collect();
    specs.push(&Thing);
    let loaded = load(sources.request(text), &specs, sources);
    let has_error = loaded.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(loaded.catalog.is_none(), has_error, "{:?}", loaded.diagnostics);
    super::spans::check(&loaded.diagnostics, &loaded.texts());
    loaded
}

fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| line.starts_with('#');
    text.split_inclusive('\n').skip_while(is_comment).collect()
}
