use proptest::prelude::*;

use super::*;
use crate::reference::forms;
use crate::united;

fn index<V: AsRef<str>>(secrets: &[V]) -> FormIndex {
    let mut index = FormIndex::default();
    for secret in secrets {
        index.add(secret.as_ref());
    }
    index
}

/// Returns the ranges of forms and the begin of the last unfinished one, found by a naive search.
fn naive_search(secrets: &[String], text: &[u8], end: usize) -> (Vec<Range<usize>>, usize) {
    let forms = forms(secrets);
    let mut hidden = Vec::new();
    for offset in 0..text.len() {
        let here = forms.iter().filter(|form| text[offset..].starts_with(form.as_bytes()));
        hidden.extend(here.map(|form| offset..offset + form.len()));
    }
    let is_unfinished =
        |end: &[u8]| forms.iter().any(|form| form.len() > end.len() && form.as_bytes().starts_with(end));
    let unfinished = (0..end).find(|offset| is_unfinished(&text[*offset..end])).unwrap_or(end);
    (united(hidden), unfinished)
}

#[test]
fn the_longest_unfinished_end_is_found() {
    for (secrets, text, from) in [
        (&["secret"][..], "a sec", 2),
        (&["secret"], "a secret", 8),
        (&["abab"], "xabab", 3),
        (&["abab"], "ab", 0),
        (&["abcd", "bcde", "cdxx"], "abcd", 1),
        (&["abcd", "abcdefg"], "abcd", 0),
        (&["aaaa"], "aaaaaaaa", 5),
        (&["aaaa"], "aaab", 4),
        (&["aaaa"], "", 0),
        (&["abcdefghi", "abcdefghijklmnop"], "abcdefghi", 0),
        (&["abcdefgh", "abcdefghijklmnop", "abcdefghij"], "xabcdefghij", 1),
        (&["abcdefghijklmnop", "abcdefghabcdefgh"], "xabcdefgha", 1),
        (&["abcdefghijklmnop", "abcdefghabcdefgh"], "xabcdefghx", 10),
        (&["redacted"], "a redacte", 9),
        (&["redacted\n"], "a redacted", 2),
    ] {
        let found = index(secrets).search(ALL, text.as_bytes(), &[text.len()]);
        assert_eq!(found.unfinished, [from], "{secrets:?} in {text}");
        let secrets: Vec<String> = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        assert_eq!(naive_search(&secrets, text.as_bytes(), text.len()).1, from, "{secrets:?} in {text}");
    }
}

#[test]
fn the_redaction_mark_is_not_hidden() {
    for (secret, text, hidden) in
        [("redacted", "[redacted]", 0), ("redacted\n", "redacted", 0), ("redacted\n", "redacted\n", 9)]
    {
        assert_eq!(hidden_length(&mut index(&[secret]), text), hidden, "{secret:?}");
    }
}

#[test]
fn values_with_fewer_blanks_behind_them_than_another_are_hidden_whole() {
    let mut index = index(&["secret-2\n\u{b}", "secret-2\n"]);
    for (text, hidden) in [("secret-2\n", 9), ("secret-2\n\u{b}", 10), ("secret-2 ", 8)] {
        assert_eq!(hidden_length(&mut index, text), hidden, "{text:?}");
    }
}

#[test]
fn beginnings_of_added_values_are_found() {
    let mut index = index(&["correct horse"]);
    let mut unfinished = |text: &str| index.search(ALL, text.as_bytes(), &[text.len()]).unfinished;
    assert_eq!(unfinished("a corr"), [2]);
    index.add("battery");
    index.add("staples and clips");
    let mut unfinished = |text: &str| index.search(ALL, text.as_bytes(), &[text.len()]).unfinished;
    for (text, from) in [("a corr", 2), ("a batt", 2), ("a stap", 2), ("a battery", 9), ("a staples and", 2)]
    {
        assert_eq!(unfinished(text), [from], "{text}");
    }
}

