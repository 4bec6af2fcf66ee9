//! Provider posix: the file `/etc/hosts`.

use std::rc::Rc;

use ccm_engine::{Context, Provider, ReadPurpose};

use ccm_model::Failure;

use super::decide::DesiredHost;
use super::hosts_file::HostsFile;
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};

pub(crate) struct PosixHosts;

impl Provider<Object<DesiredHost>> for PosixHosts {
    async fn status(
        &self,
        host: &DesiredHost,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<Rc<HostsFile>, Failure> {
        let file = HostsFile::of(context).await?;
        if reading.is_before() && !matches!(host.plan(&file), ObjectPlan::Keep { .. }) {
            file.file.check_replaceable(context)?;
        }
        Ok(file)
    }

    async fn execute(
        &self,
        host: &DesiredHost,
        file: &Rc<HostsFile>,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        match host.plan(file) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Create(_) | ObjectPlan::Change(_) | ObjectPlan::Remove => {}
        }
        let new = file.with(&host.name, |line| host.manages(line), host.line(file).as_ref());
        file.file.write(new, context).map(drop)
    }
}
