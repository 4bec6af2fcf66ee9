//! A repository with a branch, and a machine that follows it.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{Cancellation, LocalExecutor, SystemFiles, SystemRunner};
use ccm_model::VersionId;
use ccm_source::{
    BranchFollowing, FollowError, Followed, Following, FollowingRules, ProxySettings, SourceAddress,
    SourceDoors,
};
use ccm_sshsig::{AllowedSigners, SignatureDemand, SignerFile};
use ccm_testkit::{Certificate, Scratch, TEST_AUTHORITY, WebRequest, WebServer, WebStream, answer, shell};

use crate::git_servers::{SshServer, answer_as_git};
use crate::site::{NOW, at, check_manifest, listed, manifest_of};

/// Functions for the scripts of the tests: a repository `upstream` with the branch `main`.
const LIBRARY: &str = r#"
set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=ada GIT_AUTHOR_EMAIL=ada@example.com
export GIT_COMMITTER_NAME=ada GIT_COMMITTER_EMAIL=ada@example.com
g() { git -C upstream "$@"; }
# Commits what is there, unsigned.
plain() { printf '%s' "$1" > upstream/site.yaml; g add -A; g commit -q --allow-empty -m "$1"; }
# Makes the text of a commit the head of the branch.
head_of() { g update-ref refs/heads/main "$(g hash-object -t commit -w --stdin < "$1")"; }
# Puts a signature of the key $1 for the namespace $2 into the text of a commit, as the header $3.
add_signature() {
    rm -f payload.sig; ssh-keygen -q -Y sign -n "$2" -f "$1" payload > /dev/null 2>&1
    awk -v name="${3:-gpgsig}" 'FNR==NR { sig = sig (NR == 1 ? name " " : " ") $0 "\n"; next }
        !done && $0 == "" { printf "%s", sig; done = 1 } { print }' payload.sig "${4:-payload}" > signed
}
# Signs the head of the branch again.
sign() { g cat-file commit main > payload; add_signature "$1" "${2:-git}"; head_of signed; }
publish() { plain "$1"; sign "${2:-key}"; }
# Commits a tree that git would not write, signed.
tree() {
    printf 'tree %s\nparent %s\nauthor ada <ada@example.com> 0 +0000\ncommitter ada <ada@example.com> 0 +0000\n\nx\n' \
        "$1" "$(g rev-parse main)" > payload
    add_signature key git; head_of signed
}
blob() { printf '%s' "$1" | g hash-object -w --stdin; }
"#;

/// Ways on which a machine reaches the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitTransport {
    File,
    /// A web server that hands out the files of the repository.
    Https,
    /// A web server that asks git.
    SmartHttps,
    /// A daemon of OpenSSH.
    Ssh,
}

/// Repository, and a machine that follows one of its branches.
pub(crate) struct BranchSite {
    pub(crate) scratch: Scratch,
    server: Option<WebServer>,
    pub(crate) ssh: Option<SshServer>,
    pub(crate) signed: Cell<bool>,
    pub(crate) allows_rewind: Cell<bool>,
    pub(crate) root: Cell<Option<&'static str>>,
    pub(crate) directory: Cell<&'static str>,
    /// Address in place of that of the repository.
    pub(crate) other_address: Cell<Option<&'static str>>,
    pub(crate) wait: Cell<Duration>,
}

