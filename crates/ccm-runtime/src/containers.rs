//! Containers of a run.

#[cfg(feature = "docker")]
mod enabled {
    use std::io::{self, Read as _};
    use std::path::PathBuf;
    use std::rc::Rc;

    use ccm_docker::{DockerExecutor, RunLabels};
    use ccm_host::state::Directory;
    use ccm_host::{Cancellation, ClosedPlan, Executor, Local, LocalSystem, random};
    use ccm_report::RunIdentity;

    use crate::session::{Notice, Session};

    /// File in the state directory with the id by which its runs find their containers.
    const OWNER: &str = "container-owner";
    /// Number of hexadecimal digits of the id.
    const OWNER_LENGTH: usize = 32;

    /// Executor of a run: of this machine, and of containers.
    pub(crate) struct RunExecutor<'a> {
        docker: Rc<DockerExecutor<'a>>,
        session: &'a Session,
    }

    impl<'a> RunExecutor<'a> {
        pub(crate) fn new(
            local: Rc<dyn Executor + 'a>,
            system: &'a dyn LocalSystem,
            session: &'a Session,
            cancellation: &'a Cancellation,
            identity: &RunIdentity,
            state: Option<&'a Directory>,
        ) -> Self {
            let labels = RunLabels::new(&*identity.run_id, &*identity.manifest, move || match state {
                Some(state) => owner(state),
                None => Err(io::ErrorKind::NotFound.into()),
            });
            let clock = &*session.doors.clock;
            let docker = DockerExecutor::new(local, clock, &session.secrets, cancellation, labels);
            Self { docker: Rc::new(docker.with_logins(move || login_file(system))), session }
        }

        pub(crate) fn executor(&self) -> Rc<dyn Executor + 'a> {
            Rc::<DockerExecutor<'a>>::clone(&self.docker)
        }

        /// Stops and removes what the run has in containers.
        pub(crate) fn close(&self) -> Local<'_, ()> {
            Box::pin(async {
                let ClosedPlan { warnings, notes } = self.docker.close().await;
                for warning in &warnings {
                    self.session.notices.report(&Notice::ContainerProblem(warning));
                }
                for note in &notes {
                    self.session.notices.report(&Notice::Container(note));
                }
            })
        }
    }

    /// Returns the file in which the docker command keeps the logins of the user who runs ccm.
    fn login_file(system: &dyn LocalSystem) -> Option<PathBuf> {
        let environment = system.base_environment();
        let home = environment.into_iter().find(|(name, _)| name == "HOME").map(|(_, home)| home)?;
        Some(PathBuf::from(home).join(".docker/config.json"))
    }

    /// Returns the id of a state directory, which is made when it is needed first.
    fn owner(state: &Directory) -> io::Result<String> {
        match state.read(OWNER) {
            Ok(file) => {
                let mut owner = String::new();
                // A damaged file is replaced.
                let read = file.take(OWNER_LENGTH as u64 + 1).read_to_string(&mut owner);
                let owner = owner.trim_end();
                let is_valid =
                    owner.len() == OWNER_LENGTH && owner.bytes().all(|byte| byte.is_ascii_hexdigit());
                if read.is_ok() && is_valid {
                    return Ok(owner.to_owned());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let owner = format!("{:032x}", random());
        state.replace(OWNER, format!("{owner}\n").as_bytes())?;
        Ok(owner)
    }

    #[cfg(test)]
    mod tests {
        use ccm_testkit::Scratch;

        use super::*;

        #[test]
        fn a_state_directory_keeps_its_id() {
            let scratch = Scratch::new();
            let state = Directory::open_private(&scratch.path().join("state")).unwrap();
            let first = owner(&state).unwrap();
            assert_eq!(owner(&state).unwrap(), first);
            state.replace(OWNER, b"0123\n").unwrap();
            let second = owner(&state).unwrap();
            assert!(second != first && second.len() == OWNER_LENGTH);
            assert_eq!(owner(&state).unwrap(), second);
            state.replace(OWNER, &[b'0'; 100]).unwrap();
            assert_ne!(owner(&state).unwrap(), second);
        }
    }
}

#[cfg(not(feature = "docker"))]
mod disabled {
    use std::rc::Rc;

    use ccm_host::state::Directory;
    use ccm_host::{Cancellation, Executor, Local, LocalSystem};
    use ccm_report::RunIdentity;

    use crate::session::Session;

    /// Executor of a run, which has no containers: they are an error of the manifest.
    pub(crate) struct HostExecutor<'a>(Rc<dyn Executor + 'a>);

    impl<'a> HostExecutor<'a> {
        pub(crate) fn new(
            local: Rc<dyn Executor + 'a>,
            _: &'a dyn LocalSystem,
            _: &'a Session,
            _: &'a Cancellation,
            _: &RunIdentity,
            _: Option<&'a Directory>,
        ) -> Self {
            Self(local)
        }

        pub(crate) fn executor(&self) -> Rc<dyn Executor + 'a> {
            Rc::clone(&self.0)
        }

        #[expect(clippy::unused_self, reason = "the same face as with containers")]
        pub(crate) fn close(&self) -> Local<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }
}

#[cfg(not(feature = "docker"))]
pub(crate) use disabled::HostExecutor as RunExecutor;
#[cfg(feature = "docker")]
pub(crate) use enabled::RunExecutor;
