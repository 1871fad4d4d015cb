import { expect, test } from "vitest";
import { row } from "../../testing/task-row.ts";
import { threadOf } from "./show.ts";

test("the thread of a task can be opened where it ran, and other ones say where they are", () => {
  const thread = { threadId: "thread-1" };
  expect(threadOf(row(7, "running", { thread }))).toBe("thread-1");
  expect(threadOf(row(7, "running", { thread: { ...thread, worker: "local" } }))).toBe("thread-1");
  expect(() => threadOf(row(7, "ready"))).toThrow("Task 7 is ready and has no thread yet");
  expect(() => threadOf(row(7, "running", { thread: { ...thread, worker: "w2" } }))).toThrow(
    "The thread of task 7 is on worker w2.",
  );
});
