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

describe("a message of Codex", () => {
  test("may have unknown fields, and a field may be null or absent", () => {
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

  test("is undefined if its type is unknown or its shape unexpected", () => {
    expect(readCodexNotification("no/such", {})).toBeUndefined();
    expect(readCodexNotification("toString", {})).toBeUndefined();
    expect(readCodexNotification("turn/completed", { threadId: "t" })).toBeUndefined();
    expect(readCodexServerCall("attestation/generate", {})).toBeUndefined();
    expect(readCodexItem({ type: "sleep", id: "s" })).toBeUndefined();
    expect(readCodexItem({ type: "agentMessage", id: "m" })).toBeUndefined();
  });

  test("has items that are distinguished by their type", () => {
    for (const [type, schema] of Object.entries(CODEX_ITEMS)) {
      expect(fieldsOf(schema).map(({ name }) => name)).toEqual(expect.arrayContaining(["type", "id"]));
      expect(schema.safeParse({ type: `not ${type}`, id: "i" }).success).toBe(false);
    }
  });
});

test("all answers to an approval are accepted, old and new", () => {
  const amendment = { execpolicy_amendment: ["make"] };
  const decisions = [
    "accept",
    "acceptForSession",
    { acceptWithExecpolicyAmendment: amendment },
    "decline",
    "cancel",
  ];
  expect(decisions.map((decision) => CodexCommandDecision.safeParse(decision).success)).toEqual(
    decisions.map(() => true),
  );
  const older = ["approved", "approved_for_session", "denied", { denied: { rejection: "no" } }, "abort"];
  expect(older.map((word) => CodexReviewDecision.safeParse(word).success)).toEqual(older.map(() => true));
});

test("the vocabulary has no header, and one code for most errors", () => {
  expect(CODEX.header).toBe(false);
  expect(CODEX.errorCodes).toMatchObject({
    threadNotFound: -32600,
    methodNotFound: -32600,
    overloaded: -32001,
  });
  expect(CODEX_REQUESTS["turn/start"].params).toBe(CODEX_REQUESTS["turn/start"].params);
});

test("fieldsOf returns the fields of an object, and which are optional", () => {
  const fields = fieldsOf(CODEX_REQUESTS["turn/steer"].params);
  expect(fields).toEqual([
    { name: "threadId", isOptional: false },
    { name: "input", isOptional: false },
    { name: "expectedTurnId", isOptional: false },
  ]);
  expect(fieldsOf(CodexCommandDecision)).toEqual([]);
});
