//! What a reader is given of a thread's events, however often its connection breaks.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::proptest};

use super::{Position, is_logged};
use crate::{
    Payload,
    telling::{
        asked, completed, delta, discarded, heartbeat, last, not_last, part_delta, queued, said, started, thought,
        tool_finished, tool_started, unknown, written, written_by,
    },
    v1::{CheckpointSource, Event, MessageDiscarded},
};

const ANSWER: &str = "héllo, wörld — 你好";

fn given_by(position: &mut Position, events: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let mut told = Vec::new();
    events.into_iter().for_each(|event| position.accept(event, &mut told));
    told
}

/// A position of an attempt that has begun.
fn begun() -> Position {
    let mut position = Position::of_attempt();
    given_by(&mut position, [started(1, 1), written(1, vec![])]);
    position
}

fn kind(event: &Event) -> &'static str {
    match event.payload.as_ref().expect("every event that is given tells something") {
        Payload::TextDelta(_) => "text_delta",
        Payload::ReasoningDelta(_) => "reasoning_delta",
        Payload::ToolCallStarted(_) => "tool_call_started",
        Payload::ToolCallFinished(_) => "tool_call_finished",
        Payload::CheckpointWritten(_) => "checkpoint_written",
        Payload::RunStarted(_) => "run_started",
        Payload::MessageDiscarded(_) => "message_discarded",
        Payload::RunCompleted(_) => "run_completed",
        Payload::Heartbeat(_) => "heartbeat",
        _ => "other",
    }
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(kind).collect()
}

/// What a reader has who only joins deltas, and drops what is void.
fn text_of(events: &[Event], message_id: &str) -> String {
    let mut text = String::new();
    for event in events {
        match &event.payload {
            Some(Payload::TextDelta(delta)) if delta.message_id == message_id => {
                assert_eq!(delta.offset, i64::try_from(text.len()).unwrap(), "a piece is doubled or missing");
                text += &delta.text;
            }
            Some(Payload::MessageDiscarded(discarded)) if discarded.message_id == message_id => text.clear(),
            Some(Payload::RunStarted(_)) => text.clear(),
            _ => {}
        }
    }
    text
}

#[test]
fn the_cursor_moves_only_with_the_last_event_of_a_version() {
    let mut position = Position::of_attempt();
    let events = [queued(), started(4, 1), written(4, vec![]), tool_finished(5, "call_1"), written(5, vec![])];
    let cursors = events.map(|event| {
        given_by(&mut position, [event]);
        position.cursor
    });
    assert_eq!(cursors, [None, Some(3), Some(4), Some(4), Some(5)]);
}

#[test]
fn a_version_that_was_read_in_part_is_given_once() {
    let mut position = begun();
    let first = given_by(&mut position, [tool_finished(2, "call_1")]);
    position.join();
    assert_eq!(position.cursor, Some(1));
    let again = [tool_finished(2, "call_1"), not_last(written(2, vec![])), last(tool_started(2, "call_2"))];
    assert_eq!(kinds(&first), ["tool_call_finished"]);
    assert_eq!(kinds(&given_by(&mut position, again)), ["checkpoint_written", "tool_call_started"]);
}

#[test]
fn text_so_far_is_given_less_what_was_shown() {
    let mut position = begun();
    let mut seen = given_by(&mut position, [delta(1, "m2.1", 0, "hé")]);
    position.join();
    seen.extend(given_by(&mut position, [delta(1, "m2.1", 0, "héllo"), delta(1, "m2.1", 6, "!")]));
    assert_eq!(text_of(&seen, "m2.1"), "héllo!");
}

#[test]
fn text_that_is_all_known_is_not_given_again() {
    let mut position = begun();
    given_by(&mut position, [delta(1, "m2.1", 0, "hello")]);
    position.join();
    assert_eq!(given_by(&mut position, [delta(1, "m2.1", 0, "hell"), delta(1, "m2.1", 2, "")]), []);
    assert_eq!(kinds(&given_by(&mut position, [delta(1, "m2.1", 5, "!")])), ["text_delta"]);
}

