//! Layouts of dates, written as the reference moment would be: `2006-01-02 15:04:05 -0700 MST`.

use std::fmt::Write;

use jiff::Zoned;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

use super::Moment;
use super::moment::{MONTHS, WEEKDAYS};

/// A part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
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
    /// `.000` or `.999`, with its separator.
    Fraction {
        digits: usize,
        fixed: bool,
        comma: bool,
    },
    Noon {
        capital: bool,
    },
    ZoneName,
    /// `-0700` and its like: which parts are written, with a colon or not, and whether UTC is `Z`.
    Offset {
        z: bool,
        colon: bool,
        seconds: bool,
        minutes: bool,
    },
}

/// The first part in a layout: what stands before it, itself, and what follows.
fn next_part(layout: &str) -> Option<(&str, Part, &str)> {
    for (at, _) in layout.char_indices() {
        let rest = &layout[at..];
        if let Some((part, length)) = part_at(rest) {
            return Some((&layout[..at], part, &rest[length..]));
        }
    }
    None
}

fn part_at(rest: &str) -> Option<(Part, usize)> {
    const NAMES: [(&str, Part); 21] = [
        ("January", Part::LongMonth),
        ("Jan", Part::ShortMonth),
        ("Monday", Part::LongWeekday),
        ("Mon", Part::ShortWeekday),
        ("MST", Part::ZoneName),
        ("2006", Part::Year),
        ("01", Part::Month { padded: true }),
        ("002", Part::YearDay { spaced: false }),
        ("02", Part::Day { padded: true }),
        ("03", Part::Hour12 { padded: true }),
        ("04", Part::Minute { padded: true }),
        ("05", Part::Second { padded: true }),
        ("06", Part::ShortYear),
        ("15", Part::Hour),
        ("1", Part::Month { padded: false }),
        ("__2", Part::YearDay { spaced: true }),
        ("2", Part::Day { padded: false }),
        ("3", Part::Hour12 { padded: false }),
        ("4", Part::Minute { padded: false }),
        ("5", Part::Second { padded: false }),
        ("PM", Part::Noon { capital: true }),
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
        return Some((Part::SpacedDay, 2));
    }
    if rest.starts_with("pm") {
        return Some((Part::Noon { capital: false }, 2));
    }
    if let Some(after) = rest.strip_prefix(['-', 'Z']) {
        let z = rest.starts_with('Z');
        return OFFSETS.iter().find(|(written, ..)| after.starts_with(written)).map(
            |(written, colon, seconds, minutes)| {
                let part = Part::Offset { z, colon: *colon, seconds: *seconds, minutes: *minutes };
                (part, written.len() + 1)
            },
        );
    }
    if let Some(after) = rest.strip_prefix(['.', ',']) {
        for (digit, fixed) in [('0', true), ('9', false)] {
            let digits = after.chars().take_while(|character| *character == digit).count();
            let ends = !after[digits..].starts_with(|next: char| next.is_ascii_digit());
            // Only behind seconds, or the point is a mere point.
            if digits > 0 && ends {
                let comma = rest.starts_with(',');
                return Some((Part::Fraction { digits, fixed, comma }, digits + 1));
            }
        }
        return None;
    }
    let (written, part) = NAMES.iter().find(|(written, _)| rest.starts_with(written))?;
    // `Janet` holds no month.
    if *part == Part::ShortMonth && rest[3..].starts_with(|next: char| next.is_ascii_lowercase()) {
        return None;
    }
    if *part == Part::ShortWeekday && rest[3..].starts_with(|next: char| next.is_ascii_lowercase()) {
        return None;
    }
    Some((*part, written.len()))
}

