//! Tools that read, for a user whom a service serves.

use ccm_host::{CancellationLevel, Command, CommandOrigin, Exit, Role};
use ccm_model::error_layers;
use serde_json::Value;

use super::{CallContext, ToolBroker};
use crate::answer::{AnswerKind, ToolAnswer};
use crate::catalog::ToolName;
use crate::reader::{self, READER_ARGUMENTS};
use crate::served_user::ServedUser;

/// Longest time of a tool that reads.
const TIME_LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

/// Returns `true` if what the tool reads depends on who reads.
pub(super) fn reads_as_caller(tool: ToolName) -> bool {
    matches!(
        tool,
        ToolName::Validate
            | ToolName::Noop
            | ToolName::Graph
            | ToolName::Facts
            | ToolName::History
            | ToolName::Status
            | ToolName::PolicyExplain
    )
}

impl ToolBroker {
    /// Answers a tool that reads by a program that runs as the caller: the service could read what the caller may not.
    pub(super) async fn read_as(
        &self,
        served: &ServedUser,
        tool: ToolName,
        input: &Value,
        mut context: CallContext<'_>,
    ) -> ToolAnswer {
        // One command of a process runs at a time.
        let canceller = context.canceller.clone();
        let _turn = tokio::select! {
            biased;
            turn = self.turn.lock() => turn,
            () = canceller.reached(CancellationLevel::Stop) => return failed("the call was cancelled"),
        };
        self.read_in_turn(served, tool, input, &mut context).await
    }

    /// Runs the program that answers as the caller. The call has its turn.
    pub(super) async fn read_in_turn(
        &self,
        served: &ServedUser,
        tool: ToolName,
        input: &Value,
        context: &mut CallContext<'_>,
    ) -> ToolAnswer {
        let commands = match self.session.commands() {
            Ok(commands) => commands,
            Err(error) => return failed(&error_layers(&error).join(": ")),
        };
        let canceller = &context.canceller;
        let arguments = READER_ARGUMENTS.into_iter().chain([tool.name()]);
        let command = Command {
            args: arguments.map(Into::into).collect(),
            cwd: self.directory.to_path_buf(),
            environment: commands.environment_of(&served.account),
            stdin: Some(input.to_string().into()),
            timeout: Some(TIME_LIMIT),
            identity: Some(served.account.identity.clone()),
            origin: CommandOrigin::Ccm,
            role: Role::Query,
            ..Command::new(&served.reader)
        };
        let finished = match commands.run(&command, canceller.cancellation(), &mut |_, _| {}).await {
            Ok(finished) => finished,
            Err(error) => return failed(&error_layers(&error).join(": ")),
        };
        match &finished.exit {
            Exit::TimedOut { .. } => return failed("the tool took too long"),
            Exit::Cancelled => return failed("the call was cancelled"),
            _ if finished.stdout.truncated() => return failed("the answer of the tool is too long"),
            _ => {}
        }
        let printed = [&*finished.stdout.head, &*finished.stdout.tail].concat();
        reader::parse(&printed).unwrap_or_else(|| {
            let errors = String::from_utf8_lossy(&finished.stderr.head).into_owned();
            let last = errors.lines().next_back().unwrap_or("it printed no answer");
            failed(&format!("the tool can't be answered as user {}: {last}", served.account.name))
        })
    }
}

fn failed(message: &str) -> ToolAnswer {
    let hint = "let an operator look at the messages of the service".to_owned();
    ToolAnswer::error(AnswerKind::NotTried, message, None, &[hint])
}
