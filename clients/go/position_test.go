package clew

import (
	"slices"
	"testing"

	clewv1 "clew.dev/clew/clew/v1"
	"pgregory.net/rapid"
)

const spoken = "héllo, wörld — 你好"

func givenBy(position *position, events ...*clewv1.Event) []*clewv1.Event {
	var given []*clewv1.Event
	for _, event := range events {
		given = append(given, position.accept(event)...)
	}
	return given
}

type failing interface {
	Helper()
	Fatalf(format string, values ...any)
}

func same[T comparable](t failing, what string, found, expected []T) {
	t.Helper()
	if !slices.Equal(found, expected) {
		t.Fatalf("%s: %v, not %v", what, found, expected)
	}
}

// textOf is what a reader has who only joins deltas, and drops what is void.
func textOf(t failing, events []*clewv1.Event, messageID string) string {
	t.Helper()
	text := ""
	for _, event := range events {
		switch payload := event.GetPayload().(type) {
		case *clewv1.Event_TextDelta:
			if payload.TextDelta.GetMessageId() != messageID {
				continue
			}
			if offset := payload.TextDelta.GetOffset(); offset != int64(len(text)) {
				t.Fatalf("a piece is doubled or missing: at %d after %d bytes", offset, len(text))
			}
			text += payload.TextDelta.GetText()
		case *clewv1.Event_RunStarted:
			text = ""
		case *clewv1.Event_MessageDiscarded:
			if payload.MessageDiscarded.GetMessageId() == messageID {
				text = ""
			}
		}
	}
	return text
}

func TestTheCursorMovesOnlyWithTheLastEventOfAVersion(t *testing.T) {
	position := attemptPosition()
	var cursors []int64
	for _, event := range []*clewv1.Event{queued(), started(4), written(4), toolFinished(5, "call_1"), written(5)} {
		givenBy(position, event)
		cursors = append(cursors, position.cursor)
	}
	same(t, "cursors", cursors, []int64{0, 3, 4, 4, 5})
}

func TestARequestHasStartedWithItsFirstLoggedEvent(t *testing.T) {
	position := attemptPosition()
	var has []bool
	for _, event := range []*clewv1.Event{queued(), heartbeat(0), started(1)} {
		givenBy(position, event)
		has = append(has, position.started)
	}
	same(t, "started", has, []bool{false, false, true})
	same(t, "its names", []string{position.runID, position.threadUID}, []string{"u.r1", "u"})
}

func TestAVersionThatWasReadInPartIsGivenOnce(t *testing.T) {
	position := attemptPosition()
	first := givenBy(position, started(1), written(1), toolFinished(2, "call_1"))
	position.join()
	again := givenBy(position, toolFinished(2, "call_1"), notLast(written(2)), last(toolStarted(2, "call_2")))
	same(t, "first", kinds(first), []string{"run_started", "checkpoint_written", "tool_call_finished"})
	same(t, "again", kinds(again), []string{"checkpoint_written", "tool_call_started"})
}

func TestTextSoFarIsGivenLessWhatWasShown(t *testing.T) {
	position := attemptPosition()
	first := givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hé"))
	position.join()
	again := givenBy(position, text(1, "m2.1", 0, "héllo"), text(1, "m2.1", 6, "!"))
	same(t, "text", []string{textOf(t, append(first, again...), "m2.1")}, []string{"héllo!"})
}

func TestTextThatIsAllKnownIsNotGivenAgain(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hello"))
	position.join()
	same(t, "again", kinds(givenBy(position, text(1, "m2.1", 0, "hell"))), nil)
}

func TestReasoningAndTextOfAMessageAreCountedApart(t *testing.T) {
	position := attemptPosition()
	seen := givenBy(position, started(1), written(1), reasoning(1, "m2.1", 0, "hm"), textOfPart(1, "m2.1", 1, 0, "no"))
	same(t, "kinds", kinds(seen)[2:], []string{"reasoning_delta", "text_delta"})
}

func TestTheRestOfAMessageThatWasWrittenMeanwhileComesBeforeItsCheckpoint(t *testing.T) {
	position := attemptPosition()
	first := givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hello"))
	position.join()
	again := givenBy(position, written(2, said("m2.1", "hello, world")), completed(3, "", ""))
	same(t, "text", []string{textOf(t, append(first, again...), "m2.1")}, []string{"hello, world"})
	same(t, "kinds", kinds(again), []string{"text_delta", "checkpoint_written", "run_completed"})
	if again[0].GetVersion() != 1 || again[0].GetLastOfVersion() {
		t.Fatalf("the rest is of the version before: %v", again[0])
	}
}

func TestAWholeMessageThatWasMissedComesAsTextToo(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1))
	position.join()
	again := givenBy(position, written(2, said("m2.1", "hello")))
	same(t, "text", []string{textOf(t, again, "m2.1")}, []string{"hello"})
}

