import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  decode,
  ExactNumber,
  encodeError,
  encodeNotification,
  encodeNotificationRaw,
  encodeRequest,
  encodeResult,
  type Id,
  idText,
  type Reading,
} from "./codec.ts";
import { JSON_LIMITS } from "./json-text.ts";

const BARE = { header: false };
const HEADED = { header: true };

describe("reading messages", () => {
  it("reads each kind with and without the jsonrpc member [S4-5, S4-35, S4-42]", () => {
    for (const header of ["", '"jsonrpc":"2.0",']) {
      expect(decode(`{${header}"id":1,"method":"m","params":{"a":1}}`)).toEqual({
        kind: "request",
        id: 1,
        method: "m",
        params: { a: 1 },
      });
      expect(decode(`{${header}"method":"m","params":[1]}`)).toEqual({
        kind: "notification",
        method: "m",
        params: [1],
      });
      expect(decode(`{${header}"id":"x","result":null}`)).toEqual({
        kind: "response",
        id: "x",
        result: null,
      });
      expect(decode(`{${header}"id":2,"error":{"code":-1,"message":"no","data":[3]}}`)).toEqual({
        kind: "failure",
        id: 2,
        error: { code: -1, message: "no", data: [3] },
      });
    }
  });

  it("reads missing params and null params as no params", () => {
    const expected = { kind: "notification", method: "m", params: undefined };
    expect(decode('{"method":"m"}')).toEqual(expected);
    expect(decode('{"method":"m","params":null}')).toEqual(expected);
  });

  it("takes the result when the error is null", () => {
    expect(decode('{"id":1,"result":5,"error":null}')).toEqual({ kind: "response", id: 1, result: 5 });
  });

  it("reads an error of any shape as a failure, so that the caller receives it", () => {
    const failure = (error: string) => decode(`{"id":1,"error":${error}}`);
    expect(failure('"boom"')).toEqual({
      kind: "failure",
      id: 1,
      error: { code: -32603, message: "boom", data: "boom" },
    });
    expect(failure("{}")).toEqual({
      kind: "failure",
      id: 1,
      error: { code: -32603, message: "unknown error" },
    });
    expect(failure("7")).toMatchObject({ kind: "failure", error: { code: -32603, data: 7 } });
  });

  it("reads a failure with the id null, which a peer sends when it could not read the line", () => {
    expect(decode('{"id":null,"error":{"code":-32700,"message":"x"}}')).toMatchObject({
      kind: "failure",
      id: null,
    });
  });

  it.each([
    ["not json", "hello", null, "parse"],
    ["cut off", '{"id":1,"method":', null, "parse"],
    ["an empty batch", "[]", null, "invalid"],
    ["a batch", '[{"id":1,"method":"m"}]', null, "invalid"],
    ["null", "null", null, "invalid"],
    ["a number", "42", null, "invalid"],
    ["a string", '"s"', null, "invalid"],
    ["an empty object", "{}", null, "invalid"],
    ["a method that is a number", '{"id":7,"method":5}', 7, "invalid"],
    ["a method that is null", '{"id":7,"method":null}', 7, "invalid"],
    ["params that are a string", '{"id":"a","method":"m","params":"p"}', "a", "invalid"],
    ["params that are a number", '{"method":"m","params":1}', null, "invalid"],
    ["params that are false", '{"id":0,"method":"m","params":false}', 0, "invalid"],
    ["a request with the id null", '{"id":null,"method":"m"}', null, "invalid"],
    ["a result without an id", '{"result":1}', null, "invalid"],
    ["an id alone", '{"id":9}', 9, "invalid"],
  ])("refuses %s", (_, text, id, fault) => {
    expect(decode(text)).toMatchObject({ kind: "bad", id, fault });
  });

  it("does not quote the line in its message", () => {
    expect(JSON.stringify(decode("secret-token"))).not.toContain("secret");
  });
});

