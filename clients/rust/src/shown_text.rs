//! The streamed text that a reader was shown and no checkpoint has confirmed: nothing of it is shown twice, and none is left out.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::{
    Payload,
    v1::{
        Checkpoint, CheckpointSource, CheckpointWritten, Event, FailureCode, Message, MessageDiscarded, ReasoningDelta,
        Role, TextDelta, part,
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Text,
    Reasoning,
}

/// A piece of either kind.
struct Piece {
    kind: Kind,
    message_id: String,
    part_index: i32,
    offset: i64,
    text: String,
}

impl Piece {
    fn payload(self) -> Payload {
        let Self { kind, message_id, part_index, offset, text } = self;
        match kind {
            Kind::Text => Payload::TextDelta(TextDelta { message_id, part_index, offset, text }),
            Kind::Reasoning => Payload::ReasoningDelta(ReasoningDelta { message_id, part_index, offset, text }),
        }
    }
}

/// What the reader has of each part, in bytes of UTF-8.
#[derive(Debug)]
pub(crate) struct ShownText {
    /// Whether the reader is owed the text of every message, also of one that it saw nothing of.
    complete: bool,
    shown: BTreeMap<(String, Kind, i32), i64>,
    settled: HashSet<String>,
    doubtful: BTreeSet<String>,
    joined: bool,
}

impl ShownText {
    pub(crate) fn new(complete: bool) -> Self {
        Self { complete, shown: BTreeMap::new(), settled: HashSet::new(), doubtful: BTreeSet::new(), joined: false }
    }

    /// Another connection carries the stream from here on. What was shown is in doubt until it comes again, or is written.
    pub(crate) fn join(&mut self) {
        self.joined = true;
        self.doubtful = self.shown.keys().map(|(message_id, ..)| message_id.clone()).collect();
    }

    /// Adds the event as the reader needs it: less what it has, and after what it missed.
    pub(crate) fn show(&mut self, mut event: Event, told: &mut Vec<Event>) {
        match event.payload.take() {
            Some(Payload::TextDelta(delta)) => {
                let TextDelta { message_id, part_index, offset, text } = delta;
                self.grow(&event, Piece { kind: Kind::Text, message_id, part_index, offset, text }, told);
                return;
            }
            Some(Payload::ReasoningDelta(delta)) => {
                let ReasoningDelta { message_id, part_index, offset, text } = delta;
                self.grow(&event, Piece { kind: Kind::Reasoning, message_id, part_index, offset, text }, told);
                return;
            }
            payload => event.payload = payload,
        }
        match &event.payload {
            Some(Payload::CheckpointWritten(written)) => self.settle(&event, written, told),
            Some(Payload::RunSuspended(_) | Payload::RunCompleted(_) | Payload::RunFailed(_)) => {
                self.void_doubtful(&event, None, told);
            }
            Some(Payload::RunStarted(_)) => self.forget_all(),
            Some(Payload::MessageDiscarded(discarded)) => self.forget(&discarded.message_id),
            _ => {}
        }
        told.push(event);
    }

    /// `like` has the fields of the events that are told, and no payload that matters.
    fn grow(&mut self, like: &Event, mut piece: Piece, told: &mut Vec<Event>) {
        if self.settled.contains(&piece.message_id) {
            return;
        }
        self.doubtful.remove(&piece.message_id);
        if self.parts(piece.kind, &piece.message_id).is_empty() {
            // Agents inside nodes talk side by side: a new message says nothing of those of other nodes.
            self.void_doubtful(like, Some(path_of(&piece.message_id)), told);
        }
        let part = (piece.message_id.clone(), piece.kind, piece.part_index);
        let shown = self.shown.get(&part).copied().unwrap_or(0);
        let end = piece.offset + length(&piece.text);
        let known = (shown - piece.offset).max(0);
        if known > 0 {
            if end <= shown {
                return;
            }
            piece.text = after(&piece.text, known);
            piece.offset += known;
        }
        self.shown.insert(part, end);
        told.push(Event { payload: Some(piece.payload()), ..bare(like) });
    }

