//! The verbs that start an attempt, with their options.

use std::{pin::Pin, time::Duration};

use serde::Serialize;

use crate::{
    Code, Decision, Error, EventStream, Limits, OnBusy, Reply, Result,
    approvals::{Pending, pending},
    call::Request,
    connection::Connection,
    event_reader::EventReader,
    json_text::{encode, encode_object},
    options::{AttemptOptions, new_request_id},
    source::{Making, Source, Starter},
    v1::{
        self, Content, DecideRequest, Part, ResumeRequest, RetryRequest, RunOptions, SendRequest, resume_request,
        send_request,
    },
};

/// A send, run, decision, resume or retry that is about to be made.
///
/// `await` it for its [`Reply`], or [`stream`](Self::stream) its events. Nothing is sent before, and dropping the future cancels the run, as
/// dropping the stream does.
///
/// ```no_run
/// # async fn ask(client: clew::Client) -> clew::Result<()> {
/// use clew::OnBusy;
///
/// let thread = client.app("support").thread("ticket-7");
/// let reply = thread.send("Where is order A-1001?").on_busy(OnBusy::Reject).await?;
/// println!("{}", reply.text);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is awaited or its stream is read"]
pub struct Attempt<V> {
    pub(crate) place: Place,
    pub(crate) options: AttemptOptions,
    pub(crate) verb: V,
}

/// The thread that an attempt is made on, by its names; without an id it is a run without a thread.
#[derive(Debug, Clone)]
pub struct Place {
    pub(crate) connection: Connection,
    pub(crate) app: String,
    pub(crate) thread_id: Option<String>,
    pub(crate) actor: String,
}

impl<V> Attempt<V> {
    pub(crate) fn new(place: Place, verb: V) -> Self {
        Self { place, options: AttemptOptions::default(), verb }
    }

    /// What to do while another run or write holds the thread. By default the server's choice, which is to wait.
    pub fn on_busy(mut self, on_busy: OnBusy) -> Self {
        self.options.on_busy = Some(on_busy);
        self
    }

    /// How long to wait for the thread, up to an hour; by default the server's choice, which is 60 s.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.options.busy_timeout = Some(timeout);
        self
    }

    /// What the attempt may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = Some(limits);
        self
    }

    /// The version that the thread must have; 0 for one that there is not yet.
    pub fn expected_version(mut self, version: i64) -> Self {
        self.options.expected_version = Some(version);
        self
    }

    /// Names the request: 1 to 128 visible characters of ASCII, made up unless given. The same id again gives the same outcome, for 24 hours.
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.options.request_id = Some(id.into());
        self
    }

    /// For the whole call. When it is over, the call fails with [`Code::DeadlineExceeded`], and a run that has started goes on.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }
}

impl<V: Verb> Attempt<V> {
    /// The events as they happen.
    pub fn stream(self) -> EventStream {
        let Self { place, options, verb } = self;
        let limit = options.timeout;
        let starter = Starter {
            thread_id: place.thread_id.clone().unwrap_or_default(),
            actor: place.actor.clone(),
            request: match frame(&place, options).map(|frame| verb.request(frame)) {
                Ok(Asked::Now(request)) => Ok(request),
                Ok(Asked::Later(all)) => Err(Box::new(move |connection| all.clone().read(connection))),
                Err(error) | Ok(Asked::Never(error)) => Err(Box::new(move |_| refused(error.clone()))),
            },
        };
        EventStream::new(EventReader::new(place.connection, Source::Attempt(Box::new(starter)), limit))
    }
}

impl<V: Verb> IntoFuture for Attempt<V> {
    type Output = Result<Reply>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Reply>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.stream().reply())
    }
}

fn refused(error: Error) -> Making {
    Box::pin(async move { Err(error) })
}

fn frame(place: &Place, options: AttemptOptions) -> Result<Frame> {
    if place.thread_id.as_ref().is_some_and(String::is_empty) {
        // Said here, since a request without one is a run without a thread: the server would take it, and keep nothing.
        let text = "thread_id: an id is needed: 1 to 128 characters";
        return Err(Error::new(Code::IdInvalid, tonic::Code::InvalidArgument, text).about("field", "thread_id"));
    }
    Ok(Frame {
        app: place.app.clone(),
        thread_id: place.thread_id.clone().unwrap_or_default(),
        options: Some(options.wire(&place.actor)?),
        expected_version: options.expected_version,
        request_id: options.request_id.unwrap_or_else(new_request_id),
    })
}

