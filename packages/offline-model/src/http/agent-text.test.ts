import { describe, expect, test } from "vitest";
import {
  escalatesCommands,
  isInterruption,
  isTitleRequest,
  promptIn,
  queuedPrompt,
  titleFor,
  toolResult,
  workingDirectory,
} from "./agent-text.ts";
import { RequestConversation } from "./request-conversation.ts";
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
  ])("%j", (sent, words) => expect(promptIn(sent)).toBe(words));

  test("is distinguished from a note that the user interrupted the work", () => {
    expect(isInterruption("[Request interrupted by user for tool use]")).toBe(true);
    expect(isInterruption("<turn_aborted>\nThe user interrupted.\n</turn_aborted>")).toBe(true);
    expect(isInterruption("stop it")).toBe(false);
  });
});

describe("a prompt that was queued while the agent worked", () => {
  const note = "The user sent a new message while you were working:\ncount to 3";
  const urge =
    "\n\nIMPORTANT: After completing your current task, you MUST address the user's message above.";

  test.each([
    [`${note}${urge}`, "count to 3"],
    [note, "count to 3"],
    [`<system-reminder>\n${note}${urge}\n</system-reminder>`, "count to 3"],
    [`<system-reminder>\n${note}\n</system-reminder>`, "count to 3"],
    ["Be brief.", undefined],
  ])("%j", (sent, words) => expect(queuedPrompt(sent)).toBe(words));

  test("is a user message even if the agent sends it as a system message", () => {
    const conversation = new RequestConversation(new RequestTools([], undefined));
    conversation.addSystem("Be brief.");
    conversation.addUser("run `date`");
    conversation.addSystem(`${note}${urge}`);
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
  ])("%j", (said, isError, result) => expect(toolResult(said, isError)).toEqual(result));
});

test("finds the agent's working directory in its messages", () => {
  expect(workingDirectory(["hello", " - Primary working directory: /home/me/a b"])).toBe("/home/me/a");
  expect(workingDirectory(["<cwd>/srv/x</cwd>"])).toBe("/srv/x");
  expect(workingDirectory(["nothing"])).toBeUndefined();
});

test("makes a short title from the words of a conversation", () => {
  expect(isTitleRequest("Generate a concise title for this conversation.")).toBe(true);
  expect(isTitleRequest("You are a coding agent. Give files a title.")).toBe(false);
  expect(titleFor("<session>\nrun `npm test` and then tell me what is wrong with it\n</session>")).toBe(
    "Run npm test and then tell me",
  );
  expect(titleFor("")).toBe("A conversation");
});

test("escalates commands only if the instructions say so for every command", () => {
  expect(escalatesCommands(["hello", "Run every command with sandbox_permissions set to x."])).toBe(true);
  expect(escalatesCommands(["Set sandbox_permissions to require_escalated if a command needs it."])).toBe(
    false,
  );
});
