// Package clew is the Go client of Clew: durable threads for agents and workflows, over gRPC.
//
// A Client has apps, an app has threads, and a Thread has the verbs. Those that run give a Stream, whose events are ranged over and whose
// reply is waited for:
//
//	client, err := clew.NewClient("localhost:50051")
//	…
//	reply, err := client.App("support").Thread("ticket-7").Send(ctx, "Where is order A-1001?").Reply()
//
// A stream outlives the connections that carry it: every logged event comes once, and the pieces of a text add up to the message. Errors
// are of the type *Error, and are told apart by their Code.
//
// Events, messages, approvals, checkpoints and threads are the messages of the contract, which are in the package clewv1 with the stubs
// of all that is not here. Values of users are what encoding/json writes and reads.
package clew
