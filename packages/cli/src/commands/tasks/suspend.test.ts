import type { TaskRow } from "@flint/protocol";
import { expect, test } from "vitest";
import { reportOfAll } from "./suspend.ts";

// The report reads the numbers alone.
const rows = [1, 4].map((number) => ({ number }) as TaskRow);

test("the report counts the tasks, says which could not be changed, and how the others continue", () => {
  const skipped = [
    { taskId: "t3", number: 3, reason: "Task 3 needs an answer: it is already waiting for you." },
  ];
  expect(reportOfAll("task/suspendAll", { data: rows, skipped })).toBe(
    [
      "Suspended 2 tasks: #1, #4.",
      "",
      "Not suspended:",
      "  Task 3 needs an answer: it is already waiting for you.",
      "",
      "flint tasks resume --all continues them.",
      "",
    ].join("\n"),
  );
  expect(reportOfAll("task/resumeAll", { data: rows, skipped: [] })).toBe("Resumed 2 tasks: #1, #4.\n");
  expect(reportOfAll("task/resumeAll", { data: [], skipped: [] })).toBe("There is nothing to resume.\n");
});
