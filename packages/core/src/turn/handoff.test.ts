import type { Turn } from "@flint/protocol";
import { expect, test } from "vitest";
import { handoffSummary } from "./handoff.ts";

function turn(id: string, items: Turn["items"], status: Turn["status"] = "completed"): Turn {
  return { id, status, items };
}

function said(text: string): Turn["items"] {
  return [{ type: "userMessage", id: "u", content: [{ type: "text", text }] }];
}

test("the summary states what was asked, said, run and changed, and how a turn ended", () => {
  const text = handoffSummary([
    turn(
      "1",
      [
        ...said("fix it"),
        { type: "reasoning", id: "r", content: "hm" },
        { type: "commandExecution", id: "c", command: "npm test", cwd: "/", status: "failed", exitCode: 1 },
        {
          type: "fileChange",
          id: "f",
          status: "declined",
          changes: [{ path: "/a", kind: "modify", diff: "" }],
        },
      ],
      "interrupted",
    ),
  ]);
  expect(text).toBe(
    "User: fix it\nRan (exit 1): npm test\nFile modify (declined): /a\n(The turn was interrupted.)",
  );
});

test("the summary is bounded: long texts are cut, and the oldest turns are left out first", () => {
  const turns = Array.from({ length: 40 }, (_, place) =>
    turn(String(place), said(`${place} ${"x".repeat(5_000)}`)),
  );
  const text = handoffSummary(turns);
  expect(text.length).toBeLessThan(25_000);
  expect(text).toMatch(/^\(\d+ earlier turns are left out\.\)/);
  expect(text).toContain("User: 39 ");
  expect(text).toContain("characters left out");
});

test("the summary of no turns is empty", () => {
  expect(handoffSummary([])).toBe("");
});
