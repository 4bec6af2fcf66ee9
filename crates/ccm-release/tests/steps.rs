//! A machine that follows releases, through many random steps: published, replayed and wrong versions, holds, waves, clocks
//! that jump, servers that are away, records that are lost.
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_release::{
    AcceptanceRules, Accepted, BundleDigest, ChannelName, Newness, NotYet, ProgramVersion, Release,
    ReleaseRefusal, Wave, Waves,
};
use ccm_testkit::{Random, usual_or_long};

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// Moment at which the program of the test was built, in seconds since 1970.
const BUILT: u64 = 20_000 * DAY;
/// Number of releases that a server that lies keeps.
const REPLAYED: usize = 20;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// What lies on the server.
struct Server {
    now: u64,
    /// Everything that was ever published, the newest last.
    published: Vec<Release>,
    /// What is offered now.
    offered: Option<Release>,
    is_held: bool,
    is_away: bool,
    /// The bundle can't be unpacked, or has a manifest with errors.
    is_broken: bool,
}

/// What a machine knows.
struct Machine {
    clock: u64,
    record: Option<Accepted>,
    /// Versions in the store: the one that is applied, and the one before.
    store: Vec<Accepted>,
    applied: Option<(u64, u64)>,
    reported: Option<Reason>,
}

/// Reason for which nothing newer is applied.
#[derive(Clone, Debug, PartialEq)]
enum Reason {
    Unreachable,
    Refused(ReleaseRefusal),
    NotYet(NotYet),
    Broken,
}

fn order(accepted: &Accepted) -> (u64, u64) {
    (accepted.epoch, accepted.version)
}

impl Server {
    /// Publishes a version that comes after all others, as `ccm release build` makes it.
    fn publish(&mut self, random: &mut Random) {
        let (epoch, version) = self.published.last().map_or((1, 0), |last| (last.epoch, last.version));
        let new_epoch = random.below(20) == 0;
        let (epoch, version) =
            if new_epoch { (epoch + 1, 1) } else { (epoch, version + 1 + random.below(3) as u64) };
        let share = u16::try_from(1 + random.below(10_000)).expect("a share");
        let first = Wave { share, after: Duration::ZERO };
        let last = Wave { share: 10_000, after: Duration::from_secs(random.below(48) as u64 * HOUR) };
        let waves = match random.below(4) {
            0 => vec![first],
            1 if share < 10_000 => vec![first, last],
            _ => Vec::new(),
        };
        let lifetime = random.below(2) * (1 + random.below(30));
        let release = Release {
            channel: ChannelName::parse("base").expect("a channel"),
            version,
            epoch,
            issued: at(self.now),
            expires: (lifetime > 0).then(|| at(self.now + lifetime as u64 * DAY)),
            bundle: BundleDigest { sha256: format!("{epoch}-{version}"), size: 512 },
            min_ccm: None,
            waves: Waves::new(waves).expect("waves"),
            splay: Duration::from_secs(random.below(2) as u64 * 60),
            note: None,
        };
        self.published.push(release.clone());
        if self.published.len() > REPLAYED {
            self.published.remove(0);
        }
        self.offered = Some(release);
    }

    fn step(&mut self, random: &mut Random) {
        match random.below(12) {
            0..=3 => self.publish(random),
            // An old one again.
            4 => {
                let count = self.published.len().max(1);
                self.offered = self.published.get(random.below(count)).cloned();
            }
            // The same version with another content, which somebody has signed by mistake.
            5 => {
                if let Some(offered) = &mut self.offered {
                    offered.bundle.sha256.push('x');
                }
            }
            6 | 7 => self.is_held = !self.is_held,
            8 => self.is_away = !self.is_away,
            9 => self.is_broken = !self.is_broken,
            _ => self.now += random.below(3 * 24) as u64 * HOUR,
        }
    }
}