#[test]
fn reasoning_and_text_of_a_message_are_counted_apart() {
    let mut position = begun();
    let seen = given_by(&mut position, [thought(1, "m2.1", 0, "hm"), part_delta(1, "m2.1", 1, 0, "no")]);
    assert_eq!(kinds(&seen), ["reasoning_delta", "text_delta"]);
}

#[test]
fn the_rest_of_a_message_that_was_written_meanwhile_comes_before_its_checkpoint() {
    let mut position = begun();
    let mut seen = given_by(&mut position, [delta(1, "m2.1", 0, "hello")]);
    position.join();
    let again = given_by(&mut position, [written(2, vec![said("m2.1", "hello, world")]), completed(3, "", "")]);
    assert_eq!(kinds(&again), ["text_delta", "checkpoint_written", "run_completed"]);
    assert_eq!((again[0].version, again[0].last_of_version), (1, false));
    seen.extend(again);
    assert_eq!(text_of(&seen, "m2.1"), "hello, world");
}

#[test]
fn a_whole_message_that_was_missed_comes_as_text_too() {
    let mut position = begun();
    position.join();
    let again = given_by(&mut position, [written(2, vec![said("m2.1", "hello")])]);
    assert_eq!(text_of(&again, "m2.1"), "hello");
}

#[test]
fn a_message_of_which_only_a_beginning_came_is_completed_before_its_checkpoint() {
    let mut position = Position::of_watch(0);
    let told =
        [started(1, 1), written(1, vec![]), delta(1, "m2.0", 0, &ANSWER[..6]), written(2, vec![said("m2.0", ANSWER)])];
    let events = given_by(&mut position, told);
    assert_eq!(kinds(&events)[2..], ["text_delta", "text_delta", "checkpoint_written"]);
    assert_eq!(text_of(&events, "m2.0"), ANSWER);
}

#[test]
fn a_stream_that_did_not_break_gets_no_text_but_the_servers() {
    let seen = given_by(&mut begun(), [written(2, vec![said("m2.1", "hello")])]);
    assert_eq!(kinds(&seen), ["checkpoint_written"]);
}

#[test]
fn a_watcher_is_not_told_the_text_of_old_messages() {
    let mut position = Position::of_watch(0);
    given_by(&mut position, [started(1, 1), written(1, vec![]), delta(1, "m2.1", 0, "he")]);
    position.join();
    let later = [written(2, vec![said("m2.1", "hello")]), written(3, vec![said("m3.1", "more")])];
    let again = given_by(&mut position, later);
    assert_eq!(kinds(&again), ["text_delta", "checkpoint_written", "checkpoint_written"]);
    assert!(matches!(&again[0].payload, Some(Payload::TextDelta(delta)) if delta.text == "llo"));
}

#[test]
fn the_order_of_text_parts_tells_which_is_which_where_thoughts_are_left_out() {
    let mut position = begun();
    given_by(&mut position, [part_delta(1, "m2.1", 1, 0, "hel")]);
    position.join();
    let again = given_by(&mut position, [written(2, vec![said("m2.1", "hello")])]);
    assert!(
        matches!(&again[0].payload, Some(Payload::TextDelta(rest)) if (rest.part_index, rest.text.as_str()) == (1, "lo"))
    );
}

#[test]
fn an_attempt_voids_the_text_before_it() {
    let mut position = begun();
    let events = [delta(1, "m2.1", 0, "hello"), started(2, 2), written(2, vec![]), delta(2, "m2.1", 0, "bye")];
    assert_eq!(text_of(&given_by(&mut position, events), "m2.1"), "bye");
}

#[test]
fn a_discarded_message_is_void_and_stays_so() {
    let mut position = begun();
    given_by(&mut position, [delta(1, "m2.1", 0, "hel"), discarded(1, "m2.1")]);
    position.join();
    assert_eq!(given_by(&mut position, [delta(1, "m2.1", 0, "hello")]), []);
    assert_eq!(kinds(&given_by(&mut position, [delta(1, "m2.2", 0, "hi")])), ["text_delta"]);
}

