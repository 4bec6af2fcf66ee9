//! Date layouts, written as the reference time: `2006-01-02 15:04:05 -0700 MST`.

use std::fmt::Write;

use jiff::Zoned;
use jiff::civil::{self, Date, Time};
use jiff::tz::{Offset, TimeZone};

use super::DateTime;
use super::date_time::{MONTHS, WEEKDAYS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayoutPart {
    Year,
    ShortYear,
    LongMonth,
    ShortMonth,
    Month {
        padded: bool,
    },
    LongWeekday,
    ShortWeekday,
    Day {
        padded: bool,
    },
    /// `_2`: padded with a space.
    SpacedDay,
    YearDay {
        spaced: bool,
    },
    Hour,
    Hour12 {
        padded: bool,
    },
    Minute {
        padded: bool,
    },
    Second {
        padded: bool,
    },
    Fraction {
        digits: usize,
        fixed: bool,
        comma: bool,
    },
    Noon {
        capital: bool,
    },
    ZoneName,
    /// `-0700` and similar: the parts written, with or without a colon, and with `Z` for UTC.
    Offset {
        z: bool,
        colon: bool,
        seconds: bool,
        minutes: bool,
    },
}

/// Splits a layout at its first part: the text before, the part, the text after.
fn next_part(layout: &str) -> Option<(&str, LayoutPart, &str)> {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if let Some((part, length)) = part_at(rest) {
            return Some((&layout[..at], part, &rest[length..]));
        }
    }
    None
}

fn part_at(rest: &str) -> Option<(LayoutPart, usize)> {
    const NAMES: [(&str, LayoutPart); 21] = [
        ("January", LayoutPart::LongMonth),
        ("Jan", LayoutPart::ShortMonth),
        ("Monday", LayoutPart::LongWeekday),
        ("Mon", LayoutPart::ShortWeekday),
        ("MST", LayoutPart::ZoneName),
        ("2006", LayoutPart::Year),
        ("01", LayoutPart::Month { padded: true }),
        ("002", LayoutPart::YearDay { spaced: false }),
        ("02", LayoutPart::Day { padded: true }),
        ("03", LayoutPart::Hour12 { padded: true }),
        ("04", LayoutPart::Minute { padded: true }),
        ("05", LayoutPart::Second { padded: true }),
        ("06", LayoutPart::ShortYear),
        ("15", LayoutPart::Hour),
        ("1", LayoutPart::Month { padded: false }),
        ("__2", LayoutPart::YearDay { spaced: true }),
        ("2", LayoutPart::Day { padded: false }),
        ("3", LayoutPart::Hour12 { padded: false }),
        ("4", LayoutPart::Minute { padded: false }),
        ("5", LayoutPart::Second { padded: false }),
        ("PM", LayoutPart::Noon { capital: true }),
    ];
    const OFFSETS: [(&str, bool, bool, bool); 5] = [
        ("07:00:00", true, true, true),
        ("070000", false, true, true),
        ("07:00", true, false, true),
        ("0700", false, false, true),
        ("07", false, false, false),
    ];
    if rest.starts_with("_2006") {
        return None;
    }
    if rest.starts_with("_2") {
        return Some((LayoutPart::SpacedDay, 2));
    }
    if rest.starts_with("pm") {
        return Some((LayoutPart::Noon { capital: false }, 2));
    }
    if let Some(after) = rest.strip_prefix(['-', 'Z']) {
        let z = rest.starts_with('Z');
        return OFFSETS.iter().find(|(written, ..)| after.starts_with(written)).map(
            |(written, colon, seconds, minutes)| {
                let part = LayoutPart::Offset { z, colon: *colon, seconds: *seconds, minutes: *minutes };
                (part, written.len() + 1)
            },
        );
    }
    if let Some(after) = rest.strip_prefix(['.', ',']) {
        for (digit, fixed) in [('0', true), ('9', false)] {
            let digits = after.chars().take_while(|character| *character == digit).count();
            let ends = !after[digits..].starts_with(|next: char| next.is_ascii_digit());
            // A point that does not follow seconds is plain text.
            if digits > 0 && ends {
                let comma = rest.starts_with(',');
                return Some((LayoutPart::Fraction { digits, fixed, comma }, digits + 1));
            }
        }
        return None;
    }
    let (written, part) = NAMES.iter().find(|(written, _)| rest.starts_with(written))?;
    // `Janet` begins with `Jan`, but holds no month.
    if *part == LayoutPart::ShortMonth && rest[3..].starts_with(|next: char| next.is_ascii_lowercase()) {
        return None;
    }
    if *part == LayoutPart::ShortWeekday && rest[3..].starts_with(|next: char| next.is_ascii_lowercase()) {
        return None;
    }
    Some((*part, written.len()))
}

