import { describe, expect, test } from "vitest";
import { StreamMap } from "./stream-map.ts";

const MESSAGE = "item/agentMessage/delta";
const REASONING = "item/reasoning/textDelta";

describe("StreamMap", () => {
  test("keeps a value for each item and type of delta, in any order of access", () => {
    const map = new StreamMap<{ name: string }>();
    const names = [
      [MESSAGE, "a"],
      [REASONING, "a"],
      [MESSAGE, "b"],
    ] as const;
    for (const [type, itemId] of names)
      map.getOrCreate(type, itemId, () => ({ name: `${type} of ${itemId}` }));
    for (const [type, itemId] of [...names, ...names.toReversed(), ...names]) {
      expect(map.get(type, itemId)).toEqual({ name: `${type} of ${itemId}` });
    }
    expect(map.get(REASONING, "b")).toBeUndefined();
    expect(map.get(MESSAGE, "b")).toEqual({ name: `${MESSAGE} of b` });
    expect([...map.values()]).toHaveLength(3);
  });

  test("creates a value once, replaces it on set, and is empty after clear", () => {
    const map = new StreamMap<number>();
    expect(map.getOrCreate(MESSAGE, "a", () => 1)).toBe(1);
    expect(map.getOrCreate(MESSAGE, "a", () => 2)).toBe(1);
    expect(map.set(MESSAGE, "a", 3)).toBe(3);
    expect([map.get(MESSAGE, "a"), map.size]).toEqual([3, 1]);
    map.clear();
    expect([map.get(MESSAGE, "a"), map.size]).toEqual([undefined, 0]);
  });
});
