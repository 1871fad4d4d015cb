import type { ThreadItem, Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import type { Message } from "../models/model.ts";
import {
  fitContext,
  INTERRUPTED_NOTE,
  messagesOf,
  splitConversation,
  tokensOf,
  withAllResults,
} from "./conversation.ts";

const turn = (...items: ThreadItem[]): Turn => ({ id: "t", status: "completed", items });
const userMessage = (text: string): ThreadItem => ({
  type: "userMessage",
  id: "u",
  content: [{ type: "text", text }],
});
const agentMessage = (text: string): ThreadItem => ({ type: "agentMessage", id: "a", text });
const user = (text: string): Message => ({ role: "user", text });
const assistant = (text: string): Message => ({ role: "assistant", text, calls: [] });

test("reads a conversation from stored turns, commands with their results", () => {
  const command: ThreadItem = {
    type: "commandExecution",
    id: "c",
    command: "ls",
    cwd: "/",
    status: "failed",
    exitCode: 2,
    aggregatedOutput: "no",
  };
  expect(messagesOf([turn(userMessage("Look."), command, agentMessage("It failed."))])).toEqual([
    user("Look."),
    { role: "assistant", text: "", calls: [{ callId: "c", tool: "shell", input: { command: "ls" } }] },
    { role: "tool", callId: "c", tool: "shell", status: "failed", exitCode: 2, text: "no" },
    assistant("It failed."),
  ]);
});

test("says of a command that the user ran it, not that it was interrupted", () => {
  const command: ThreadItem = {
    type: "commandExecution",
    id: "c",
    command: "ls",
    cwd: "/",
    source: "userShell",
    status: "completed",
    exitCode: 0,
    aggregatedOutput: "a.txt",
  };
  expect(messagesOf([turn(command), turn(userMessage("Look."), agentMessage("I see."))])).toEqual([
    { role: "assistant", text: "", calls: [{ callId: "c", tool: "shell", input: { command: "ls" } }] },
    { role: "tool", callId: "c", tool: "shell", status: "done", exitCode: 0, text: "a.txt" },
    assistant("(The user ran this command.)"),
    user("Look."),
    assistant("I see."),
  ]);
});

test("closes the work of an interrupted turn", () => {
  expect(messagesOf([turn(userMessage("Look."))])).toEqual([user("Look."), INTERRUPTED_NOTE]);
});

test("replaces what came before a compaction with its summary", () => {
  const compaction: ThreadItem = { type: "contextCompaction", id: "x", summary: "They talked." };
  const turns = [
    turn(userMessage("One"), agentMessage("1")),
    turn(compaction),
    turn(userMessage("Two"), agentMessage("2")),
  ];
  expect(messagesOf(turns)).toEqual([
    { role: "system", text: "Summary of the conversation so far.\nThey talked." },
    user("Two"),
    assistant("2"),
  ]);
});

test("drops whole exchanges, the oldest first, but not summaries", () => {
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

test("retains the latest exchange even if it is too long, with the middle of results cut out", () => {
  const result: Message = {
    role: "tool",
    callId: "c",
    tool: "shell",
    status: "done",
    text: `${"x".repeat(5_000)}${"y".repeat(5_000)}`,
  };
  const call: Message = { role: "assistant", text: "", calls: [{ callId: "c", tool: "shell", input: {} }] };
  const [first, second, third] = fitContext([user("Look."), call, result], 100);
  expect([first, second]).toEqual([user("Look."), call]);
  expect(third).toMatchObject({
    text: expect.stringMatching(/^x{47}\n\[\.\.\. 9906 characters left out \.\.\.\]\ny{47}$/),
  });
});

test("estimates four characters per token", () => {
  expect(tokensOf([user("12345678"), assistant("1234")])).toBe(3);
});

test("reads file changes, plans, searches and tool calls from stored turns", () => {
  const items: ThreadItem[] = [
    userMessage("Work."),
    {
      type: "fileChange",
      id: "f",
      status: "completed",
      changes: [{ path: "/w/a", kind: "modify", diff: "--- a/a\n+++ b/a\n" }],
    },
    { type: "plan", id: "p", text: "1. Look", entries: [{ step: "Look", status: "completed" }] },
    { type: "webSearch", id: "w", query: "flint" },
    {
      type: "mcpToolCall",
      id: "m",
      server: "notes",
      tool: "find",
      arguments: { q: "x" },
      status: "completed",
      result: { content: [] },
    },
    {
      type: "toolCall",
      id: "t",
      tool: "read_file",
      arguments: { path: "a" },
      status: "completed",
      result: "1\tx\0",
    },
    { type: "toolCall", id: "u", tool: "ask_user", arguments: [], status: "declined", error: "no" },
    agentMessage("Done."),
  ];
  const messages = messagesOf([turn(...items)]);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  expect(calls.map(({ tool, input }) => [tool, input])).toEqual([
    ["apply_patch", { patch: "--- a/a\n+++ b/a\n" }],
    ["update_plan", { plan: [{ step: "Look", status: "completed" }] }],
    ["search_web", { query: "flint" }],
    ["mcp__notes__find", { q: "x" }],
    ["read_file", { path: "a" }],
    ["ask_user", {}],
  ]);
  const results = messages.filter((message) => message.role === "tool");
  expect(results.map(({ status, text }) => `${status} ${text}`)).toEqual([
    "done The files were changed.",
    "done 1. Look",
    "done (The results are no longer available.)",
    'done {"content":[]}',
    "done 1\tx␀",
    "declined no",
  ]);
});

test("retains the prompt of the turn in a compaction during the turn", () => {
  const compaction: ThreadItem = { type: "contextCompaction", id: "x", summary: "They talked." };
  const summary: Message = { role: "system", text: "Summary of the conversation so far.\nThey talked." };
  const turns = [
    turn(userMessage("One"), agentMessage("1")),
    turn(userMessage("Two"), compaction, agentMessage("2")),
  ];
  expect(messagesOf(turns)).toEqual([summary, user("Two"), assistant("2")]);
  const failed: ThreadItem = { type: "contextCompaction", id: "x" };
  expect(messagesOf([turn(userMessage("One"), failed, agentMessage("1"))])).toEqual([
    user("One"),
    assistant("1"),
  ]);
});

test("never splits a call from its result", () => {
  const call = (callId: string): Message => ({
    role: "assistant",
    text: "",
    calls: [
      { callId: `${callId}1`, tool: "shell", input: {} },
      { callId: `${callId}2`, tool: "shell", input: {} },
    ],
  });
  const result = (callId: string): Message => ({
    ...{ role: "tool", callId, tool: "shell", status: "done" },
    text: "x".repeat(400),
  });
  const first = [call("a"), result("a1"), result("a2")];
  const second = [call("b"), result("b1"), result("b2")];
  const messages = [user("Go."), ...first, ...second];
  expect(splitConversation(messages, 10)).toEqual({ older: [user("Go."), ...first], newer: second });
  expect(splitConversation(messages, 250)).toEqual({ older: [user("Go."), ...first], newer: second });
  expect(splitConversation(messages, 10_000)).toEqual({ older: [], newer: messages });
});

test("adds a missing result for every call", () => {
  const calls = ["1", "2"].map((callId) => ({ callId, tool: "shell", input: {} }));
  const asks: Message = { role: "assistant", text: "", calls };
  const result: Message = { role: "tool", callId: "1", tool: "shell", status: "done", text: "x" };
  const missing = (callId: string): Message => ({
    ...{ role: "tool", callId, tool: "shell", status: "failed" },
    text: "(This did not run: the turn was interrupted.)",
  });
  expect(withAllResults([asks, result])).toEqual([asks, result, missing("2")]);
  expect(withAllResults([asks, user("?")])).toEqual([asks, missing("1"), missing("2"), user("?")]);
  expect(withAllResults([user("?"), assistant("!")])).toEqual([user("?"), assistant("!")]);
});
