/**
 * What the client throws: one unchecked class a code, under {@link dev.clew.errors.ClewException}.
 */
package dev.clew.errors;
