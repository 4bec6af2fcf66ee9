//! Names, outputs and values that try to be something else.

use ccm_host::LocalZone;
use ccm_model::{Outcome, ResourceId, Transaction};
use ccm_page::{
    HostOutcome, HostSetView, HostView, HostsView, PictureNode, hosts_page, machine_page, picture,
};
use ccm_report::RecordedManifest;
use ccm_testkit::Scratch;

use crate::markup::tags;
use crate::record::{Recorded, began, failed, history, page, record, transaction};

/// Returns texts that mean something in HTML, CSS, SVG, JSON, templates or a terminal, each alone and within others.
fn texts() -> Vec<String> {
    let core = [
        "<script>alert(1)</script>",
        "</script><script>alert(1)//",
        "</style><script>1</script>",
        "</title><h1>x",
        "<!--",
        "-->",
        "]]>",
        "<![CDATA[",
        "<svg onload=alert(1)>",
        "<img src=x onerror=alert(1)>",
        "<a href=javascript:alert(1)>",
        "<base href=//evil>",
        "<meta http-equiv=refresh content=0>",
        "<iframe src=//evil>",
        "<form action=//evil>",
        "<b>",
        "\" onmouseover=\"alert(1)",
        "' onmouseover='alert(1)",
        "\">",
        "'>",
        "`",
        "&lt;",
        "&#60;",
        "&",
        "&amp;amp;",
        "javascript:alert(1)",
        "{{ page.title }}",
        "{% raw %}",
        "{{ 7*7 }}",
        "{# x #}",
        "#",
        "%",
        "%00",
        "%3Cscript%3E",
        "\0",
        "\u{1b}[31mred",
        "\u{9b}31m",
        "\u{7}",
        "\r\n",
        "\t",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{202e}gnp.exe",
        "\u{2066}x\u{2069}",
        "\u{200f}",
        "\u{feff}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{10ffff}",
        "日本",
        "e\u{301}",
        "👩‍👩‍👧",
        "\\",
        "\\u003c",
        "../../etc/passwd",
        "a b\tc",
        " ",
        "url(//evil)",
        "expression(alert(1))",
        "@import '//evil'",
        "[redacted]",
    ];
    let mut texts: Vec<String> = core.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(core.iter().map(|text| format!("/etc/{text}/end")));
    texts.extend(core.iter().zip(core.iter().rev()).map(|(one, other)| format!("{one}{other}")));
    texts.push("x".repeat(10 << 10));
    texts.push("<".repeat(10 << 10));
    texts.extend(core.iter().map(|text| format!("{}{text}", "long ".repeat(100))));
    texts
}

#[test]
fn no_text_of_a_record_means_anything_in_a_page() {
    let texts = texts();
    assert!(texts.len() >= 200, "{}", texts.len());
    for chunk in texts.chunks(50) {
        let scratch = Scratch::new();
        let resources: Vec<Recorded> = chunk.iter().enumerate().map(|(at, text)| hostile(at, text)).collect();
        let values =
            || chunk.iter().enumerate().map(|(at, text)| (format!("{at}{text}"), text.clone())).collect();
        let manifest = RecordedManifest {
            name: format!("/etc/ccm/{}", chunk[0]),
            digest: chunk[1].clone(),
            facts: values(),
            data: values(),
        };
        // Two runs, so that one is compared with the other.
        record(&scratch, 1, &manifest, &resources);
        record(&scratch, 2, &manifest, &resources);
        assert_is_harmless(&page(&scratch));
        let history = history(&scratch);
        let runs: Vec<_> = history.runs().iter().collect();
        let past = history.past(&runs);
        assert_is_harmless(&machine_page(&past, &LocalZone::of_this_process()).expect("a page"));
        let nodes: Vec<PictureNode> = chunk
            .iter()
            .map(|text| PictureNode { id: ResourceId::new("exec", text.as_str()), edges: Vec::new() })
            .collect();
        assert_is_harmless(&picture(&nodes).expect("a layout").expect("a picture"));
        assert_is_harmless(&push_page(chunk));
    }
}

/// Returns the page of a push where everything that a host says is one of the texts.
fn push_page(texts: &[String]) -> String {
    let transactions: Vec<Transaction> =
        texts.iter().enumerate().map(|(at, text)| transaction(&hostile(at, text), began())).collect();
    let host = |at: usize| HostView {
        name: "web1",
        outcome: [HostOutcome::Failed, HostOutcome::Changed, HostOutcome::NotBegun][at % 3],
        result: texts[at].clone(),
        set: Some(at % 2),
        details: vec![texts[at].clone()],
        hints: vec![texts[at].clone()],
        codes: texts,
        version: Some(&texts[at]),
        run_id: Some(&texts[at]),
    };
    let set = |_| HostSetView {
        title: texts[0].clone(),
        hosts: &[0, 1],
        transactions: &transactions,
        output: texts.iter().map(|text| &**text).collect(),
    };
    let view = HostsView {
        subject: &texts[1],
        began: began(),
        sentence: texts[2].clone(),
        halted: None,
        is_noop: false,
        hosts: (0..texts.len()).map(host).collect(),
        sets: (0..2).map(set).collect(),
    };
    hosts_page(&view, &LocalZone::of_this_process()).expect("a page")
}

fn hostile(at: usize, text: &str) -> Recorded {
    let outcome = match at % 3 {
        0 => failed(),
        1 => Outcome::Changed,
        _ => Outcome::Unchanged,
    };
    Recorded {
        id: ResourceId::new("exec", text),
        outcome,
        requires: at.checked_sub(1).into_iter().collect(),
        text: Some(text.to_owned()),
        milliseconds: 1,
    }
}

fn assert_is_harmless(page: &str) {
    let known = [
        "html", "head", "meta", "title", "style", "body", "main", "header", "footer", "nav", "section", "h1",
        "h2", "h3", "p", "i", "a", "b", "ul", "ol", "li", "dl", "dt", "dd", "div", "span", "table", "tr",
        "th", "td", "br", "details", "summary", "pre", "code", "bdi", "svg", "path", "rect", "text", "g",
    ];
    let attributes = [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "title",
        "open",
        "tabindex",
        "aria-label",
        "aria-labelledby",
        "role",
        "width",
        "height",
        "viewBox",
        "preserveAspectRatio",
        "xmlns",
        "d",
        "x",
        "y",
        "rx",
        "transform",
        "vector-effect",
    ];
    for tag in tags(page) {
        assert!(known.contains(&&*tag.name), "{tag:?}");
        for (name, value) in &tag.attributes {
            assert!(attributes.contains(&&**name), "{tag:?}");
            let is_place = |value: &str| value.starts_with('#') && !value.contains(char::is_whitespace);
            assert!(name != "href" || is_place(value), "{tag:?}");
            assert!(name != "id" || !value.contains(char::is_whitespace), "{tag:?}");
        }
    }
}
