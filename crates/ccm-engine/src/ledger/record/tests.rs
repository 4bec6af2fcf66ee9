use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use super::*;

fn pair(subscriber: &str, source: &str) -> Pair {
    let named = |id: ResourceId| LedgerResource { shown: id, hash: None };
    Pair {
        subscriber: named(ResourceId::new("exec", subscriber)),
        source: named(ResourceId::new("file", source)),
    }
}

fn origin(seconds: u64) -> Pending {
    Pending {
        run_id: format!("run-{seconds}"),
        since: UNIX_EPOCH + Duration::from_secs(seconds),
        manifest: "/m.yaml".to_owned(),
        is_assumed: false,
        blocked_by: None,
    }
}

fn header() -> String {
    ledger_text("site", "", [])
}

/// Returns the pending refreshes with their origins, or the reason why they are unknown.
fn read(text: impl AsRef<[u8]>) -> String {
    match parse(text.as_ref()) {
        Ok(LedgerContent { pending, .. }) => {
            let one = |(pair, pending): (&Pair, &Pending)| {
                format!("{}<{}@{}", pair.subscriber.shown.name, pair.source.shown.name, pending.run_id)
            };
            pending.iter().map(one).collect::<Vec<_>>().join(" ")
        }
        Err(Unreadable::Newer { version }) => format!("newer: {version}"),
        Err(Unreadable::Damaged { reason }) => format!("damaged: {reason}"),
    }
}

#[test]
fn a_ledger_is_lines_that_can_be_read_by_eye() {
    let pending = PendingByPair::from([(pair("reload", "/etc/a"), origin(9))]);
    let kept =
        pending_line(&pair("c", "/d"), &Pending { blocked_by: Some(RefreshBlocker::Control), ..origin(9) });
    let text = ledger_text("site", "", &pending)
        + &kept
        + &completed_line(&pair("reload", "/etc/a"))
        + &dropped_line(&pair("b", "/c"));
    let expected = r#"{"protocol":"io.choria.ccm.v1.ledger","version":1,"manifest":"site"}
{"record":"owed","subscriber":"exec#reload","source":"file#/etc/a","run":"run-9","since":"1970-01-01T00:00:09.000000Z","manifest":"/m.yaml"}
{"record":"owed","subscriber":"exec#c","source":"file#/d","run":"run-9","since":"1970-01-01T00:00:09.000000Z","manifest":"/m.yaml","kept_by":"control"}
{"record":"paid","subscriber":"exec#reload","source":"file#/etc/a"}
{"record":"dropped","subscriber":"exec#b","source":"file#/c"}
"#;
    assert_eq!(text, expected);
    let kept = |content: LedgerContent| {
        content.pending.into_values().map(|pending| pending.blocked_by).collect::<Vec<_>>()
    };
    assert_eq!(parse(text.as_bytes()).map(kept), Ok(vec![Some(RefreshBlocker::Control)]));
}

#[test]
fn records_come_to_what_is_owed() {
    let (a, b) = (pair("a", "x"), pair("b", "x"));
    for (records, expected) in [
        (vec![], ""),
        (vec![pending_line(&a, &origin(1))], "a<x@run-1"),
        (vec![pending_line(&a, &origin(1)), pending_line(&b, &origin(2))], "a<x@run-1 b<x@run-2"),
        (vec![pending_line(&a, &origin(1)), pending_line(&a, &origin(2))], "a<x@run-1"),
        (vec![pending_line(&a, &origin(1)), completed_line(&a), pending_line(&a, &origin(2))], "a<x@run-2"),
        (vec![pending_line(&a, &origin(1)), pending_line(&b, &origin(1)), completed_line(&a)], "b<x@run-1"),
        (vec![pending_line(&a, &origin(1)), dropped_line(&a)], ""),
        (vec![completed_line(&a), dropped_line(&b)], ""),
        (vec![pending_line(&a, &origin(1)), completed_line(&pair("a", "y"))], "a<x@run-1"),
    ] {
        assert_eq!(read(header() + &records.concat()), expected, "{records:?}");
    }
}

#[test]
fn names_that_look_alike_are_told_apart_and_do_not_say_what_is_hidden() {
    let named = |name: &str| LedgerResource::new(&ResourceId::new("exec", name), "rel [redacted]", "salt");
    let pair = |name| Pair { subscriber: named(name), ..pair("", "x") };
    let (one, other) = (pair("rel swordfish"), pair("rel marlin"));
    let text =
        ledger_text("site", "salt", [(&one, &origin(1)), (&other, &origin(2))]) + &completed_line(&one);
    assert_eq!(read(&text), "rel [redacted]<x@run-2");
    assert!(!text.contains("swordfish"), "{text}");
    assert_ne!(hash(&one.subscriber.shown, "salt"), hash(&one.subscriber.shown, "another"));
    assert_eq!(LedgerResource::new(&one.source.shown, "x", "salt").hash, None, "nothing of it is hidden");
}

