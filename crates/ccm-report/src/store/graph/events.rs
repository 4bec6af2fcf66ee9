//! Graph of a run whose record has none: the resources of its events, without dependencies.

use ccm_model::{EventLine, OutcomeName, ResourceId, SkipCause, TransactionLine};

use super::{RecordedNode, RecordedOutcome, RecordedResult, RunGraph};

impl RecordedOutcome {
    /// Returns the outcome of a recorded event.
    pub fn of_line(line: &TransactionLine<'_>) -> Self {
        match line.outcome {
            OutcomeName::Unchanged => Self::Unchanged,
            OutcomeName::Changed => Self::Changed,
            OutcomeName::Refreshed => Self::Refreshed,
            OutcomeName::WouldChange => Self::WouldChange,
            OutcomeName::WouldRefresh => Self::WouldRefresh,
            OutcomeName::Failed => Self::Failed,
            OutcomeName::Skipped => match line.skip.as_deref() {
                Some(SkipCause::DependencyFailed { .. }) => Self::DependencyFailed,
                _ => Self::Skipped,
            },
        }
    }
}

impl RunGraph {
    /// Builds the graph of recorded events, which lack unchanged resources.
    pub fn of_events(events: &[EventLine]) -> Self {
        let mut graph = Self::default();
        for event in events {
            match event {
                EventLine::Start(start) => {
                    graph.began.get_or_insert(start.timestamp);
                }
                EventLine::Transaction(line) => {
                    let began = *graph.began.get_or_insert(line.timestamp);
                    graph.order.push(graph.nodes.len());
                    graph.nodes.push(RecordedNode {
                        id: ResourceId::new(&*line.type_name, &*line.name),
                        file: String::new(),
                        line: 0,
                        edges: Vec::new(),
                        result: Some(RecordedResult {
                            begin: line.timestamp.duration_since(began).unwrap_or_default(),
                            duration: line.duration,
                            outcome: RecordedOutcome::of_line(line),
                            rule: line.rule.as_deref().map(str::to_owned),
                        }),
                    });
                }
                EventLine::Summary(_) => {}
            }
        }
        graph
    }
}
