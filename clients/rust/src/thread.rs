//! The handle of a thread.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Attempt, Change, Decision, Input, Query, Result, Watch,
    approvals::pending,
    attempt::{self, Place},
    change, query,
    v1::{self, Approval, GetThreadRequest},
};

/// A thread by its id. It holds names only: make one wherever it is handy; two on one id are the same thread.
///
/// The thread itself is made by its first `send` or `run`. Every call fails with an [`Error`](crate::Error).
#[derive(Debug, Clone)]
pub struct Thread {
    place: Place,
}

impl Thread {
    pub(crate) fn at(place: Place) -> Self {
        Self { place }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.place.thread_id.as_deref().unwrap_or_default()
    }

    /// The same thread, used on behalf of someone: a name that is recorded with what is done, up to 256 bytes.
    #[must_use]
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.place.actor = actor.into();
        self
    }

    /// Sends a message to an agent, and runs its turn.
    pub fn send(&self, message: impl Into<Input>) -> Attempt<attempt::Turn> {
        self.attempt(attempt::Turn::message(message.into()))
    }

    /// Begins a run of a workflow with values for its state: what serializes to a JSON object.
    pub fn run(&self, values: impl Serialize) -> Attempt<attempt::Turn> {
        self.attempt(attempt::Turn::values(&values))
    }

    /// Decides approvals, all or none. The run goes on when the last one is decided.
    pub fn decide(&self, decisions: impl IntoIterator<Item = Decision>) -> Attempt<attempt::Decide> {
        self.attempt(attempt::Decide { decisions: decisions.into_iter().collect() })
    }

    /// Approves tool calls: all that the thread waits for, as it stands when this is made, unless ids are given. Where nothing waits:
    /// [`Code::ResumeInvalid`](crate::Code::ResumeInvalid).
    pub fn approve(&self) -> Attempt<attempt::Approve> {
        self.attempt(attempt::Approve::default())
    }

    /// Rejects tool calls and pauses, as [`approve`](Self::approve) approves. The model reads the reason, up to 4 KiB.
    pub fn reject(&self, reason: impl Into<String>) -> Attempt<attempt::Reject> {
        self.attempt(attempt::Reject { reason: reason.into(), ids: Vec::new() })
    }

    /// Answers the one pause that the thread waits with: a value that the pause's schema allows.
    pub fn resume(&self, value: impl Serialize) -> Attempt<attempt::Resume> {
        self.attempt(attempt::Resume::with(&value))
    }

    /// Continues a failed, cancelled or interrupted run where it stopped. Finished tool calls are not run again.
    pub fn retry(&self) -> Attempt<attempt::Retry> {
        self.attempt(attempt::Retry)
    }

    /// Looks on: what is in the log, then what happens.
    pub fn watch(&self) -> Watch {
        Watch::new(self.place.connection.clone(), self.id().to_owned())
    }

    /// The conversation, from its beginning.
    pub fn messages(&self) -> Query<query::Messages> {
        self.query(query::Messages::default())
    }

    /// The state, read as any type that a JSON object can be. Whole numbers of 64 bits stay what they are.
    ///
    /// ```no_run
    /// # async fn look(thread: clew::Thread) -> clew::Result<()> {
    /// let state: serde_json::Value = thread.state().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn state<T: DeserializeOwned + 'static>(&self) -> Query<query::State<T>> {
        self.query(query::State::of_head())
    }

    /// The checkpoints of the thread's present line, newest first.
    pub fn history(&self) -> Query<query::History> {
        self.query(query::History::default())
    }

    /// How the thread stands, and whether anyone works on it.
    ///
    /// # Errors
    ///
    /// [`Code::ThreadNotFound`](crate::Code::ThreadNotFound).
    pub async fn info(&self) -> Result<v1::Thread> {
        let to = &self.place.connection;
        let request = GetThreadRequest { thread_id: self.id().to_owned() };
        Ok(to.ask(to.threads().get_thread(request)).await?.thread.unwrap_or_default())
    }

    /// What the thread waits for, oldest first.
    ///
    /// # Errors
    ///
    /// [`Code::ThreadNotFound`](crate::Code::ThreadNotFound).
    pub async fn approvals(&self) -> Result<Vec<Approval>> {
        Ok(pending(&self.place.connection, self.id()).await?.approvals)
    }

    /// Merges values into the state, each top-level value whole: what serializes to a JSON object. Makes the thread where there is none, and gives its
    /// new checkpoint.
    pub fn update_state(&self, values: impl Serialize) -> Change<change::UpdateState> {
        self.change(change::UpdateState::with(&values))
    }

    /// Makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is erased.
    pub fn rewind(&self, checkpoint_id: impl Into<String>) -> Change<change::Rewind> {
        self.change(change::Rewind { checkpoint_id: checkpoint_id.into() })
    }

    /// Copies the thread to a new one that owns all it has, and gives the handle on that.
    pub fn copy(&self, target_id: impl Into<String>) -> Change<change::Copy> {
        self.change(change::Copy { target_id: target_id.into(), checkpoint_id: String::new() })
    }

    /// Cancels the run at the thread's head, and gives the head when that is written. `retry` continues it.
    pub fn cancel(&self) -> Change<change::Cancel> {
        self.change(change::Cancel::default())
    }

    /// Deletes the thread for good; gives whether there was one.
    pub fn delete(&self) -> Change<change::Delete> {
        self.change(change::Delete)
    }

    fn attempt<V>(&self, verb: V) -> Attempt<V> {
        Attempt::new(self.place.clone(), verb)
    }

    fn change<V>(&self, verb: V) -> Change<V> {
        Change::new(self.place.clone(), verb)
    }

    fn query<V>(&self, verb: V) -> Query<V> {
        Query::new(self.place.clone(), verb)
    }
}
