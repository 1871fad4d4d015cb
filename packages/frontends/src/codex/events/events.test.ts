import type { EventBody } from "@flint/protocol";
import { CODEX_SERVER_NOTIFICATIONS } from "@flint/protocol/codex";
import { describe, expect, test } from "vitest";
import { RequestedPolicies } from "../wire/policies.ts";
import { messagesOf, type OutgoingNotification } from "./events.ts";

const ofTurn = { threadId: "t", turnId: "u" };
const ofItem = { ...ofTurn, itemId: "i" };

function sent(body: EventBody): OutgoingNotification[] {
  return messagesOf({ ...body, at: 7 }, new RequestedPolicies()).filter(
    (message) => message.kind === "notification",
  );
}

type Row = readonly [
  name: string,
  event: EventBody,
  messages: readonly (readonly [method: string, params: object])[],
];

const ROWS: readonly Row[] = [
  [
    "[S2-33] all changes of a turn",
    { type: "turn/diff/updated", data: { ...ofTurn, diff: "d" } },
    [["turn/diff/updated", { ...ofTurn, diff: "d" }]],
  ],
  [
    "[S2-34] the plan, in which a step that failed is pending",
    {
      type: "turn/plan/updated",
      data: {
        ...ofTurn,
        explanation: "",
        plan: [
          { step: "one", status: "completed" },
          { step: "two", status: "failed" },
        ],
      },
    },
    [
      [
        "turn/plan/updated",
        {
          ...ofTurn,
          explanation: null,
          plan: [
            { step: "one", status: "completed" },
            { step: "two", status: "pending" },
          ],
        },
      ],
    ],
  ],
  [
    "[S2-38] output of a command",
    { type: "item/commandExecution/outputDelta", data: { ...ofItem, delta: "x", offset: 3 } },
    [["item/commandExecution/outputDelta", { ...ofItem, delta: "x" }]],
  ],
  [
    "[S2-40] a delta of the reasoning",
    { type: "item/reasoning/textDelta", data: { ...ofItem, delta: "x", offset: 0 } },
    [["item/reasoning/textDelta", { ...ofItem, delta: "x", contentIndex: 0 }]],
  ],
  [
    "[S2-41] the first delta of a summary, which begins its only part",
    { type: "item/reasoning/summaryTextDelta", data: { ...ofItem, delta: "x", offset: 0 } },
    [
      ["item/reasoning/summaryPartAdded", { ...ofItem, summaryIndex: 0 }],
      ["item/reasoning/summaryTextDelta", { ...ofItem, delta: "x", summaryIndex: 0 }],
    ],
  ],
  [
    "[S2-41] a later delta of it",
    { type: "item/reasoning/summaryTextDelta", data: { ...ofItem, delta: "y", offset: 1 } },
    [["item/reasoning/summaryTextDelta", { ...ofItem, delta: "y", summaryIndex: 0 }]],
  ],
  [
    "[S2-43] [S2-86] the tokens as Codex counts them, of the last call and of all, with the context window",
    {
      type: "thread/tokenUsage/updated",
      data: {
        ...ofTurn,
        usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 30, thinkingTokens: 4 },
        last: {
          inputTokens: 10,
          outputTokens: 2,
          cacheReadTokens: 3,
          cacheWriteTokens: 5,
          thinkingTokens: 1,
        },
        modelContextWindow: 200_000,
      },
    },
    [
      [
        "thread/tokenUsage/updated",
        {
          ...ofTurn,
          tokenUsage: {
            total: {
              ...{ totalTokens: 154, inputTokens: 130, cachedInputTokens: 30, cacheWriteInputTokens: 0 },
              ...{ outputTokens: 24, reasoningOutputTokens: 4 },
            },
            last: {
              ...{ totalTokens: 21, inputTokens: 18, cachedInputTokens: 3, cacheWriteInputTokens: 5 },
              ...{ outputTokens: 3, reasoningOutputTokens: 1 },
            },
            modelContextWindow: 200_000,
          },
        },
      ],
    ],
  ],
  [
    "[S2-45] another model for the reason that Codex knows",
    {
      type: "model/rerouted",
      data: { ...ofTurn, fromModel: "a", toModel: "b", reason: "highRiskCyberActivity" },
    },
    [["model/rerouted", { ...ofTurn, fromModel: "a", toModel: "b", reason: "highRiskCyberActivity" }]],
  ],
  [
    "[S2-45] another model for any other reason, as a warning",
    { type: "model/rerouted", data: { ...ofTurn, fromModel: "a", toModel: "b", reason: "busy" } },
    [["warning", { threadId: "t", message: "Using b instead of a: busy" }]],
  ],
  [
    "[S2-47] a warning about a workspace's configuration",
    { type: "warning", data: { threadId: "t", message: "not trusted", reason: "workspace" } },
    [["configWarning", { summary: "not trusted", details: null }]],
  ],
  [
    "[S2-39] a patch that is being written, with its changes so far",
    {
      type: "item/fileChange/patchUpdated",
      data: { ...ofTurn, itemId: "i", changes: [{ path: "a", kind: "add", diff: "+a\n" }] },
    },
    [
      [
        "item/fileChange/patchUpdated",
        { ...ofTurn, itemId: "i", changes: [{ path: "a", kind: { type: "add" }, diff: expect.any(String) }] },
      ],
    ],
  ],
  [
    "[S2-47] an agent's warning about its configuration",
    {
      type: "warning",
      data: { threadId: "t", message: "no such key", reason: "configuration", details: "line 3" },
    },
    [["configWarning", { summary: "no such key", details: "line 3" }]],
  ],
  [
    "[S2-46] what an agent will no longer support",
    { type: "warning", data: { threadId: "t", message: "old key", reason: "deprecation" } },
    [["deprecationNotice", { summary: "old key", details: null }]],
  ],
  [
    "any other warning",
    { type: "warning", data: { threadId: "t", message: "damaged", reason: "damagedLog" } },
    [["warning", { threadId: "t", message: "damaged" }]],
  ],
  [
    "no error that ends a turn: it comes with its end",
    { type: "error", data: { ...ofTurn, error: { message: "x" }, willRetry: false } },
    [],
  ],
  [
    "a thread that was unloaded",
    { type: "thread/closed", data: { threadId: "t" } },
    [
      ["thread/status/changed", { threadId: "t", status: { type: "notLoaded" } }],
      ["thread/closed", { threadId: "t" }],
    ],
  ],
  [
    "a thread that was archived",
    { type: "thread/archived", data: { threadId: "t" } },
    [
      ["thread/status/changed", { threadId: "t", status: { type: "notLoaded" } }],
      ["thread/archived", { threadId: "t" }],
    ],
  ],
  [
    "a thread that was deleted",
    { type: "thread/deleted", data: { threadId: "t" } },
    [
      ["thread/status/changed", { threadId: "t", status: { type: "notLoaded" } }],
      ["thread/deleted", { threadId: "t" }],
    ],
  ],
  [
    "turns that were restored",
    { type: "thread/revert/undone", data: { threadId: "t", revertId: "r", turns: [] } },
    [["thread/reverted", { threadId: "t" }]],
  ],
  [
    "a hook that blocked, by Codex's own notification",
    {
      type: "item/completed",
      data: {
        ...ofTurn,
        item: { type: "hookRun", id: "h", event: "PreToolUse", status: "blocked", output: "Not now." },
      },
    },
    [
      [
        "hook/completed",
        {
          ...ofTurn,
          run: {
            ...{
              id: "h",
              eventName: "preToolUse",
              handlerType: "command",
              executionMode: "sync",
              scope: "turn",
            },
            ...{ sourcePath: "/", source: "unknown", displayOrder: 0, status: "blocked" },
            ...{ statusMessage: "PreToolUse", startedAt: 7, completedAt: 7, durationMs: null },
            entries: [{ kind: "error", text: "Not now." }],
          },
        },
      ],
    ],
  ],
  [
    "no extension notification of an agent",
    { type: "extension/notified", data: { threadId: "t", method: "x", params: {} } },
    [],
  ],
];

