//! Extent of the tests.

/// Variable that lets tests take long.
const LONG: &str = "CCM_TEST_LONG";

/// Returns `true` if the tests may take long.
pub fn may_take_long() -> bool {
    std::env::var_os(LONG).is_some()
}

/// Returns the first number, or the second if the tests may take long.
pub fn usual_or_long<T>(usual: T, long: T) -> T {
    if may_take_long() { long } else { usual }
}
