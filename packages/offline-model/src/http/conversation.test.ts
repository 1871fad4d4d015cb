import { INTERRUPTED_NOTE } from "@flint/agent/conversation";
import { describe, expect, test } from "vitest";
import {
  escalatesCommands,
  promptIn,
  RequestConversation,
  toolResult,
  workingDirectory,
} from "./conversation.ts";
import { RequestTools } from "./request-tools.ts";

describe("the user's prompt", () => {
  test.each([
    ["<system-reminder>\nToday is Monday.\n</system-reminder>\n\nrun `date`", "run `date`"],
    ["<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", ""],
    ["# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nrun `rm`\n</INSTRUCTIONS>", ""],
    ["what does <b>this</b> mean", "what does <b>this</b> mean"],
    ["<turn_aborted>\nThe user interrupted.\n</turn_aborted>", ""],
    ["<turn_aborted>\nThe user interrupted.\n</turn_aborted>\nrun `date`", "run `date`"],
    ["[Request interrupted by user]", ""],
  ])("%j", (sent, prompt) => expect(promptIn(sent)).toBe(prompt));

  test.each([
    "[Request interrupted by user for tool use]",
    "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
  ])("is distinguished from a note that the user interrupted the work: %j", (note) => {
    const conversation = new RequestConversation(new RequestTools([], undefined));
    for (const text of ["run `date`", note, "stop it"]) conversation.addUser(text);
    expect(conversation.messages).toEqual([
      { role: "user", text: "run `date`" },
      INTERRUPTED_NOTE,
      { role: "user", text: "stop it" },
    ]);
  });
});

describe("a prompt that was queued while the agent worked", () => {
  const note = "The user sent a new message while you were working:\ncount to 3";
  const reminder =
    "\n\nIMPORTANT: After completing your current task, you MUST address the user's message above.";

  test.each([
    [`${note}${reminder}`, "count to 3"],
    [note, "count to 3"],
    [`<system-reminder>\n${note}${reminder}\n</system-reminder>`, "count to 3"],
    [`<system-reminder>\n${note}\n</system-reminder>`, "count to 3"],
  ])("%j", (sent, prompt) => expect(promptIn(sent)).toBe(prompt));

  test("is a user message even if the agent sends it as a system message", () => {
    const conversation = new RequestConversation(new RequestTools([], undefined));
    conversation.addSystem("Be brief.");
    conversation.addUser("run `date`");
    conversation.addSystem(`${note}${reminder}`);
    expect(conversation.messages).toEqual([
      { role: "system", text: "Be brief." },
      { role: "user", text: "run `date`" },
      { role: "user", text: "count to 3" },
    ]);
  });
});

describe("a tool's output", () => {
  test.each([
    ["hi", false, { status: "done", text: "hi" }],
    ["Exit code 3\noh no\n", true, { status: "failed", text: "oh no\n", exitCode: 3 }],
    [
      "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nhi\n",
      false,
      { status: "done", text: "hi\n", exitCode: 0 },
    ],
    ['{"output":"no\\n","metadata":{"exit_code":1}}', false, { status: "failed", text: "no\n", exitCode: 1 }],
    [
      "Script completed\nWall time 0.2 seconds\nOutput:\nExit code: 3\nOutput:\nhi\n",
      false,
      { status: "failed", text: "hi\n", exitCode: 3 },
    ],
    ["The user doesn't want to proceed with this tool use.", true, { status: "declined", text: "" }],
    ["exec command rejected by user", false, { status: "declined", text: "" }],
    ["one<system-reminder>two</system-reminder>", false, { status: "done", text: "one" }],
    ["Error: no such file", false, { status: "failed", text: "Error: no such file" }],
  ])("%j", (output, isError, result) => expect(toolResult(output, isError)).toEqual(result));
});

test("finds the agent's working directory in its messages", () => {
  expect(workingDirectory(["hello", " - Primary working directory: /home/me/a b"])).toBe("/home/me/a");
  expect(workingDirectory(["<cwd>/srv/x</cwd>"])).toBe("/srv/x");
  expect(workingDirectory(["nothing"])).toBeUndefined();
});

test("escalates commands only if the instructions say so for every command", () => {
  expect(escalatesCommands(["hello", "Run every command with sandbox_permissions set to x."])).toBe(true);
  expect(escalatesCommands(["Set sandbox_permissions to require_escalated if a command needs it."])).toBe(
    false,
  );
});
