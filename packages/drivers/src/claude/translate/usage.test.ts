import { type ClaudeFrame, decodeClaudeFrame } from "@flint/protocol/claude";
import { expect, test } from "vitest";
import { beginTurn, NEW_PROCESS, type ProcessMemory } from "./state.ts";
import { turnUsage } from "./usage.ts";

/** The end of a turn of which nothing was told before, and what is remembered from then on. */
function ended(modelUsage: object, memory: ProcessMemory) {
  const frame = result({ type: "result", subtype: "success", is_error: false, modelUsage });
  const [state, events] = turnUsage(beginTurn("turn", "/workspace", memory), frame);
  return { memory: state.memory, used: events.map((event) => Reflect.get(event, "last")) };
}

function result(frame: object): Extract<ClaudeFrame, { type: "result" }> {
  const read = decodeClaudeFrame(JSON.stringify(frame));
  if (!read.ok || read.frame.type !== "result") throw new Error("This is no result.");
  return read.frame;
}

test("what was used before a turn that ends without numbers is not told again after it", () => {
  const first = ended({ opus: { inputTokens: 10, outputTokens: 2 } }, NEW_PROCESS);
  expect(first.used).toMatchObject([{ inputTokens: 10, outputTokens: 2 }]);
  const interrupted = ended({}, first.memory);
  expect(interrupted.used).toEqual([]);
  const next = ended({ opus: { inputTokens: 15, outputTokens: 3 } }, interrupted.memory);
  expect(next.used).toMatchObject([{ inputTokens: 5, outputTokens: 1 }]);
});
