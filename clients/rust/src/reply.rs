//! What an attempt hands back.

use tonic::Code as Status;

use crate::{
    Code, Error, Payload, Result,
    error::Failure,
    position::is_terminal,
    refusals::{Details, failure_details},
    v1::{self, Approval, Event, FailureCode, Message, RunCompleted, RunFailed, RunSuspended, Usage},
};

/// How an attempt ended: with an answer, or with questions to people.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// Which of the two.
    pub status: ReplyStatus,
    /// The text parts of the final message, joined; empty where there is none.
    pub text: String,
    /// The thread; empty for a run without one.
    pub thread_id: String,
    /// Its incarnation.
    pub thread_uid: String,
    /// The run.
    pub run_id: String,
    /// The version of the checkpoint that ended the attempt.
    pub version: i64,
    /// The id of the final message; empty where there is none.
    pub message_id: String,
    /// The final message.
    pub message: Option<Message>,
    /// What the run's models used in all its attempts. Not told of a run that is suspended.
    pub usage: Usage,
    /// Steps of the run, over all its attempts. Not told of a run that is suspended.
    pub steps: i32,
    /// What a suspended run waits for.
    pub approvals: Vec<Approval>,
    /// Of a workflow's run without a thread that is suspended, what `ResumeRequest` and `DecideRequest` continue it from; else empty.
    pub snapshot: Vec<u8>,
}

/// Whether an attempt came to the end of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyStatus {
    /// The run is complete.
    Completed,
    /// The run waits for decisions.
    Suspended,
}

impl ReplyStatus {
    /// The word, as `completed`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Suspended => "suspended",
        }
    }
}

/// What a stream has told so far that its reply is made of.
#[derive(Debug, Default)]
pub(crate) struct Told {
    last: Option<Event>,
    /// The messages of the last checkpoint.
    spoken: Vec<Message>,
    asked: Vec<(i64, Approval)>,
}

impl Told {
    pub(crate) fn take(&mut self, event: &Event) {
        match &event.payload {
            Some(Payload::CheckpointWritten(written)) => self.spoken.clone_from(&written.messages),
            Some(Payload::ApprovalRequested(asked)) => {
                self.asked.extend(asked.approval.clone().map(|approval| (event.version, approval)));
            }
            Some(payload) if is_terminal(payload) => self.last = Some(event.clone()),
            _ => {}
        }
    }

    /// The thread whose approvals have to be listed, since the events did not have room for all that the run waits for.
    pub(crate) fn asks_for_more(&self) -> Option<&str> {
        let event = self.last.as_ref()?;
        let Some(Payload::RunSuspended(suspended)) = &event.payload else { return None };
        let due = usize::try_from(suspended.approval_count).unwrap_or(0);
        let known = suspended.approvals.len().max(self.asked_at(event.version).count());
        (known < due && !event.thread_id.is_empty()).then_some(event.thread_id.as_str())
    }

    /// The reply, or the error that the run ended with. `listed` is what waits on the thread, where it was asked for.
    pub(crate) fn reply(self, listed: Vec<Approval>) -> Result<Reply> {
        let Some(event) = &self.last else {
            let text = "the stream ended without a word on the run; watch the thread for the rest";
            return Err(Error::new(Code::StreamCut, Status::Unavailable, text));
        };
        match &event.payload {
            Some(Payload::RunSuspended(suspended)) => Ok(self.suspended(event, suspended, listed)),
            Some(Payload::RunCompleted(completed)) => Ok(self.completed(completed)),
            Some(Payload::RunFailed(failed)) => Err(failure(event, failed)),
            _ => unreachable!("only terminal events are kept"),
        }
    }

    fn asked_at(&self, version: i64) -> impl Iterator<Item = &Approval> {
        self.asked.iter().filter(move |(each, _)| *each == version).map(|(_, approval)| approval)
    }

    fn suspended(&self, event: &Event, told: &RunSuspended, listed: Vec<Approval>) -> Reply {
        let asked: Vec<Approval> = self.asked_at(event.version).cloned().collect();
        let listed: Vec<Approval> = listed.into_iter().filter(|each| each.run_id == event.run_id).collect();
        let fullest = |best: Vec<Approval>, each: Vec<Approval>| if each.len() > best.len() { each } else { best };
        Reply {
            status: ReplyStatus::Suspended,
            text: String::new(),
            thread_id: event.thread_id.clone(),
            thread_uid: event.thread_uid.clone(),
            run_id: event.run_id.clone(),
            version: event.version,
            message_id: String::new(),
            message: None,
            usage: Usage::default(),
            steps: 0,
            approvals: [asked, listed].into_iter().fold(told.approvals.clone(), fullest),
            snapshot: told.snapshot.clone(),
        }
    }

