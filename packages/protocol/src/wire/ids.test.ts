import { describe, expect, test } from "vitest";
import { Id, isId, mintId } from "./ids.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("new ids", () => {
  test("are valid UUIDs of version 7", () => {
    const ids = Array.from({ length: 1000 }, () => mintId());
    expect(ids.filter((id) => !UUID_V7.test(id))).toEqual([]);
    expect(ids.filter((id) => !isId(id))).toEqual([]);
  });

  test("are unique and sort in creation order, also within one millisecond", () => {
    const ids = Array.from({ length: 20_000 }, () => mintId());
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  test("contain their creation time", () => {
    // Later than any clock of another test in this process: ids never go back in time.
    const future = Date.UTC(2100, 0, 1);
    expect(Number.parseInt(mintId(future).replaceAll("-", "").slice(0, 12), 16)).toBe(future);
  });

  test("keep rising when the clock goes back or stands still for 5000 ids", () => {
    const now = Date.now() + 2000;
    const ids = [mintId(now), mintId(now - 60_000), ...Array.from({ length: 5000 }, () => mintId(now))];
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !UUID_V7.test(id))).toEqual([]);
  });
});

describe("an id from a peer or a file name", () => {
  test.each(["a", "t1", "msg-1", "call_9", "0190d3a5-7d1c-7000-8000-000000000000", "x".repeat(64)])(
    "%s is valid",
    (text) => {
      expect([isId(text), Id.safeParse(text).success]).toEqual([true, true]);
    },
  );

  test.each(["", ".", "..", "../x", "a/b", "a\\b", "a\0", "a\n", " a", "a b", "é", "a.b", "x".repeat(65)])(
    "%j is invalid",
    (text) => {
      expect([isId(text), Id.safeParse(text).success]).toEqual([false, false]);
    },
  );
});
