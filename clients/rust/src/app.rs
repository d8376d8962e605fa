//! The handle of an app.

use serde::Serialize;

use crate::{
    Attempt, Input, Thread,
    attempt::{self, Place},
    connection::Connection,
};

/// An agent or workflow that the server runs, by its name.
#[derive(Debug, Clone)]
pub struct App {
    connection: Connection,
    name: String,
}

impl App {
    pub(crate) fn new(connection: Connection, name: String) -> Self {
        Self { connection, name }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A handle on one of its threads, by the id that the caller chose: 1 to 128 characters.
    #[must_use]
    pub fn thread(&self, id: impl Into<String>) -> Thread {
        Thread::at(self.place(Some(id.into())))
    }

    /// Runs an agent once without a thread: nothing is kept, and a run whose stream breaks or is left is cancelled.
    pub fn send(&self, message: impl Into<Input>) -> Attempt<attempt::Turn> {
        Attempt::new(self.place(None), attempt::Turn::message(message.into()))
    }

    /// Runs a workflow once without a thread, as [`send`](Self::send) an agent. The values serialize to a JSON object.
    pub fn run(&self, values: impl Serialize) -> Attempt<attempt::Turn> {
        Attempt::new(self.place(None), attempt::Turn::values(&values))
    }

    fn place(&self, thread_id: Option<String>) -> Place {
        Place { connection: self.connection.clone(), app: self.name.clone(), thread_id, actor: String::new() }
    }
}
