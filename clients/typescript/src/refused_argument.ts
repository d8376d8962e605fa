/** What the client itself refuses, before anything is sent. */

import { ArgumentInvalidError } from "./errors.js";

/** The error for an argument that the client itself refuses. */
export function refusedArgument(field: string, why: string): ArgumentInvalidError {
  return new ArgumentInvalidError(`${field}: ${why}`, { metadata: { field } });
}
