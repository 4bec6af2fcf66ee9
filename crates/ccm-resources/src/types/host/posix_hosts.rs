//! Provider posix: the file `/etc/hosts`.

use std::path::Path;
use std::rc::Rc;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{Host, Local};
use ccm_model::Failure;

use super::decide::{DesiredHost, HostKind, plan};
use super::hosts_file::{HOSTS, HostsFile};
use crate::support::object_plan::ObjectPlan;
use crate::support::system_file::write;

pub(crate) struct PosixHosts;

impl Provider<HostKind> for PosixHosts {
    fn name(&self) -> &'static str {
        "posix"
    }

    fn suitability(&self, _: Host<'_>) -> Suitability {
        Suitability::Suits(1)
    }

    fn status<'a>(
        &'a self,
        _: &'a DesiredHost,
        _: ReadPurpose<'a, ()>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Rc<HostsFile>, Failure>> {
        Box::pin(HostsFile::of(context))
    }

    fn execute<'a>(
        &'a self,
        host: &'a DesiredHost,
        file: &'a Rc<HostsFile>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<(), Failure>> {
        Box::pin(std::future::ready(execute(host, file, context)))
    }
}

fn execute(host: &DesiredHost, file: &HostsFile, context: &Context<'_>) -> Result<(), Failure> {
    match plan(host, file) {
        ObjectPlan::Keep { .. } => return Ok(()),
        ObjectPlan::Fail(failure) => return Err(failure),
        ObjectPlan::Create(_) | ObjectPlan::Change(_) | ObjectPlan::Remove => {}
    }
    let new = file.with(&host.name, |line| host.manages(line), host.line(file).as_ref());
    write(Path::new(HOSTS), file.content.as_deref(), &new, context)
}
