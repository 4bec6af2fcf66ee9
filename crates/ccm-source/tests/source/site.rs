//! A place with releases, and a machine that follows it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::{Cancellation, SystemFiles};
use ccm_model::VersionId;
use ccm_release::{
    AcceptanceRules, BundleDigest, ChannelName, Envelope, ProgramVersion, Release, ThresholdError, Waves,
};
use ccm_source::{
    FollowError, Followed, Following, FollowingRules, ProxySettings, ReleaseFollowing, SourceAddress,
    SourceDoors, bundle,
};
use ccm_testkit::{Certificate, Scratch, TEST_AUTHORITY, WebRequest, WebServer, answer};

pub(crate) const HOUR: u64 = 3600;
pub(crate) const DAY: u64 = 24 * HOUR;
/// Moment at which the program of the tests was built, in seconds since 1970.
pub(crate) const BUILT: u64 = 20_000 * DAY;
/// Time by the clock of a machine.
pub(crate) const NOW: u64 = BUILT + 10 * DAY;
/// Signature that counts.
pub(crate) const SIGNED: &str = "signed by alice";

/// File beside the releases with which the server says of everything that it is the same as before.
pub(crate) const SAME: &str = "same";

/// Ways on which a machine reaches the releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Directory,
    Https,
}

pub(crate) const TRANSPORTS: [Transport; 2] = [Transport::Directory, Transport::Https];

/// Directory with releases, and a machine that follows one of them.
pub(crate) struct Site {
    pub(crate) scratch: Scratch,
    server: Option<WebServer>,
    /// Seconds since 1970.
    pub(crate) now: Cell<u64>,
    pub(crate) node: &'static str,
}

pub(crate) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A release of the bundle of a site, to be changed by a test.
pub(crate) fn release(version: u64, bundle: BundleDigest) -> Release {
    Release {
        channel: ChannelName::parse("base").expect("a channel"),
        version,
        epoch: 1,
        issued: at(NOW - HOUR),
        expires: None,
        bundle,
        min_ccm: None,
        waves: Waves::default(),
        splay: Duration::ZERO,
        note: None,
    }
}

impl Site {
    pub(crate) fn new(transport: Transport) -> Self {
        let scratch = Scratch::new();
        for directory in ["offered", "content"] {
            fs::create_dir(scratch.path().join(directory)).expect("a directory");
        }
        scratch.write("authority.pem", TEST_AUTHORITY);
        let offered = scratch.path().join("offered");
        let serve = move |request: &WebRequest, stream: &mut dyn ccm_testkit::WebStream| {
            let name = request.line.split(['/', ' ']).nth(2).unwrap_or_default();
            if offered.join(SAME).exists() {
                return answer(stream, "304 Not Modified", &[], b"");
            }
            match fs::read(offered.join(name)) {
                Ok(content) => {
                    let tag = format!("\"{}\"", ccm_host::sha256(&content));
                    if request.field("if-none-match") == Some(&*tag) {
                        return answer(stream, "304 Not Modified", &[("ETag", &tag)], b"");
                    }
                    answer(stream, "200 OK", &[("ETag", &tag)], &content)
                }
                Err(_) => answer(stream, "404 Not Found", &[], b""),
            }
        };
        let server =
            (transport == Transport::Https).then(|| WebServer::start_tls(Certificate::Localhost, serve));
        Self { scratch, server, now: Cell::new(NOW), node: "web1" }
    }

    pub(crate) fn offered(&self, name: &str) -> PathBuf {
        self.scratch.path().join("offered").join(name)
    }

    /// Returns the requests to the server so far.
    pub(crate) fn requests(&self) -> Vec<WebRequest> {
        self.server.as_ref().map(WebServer::requests).unwrap_or_default()
    }