#[test]
fn a_message_that_was_given_up_while_nobody_listened_is_said_to_be_void() {
    let mut position = begun();
    given_by(&mut position, [delta(1, "m2.1", 0, "hel")]);
    position.join();
    let again = given_by(&mut position, [delta(1, "m2.2", 0, "hi")]);
    assert_eq!(kinds(&again), ["message_discarded", "text_delta"]);
    let void = MessageDiscarded { message_id: "m2.1".to_owned(), code: 0 };
    assert_eq!(again[0].payload, Some(Payload::MessageDiscarded(void)));
}

#[test]
fn a_new_message_says_nothing_of_those_of_other_nodes() {
    let mut position = begun();
    given_by(&mut position, [delta(1, "plan/m2.1", 0, "hel"), delta(1, "pay/m2.1", 0, "one")]);
    position.join();
    let again = given_by(&mut position, [delta(1, "pay/m2.2", 0, "hi"), delta(1, "plan/m2.1", 0, "hello")]);
    assert_eq!(kinds(&again), ["message_discarded", "text_delta", "text_delta"]);
    assert!(matches!(&again[0].payload, Some(Payload::MessageDiscarded(void)) if void.message_id == "pay/m2.1"));
}

#[test]
fn a_message_that_is_still_written_is_not_void_when_another_one_begins() {
    let mut position = begun();
    given_by(&mut position, [delta(1, "m2.1", 0, "hel")]);
    position.join();
    let again = given_by(&mut position, [delta(1, "m2.1", 0, "hell"), delta(1, "m2.2", 0, "hi")]);
    assert_eq!(kinds(&again), ["text_delta", "text_delta"]);
}

#[test]
fn text_that_was_never_written_is_void_when_the_attempt_has_ended() {
    let mut position = begun();
    given_by(&mut position, [delta(1, "m2.1", 0, "hel")]);
    position.join();
    assert_eq!(kinds(&given_by(&mut position, [completed(2, "", "")])), ["message_discarded", "run_completed"]);
}

#[test]
fn a_fork_leaves_no_text_of_the_line_that_was_left() {
    let mut position = Position::of_watch(0);
    given_by(&mut position, [started(1, 1), written(1, vec![]), delta(1, "m2.1", 0, "hel")]);
    position.join();
    let mut seen = given_by(&mut position, [written_by(CheckpointSource::Fork, 2, vec![])]);
    assert_eq!(kinds(&seen), ["checkpoint_written"]);
    seen.extend(given_by(&mut position, [delta(2, "m2.1", 0, "hi")]));
    assert_eq!(text_of(&seen, "m2.1"), "hi");
}

#[test]
fn the_last_word_of_a_thread_at_rest_is_given_once() {
    let mut position = Position::of_watch(2);
    assert_eq!(kinds(&given_by(&mut position, [completed(2, "", "")])), ["run_completed"]);
    position.join();
    assert_eq!(given_by(&mut position, [completed(2, "", "")]), []);
}

#[test]
fn a_kind_that_is_not_known_is_skipped_and_its_version_is_not() {
    let mut position = begun();
    assert_eq!(given_by(&mut position, [unknown(2, true)]), []);
    assert_eq!(position.cursor, Some(2));
}

#[test]
fn kinds_that_are_not_known_count_in_a_version_that_is_read_again() {
    let mut position = begun();
    given_by(&mut position, [unknown(2, false), tool_finished(2, "call_1")]);
    position.join();
    let again = [unknown(2, false), tool_finished(2, "call_1"), written(2, vec![])];
    assert_eq!(kinds(&given_by(&mut position, again)), ["checkpoint_written"]);
}

#[test]
fn what_was_written_from_outside_while_the_connection_was_broken_is_no_text_of_a_stream() {
    let mut position = begun();
    position.join();
    let events = given_by(&mut position, [written_by(CheckpointSource::Update, 2, vec![said("m2.0", "added")])]);
    assert_eq!(kinds(&events), ["checkpoint_written"]);
}

