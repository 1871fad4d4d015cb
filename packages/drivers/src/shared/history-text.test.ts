import type { ThreadItem, Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { historyText } from "./history-text.ts";

function turnOf(...items: ThreadItem[]): Turn {
  return { id: "t", status: "completed", items };
}

test("what was said, run and changed is told in order, each with how it ended", () => {
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
    "Command (failed): make",
    "File (add, completed): a.txt",
    "Agent: It is red.",
  ]);
});

test("the newest is kept if not all of it fits, and one long piece does not take the room of the others", () => {
  const pieces = Array.from({ length: 40 }, (_, at) => `${at} ${"x".repeat(5_000)}`);
  const text = historyText(
    pieces.map((each, at) => turnOf({ type: "agentMessage", id: `${at}`, text: each })),
  );
  expect(text.length).toBeLessThan(25_000);
  expect(text).toContain("(What came before is left out.)\nAgent: 29 ");
  expect(text.split("\n").at(-1)).toMatch(/^Agent: 39 x+…$/);
});

test("nothing is told of nothing", () => expect(historyText([turnOf()])).toBe(""));