    fn settle(&mut self, event: &Event, written: &CheckpointWritten, told: &mut Vec<Event>) {
        match written.checkpoint.as_ref().map_or(CheckpointSource::Unspecified, Checkpoint::source) {
            CheckpointSource::Fork => return self.forget_all(),
            // Nobody says what was added or edited from outside: it is no text of a stream.
            CheckpointSource::Update => return,
            _ => {}
        }
        let inside = written.node_messages.iter().filter_map(|each| each.message.as_ref());
        for message in written.messages.iter().chain(inside) {
            // A watch through another server than the run's may have had no more than a beginning.
            let begun = !self.parts(Kind::Text, &message.id).is_empty();
            if (self.joined || begun) && message.role() == Role::Assistant {
                self.give_rest_of(event, message, told);
            }
            self.forget(&message.id);
        }
    }

    fn give_rest_of(&mut self, event: &Event, message: &Message, told: &mut Vec<Event>) {
        let parts = self.parts(Kind::Text, &message.id);
        if self.settled.contains(&message.id) || (parts.is_empty() && !self.complete) {
            return;
        }
        let like = Event { version: event.version - 1, last_of_version: false, ..bare(event) };
        let texts = (0..).zip(&message.content).filter_map(|(index, part)| match &part.kind {
            Some(part::Kind::Text(said)) => Some((index, &said.text)),
            _ => None,
        });
        for (order, (index, text)) in texts.enumerate() {
            // A message that is read back may lack parts (thoughts), so the order of text parts tells which is which, and not their index.
            let part_index = parts.get(order).copied().unwrap_or(index);
            let shown = self.shown.get(&(message.id.clone(), Kind::Text, part_index)).copied().unwrap_or(0);
            let text = after(text, shown);
            if !text.is_empty() {
                let message_id = message.id.clone();
                self.grow(&like, Piece { kind: Kind::Text, message_id, part_index, offset: shown, text }, told);
            }
        }
    }

    /// Gives up what is in doubt: all, or what is of one node (empty: of the thread's own agent).
    fn void_doubtful(&mut self, event: &Event, path: Option<&str>, told: &mut Vec<Event>) {
        let void: Vec<String> =
            self.doubtful.iter().filter(|each| path.is_none_or(|path| path_of(each) == path)).cloned().collect();
        for message_id in void {
            self.forget(&message_id);
            let code = FailureCode::Unspecified.into();
            let payload = Some(Payload::MessageDiscarded(MessageDiscarded { message_id, code }));
            told.push(Event { last_of_version: false, payload, ..bare(event) });
        }
    }

    /// The parts of a message that something was shown of, in order.
    fn parts(&self, kind: Kind, message_id: &str) -> Vec<i32> {
        let all = (message_id.to_owned(), kind, i32::MIN)..=(message_id.to_owned(), kind, i32::MAX);
        self.shown.range(all).map(|((_, _, part_index), _)| *part_index).collect()
    }

    fn forget(&mut self, message_id: &str) {
        self.settled.insert(message_id.to_owned());
        self.doubtful.remove(message_id);
        self.shown.retain(|(each, ..), _| each != message_id);
    }

    fn forget_all(&mut self) {
        self.shown.clear();
        self.settled.clear();
        self.doubtful.clear();
    }
}

/// The event without what it tells.
fn bare(event: &Event) -> Event {
    Event {
        thread_id: event.thread_id.clone(),
        thread_uid: event.thread_uid.clone(),
        run_id: event.run_id.clone(),
        version: event.version,
        last_of_version: event.last_of_version,
        create_time: event.create_time,
        payload: None,
    }
}

/// The path of the node that a message is of, or empty.
fn path_of(message_id: &str) -> &str {
    message_id.rsplit_once('/').map_or("", |(path, _)| path)
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

/// The text from a byte on; where that is in the middle of a character, which no server does, as well as can be.
fn after(text: &str, byte: i64) -> String {
    let start = usize::try_from(byte).unwrap_or(0).min(text.len());
    String::from_utf8_lossy(&text.as_bytes()[start..]).into_owned()
}
