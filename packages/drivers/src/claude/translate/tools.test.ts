import { expect, test } from "vitest";
import { tasksAfter } from "./tools.ts";

test("shows todos as a plan with Claude's priorities", () => {
  const todos = [
    { content: "look", status: "completed", priority: "high" },
    { content: "write", status: "in_progress", priority: "someday" },
    { content: "rest", status: "pending" },
  ];
  const common = { itemId: "1", item: undefined, isDone: false, isDeclined: false };
  const use = { ...common, name: "TodoWrite", input: { todos } };
  expect([...tasksAfter(new Map(), use, undefined).values()]).toEqual([
    { step: "look", status: "completed", priority: "high" },
    { step: "write", status: "inProgress" },
    { step: "rest", status: "pending" },
  ]);
});
