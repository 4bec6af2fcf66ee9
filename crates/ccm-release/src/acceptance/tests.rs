use std::time::UNIX_EPOCH;

use proptest::prelude::*;

use super::*;
use crate::document::BundleDigest;
use crate::waves::Waves;

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// Moment at which the program of the tests was built, in seconds since 1970.
const BUILT: u64 = 100 * DAY;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn channel(name: &str) -> ChannelName {
    ChannelName::parse(name).expect("a channel")
}

fn version(text: &str) -> ProgramVersion {
    ProgramVersion::parse(text).expect("a version")
}

fn release(epoch: u64, version: u64, digest: &str) -> Release {
    Release {
        channel: channel("base"),
        version,
        epoch,
        issued: at(BUILT + DAY),
        expires: Some(at(BUILT + 31 * DAY)),
        bundle: BundleDigest { sha256: digest.to_owned(), size: 1 },
        min_ccm: None,
        waves: Waves::default(),
        splay: Duration::ZERO,
        note: None,
    }
}

fn rules(now: u64) -> AcceptanceRules<'static> {
    AcceptanceRules { channel: None, now: at(now), program: version("0.3.0"), built: at(BUILT) }
}

#[test]
fn each_release_is_taken_or_refused_for_its_own_reason() {
    let now = BUILT + 2 * DAY;
    let accepted = rules(now).accept(&release(1, 42, "a"), None);
    let changed = |change: &dyn Fn(&mut Release)| {
        let mut release = release(1, 43, "b");
        change(&mut release);
        release
    };
    for (name, release, expected) in [
        ("next", release(1, 43, "b"), Ok(Newness::New)),
        ("same content again", release(1, 43, "a"), Ok(Newness::New)),
        ("next epoch", release(2, 1, "b"), Ok(Newness::New)),
        ("same", release(1, 42, "a"), Ok(Newness::Same)),
        (
            "same, expired",
            changed(&|it| {
                (it.version, it.bundle.sha256, it.expires) = (42, "a".into(), Some(at(BUILT + DAY + 1)));
            }),
            Ok(Newness::Same),
        ),
        ("other content", release(1, 42, "b"), Err(ReleaseRefusal::Conflict)),
        ("older", release(1, 41, "a"), Err(ReleaseRefusal::Older { accepted: 42 })),
        ("older epoch", release(0, 99, "b"), Err(ReleaseRefusal::Epoch { found: 0, accepted: 1 })),
        (
            "other channel",
            changed(&|it| it.channel = channel("web")),
            Err(ReleaseRefusal::Channel { found: channel("web"), expected: channel("base") }),
        ),
        ("expired", changed(&|it| it.expires = Some(at(now))), Err(ReleaseRefusal::Expired { at: at(now) })),
        (
            "future",
            changed(&|it| it.issued = at(now + DAY + 1)),
            Err(ReleaseRefusal::Future { at: at(now + DAY + 1) }),
        ),
        ("a day ahead", changed(&|it| it.issued = at(now + DAY)), Ok(Newness::New)),
        ("this program", changed(&|it| it.min_ccm = Some(version("0.3.0"))), Ok(Newness::New)),
        (
            "later program",
            changed(&|it| it.min_ccm = Some(version("0.3.1"))),
            Err(ReleaseRefusal::Program { needed: version("0.3.1"), program: version("0.3.0") }),
        ),
    ] {
        assert_eq!(rules(now).check(&release, Some(&accepted)), expected, "{name}");
    }
}

#[test]
fn the_first_release_has_the_channel_of_the_source() {
    let (base, web) = (channel("base"), channel("web"));
    let rules = |channel| AcceptanceRules { channel, ..rules(BUILT + DAY) };
    assert_eq!(rules(None).check(&release(0, 1, "a"), None), Ok(Newness::New));
    assert_eq!(rules(Some(&base)).check(&release(0, 1, "a"), None), Ok(Newness::New));
    assert!(rules(Some(&web)).check(&release(0, 1, "a"), None).is_err());
}

#[test]
fn a_clock_that_is_set_back_revives_nothing() {
    let later = Release { issued: at(BUILT + 40 * DAY), expires: None, ..release(1, 50, "a") };
    let accepted = rules(BUILT + 40 * DAY).accept(&later, None);
    let expired = release(1, 51, "b");
    // The clock has lost forty days, and lies before the program.
    let refused = rules(BUILT - 1).check(&expired, Some(&accepted));
    assert_eq!(refused, Err(ReleaseRefusal::Expired { at: at(BUILT + 31 * DAY) }));
}

#[test]
fn a_clock_before_the_program_believes_the_release() {
    let release = Release { expires: None, ..release(1, 1, "a") };
    assert_eq!(rules(0).check(&release, None), Ok(Newness::New));
}

proptest! {
    #[test]
    fn versions_never_fall(
        steps in proptest::collection::vec((0..4_u64, 0..6_u64, 0..3_u8, 0..200_u64, 0..400_u64), 1..60),
    ) {
        let mut accepted: Option<Accepted> = None;
        for (epoch, version, digest, issued, now) in steps {
            let release = Release {
                issued: at(issued * DAY),
                expires: Some(at((issued + 30) * DAY)),
                ..release(epoch, version, &digest.to_string())
            };
            let rules = rules(now * DAY);
            let order = |accepted: &Accepted| (accepted.epoch, accepted.version);
            match rules.check(&release, accepted.as_ref()) {
                Ok(Newness::New) => {
                    let next = rules.accept(&release, accepted.as_ref());
                    if let Some(before) = &accepted {
                        prop_assert!(order(&next) > order(before));
                        prop_assert!(next.newest_issued >= before.newest_issued);
                    }
                    prop_assert!(rules.check(&release, Some(&next)) == Ok(Newness::Same));
                    accepted = Some(next);
                }
                Ok(Newness::Same) => {
                    let same = accepted.as_ref().map(|known| (order(known), known.digest.clone()));
                    prop_assert_eq!(same, Some(((epoch, version), digest.to_string())));
                }
                Err(_) => {}
            }
        }
    }
}
