use super::*;

/// Returns what contradicts the file `m.sources`: file, line and option, with `twin` for what is configured twice.
fn found(files: &[(&str, &str)]) -> String {
    let files: Vec<DefinitionFile> = files
        .iter()
        .map(|(path, text)| DefinitionFile { path: (*path).into(), text: (*text).to_owned() })
        .collect();
    let found = rivals(&files, Path::new("m.sources"));
    let found = found.iter().map(|rival| {
        let place = format!("{}:{}", rival.path.display(), rival.line);
        match &rival.kind {
            RivalKind::Twin => format!("{place} twin"),
            RivalKind::Contradiction { option, there, here } => {
                let shown = |value: &Option<String>| value.clone().unwrap_or("-".to_owned());
                format!("{place} {option} {} {}", shown(there), shown(here))
            }
        }
    });
    found.collect::<Vec<_>>().join(", ")
}

const OWN: &str = "# c\nTypes: deb\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: main\nSigned-By: /k.asc\n";

#[test]
fn lines_that_contradict_are_found() {
    for (line, expected) in [
        ("deb [signed-by=/k.asc] https://example.com/debian bookworm extra", ""),
        ("deb [signed-by=/k.asc] https://example.com/debian bookworm main", "a.list:1 twin"),
        (
            "deb [signed-by=/o.gpg] https://example.com/debian bookworm extra",
            "a.list:1 Signed-By /o.gpg /k.asc",
        ),
        (
            "\n\ndeb [signed-by=/o.gpg arch=amd64] https://example.com/debian/ bookworm extra",
            "a.list:3 Signed-By /o.gpg /k.asc",
        ),
        // Neither the protocol nor a login counts, but everything else of the address does.
        (
            "deb [ signed-by=/o.gpg ] http://u:p@example.com/debian bookworm extra",
            "a.list:1 Signed-By /o.gpg /k.asc",
        ),
        (
            "deb [signed-by=/o.gpg] https://example.com/debian dists/bookworm/",
            "a.list:1 Signed-By /o.gpg /k.asc",
        ),
        ("deb [signed-by=/o.gpg] https://example.org/debian bookworm main", ""),
        ("deb [signed-by=/o.gpg] https://Example.com/debian bookworm main", ""),
        ("deb [signed-by=/o.gpg] https://example.com/debian bookworm-updates main", ""),
        (
            "deb-src [signed-by=/o.gpg] https://example.com/debian bookworm main",
            "a.list:1 Signed-By /o.gpg /k.asc",
        ),
        ("deb-src [signed-by=/k.asc] https://example.com/debian bookworm main", ""),
        // A file before ours that sets no key takes ours.
        ("deb https://example.com/debian bookworm extra", ""),
        (
            "deb [trusted=yes signed-by=/k.asc] https://example.com/debian bookworm extra",
            "a.list:1 Trusted yes -",
        ),
        ("deb [trusted=no] https://example.com/debian bookworm extra", "a.list:1 Trusted no -"),
        (
            "deb [check-valid-until=no] https://example.com/debian bookworm main",
            "a.list:1 Check-Valid-Until no -, a.list:1 twin",
        ),
        (
            "deb [allow-insecure=yes] https://example.com/debian bookworm extra",
            "a.list:1 allow-insecure yes -",
        ),
        ("deb [allow-insecure=no] https://example.com/debian bookworm extra", ""),
        ("deb [lang=none by-hash=no signed-by=/k.asc,] https://example.com/debian bookworm extra", ""),
        ("# deb [signed-by=/o.gpg] https://example.com/debian bookworm main", ""),
        ("deb https://example.org/debian bookworm main # deb https://example.com/debian", ""),
        (
            "deb [signed-by=/o#.gpg] https://example.com/debian bookworm extra",
            "a.list:1 Signed-By /o#.gpg /k.asc",
        ),
        ("broken", ""),
    ] {
        assert_eq!(found(&[("a.list", line), ("m.sources", OWN)]), expected, "{line}");
    }
    // A file behind ours has to say the same.
    let plain = "deb https://example.com/debian bookworm extra\n";
    assert_eq!(found(&[("m.sources", OWN), ("z.list", plain)]), "z.list:1 Signed-By - /k.asc");
}

#[test]
fn paragraphs_that_contradict_are_found() {
    for (paragraph, expected) in [
        (
            "Types: deb\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: main\nSigned-By: /k.asc\n",
            "a.sources:1 twin",
        ),
        (
            "# x\n\nTypes: deb deb-src\nuris: https://example.org https://example.com/debian\nSuites:\n sid\n bookworm\n# c\nComponents: extra\nsigned-by: /o.gpg\n",
            "a.sources:10 Signed-By /o.gpg /k.asc",
        ),
        (
            "Enabled: no\nTypes: deb\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: main\nSigned-By: /o.gpg\n",
            "",
        ),
        (
            "Types: deb\nURIs: https://example.org\nSuites: bookworm\nComponents: main\n\nTypes: deb\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: main\nArchitectures: s390x\nTrusted: yes\n",
            "a.sources:11 Trusted yes -, a.sources:6 twin",
        ),
        (
            "Types: deb\nURIs: https://example.com/debian\nSuites: bookworm\nComponents: extra\nSigned-By:\n -----BEGIN PGP\n .\n mQ\n",
            "a.sources:5 Signed-By -----BEGIN PGP\n.\nmQ /k.asc",
        ),
    ] {
        assert_eq!(found(&[("a.sources", paragraph), ("m.sources", OWN)]), expected, "{paragraph}");
    }
    // Other architectures are another index.
    let own = format!("{OWN}Architectures: amd64 i386\n");
    let twin =
        |arch: &str| format!("deb [arch={arch} signed-by=/k.asc] https://example.com/debian bookworm main");
    assert_eq!(found(&[("a.list", &twin("arm64")), ("m.sources", &own)]), "");
    assert_eq!(found(&[("a.list", &twin("arm64,i386")), ("m.sources", &own)]), "a.list:1 twin");
}
