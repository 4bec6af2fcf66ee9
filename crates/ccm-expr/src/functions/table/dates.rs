//! Functions on dates and durations.

use super::{Row, plain, row};
use crate::functions::{Accepts, dates};
use crate::static_type::Base;

pub(super) static ROWS: &[Row] = &[
    row(
        "now([zone])",
        "The current time.",
        &[("type(now())", "\"time.Time\"")],
        plain(0, 1, &[Accepts::ZONE], |_| Base::DateTime.into(), dates::now),
    ),
    row(
        "duration(text)",
        "Parses a duration: numbers with ns, us, ms, s, m or h.",
        &[("duration(\"1h30m\").Minutes()", "90.0")],
        plain(1, 1, &[Accepts::TEXT], |_| Base::Duration.into(), dates::duration),
    ),
    row(
        "date([zone, ]text[, layout[, zone]])",
        "Parses a date, in a common layout or the given one.",
        &[
            ("date(\"2023-08-14\").Year()", "2023"),
            ("(date(\"2023-08-14\") - date(\"2023-08-13\")).Hours()", "24.0"),
            ("date(\"14.08.23\", \"02.01.06\").Format(\"2006-01-02\")", "\"2023-08-14\""),
        ],
        plain(1, 4, &[Accepts::ANY], |_| Base::DateTime.into(), dates::date),
    ),
    row(
        "timezone(name)",
        "The time zone with this name.",
        &[
            ("timezone(\"Europe/Zurich\").String()", "\"Europe/Zurich\""),
            ("date(\"2023-08-14\").In(timezone(\"Asia/Tokyo\")).Hour()", "9"),
        ],
        plain(1, 1, &[Accepts::TEXT], |_| Base::Zone.into(), dates::timezone),
    ),
];