/// What requests that start an attempt have in common.
#[derive(Debug, Clone)]
pub struct Frame {
    app: String,
    thread_id: String,
    request_id: String,
    expected_version: Option<i64>,
    options: Option<RunOptions>,
}

/// A request, or how it comes to be.
#[derive(Debug)]
pub enum Asked {
    /// What it says is known.
    Now(Request),
    /// It is about all that waits.
    Later(All),
    /// It was made of what cannot be sent.
    Never(Error),
}

impl From<Result<Request>> for Asked {
    fn from(made: Result<Request>) -> Self {
        made.map_or_else(Self::Never, Self::Now)
    }
}

/// What [`Attempt`] is an attempt of.
pub trait Verb: Send + 'static {
    #[doc(hidden)]
    fn request(self, frame: Frame) -> Asked;
}

/// What is said to an app: a text, or parts as the contract has them.
#[derive(Debug, Clone)]
pub struct Input(pub(crate) send_request::Input);

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self(send_request::Input::Text(text))
    }
}

impl From<&String> for Input {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Vec<Part>> for Input {
    fn from(parts: Vec<Part>) -> Self {
        Self(send_request::Input::Content(Content { parts }))
    }
}

/// The verb of `send` and `run`: an input for the app.
#[derive(Debug, Clone)]
pub struct Turn {
    input: Result<send_request::Input>,
    state: Option<Result<String>>,
    metadata: Option<Result<String>>,
    user_id: String,
}

impl Turn {
    pub(crate) fn message(input: Input) -> Self {
        Self { input: Ok(input.0), state: None, metadata: None, user_id: String::new() }
    }

    pub(crate) fn values(values: &(impl Serialize + ?Sized)) -> Self {
        let input = encode_object(values, "input_json").map(|text| send_request::Input::InputJson(text.into()));
        Self { input, state: None, metadata: None, user_id: String::new() }
    }
}

impl Attempt<Turn> {
    /// Values that replace those of the same names in the thread's state before the run begins: what serializes to a JSON object.
    pub fn state(mut self, values: impl Serialize) -> Self {
        self.verb.state = Some(encode_object(&values, "state_json"));
        self
    }

    /// Whom a thread that this makes belongs to, up to 256 bytes.
    pub fn user_id(mut self, user_id: impl Into<String>) -> Self {
        self.verb.user_id = user_id.into();
        self
    }

    /// The metadata of a thread that this makes: what serializes to a JSON object, up to 64 KiB.
    pub fn metadata(mut self, metadata: impl Serialize) -> Self {
        self.verb.metadata = Some(encode_object(&metadata, "metadata_json"));
        self
    }
}

impl Verb for Turn {
    fn request(self, frame: Frame) -> Asked {
        let made = || {
            Ok(Request::Send(Box::new(SendRequest {
                thread_id: frame.thread_id,
                app: frame.app,
                input: Some(self.input?),
                state_json: self.state.transpose()?.unwrap_or_default().into(),
                request_id: frame.request_id,
                expected_version: frame.expected_version,
                options: frame.options,
                user_id: self.user_id,
                metadata_json: self.metadata.transpose()?.unwrap_or_default(),
            })))
        };
        made().into()
    }
}

/// The verb of `decide`: decisions, all or none.
#[derive(Debug, Clone)]
pub struct Decide {
    pub(crate) decisions: Vec<Decision>,
}

impl Verb for Decide {
    fn request(self, frame: Frame) -> Asked {
        decide(frame, self.decisions, None).into()
    }
}

/// The verb of `approve`.
#[derive(Debug, Clone, Default)]
pub struct Approve {
    ids: Vec<String>,
    arguments: Option<Result<serde_json::Value>>,
}

impl Attempt<Approve> {
    /// Only these; by default all that the thread waits for when this is made.
    pub fn ids(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.verb.ids = ids.into_iter().map(Into::into).collect();
        self
    }

