//! Looking on.

use std::time::Duration;

use crate::{
    EventStream,
    connection::Connection,
    event_reader::EventReader,
    source::{Source, Watcher},
    v1::WatchRequest,
};

/// A watch that is about to be made: [`stream`](Self::stream) begins it. Leaving it has no effect on any run.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before its stream is read"]
pub struct Watch {
    connection: Connection,
    request: WatchRequest,
    timeout: Option<Duration>,
}

impl Watch {
    pub(crate) fn new(connection: Connection, thread_id: String) -> Self {
        Self { connection, request: WatchRequest { thread_id, ..Default::default() }, timeout: None }
    }

    /// Begins after this version, the last that the reader has whole. By default with the thread's beginning.
    pub fn after_version(mut self, version: i64) -> Self {
        self.request.after_version = version;
        self
    }

    /// Ends with the first end of this run after the version. By default the watch ends when the thread is at rest.
    pub fn run_id(mut self, run_id: impl Into<String>) -> Self {
        self.request.run_id = run_id.into();
        self
    }

    /// Stays for later runs, until it is left. Not together with `run_id`.
    pub fn follow(mut self, follow: bool) -> Self {
        self.request.follow = follow;
        self
    }

    /// For the whole watch. When it is over, the stream ends with [`Code::DeadlineExceeded`](crate::Code::DeadlineExceeded).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What is in the log after the version, then what happens.
    pub fn stream(self) -> EventStream {
        let watcher = Watcher { request: self.request, rests: false };
        EventStream::new(EventReader::new(self.connection, Source::Watch(watcher), self.timeout))
    }
}
