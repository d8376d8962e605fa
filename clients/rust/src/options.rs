//! How a call wants to be treated: busy threads, limits, and who asks.

use std::time::Duration;

use uuid::Uuid;

use crate::{
    Error, Result,
    v1::{self, BusyPolicy, DisconnectPolicy, RunOptions},
};

/// What to do while another run or write holds the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBusy {
    /// Wait for its turn: first come, first served.
    Wait,
    /// Refuse at once with [`Code::ThreadBusy`](crate::Code::ThreadBusy).
    Reject,
    /// Cancel the run that holds the thread, and go before those that wait.
    Interrupt,
}

/// What one attempt may use; what is not set is the app's own limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Answers of the model in an agent, rounds of nodes in a workflow.
    pub steps: Option<i32>,
    /// Tokens that models read and wrote together.
    pub tokens: Option<i64>,
    /// The time of the attempt, waiting for the thread not included.
    pub duration: Option<Duration>,
    /// The time for each tool call.
    pub tool_timeout: Option<Duration>,
}

/// What verbs that start an attempt have in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct AttemptOptions {
    pub(crate) on_busy: Option<OnBusy>,
    pub(crate) busy_timeout: Option<Duration>,
    pub(crate) limits: Option<Limits>,
    pub(crate) expected_version: Option<i64>,
    pub(crate) request_id: Option<String>,
    pub(crate) timeout: Option<Duration>,
}

impl AttemptOptions {
    /// As they travel. The run goes on when its stream breaks: who leaves on purpose cancels it by name.
    pub(crate) fn wire(&self, actor: &str) -> Result<RunOptions> {
        let limits = self.limits.as_ref().map(wire_limits).transpose()?;
        Ok(RunOptions {
            on_busy: wire_on_busy(self.on_busy),
            busy_timeout: wire_duration(self.busy_timeout, "options.busy_timeout")?,
            on_disconnect: DisconnectPolicy::Continue.into(),
            limits,
            actor: actor.to_owned(),
        })
    }
}

pub(crate) fn wire_on_busy(on_busy: Option<OnBusy>) -> i32 {
    let policy = match on_busy {
        None => BusyPolicy::Unspecified,
        Some(OnBusy::Wait) => BusyPolicy::Wait,
        Some(OnBusy::Reject) => BusyPolicy::Reject,
        Some(OnBusy::Interrupt) => BusyPolicy::Interrupt,
    };
    policy.into()
}

pub(crate) fn wire_duration(duration: Option<Duration>, field: &str) -> Result<Option<prost_types::Duration>> {
    let wire = duration.map(prost_types::Duration::try_from).transpose();
    wire.map_err(|_| Error::argument(field, format_args!("{duration:?} is longer than any time")))
}

fn wire_limits(limits: &Limits) -> Result<v1::Limits> {
    Ok(v1::Limits {
        max_steps: limits.steps,
        max_tokens: limits.tokens,
        max_duration: wire_duration(limits.duration, "options.limits.max_duration")?,
        tool_timeout: wire_duration(limits.tool_timeout, "options.limits.tool_timeout")?,
    })
}

/// Names one request, however often it has to be sent.
pub(crate) fn new_request_id() -> String {
    Uuid::new_v4().to_string()
}
