//! The verbs that change a thread from outside a run, with their options.

use std::{pin::Pin, time::Duration};

use serde::Serialize;

use crate::{
    Error, OnBusy, Result,
    attempt::Place,
    call::timed,
    json_text::encode_object,
    options::{new_request_id, wire_duration, wire_on_busy},
    v1::{
        CancelRunRequest, Checkpoint, CopyThreadRequest, DeleteThreadRequest, RewindRequest, UpdateStateRequest,
        update_state_request,
    },
};

/// How long a server waits for a busy thread unless it is told.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// A change that is about to be made: `await` it.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is awaited"]
pub struct Change<V> {
    place: Place,
    options: ChangeOptions,
    verb: V,
}

/// What the changes have in common.
#[derive(Debug, Clone, Default)]
pub struct ChangeOptions {
    expected_version: Option<i64>,
    request_id: Option<String>,
    on_busy: Option<OnBusy>,
    busy_timeout: Option<Duration>,
}

impl ChangeOptions {
    fn request_id(&self) -> String {
        self.request_id.clone().unwrap_or_else(new_request_id)
    }

    fn wire_busy_timeout(&self) -> Result<Option<prost_types::Duration>> {
        wire_duration(self.busy_timeout, "busy_timeout")
    }

    /// The time of a call that may wait for its turn first.
    fn limit(&self, place: &Place) -> Duration {
        place.connection.settings().timeout.saturating_add(self.busy_timeout.unwrap_or(BUSY_TIMEOUT))
    }
}

impl<V> Change<V> {
    pub(crate) fn new(place: Place, verb: V) -> Self {
        Self { place, options: ChangeOptions::default(), verb }
    }

    /// The version that the thread must have.
    pub fn expected_version(mut self, version: i64) -> Self {
        self.options.expected_version = Some(version);
        self
    }

    /// Names the request, as [`Attempt::request_id`](crate::Attempt::request_id).
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.options.request_id = Some(id.into());
        self
    }
}

impl<V: TakesTurns> Change<V> {
    /// What to do while a run or write holds the thread. By default the server's choice, which is to wait.
    pub fn on_busy(mut self, on_busy: OnBusy) -> Self {
        self.options.on_busy = Some(on_busy);
        self
    }

    /// How long to wait for the thread, up to an hour; by default the server's choice, which is 60 s. The call's own time comes on top of it.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.options.busy_timeout = Some(timeout);
        self
    }
}

/// What [`Change`] is a change of.
pub trait ChangeVerb: Send + 'static {
    /// What it gives.
    type Output;

    #[doc(hidden)]
    fn make(self, place: Place, options: ChangeOptions) -> impl Future<Output = Result<Self::Output>> + Send;
}

/// The changes that wait for their turn on a busy thread.
pub trait TakesTurns {}

impl<V: ChangeVerb> IntoFuture for Change<V> {
    type Output = Result<V::Output>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.verb.make(self.place, self.options))
    }
}

/// The verb of `update_state`: values that replace those of the same names, and names to remove.
#[derive(Debug, Clone)]
pub struct UpdateState {
    values: Result<String>,
    remove_keys: Vec<String>,
    replace: bool,
    force: bool,
    as_node: String,
}

impl UpdateState {
    pub(crate) fn with(values: &(impl Serialize + ?Sized)) -> Self {
        let values = encode_object(values, "state_json");
        Self { values, remove_keys: Vec::new(), replace: false, force: false, as_node: String::new() }
    }
}

impl Change<UpdateState> {
    /// Top-level keys to remove; one that is not there is no error.
    pub fn remove_keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.verb.remove_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Makes the state these values and nothing else.
    pub fn replace(mut self) -> Self {
        self.verb.replace = true;
        self
    }

    /// Writes to a thread that waits for decisions, too; they stay to be made.
    pub fn force(mut self) -> Self {
        self.verb.force = true;
        self
    }

    /// Takes the values for what this node of a workflow returned: `retry` goes on with what follows it.
    pub fn as_node(mut self, node: impl Into<String>) -> Self {
        self.verb.as_node = node.into();
        self
    }
}

impl TakesTurns for UpdateState {}

impl ChangeVerb for UpdateState {
    type Output = Checkpoint;

