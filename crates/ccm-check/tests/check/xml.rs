//! The matcher `xml`.

use ccm_check::{AttributeOutcome, judge};
use serde_json::{Value as Json, json};

use crate::support::{TableFacts, rule};

const ORDER: &str = r#"<?xml version="1.0"?>
<!DOCTYPE order SYSTEM "order.dtd">
<!-- an order -->
<order xmlns:s="urn:shipping" date="2026-02-01">
  <s:to city="Bern">Ada &amp; Co</s:to>
  <item id="1"><name>bolt</name><price>25</price><note/></item>
  <item id="2"><name>nut &lt;M3></name><price>17.5</price><![CDATA[<raw>]]></item>
</order>"#;

fn outcome(content: &str, path: &str, result: &str) -> AttributeOutcome {
    let matcher = json!({"xml": {"xpath": path, "result": result}});
    let rule = rule(&json!({"matching": {"m": {"content": content, "matches": matcher}}}).to_string());
    judge(&rule, &mut TableFacts { answers: &Json::Null, asked: Vec::new() }).results.remove(0).outcome
}

#[test]
fn paths_have_results() {
    for (path, result) in [
        ("string(/order/@date)", "2026-02-01"),
        ("/order/item[2]/price/text()", "17.5"),
        ("//item[@id='1']/name", "<name>bolt</name>"),
        ("//item[1]/@id", "<id>1</id>"),
        ("//item[1]/note", "<note/>"),
        ("//item[1]/..", ""),
        ("//item/name[contains(., 'nut')]", "<name>nut &lt;M3&gt;</name>"),
        ("//s:to/text()", "Ada &amp; Co"),
        ("string(//s:to)", "Ada & Co"),
        ("//*[local-name()='to']/@city", "<city>Bern</city>"),
        ("name(//*[local-name() = 'to'])", "s:to"),
        ("count(//item)", "2"),
        ("sum(//price)", "42.5"),
        ("sum(//name)", "NaN"),
        ("boolean(//item[name='screw'])", "false"),
        ("not(//item[name='screw'])", "true"),
        ("//item[price > 20]/name/text()", "bolt"),
        ("//item[price<=17.5]/@id", "<id>2</id>"),
        ("//item[name='bolt' and price=25]/@id", "<id>1</id>"),
        ("//item[name='x' or position()=last()]/@id", "<id>2</id>"),
        ("count(//item | //price)", "4"),
        ("count(//item/*)", "5"),
        ("count(//@id)", "2"),
        ("count(//node())", "19"),
        ("//item[last()]/text()", "&lt;raw&gt;"),
        ("starts-with(//name, 'bo')", "true"),
        ("ends-with(//name, 'lt')", "true"),
        ("concat(//item[1]/name, '-', //item[1]/@id)", "bolt-1"),
        ("normalize-space(' a   b ')", "a b"),
        ("string-length('häß')", "3"),
        ("1 = 1.0", "true"),
        ("'1' != 1", "false"),
        ("true()", "true"),
        ("number('x') = number('x')", "false"),
        ("//item//price[1]/text()", "2517.5"),
        ("//none", ""),
    ] {
        let expected = if path == "//none" { "failed" } else { "passed" };
        let found = match outcome(ORDER, path, result) {
            AttributeOutcome::Passed => "passed",
            AttributeOutcome::Failed { .. } => "failed",
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(found, expected, "{path}");
        let other = outcome(ORDER, path, "something else");
        assert!(matches!(other, AttributeOutcome::Failed { .. }), "{path}: {other:?}");
    }
}

#[test]
fn a_text_that_is_no_xml_is_an_error() {
    for text in [
        "",
        "a",
        "<a>",
        "</a>",
        "<a></b>",
        "<a/><b/>",
        "<a b></a>",
        "<a b=c/>",
        "<a>&unknown;</a>",
        "<a>&amp</a>",
        "<a>&#x110000;</a>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
        "<a><!-- </a>",
        "<a><![CDATA[ </a>",
        "< a/>",
    ] {
        assert!(matches!(outcome(text, "/a", ""), AttributeOutcome::Error(_)), "{text}");
    }
    assert_eq!(outcome("<a>&#65;&#x42;</a>", "string(/a)", "AB"), AttributeOutcome::Passed);
}

#[test]
fn hostile_documents_and_paths_end() {
    let deep = "<a>".repeat(100_000);
    assert!(matches!(outcome(&deep, "/a", ""), AttributeOutcome::Error(_)));
    let wide = format!("<a>{}</a>", "<b>x</b>".repeat(50_000));
    let found = outcome(&wide, "//b[//b = //b[. = 'y']]", "");
    assert!(matches!(found, AttributeOutcome::Error(_)), "{found:?}");
    let many = format!("<a>{}</a>", "<b/>".repeat(300_000));
    assert!(matches!(outcome(&many, "/a", ""), AttributeOutcome::Error(_)));
}
