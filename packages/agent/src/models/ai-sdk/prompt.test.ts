import { expect, test } from "vitest";
import type { Message } from "../model.ts";
import { safeToolName, toPrompt } from "./prompt.ts";

const user = (text: string): Message => ({ role: "user", text });
const call = (callId: string, tool = "shell") => ({ callId, tool, input: {} });
const roles = (messages: readonly Message[]) => toPrompt(messages, "m").map(({ role }) => role);

test("sends only the first system message as instructions, later ones as notes", () => {
  const prompt = toPrompt(
    [
      { role: "system", text: "Be brief." },
      { role: "system", text: "Summary." },
      user("Hello"),
      { role: "system", text: "Late." },
    ],
    "m",
  );
  expect(prompt).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "<note>\nSummary.\n</note>" }] },
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    { role: "user", content: [{ type: "text", text: "<note>\nLate.\n</note>" }] },
  ]);
});

test("begins and ends with a user message", () => {
  expect(roles([])).toEqual(["user"]);
  expect(roles([{ role: "assistant", text: "Hi", calls: [] }])).toEqual(["user", "assistant", "user"]);
});

test("adds a missing result for every call before the next message", () => {
  const prompt = toPrompt(
    [
      user("Do it"),
      { role: "assistant", text: "", calls: [call("a"), call("b")] },
      { role: "tool", callId: "b", tool: "shell", status: "declined", text: "No." },
      { role: "tool", callId: "lost", tool: "shell", status: "done", text: "old" },
      user("Go on"),
    ],
    "m",
  );
  expect(prompt).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ toolCallId: "a" }, { toolCallId: "b" }] },
    {
      role: "tool",
      content: [
        { toolCallId: "b", output: { type: "error-text", value: "No." } },
        {
          toolCallId: "a",
          output: { type: "error-text", value: expect.stringContaining("was interrupted") },
        },
      ],
    },
    { role: "user", content: [{ text: expect.stringContaining("old") }] },
    { role: "user", content: [{ text: "Go on" }] },
  ]);
});

test("repairs ids, names and empty texts that an endpoint would reject", () => {
  const odd = "item/1: ü";
  const prompt = toPrompt(
    [
      user(""),
      { role: "assistant", text: "", calls: [] },
      { role: "assistant", text: "", calls: [call(odd, "my tool!"), call("x".repeat(65))] },
      { role: "tool", callId: odd, tool: "my tool!", status: "done", text: "" },
    ],
    "m",
  );
  expect(prompt).toMatchObject([
    { role: "user", content: [{ text: "(The message is empty.)" }] },
    { content: [{ toolCallId: "call_1", toolName: "my_tool_" }, { toolCallId: "call_2" }] },
    {
      content: [
        { toolCallId: "call_1", toolName: "my_tool_", output: { value: "(no output)" } },
        { toolCallId: "call_2" },
      ],
    },
  ]);
  expect(safeToolName("")).toBe("unnamed");
});

test("ignores malformed provider metadata", () => {
  const message = { role: "assistant", text: "Hi", calls: [call("a")] } as const;
  for (const content of [undefined, 7, [{ type: "call", text: "gone" }, null]]) {
    const prompt = toPrompt([user("Hello"), { ...message, providerMetadata: { model: "m", content } }], "m");
    expect(prompt[1]).toMatchObject({
      role: "assistant",
      content: expect.arrayContaining([expect.objectContaining({ toolCallId: "a" })]),
    });
  }
});