impl Machine {
    fn rules(&self) -> AcceptanceRules<'static> {
        AcceptanceRules {
            channel: None,
            now: at(self.clock),
            program: ProgramVersion::parse("0.3.0").expect("a version"),
            built: at(BUILT),
        }
    }

    fn step(&mut self, server: &Server, random: &mut Random) {
        match random.below(10) {
            // The clock is right, stands still, is set back, or jumps.
            0..=5 => self.clock = server.now,
            6 => self.clock = self.clock.saturating_sub(random.below(400) as u64 * DAY),
            7 => self.clock += random.below(400) as u64 * DAY,
            // The record is lost, and read from the store again.
            8 => self.record = self.store.iter().max_by_key(|stored| order(stored)).cloned(),
            _ => {}
        }
    }

    /// Follows the source as a run does.
    fn follow(&mut self, server: &Server) {
        let result = self.next(server);
        self.reported = match result {
            Ok(Some(accepted)) => {
                self.store.extend(self.record.replace(accepted.clone()));
                self.store.push(accepted);
                let excess = self.store.len().saturating_sub(2);
                self.store.drain(..excess);
                None
            }
            Ok(None) => None,
            Err(reason) => Some(reason),
        };
        self.applied = self.record.as_ref().map(order);
    }

    fn next(&self, server: &Server) -> Result<Option<Accepted>, Reason> {
        let offered = server.offered.as_ref().filter(|_| !server.is_away).ok_or(Reason::Unreachable)?;
        let (rules, accepted) = (self.rules(), self.record.as_ref());
        if rules.check(offered, accepted).map_err(Reason::Refused)? == Newness::Same {
            return Ok(None);
        }
        let hold = server.is_held.then(|| "the database moves".to_owned());
        rules.may_begin(offered, accepted, ("web1", hold)).map_err(Reason::NotYet)?;
        if server.is_broken { Err(Reason::Broken) } else { Ok(Some(rules.accept(offered, accepted))) }
    }
}

/// Checks what must hold after each run.
fn check(machine: &Machine, before: Option<&Accepted>, server: &Server) {
    let after = machine.record.as_ref();
    // The version and the time of the newest release never fall.
    assert!(after.map(order) >= before.map(order), "{before:?} {after:?}");
    assert!(after.map(|it| it.newest_issued) >= before.map(|it| it.newest_issued), "{before:?} {after:?}");
    // What was accepted is applied.
    assert_eq!(machine.applied, after.map(order));
    let Some(offered) = &server.offered else { return };
    let is_offered = after.is_some_and(|it| {
        order(it) == (offered.epoch, offered.version) && it.digest == offered.bundle.sha256
    });
    // What is offered is applied, or there is a reason.
    assert!(is_offered || machine.reported.is_some(), "{offered:?} {after:?}");
    if after != before {
        let time = at(machine.clock).max(offered.issued);
        assert!(!server.is_held && !server.is_away && !server.is_broken);
        assert!(offered.expires.is_none_or(|expires| expires > time), "{offered:?} at {time:?}");
        assert!(before.is_none_or(|it| it.digest != offered.bundle.sha256));
    }
}

#[test]
fn the_version_never_falls_and_every_accepted_one_is_applied() {
    let mut random = Random::new(0x2545_F491_4F6C_DD1D);
    let (mut accepted, mut kept) = (0, 0);
    for _ in 0..usual_or_long(20, 4000) {
        let now = BUILT + DAY;
        let mut server = Server {
            now,
            published: Vec::new(),
            offered: None,
            is_held: false,
            is_away: false,
            is_broken: false,
        };
        let mut machine =
            Machine { clock: now, record: None, store: Vec::new(), applied: None, reported: None };
        for _ in 0..250 {
            server.step(&mut random);
            let before = machine.record.clone();
            machine.step(&server, &mut random);
            // A record that was lost is no lower.
            assert_eq!(machine.record.as_ref().map(order), before.as_ref().map(order));
            machine.follow(&server);
            check(&machine, before.as_ref(), &server);
            accepted += usize::from(machine.record != before);
            kept += usize::from(machine.reported.is_some());
        }
        // A source that is well again is followed to its newest version.
        (server.is_held, server.is_away, server.is_broken) = (false, false, false);
        server.now += 1;
        server.publish(&mut random);
        let newest = server.offered.as_mut().expect("a release");
        (newest.waves, newest.splay) = (Waves::default(), Duration::ZERO);
        let newest = (newest.epoch, newest.version);
        machine.clock = server.now;
        machine.follow(&server);
        assert_eq!(machine.applied, Some(newest), "{:?}", machine.reported);
    }
    // Both happen often.
    assert!(accepted > 100 && kept > 1000, "{accepted} accepted, {kept} kept");
}
