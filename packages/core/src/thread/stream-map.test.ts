import { describe, expect, test } from "vitest";
import { StreamMap } from "./stream-map.ts";

const MESSAGE = "item/agentMessage/delta";
const REASONING = "item/reasoning/textDelta";

describe("what belongs to streamed texts", () => {
  test("is told apart by item and by kind of text, in whatever order they are asked for", () => {
    const places = new StreamMap<{ name: string }>();
    const names = [
      [MESSAGE, "a"],
      [REASONING, "a"],
      [MESSAGE, "b"],
    ] as const;
    for (const [type, itemId] of names)
      places.getOrCreate(type, itemId, () => ({ name: `${type} of ${itemId}` }));
    for (const [type, itemId] of [...names, ...names.toReversed(), ...names]) {
      expect(places.get(type, itemId)).toEqual({ name: `${type} of ${itemId}` });
    }
    expect(places.get(REASONING, "b")).toBeUndefined();
    expect(places.get(MESSAGE, "b")).toEqual({ name: `${MESSAGE} of b` });
    expect([...places.values()]).toHaveLength(3);
  });

  test("is made once, replaced when it is set, and gone when all is cleared", () => {
    const places = new StreamMap<number>();
    expect(places.getOrCreate(MESSAGE, "a", () => 1)).toBe(1);
    expect(places.getOrCreate(MESSAGE, "a", () => 2)).toBe(1);
    expect(places.set(MESSAGE, "a", 3)).toBe(3);
    expect([places.get(MESSAGE, "a"), places.size]).toEqual([3, 1]);
    places.clear();
    expect([places.get(MESSAGE, "a"), places.size]).toEqual([undefined, 0]);
  });
});