pub(crate) fn format(date_time: &DateTime, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    while let Some((before, part, after)) = next_part(rest) {
        out.push_str(before);
        write_part(date_time, part, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn write_part(date_time: &DateTime, part: LayoutPart, out: &mut String) {
    let zoned = date_time.zoned();
    let month = MONTHS[usize::try_from(zoned.month() - 1).unwrap_or_default() % 12];
    let weekday = WEEKDAYS[usize::try_from(zoned.weekday().to_sunday_zero_offset()).unwrap_or_default() % 7];
    let hour12 = match zoned.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    // Writing to a string can't fail.
    let _ = match part {
        LayoutPart::Year => write!(out, "{:04}", zoned.year()),
        LayoutPart::ShortYear => write!(out, "{:02}", zoned.year().rem_euclid(100)),
        LayoutPart::LongMonth => write!(out, "{month}"),
        LayoutPart::ShortMonth => write!(out, "{}", &month[..3]),
        LayoutPart::Month { padded: true } => write!(out, "{:02}", zoned.month()),
        LayoutPart::Month { padded: false } => write!(out, "{}", zoned.month()),
        LayoutPart::LongWeekday => write!(out, "{weekday}"),
        LayoutPart::ShortWeekday => write!(out, "{}", &weekday[..3]),
        LayoutPart::Day { padded: true } => write!(out, "{:02}", zoned.day()),
        LayoutPart::Day { padded: false } => write!(out, "{}", zoned.day()),
        LayoutPart::SpacedDay => write!(out, "{:2}", zoned.day()),
        LayoutPart::YearDay { spaced: false } => write!(out, "{:03}", zoned.day_of_year()),
        LayoutPart::YearDay { spaced: true } => write!(out, "{:3}", zoned.day_of_year()),
        LayoutPart::Hour => write!(out, "{:02}", zoned.hour()),
        LayoutPart::Hour12 { padded: true } => write!(out, "{hour12:02}"),
        LayoutPart::Hour12 { padded: false } => write!(out, "{hour12}"),
        LayoutPart::Minute { padded: true } => write!(out, "{:02}", zoned.minute()),
        LayoutPart::Minute { padded: false } => write!(out, "{}", zoned.minute()),
        LayoutPart::Second { padded: true } => write!(out, "{:02}", zoned.second()),
        LayoutPart::Second { padded: false } => write!(out, "{}", zoned.second()),
        LayoutPart::Fraction { digits, fixed, comma } => {
            let all = format!("{:09}", zoned.subsec_nanosecond());
            let cut = &all[..digits.min(9)];
            let cut = if fixed { cut } else { cut.trim_end_matches('0') };
            let point = if comma { ',' } else { '.' };
            if cut.is_empty() { Ok(()) } else { write!(out, "{point}{cut}") }
        }
        LayoutPart::Noon { capital } => {
            let noon = match (zoned.hour() < 12, capital) {
                (true, true) => "AM",
                (false, true) => "PM",
                (true, false) => "am",
                (false, false) => "pm",
            };
            write!(out, "{noon}")
        }
        LayoutPart::ZoneName => write!(out, "{}", date_time.abbreviation()),
        LayoutPart::Offset { z: true, .. } if zoned.offset().is_zero() => write!(out, "Z"),
        LayoutPart::Offset { colon, seconds, minutes, .. } => {
            let shift = zoned.offset().seconds();
            let all = shift.unsigned_abs();
            let sign = if shift < 0 { '-' } else { '+' };
            let separator = if colon { ":" } else { "" };
            let _ = write!(out, "{sign}{:02}", all / 3600);
            if minutes {
                let _ = write!(out, "{separator}{:02}", all / 60 % 60);
            }
            if seconds { write!(out, "{separator}{:02}", all % 60) } else { Ok(()) }
        }
    };
}

/// Formats an offset from UTC: `+0200`.
pub(crate) fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

struct ParsedDate {
    year: i16,
    month: i8,
    day: i8,
    year_day: Option<i16>,
    hour: i8,
    afternoon: Option<bool>,
    minute: i8,
    second: i8,
    nanosecond: i32,
    offset: Option<i32>,
    utc: bool,
    zone_name: Option<String>,
}

/// Parses a date, in `zone` unless the text names a zone.
pub(crate) fn parse(layout: &str, text: &str, zone: &TimeZone) -> Option<DateTime> {
    let mut read = ParsedDate {
        year: 0,
        month: 1,
        day: 1,
        year_day: None,
        hour: 0,
        afternoon: None,
        minute: 0,
        second: 0,
        nanosecond: 0,
        offset: None,
        utc: false,
        zone_name: None,
    };
    let mut layout = layout;
    let mut text = text;
    while let Some((before, part, after)) = next_part(layout) {
        text = literal(before, text)?;
        text = read_part(part, after, text, &mut read)?;
        layout = after;
    }
    let text = literal(layout, text)?;
    if !text.is_empty() {
        return None;
    }
    read.into_date_time(zone)
}

/// Strips literal text; blanks match any number of blanks.
fn literal<'t>(expected: &str, mut text: &'t str) -> Option<&'t str> {
    let mut expected = expected;
    while let Some(first) = expected.chars().next() {
        if first == ' ' {
            if !text.is_empty() && !text.starts_with(' ') {
                return None;
            }
            expected = expected.trim_start_matches(' ');
            text = text.trim_start_matches(' ');
            continue;
        }
        text = text.strip_prefix(first)?;
        expected = &expected[first.len_utf8()..];
    }
    Some(text)
}

/// Parses a number with a minimum and a maximum number of digits.
fn digits(text: &str, least: usize, most: usize) -> Option<(i32, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

/// Returns the index of the name at the beginning of the text.
fn name<'t>(text: &'t str, names: &[&str], length: Option<usize>) -> Option<(i8, &'t str)> {
    names.iter().zip(0_i8..).find_map(|(name, at)| {
        let name = length.map_or(*name, |length| &name[..length]);
        let begin = text.get(..name.len())?;
        begin.eq_ignore_ascii_case(name).then(|| (at, &text[name.len()..]))
    })
}

fn read_part<'t>(part: LayoutPart, after: &str, text: &'t str, read: &mut ParsedDate) -> Option<&'t str> {
    let small = |pair: (i32, &'t str)| Some((i8::try_from(pair.0).ok()?, pair.1));
    let rest;
    match part {
        LayoutPart::Year => {
            let (year, left) = digits(text, 4, 4)?;
            (read.year, rest) = (i16::try_from(year).ok()?, left);
        }
        LayoutPart::ShortYear => {
            let (year, left) = digits(text, 2, 2)?;
            let century = if year >= 69 { 1900 } else { 2000 };
            (read.year, rest) = (i16::try_from(year + century).ok()?, left);
        }
        LayoutPart::LongMonth | LayoutPart::ShortMonth => {
            let (month, left) = name(text, &MONTHS, (part == LayoutPart::ShortMonth).then_some(3))?;
            (read.month, rest) = (month + 1, left);
        }
        LayoutPart::Month { padded } => {
            (read.month, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?;
        }
        LayoutPart::LongWeekday => rest = name(text, &WEEKDAYS, None)?.1,
        LayoutPart::ShortWeekday => rest = name(text, &WEEKDAYS, Some(3))?.1,
        LayoutPart::Day { padded } => (read.day, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?,
        LayoutPart::SpacedDay => {
            (read.day, rest) = small(digits(text.strip_prefix(' ').unwrap_or(text), 1, 2)?)?;
        }
        LayoutPart::YearDay { spaced } => {
            let (day, left) = if spaced { digits(text.trim_start(), 1, 3)? } else { digits(text, 3, 3)? };
            (read.year_day, rest) = (Some(i16::try_from(day).ok()?), left);
        }
        LayoutPart::Hour => (read.hour, rest) = small(digits(text, 1, 2)?)?,
        LayoutPart::Hour12 { padded } => {
            (read.hour, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?;
            if read.hour > 12 {
                return None;
            }
        }
        LayoutPart::Minute { padded } => {
            (read.minute, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?;
        }
        LayoutPart::Second { padded } => {
            let (second, left) = small(digits(text, 1 + usize::from(padded), 2)?)?;
            read.second = second;
            // A fraction may follow seconds even if the layout has none.
            let fraction_next = matches!(next_part(after), Some(("", LayoutPart::Fraction { .. }, _)));
            rest = if !fraction_next
                && left.starts_with(['.', ','])
                && left[1..].starts_with(|c: char| c.is_ascii_digit())
            {
                fraction(left, None, read)?
            } else {
                left
            };
        }
        LayoutPart::Fraction { digits, fixed, .. } => {
            rest = if text.starts_with(['.', ',']) {
                fraction(text, fixed.then_some(digits), read)?
            } else if fixed {
                return None;
            } else {
                text
            };
        }
        LayoutPart::Noon { .. } => {
            let (first, left) = text.split_at_checked(2)?;
            read.afternoon = match first {
                "AM" | "am" => Some(false),
                "PM" | "pm" => Some(true),
                _ => return None,
            };
            rest = left;
        }
        LayoutPart::ZoneName => rest = zone_name(text, read)?,
        LayoutPart::Offset { z, colon, seconds, minutes } => {
            if let Some(left) = text.strip_prefix('Z').filter(|_| z) {
                read.utc = true;
                return Some(left);
            }
            rest = read_offset(text, colon, seconds, minutes, read)?;
        }
    }
    Some(rest)
}

fn fraction<'t>(text: &'t str, exactly: Option<usize>, read: &mut ParsedDate) -> Option<&'t str> {
    let count = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    if exactly.is_some_and(|exactly| exactly != count) {
        return None;
    }
    let written = &text[1..=count];
    let cut = &written[..count.min(9)];
    read.nanosecond = format!("{cut:0<9}").parse().ok()?;
    Some(&text[count + 1..])
}

/// Parses a zone abbreviation: three to five capitals, or an offset from `GMT`.
fn zone_name<'t>(text: &'t str, read: &mut ParsedDate) -> Option<&'t str> {
    if let Some(left) = text.strip_prefix("UTC") {
        read.utc = true;
        return Some(left);
    }
    if let Some(after) = text.strip_prefix("GMT")
        && let Some(shift) = after.strip_prefix(['+', '-'])
    {
        let (hours, left) = digits(shift, 1, 2)?;
        let sign = if after.starts_with('-') { -1 } else { 1 };
        read.offset = Some(sign * hours * 3600);
        read.zone_name = Some(text[..text.len() - left.len()].to_owned());
        return Some(left);
    }
    let count = text.bytes().take(6).take_while(u8::is_ascii_uppercase).count();
    let known = match count {
        3 => true,
        4 => text[..4].ends_with('T') || text.starts_with("WITA"),
        5 => text[..5].ends_with('T'),
        _ => false,
    };
    if !known {
        return None;
    }
    read.zone_name = Some(text[..count].to_owned());
    Some(&text[count..])
}

