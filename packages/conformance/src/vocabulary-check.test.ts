import { FLINT, HARNESS } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { problemsIn } from "./vocabulary-check.ts";
import type { Entry } from "./wire/wire.ts";

function entry(direction: Entry["direction"], message: object): Entry {
  return { direction, text: JSON.stringify(message), message: { ...message } };
}

const ask = entry("sent", { id: 1, method: "thread/list", params: {} });

describe("messages and the tables of a protocol", () => {
  test("fit if they are as documented; notifications of other names are not checked", () => {
    const answer = entry("came", { id: 1, result: { data: [] } });
    const refusal = entry("came", {
      id: 1,
      error: { code: -32001, message: "x", data: { reason: "threadNotFound" } },
    });
    const own = entry("came", { method: "anthropic/cache_updated", params: {} });
    expect(problemsIn(FLINT, [ask, answer, refusal, own])).toEqual([]);
  });

  test("rejects wrong results, codes, headers and non-objects", () => {
    const came = (message: object) => problemsIn(FLINT, [ask, entry("came", message)]);
    expect(came({ id: 1, result: { data: 7 } })).toEqual([
      expect.stringContaining("the result of thread/list"),
    ]);
    expect(came({ id: 1, error: { code: -1, message: "x", data: { reason: "threadNotFound" } } })).toEqual([
      expect.stringContaining("an error"),
    ]);
    expect(came({ jsonrpc: "2.0", id: 1, result: { data: [] } })).toEqual([
      expect.stringContaining("jsonrpc"),
    ]);
    expect(came({ method: "turn/started", params: {} })).toEqual([expect.stringContaining("turn/started")]);
    expect(problemsIn(HARNESS, [{ direction: "came", text: "oops", message: undefined }])).toEqual([
      'no object: "oops"',
    ]);
  });
});
