//! Where a reader is in a thread's log: what it has whole, what it has in part, and so what is new to it.

use crate::{Payload, shown_text::ShownText, v1::Event};

/// Takes the events of one connection after the other, and gives each one once.
#[derive(Debug)]
pub(crate) struct Position {
    /// Moves only where a version is whole; none until the first logged event tells it.
    pub(crate) cursor: Option<i64>,
    pub(crate) run_id: String,
    pub(crate) thread_uid: String,
    text: ShownText,
    /// The furthest event that was seen, as its version and its number within it: those of one write come in a fixed order.
    part: (i64, u64),
    /// The last one over this connection.
    here: (i64, u64),
    ended_at: Option<i64>,
}

impl Position {
    /// Of an attempt, which its reader has from the beginning.
    pub(crate) fn of_attempt() -> Self {
        Self::new(None, true)
    }

    /// Of a watch, after a version.
    pub(crate) fn of_watch(after_version: i64) -> Self {
        Self::new(Some(after_version), false)
    }

    fn new(cursor: Option<i64>, complete: bool) -> Self {
        Self {
            cursor,
            run_id: String::new(),
            thread_uid: String::new(),
            text: ShownText::new(complete),
            part: (0, 0),
            here: (0, 0),
            ended_at: None,
        }
    }

    /// Whether the log may be read on from here.
    pub(crate) fn started(&self) -> bool {
        self.cursor.is_some()
    }

    /// Another connection carries the stream from here on.
    pub(crate) fn join(&mut self) {
        self.here = (0, 0);
        self.text.join();
    }

    /// Adds what the reader has not had of it; kinds that this version does not know only move the cursor.
    pub(crate) fn accept(&mut self, event: Event, told: &mut Vec<Event>) {
        let Some(payload) = &event.payload else {
            if self.cursor.is_some_and(|cursor| event.version > cursor) {
                self.advance(&event);
            }
            return;
        };
        let terminal = is_terminal(payload);
        if !is_logged(payload) || self.is_new(&event, terminal) {
            self.text.show(event, told);
        }
    }

    fn is_new(&mut self, event: &Event, terminal: bool) -> bool {
        if self.cursor.is_none() {
            self.run_id.clone_from(&event.run_id);
        }
        let cursor = *self.cursor.get_or_insert(event.version - 1);
        self.thread_uid.clone_from(&event.thread_uid);
        // A thread at rest says its last word again to whoever asks; a reader that has it needs it no more.
        let again = terminal && self.ended_at != Some(event.version);
        let new = if event.version > cursor { self.advance(event) } else { again };
        if terminal {
            self.ended_at = Some(event.version);
        }
        new
    }

    fn advance(&mut self, event: &Event) -> bool {
        let (version, number) = self.here;
        self.here = (event.version, if version == event.version { number + 1 } else { 1 });
        let new = self.here > self.part;
        self.part = self.part.max(self.here);
        if event.last_of_version {
            self.cursor = Some(event.version);
        }
        new
    }
}

/// Whether it ends an attempt.
pub(crate) fn is_terminal(payload: &Payload) -> bool {
    matches!(payload, Payload::RunSuspended(_) | Payload::RunCompleted(_) | Payload::RunFailed(_))
}

/// Whether a write made it, so that it is in the log.
pub(crate) fn is_logged(payload: &Payload) -> bool {
    is_terminal(payload)
        || matches!(
            payload,
            Payload::RunStarted(_)
                | Payload::ToolCallStarted(_)
                | Payload::ToolCallFinished(_)
                | Payload::ApprovalRequested(_)
                | Payload::CheckpointWritten(_)
        )
}

#[cfg(test)]
#[path = "position_tests.rs"]
mod tests;