fn read_offset<'t>(
    text: &'t str,
    colon: bool,
    seconds: bool,
    minutes: bool,
    read: &mut ParsedDate,
) -> Option<&'t str> {
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, mut rest) = digits(&text[1..], 2, 2)?;
    let mut total = hours * 3600;
    let mut next = |rest: &mut &'t str, factor: i32| -> Option<()> {
        let after = if colon { rest.strip_prefix(':')? } else { *rest };
        let (value, left) = digits(after, 2, 2)?;
        if value > 59 {
            return None;
        }
        total += value * factor;
        *rest = left;
        Some(())
    };
    if minutes {
        next(&mut rest, 60)?;
    }
    if seconds {
        next(&mut rest, 1)?;
    }
    if hours > 24 {
        return None;
    }
    read.offset = Some(sign * total);
    Some(rest)
}

impl ParsedDate {
    fn into_date_time(self, zone: &TimeZone) -> Option<DateTime> {
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let date = match self.year_day {
            Some(day) => Date::new(self.year, 1, 1).ok()?.with().day_of_year(day).build().ok()?,
            None => Date::new(self.year, self.month, self.day).ok()?,
        };
        let time = Time::new(hour, self.minute, self.second, self.nanosecond).ok()?;
        let local_time = civil::DateTime::from_parts(date, time);
        let within = |zone: &TimeZone| zone.to_ambiguous_zoned(local_time).compatible().ok();
        if self.utc {
            return within(&TimeZone::UTC).map(DateTime::from);
        }
        if let Some(seconds) = self.offset {
            let offset = Offset::from_seconds(seconds).ok()?;
            let timestamp = offset.to_timestamp(local_time).ok()?;
            // An offset that the zone has at that time means the zone.
            let local = timestamp.to_zoned(zone.clone());
            if local.offset() == offset {
                return Some(DateTime::with_abbreviation(local, self.zone_name));
            }
            let fixed: Zoned = timestamp.to_zoned(offset.to_time_zone());
            return Some(DateTime::with_abbreviation(fixed, self.zone_name));
        }
        if let Some(name) = self.zone_name {
            let zoned = within(zone)?;
            let known = zone.to_offset_info(zoned.timestamp()).abbreviation() == name;
            return if known {
                Some(DateTime::from(zoned))
            } else {
                // Of an unknown zone only the name is kept.
                within(&Offset::UTC.to_time_zone())
                    .map(|zoned| DateTime::with_abbreviation(zoned, Some(name)))
            };
        }
        within(zone).map(DateTime::from)
    }
}
