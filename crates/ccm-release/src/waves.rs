//! Waves: which machines take a release from when on.

use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

/// Number of slots that machines are spread over. A percent has 100 of them.
const SLOTS: u64 = 10_000;
/// Maximum number of waves of a release.
const MAX_WAVES: usize = 100;

/// Part of the machines, and how long after the release was issued it takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wave {
    /// Share of all machines, the earlier waves included, in hundredths of a percent.
    pub share: u16,
    /// Time after the release was issued.
    pub after: Duration,
}

/// Waves of a release. Without any, all machines take it at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waves(Vec<Wave>);

/// Error of waves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaveError {
    /// A share is none.
    #[error(
        "the share of a wave is more than 0 and at most 100 percent, with at most two decimals, not {0:?}"
    )]
    Share(String),
    /// A wave is no larger than the one before it.
    #[error("each wave holds more machines than the one before it")]
    ShareOrder,
    /// A wave begins before the one before it.
    #[error("no wave begins before the one before it")]
    TimeOrder,
    /// There are too many waves.
    #[error("a release has at most {MAX_WAVES} waves")]
    TooMany,
}

impl Wave {
    /// Reads a share in percent, such as `10` or `0.5`, without the sign.
    pub fn share(text: &str) -> Result<u16, WaveError> {
        let failed = || WaveError::Share(text.to_owned());
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || whole.len() > 3 || decimals.len() > 2 {
            return Err(failed());
        }
        let number = |digits: &str| digits.parse::<u16>().map_err(|_| failed());
        let share = number(whole)? * 100 + number(&format!("{decimals:0<2}"))?;
        if (1..=10_000).contains(&share) { Ok(share) } else { Err(failed()) }
    }

    /// Returns the share as it is written, in percent without the sign.
    pub fn percent(self) -> String {
        let (whole, hundredths) = (self.share / 100, self.share % 100);
        if hundredths == 0 {
            return whole.to_string();
        }
        format!("{whole}.{hundredths:02}").trim_end_matches('0').to_owned()
    }
}

impl Waves {
    /// Creates the waves, in their order.
    pub fn new(waves: Vec<Wave>) -> Result<Self, WaveError> {
        if waves.len() > MAX_WAVES {
            return Err(WaveError::TooMany);
        }
        for pair in waves.windows(2) {
            let [one, next] = pair else { continue };
            if next.share <= one.share {
                return Err(WaveError::ShareOrder);
            }
            if next.after < one.after {
                return Err(WaveError::TimeOrder);
            }
        }
        Ok(Self(waves))
    }

    /// Returns the waves in their order.
    pub fn as_slice(&self) -> &[Wave] {
        &self.0
    }

    /// Returns when a machine takes a release of a channel that was issued at a time; `None` if no wave holds it.
    pub fn due(&self, channel: &str, node: &str, issued: SystemTime) -> Option<SystemTime> {
        if self.0.is_empty() {
            return Some(issued);
        }
        let slot = slot(channel, node);
        let wave = self.0.iter().find(|wave| slot < u64::from(wave.share))?;
        issued.checked_add(wave.after)
    }
}

/// Returns the slot of a machine in a channel. It stays the same from release to release, so that the first machines
/// are always the same ones.
fn slot(channel: &str, node: &str) -> u64 {
    number(&["wave", channel, node]) % SLOTS
}

/// Returns how long a machine waits within the time over which a release is spread. It differs from release to release.
pub(crate) fn splay_of(node: &str, digest: &str, splay: Duration) -> Duration {
    let milliseconds = u64::try_from(splay.as_millis()).unwrap_or(u64::MAX);
    let share = (u128::from(number(&["splay", node, digest])) * u128::from(milliseconds)) >> 64;
    Duration::from_millis(u64::try_from(share).unwrap_or(milliseconds))
}

/// Returns the first eight bytes of the digest of some texts, each of which ends with a zero byte.
fn number(texts: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn waves(waves: &[(u16, u64)]) -> Result<Waves, WaveError> {
        let wave = |&(share, after)| Wave { share, after: Duration::from_secs(after) };
        Waves::new(waves.iter().map(wave).collect())
    }

    #[test]
    fn shares_are_read_exactly() {
        for (text, share) in
            [("1", 100), ("100", 10_000), ("0.5", 50), ("0.01", 1), ("12.25", 1225), ("99.99", 9999)]
        {
            assert_eq!(Wave::share(text), Ok(share), "{text}");
            assert_eq!(Wave { share, after: Duration::ZERO }.percent(), text);
        }
        for text in ["", "0", "0.00", "100.01", "101", "-1", "1e1", "1.234", "1.", ".5", "50%", "1000"] {
            assert_eq!(Wave::share(text), Err(WaveError::Share(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn waves_grow_and_follow_each_other() {
        assert!(waves(&[(100, 0), (1000, 60), (10_000, 60)]).is_ok());
        assert_eq!(waves(&[(100, 0), (100, 60)]), Err(WaveError::ShareOrder));
        assert_eq!(waves(&[(100, 60), (200, 0)]), Err(WaveError::TimeOrder));
    }

    #[test]
    fn each_wave_holds_its_share_and_the_waves_before_it() {
        let waves = waves(&[(100, 0), (1000, 3600), (5000, 18_000)]).expect("waves");
        let mut counts = [0; 4];
        for node in 0..20_000 {
            let due = waves.due("base", &format!("node{node}.example.com"), UNIX_EPOCH);
            let after = due.map(|due| due.duration_since(UNIX_EPOCH).expect("after 1970").as_secs());
            let wave = [Some(0), Some(3600), Some(18_000), None].iter().position(|of_wave| *of_wave == after);
            counts[wave.expect("a wave")] += 1;
        }
        // Standard deviations of the four shares are 14, 40, 69 and 71.
        for (count, expected) in counts.iter().zip([200_i32, 1800, 8000, 10_000]) {
            assert!((count - expected).abs() < 300, "{counts:?}");
        }
    }

    #[test]
    fn a_machine_keeps_its_slot_and_changes_its_splay() {
        assert_eq!(slot("base", "web1"), slot("base", "web1"));
        assert_ne!(slot("base", "web1"), slot("other", "web1"));
        let minute = Duration::from_secs(60);
        let delays: Vec<_> =
            (0..100).map(|node| splay_of(&format!("node{node}"), "digest", minute)).collect();
        assert!(delays.iter().all(|delay| *delay < minute));
        assert!(
            delays.iter().any(|delay| *delay > minute / 2) && delays.iter().any(|delay| *delay < minute / 2)
        );
        assert_ne!(splay_of("web1", "one", minute), splay_of("web1", "other", minute));
        assert_eq!(splay_of("web1", "one", Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn the_slots_of_machines_never_change() {
        // A machine that moved to another slot would take a release before its time.
        assert_eq!([slot("base", "web1"), slot("base", "db.example.com")], [5230, 6635]);
    }
}
