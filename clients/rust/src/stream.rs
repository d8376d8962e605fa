//! Streams as their readers hold them.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tokio::{runtime::Handle, sync::oneshot};

use crate::{Result, approvals::pending, event_reader::EventReader, reply::Reply, reply::Told, v1::Event};

/// The events of a thread or of one attempt, each once, however often the connection breaks.
///
/// Nothing is sent before the first event is asked for, and a refusal comes then. An error ends the stream.
///
/// Dropping an attempt's stream before its end leaves it: the run is cancelled by a task of its own, and `retry` continues it. [`leave`](Self::leave)
/// waits for that. A connection that breaks and a timeout that is over leave nothing: the run goes on. Leaving a watch has no effect on any run.
#[must_use = "nothing is sent before the first event is asked for"]
pub struct EventStream {
    /// None once it was left.
    reader: Option<EventReader>,
    told: Told,
    /// Where it was first polled: it may be dropped elsewhere.
    runtime: Option<Handle>,
}

impl EventStream {
    pub(crate) fn new(reader: EventReader) -> Self {
        Self { reader: Some(reader), told: Told::default(), runtime: None }
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    ///
    /// With what the call was refused with, or what the last break was where the stream could not be joined again in time.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Reads to the end, and gives what the attempt came to. Events that were read before count as well.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next); [`Code::RunFailed`](crate::Code::RunFailed) and [`Code::Cancelled`](crate::Code::Cancelled) for a run that failed or was
    /// cancelled.
    pub async fn reply(mut self) -> Result<Reply> {
        while let Some(event) = self.next().await {
            event?;
        }
        let told = std::mem::take(&mut self.told);
        let connection = self.reader.as_ref().map(|reader| reader.connection.clone());
        let listed = match (told.asks_for_more(), connection) {
            (Some(thread_id), Some(connection)) => pending(&connection, thread_id).await?.approvals,
            _ => Vec::new(),
        };
        told.reply(listed)
    }

    /// Leaves the stream, and waits until that has its effect: the run of an attempt is cancelled, or the client's leave timeout is over. Harmless
    /// at the end.
    pub async fn leave(mut self) {
        if let Some(left) = self.begin_to_leave() {
            // Nobody answers where the runtime ends before.
            let _ = left.await;
        }
    }

    fn begin_to_leave(&mut self) -> Option<oneshot::Receiver<()>> {
        let reader = self.reader.take().filter(EventReader::is_under_way)?;
        let runtime = self.runtime.take()?;
        let (left, waits) = oneshot::channel();
        let connection = reader.connection.clone();
        connection.spawn(&runtime, async move {
            reader.part().await;
            let _ = left.send(());
        });
        Some(waits)
    }
}

impl Stream for EventStream {
    type Item = Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        this.runtime.get_or_insert_with(Handle::current);
        let Some(reader) = &mut this.reader else { return Poll::Ready(None) };
        let next = reader.poll_event(context);
        if let Poll::Ready(Some(Ok(event))) = &next {
            this.told.take(event);
        }
        next
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        drop(self.begin_to_leave());
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("EventStream").finish_non_exhaustive()
    }
}