fn a_run() -> Vec<Event> {
    let letters: Vec<char> = ANSWER.chars().collect();
    let mut offset = 0;
    let deltas = letters.chunks(3).map(|letters| {
        let piece: String = letters.iter().collect();
        let told = delta(4, "m5.1", offset, &piece);
        offset += i64::try_from(piece.len()).unwrap();
        told
    });
    let deltas: Vec<Event> = deltas.collect();
    let mut run = vec![
        started(1, 1),
        written_by(CheckpointSource::Input, 1, vec![asked("m1.1", "hi")]),
        delta(1, "m2.1", 0, "let me "),
        delta(1, "m2.1", 7, "look"),
        heartbeat(1),
        not_last(written(2, vec![said("m2.1", "let me look")])),
        tool_started(2, "call_1"),
        last(tool_started(2, "call_2")),
        tool_finished(3, "call_2"),
        written(3, vec![]),
        tool_finished(4, "call_1"),
        written(4, vec![]),
    ];
    run.extend(deltas);
    run.push(not_last(written(5, vec![said("m5.1", ANSWER)])));
    run.push(completed(5, ANSWER, "m5.1"));
    run
}

fn logged(event: &Event) -> bool {
    event.payload.as_ref().is_some_and(is_logged)
}

/// What a server first gives a watcher after a cursor, when the run has come as far as `at`.
fn replayed(run: &[Event], cursor: i64, at: usize) -> Vec<Event> {
    let told = &run[..at];
    let head = told.iter().filter(|event| event.last_of_version).map(|event| event.version).max().unwrap_or(0);
    let in_log = |event: &&Event| logged(event) && cursor < event.version && event.version <= head;
    let mut replay: Vec<Event> = told.iter().filter(in_log).cloned().collect();
    let mut so_far: BTreeMap<&str, String> = BTreeMap::new();
    for event in told {
        match &event.payload {
            Some(Payload::TextDelta(delta)) => *so_far.entry(&delta.message_id).or_default() += &delta.text,
            Some(Payload::CheckpointWritten(_)) => so_far.clear(),
            _ => {}
        }
    }
    replay.extend(so_far.into_iter().map(|(message_id, text)| delta(head, message_id, 0, &text)));
    replay
}

/// The next point where no version is told in part: a write is told at once.
fn whole(run: &[Event], mut at: usize) -> usize {
    while at < run.len() && logged(&run[at]) && run[at].version == run[at - 1].version && logged(&run[at - 1]) {
        at += 1;
    }
    at
}

fn every_event_comes_once_and_the_text_is_whole(breaks: &[(usize, usize)]) {
    let run = a_run();
    let mut position = Position::of_attempt();
    let (mut seen, mut before, mut at) = (Vec::new(), Vec::new(), 0);
    for (read, meanwhile) in breaks {
        let behind = before.len();
        let stream: Vec<Event> = before.into_iter().chain(run[at..].iter().cloned()).take(*read).collect();
        let beyond = stream.len().saturating_sub(behind);
        seen.extend(given_by(&mut position, stream));
        at = whole(&run, (at + beyond + meanwhile).min(run.len()));
        before = replayed(&run, position.cursor.unwrap_or(0), at);
        position.join();
    }
    seen.extend(given_by(&mut position, before.into_iter().chain(run[at..].iter().cloned())));
    let told = |events: &[Event]| -> Vec<(&'static str, i64)> {
        events.iter().filter(|event| logged(event)).map(|event| (kind(event), event.version)).collect()
    };
    assert_eq!(told(&seen), told(&run));
    assert_eq!(text_of(&seen, "m2.1"), "let me look");
    assert_eq!(text_of(&seen, "m5.1"), ANSWER);
    assert_eq!(position.cursor, Some(5));
}

proptest! {
    #[test]
    fn wherever_connections_break_every_event_comes_once_and_the_text_is_whole(
        breaks in vec((1_usize..=25, 0_usize..=25), 0..=4)
    ) {
        every_event_comes_once_and_the_text_is_whole(&breaks);
    }
}

#[test]
fn breaks_at_the_beginning_and_within_a_version_lose_nothing() {
    every_event_comes_once_and_the_text_is_whole(&[(1, 0)]);
    every_event_comes_once_and_the_text_is_whole(&[(3, 0), (1, 8), (2, 3)]);
}
