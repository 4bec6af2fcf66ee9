//! Commits of a branch that come next.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_fetch::{ArchiveFormat, ExtractRequest, extract, is_git_commit, short_commit};
use ccm_host::Executor;
use ccm_model::{VersionId, display_timestamp};

use super::not_accepted::NotAccepted;
use super::{Following, NextVersion, PREVIEW, PREVIEW_REPOSITORY};
use crate::address::GitPlace;
use crate::bundle::{self, MAX_BUNDLE, MAX_ENTRIES};
use crate::cache::SourceCache;
use crate::git::{BranchRepository, CommitRefusal, GitCalls, RepositoryError};
use crate::offer::FetchError;
use crate::record::{AcceptedCommit, AcceptedVersion, SourceRecord};

/// Maximum size of a pack, and of what comes out of it.
const MAX_HISTORY: u64 = 1 << 30;
/// Number of packs that are packed into one.
const MAX_PACKS: usize = 50;

/// Verifies the signature of a text of a commit, and returns who signed.
pub type VerifyCommit<'a> =
    &'a dyn Fn(&[u8], &str) -> Result<String, Box<dyn std::error::Error + Send + Sync>>;

/// What decides about commits.
#[derive(Clone, Copy)]
pub struct BranchFollowing<'a> {
    /// Verifies signatures; `None` trusts the transport alone.
    pub verify: Option<VerifyCommit<'a>>,
    /// First commit of the history; `None` takes that of the first version.
    pub root: Option<&'a str>,
    /// Takes a branch that was rewritten.
    pub allows_rewind: bool,
    /// Starts git.
    pub executor: &'a dyn Executor,
    /// Variables for git, such as those of proxies.
    pub environment: &'a [(String, String)],
}

/// Commit that a branch has on the server.
struct OfferedCommit {
    commit: String,
    /// Time that is left for fetching.
    left: Duration,
}

/// Places that a commit is fetched to.
struct CommitPlaces {
    /// Empty directory of the private repository.
    repository: PathBuf,
    /// Objects of what was accepted.
    objects: PathBuf,
    /// Empty directory of the version.
    version: PathBuf,
    /// Number of packs of what was accepted.
    packs: usize,
}