#[test]
fn a_record_that_is_torn_at_the_end_was_not_synced() {
    let (a, b) = (pending_line(&pair("a", "x"), &origin(1)), pending_line(&pair("b", "x"), &origin(1)));
    for torn in [&b[..1], &b[..b.len() - 1], "{}", "\0\0\0\0", "not a record"] {
        assert_eq!(read(header() + &a + torn), "a<x@run-1", "{torn:?}");
        assert_eq!(read(header() + torn), "", "{torn:?}");
    }
}

#[test]
fn what_ccm_does_not_write_is_damage() {
    let a = pending_line(&pair("a", "x"), &origin(1));
    let second = "damaged: line 2 is not a record";
    for (text, expected) in [
        (String::new(), "damaged: it has no header"),
        (header().trim_end().to_owned(), "damaged: it has no header"),
        ("\n".to_owned(), "damaged: line 1 is not a header"),
        (a.clone(), "damaged: line 1 is not a header"),
        ("\u{1}\u{2}\n".to_owned(), "damaged: line 1 is not a header"),
        (header().replace("v1.ledger", "v1.other") + &a, "damaged: line 1 is the header of another format"),
        (header().replace(":1,", ":0,") + &a, "damaged: version 0 does not exist"),
        (header().replace(":1,", ":-1,") + &a, "damaged: line 1 is not a header"),
        (header() + "\n" + &a, second),
        (header() + &header() + &a, second),
        (header() + &a.replace("exec#a", "a") + &a, second),
        (header() + &a.replace("1970", "soon") + &a, second),
        (header() + &a.replace("owed", "forgiven") + &a, second),
        (header() + &a[1..] + &a, second),
        (header() + "not a record\n", second),
        (header() + "\0\0\n", second),
        (header() + &a + "{}\n", "damaged: line 3 is not a record"),
        (header() + &a + &a.replace("owed", "forgiven"), "damaged: line 3 is not a record"),
    ] {
        assert_eq!(read(&text), expected, "{text}");
    }
    let mut bytes = header().into_bytes();
    bytes.extend(b"\xff\n");
    bytes.extend(a.as_bytes());
    assert_eq!(read(bytes), second);
}

#[test]
fn a_newer_ledger_is_not_damaged_whatever_is_in_it() {
    for version in [2, 3, u64::MAX] {
        let header = header().replace(":1,", &format!(":{version},\"new\":[1],"));
        assert_eq!(read(header + "anything\nat all\n"), format!("newer: {version}"));
    }
}

#[test]
fn what_is_intact_of_a_damaged_ledger_tells_whose_it_is() {
    let of = |manifest: &str| Pending { manifest: manifest.to_owned(), ..origin(1) };
    let a = pending_line(&pair("a", "x"), &of("/a.yaml"));
    let b = pending_line(&pair("b", "x"), &of("/b.yaml"));
    let site = Some("site");
    for (text, key, manifests) in [
        (header() + &a + "{}\n" + &b + &a, site, &["/a.yaml", "/b.yaml"][..]),
        (header() + "torn\n", site, &[]),
        (header().trim_end().to_owned(), site, &[]),
        (header().replace(":1,", ":2,") + "new\n", site, &[]),
        ("garbage\n".to_owned() + &b, None, &["/b.yaml"]),
        (header().replace("v1.ledger", "v1.other") + &a[..9], None, &[]),
        (String::new(), None, &[]),
    ] {
        let manifests = manifests.iter().map(|manifest| (*manifest).to_owned()).collect();
        let expected = Remains { key: key.map(str::to_owned), manifests };
        assert_eq!(remains(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn fields_may_be_added() {
    let text = header().replace(":1,", ":1,\"new\":1,")
        + &pending_line(&pair("a", "x"), &origin(1)).replace('{', "{\"new\":1,");
    assert_eq!(read(text), "a<x@run-1");
}

proptest! {
    #[test]
    fn what_is_written_comes_back(names in prop::collection::btree_map(("[^#]{1,9}", ".{1,9}"), 0..1_000_000_u64, 0..9)) {
        let pending: PendingByPair = names.iter().map(|((one, other), at)| (pair(one, other), origin(*at))).collect();
        let content = parse(ledger_text("a \"b\"\n", "salt", &pending).as_bytes());
        prop_assert_eq!(content, Ok(LedgerContent { key: "a \"b\"\n".to_owned(), salt: "salt".to_owned(), pending }));
    }

    #[test]
    fn a_ledger_that_is_cut_anywhere_owes_no_more_and_is_damaged_only_in_its_header(cut: prop::sample::Index) {
        let pending = PendingByPair::from([(pair("a", "x"), origin(1)), (pair("b", "x"), origin(1))]);
        let text = ledger_text("site", "", &pending);
        let cut = cut.index(text.len());
        match parse(&text.as_bytes()[..cut]) {
            Ok(content) => prop_assert!(content.pending.len() == text[..cut].matches('\n').count() - 1),
            Err(error) => prop_assert!(cut < header().len(), "{error:?}"),
        }
    }

    #[test]
    fn nothing_makes_it_panic(bytes: Vec<u8>) {
        let _ = parse(&bytes);
        let mut behind = header().into_bytes();
        behind.extend(bytes);
        let _ = parse(&behind);
    }
}
