//! Calls that stream events, whatever started them.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use tonic::{Request as Outgoing, Status, Streaming};

use crate::{
    connection::Connection,
    v1::{
        DecideRequest, DecideResponse, Event, ResumeRequest, ResumeResponse, RetryRequest, RetryResponse, SendRequest,
        SendResponse, WatchRequest, WatchResponse,
    },
};

/// The responses of a call that is open, each with one or more events.
pub(crate) type Responses = Pin<Box<dyn Stream<Item = Result<Vec<Event>, Status>> + Send>>;
/// A call that is about to be open.
pub(crate) type Opening = Pin<Box<dyn Future<Output = Result<Responses, Status>> + Send>>;

/// What starts an attempt, in full: it can be sent again.
#[derive(Debug, Clone)]
pub enum Request {
    Send(Box<SendRequest>),
    Decide(DecideRequest),
    Resume(ResumeRequest),
    Retry(RetryRequest),
}

impl Request {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Send(request) => &request.request_id,
            Self::Decide(request) => &request.request_id,
            Self::Resume(request) => &request.request_id,
            Self::Retry(request) => &request.request_id,
        }
    }

    /// Sends it, with the time that is left.
    pub(crate) fn open(&self, connection: &Connection, left: Option<Duration>) -> Opening {
        let mut runs = connection.runs();
        match self.clone() {
            Self::Send(request) => Box::pin(async move { runs.send(timed(*request, left)).await.map(responses) }),
            Self::Decide(request) => Box::pin(async move { runs.decide(timed(request, left)).await.map(responses) }),
            Self::Resume(request) => Box::pin(async move { runs.resume(timed(request, left)).await.map(responses) }),
            Self::Retry(request) => Box::pin(async move { runs.retry(timed(request, left)).await.map(responses) }),
        }
    }
}

/// Watches, with the time that is left.
pub(crate) fn watch(connection: &Connection, request: WatchRequest, left: Option<Duration>) -> Opening {
    let mut runs = connection.runs();
    Box::pin(async move { runs.watch(timed(request, left)).await.map(responses) })
}

pub(crate) fn timed<T>(request: T, limit: Option<Duration>) -> Outgoing<T> {
    let mut request = Outgoing::new(request);
    if let Some(limit) = limit {
        request.set_timeout(limit);
    }
    request
}

fn responses<T: Carrier>(response: tonic::Response<Streaming<T>>) -> Responses {
    Box::pin(Carried(response.into_inner()))
}

struct Carried<T>(Streaming<T>);

impl<T: Carrier> Stream for Carried<T> {
    type Item = Result<Vec<Event>, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(context).map(|item| item.map(|response| response.map(Carrier::into_events)))
    }
}

/// Every streaming response of the contract that carries events.
trait Carrier: Send + 'static {
    fn into_events(self) -> Vec<Event>;
}

macro_rules! carriers {
    ($($response:ty),+) => {
        $(impl Carrier for $response {
            fn into_events(self) -> Vec<Event> {
                self.events
            }
        })+
    };
}

carriers!(SendResponse, DecideResponse, ResumeResponse, RetryResponse, WatchResponse);