describe("ids", () => {
  it.each(["1", "0", "-5", '"a"', '""', "1.5", '{"a":[1,null]}', "[1]", "true", "false"])(
    "echoes %s",
    (text) => {
      expect(echo(text)).toBe(text);
    },
  );

  it("echoes numbers that JavaScript cannot hold digit by digit", () => {
    for (const text of [
      "1180591620717411303424",
      "9007199254740993",
      "1e400",
      "-1e400",
      "0.1000000000000000000001",
    ]) {
      expect(echo(text)).toBe(text);
    }
  });

  it("finds the digits also behind look-alikes", () => {
    const text = '{"a":{"id":1},"s":"\\"id\\":2,{","\\u0069d" : 1180591620717411303424 ,"method":"m"}';
    const incoming = decode(text);
    expect(incoming).toMatchObject({ kind: "request", id: new ExactNumber("1180591620717411303424") });
  });

  it("takes the last of two ids, as JSON parsers do", () => {
    expect(decode('{"id":1,"method":"m","id":2}')).toMatchObject({ kind: "request", id: 2 });
    expect(decode('{"id":1e400,"method":"m","id":1e401}')).toMatchObject({ id: new ExactNumber("1e401") });
  });

  function echo(id: string): string {
    const incoming = decode(`{"id":${id},"method":"m"}`);
    if (incoming.kind !== "request") throw new Error(`not a request: ${JSON.stringify(incoming)}`);
    const reply = encodeResult(incoming.id, {}, BARE);
    return reply.slice('{"id":'.length, -',"result":{}}'.length);
  }
});

describe("limits", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

  it("takes the deepest allowed nesting and refuses one more, with the id", () => {
    const inside = JSON_LIMITS.depth - 1;
    expect(decode(`{"id":1,"method":"m","params":${nested(inside)}}`).kind).toBe("request");
    expect(decode(`{"id":1,"method":"m","params":${nested(inside + 1)}}`)).toEqual({
      kind: "bad",
      id: 1,
      fault: "invalid",
      message: "the message is nested deeper than 128 levels",
    });
  });

  it("refuses 2,000 and 100,000 levels, also without an end", () => {
    for (const levels of [2_000, 100_000]) {
      expect(decode(nested(levels))).toMatchObject({ kind: "bad", id: null, fault: "invalid" });
      expect(decode("[".repeat(levels))).toMatchObject({ kind: "bad", id: null });
      expect(decode(`{"method":"m","params":${'{"a":'.repeat(levels)}`)).toMatchObject({
        kind: "bad",
        id: null,
      });
    }
  });

  it("does not count brackets inside strings", () => {
    const text = JSON.stringify({ method: "m", params: { code: '[{"\\'.repeat(1000) } });
    expect(decode(text)).toMatchObject({ kind: "notification" });
  });

  it("refuses a million members and names the limit", () => {
    const members = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":0`).join(",");
    expect(decode(`{"id":"x","method":"m","params":{${members}}}`)).toEqual({
      kind: "bad",
      id: "x",
      fault: "invalid",
      message: "the message has more than 100000 object members",
    });
  });

  it("refuses millions of small values", () => {
    const text = `{"id":3,"method":"m","params":[${"{},".repeat(1_000_000)}{}]}`;
    expect(decode(text)).toMatchObject({ kind: "bad", id: 3, message: expect.stringContaining("values") });
  });

  it("takes a long text with many colons and commas in strings", () => {
    const text = JSON.stringify({ method: "m", params: { text: '":,[{'.repeat(400_000) } });
    expect(decode(text)).toMatchObject({ kind: "notification" });
  });

  it("knows an answer over the limit, so that its request can be ended", () => {
    expect(decode(`{"id":4,"result":${nested(200)}}`)).toMatchObject({ kind: "bad", id: 4, answer: true });
  });

  it("does not parse a bomb as an id", () => {
    expect(decode(`{"id":${nested(400)},"method":"m"}`)).toMatchObject({ kind: "bad", id: null });
    expect(decode(`{"id":"${"x".repeat(2000)}","method":"m","params":${nested(400)}}`)).toMatchObject({
      id: null,
    });
  });
});

describe("prototype keys", () => {
  it.each([
    ["plain", '{"method":"m","params":{"__proto__":{"admin":true},"a":{"__proto__":1,"b":2}}}'],
    [
      "escaped",
      '{"method":"m","params":{"\\u005f\\u005fproto__":{"admin":true},"a":{"__pr\\u006Fto__":1,"b":2}}}',
    ],
  ])("are dropped when written %s", (_, text) => {
    const incoming = decode(text);
    expect(incoming).toEqual({ kind: "notification", method: "m", params: { a: { b: 2 } } });
    expect(Object.keys((incoming as { params: object }).params)).toEqual(["a"]);
    expect(Object.hasOwn({}, "admin") || "admin" in {}).toBe(false);
  });

  it("are dropped inside arrays and ids", () => {
    const incoming = decode('{"id":{"__proto__":1},"method":"m","params":[{"__proto__":1}]}');
    expect(JSON.stringify(incoming)).toBe('{"kind":"request","id":{},"method":"m","params":[{}]}');
  });

  it("are only text when they are a value", () => {
    expect(decode('{"method":"m","params":["__proto__"]}')).toMatchObject({ params: ["__proto__"] });
  });

  it("cannot pass for a member of the envelope", () => {
    expect(decode('{"__proto__":{"id":1,"method":"m"}}')).toMatchObject({ kind: "bad", id: null });
  });
});