/// Writes a date by a layout.
pub(crate) fn format(moment: &Moment, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    while let Some((before, part, after)) = next_part(rest) {
        out.push_str(before);
        write_part(moment, part, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn write_part(moment: &Moment, part: Part, out: &mut String) {
    let zoned = moment.zoned();
    let month = MONTHS[usize::try_from(zoned.month() - 1).unwrap_or_default() % 12];
    let weekday = WEEKDAYS[usize::try_from(zoned.weekday().to_sunday_zero_offset()).unwrap_or_default() % 7];
    let hour12 = match zoned.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    // Writing to a string can't fail.
    let _ = match part {
        Part::Year => write!(out, "{:04}", zoned.year()),
        Part::ShortYear => write!(out, "{:02}", zoned.year().rem_euclid(100)),
        Part::LongMonth => write!(out, "{month}"),
        Part::ShortMonth => write!(out, "{}", &month[..3]),
        Part::Month { padded: true } => write!(out, "{:02}", zoned.month()),
        Part::Month { padded: false } => write!(out, "{}", zoned.month()),
        Part::LongWeekday => write!(out, "{weekday}"),
        Part::ShortWeekday => write!(out, "{}", &weekday[..3]),
        Part::Day { padded: true } => write!(out, "{:02}", zoned.day()),
        Part::Day { padded: false } => write!(out, "{}", zoned.day()),
        Part::SpacedDay => write!(out, "{:2}", zoned.day()),
        Part::YearDay { spaced: false } => write!(out, "{:03}", zoned.day_of_year()),
        Part::YearDay { spaced: true } => write!(out, "{:3}", zoned.day_of_year()),
        Part::Hour => write!(out, "{:02}", zoned.hour()),
        Part::Hour12 { padded: true } => write!(out, "{hour12:02}"),
        Part::Hour12 { padded: false } => write!(out, "{hour12}"),
        Part::Minute { padded: true } => write!(out, "{:02}", zoned.minute()),
        Part::Minute { padded: false } => write!(out, "{}", zoned.minute()),
        Part::Second { padded: true } => write!(out, "{:02}", zoned.second()),
        Part::Second { padded: false } => write!(out, "{}", zoned.second()),
        Part::Fraction { digits, fixed, comma } => {
            let all = format!("{:09}", zoned.subsec_nanosecond());
            let cut = &all[..digits.min(9)];
            let cut = if fixed { cut } else { cut.trim_end_matches('0') };
            let point = if comma { ',' } else { '.' };
            if cut.is_empty() { Ok(()) } else { write!(out, "{point}{cut}") }
        }
        Part::Noon { capital } => {
            let noon = match (zoned.hour() < 12, capital) {
                (true, true) => "AM",
                (false, true) => "PM",
                (true, false) => "am",
                (false, false) => "pm",
            };
            write!(out, "{noon}")
        }
        Part::ZoneName => write!(out, "{}", moment.abbreviation()),
        Part::Offset { z: true, .. } if zoned.offset().is_zero() => write!(out, "Z"),
        Part::Offset { colon, seconds, minutes, .. } => {
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

/// An offset from UTC as `+0200`.
pub(crate) fn offset(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
}

/// What was read of a date so far.
struct Read {
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

/// Reads a date by a layout, in a zone unless the text has one.
pub(crate) fn parse(layout: &str, text: &str, zone: &TimeZone) -> Option<Moment> {
    let mut read = Read {
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
    read.into_moment(zone)
}

/// What follows a literal piece; blanks match any number of blanks.
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

/// A number of so many digits at least and at most.
fn digits(text: &str, least: usize, most: usize) -> Option<(i32, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

/// The place of the name that the text begins with.
fn name<'t>(text: &'t str, names: &[&str], length: Option<usize>) -> Option<(i8, &'t str)> {
    names.iter().zip(0_i8..).find_map(|(name, at)| {
        let name = length.map_or(*name, |length| &name[..length]);
        let begin = text.get(..name.len())?;
        begin.eq_ignore_ascii_case(name).then(|| (at, &text[name.len()..]))
    })
}

fn read_part<'t>(part: Part, after: &str, text: &'t str, read: &mut Read) -> Option<&'t str> {
    let small = |pair: (i32, &'t str)| Some((i8::try_from(pair.0).ok()?, pair.1));
    let rest;
    match part {
        Part::Year => {
            let (year, left) = digits(text, 4, 4)?;
            (read.year, rest) = (i16::try_from(year).ok()?, left);
        }
        Part::ShortYear => {
            let (year, left) = digits(text, 2, 2)?;
            let century = if year >= 69 { 1900 } else { 2000 };
            (read.year, rest) = (i16::try_from(year + century).ok()?, left);
        }
        Part::LongMonth | Part::ShortMonth => {
            let (month, left) = name(text, &MONTHS, (part == Part::ShortMonth).then_some(3))?;
            (read.month, rest) = (month + 1, left);
        }
        Part::Month { padded } => (read.month, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?,
        Part::LongWeekday => rest = name(text, &WEEKDAYS, None)?.1,
        Part::ShortWeekday => rest = name(text, &WEEKDAYS, Some(3))?.1,
        Part::Day { padded } => (read.day, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?,
        Part::SpacedDay => {
            (read.day, rest) = small(digits(text.strip_prefix(' ').unwrap_or(text), 1, 2)?)?;
        }
        Part::YearDay { spaced } => {
            let (day, left) = if spaced { digits(text.trim_start(), 1, 3)? } else { digits(text, 3, 3)? };
            (read.year_day, rest) = (Some(i16::try_from(day).ok()?), left);
        }
        Part::Hour => (read.hour, rest) = small(digits(text, 1, 2)?)?,
        Part::Hour12 { padded } => {
            (read.hour, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?;
            if read.hour > 12 {
                return None;
            }
        }
        Part::Minute { padded } => (read.minute, rest) = small(digits(text, 1 + usize::from(padded), 2)?)?,
        Part::Second { padded } => {
            let (second, left) = small(digits(text, 1 + usize::from(padded), 2)?)?;
            read.second = second;
            // A fraction may follow even where the layout has none.
            let fraction_next = matches!(next_part(after), Some(("", Part::Fraction { .. }, _)));
            rest = if !fraction_next
                && left.starts_with(['.', ','])
                && left[1..].starts_with(|c: char| c.is_ascii_digit())
            {
                fraction(left, None, read)?
            } else {
                left
            };
        }
        Part::Fraction { digits, fixed, .. } => {
            rest = if text.starts_with(['.', ',']) {
                fraction(text, fixed.then_some(digits), read)?
            } else if fixed {
                return None;
            } else {
                text
            };
        }
        Part::Noon { .. } => {
            let (first, left) = text.split_at_checked(2)?;
            read.afternoon = match first {
                "AM" | "am" => Some(false),
                "PM" | "pm" => Some(true),
                _ => return None,
            };
            rest = left;
        }
        Part::ZoneName => rest = zone_name(text, read)?,
        Part::Offset { z, colon, seconds, minutes } => {
            if let Some(left) = text.strip_prefix('Z').filter(|_| z) {
                read.utc = true;
                return Some(left);
            }
            rest = read_offset(text, colon, seconds, minutes, read)?;
        }
    }
    Some(rest)
}

fn fraction<'t>(text: &'t str, exactly: Option<usize>, read: &mut Read) -> Option<&'t str> {
    let count = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    if exactly.is_some_and(|exactly| exactly != count) {
        return None;
    }
    let written = &text[1..=count];
    let cut = &written[..count.min(9)];
    read.nanosecond = format!("{cut:0<9}").parse().ok()?;
    Some(&text[count + 1..])
}

/// A zone's short name: three to five capitals, or an offset from `GMT`.
fn zone_name<'t>(text: &'t str, read: &mut Read) -> Option<&'t str> {
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
    read: &mut Read,
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

impl Read {
    fn into_moment(self, zone: &TimeZone) -> Option<Moment> {
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
        let civil = DateTime::from_parts(date, time);
        let within = |zone: &TimeZone| zone.to_ambiguous_zoned(civil).compatible().ok();
        if self.utc {
            return within(&TimeZone::UTC).map(Moment::from);
        }
        if let Some(seconds) = self.offset {
            let offset = Offset::from_seconds(seconds).ok()?;
            let timestamp = offset.to_timestamp(civil).ok()?;
            // Where the zone has the same offset at that moment, it is that zone's.
            let local = timestamp.to_zoned(zone.clone());
            if local.offset() == offset {
                return Some(Moment::with_abbreviation(local, self.zone_name));
            }
            let fixed: Zoned = timestamp.to_zoned(offset.to_time_zone());
            return Some(Moment::with_abbreviation(fixed, self.zone_name));
        }
        if let Some(name) = self.zone_name {
            let zoned = within(zone)?;
            let known = zone.to_offset_info(zoned.timestamp()).abbreviation() == name;
            return if known {
                Some(Moment::from(zoned))
            } else {
                // Of an unknown zone only the name is kept.
                within(&Offset::UTC.to_time_zone()).map(|zoned| Moment::with_abbreviation(zoned, Some(name)))
            };
        }
        within(zone).map(Moment::from)
    }
}
