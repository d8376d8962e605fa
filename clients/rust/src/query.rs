//! The verbs that read a thread, with their options.

use std::{marker::PhantomData, pin::Pin};

use serde::de::DeserializeOwned;

use crate::{
    Result,
    attempt::Place,
    json_text::decode,
    v1::{Checkpoint, GetStateRequest, ListCheckpointsRequest, ListMessagesRequest, Message, MessageOrder},
};

const MOST_MESSAGES: usize = 500;
const MOST_CHECKPOINTS: usize = 200;

/// A read that is about to be made: `await` it.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before it is awaited"]
pub struct Query<V> {
    place: Place,
    verb: V,
}

impl<V> Query<V> {
    pub(crate) fn new(place: Place, verb: V) -> Self {
        Self { place, verb }
    }
}

/// What [`Query`] asks for.
pub trait QueryVerb: Send + 'static {
    /// What it gives.
    type Output;

    #[doc(hidden)]
    fn read(self, place: Place) -> impl Future<Output = Result<Self::Output>> + Send;
}

impl<V: QueryVerb> IntoFuture for Query<V> {
    type Output = Result<V::Output>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.verb.read(self.place))
    }
}

/// Where a list of messages begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// With the beginning of the conversation.
    #[default]
    OldestFirst,
    /// With its end.
    NewestFirst,
}

/// The verb of `messages`.
#[derive(Debug, Clone, Default)]
pub struct Messages {
    search: String,
    order: Order,
    limit: Option<usize>,
    reasoning: bool,
}

impl Query<Messages> {
    /// Only messages that have all of these words, whatever their case and accents; up to 256 bytes.
    pub fn search(mut self, words: impl Into<String>) -> Self {
        self.verb.search = words.into();
        self
    }

    /// From the beginning, or from the end.
    pub fn order(mut self, order: Order) -> Self {
        self.verb.order = order;
        self
    }

    /// At most that many; by default all.
    pub fn limit(mut self, limit: usize) -> Self {
        self.verb.limit = Some(limit);
        self
    }

    /// With what models thought.
    pub fn reasoning(mut self) -> Self {
        self.verb.reasoning = true;
        self
    }
}

impl QueryVerb for Messages {
    type Output = Vec<Message>;

    async fn read(self, place: Place) -> Result<Vec<Message>> {
        let order = match self.order {
            Order::OldestFirst => MessageOrder::OldestFirst,
            Order::NewestFirst => MessageOrder::NewestFirst,
        };
        let mut request = ListMessagesRequest {
            thread_id: place.thread_id.unwrap_or_default(),
            order: order.into(),
            include_reasoning: self.reasoning,
            search: self.search,
            ..Default::default()
        };
        let to = place.connection;
        let mut found = Vec::new();
        while let Some(page_size) = page_size(self.limit, found.len(), MOST_MESSAGES) {
            request.page_size = page_size;
            let page = to.ask(to.threads().list_messages(request.clone())).await?;
            found.extend(page.messages);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        Ok(found)
    }
}

/// The verb of `history`.
#[derive(Debug, Clone, Default)]
pub struct History {
    limit: Option<usize>,
}

impl Query<History> {
    /// At most that many; by default all.
    pub fn limit(mut self, limit: usize) -> Self {
        self.verb.limit = Some(limit);
        self
    }
}

impl QueryVerb for History {
    type Output = Vec<Checkpoint>;

    async fn read(self, place: Place) -> Result<Vec<Checkpoint>> {
        let thread_id = place.thread_id.unwrap_or_default();
        let mut request = ListCheckpointsRequest { thread_id, ..Default::default() };
        let to = place.connection;
        let mut found = Vec::new();
        while let Some(page_size) = page_size(self.limit, found.len(), MOST_CHECKPOINTS) {
            request.page_size = page_size;
            let page = to.ask(to.checkpoints().list_checkpoints(request.clone())).await?;
            found.extend(page.checkpoints);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        Ok(found)
    }
}

/// The verb of `state`, which is read as a `T`.
#[derive(Debug)]
pub struct State<T> {
    checkpoint_id: String,
    allow_stale: bool,
    // A function, since whether a `T` may be sent matters only when there is one.
    made: PhantomData<fn() -> T>,
}

impl<T> State<T> {
    pub(crate) fn of_head() -> Self {
        Self { checkpoint_id: String::new(), allow_stale: false, made: PhantomData }
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self { checkpoint_id: self.checkpoint_id.clone(), ..*self }
    }
}

impl<T> Query<State<T>> {
    /// The state as of this checkpoint; by default the head's.
    pub fn checkpoint(mut self, checkpoint_id: impl Into<String>) -> Self {
        self.verb.checkpoint_id = checkpoint_id.into();
        self
    }

    /// Takes a large state from the server's cache, as it was at an earlier version, without a look at the database.
    pub fn allow_stale(mut self) -> Self {
        self.verb.allow_stale = true;
        self
    }
}

impl<T: DeserializeOwned + 'static> QueryVerb for State<T> {
    type Output = T;

    async fn read(self, place: Place) -> Result<T> {
        let request = GetStateRequest {
            thread_id: place.thread_id.unwrap_or_default(),
            checkpoint_id: self.checkpoint_id,
            allow_stale: self.allow_stale,
        };
        let to = place.connection;
        let state = to.ask(to.threads().get_state(request)).await?.state_json;
        decode(if state.is_empty() { b"{}" } else { &state }, "state_json")
    }
}

/// How many to ask for next; none when there are enough.
fn page_size(limit: Option<usize>, found: usize, most: usize) -> Option<i32> {
    let left = limit.map_or(most, |limit| limit.saturating_sub(found).min(most));
    i32::try_from(left).ok().filter(|left| *left > 0)
}

#[cfg(test)]
mod tests {
    use super::page_size;

    #[test]
    fn pages_are_as_large_as_may_be_and_no_larger_than_what_is_left() {
        assert_eq!(page_size(None, 1000, 500), Some(500));
        assert_eq!(page_size(Some(700), 0, 500), Some(500));
        assert_eq!(page_size(Some(700), 500, 500), Some(200));
        assert_eq!(page_size(Some(700), 700, 500), None);
        assert_eq!(page_size(Some(0), 0, 500), None);
    }
}