describe("a Codex client is sent", () => {
  test.each(ROWS)("%s", (_name, event, expected) => {
    const messages = sent(event);
    expect(messages.map(({ method, params }) => [method, params])).toEqual(expected);
    for (const { method, params } of messages) {
      expect(CODEX_SERVER_NOTIFICATIONS[method].params.safeParse(params)).toEqual({
        success: true,
        data: params,
      });
    }
  });

  test.each([
    ["ContextWindowExceeded", "contextWindowExceeded"],
    ["UsageLimitExceeded", "usageLimitExceeded"],
    ["InternalServerError", "internalServerError"],
    ["Unauthorized", "unauthorized"],
    ["BadRequest", "badRequest"],
    ["ThreadRollbackFailed", "threadRollbackFailed"],
    ["SandboxError", "sandboxError"],
    ["Other", "other"],
  ])("an error of the kind %s as %s, when its turn ends [S2-87]", (errorInfo, name) => {
    const turn = { id: "u", status: "failed" as const, items: [], error: { message: "x", errorInfo } };
    const messages = sent({ type: "turn/completed", data: { threadId: "t", turn } });
    const error = messages.find(({ method }) => method === "error");
    expect(error?.params).toMatchObject({ error: { codexErrorInfo: name }, willRetry: false });
  });
});
