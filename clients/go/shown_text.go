package clew

import (
	"slices"
	"strings"

	clewv1 "clew.dev/clew/clew/v1"
)

// A textKind is what a piece of text is part of: the answer, or what the model thought before.
type textKind int

const (
	answer textKind = iota
	thought
)

// A textPart is a part of a message that grows.
type textPart struct {
	kind      textKind
	messageID string
	index     int32
}

// A delta is a piece of a part. It begins `offset` bytes of UTF-8 from the part's start.
type delta struct {
	textPart
	offset int64
	text   string
}

// shownText is the streamed text that a reader was shown and no checkpoint has confirmed: nothing of it is shown twice, and none is left
// out.
type shownText struct {
	// Whether the reader is owed the text of every message, also of one that it saw nothing of.
	complete bool
	// How many bytes of each part the reader has.
	shown map[textPart]int64
	// Messages of which no more text is to come.
	settled map[string]bool
	// Messages of which nobody knows, since a connection broke, whether they will be.
	doubtful map[string]bool
	joined   bool
}

func newShownText(complete bool) *shownText {
	return &shownText{
		complete: complete,
		shown:    map[textPart]int64{},
		settled:  map[string]bool{},
		doubtful: map[string]bool{},
	}
}

// join says that another connection carries the stream from here on. What was shown is in doubt until it comes again, or is written.
func (s *shownText) join() {
	s.joined = true
	clear(s.doubtful)
	for part := range s.shown {
		s.doubtful[part.messageID] = true
	}
}

// show gives the event as the reader needs it: less what it has, and after what it missed.
func (s *shownText) show(event *clewv1.Event) []*clewv1.Event {
	if piece, ok := deltaOf(event); ok {
		return s.grow(event, piece)
	}
	var events []*clewv1.Event
	switch payload := event.GetPayload().(type) {
	case *clewv1.Event_CheckpointWritten:
		events = s.settle(event, payload.CheckpointWritten)
	case *clewv1.Event_RunStarted:
		s.forgetAll()
	case *clewv1.Event_MessageDiscarded:
		s.forget(payload.MessageDiscarded.GetMessageId())
	default:
		if isTerminal(event) {
			events = s.voidDoubtful(event, func(string) bool { return true })
		}
	}
	return append(events, event)
}

func (s *shownText) grow(event *clewv1.Event, piece delta) []*clewv1.Event {
	if s.settled[piece.messageID] {
		return nil
	}
	delete(s.doubtful, piece.messageID)
	var events []*clewv1.Event
	if len(s.parts(piece.kind, piece.messageID)) == 0 {
		// Agents inside nodes talk side by side: a new message says nothing of those of other nodes.
		path := nodePath(piece.messageID)
		events = s.voidDoubtful(event, func(messageID string) bool { return nodePath(messageID) == path })
	}
	size := int64(len(piece.text))
	known := max(0, s.shown[piece.textPart]-piece.offset)
	if known >= size && size > 0 {
		return events
	}
	s.shown[piece.textPart] = piece.offset + size
	if known == 0 {
		return append(events, piece.in(event))
	}
	piece.offset, piece.text = piece.offset+known, piece.text[known:]
	return append(events, piece.in(event))
}

func (s *shownText) settle(event *clewv1.Event, written *clewv1.CheckpointWritten) []*clewv1.Event {
	switch written.GetCheckpoint().GetSource() {
	case clewv1.CheckpointSource_CHECKPOINT_SOURCE_FORK:
		s.forgetAll()
		return nil
	case clewv1.CheckpointSource_CHECKPOINT_SOURCE_UPDATE:
		// Nobody says what was added or edited from outside: it is no text of a stream.
		return nil
	}
	messages := slices.Clone(written.GetMessages())
	for _, inside := range written.GetNodeMessages() {
		messages = append(messages, inside.GetMessage())
	}
	var events []*clewv1.Event
	for _, message := range messages {
		// A watch through another server than the run's may have had no more than a beginning.
		begun := len(s.parts(answer, message.GetId())) > 0
		if (s.joined || begun) && message.GetRole() == clewv1.Role_ROLE_ASSISTANT {
			events = append(events, s.restOf(event, message)...)
		}
		s.forget(message.GetId())
	}
	return events
}

