import type { ThreadItem, Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { CUT_SHORT, fitContext, messagesOf, shortenText, tokensOf } from "./conversation.ts";
import type { Message } from "./model.ts";

const turn = (...items: ThreadItem[]): Turn => ({ id: "t", status: "completed", items });
const asked = (text: string): ThreadItem => ({
  type: "userMessage",
  id: "u",
  content: [{ type: "text", text }],
});
const said = (text: string): ThreadItem => ({ type: "agentMessage", id: "a", text });
const user = (text: string): Message => ({ role: "user", text });
const assistant = (text: string): Message => ({ role: "assistant", text, calls: [] });

test("a conversation is read from the turns, commands with their results", () => {
  const command: ThreadItem = {
    type: "commandExecution",
    id: "c",
    command: "ls",
    cwd: "/",
    status: "failed",
    exitCode: 2,
    aggregatedOutput: "no",
  };
  expect(messagesOf([turn(asked("Look."), command, said("It failed."))])).toEqual([
    user("Look."),
    { role: "assistant", text: "", calls: [{ callId: "c", tool: "shell", input: { command: "ls" } }] },
    { role: "tool", callId: "c", tool: "shell", status: "failed", exitCode: 2, text: "no" },
    assistant("It failed."),
  ]);
});

test("a turn that was cut short leaves no unfinished work", () => {
  expect(messagesOf([turn(asked("Look."))])).toEqual([user("Look."), CUT_SHORT]);
});

test("after a compaction only its summary is left of what came before", () => {
  const compaction: ThreadItem = { type: "contextCompaction", id: "x", summary: "They talked." };
  const turns = [turn(asked("One"), said("1")), turn(compaction), turn(asked("Two"), said("2"))];
  expect(messagesOf(turns)).toEqual([{ role: "system", text: "They talked." }, user("Two"), assistant("2")]);
});

test("the oldest exchanges are left out whole when the context is full, summaries stay", () => {
  const summary: Message = { role: "system", text: "s".repeat(40) };
  const messages = [
    summary,
    user("a".repeat(40)),
    assistant("b".repeat(40)),
    user("c".repeat(40)),
    assistant("d"),
  ];
  expect(fitContext(messages, 1000)).toEqual(messages);
  expect(fitContext(messages, 15)).toEqual([summary, ...messages.slice(3)]);
});

test("the latest exchange stays even if it is too long, with its results shortened", () => {
  const result: Message = {
    role: "tool",
    callId: "c",
    tool: "shell",
    status: "done",
    text: "x".repeat(10_000),
  };
  const call: Message = { role: "assistant", text: "", calls: [{ callId: "c", tool: "shell", input: {} }] };
  const [first, second, third] = fitContext([user("Look."), call, result], 100);
  expect([first, second]).toEqual([user("Look."), call]);
  expect(third).toMatchObject({
    text: expect.stringMatching(/^x{50}\n… 9900 characters left out …\nx{50}$/),
  });
});

test("tokens are about a quarter of the characters", () => {
  expect(tokensOf([user("12345678"), assistant("1234")])).toBe(3);
  expect(shortenText("short", 10)).toBe("short");
});
