import type { DriverEvent } from "@flint/core/ports";
import { type ClaudeFrame, type ClaudeFrameOf, decodeClaudeFrame } from "@flint/protocol/claude";
import { expect, test } from "vitest";
import { step } from "../translate.ts";
import { outcomeOf, turnUsage } from "./result.ts";
import { beginTurn, NEW_PROCESS, type ProcessMemory } from "./state.ts";

function result(fields: object): ClaudeFrameOf<"result"> {
  const decoded = decodeClaudeFrame(JSON.stringify({ type: "result", subtype: "success", ...fields }));
  if (!decoded.ok || decoded.frame.type !== "result") throw new Error("Not a result frame.");
  return decoded.frame;
}

const failed = (fields: object) => ({ status: "failed", error: expect.objectContaining(fields) });

test.each([
  [
    { is_error: false, terminal_reason: "completed", duration_ms: 9, session_id: "s" },
    { status: "completed" },
  ],
  [
    { is_error: true, result: "API Error: 400 no", api_error_status: 400 },
    failed({ errorInfo: "BadRequest", message: "API Error: 400 no", httpStatusCode: 400 }),
  ],
  [
    { is_error: true, result: "Overloaded", api_error_status: 529 },
    failed({ errorInfo: "InternalServerError" }),
  ],
  [
    { is_error: true, result: "Slow down", api_error_status: 429 },
    failed({ errorInfo: "UsageLimitExceeded" }),
  ],
  [{ is_error: true, result: "Who?", api_error_status: 401 }, failed({ errorInfo: "Unauthorized" })],
  [
    { subtype: "error_max_turns", is_error: true },
    failed({ errorInfo: "TurnLimitReached", message: expect.stringContaining("number of steps") }),
  ],
  [{ subtype: "error_max_budget_usd", is_error: true }, failed({ errorInfo: "BudgetExceeded" })],
  [{ subtype: "cancelled" }, { status: "interrupted" }],
  [{ subtype: "max_tokens" }, failed({ errorInfo: "OutputLimitReached" })],
  [
    { is_error: true, stop_reason: "refusal", result: "API Error: unable to respond" },
    failed({ errorInfo: "Refused", message: "API Error: unable to respond" }),
  ],
  [{ subtype: "error_during_execution", is_error: true, errors: ["a", "b"] }, failed({ message: "a\nb" })],
  [
    { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" },
    { status: "interrupted" },
  ],
  [
    { subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" },
    { status: "interrupted" },
  ],
])("[S3-26] [S3-56] [S4-17] reads the outcome from the result %j", (fields, outcome) => {
  expect(outcomeOf(result(fields), { error: undefined })).toEqual(outcome);
});

test("[S3-26] an answer that stays too long for Claude fails the turn by that limit", () => {
  const frame = result({ is_error: true, result: "API Error: exceeded the output token maximum" });
  expect(outcomeOf(frame, { error: "max_output_tokens" })).toEqual(
    failed({ errorInfo: "OutputLimitReached", message: "API Error: exceeded the output token maximum" }),
  );
});

test.each(["billing_error", "credits_required", "out_of_credits"])(
  "prefers the error %s that Claude reported to the HTTP status",
  (error) => {
    const frame = result({ is_error: true, result: "Credit balance is too low", api_error_status: 400 });
    expect(outcomeOf(frame, { error })).toEqual(failed({ errorInfo: "UsageLimitExceeded" }));
  },
);

test("fails a turn without the answer that its schema requires", () => {
  const structured = { error: undefined, isStructured: true };
  expect(outcomeOf(result({ structured_output: { answer: 1 } }), structured)).toEqual({
    status: "completed",
  });
  const unfit = failed({ message: expect.stringContaining("outputSchema") });
  expect(outcomeOf(result({ result: "Plain text." }), structured)).toEqual(unfit);
  const given = result({ subtype: "error_max_structured_output_retries", is_error: true });
  expect(outcomeOf(given, structured)).toEqual(unfit);
  expect(outcomeOf(result({ result: "Plain text." }), { error: undefined })).toEqual({ status: "completed" });
});

/** The usage events at the end of a turn that has emitted none, and the memory after it. */
function ended(modelUsage: object, memory: ProcessMemory) {
  const frame = result({ is_error: false, modelUsage });
  const [state, events] = turnUsage(beginTurn("turn", "/workspace", memory), frame);
  return { memory: state.memory, used: events.map((event) => Reflect.get(event, "last")) };
}

test("does not report usage again after a turn that ended without totals", () => {
  const first = ended({ opus: { inputTokens: 10, outputTokens: 2 } }, NEW_PROCESS);
  expect(first.used).toMatchObject([{ inputTokens: 10, outputTokens: 2 }]);
  const interrupted = ended({}, first.memory);
  expect(interrupted.used).toEqual([]);
  const next = ended({ opus: { inputTokens: 15, outputTokens: 3 } }, interrupted.memory);
  expect(next.used).toMatchObject([{ inputTokens: 5, outputTokens: 1 }]);
});

/** A frame of a sub-agent's message, which has one frame for each block. */
function subAgentFrame(id: string, inputTokens: number): ClaudeFrame {
  const usage = { input_tokens: inputTokens, output_tokens: 1, cache_read_input_tokens: 20 };
  const message = { id, model: "claude-haiku-4-5", content: [{ type: "text", text: "Looking." }], usage };
  const decoded = decodeClaudeFrame(
    JSON.stringify({ type: "assistant", message, parent_tool_use_id: "toolu_1" }),
  );
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.frame;
}

test("counts each call of a sub-agent once, as soon as its message comes", () => {
  let state = beginTurn("t", "/w");
  const usages: DriverEvent[] = [];
  for (const frame of [subAgentFrame("a", 500), subAgentFrame("a", 500), subAgentFrame("b", 700)]) {
    const [next, events] = step(state, frame);
    state = next;
    usages.push(...events.filter(({ type }) => type === "usage"));
  }
  const cached = { outputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 0 };
  expect(usages).toEqual([
    { type: "usage", last: { inputTokens: 500, ...cached }, parentItemId: "toolu_1" },
    { type: "usage", last: { inputTokens: 700, ...cached }, parentItemId: "toolu_1" },
  ]);
  // The end of the turn adds the rest of their output, which is not a call.
  const total = { inputTokens: 1200, outputTokens: 90, cacheReadInputTokens: 40 };
  const [, rest] = turnUsage(state, result({ modelUsage: { m: total }, total_cost_usd: 0.5 }));
  const output = { inputTokens: 0, outputTokens: 88, cacheReadTokens: 0, cacheWriteTokens: 0 };
  expect(rest).toEqual([{ type: "usage", last: output, calls: 0, cost: { amount: 0.5, currency: "USD" } }]);
});