    fn completed(&self, told: &RunCompleted) -> Reply {
        let v1::Reply { thread_id, thread_uid, run_id, version, text, message_id, message, usage, steps } =
            told.reply.clone().unwrap_or_default();
        // A very large message travels with the checkpoint alone.
        let message = message.or_else(|| self.spoken.iter().find(|each| each.id == message_id).cloned());
        Reply {
            status: ReplyStatus::Completed,
            text,
            thread_id,
            thread_uid,
            run_id,
            version,
            message_id,
            message,
            usage: usage.unwrap_or_default(),
            steps,
            approvals: Vec::new(),
            snapshot: Vec::new(),
        }
    }
}

fn failure(event: &Event, failed: &RunFailed) -> Error {
    let status = failed.status.clone().unwrap_or_default();
    let Details { reason, retry_after } = failure_details(&status);
    let code = if failed.code() == FailureCode::Cancelled { Code::Cancelled } else { Code::RunFailed };
    Error::new(code, status.code.into(), status.message)
        .with_metadata(reason.map(|reason| reason.metadata).unwrap_or_default())
        .about("run_id", event.run_id.clone())
        .with_retry_after(retry_after)
        .with_failure(Failure {
            code: failed.code(),
            retryable: failed.retryable,
            run_id: event.run_id.clone(),
            usage: failed.usage.unwrap_or_default(),
            snapshot: failed.snapshot.clone(),
        })
}

#[cfg(test)]
mod tests {
    use super::{ReplyStatus, Told};
    use crate::{
        Code,
        telling::{approval, asks, completed, failed, said, suspended, written},
        v1::{Event, FailureCode},
    };

    fn told(events: &[Event]) -> Told {
        let mut told = Told::default();
        for event in events {
            told.take(event);
        }
        told
    }

    #[test]
    fn a_message_that_was_too_large_for_the_reply_is_that_of_the_checkpoint() {
        let events = [written(2, vec![said("m2.1", "done")]), completed(2, "done", "m2.1")];
        let reply = told(&events).reply(vec![]).unwrap();
        assert_eq!((reply.status, reply.text.as_str()), (ReplyStatus::Completed, "done"));
        assert_eq!(reply.message, Some(said("m2.1", "done")));
    }

    #[test]
    fn approvals_that_the_last_event_had_no_room_for_are_those_that_were_asked_in_its_version() {
        let events = [asks(1, "u.a1.1"), asks(2, "u.a2.1"), asks(2, "u.a2.2"), suspended(2, &["u.a2.1"], 2)];
        let told = told(&events);
        assert_eq!(told.asks_for_more(), None);
        let ids: Vec<String> = told.reply(vec![]).unwrap().approvals.into_iter().map(|each| each.id).collect();
        assert_eq!(ids, ["u.a2.1", "u.a2.2"]);
    }

    #[test]
    fn approvals_that_no_event_had_are_listed() {
        let told = told(&[suspended(2, &["u.a2.1"], 2)]);
        assert_eq!(told.asks_for_more(), Some("t-1"));
        assert_eq!(told.reply(vec![approval("u.a2.1"), approval("u.a2.2")]).unwrap().approvals.len(), 2);
    }

    #[test]
    fn a_run_that_failed_is_an_error_that_says_why() {
        let error = told(&[failed(2, FailureCode::ModelUnavailable)]).reply(vec![]).unwrap_err();
        assert_eq!((error.code(), error.message()), (&Code::RunFailed, "it failed"));
        assert_eq!(error.metadata()["run_id"], "u.r1");
        assert_eq!(error.failure().unwrap().code, FailureCode::ModelUnavailable);
        let error = told(&[failed(2, FailureCode::Cancelled)]).reply(vec![]).unwrap_err();
        assert_eq!(error.code(), &Code::Cancelled);
    }

    #[test]
    fn a_stream_without_a_last_word_has_no_reply() {
        assert_eq!(told(&[written(1, vec![])]).reply(vec![]).unwrap_err().code(), &Code::StreamCut);
    }
}
