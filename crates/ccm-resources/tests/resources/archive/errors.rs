//! Properties that contradict one another.

use ccm_properties::{CheckInput, TypeSpec};
use ccm_resources::types;

use crate::build::resource;

/// The messages of the errors of an archive.
fn errors(name: &str, properties: &[(&str, &str)]) -> Vec<String> {
    let resource = resource("archive", name, properties);
    let found = types().into_iter().find(|found| found.name() == "archive").expect("the type");
    let spec: &dyn TypeSpec = found;
    let found =
        spec.check(&CheckInput { resource: &resource, source_text: "", secrets: &[], subscribes: false });
    found.into_iter().map(|error| error.message).collect()
}

#[test]
fn contradictions_are_errors_of_the_manifest() {
    let url = ("url", "https://example.com/a.tar");
    let (into, creates) = (("extract_parent", "/opt"), ("creates", "/opt/a"));
    for (name, properties, message) in [
        ("/a.tar", &[][..], "`url` is missing"),
        ("a.tar", &[url], "`a.tar` is not an absolute path"),
        ("/.a.ccm-new", &[url], "`/.a.ccm-new` is the name of a temporary file of ccm"),
        ("/a.tar", &[url, creates], "`creates` needs `extract_parent`"),
        ("/a.tar", &[url, ("strip_components", "1")], "`strip_components` needs `extract_parent`"),
        ("/a.tar", &[url, into, ("cleanup", "true")], "`cleanup` needs `extract_parent` and `creates`"),
        ("/a.rar", &[url, into], "the name `/a.rar` does not end like that of an archive"),
        ("/a.tar", &[url, ("password", "x")], "`password` needs `username`"),
        ("/a.tar", &[("url", "https://ada:pass@example.com/")], "the URL holds a user or a password"),
        ("/a.tar", &[("ensure", "absent"), into], "`extract_parent` is not allowed with `ensure: absent`"),
        ("/a.tar", &[("url", "ftp://example.com/")], "the URL does not begin with `https://` or `http://`"),
        ("/a.tar", &[url, ("checksum", "abc")], "`abc` is not a SHA-256 checksum"),
        ("/a.tar", &[url, ("headers", "{Host=x}")], "the header field `Host` is set by ccm"),
        ("/a.tar", &[url, ("headers", "{a b=x}")], "`a b` is not the name of a header field"),
    ] {
        assert_eq!(errors(name, properties), [message], "{properties:?}");
    }
    assert_eq!(errors("/a.tar", &[url, into, creates, ("cleanup", "true")]), [""; 0]);
    assert_eq!(errors("/a.tar", &[("ensure", "absent")]), [""; 0]);
}