impl BranchSite {
    /// A repository with one signed commit.
    pub(crate) fn new(transport: GitTransport) -> Self {
        let scratch = Scratch::new();
        scratch.write("library.sh", LIBRARY);
        scratch.write("authority.pem", TEST_AUTHORITY);
        let (top, files) = (scratch.path().to_owned(), scratch.path().join("upstream/.git"));
        let serve = move |request: &WebRequest, stream: &mut dyn WebStream| {
            if transport == GitTransport::SmartHttps {
                return answer_as_git(&top, request, stream);
            }
            let path = request.line.split([' ', '?']).nth(1).unwrap_or_default();
            let path = path.strip_prefix("/upstream/").unwrap_or("none");
            match fs::read(files.join(path)) {
                Ok(content) => answer(stream, "200 OK", &[], &content),
                Err(_) => answer(stream, "404 Not Found", &[], b""),
            }
        };
        let is_web = matches!(transport, GitTransport::Https | GitTransport::SmartHttps);
        let server = is_web.then(|| WebServer::start_tls(Certificate::Localhost, serve));
        let ssh = (transport == GitTransport::Ssh).then(|| SshServer::start(scratch.path()));
        let site = Self {
            scratch,
            server,
            ssh,
            signed: Cell::new(true),
            allows_rewind: Cell::new(false),
            root: Cell::new(None),
            directory: Cell::new(""),
            other_address: Cell::new(None),
            wait: Cell::new(Duration::from_secs(60)),
        };
        site.run(
            "for key in key stranger old young; do ssh-keygen -q -t ed25519 -N '' -C $key -f $key; done
            { echo \"ops $(cat key.pub)\"
              echo \"old valid-before=\\\"20200101Z\\\" $(cat old.pub)\"
              echo \"young valid-after=\\\"20990101Z\\\" $(cat young.pub)\"; } > signers
            git init -q -b main upstream
            publish good",
        );
        site
    }

    /// Runs a script with the functions of the library.
    pub(crate) fn run(&self, script: &str) -> String {
        // A web server hands out what this writes about the repository.
        let script =
            format!(". ./library.sh\n{script}\ng update-server-info 2> /dev/null || true\necho done");
        let printed = shell(&script, self.scratch.path());
        let ended = printed.strip_suffix("done\n");
        assert!(ended.is_some(), "{script}: {printed}");
        ended.unwrap_or_default().trim_end().to_owned()
    }

    /// Keeps the repository and what the machine has accepted for [`Self::restore`].
    pub(crate) fn save(&self) {
        self.run("rm -rf saved; mkdir saved; cp -a upstream saved; mkdir -p state; cp -a state saved");
    }

    /// Brings back what was saved.
    pub(crate) fn restore(&self) {
        self.run("rm -rf upstream state whole away; cp -a saved/* .");
    }

    pub(crate) fn head(&self) -> VersionId {
        VersionId::Commit(self.run("g rev-parse main"))
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    pub(crate) fn address(&self) -> SourceAddress {
        let path = self.scratch.at("upstream");
        let url = match (&self.server, &self.ssh, self.other_address.get()) {
            (_, _, Some(address)) => address.to_owned(),
            (Some(server), _, None) => server.url("/upstream"),
            (None, Some(ssh), None) => ssh.url(&path),
            (None, None, None) => format!("file://{path}"),
        };
        let text = format!("git+{url}#main{}", self.directory.get());
        SourceAddress::parse(&text, Path::new("/")).expect("an address")
    }

    /// Follows the source as a run does, or as a plan does.
    fn following<T>(&self, follow: impl AsyncFnOnce(&Following<'_>, &Path) -> T) -> T {
        let files = SystemFiles::new(Cancellation::never());
        let (cancellation, proxies) = (Cancellation::never(), ProxySettings::of_environment(&[]));
        let authority = self.scratch.path().join("authority.pem");
        let signers = self.scratch.read("signers").unwrap_or_default();
        let signers = AllowedSigners::parse(&signers, &|_, _| None).expect("signers");
        let signers = SignerFile::new("signers".into(), signers);
        let verify =
            |text: &[u8], signature: &str| -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
                let demand =
                    SignatureDemand { namespace: "git", principal: None, touch: false, user_verified: false };
                let checked = signers.check(text, signature, &demand, at(NOW))?;
                assert!(checked.is_right);
                Ok(checked.verified.principal)
            };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let _entered = runtime.enter();
        let runner = SystemRunner::new().expect("a runner");
        let executor = LocalExecutor::new(&runner, &runner, &files);
        let address = self.address();
        let following = Following {
            address: &address,
            signers: if self.signed.get() { "/etc/ccm/signers" } else { "none" },
            threshold: 1,
            rules: FollowingRules::Branch(BranchFollowing {
                verify: self.signed.get().then_some(&verify),
                root: self.root.get(),
                allows_rewind: self.allows_rewind.get(),
                executor: &executor,
                environment: &self.ssh.as_ref().map(SshServer::variables).unwrap_or_default(),
            }),
            check: &check_manifest,
            now: at(NOW),
            bootstrap: false,
            doors: SourceDoors {
                files: &files,
                cancellation: &cancellation,
                proxies: &proxies,
                ca_file: Some(&authority),
                wait: self.wait.get(),
            },
        };
        runtime.block_on(follow(&following, &self.state()))
    }

    pub(crate) fn follow(&self) -> Result<Followed, FollowError> {
        self.following(async |following, state| following.follow(state).await)
    }

    /// Looks at what a run would apply; returns its manifest, too.
    pub(crate) fn preview(&self) -> Result<(Followed, String), FollowError> {
        let private = Scratch::new();
        self.following(async |following, state| {
            let followed = following.preview(state, private.path()).await?;
            let manifest = manifest_of(&followed);
            Ok((followed, manifest))
        })
    }

    /// Returns the requests to the web server so far.
    pub(crate) fn requests(&self) -> Vec<WebRequest> {
        self.server.as_ref().map(WebServer::requests).unwrap_or_default()
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
