import type { UserQuestion } from "@flint/protocol";
import type { ClaudeToolAsk } from "@flint/protocol/claude";
import { expect, test } from "vitest";
import { testSettings } from "../testing/session-spec.ts";
import {
  actionOf,
  answerOutsideTurn,
  elicit,
  hookResponse,
  permissionOf,
  requestedPermission,
} from "./control-requests.ts";

test("asks the questions of an MCP server under its name, and accepts with the answers", async () => {
  const asked: (readonly UserQuestion[])[] = [];
  const requested_schema = {
    type: "object",
    properties: { loud: { type: "boolean", title: "Loudly?" }, times: { type: "integer" } },
    required: ["times"],
  };
  const ask = {
    subtype: "elicitation",
    mcp_server_name: "library",
    message: "How?",
    requested_schema,
  } as const;
  const response = await elicit(ask, async (questions) => {
    asked.push(questions);
    return { loud: { answers: ["Yes"] }, times: { answers: ["3"] } };
  });
  expect(response).toEqual({ action: "accept", content: { loud: true, times: 3 } });
  const options = [{ label: "Yes" }, { label: "No" }];
  expect(asked).toEqual([
    [
      {
        id: "loud",
        header: "Loudly?",
        question: "The MCP server library asks: How?\nLoudly? (optional)",
        options,
      },
      { id: "times", header: "times", question: "times (a whole number)" },
    ],
  ]);
});

const ASK = { hookSpecificOutput: expect.objectContaining({ permissionDecision: "ask" }) };
const NOTHING = { continue: true };

test.each([
  ["Bash", ASK, ASK],
  ["Write", ASK, ASK],
  ["mcp__library__find", ASK, ASK],
  ["SomethingNew", ASK, ASK],
  ["Read", ASK, NOTHING],
  ["Task", ASK, NOTHING],
  ["AskUserQuestion", ASK, NOTHING],
  ["TaskCreate", NOTHING, NOTHING],
  ["StructuredOutput", NOTHING, NOTHING],
])("makes Claude request permission for %s if it may change something", (tool, always, otherwise) => {
  expect(hookResponse(tool, "always")).toEqual(always);
  expect(hookResponse(tool, "unlessTrusted")).toEqual(otherwise);
  expect(hookResponse(tool, "never")).toEqual(otherwise);
});

function ask(
  tool_name: string,
  input: Record<string, unknown>,
  more: Partial<ClaudeToolAsk> = {},
): ClaudeToolAsk {
  return { subtype: "can_use_tool", tool_use_id: "t", tool_name, input, ...more };
}

test("describes exactly what needs approval, with a useful reason if there is one", () => {
  const command = ask("Bash", { command: "make" }, { description: "Builds it" });
  const common = { itemId: "i", reason: "Builds it" };
  expect(actionOf(command, "i", "/w", undefined)).toEqual({
    kind: "command",
    ...common,
    command: "make",
    cwd: "/w",
  });
  const request = ask(
    "Bash",
    { command: "make" },
    { description: "make", decision_reason_type: "hook", decision_reason: "policy" },
  );
  expect(actionOf(request, "i", "/w", undefined)).toEqual({
    kind: "command",
    itemId: "i",
    command: "make",
    cwd: "/w",
  });
  const changes = [{ path: "a", kind: "add" as const, diff: "+x" }];
  const write = ask("Write", { file_path: "/w/a", content: "x" });
  expect(actionOf(write, "i", "/w", changes)).toEqual({ kind: "fileChange", itemId: "i", changes });
  const named = ask("Write", { file_path: "/w/src/a", content: "x" }, { description: "src/a" });
  expect(actionOf(named, "i", "/w", changes)).toEqual({ kind: "fileChange", itemId: "i", changes });
  // Content that cannot be shown as a difference is shown as it is.
  expect(actionOf(write, "i", "/w", undefined)).toMatchObject({
    kind: "tool",
    tool: "Write",
    arguments: write.input,
  });
});

test("allows what was requested and nothing more, whatever the scope", () => {
  const input = { command: "make" };
  const allow = { behavior: "allow", updatedInput: input };
  for (const scope of ["once", "session", "always"] as const) {
    expect(permissionOf({ outcome: "allow", scope }, input)).toEqual(allow);
  }
  const no = { behavior: "deny", message: "No.", interrupt: false };
  expect(permissionOf({ outcome: "deny", scope: "once", message: "No." }, input)).toEqual(no);
  expect(permissionOf({ outcome: "cancel", scope: "once" }, input)).toMatchObject({
    behavior: "deny",
    interrupt: true,
  });
});

test("responds with an error to an unknown request, and denies one outside of a turn", () => {
  expect(answerOutsideTurn({ subtype: "can_use_tool" })).toEqual({
    error: expect.stringContaining("can_use_tool"),
  });
  expect(answerOutsideTurn({ subtype: "request_user_dialog" })).toHaveProperty("error");
  expect(answerOutsideTurn(ask("Bash", { command: "id" }))).toMatchObject({ response: { behavior: "deny" } });
});

test.each([
  ["leaves the sandbox", "Bash", { dangerouslyDisableSandbox: true }, { unconfined: true }],
  ["says that it does not", "Bash", { dangerouslyDisableSandbox: "true" }, undefined],
  ["asks for nothing", "Bash", {}, undefined],
  ["is not a command", "Write", { dangerouslyDisableSandbox: true }, undefined],
])("a tool that %s needs exactly that", (_, tool, input, needs) => {
  const settings = testSettings("claude/default", "/usr/share");
  expect(requestedPermission(ask(tool, { command: "x", ...input }), settings)).toEqual(needs);
  const open = { ...settings, sandboxPolicy: { type: "dangerFullAccess" } as const };
  expect(requestedPermission(ask(tool, { command: "x", ...input }), open)).toBeUndefined();
});