impl Following<'_> {
    /// Returns the commit that comes next, unpacked into a private directory and checked; `None` if nothing is new.
    pub(super) async fn preview_commit(
        &self,
        place: &GitPlace,
        rules: &BranchFollowing<'_>,
        record: Option<&SourceRecord>,
        (state, private): (&Path, &Path),
    ) -> Result<Option<NextVersion>, NotAccepted> {
        let Some(offered) = self.offered_commit(place, rules, record, true).await? else { return Ok(None) };
        let places = CommitPlaces {
            repository: self.preview_directory(private, PREVIEW_REPOSITORY)?,
            objects: SourceCache::objects_of(state, &self.address.name()),
            version: self.preview_directory(private, PREVIEW)?,
            packs: 0,
        };
        let (next, _) = self.unpacked_commit(place, rules, record, (offered, places)).await?;
        Ok(Some(next))
    }

    /// Returns the commit that comes next, unpacked and checked; `None` if nothing is new.
    pub(super) async fn try_commit(
        &self,
        place: &GitPlace,
        rules: &BranchFollowing<'_>,
        cache: &SourceCache,
        record: Option<&SourceRecord>,
    ) -> Result<Option<NextVersion>, NotAccepted> {
        let is_whole = record.is_none_or(|record| cache.has_version(&record.accepted.digest));
        let offered = self.offered_commit(place, rules, record, is_whole).await?;
        let Some(offered) = offered else { return Ok(None) };
        let places = CommitPlaces {
            repository: cache.repository()?,
            objects: cache.objects(),
            version: cache.stage()?,
            packs: cache.packs(),
        };
        let (next, is_whole) = self.unpacked_commit(place, rules, record, (offered, places)).await?;
        cache.keep_objects(is_whole)?;
        Ok(Some(next))
    }

    /// Asks the server for the commit of the branch; `None` if it is the one that was accepted.
    async fn offered_commit(
        &self,
        place: &GitPlace,
        rules: &BranchFollowing<'_>,
        record: Option<&SourceRecord>,
        is_whole: bool,
    ) -> Result<Option<OfferedCommit>, NotAccepted> {
        check_options(rules, record)?;
        let reference = format!("refs/heads/{}", place.branch);
        let git = self.git(place, rules, Path::new("/"));
        let args = ["ls-remote", "--end-of-options", &*place.url, &*reference];
        let (printed, duration) = git.remote(&args, self.doors.wait).await?;
        let printed = String::from_utf8_lossy(&printed);
        let commit = printed.lines().find_map(|line| {
            let (commit, name) = line.split_once('\t')?;
            (name == reference && is_git_commit(commit)).then(|| commit.to_owned())
        });
        let Some(commit) = commit else {
            let (branch, url) = (place.branch.clone(), place.url.clone());
            return Err(NotAccepted::NoBranch { branch, url });
        };
        let is_accepted = |record: &SourceRecord| matches!(&record.accepted.version, VersionId::Commit(accepted) if *accepted == commit);
        // What was accepted without signers is verified once there are some.
        let is_verified =
            rules.verify.is_none() || record.is_some_and(|record| !record.accepted.signed_by.is_empty());
        if is_whole && is_verified && record.is_some_and(is_accepted) {
            return Ok(None);
        }
        Ok(Some(OfferedCommit { commit, left: self.doors.wait.saturating_sub(duration) }))
    }

    /// Fetches, verifies, unpacks and checks a commit. Returns it, and `true` if its whole history was fetched.
    async fn unpacked_commit(
        &self,
        place: &GitPlace,
        rules: &BranchFollowing<'_>,
        record: Option<&SourceRecord>,
        (offered, places): (OfferedCommit, CommitPlaces),
    ) -> Result<(NextVersion, bool), NotAccepted> {
        let before = record.and_then(|record| match &record.accepted.version {
            VersionId::Commit(commit) => Some((&**commit, record.accepted.commit.as_ref()?)),
            VersionId::Number(_) | VersionId::Bundle(_) => None,
        });
        let mut version = VersionId::Commit(offered.commit.clone());
        let failed = |version: &VersionId| {
            let version = version.clone();
            move |error: RepositoryError| NotAccepted::of_repository(error, &version)
        };
        let borrowed = before.map(|(commit, _)| (commit, places.objects));
        let git = self.git(place, rules, &places.repository);
        let repository = BranchRepository::make(git, self.doors.files, &offered.commit, borrowed).await;
        let mut repository = repository.map_err(failed(&version))?;
        // The branch may have got another commit by now.
        let commit = repository.fetch(&place.url, &place.branch, offered.left).await;
        let commit = commit.map_err(failed(&version))?;
        version = VersionId::Commit(commit.clone());
        if place.scheme == "https" {
            repository.check().await.map_err(failed(&version))?;
        }
        let (root, signed_by) =
            self.verified(&repository, rules, &commit, before).await.map_err(failed(&version))?;
        let archive = repository.archive(&commit, place.directory.as_deref()).await;
        let archive = archive.map_err(failed(&version))?;
        self.unpack_tree(&archive, &places.version, &version).await?;
        let digest = bundle::digest_of(self.doors.files, &places.version)
            .map_err(|source| NotAccepted::Content { version: version.clone(), source })?;
        let next = AcceptedVersion {
            channel: place.branch.clone(),
            version: version.clone(),
            digest: digest.sha256,
            at: display_timestamp(self.now, 0),
            signed_by,
            release: None,
            commit: Some(AcceptedCommit { root, after: before.map_or(0, |(_, before)| before.after + 1) }),
        };
        self.checked(&next, &places.version)?;
        if !repository.is_whole() && places.packs >= MAX_PACKS {
            repository.repack().await.map_err(failed(&version))?;
        }
        let is_whole = repository.is_whole();
        Ok((NextVersion { version: next, path: places.version, envelope: None }, is_whole))
    }

    /// Checks where a commit comes from and who signed it. Returns its root and its signer.
    async fn verified(
        &self,
        repository: &BranchRepository<'_>,
        rules: &BranchFollowing<'_>,
        commit: &str,
        before: Option<(&str, &AcceptedCommit)>,
    ) -> Result<(String, Vec<String>), RepositoryError> {
        let mut signed_by = Vec::new();
        if let Some(verify) = rules.verify {
            let text = repository.commit(commit).await?;
            let signer = verify(&text.signed, &text.signature).map_err(CommitRefusal::Signature)?;
            signed_by.push(signer);
        }
        let pinned = rules.root.or(before.map(|(_, before)| &*before.root));
        let root = match pinned {
            Some(root) if repository.is_ancestor(root, commit).await? => root.to_owned(),
            Some(root) => return Err(CommitRefusal::OtherRoot { root: short_commit(root).to_owned() }.into()),
            None => repository.root(commit).await?,
        };
        if let Some((accepted, _)) = before.filter(|_| !rules.allows_rewind)
            && !repository.is_ancestor(accepted, commit).await?
        {
            let accepted = short_commit(accepted).to_owned();
            return Err(CommitRefusal::Rewritten { accepted }.into());
        }
        Ok((root, signed_by))
    }

    /// Unpacks the tree of a commit under the rules of bundles.
    async fn unpack_tree(&self, archive: &Path, into: &Path, version: &VersionId) -> Result<(), NotAccepted> {
        let failed =
            |source: FetchError| NotAccepted::Tree { version: version.clone(), source: Box::new(source) };
        let files = self.doors.files;
        let request = ExtractRequest {
            archive: files.open(archive).map_err(|error| failed(error.into()))?,
            sha256: None,
            content_sha256: None,
            path: archive.to_owned(),
            format: ArchiveFormat::Tar,
            into: files.extraction_target(into).map_err(|error| failed(error.into()))?,
            strip_components: 0,
            uid: None,
            gid: None,
            max_size: MAX_BUNDLE,
            max_entries: MAX_ENTRIES,
            last: None,
            timeout: None,
        };
        extract(request, self.doors.cancellation).await.map(drop).map_err(|error| failed(error.into()))
    }

    fn git<'g>(&'g self, place: &GitPlace, rules: &BranchFollowing<'g>, directory: &Path) -> GitCalls<'g> {
        let mut settings = vec![format!("protocol.{}.allow=always", place.scheme)];
        settings.extend(self.doors.ca_file.map(|file| format!("http.sslCAInfo={}", file.display())));
        GitCalls {
            executor: rules.executor,
            cancellation: self.doors.cancellation,
            environment: rules.environment,
            settings,
            directory: directory.to_owned(),
            max_file: MAX_HISTORY,
        }
    }
}

/// Checks that the command line asks for no less than what the source was accepted with.
fn check_options(rules: &BranchFollowing<'_>, record: Option<&SourceRecord>) -> Result<(), NotAccepted> {
    let Some(record) = record else { return Ok(()) };
    if rules.verify.is_none() && !record.accepted.signed_by.is_empty() {
        let signers = record.accepted.signed_by.join(", ");
        return Err(NotAccepted::NoLongerSigned { signers });
    }
    let pinned = record.accepted.commit.as_ref().map(|commit| &*commit.root);
    match (rules.root, pinned) {
        (Some(named), Some(pinned)) if named != pinned => Err(NotAccepted::OtherRoot {
            pinned: short_commit(pinned).to_owned(),
            named: short_commit(named).to_owned(),
        }),
        _ => Ok(()),
    }
}
