//! Dates and durations.

use crate::scope::JsonScope;

#[test]
fn dates_and_durations_are_parsed_and_formatted() {
    let scope = JsonScope::new("{}");
    let table = [
        ("string(duration(\"1h30m\"))", "1h30m0s"),
        ("string(duration(\"-1.5s\"))", "-1.5s"),
        ("string(duration(\"1500us\"))", "1.5ms"),
        ("string(duration(\"0.3333333333333333333h\"))", "20m0s"),
        ("string(duration(\"0\"))", "0s"),
        ("string(duration(\"1h\") + duration(\"1m\"))", "1h1m0s"),
        ("string(duration(\"1h\") * 2)", "2h0m0s"),
        ("string(duration(\"1h\") > duration(\"59m\"))", "true"),
        ("string(duration(\"90m\").Hours())", "1.5"),
        ("duration(\"1h1m\").Round(duration(\"1h\")).String()", "1h0m0s"),
        ("type(duration(\"1s\"))", "time.Duration"),
        ("string(date(\"2023-08-14\"))", "2023-08-14 00:00:00 +0000 UTC"),
        ("string(date(\"2023-08-14\") + duration(\"1h\"))", "2023-08-14 01:00:00 +0000 UTC"),
        ("string(date(\"2023-08-14\").Month())", "August"),
        ("string(int(date(\"2023-08-14\").Month()))", "8"),
        ("date(\"2023-08-14\").Weekday().String()", "Monday"),
        ("string(date(\"2023-08-14\").YearDay())", "226"),
        ("string(date(\"2023-08-14T10:00:00+02:00\"))", "2023-08-14 10:00:00 +0200 +0200"),
        ("string(date(\"14 Aug 23 10:00 UTC\"))", "2023-08-14 10:00:00 +0000 UTC"),
        (
            "date(\"2023-08-14 00:00:00\", \"2006-01-02 15:04:05\", \"Europe/Zurich\").String()",
            "2023-08-14 00:00:00 +0200 CEST",
        ),
        (
            "date(\"2023-08-14\").In(timezone(\"America/New_York\")).Format(\"2006-01-02 15:04 MST -07:00\")",
            "2023-08-13 20:00 EDT -04:00",
        ),
        (
            "date(\"2023-08-14 05:06:07\").Format(\"Jan _2 06 3:4:5 PM Monday 002\")",
            "Aug 14 23 5:6:7 AM Monday 226",
        ),
        ("date(\"3:04PM\", \"3:04PM\").Format(\"15:04\")", "15:04"),
        ("date(\"2023-01-31\").AddDate(0, 1, 0).Format(\"2006-01-02\")", "2023-03-03"),
        ("string(date(\"2023-08-14\") > date(\"2023-08-13\"))", "true"),
        ("string(date(\"2023-08-14\").Unix())", "1691971200"),
        ("string(now())", "2023-11-14 22:13:20 +0000 UTC"),
        ("toJSON(date(\"2023-08-14\"))", "\"2023-08-14T00:00:00Z\""),
        ("type(date(\"2023-08-14\"))", "time.Time"),
    ];
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(text, wanted)| match scope.evaluate(text) {
            Ok(found) if found.to_string() == *wanted => None,
            other => Some(format!("{text}: {other:?}, wanted {wanted}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn date_errors_are_compile_errors() {
    let scope = JsonScope::new("{}");
    for text in [
        "now().Yaer()",
        "now().Year",
        "now().Year(1)",
        "now().Month() == 8",
        "now() + 1",
        "duration(\"1s\") == 1",
        "now() * 2",
        "date(\"2023-08-14\") + date(\"2023-08-14\")",
    ] {
        let error = scope.evaluate(text).expect_err(text);
        assert_eq!(error.stage, ccm_expr::Stage::Compile, "{text}");
    }
    let error = scope.evaluate("now().Yaer()").expect_err("a misspelt method");
    assert_eq!(error.nearest.as_deref(), Some("Year"));
}
