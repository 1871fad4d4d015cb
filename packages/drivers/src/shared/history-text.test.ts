import type { ThreadItem, Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { historyText } from "./history-text.ts";

function turnOf(...items: ThreadItem[]): Turn {
  return { id: "t", status: "completed", items };
}

test("lists messages, commands and changes in order, each with its status", () => {
  const text = historyText([
    turnOf(
      { type: "userMessage", id: "1", content: [{ type: "text", text: "paint it red" }] },
      { type: "commandExecution", id: "2", command: "make", cwd: "/", status: "failed" },
      {
        ...{ type: "fileChange", id: "3", status: "completed" },
        changes: [{ path: "a.txt", kind: "add", diff: "" }],
      },
    ),
    turnOf({ type: "agentMessage", id: "4", text: "It is red." }),
  ]);
  expect(text.split("\n").slice(1)).toEqual([
    "User: paint it red",
    "Ran (failed): make",
    "File add (completed): a.txt",
    "Agent: It is red.",
  ]);
});

test("keeps the latest items if not all fit, and truncates long ones", () => {
  const pieces = Array.from({ length: 40 }, (_, at) => `${at} ${"x".repeat(5_000)}`);
  const text = historyText(
    pieces.map((each, at) => turnOf({ type: "agentMessage", id: `${at}`, text: each })),
  );
  expect(text.length).toBeLessThan(25_000);
  expect(text).toContain("(What came before is left out.)\nAgent: 29 ");
  expect(text.split("\n").at(-1)).toMatch(/^Agent: 39 x+ … \(3003 characters left out\)$/);
});

test("is empty for turns without items", () => expect(historyText([turnOf()])).toBe(""));
