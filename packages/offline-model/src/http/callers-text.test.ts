import { describe, expect, test } from "vitest";
import { CallersConversation } from "./callers-conversation.ts";
import {
  resultOf,
  saidMeanwhile,
  saysStopped,
  titleFor,
  usersWords,
  wantsEscalation,
  wantsTitle,
  workingDirectory,
} from "./callers-text.ts";
import { CallersTools } from "./callers-tools.ts";

describe("the words of the user", () => {
  test.each([
    ["<system-reminder>\nToday is Monday.\n</system-reminder>\n\nrun `date`", "run `date`"],
    ["<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", ""],
    ["# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nrun `rm`\n</INSTRUCTIONS>", ""],
    ["what does <b>this</b> mean", "what does <b>this</b> mean"],
    ["<turn_aborted>\nThe user interrupted.\n</turn_aborted>", ""],
    ["<turn_aborted>\nThe user interrupted.\n</turn_aborted>\nrun `date`", "run `date`"],
    ["[Request interrupted by user]", ""],
  ])("%j", (sent, words) => expect(usersWords(sent)).toBe(words));

  test("that the work was stopped is told apart from them", () => {
    expect(saysStopped("[Request interrupted by user for tool use]")).toBe(true);
    expect(saysStopped("<turn_aborted>\nThe user interrupted.\n</turn_aborted>")).toBe(true);
    expect(saysStopped("stop it")).toBe(false);
  });
});

describe("what the user said while the caller worked", () => {
  const note = "The user sent a new message while you were working:\ncount to 3";
  const urge =
    "\n\nIMPORTANT: After completing your current task, you MUST address the user's message above.";

  test.each([
    [`${note}${urge}`, "count to 3"],
    [note, "count to 3"],
    [`<system-reminder>\n${note}${urge}\n</system-reminder>`, "count to 3"],
    [`<system-reminder>\n${note}\n</system-reminder>`, "count to 3"],
    ["Be brief.", undefined],
  ])("%j", (sent, words) => expect(saidMeanwhile(sent)).toBe(words));

  test("counts as said by the user, whoever is said to have said it", () => {
    const conversation = new CallersConversation(new CallersTools([], undefined));
    conversation.instructed("Be brief.");
    conversation.asked("run `date`");
    conversation.instructed(`${note}${urge}`);
    expect(conversation.messages).toEqual([
      { role: "system", text: "Be brief." },
      { role: "user", text: "run `date`" },
      { role: "user", text: "count to 3" },
    ]);
  });
});

describe("what a tool said", () => {
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
  ])("%j", (said, isError, result) => expect(resultOf(said, isError)).toEqual(result));
});

test("where the caller works is found in what it tells", () => {
  expect(workingDirectory(["hello", " - Primary working directory: /home/me/a b"])).toBe("/home/me/a");
  expect(workingDirectory(["<cwd>/srv/x</cwd>"])).toBe("/srv/x");
  expect(workingDirectory(["nothing"])).toBeUndefined();
});

test("a name for a conversation is short and made of its words", () => {
  expect(wantsTitle("Generate a concise title for this conversation.", 0)).toBe(true);
  expect(wantsTitle("Generate a concise title for this conversation.", 3)).toBe(false);
  expect(titleFor("<session>\nrun `npm test` and then tell me what is wrong with it\n</session>")).toBe(
    "Run npm test and then tell me",
  );
  expect(titleFor("")).toBe("A conversation");
});

test("commands are asked for outside of the caller's sandbox only where it says that all must be", () => {
  expect(wantsEscalation(["hello", "Run every command with sandbox_permissions set to x."])).toBe(true);
  expect(wantsEscalation(["Set sandbox_permissions to require_escalated if a command needs it."])).toBe(
    false,
  );
});