// restOf gives what the reader missed of a message that is written now.
func (s *shownText) restOf(event *clewv1.Event, message *clewv1.Message) []*clewv1.Event {
	places := s.parts(answer, message.GetId())
	if s.settled[message.GetId()] || len(places) == 0 && !s.complete {
		return nil
	}
	before := frameOf(event)
	before.Version--
	var events []*clewv1.Event
	order := 0
	for index, part := range message.GetContent() {
		written, ok := part.GetKind().(*clewv1.Part_Text)
		if !ok {
			continue
		}
		// A message that is read back may lack parts (thoughts), so the order of text parts tells which is which, and not their index.
		place := int32(index)
		if order < len(places) {
			place = places[order]
		}
		order++
		missed := delta{textPart: textPart{answer, message.GetId(), place}}
		missed.offset = s.shown[missed.textPart]
		if text := written.Text.GetText(); missed.offset < int64(len(text)) {
			missed.text = strings.ToValidUTF8(text[missed.offset:], "\uFFFD")
			events = append(events, s.grow(before, missed)...)
		}
	}
	return events
}

// voidDoubtful gives up what is in doubt, as far as it is meant.
func (s *shownText) voidDoubtful(event *clewv1.Event, isMeant func(messageID string) bool) []*clewv1.Event {
	var messageIDs []string
	for messageID := range s.doubtful {
		if isMeant(messageID) {
			messageIDs = append(messageIDs, messageID)
		}
	}
	slices.Sort(messageIDs)
	var events []*clewv1.Event
	for _, messageID := range messageIDs {
		s.forget(messageID)
		discarded := frameOf(event)
		discarded.Payload = &clewv1.Event_MessageDiscarded{MessageDiscarded: &clewv1.MessageDiscarded{MessageId: messageID}}
		events = append(events, discarded)
	}
	return events
}

// parts are the indices of the parts of a message that the reader has something of, in order.
func (s *shownText) parts(kind textKind, messageID string) []int32 {
	var indices []int32
	for part := range s.shown {
		if part.kind == kind && part.messageID == messageID {
			indices = append(indices, part.index)
		}
	}
	slices.Sort(indices)
	return indices
}

func (s *shownText) forget(messageID string) {
	s.settled[messageID] = true
	delete(s.doubtful, messageID)
	for part := range s.shown {
		if part.messageID == messageID {
			delete(s.shown, part)
		}
	}
}

func (s *shownText) forgetAll() {
	clear(s.shown)
	clear(s.settled)
	clear(s.doubtful)
}

func deltaOf(event *clewv1.Event) (delta, bool) {
	switch payload := event.GetPayload().(type) {
	case *clewv1.Event_TextDelta:
		told := payload.TextDelta
		return delta{textPart{answer, told.GetMessageId(), told.GetPartIndex()}, told.GetOffset(), told.GetText()}, true
	case *clewv1.Event_ReasoningDelta:
		told := payload.ReasoningDelta
		return delta{textPart{thought, told.GetMessageId(), told.GetPartIndex()}, told.GetOffset(), told.GetText()}, true
	}
	return delta{}, false
}

// in is the event of the piece. It has the frame of another one, which it may be itself.
func (d delta) in(event *clewv1.Event) *clewv1.Event {
	if same, ok := deltaOf(event); ok && same == d {
		return event
	}
	told := frameOf(event)
	if d.kind == thought {
		told.Payload = &clewv1.Event_ReasoningDelta{ReasoningDelta: &clewv1.ReasoningDelta{
			MessageId: d.messageID, PartIndex: d.index, Offset: d.offset, Text: d.text,
		}}
		return told
	}
	told.Payload = &clewv1.Event_TextDelta{TextDelta: &clewv1.TextDelta{
		MessageId: d.messageID, PartIndex: d.index, Offset: d.offset, Text: d.text,
	}}
	return told
}

// frameOf is an event with everything but what happened, and the end of no version.
func frameOf(event *clewv1.Event) *clewv1.Event {
	return &clewv1.Event{
		ThreadId:   event.GetThreadId(),
		ThreadUid:  event.GetThreadUid(),
		RunId:      event.GetRunId(),
		Version:    event.GetVersion(),
		CreateTime: event.GetCreateTime(),
	}
}

// nodePath is the path of the node that a message is of; empty for the thread's own agent.
func nodePath(messageID string) string {
	return messageID[:max(0, strings.LastIndexByte(messageID, '/'))]
}
