//! Numbers in texts, as the functions `int` and `float` read them.

/// Reason why a text is not the requested number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberTextError {
    /// The text is no number.
    Syntax,
    /// The text is a number around which there are blanks.
    Blanks,
    /// The number does not fit.
    Range,
    /// The text is a number, but not one that is written as an integer.
    NotInteger,
}

/// Reads decimal digits with an optional sign.
pub(super) fn int(text: &str) -> Result<i64, NumberTextError> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberTextError::Range);
    }
    Err(match float(text) {
        Ok(_) => NumberTextError::NotInteger,
        Err(NumberTextError::Blanks) => NumberTextError::Blanks,
        _ => NumberTextError::Syntax,
    })
}

/// Reads a decimal number with an optional sign, fraction and exponent, and with `_` between digits.
pub(super) fn float(text: &str) -> Result<f64, NumberTextError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = without_separators(text).ok_or(NumberTextError::Syntax)?;
    match digits.parse::<f64>() {
        // `inf` and `nan`, which no arithmetic yields either.
        Ok(_) if unsigned.starts_with(char::is_alphabetic) => Err(NumberTextError::Syntax),
        Ok(number) if number.is_infinite() => Err(NumberTextError::Range),
        Ok(number) => Ok(number),
        Err(_) if text.trim().len() < text.len() && float(text.trim()).is_ok() => {
            Err(NumberTextError::Blanks)
        }
        Err(_) => Err(NumberTextError::Syntax),
    }
}

/// Removes each `_` between two digits. Returns `None` if there is another one.
fn without_separators(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('_').collect();
    let ends_are_digits = parts.windows(2).all(|pair| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        is_digit(pair[0].as_bytes().last()) && is_digit(pair[1].as_bytes().first())
    });
    ends_are_digits.then(|| parts.concat())
}

#[cfg(test)]
mod tests {
    use super::NumberTextError::{Blanks, NotInteger, Range, Syntax};
    use super::*;

    #[test]
    fn texts_become_integers() {
        for (text, expected) in [
            ("2", Ok(2)),
            ("+7", Ok(7)),
            ("-7", Ok(-7)),
            ("007", Ok(7)),
            ("-0", Ok(0)),
            ("9223372036854775807", Ok(i64::MAX)),
            ("-9223372036854775808", Ok(i64::MIN)),
            ("9223372036854775808", Err(Range)),
            ("-9223372036854775809", Err(Range)),
            ("2.0", Err(NotInteger)),
            ("2.5", Err(NotInteger)),
            ("1e3", Err(NotInteger)),
            ("1_000", Err(NotInteger)),
            (" 2", Err(Blanks)),
            ("2\n", Err(Blanks)),
            ("", Err(Syntax)),
            (" ", Err(Syntax)),
            ("-", Err(Syntax)),
            ("+-2", Err(Syntax)),
            ("two", Err(Syntax)),
            ("0x10", Err(Syntax)),
            ("0b1", Err(Syntax)),
            ("2 3", Err(Syntax)),
            ("1,000", Err(Syntax)),
            ("٣", Err(Syntax)),
            ("inf", Err(Syntax)),
            ("nan", Err(Syntax)),
        ] {
            assert_eq!(int(text), expected, "{text:?}");
        }
    }

    #[test]
    fn texts_become_floating_point_numbers() {
        for (text, expected) in [
            ("2", Ok(2.0)),
            ("2.0", Ok(2.0)),
            ("-1.5", Ok(-1.5)),
            ("+1.5", Ok(1.5)),
            ("1.", Ok(1.0)),
            (".5", Ok(0.5)),
            ("1e3", Ok(1000.0)),
            ("1E+3", Ok(1000.0)),
            ("1.5e-3", Ok(0.0015)),
            ("1e-400", Ok(0.0)),
            ("1_23.50_0_0e+1_2", Ok(1.235e14)),
            ("inf", Err(Syntax)),
            ("+Infinity", Err(Syntax)),
            ("-INF", Err(Syntax)),
            ("nan", Err(Syntax)),
            ("1e400", Err(Range)),
            ("-1e400", Err(Range)),
            (" 1", Err(Blanks)),
            ("1.5\n", Err(Blanks)),
            ("", Err(Syntax)),
            (".", Err(Syntax)),
            ("x", Err(Syntax)),
            ("1f", Err(Syntax)),
            ("1e", Err(Syntax)),
            ("1.5.2", Err(Syntax)),
            ("1,5", Err(Syntax)),
            ("--1", Err(Syntax)),
            ("+nan", Err(Syntax)),
            ("-NaN", Err(Syntax)),
            ("_1", Err(Syntax)),
            ("1_", Err(Syntax)),
            ("1__0", Err(Syntax)),
            ("1_.5", Err(Syntax)),
            ("1._5", Err(Syntax)),
            ("1e_5", Err(Syntax)),
            ("1e+_5", Err(Syntax)),
            ("in_f", Err(Syntax)),
            ("0x1p-2", Err(Syntax)),
        ] {
            assert_eq!(float(text), expected, "{text:?}");
        }
    }
}
