/** JSON as it travels: whole numbers stay whole, and what no server accepts is refused before it is sent. */

import { isInteger, parse, stringify } from "lossless-json";
import { StateInvalidError } from "./errors.js";

/**
 * A JSON value. Whole numbers beyond 2^53, which a number cannot hold, are `bigint`; all others are numbers. Both are taken, and a `bigint` is
 * written as a whole number.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;

/** A JSON object. Keys whose value is undefined are left out, as JSON.stringify does. */
export interface JsonObject {
  /** Any key. */
  [key: string]: JsonValue | undefined;
}

/** The value as JSON text. Throws StateInvalidError, naming the field, for what JSON cannot say (NaN, half of a surrogate pair, a function). */
export function encodeJson(value: unknown, field: string): string {
  const path = new Set<unknown>();
  try {
    check(value, path);
    return stringify(value) as string;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StateInvalidError(`${field}: ${why}; send plain JSON values`, { metadata: { field } });
  }
}

/** As `encodeJson`, for what must be an object. */
export function encodeObject(value: unknown, field: string): string {
  if (!isPlainObject(value)) {
    const kind = Array.isArray(value) ? "an array" : value === null ? "null" : typeof value;
    throw new StateInvalidError(`${field}: an object is due here, not ${kind}`, { metadata: { field } });
  }
  return encodeJson(value, field);
}

/** The value of a JSON text. Throws SyntaxError for what is none. */
export function decodeJson(text: string): JsonValue {
  // Of a key that stands twice the last one counts, as in JSON.parse.
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue }) as JsonValue;
}

function parseNumber(text: string): number | bigint {
  const value = Number(text);
  return isInteger(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws for what would be written as something else than it is. */
function check(value: unknown, path: Set<unknown>): void {
  switch (typeof value) {
    case "boolean":
    case "bigint":
      return;
    case "string":
      checkText(value);
      return;
    case "number":
      if (!Number.isFinite(value)) {
        throw new TypeError(`${value} is no JSON number`);
      }
      return;
    case "object":
      if (value !== null) {
        checkInside(value, path);
      }
      return;
    default:
      throw new TypeError(`${typeof value} is no JSON value`);
  }
}

function checkInside(value: object, path: Set<unknown>): void {
  if (path.has(value)) {
    throw new TypeError("a value that holds itself is no JSON");
  }
  path.add(value);
  if (Array.isArray(value)) {
    for (const each of value) {
      check(each, path);
    }
  } else if (typeof (value as { toJSON?: unknown }).toJSON !== "function") {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      throw new TypeError(`a ${value.constructor.name} is no plain object`);
    }
    for (const [key, each] of Object.entries(value)) {
      checkText(key);
      if (each !== undefined) {
        check(each, path);
      }
    }
  }
  path.delete(value);
}

function checkText(text: string): void {
  if (!text.isWellFormed()) {
    throw new TypeError("text with half of a surrogate pair");
  }
}