/// Secrets with all bytes that an encoding changes. They are often similar, or one contains another.
fn secrets() -> impl Strategy<Value = Vec<String>> {
    let piece = prop::sample::select(vec![
        "a",
        "aaaa",
        "ab",
        "secret-1",
        "secret-2",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\"",
        "'",
        "\\",
        "$",
        "`",
        "/",
        "~",
        "*",
        "-",
        "_",
        "?",
        "&",
        "<",
        "=~",
        "+",
        "!",
        ":",
        ";",
        "|",
        "\u{b}",
        "\u{1b}",
        "\u{85}",
        "\u{1f}",
        "\u{7f}",
        "\u{0}",
        "ä",
        "\u{301}",
        "\u{2028}",
        "\u{1f600}",
        "[redacted]",
        "\\u00e4",
        "k",
    ]);
    prop::collection::vec(prop::collection::vec(piece, 1..9).prop_map(|pieces| pieces.concat()), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_index_finds_what_a_plain_search_finds(
        secrets in secrets(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..60, 0_usize..60), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let forms: Vec<String> = forms(&secrets).into_iter().chain(["x".to_owned()]).collect();
        let mut text = Vec::new();
        for (form, from, length) in picks {
            // Whole forms and parts of them are equally frequent.
            let form = form.get(&forms).as_bytes();
            let from = if from < 40 { 0 } else { from % form.len() };
            let length = if length < 30 { form.len() } else { length };
            text.extend_from_slice(&form[from..form.len().min(from + length)]);
        }
        let end = cut.index(text.len() + 1);
        let (hidden, unfinished) = naive_search(&secrets, &text, end);
        let mut index = index(&secrets);
        let found = index.search(ALL, &text, &[end]);
        prop_assert_eq!(&found.hidden, &hidden, "{:?} in {:?}", &secrets, text.escape_ascii().to_string());
        prop_assert_eq!(found.unfinished, [unfinished], "{:?} in {:?}", &secrets, text.escape_ascii().to_string());
        prop_assert_eq!(index.finds(ALL, &text), !hidden.is_empty());
    }

    #[test]
    fn short_secrets_are_found_that_are_looked_for_one_by_one(
        secrets in prop::collection::vec("[ab]{4,12}", 1..9),
        text in "[abc]{0,40}",
    ) {
        let found = index(&secrets).search(ALL, text.as_bytes(), &[text.len()]);
        let (hidden, unfinished) = naive_search(&secrets, text.as_bytes(), text.len());
        prop_assert_eq!(found.hidden, hidden);
        prop_assert_eq!(found.unfinished, [unfinished]);
    }
}

/// Returns a secret of 16 KiB, in lines of 64 characters that no other secret has.
fn long_secret(number: usize) -> String {
    let mut state = number as u64 + 1;
    let mut line = || {
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'0' + (state >> 57) as u8 % 75)
        };
        (0..63).map(next).chain(['\n']).collect::<String>()
    };
    (0..256).map(|_| line()).collect()
}

/// Returns the length of the only hidden range of a text, or zero.
fn hidden_length(index: &mut FormIndex, text: &str) -> usize {
    match &*index.search(ALL, text.as_bytes(), &[]).hidden {
        [] => 0,
        [hidden] => hidden.len(),
        more => panic!("{more:?} are hidden"),
    }
}

#[test]
fn the_cost_of_adding_a_secret_is_constant() {
    let encoded = |count: usize| {
        let mut index = FormIndex::default();
        (0..count).for_each(|number| index.add(&long_secret(number)));
        index.encoded()
    };
    let (few, many) = (encoded(10), encoded(100));
    assert!(many <= 11 * few, "{few} chunks for 10 secrets, {many} for 100");
    // 256 lines and a few longer pieces, each in about ten forms.
    assert!(few / 10 <= 256 * 20, "{few} chunks");
}

#[test]
fn a_known_secret_costs_nothing() {
    let mut index = index(&[long_secret(1)]);
    let encoded = index.encoded();
    index.add(&long_secret(1));
    index.add(long_secret(1).lines().nth(7).expect("a line"));
    assert_eq!(index.encoded(), encoded);
}

#[test]
fn lines_with_a_common_beginning_cost_few_steps() {
    let prefix = "database.cluster.example.org/connection/";
    let lines = |count: usize| -> String {
        (0..count).fold(String::new(), |lines, line| lines + &format!("{prefix}{line:06}\n"))
    };
    let (few, mut many) = (index(&[lines(100)]), index(&[lines(10_000)]));
    assert!(many.encoded() <= 110 * few.encoded(), "{} and {} chunks", few.encoded(), many.encoded());
    let text = format!("{prefix}009999 {prefix}999999 {prefix}");
    let added = many.encoded();
    assert_eq!(hidden_length(&mut many, &text[..46]), 46);
    assert_eq!(hidden_length(&mut many, &text[47..]), 0);
    // The first matching text splits the forms, a few chunks each; later texts split nothing.
    let parted = many.encoded() - added;
    assert!(parted <= 40 * 10_000, "{parted} chunks");
    let compared = many.compared(text.as_bytes());
    assert!(compared <= 50 * text.len(), "{compared} bytes were compared");
    assert_eq!(many.encoded() - added, parted);
}

#[test]
fn the_cost_of_a_search_is_constant() {
    let secrets: Vec<String> = (0..100).map(long_secret).collect();
    let text = long_secret(1_000);
    let compared = index(&secrets).compared(text.as_bytes());
    // Only by chance a chunk equals one of the secrets' chunks.
    assert!(compared <= text.len(), "{compared} bytes were compared");
}

#[test]
fn repeated_text_is_compared_a_bounded_number_of_times() {
    for (unit, times) in
        [("a", 20_000), ("ab\n", 5_000), ("%0A ", 5_000), ("0123456789abcde\n", 2_000), (" ", 9_000)]
    {
        let secret = unit.repeat(times);
        let mut index = index(&[&secret]);
        for text in [secret.repeat(2), secret.replace('\n', "\\n"), secret.replace(' ', "%20")] {
            let compared = index.compared(text.as_bytes());
            assert!(compared <= 700 * text.len(), "{compared} for {} bytes of {unit:?}", text.len());
        }
        assert_eq!(hidden_length(&mut index, &secret), secret.len());
    }
}

#[test]
fn a_long_secret_has_no_gap_between_its_pieces() {
    let secret = long_secret(0).replace('\n', "");
    let mut index = index(&[&secret]);
    assert_eq!(hidden_length(&mut index, &secret), secret.len());
    let dumped = secret.bytes().fold(String::new(), |dumped, byte| dumped + &format!("{byte:02X}"));
    assert_eq!(hidden_length(&mut index, &dumped), dumped.len());
}
