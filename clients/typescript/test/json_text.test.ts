/** JSON of users goes there and back as it is. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { StateInvalidError } from "../src/errors.js";
import { decodeJson, encodeJson, encodeObject, type JsonValue } from "../src/json_text.js";

test("whole numbers that a number cannot hold are bigints, and are written as whole numbers", () => {
  const text = '{"big":9007199254740993,"least":-9223372036854775808,"most":9007199254740991,"real":0.1}';
  expect(decodeJson(text)).toEqual({
    big: 9007199254740993n,
    least: -9223372036854775808n,
    most: 9007199254740991,
    real: 0.1,
  });
  expect(encodeJson(decodeJson(text), "state_json")).toBe(text);
});

test("keys that stand twice, or are called like JavaScript's own, are keys like any other", () => {
  expect(decodeJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  expect(Object.entries(decodeJson('{"__proto__":{"x":1}}') as object)).toEqual([["__proto__", { x: 1 }]]);
});

test("what JSON cannot say is refused by the field's name", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "\ud800", [undefined], () => 1, new Map(), loop]) {
    const encode = () => encodeObject({ value }, "state_json");
    expect(encode).toThrow(StateInvalidError);
    expect(encode).toThrow("state_json");
  }
  expect(() => encodeObject([1], "state_json")).toThrow("an array");
  expect(() => encodeJson(undefined, "value_json")).toThrow(StateInvalidError);
});

test("undefined values of an object are left out, and dates are written as JavaScript writes them", () => {
  expect(encodeJson({ a: undefined, at: new Date(0) }, "state_json")).toBe('{"at":"1970-01-01T00:00:00.000Z"}');
});

test("every JSON value comes back as it went", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      // JSON has one zero.
      const expected = JSON.parse(JSON.stringify(value)) as JsonValue;
      expect(JSON.stringify(decodeJson(encodeJson(value, "v")), tell)).toBe(JSON.stringify(expected, tell));
    }),
  );
});

/** Numbers from 2^53 on come back as bigints of the same value. */
function tell(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