    /// Arguments to run instead of those that were asked for: what serializes to a JSON object that the tool's schema allows.
    pub fn arguments(mut self, arguments: impl Serialize) -> Self {
        let value = serde_json::to_value(arguments).map_err(|error| Error::argument("arguments", error));
        self.verb.arguments = Some(value);
        self
    }
}

impl Verb for Approve {
    fn request(self, frame: Frame) -> Asked {
        let choice = match self.arguments.transpose() {
            Ok(arguments) => Choice::Approve(arguments),
            Err(error) => return Asked::Never(error),
        };
        choice.of(self.ids, frame)
    }
}

/// The verb of `reject`.
#[derive(Debug, Clone)]
pub struct Reject {
    pub(crate) reason: String,
    pub(crate) ids: Vec<String>,
}

impl Attempt<Reject> {
    /// Only these; by default all that the thread waits for when this is made.
    pub fn ids(mut self, ids: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.verb.ids = ids.into_iter().map(Into::into).collect();
        self
    }
}

impl Verb for Reject {
    fn request(self, frame: Frame) -> Asked {
        Choice::Reject(self.reason).of(self.ids, frame)
    }
}

/// The verb of `resume`: the answer to the one pause that waits.
#[derive(Debug, Clone)]
pub struct Resume {
    value: Result<String>,
}

impl Resume {
    pub(crate) fn with(value: &(impl Serialize + ?Sized)) -> Self {
        Self { value: encode(value, "value_json") }
    }
}

impl Verb for Resume {
    fn request(self, frame: Frame) -> Asked {
        let made = self.value.map(|value_json| {
            Request::Resume(ResumeRequest {
                target: Some(resume_request::Target::ThreadId(frame.thread_id)),
                value_json,
                request_id: frame.request_id,
                expected_version: frame.expected_version,
                options: frame.options,
                // The app is that of a snapshot.
                app: String::new(),
            })
        });
        made.into()
    }
}

/// The verb of `retry`.
#[derive(Debug, Clone)]
pub struct Retry;

impl Verb for Retry {
    fn request(self, frame: Frame) -> Asked {
        Asked::Now(Request::Retry(RetryRequest {
            thread_id: frame.thread_id,
            request_id: frame.request_id,
            expected_version: frame.expected_version,
            options: frame.options,
        }))
    }
}

/// What is decided alike on several approvals.
#[derive(Debug, Clone)]
enum Choice {
    Approve(Option<serde_json::Value>),
    Reject(String),
}

impl Choice {
    /// On these approvals; on all that waits where none is named.
    fn of(self, ids: Vec<String>, frame: Frame) -> Asked {
        if ids.is_empty() {
            return Asked::Later(All { frame, choice: self });
        }
        decide(frame, ids.into_iter().map(|id| self.decision(id)).collect(), None).into()
    }

    fn decision(&self, id: String) -> Decision {
        match self {
            Self::Approve(None) => Decision::approve(id),
            Self::Approve(Some(arguments)) => Decision::approve_with(id, arguments),
            Self::Reject(reason) => Decision::reject(id, reason),
        }
    }
}

/// A decision on all that waits.
#[derive(Debug, Clone)]
pub struct All {
    frame: Frame,
    choice: Choice,
}

impl All {
    /// Reads what waits, and decides it as of the version that it was read at.
    fn read(self, connection: Connection) -> Making {
        Box::pin(async move {
            let found = match pending(&connection, &self.frame.thread_id).await {
                Err(error) if *error.code() == Code::ThreadNotFound => Pending::default(),
                found => found?,
            };
            if found.approvals.is_empty() {
                let thread_id = self.frame.thread_id;
                let text = format!("thread {thread_id} waits for no decision");
                let error = Error::new(Code::ResumeInvalid, tonic::Code::FailedPrecondition, text);
                return Err(error.about("thread_id", thread_id));
            }
            let decisions = found.approvals.into_iter().map(|each| self.choice.decision(each.id)).collect();
            decide(self.frame, decisions, Some(found.version))
        })
    }
}

fn decide(frame: Frame, decisions: Vec<Decision>, read_at: Option<i64>) -> Result<Request> {
    let decisions: Vec<v1::Decision> = decisions.into_iter().map(Decision::wire).collect::<Result<_>>()?;
    Ok(Request::Decide(DecideRequest {
        thread_id: frame.thread_id,
        decisions,
        request_id: frame.request_id,
        expected_version: frame.expected_version.or(read_at),
        options: frame.options,
        snapshot: Vec::new(),
        app: String::new(),
    }))
}
