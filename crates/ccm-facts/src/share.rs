//! Percentages.

/// Returns a percentage; 0 if the whole is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
    let share = part as f64 / whole as f64;
    share * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_finite() {
        for (part, whole, expected) in
            [(0, 0, 0.0), (5, 0, 0.0), (1, 4, 25.0), (3, 2, 150.0), (u64::MAX, u64::MAX, 100.0)]
        {
            assert!((percent(part, whole) - expected).abs() < 1e-9, "{part} of {whole}");
        }
    }
}