func TestAMessageOfWhichOnlyABeginningCameIsCompletedBeforeItsCheckpoint(t *testing.T) {
	position := watchPosition(0)
	events := givenBy(position, started(1), written(1), text(1, "m2.0", 0, spoken[:6]), written(2, said("m2.0", spoken)))
	same(t, "kinds", kinds(events)[2:], []string{"text_delta", "text_delta", "checkpoint_written"})
	same(t, "text", []string{textOf(t, events, "m2.0")}, []string{spoken})
}

func TestAStreamThatDidNotBreakGetsNoTextButTheServers(t *testing.T) {
	position := attemptPosition()
	seen := givenBy(position, started(1), written(1), written(2, said("m2.1", "hello")))
	same(t, "kinds", kinds(seen), []string{"run_started", "checkpoint_written", "checkpoint_written"})
}

func TestAWatcherIsNotToldTheTextOfOldMessages(t *testing.T) {
	position := watchPosition(0)
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "he"))
	position.join()
	again := givenBy(position, written(2, said("m2.1", "hello")), written(3, said("m3.1", "more")))
	deltas := ofKind(again, "text_delta")
	if len(deltas) != 1 || deltas[0].GetTextDelta().GetText() != "llo" {
		t.Fatalf("deltas: %v", deltas)
	}
}

func TestTheOrderOfTextPartsTellsWhichIsWhichWhereThoughtsAreLeftOut(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), textOfPart(1, "m2.1", 1, 0, "hel"))
	position.join()
	rest := givenBy(position, written(2, said("m2.1", "hello")))[0].GetTextDelta()
	if rest.GetPartIndex() != 1 || rest.GetText() != "lo" {
		t.Fatalf("the rest: %v", rest)
	}
}

func TestAnAttemptVoidsTheTextBeforeIt(t *testing.T) {
	position := attemptPosition()
	seen := givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hello"), started(2), written(2), text(2, "m2.1", 0, "bye"))
	same(t, "text", []string{textOf(t, seen, "m2.1")}, []string{"bye"})
}

func TestADiscardedMessageIsVoidAndStaysSo(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hel"), discarded(1, "m2.1"))
	position.join()
	same(t, "again", kinds(givenBy(position, text(1, "m2.1", 0, "hello"))), nil)
	same(t, "another", kinds(givenBy(position, text(1, "m2.2", 0, "hi"))), []string{"text_delta"})
}

func TestAMessageThatWasGivenUpWhileNobodyListenedIsSaidToBeVoid(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hel"))
	position.join()
	again := givenBy(position, text(1, "m2.2", 0, "hi"))
	same(t, "kinds", kinds(again), []string{"message_discarded", "text_delta"})
	void := again[0].GetMessageDiscarded()
	if void.GetMessageId() != "m2.1" || void.GetCode() != clewv1.FailureCode_FAILURE_CODE_UNSPECIFIED {
		t.Fatalf("void: %v", void)
	}
}

func TestANewMessageSaysNothingOfThoseOfOtherNodes(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), text(1, "a/m2.1", 0, "hel"), text(1, "b/m2.1", 0, "hol"))
	position.join()
	again := givenBy(position, text(1, "a/m2.2", 0, "hi"))
	same(t, "kinds", kinds(again), []string{"message_discarded", "text_delta"})
	again = givenBy(position, insideNode(written(2), "b", said("b/m2.1", "holla")))
	same(t, "text of the other", []string{again[0].GetTextDelta().GetText()}, []string{"la"})
}

func TestAMessageThatIsStillWrittenIsNotVoidWhenAnotherOneBegins(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hel"))
	position.join()
	again := givenBy(position, text(1, "m2.1", 0, "hell"), text(1, "m2.2", 0, "hi"))
	same(t, "kinds", kinds(again), []string{"text_delta", "text_delta"})
}

func TestTextThatWasNeverWrittenIsVoidWhenTheAttemptHasEnded(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hel"), text(1, "m2.0", 0, "hol"))
	position.join()
	again := givenBy(position, completed(2, "", ""))
	same(t, "kinds", kinds(again), []string{"message_discarded", "message_discarded", "run_completed"})
	same(t, "in the order of their ids", []string{again[0].GetMessageDiscarded().GetMessageId()}, []string{"m2.0"})
}

func TestAForkLeavesNoTextOfTheLineThatWasLeft(t *testing.T) {
	position := watchPosition(0)
	givenBy(position, started(1), written(1), text(1, "m2.1", 0, "hel"))
	position.join()
	fork := givenBy(position, writtenBy(clewv1.CheckpointSource_CHECKPOINT_SOURCE_FORK, 2))
	same(t, "kinds", kinds(fork), []string{"checkpoint_written"})
	same(t, "text", []string{textOf(t, givenBy(position, text(2, "m2.1", 0, "hi")), "m2.1")}, []string{"hi"})
}

