import { ITEMS, type Item, LIMITS, type ThreadItem } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { TurnCaps } from "./turn-caps.ts";

const OUTPUT = "item/commandExecution/outputDelta";
const command: Item<"commandExecution"> = {
  type: "commandExecution",
  id: "c",
  command: "yes",
  cwd: "/",
  status: "completed",
};

describe("the output of a command", () => {
  test("is accepted up to its limit in bytes, and the missing bytes are stated", () => {
    const caps = new TurnCaps();
    const half = "é".repeat(LIMITS.output / 4);
    expect(caps.admit(OUTPUT, "c", half)).toBe(half);
    expect(caps.admit(OUTPUT, "c", "x")).toBe("x");
    expect(caps.admit(OUTPUT, "c", half)).toBe(half.slice(0, -1));
    expect(caps.admit(OUTPUT, "c", "y")).toBe("");
    const finished = caps.finish({ ...command, aggregatedOutput: `${half}x` });
    expect(finished).toEqual({ ...command, aggregatedOutput: `${half}x`, omittedOutputBytes: 3 });
  });

  test("is cut in the middle if it comes at once and is too long", () => {
    const finished = new TurnCaps().finish({ ...command, aggregatedOutput: "x".repeat(LIMITS.output + 10) });
    if (!("aggregatedOutput" in finished) || !("omittedOutputBytes" in finished))
      throw new Error("no output");
    expect(finished.aggregatedOutput).toContain(`[... ${finished.omittedOutputBytes} bytes left out ...]`);
    expect(String(finished.aggregatedOutput).length).toBeLessThanOrEqual(LIMITS.output);
  });

  test("adds what an agent has cut already to what we cut", () => {
    const aggregatedOutput = "x".repeat(LIMITS.output + 100);
    const own = new TurnCaps().finish({ ...command, aggregatedOutput });
    const both = new TurnCaps().finish({ ...command, aggregatedOutput, omittedOutputBytes: 5 });
    expect(Reflect.get(both, "omittedOutputBytes")).toBe(Number(Reflect.get(own, "omittedOutputBytes")) + 5);
  });

  test("is not made up if the completed item has none", () => {
    const caps = new TurnCaps();
    caps.admit(OUTPUT, "c", "x".repeat(LIMITS.output + 1));
    expect(caps.finish(command)).toEqual({ ...command, omittedOutputBytes: 1 });
  });
});

test("gives each text of an item its own limit, and messages a larger one", () => {
  const caps = new TurnCaps();
  const long = "x".repeat(LIMITS.text);
  expect(caps.admit("item/agentMessage/delta", "m", long)).toBe(long);
  expect(caps.admit("item/agentMessage/delta", "m", "y")).toBe("");
  expect(caps.admit("item/agentMessage/delta", "n", "y")).toBe("y");
  expect(caps.admit("item/reasoning/textDelta", "m", "y")).toBe("y");
});

test("cuts overlong text in completed messages, reasoning, plans and patches", () => {
  const long = "x".repeat(LIMITS.text + 1);
  const caps = new TurnCaps();
  const finished = [
    caps.finish({ type: "agentMessage", id: "a", text: long }),
    caps.finish({ type: "plan", id: "b", text: long }),
    caps.finish({ type: "reasoning", id: "c", content: long, summary: long }),
    caps.finish({ type: "fileChange", id: "d", changes: [], status: "completed", output: long }),
  ];
  for (const item of finished) {
    const texts = Object.values(item).filter((field) => typeof field === "string" && field.length > 100);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text).toMatch(/bytes left out/);
  }
});

test("bounds every field that the row of an item type calls long", () => {
  const long = "x".repeat(LIMITS.output + LIMITS.text);
  const types = Object.entries(ITEMS);
  for (const [type, { longFields }] of types) {
    // Only the fields that are bounded matter here.
    const item = {
      type,
      id: type,
      ...Object.fromEntries(longFields.map((field) => [field, long])),
    } as ThreadItem;
    const finished = new TurnCaps().finish(item);
    const whole = longFields.filter((field) => Reflect.get(finished, field) === long);
    expect({ type, whole }).toEqual({ type, whole: [] });
  }
});

test("returns the same object for short items and unknown types", () => {
  const caps = new TurnCaps();
  const unknown = { type: "x-sculpture", id: "u", text: "x".repeat(LIMITS.text + 1) };
  expect(caps.finish(unknown)).toBe(unknown);
  expect(caps.finish(command)).toBe(command);
});

describe("a turn that has used up its limit", () => {
  const DELTA = "item/agentMessage/delta";
  const long = "x".repeat(LIMITS.text);

  /** The caps of a turn with as many long messages as it may have. */
  function exhausted(): TurnCaps {
    const caps = new TurnCaps();
    for (let sent = 0; sent < LIMITS.turnText; sent += LIMITS.text) {
      expect(caps.admit(DELTA, `m${sent}`, long)).toBe(long);
    }
    return caps;
  }

  test("stores only a little of each further message, however many there are", () => {
    const caps = exhausted();
    for (const itemId of ["n", "o"]) {
      expect(caps.admit(DELTA, itemId, long)).toHaveLength(LIMITS.lateText);
      expect(caps.admit(DELTA, itemId, "y")).toBe("");
      const finished = caps.finish({ type: "agentMessage", id: itemId, text: long });
      expect(JSON.stringify(finished).length).toBeLessThan(2 * LIMITS.lateText);
      expect(JSON.stringify(finished)).toContain("bytes left out");
    }
  });

  test("cuts items that come complete, and states what is missing", () => {
    const caps = exhausted();
    const finished = caps.finish({ ...command, aggregatedOutput: "x".repeat(LIMITS.output) });
    expect(JSON.stringify(finished).length).toBeLessThan(2 * LIMITS.lateText);
    expect(finished).toHaveProperty("omittedOutputBytes");
  });

  test("leaves earlier messages whole", () => {
    const message = { type: "agentMessage", id: "m0", text: long } as const;
    expect(exhausted().finish(message)).toBe(message);
  });
});
