//! Private repository that a branch is fetched into. Whatever comes, what was accepted is not touched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_fetch::is_git_commit;
use ccm_host::{FileAttributes, FileError, Files, NewContent, NewFile};

use super::calls::{GitCalls, GitError};
use super::commit::CommitText;
use super::refusal::CommitRefusal;

/// Reference of the commit that was accepted.
const ACCEPTED: &str = "refs/ccm/accepted";
/// Reference of the commit that is offered.
const OFFERED: &str = "refs/ccm/offered";
/// Attributes that take precedence over those in the repository: every file comes out as it was committed.
const ATTRIBUTES: &str =
    "* -text -crlf -ident -filter -export-subst -export-ignore !eol !working-tree-encoding\n";
/// Length of a commit whose repository uses SHA-256.
const SHA256_COMMIT: usize = 64;
/// Mode of a submodule in a tree.
const SUBMODULE: &[u8] = b"160000 ";

/// Private repository with a branch.
pub(crate) struct BranchRepository<'a> {
    git: GitCalls<'a>,
    files: &'a dyn Files,
    /// Objects of what was accepted, which the repository borrows.
    objects: Option<PathBuf>,
}

/// Reason for which a commit can't be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RepositoryError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Refused(#[from] CommitRefusal),
}

impl<'a> BranchRepository<'a> {
    /// Makes the repository in an empty directory. It borrows objects of what was accepted, if there are any.
    pub(crate) async fn make(
        git: GitCalls<'a>,
        files: &'a dyn Files,
        offered: &str,
        accepted: Option<(&str, PathBuf)>,
    ) -> Result<Self, RepositoryError> {
        let format = if offered.len() == SHA256_COMMIT { "sha256" } else { "sha1" };
        let format = format!("--object-format={format}");
        // A template could bring hooks.
        git.local(&["init", "--quiet", "--bare", "--template=", &format]).await?;
        let mut repository = Self { git, files, objects: None };
        repository.write("info", "attributes", ATTRIBUTES)?;
        if let Some((commit, objects)) = accepted
            && files.is_directory(&objects).unwrap_or_default()
        {
            repository.write("objects/info", "alternates", &format!("{}\n", objects.display()))?;
            // Objects that are damaged or lost are fetched again.
            match repository.git.local(&["update-ref", ACCEPTED, commit]).await {
                Ok(_) => repository.objects = Some(objects),
                Err(GitError::Failed { .. }) => {
                    files.remove(&repository.path().join("objects/info/alternates"), false)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(repository)
    }

    /// Returns the path of the repository.
    pub(crate) fn path(&self) -> &Path {
        &self.git.directory
    }

    /// Returns `true` if the repository borrows nothing.
    pub(crate) fn is_whole(&self) -> bool {
        self.objects.is_none()
    }

    /// Fetches a branch with its whole history. Returns its commit.
    pub(crate) async fn fetch(
        &self,
        url: &str,
        branch: &str,
        limit: Duration,
    ) -> Result<String, RepositoryError> {
        let reference = format!("+refs/heads/{branch}:{OFFERED}");
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        let args = [&options[..], &["--end-of-options", url, &reference]].concat();
        self.git.remote(&args, limit).await.map_err(|error| match error {
            GitError::Failed { reason, .. } if reason.contains("fsck error") => {
                RepositoryError::Refused(CommitRefusal::Objects { reason })
            }
            error => error.into(),
        })?;
        let object = format!("{OFFERED}^{{commit}}");
        // git takes no branch whose history would end at a commit that has parents.
        let is_shallow = self.files.exists(&self.path().join("shallow")).unwrap_or(true);
        if is_shallow || !self.has(&object).await? {
            return Err(CommitRefusal::Shallow.into());
        }
        let commit = self.git.line(&["rev-parse", "--verify", "--quiet", &object]).await?;
        if is_git_commit(&commit) { Ok(commit) } else { Err(CommitRefusal::Unreadable.into()) }
    }

    /// Checks the form of everything that was fetched. git itself does not, if a web server hands out its files.
    pub(crate) async fn check(&self) -> Result<(), RepositoryError> {
        let args = ["fsck", "--strict", "--no-dangling", "--no-reflogs", "--no-progress"];
        self.git.local(&args).await.map(drop).map_err(|error| match error {
            GitError::Failed { reason, .. } => CommitRefusal::Objects { reason }.into(),
            error => error.into(),
        })
    }

    /// Returns `true` if a commit is another one, or among those that it follows on.
    pub(crate) async fn is_ancestor(&self, ancestor: &str, commit: &str) -> Result<bool, RepositoryError> {
        // A commit that is not there is no ancestor.
        if !self.has(&format!("{ancestor}^{{commit}}")).await? {
            return Ok(false);
        }
        Ok(self.git.is(&["merge-base", "--is-ancestor", ancestor, commit]).await?)
    }

    /// Returns the first commit of the history of a commit.
    pub(crate) async fn root(&self, commit: &str) -> Result<String, RepositoryError> {
        let root = self.git.line(&["rev-list", "--first-parent", "--max-parents=0", commit]).await?;
        if is_git_commit(&root) { Ok(root) } else { Err(CommitRefusal::Unreadable.into()) }
    }

    /// Reads what was signed of a commit.
    pub(crate) async fn commit(&self, commit: &str) -> Result<CommitText, RepositoryError> {
        let bytes = self.git.local(&["cat-file", "commit", commit]).await?;
        CommitText::parse(&bytes).map_err(|error| CommitRefusal::Signature(Box::new(error)).into())
    }

    /// Writes the tree of a commit, or one directory of it, to a tar archive. Returns its path.
    pub(crate) async fn archive(
        &self,
        commit: &str,
        directory: Option<&str>,
    ) -> Result<PathBuf, RepositoryError> {
        let tree = match directory {
            None => format!("{commit}^{{tree}}"),
            Some(directory) => {
                let missing = || CommitRefusal::NoDirectory { directory: directory.to_owned() };
                let object = format!("{commit}:{directory}");
                if !self.has(&object).await? {
                    return Err(missing().into());
                }
                let object = self.git.line(&["rev-parse", "--verify", "--end-of-options", &object]).await?;
                let tree = format!("{object}^{{tree}}");
                if !self.has(&tree).await? {
                    return Err(missing().into());
                }
                tree
            }
        };
        let listed = self.git.local(&["ls-tree", "-r", "-d", "-z", &tree]).await?;
        if let Some(entry) = listed.split(|byte| *byte == 0).find(|entry| entry.starts_with(SUBMODULE)) {
            let name = entry.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default();
            let path = String::from_utf8_lossy(name).into_owned();
            return Err(CommitRefusal::Submodule { path }.into());
        }
        let path = self.path().join("tree.tar");
        let output = format!("--output={}", path.display());
        self.git.local(&["archive", "--format=tar", &output, &tree]).await?;
        Ok(path)
    }

    /// Packs everything into one pack, with what is borrowed.
    pub(crate) async fn repack(&mut self) -> Result<(), RepositoryError> {
        self.git.local(&["repack", "-a", "-d", "-q"]).await?;
        self.objects = None;
        Ok(())
    }

    async fn has(&self, object: &str) -> Result<bool, GitError> {
        self.git.is(&["rev-parse", "--verify", "--quiet", "--end-of-options", object]).await
    }

    fn write(&self, directory: &str, name: &str, content: &str) -> Result<(), FileError> {
        let directory = self.path().join(directory);
        if !self.files.is_directory(&directory).unwrap_or_default() {
            self.files.make_directory(&directory, FileAttributes::default())?;
        }
        let new =
            NewFile { content: NewContent::Bytes(content.as_bytes()), attributes: FileAttributes::default() };
        self.files.write(&directory.join(name), &new).map(drop)
    }
}