describe("writing messages", () => {
  it("writes each kind, with the header only when asked", () => {
    expect(encodeRequest(1, "m", { a: 1 }, BARE)).toBe('{"id":1,"method":"m","params":{"a":1}}');
    expect(encodeRequest("x", "m", undefined, HEADED)).toBe('{"jsonrpc":"2.0","id":"x","method":"m"}');
    expect(encodeNotification("m", [1], HEADED)).toBe('{"jsonrpc":"2.0","method":"m","params":[1]}');
    expect(encodeNotificationRaw("m", '{"a":1}', BARE)).toBe('{"method":"m","params":{"a":1}}');
    expect(encodeResult(1, undefined, BARE)).toBe('{"id":1,"result":null}');
    expect(encodeError(null, { code: -32700, message: "no" }, HEADED)).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
    );
    expect(encodeError(1, { code: 1, message: "no", data: { limit: 5 } }, BARE)).toBe(
      '{"id":1,"error":{"code":1,"message":"no","data":{"limit":5}}}',
    );
  });

  it("writes U+FFFD for half a surrogate pair and keeps whole pairs and look-alikes", () => {
    const params = { text: "a\ud800b😀", path: "C:\\udc00" };
    const line = encodeNotification("m", params, BARE);
    expect(JSON.parse(line).params).toEqual({ text: "a\ufffdb😀", path: "C:\\udc00" });
    const raw = encodeNotificationRaw("m", '["\\uD83D\\uDE00\\uD83D","\\\\ud800"]', BARE);
    expect(JSON.parse(raw).params).toEqual(["😀\ufffd", "\\ud800"]);
  });

  it("keeps a spliced text on one line", () => {
    const line = encodeNotificationRaw("m", JSON.stringify({ a: ["x\ny"] }, null, 2), BARE);
    expect(line).not.toContain("\n");
    expect(decode(line)).toMatchObject({ params: { a: ["x\ny"] } });
  });

  it("reads half a surrogate pair as U+FFFD", () => {
    expect(decode('{"method":"m","params":["\\ud800","\\ud83d\\ude00"]}')).toMatchObject({
      params: ["\ufffd", "😀"],
    });
  });

  it("gives back every message that is read again", () => {
    const params = fc.oneof(
      fc.array(fc.jsonValue({ stringUnit: "binary" })),
      fc.dictionary(fc.string(), fc.jsonValue()),
    );
    const id: fc.Arbitrary<Id> = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    fc.assert(
      fc.property(id, fc.string(), params, fc.boolean(), (someId, method, someParams, header) => {
        const expected = JSON.parse(
          JSON.stringify(someParams).replaceAll(/\\ud[89a-f][\da-f]{2}/g, "\\ufffd"),
          (key, value) => (key === "__proto__" ? undefined : value),
        );
        const line = encodeRequest(someId, method, someParams, { header });
        expect(line).not.toMatch(/[\r\n]/);
        const incoming = decode(line);
        expect(incoming).toMatchObject({ kind: "request", method });
        if (incoming.kind !== "request") return;
        expect(idText(incoming.id)).toBe(idText(someId));
        expect(JSON.stringify(incoming.params)).toBe(JSON.stringify(expected));
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});

const PLAIN: Reading = { params: "structured", ids: "plain" };
const ANY: Reading = { params: "any", ids: "any" };

function line(id: unknown, params?: unknown): string {
  return JSON.stringify({ id, method: "m", params });
}

describe("how strictly a call is read", () => {
  test.each([0, -3, 7, "a", ""])("accepts the id %j where ids are plain", (id) => {
    expect(decode(line(id), PLAIN)).toMatchObject({ kind: "request", id });
  });

  test.each([1.5, true, { a: 1 }, ["x"], 2 ** 70])("rejects the id %j where ids are plain", (id) => {
    expect(decode(line(id), PLAIN)).toMatchObject({ kind: "bad", id: null, fault: "invalid" });
    expect(decode(line(id))).toMatchObject({ kind: "request" });
  });

  test.each(["x", 5, false])("passes the params %j on where any are read", (params) => {
    expect(decode(line(1, params), ANY)).toEqual({ kind: "request", id: 1, method: "m", params });
    expect(decode(line(1, params))).toMatchObject({ kind: "bad", id: 1 });
  });
});
