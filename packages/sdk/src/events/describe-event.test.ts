import { describe, expect, test } from "vitest";
import { type AgentEvent, readNotification } from "./agent-event.ts";
import { describeEvent } from "./describe-event.ts";

const place = { threadId: "t", turnId: "u" };

function event(method: string, data: object): AgentEvent {
  const read = readNotification(method, { ...place, ...data });
  if (!read.ok) throw new Error(read.problem);
  return read.event;
}

const item = (type: string, fields: object) => ({ item: { type, id: "i", ...fields } });
const command = { command: "npm test", cwd: "/code" };
const changes = [
  { path: "/project/a.ts", kind: "modify", diff: "" },
  { path: "/project/b.ts", kind: "add", diff: "" },
];
const approval = {
  id: "a",
  turnId: "u",
  action: { kind: "command", itemId: "i", command: "rm x", cwd: "/" },
  requestedAtMs: 1,
  expiresAtMs: 2,
};
const request = { id: "q", turnId: "u", itemId: "i", requestedAtMs: 1, expiresAtMs: 2 };
const resolved = (outcome: string) => ({
  approvalId: "a",
  itemId: "i",
  resolution: { decision: { outcome }, by: "client" },
});
const turn = (status: string, error?: object) => ({ turn: { id: "u", status, items: [], ...error } });

describe("describeEvent", () => {
  test.each([
    ["item/started", item("commandExecution", { ...command, status: "inProgress" }), "$ npm test …"],
    [
      "item/completed",
      item("commandExecution", { ...command, status: "completed", exitCode: 0 }),
      "$ npm test … exit 0",
    ],
    ["item/completed", item("commandExecution", { ...command, status: "declined" }), "$ npm test … declined"],
    [
      "item/started",
      item("fileChange", { changes, status: "inProgress" }),
      "Change /project/a.ts and 1 more …",
    ],
    [
      "item/completed",
      item("fileChange", { changes: changes.slice(1), status: "failed" }),
      "Add /project/b.ts … failed",
    ],
    ["item/started", item("mcpToolCall", { server: "web", tool: "get", status: "inProgress" }), "web.get …"],
    [
      "item/completed",
      item("mcpToolCall", { server: "web", tool: "get", status: "failed", error: "404" }),
      "web.get … failed: 404",
    ],
    [
      "item/completed",
      item("toolCall", { tool: "read", title: "Read a.ts", status: "completed" }),
      "Read a.ts … completed",
    ],
    ["item/started", item("webSearch", { query: "flint" }), "Web search: flint"],
    ["item/started", item("hologram", { beam: "wide", width: 3 }), "hologram i wide"],
    ["item/started", item("enteredReviewMode", { review: "main" }), "Review: main"],
    ["item/completed", item("contextCompaction", {}), "Context compacted"],
    ["item/mcpToolCall/progress", { itemId: "i", message: "half way" }, "… half way"],
    [
      "turn/plan/updated",
      {
        explanation: "",
        plan: [
          { step: "read", status: "completed" },
          { step: "write", status: "inProgress" },
        ],
      },
      "Plan: 1 of 2 done, now write",
    ],
    ["approval/requested", { approval }, 'waiting for approval of the command "rm x"'],
    ["approval/resolved", resolved("allow"), "allowed once"],
    ["approval/resolved", resolved("deny"), "declined"],
    [
      "question/requested",
      { request: { ...request, questions: [{ id: "c", question: "Which color?" }] } },
      "question: Which color?",
    ],
    ["turn/completed", turn("failed", { error: { message: "no credit" } }), "turn failed: no credit"],
    ["turn/completed", turn("interrupted"), "turn interrupted"],
    ["error", { error: { message: "slow down" }, willRetry: true }, "error: slow down (retrying)"],
    ["warning", { message: "disk full", reason: "disk" }, "warning: disk full"],
    ["model/rerouted", { fromModel: "a", toModel: "b", reason: "busy" }, "Using b instead of a: busy"],
  ])("describes %s %j as %s [S4-37]", (method, data, line) => {
    expect(describeEvent(event(method, data))).toBe(line);
  });

  test.each([
    ["item/agentMessage/delta", { itemId: "i", delta: "x", offset: 0 }],
    ["item/completed", item("agentMessage", { text: "the answer" })],
    ["item/started", item("userMessage", { content: [] })],
    ["item/completed", item("reasoning", { content: "hmm" })],
    ["turn/started", turn("inProgress")],
    ["turn/completed", turn("completed")],
    ["vendor/thing", {}],
  ])("skips %s %j", (method, data) => {
    expect(describeEvent(event(method, data))).toBeUndefined();
  });

  test("gives one short line without control characters", () => {
    const nasty = `printf "\u001b[2J"\nrm -rf ${"x".repeat(500)}`;
    const started = item("commandExecution", { command: nasty, cwd: "/", status: "completed", exitCode: 1 });
    const line = describeEvent(event("item/completed", started)) ?? "";
    expect(line).toMatch(/^\$ printf "/);
    expect(line).toMatch(/exit 1$/);
    expect(line.length).toBeLessThanOrEqual(160);
    expect(line).not.toMatch(/\p{Cc}/u);
  });
});
