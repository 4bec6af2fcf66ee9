//! What the governance of a session sees of the session.

use std::io;
use std::path::Path;
use std::rc::Rc;

use ccm_expr::Value;
use ccm_governance::signed::ReadRecord;
use ccm_governance::{GovernanceDoors, GovernanceNotice};
use ccm_host::{Clock, Files, Machine};
use ccm_manifest::Sources as _;
use ccm_model::SourceMap;
use ccm_redaction::Secrets;

use crate::doors::OpenDoors;
use crate::encrypted_values::EncryptedValues;
use crate::input::GivenFacts;
use crate::machine::MachineSources;
use crate::notices::Notices;
use crate::session::{InputBounds, Notice};

/// Doors of a session, with its secrets and the receiver of its notices.
pub(crate) struct SessionDoors {
    pub(crate) doors: Rc<OpenDoors>,
    pub(crate) secrets: Secrets,
    pub(crate) notices: Notices,
    /// Bounds of what is read, if somebody with fewer rights than this process may have named it.
    pub(crate) bounds: Option<InputBounds>,
    /// `true` if inputs have to be regular files.
    pub(crate) regular_inputs: bool,
    pub(crate) encrypted: Rc<EncryptedValues>,
}

impl GovernanceDoors for SessionDoors {
    fn files(&self) -> &dyn Files {
        &*self.doors.files
    }

    fn clock(&self) -> &dyn Clock {
        &*self.doors.clock
    }

    fn machine(&self) -> &dyn Machine {
        &*self.doors.machine
    }

    fn input(&self, path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
        self.doors.input(path, limit, self.regular_inputs)
    }

    fn facts(&self) -> Option<Value> {
        let machine = MachineSources::new(self, GivenFacts::default(), None, ReadRecord::default());
        machine.facts(&[Vec::new()], &mut SourceMap::default()).ok()
    }

    fn user_name(&self, uid: u32) -> Option<String> {
        self.doors.opened_commands()?.account(&uid.to_string()).ok().map(|found| found.name)
    }

    fn notice(&self, notice: &GovernanceNotice<'_>) {
        self.notices.report(&Notice::Governance(notice));
    }
}
