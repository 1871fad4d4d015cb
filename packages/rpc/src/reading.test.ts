import { describe, expect, test } from "vitest";
import { decode, type Reading } from "./codec.ts";

const PLAIN: Reading = { params: "structured", ids: "plain" };
const ANY: Reading = { params: "any", ids: "any" };

function line(id: unknown, params?: unknown): string {
  return JSON.stringify({ id, method: "m", params });
}

describe("how strictly a call is read", () => {
  test.each([0, -3, 7, "a", ""])("takes the id %j where ids are plain", (id) => {
    expect(decode(line(id), PLAIN)).toMatchObject({ kind: "request", id });
  });

  test.each([1.5, true, { a: 1 }, ["x"], 2 ** 70])("knows no id %j where ids are plain", (id) => {
    expect(decode(line(id), PLAIN)).toMatchObject({ kind: "bad", id: null, fault: "invalid" });
    expect(decode(line(id))).toMatchObject({ kind: "request" });
  });

  test.each(["x", 5, false])("gives the params %j to an owner who wants any", (params) => {
    expect(decode(line(1, params), ANY)).toEqual({ kind: "request", id: 1, method: "m", params });
    expect(decode(line(1, params))).toMatchObject({ kind: "bad", id: 1 });
  });
});
