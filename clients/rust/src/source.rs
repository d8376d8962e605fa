//! What a stream of events is of: an attempt that it starts, or a thread that it looks at.

use std::pin::Pin;

use tonic::Code;

use crate::{
    Result,
    call::{Request, timed},
    connection::Connection,
    options::new_request_id,
    position::Position,
    v1::{CancelRunRequest, WatchRequest},
};

/// What finds out what a request says.
pub(crate) type Making = Pin<Box<dyn Future<Output = Result<Request>> + Send>>;
pub(crate) type Maker = Box<dyn FnMut(Connection) -> Making + Send>;

pub(crate) enum Source {
    Attempt(Box<Starter>),
    Watch(Watcher),
}

/// A send, decide, resume or retry, to the end of its attempt.
pub(crate) struct Starter {
    pub(crate) request: std::result::Result<Request, Maker>,
    pub(crate) thread_id: String,
    pub(crate) actor: String,
}

/// A thread's events after a version.
pub(crate) struct Watcher {
    pub(crate) request: WatchRequest,
    /// Whether the last logged event was a terminal one.
    pub(crate) rests: bool,
}

impl Source {
    pub(crate) fn thread_id(&self) -> &str {
        match self {
            Self::Attempt(starter) => &starter.thread_id,
            Self::Watch(watcher) => &watcher.request.thread_id,
        }
    }

    pub(crate) fn made(&mut self, request: Request) {
        if let Self::Attempt(starter) = self {
            starter.request = Ok(request);
        }
    }

    /// The watch that goes on from a position.
    pub(crate) fn watch(&self, position: &Position) -> WatchRequest {
        let (run_id, follow) = match self {
            Self::Attempt(_) => (position.run_id.clone(), false),
            Self::Watch(watcher) => (watcher.request.run_id.clone(), watcher.request.follow),
        };
        WatchRequest {
            thread_id: self.thread_id().to_owned(),
            thread_uid: position.thread_uid.clone(),
            after_version: position.cursor.unwrap_or(0),
            run_id,
            follow,
        }
    }
}

impl Starter {
    /// What cancels the run, or where none is known what the request began; none where there is nothing to cancel by name: a run without a
    /// thread ends with its call.
    pub(crate) fn cancel(&self, run_id: &str) -> Option<CancelRunRequest> {
        let request = self.request.as_ref().ok().filter(|_| !self.thread_id.is_empty())?;
        Some(CancelRunRequest {
            thread_id: self.thread_id.clone(),
            run_id: run_id.to_owned(),
            started_by_request_id: if run_id.is_empty() { request.id().to_owned() } else { String::new() },
            request_id: new_request_id(),
            actor: self.actor.clone(),
            expected_version: None,
        })
    }
}

/// Whether there was something to cancel. What goes wrong otherwise is a warning: the run goes on, and nobody waits for an answer.
pub(crate) async fn cancelled(connection: &Connection, request: CancelRunRequest) -> bool {
    let (thread_id, run_id) = (request.thread_id.clone(), request.run_id.clone());
    let request = timed(request, Some(connection.settings().leave_timeout));
    match connection.ask(connection.runs().cancel_run(request)).await {
        Err(error) if error.status() == Code::NotFound => return false,
        Err(error) => tracing::warn!(thread_id, run_id, %error, "a run was left, and goes on"),
        Ok(_) => {}
    }
    true
}
