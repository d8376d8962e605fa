#![doc = include_str!("../README.md")]

mod app;
mod approvals;
mod attempt;
mod call;
mod change;
mod client;
mod code;
mod connection;
mod deadline;
mod decision;
mod dialer;
mod error;
mod event_reader;
mod json_text;
mod options;
mod patience;
mod position;
mod query;
mod refusals;
mod reply;
mod retry_policy;
mod settings;
mod shown_text;
mod source;
mod stream;
#[cfg(test)]
mod telling;
mod thread;
mod watch;

/// The contract: its messages, and the stubs of its services.
pub mod v1 {
    #![allow(missing_docs, clippy::all, clippy::pedantic, rustdoc::all)]
    include!("generated/clew.v1.rs");
}

/// What the values of [`Attempt`], [`Change`] and [`Query`] are about: one type a verb of [`Thread`].
pub mod verbs {
    pub use crate::{
        attempt::{Approve, Decide, Reject, Resume, Retry, Turn, Verb},
        change::{Cancel, ChangeVerb, Copy, Delete, Rewind, TakesTurns, UpdateState},
        query::{History, Messages, QueryVerb, State},
    };
}

pub use app::App;
pub use attempt::{Attempt, Input};
pub use change::Change;
pub use client::{Client, ClientBuilder};
pub use code::Code;
pub use connection::Connection;
pub use decision::Decision;
pub use error::{Error, Failure, Result};
pub use options::{Limits, OnBusy};
pub use query::{Order, Query};
pub use reply::{Reply, ReplyStatus};
pub use settings::Tls;
pub use stream::EventStream;
pub use thread::Thread;
pub use v1::{Event, event::Payload};
pub use watch::Watch;
