/**
 * Durable threads for agents and workflows, called over gRPC. A program begins with a {@link
 * dev.clew.Client}.
 *
 * <p>Events, messages, approvals, checkpoints and threads are the contract's own messages, of the
 * package {@code dev.clew.v1}. JSON that is the program's (state, values, arguments) is text in
 * both directions: the client neither parses nor writes it, so that no number is changed, and any
 * library reads it.
 */
package dev.clew;
