//! Events as a server tells them: one run of thread `t-1`, whose incarnation is `u`.

use tonic_types::pb::Status;

use crate::{
    Payload,
    v1::{
        Approval, ApprovalRequested, Checkpoint, CheckpointSource, CheckpointStatus, CheckpointWritten, Event,
        FailureCode, Heartbeat, Message, MessageDiscarded, Part, ReasoningDelta, Reply, Role, RunCompleted, RunFailed,
        RunQueued, RunStarted, RunSuspended, TextDelta, TextPart, ToolCall, ToolCallFinished, ToolCallStarted, part,
    },
};

const RUN: &str = "u.r1";

/// One of a kind that this version does not know, where it has no payload.
pub(crate) fn event(version: i64, last_of_version: bool, payload: Option<Payload>) -> Event {
    Event {
        thread_id: "t-1".to_owned(),
        thread_uid: "u".to_owned(),
        run_id: RUN.to_owned(),
        version,
        last_of_version,
        create_time: None,
        payload,
    }
}

pub(crate) fn unknown(version: i64, last: bool) -> Event {
    event(version, last, None)
}

pub(crate) fn queued() -> Event {
    Event { run_id: String::new(), ..event(0, false, Some(Payload::RunQueued(RunQueued { ahead: 0 }))) }
}

pub(crate) fn started(version: i64, attempt: i32) -> Event {
    event(version, false, Some(Payload::RunStarted(RunStarted { attempt })))
}

pub(crate) fn delta(version: i64, message_id: &str, offset: i64, text: &str) -> Event {
    part_delta(version, message_id, 0, offset, text)
}

pub(crate) fn part_delta(version: i64, message_id: &str, part_index: i32, offset: i64, text: &str) -> Event {
    let delta = TextDelta { message_id: message_id.to_owned(), part_index, offset, text: text.to_owned() };
    event(version, false, Some(Payload::TextDelta(delta)))
}

pub(crate) fn thought(version: i64, message_id: &str, offset: i64, text: &str) -> Event {
    let delta = ReasoningDelta { message_id: message_id.to_owned(), part_index: 0, offset, text: text.to_owned() };
    event(version, false, Some(Payload::ReasoningDelta(delta)))
}

pub(crate) fn discarded(version: i64, message_id: &str) -> Event {
    let code = FailureCode::ModelIncomplete.into();
    let payload = Payload::MessageDiscarded(MessageDiscarded { message_id: message_id.to_owned(), code });
    event(version, false, Some(payload))
}

pub(crate) fn heartbeat(version: i64) -> Event {
    event(version, false, Some(Payload::Heartbeat(Heartbeat {})))
}

pub(crate) fn said(id: &str, text: &str) -> Message {
    message(id, text, Role::Assistant)
}

pub(crate) fn asked(id: &str, text: &str) -> Message {
    message(id, text, Role::User)
}

fn message(id: &str, text: &str, role: Role) -> Message {
    let kind = Some(part::Kind::Text(TextPart { text: text.to_owned() }));
    let content = vec![Part { kind, ..Default::default() }];
    Message { id: id.to_owned(), role: role.into(), content, ..Default::default() }
}

pub(crate) fn written(version: i64, messages: Vec<Message>) -> Event {
    written_by(CheckpointSource::Step, version, messages)
}

pub(crate) fn written_by(source: CheckpointSource, version: i64, messages: Vec<Message>) -> Event {
    let checkpoint = Checkpoint {
        id: format!("u.{version}"),
        thread_id: "t-1".to_owned(),
        thread_uid: "u".to_owned(),
        run_id: RUN.to_owned(),
        version,
        attempt: 1,
        status: CheckpointStatus::InProgress.into(),
        source: source.into(),
        ..Default::default()
    };
    let payload =
        CheckpointWritten { checkpoint: Some(checkpoint), parent_version: version - 1, messages, ..Default::default() };
    event(version, true, Some(Payload::CheckpointWritten(payload)))
}

/// The same event with others of its version behind it.
pub(crate) fn not_last(event: Event) -> Event {
    Event { last_of_version: false, ..event }
}

pub(crate) fn last(event: Event) -> Event {
    Event { last_of_version: true, ..event }
}

pub(crate) fn tool_started(version: i64, call_id: &str) -> Event {
    let tool_call = ToolCall { id: call_id.to_owned(), name: "refund".to_owned(), arguments_json: "{}".to_owned() };
    let payload = ToolCallStarted { tool_call: Some(tool_call), node: String::new() };
    event(version, false, Some(Payload::ToolCallStarted(payload)))
}

pub(crate) fn tool_finished(version: i64, call_id: &str) -> Event {
    let payload = ToolCallFinished { tool_call_id: call_id.to_owned(), ..Default::default() };
    event(version, false, Some(Payload::ToolCallFinished(payload)))
}

pub(crate) fn approval(id: &str) -> Approval {
    let (id, run_id, thread_id) = (id.to_owned(), RUN.to_owned(), "t-1".to_owned());
    Approval { id, run_id, thread_id, ..Default::default() }
}

pub(crate) fn asks(version: i64, approval_id: &str) -> Event {
    let payload = ApprovalRequested { approval: Some(approval(approval_id)) };
    event(version, false, Some(Payload::ApprovalRequested(payload)))
}

pub(crate) fn suspended(version: i64, approval_ids: &[&str], approval_count: i32) -> Event {
    let approvals = approval_ids.iter().map(|id| approval(id)).collect();
    let payload = RunSuspended { approvals, snapshot: Vec::new(), approval_count };
    event(version, true, Some(Payload::RunSuspended(payload)))
}

pub(crate) fn completed(version: i64, text: &str, message_id: &str) -> Event {
    let reply = Reply {
        thread_id: "t-1".to_owned(),
        thread_uid: "u".to_owned(),
        run_id: RUN.to_owned(),
        version,
        text: text.to_owned(),
        message_id: message_id.to_owned(),
        ..Default::default()
    };
    event(version, true, Some(Payload::RunCompleted(RunCompleted { reply: Some(reply) })))
}

pub(crate) fn failed(version: i64, code: FailureCode) -> Event {
    let status = Status { code: 14, message: "it failed".to_owned(), details: Vec::new() };
    let payload = RunFailed { status: Some(status), code: code.into(), retryable: true, ..Default::default() };
    event(version, true, Some(Payload::RunFailed(payload)))
}