    fn state(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    /// Takes the server away.
    pub(crate) fn stop_serving(&mut self) {
        match self.server.take() {
            Some(server) => {
                // Its address stays, and nobody answers there.
                let address = self.scratch.path().join("address");
                fs::write(address, server.url("/base.release")).expect("a file");
            }
            None => fs::remove_file(self.offered("base.release")).expect("a file"),
        }
    }

    /// Packs a manifest, and offers the bundle.
    pub(crate) fn pack(&self, manifest: &str) -> BundleDigest {
        let content = self.scratch.path().join("content");
        fs::write(content.join("site.yaml"), manifest).expect("a file");
        let files = SystemFiles::new(Cancellation::never());
        let built = bundle::build(&files, &content).expect("a bundle");
        fs::write(self.offered(&built.digest.file_name()), &built.content).expect("a file");
        built.digest
    }

    /// Offers an envelope with the signatures.
    pub(crate) fn offer_text(&self, payload: &str, signatures: &[&str]) {
        let mut envelope = Envelope::new(payload.to_owned());
        for signature in signatures {
            envelope.add_signature((*signature).to_owned()).expect("a signature");
        }
        fs::write(self.offered("base.release"), envelope.content()).expect("a file");
    }

    /// Offers a release, signed.
    pub(crate) fn offer(&self, release: &Release) {
        self.offer_text(&release.text().expect("a release"), &[SIGNED]);
    }

    /// Packs, signs and offers a version.
    pub(crate) fn publish(&self, version: u64, manifest: &str) -> Release {
        let release = release(version, self.pack(manifest));
        self.offer(&release);
        release
    }

    fn address(&self) -> SourceAddress {
        let path = self.offered("base.release").display().to_string();
        let known = fs::read_to_string(self.scratch.path().join("address")).ok();
        let text = match &self.server {
            Some(server) => server.url("/base.release"),
            None => known.unwrap_or(path),
        };
        SourceAddress::parse(&text, Path::new("/")).expect("an address")
    }

    /// Follows the source as a run does, or as a plan does.
    fn following<T>(&self, bootstrap: bool, follow: impl AsyncFnOnce(&Following<'_>, &Path) -> T) -> T {
        let files = SystemFiles::new(Cancellation::never());
        let (cancellation, proxies) = (Cancellation::never(), ProxySettings::of_environment(&[]));
        let authority = self.scratch.path().join("authority.pem");
        let verify = |envelope: &Envelope| {
            let signers: Vec<String> =
                envelope.signatures().iter().filter(|text| *text == SIGNED).cloned().collect();
            if signers.is_empty() {
                return Err(ThresholdError { needed: 1, signers, refused: None });
            }
            Ok(vec!["alice".to_owned()])
        };
        let address = self.address();
        let following = Following {
            address: &address,
            signers: "/etc/ccm/signers",
            threshold: 1,
            rules: FollowingRules::Releases(ReleaseFollowing {
                verify: &verify,
                node: self.node,
                rules: AcceptanceRules {
                    channel: None,
                    now: at(self.now.get()),
                    program: ProgramVersion::parse("0.3.0").expect("a version"),
                    built: at(BUILT),
                },
            }),
            check: &check_manifest,
            now: at(self.now.get()),
            bootstrap,
            doors: SourceDoors {
                files: &files,
                cancellation: &cancellation,
                proxies: &proxies,
                ca_file: Some(&authority),
                wait: Duration::from_secs(20),
            },
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(follow(&following, &self.state()))
    }

    pub(crate) fn follow(&self) -> Result<Followed, FollowError> {
        self.following(false, async |following, state| following.follow(state).await)
    }

    pub(crate) fn bootstrap(&self) -> Result<Followed, FollowError> {
        self.following(true, async |following, state| following.follow(state).await)
    }

    /// Looks at what a run would apply; returns its manifest, too.
    pub(crate) fn preview(&self) -> Result<(Followed, String), FollowError> {
        let private = Scratch::new();
        self.following(false, async |following, state| {
            let followed = following.preview(state, private.path()).await?;
            let manifest = manifest_of(&followed);
            Ok((followed, manifest))
        })
    }

    /// Returns the directory of the source in the state directory.
    pub(crate) fn cache(&self) -> PathBuf {
        self.state().join("sources").join(self.address().name())
    }

    /// Returns everything below the state directory but locks, sorted.
    pub(crate) fn kept(&self) -> Vec<String> {
        listed(&self.state())
    }
}

/// Checks the manifest of a version: `wrong` is an error in it.
pub(crate) fn check_manifest(path: &Path) -> Result<(), String> {
    match fs::read_to_string(path.join("site.yaml")) {
        Ok(text) if text.contains("wrong") => Err("its manifest has 1 error".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns everything below a directory but locks, sorted.
pub(crate) fn listed(directory: &Path) -> Vec<String> {
    let mut kept = Vec::new();
    list(directory, directory, &mut kept);
    kept.sort();
    kept
}

fn list(top: &Path, directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.strip_prefix(top).expect("below").display().to_string();
        if !name.contains("/.lock-") {
            found.push(name);
        }
        if path.is_dir() {
            list(top, &path, found);
        }
    }
}

/// Returns the number of the release that is followed.
pub(crate) fn number(followed: &Followed) -> u64 {
    let VersionId::Number(number) = followed.version.version else { return 0 };
    number
}

pub(crate) fn manifest_of(followed: &Followed) -> String {
    fs::read_to_string(followed.path.join("site.yaml")).expect("a manifest")
}
