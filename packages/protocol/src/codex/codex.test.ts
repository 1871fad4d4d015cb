import { describe, expect, test } from "vitest";
import {
  CODEX,
  CODEX_ITEMS,
  CODEX_REQUESTS,
  CodexCommandDecision,
  CodexReviewDecision,
  fieldsOf,
  readCodexItem,
  readCodexNotification,
  readCodexServerCall,
} from "./index.ts";

describe("what Codex says", () => {
  test("unknown fields pass, and a field may be null or left out alike", () => {
    const params = { threadId: "t", turnId: "u", itemId: "i", delta: "x", emittedAtMs: 1 };
    expect(readCodexNotification("item/agentMessage/delta", params)).toEqual({
      method: "item/agentMessage/delta",
      params,
    });
    const asked = { threadId: "t", turnId: "u", itemId: "i" };
    for (const reason of [undefined, null, "why"]) {
      expect(readCodexServerCall("item/fileChange/requestApproval", { ...asked, reason })).toBeDefined();
    }
  });

  test("what is unknown, or has another shape, is not read as anything", () => {
    expect(readCodexNotification("no/such", {})).toBeUndefined();
    expect(readCodexNotification("toString", {})).toBeUndefined();
    expect(readCodexNotification("turn/completed", { threadId: "t" })).toBeUndefined();
    expect(readCodexServerCall("attestation/generate", {})).toBeUndefined();
    expect(readCodexItem({ type: "sleep", id: "s" })).toBeUndefined();
    expect(readCodexItem({ type: "agentMessage", id: "m" })).toBeUndefined();
  });

  test("items are distinguished by their type", () => {
    for (const [type, schema] of Object.entries(CODEX_ITEMS)) {
      expect(fieldsOf(schema).map(({ name }) => name)).toEqual(expect.arrayContaining(["type", "id"]));
      expect(schema.safeParse({ type: `not ${type}`, id: "i" }).success).toBe(false);
    }
  });
});

test("all answers to an approval are words of the wire, old and new", () => {
  const amendment = { execpolicy_amendment: ["make"] };
  const words = [
    "accept",
    "acceptForSession",
    { acceptWithExecpolicyAmendment: amendment },
    "decline",
    "cancel",
  ];
  expect(words.map((word) => CodexCommandDecision.safeParse(word).success)).toEqual(words.map(() => true));
  const older = ["approved", "approved_for_session", "denied", { denied: { rejection: "no" } }, "abort"];
  expect(older.map((word) => CodexReviewDecision.safeParse(word).success)).toEqual(older.map(() => true));
});

test("the wire has no header, and one number for most of what can be wrong", () => {
  expect(CODEX.header).toBe(false);
  expect(CODEX.errorCodes).toMatchObject({
    threadNotFound: -32600,
    methodNotFound: -32600,
    overloaded: -32001,
  });
  expect(CODEX_REQUESTS["turn/start"].params).toBe(CODEX_REQUESTS["turn/start"].params);
});

test("the fields of an object are known, and which of them can be missing", () => {
  const fields = fieldsOf(CODEX_REQUESTS["turn/steer"].params);
  expect(fields).toEqual([
    { name: "threadId", isOptional: false },
    { name: "input", isOptional: false },
    { name: "expectedTurnId", isOptional: false },
  ]);
  expect(fieldsOf(CodexCommandDecision)).toEqual([]);
});