func TestWhatWasWrittenFromOutsideWhileTheConnectionWasBrokenIsNoTextOfAStream(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1, asked("m1.0", "hi")))
	position.join()
	again := givenBy(position, writtenBy(clewv1.CheckpointSource_CHECKPOINT_SOURCE_UPDATE, 2, said("m2.0", "added")))
	same(t, "kinds", kinds(again), []string{"checkpoint_written"})
}

func TestTheLastWordOfAThreadAtRestIsGivenOnce(t *testing.T) {
	position := watchPosition(2)
	same(t, "first", kinds(givenBy(position, completed(2, "", ""))), []string{"run_completed"})
	position.join()
	same(t, "again", kinds(givenBy(position, completed(2, "", ""))), nil)
}

func TestAKindThatIsNotKnownIsSkippedAndItsVersionIsNot(t *testing.T) {
	position := attemptPosition()
	same(t, "kinds", kinds(givenBy(position, started(1), written(1), last(event(2)))), []string{"run_started", "checkpoint_written"})
	same(t, "cursor", []int64{position.cursor}, []int64{2})
}

func TestKindsThatAreNotKnownCountInAVersionThatIsReadAgain(t *testing.T) {
	position := attemptPosition()
	givenBy(position, started(1), written(1), event(2), toolFinished(2, "call_1"))
	position.join()
	again := givenBy(position, event(2), toolFinished(2, "call_1"), written(2))
	same(t, "kinds", kinds(again), []string{"checkpoint_written"})
}

func TestWhereverConnectionsBreakEveryEventComesOnceAndTheTextIsWhole(t *testing.T) {
	type pause struct{ read, meanwhile int }
	pauses := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pause {
		return pause{rapid.IntRange(1, 25).Draw(t, "read"), rapid.IntRange(0, 25).Draw(t, "meanwhile")}
	}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		run := aRun()
		position := attemptPosition()
		var seen, before []*clewv1.Event
		at := 0
		for _, each := range pauses.Draw(t, "breaks") {
			stream := slices.Concat(before, run[at:])
			stream = stream[:min(each.read, len(stream))]
			seen = append(seen, givenBy(position, stream...)...)
			at = wholeFrom(run, min(len(run), at+max(0, len(stream)-len(before))+each.meanwhile))
			before = replayed(run, position.cursor, at)
			position.join()
		}
		seen = append(seen, givenBy(position, slices.Concat(before, run[at:])...)...)
		same(t, "kinds", kinds(loggedOf(seen)), kinds(loggedOf(run)))
		same(t, "versions", versions(loggedOf(seen)), versions(loggedOf(run)))
		same(t, "texts", []string{textOf(t, seen, "m2.1"), textOf(t, seen, "m5.1")}, []string{"let me look", spoken})
		same(t, "cursor", []int64{position.cursor}, []int64{5})
	})
}

func aRun() []*clewv1.Event {
	run := []*clewv1.Event{
		started(1),
		written(1, asked("m1.1", "hi")),
		text(1, "m2.1", 0, "let me "),
		text(1, "m2.1", 7, "look"),
		heartbeat(1),
		notLast(written(2, said("m2.1", "let me look"))),
		toolStarted(2, "call_1"),
		last(toolStarted(2, "call_2")),
		toolFinished(3, "call_2"),
		written(3),
		toolFinished(4, "call_1"),
		written(4),
	}
	for offset, character := range spoken {
		run = append(run, text(4, "m5.1", int64(offset), string(character)))
	}
	return append(run, notLast(written(5, said("m5.1", spoken))), completed(5, spoken, "m5.1"))
}

// replayed is what a server first gives a watcher after a cursor, when the run has come as far as `at`.
func replayed(run []*clewv1.Event, cursor int64, at int) []*clewv1.Event {
	head := int64(0)
	for _, event := range run[:at] {
		if event.GetLastOfVersion() {
			head = max(head, event.GetVersion())
		}
	}
	var events []*clewv1.Event
	messageID, soFar := "", ""
	for _, event := range run[:at] {
		if isLogged(event) && cursor < event.GetVersion() && event.GetVersion() <= head {
			events = append(events, event)
		}
		switch payload := event.GetPayload().(type) {
		case *clewv1.Event_TextDelta:
			messageID, soFar = payload.TextDelta.GetMessageId(), soFar+payload.TextDelta.GetText()
		case *clewv1.Event_CheckpointWritten:
			soFar = ""
		}
	}
	if soFar != "" {
		events = append(events, text(head, messageID, 0, soFar))
	}
	return events
}

// wholeFrom is the next point where no version is told in part: a write is told at once.
func wholeFrom(run []*clewv1.Event, at int) int {
	for at > 0 && at < len(run) && isLogged(run[at]) && isLogged(run[at-1]) && run[at].GetVersion() == run[at-1].GetVersion() {
		at++
	}
	return at
}

func loggedOf(events []*clewv1.Event) []*clewv1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(event *clewv1.Event) bool { return !isLogged(event) })
}

func versions(events []*clewv1.Event) []int64 {
	var found []int64
	for _, event := range events {
		found = append(found, event.GetVersion())
	}
	return found
}
