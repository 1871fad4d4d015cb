import type { Thread, Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { transcript } from "./transcript.ts";

const THREAD: Thread = {
  id: "t1",
  preview: "fix the login\nplease",
  modelProvider: "flint",
  model: "flint/offline",
  cwd: "/repo",
  createdAt: 0,
  updatedAt: 0,
  archived: false,
  ephemeral: false,
  status: { type: "idle" },
};

function turn(items: Turn["items"], rest: Partial<Turn> = {}): Turn {
  return { id: "turn", status: "completed", items, ...rest };
}

test("a transcript has every prompt, message, command and change, in order", () => {
  const text = transcript(THREAD, [
    turn([
      { type: "userMessage", id: "1", content: [{ type: "text", text: "fix the login\nplease" }] },
      { type: "agentMessage", id: "2", text: "I look." },
      {
        type: "commandExecution",
        id: "3",
        command: "ls",
        cwd: "/repo",
        status: "completed",
        exitCode: 0,
        aggregatedOutput: "a\n",
      },
      {
        type: "fileChange",
        id: "4",
        status: "completed",
        changes: [{ path: "/repo/a", kind: "modify", diff: "-x\n+y\n" }],
      },
    ]),
  ]);
  expect(text).toBe(
    [
      "# fix the login",
      "- Thread: t1\n- Folder: /repo\n- Model: flint/offline\n- Started: 1970-01-01 00:00",
      "*Turn #1*",
      "## fix the login\n\nfix the login\nplease",
      "I look.",
      "```sh\n$ ls\na\n```\n\n(exit 0)",
      "```diff\n-x\n+y\n```\n\n(modify /repo/a: completed)\n",
    ].join("\n\n"),
  );
});

test("a prompt of one line is its own heading, and not repeated", () => {
  const content = [{ type: "text" as const, text: "fix the login" }];
  const text = transcript(THREAD, [turn([{ type: "userMessage", id: "1", content }])]);
  expect(text.endsWith("*Turn #1*\n\n## fix the login\n")).toBe(true);
});

test("output with a code fence cannot break out of its block", () => {
  const output = "```\n# a heading\n````";
  const text = transcript(THREAD, [
    turn([
      {
        type: "commandExecution",
        id: "1",
        command: "cat x",
        cwd: "/repo",
        status: "failed",
        aggregatedOutput: output,
      },
    ]),
  ]);
  expect(text).toContain(`\`\`\`\`\`sh\n$ cat x\n${output}\n\`\`\`\`\``);
});

test("a turn that did not complete says why, and an item of an unknown type is named", () => {
  const text = transcript({ ...THREAD, name: "Mine" }, [
    turn([{ type: "x-new", id: "1" }], { status: "failed", error: { message: "no model" } }),
  ]);
  expect(text).toMatch(/^# Mine\n/);
  expect(text).toContain("*x-new 1*\n\n*(failed: no model)*");
});