    async fn make(self, place: Place, options: ChangeOptions) -> Result<Checkpoint> {
        let state_json = self.values?.into();
        let change = if self.replace {
            if !self.remove_keys.is_empty() {
                return Err(Error::argument(
                    "remove_keys",
                    "a state that is replaced keeps no key that could be removed",
                ));
            }
            update_state_request::Change::Replace(update_state_request::Replace { state_json })
        } else {
            update_state_request::Change::Merge(update_state_request::Merge {
                state_json,
                remove_keys: self.remove_keys,
            })
        };
        let limit = options.limit(&place);
        let request = UpdateStateRequest {
            request_id: options.request_id(),
            expected_version: options.expected_version,
            on_busy: wire_on_busy(options.on_busy),
            busy_timeout: options.wire_busy_timeout()?,
            thread_id: place.thread_id.unwrap_or_default(),
            app: place.app,
            actor: place.actor,
            change: Some(change),
            force: self.force,
            as_node: self.as_node,
        };
        let to = place.connection;
        Ok(to.ask(to.threads().update_state(timed(request, Some(limit)))).await?.checkpoint.unwrap_or_default())
    }
}

/// The verb of `rewind`: an older checkpoint is the head again.
#[derive(Debug, Clone)]
pub struct Rewind {
    pub(crate) checkpoint_id: String,
}

impl TakesTurns for Rewind {}

impl ChangeVerb for Rewind {
    type Output = Checkpoint;

    async fn make(self, place: Place, options: ChangeOptions) -> Result<Checkpoint> {
        let limit = options.limit(&place);
        let request = RewindRequest {
            request_id: options.request_id(),
            expected_version: options.expected_version,
            on_busy: wire_on_busy(options.on_busy),
            busy_timeout: options.wire_busy_timeout()?,
            thread_id: place.thread_id.unwrap_or_default(),
            checkpoint_id: self.checkpoint_id,
            actor: place.actor,
        };
        let to = place.connection;
        Ok(to.ask(to.checkpoints().rewind(timed(request, Some(limit)))).await?.checkpoint.unwrap_or_default())
    }
}

/// The verb of `copy`: a new thread that owns all it has.
#[derive(Debug, Clone)]
pub struct Copy {
    pub(crate) target_id: String,
    pub(crate) checkpoint_id: String,
}

impl Change<Copy> {
    /// The last checkpoint to take; by default the head.
    pub fn checkpoint(mut self, checkpoint_id: impl Into<String>) -> Self {
        self.verb.checkpoint_id = checkpoint_id.into();
        self
    }
}

impl ChangeVerb for Copy {
    type Output = crate::Thread;

    async fn make(self, place: Place, options: ChangeOptions) -> Result<crate::Thread> {
        let request = CopyThreadRequest {
            request_id: options.request_id(),
            expected_version: options.expected_version,
            thread_id: place.thread_id.clone().unwrap_or_default(),
            target_thread_id: self.target_id.clone(),
            checkpoint_id: self.checkpoint_id,
        };
        place.connection.ask(place.connection.threads().copy_thread(request)).await?;
        Ok(crate::Thread::at(Place { thread_id: Some(self.target_id), ..place }))
    }
}

/// The verb of `cancel`: the run at the thread's head is stopped, and saved.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    run_id: String,
    started_by_request_id: String,
}

impl Change<Cancel> {
    /// Only this run; where it is not the newest: [`Code::RunNotFound`](crate::Code::RunNotFound).
    pub fn run_id(mut self, run_id: impl Into<String>) -> Self {
        self.verb.run_id = run_id.into();
        self
    }

    /// Only what the request with this id began, or waits for. Not together with `run_id`.
    pub fn started_by_request_id(mut self, request_id: impl Into<String>) -> Self {
        self.verb.started_by_request_id = request_id.into();
        self
    }
}

impl ChangeVerb for Cancel {
    type Output = Checkpoint;

    async fn make(self, place: Place, options: ChangeOptions) -> Result<Checkpoint> {
        let request = CancelRunRequest {
            request_id: options.request_id(),
            expected_version: options.expected_version,
            thread_id: place.thread_id.unwrap_or_default(),
            run_id: self.run_id,
            started_by_request_id: self.started_by_request_id,
            actor: place.actor,
        };
        let to = place.connection;
        Ok(to.ask(to.runs().cancel_run(request)).await?.checkpoint.unwrap_or_default())
    }
}

/// The verb of `delete`: the thread is gone for good.
#[derive(Debug, Clone)]
pub struct Delete;

impl ChangeVerb for Delete {
    type Output = bool;

    async fn make(self, place: Place, options: ChangeOptions) -> Result<bool> {
        let request = DeleteThreadRequest {
            request_id: options.request_id(),
            expected_version: options.expected_version,
            thread_id: place.thread_id.unwrap_or_default(),
        };
        let to = place.connection;
        Ok(to.ask(to.threads().delete_thread(request)).await?.existed)
    }
}
