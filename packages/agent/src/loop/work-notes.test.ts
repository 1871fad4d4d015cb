import { expect, test } from "vitest";
import type { Message, ToolCall } from "../models/model.ts";
import { summaryMessage } from "./conversation.ts";
import { notesIn, withNotes, workNotes } from "./work-notes.ts";

const call = (tool: string, input: ToolCall["input"]): Message => ({
  ...{ role: "assistant", text: "" },
  calls: [{ callId: "c", tool, input }],
});

const WORK: readonly Message[] = [
  { role: "user", text: 'Port the "parser"\nto TOML.' },
  call("update_plan", {
    plan: [
      { step: "read", status: "completed" },
      { step: "write", status: "pending" },
    ],
  }),
  call("write_file", { path: "src/a.ts", content: "x" }),
  call("apply_patch", { patch: "--- a/src/b.ts\n+++ b/src/b.ts\n@@\n--- /dev/null\n+++ b/src/c.ts\n" }),
  call("read_file", { path: "README.md" }),
];

test("a summary keeps the task, the open plan and the changed files, whatever the model writes", () => {
  const summary = withNotes("Nothing of importance happened.", workNotes(WORK));
  expect(notesIn(summary)).toEqual({
    requests: ['Port the "parser"\nto TOML.'],
    plan: ["write"],
    files: ["src/a.ts", "src/b.ts", "src/c.ts"],
  });
});

test("a summary of a summary keeps them too, and a model that repeats them does not double them", () => {
  const first = withNotes("One.", workNotes(WORK));
  const later: Message[] = [summaryMessage(first), { role: "user", text: "and the docs" }];
  const second = withNotes(`Two.\n\n${first}`, workNotes(later));
  expect(notesIn(second)).toEqual({
    requests: ['Port the "parser"\nto TOML.', "and the docs"],
    plan: ["write"],
    files: ["src/a.ts", "src/b.ts", "src/c.ts"],
  });
  expect(second.match(/What the user asked for:/g)).toHaveLength(1);
});

test("notes are bounded, and the first request always stays", () => {
  const many = Array.from(
    { length: 50 },
    (_, index): Message => ({ role: "user", text: `request ${index}` }),
  );
  const { requests } = workNotes([{ role: "user", text: "x".repeat(50_000) }, ...many]);
  expect(requests).toHaveLength(6);
  expect(requests[0]?.length).toBeLessThan(4_200);
  expect(requests.at(-1)).toBe("request 49");
});

test("a finished plan leaves no open steps", () => {
  const done = call("update_plan", { plan: [{ step: "write", status: "completed" }] });
  expect(workNotes([...WORK, done]).plan).toEqual([]);
  expect(workNotes([call("update_plan", { plan: "nonsense" })]).plan).toEqual([]);
});
