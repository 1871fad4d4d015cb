import type { ChildThread, Thread } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { textWidth } from "@flint/tui/draw";
import { expect, test } from "vitest";
import { findThread, threadTable } from "./thread-reference.ts";

function thread(id: string, preview: string): Thread {
  const now = Math.floor(Date.now() / 1000);
  return {
    id,
    preview,
    modelProvider: "flint",
    model: "flint/offline",
    createdAt: now,
    updatedAt: now - 7200,
    cwd: "/a/folder/with/a/long/path/to/it",
    status: { type: "idle" },
    archived: false,
    ephemeral: false,
  };
}

const threads = [
  thread("019a8d00-aaaa-7000", "explain to me why the login test fails since yesterday, in detail"),
  thread("019a8d00-abbb-7000", "日本語のとても長い題名がここにあります、そしてまだ続きます"),
];
const ids = threads.map(({ id }) => id);

test.each([40, 71, 100])("fits %i columns with short ids", (columns) => {
  const lines = threadTable(threads, { columns, ids }).trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(columns);
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["ID", "aaa-7000", "bbb-7000"]);
  expect(lines[1]).toContain("2 h ago");
  expect(lines[1]).toContain("explain");
});

test("keeps short ids unambiguous, with at least eight characters", () => {
  const [one] = threads.slice(0, 1);
  const shown = one === undefined ? [] : [one];
  const firstId = (all: readonly string[]) =>
    threadTable(shown, { columns: 80, ids: all }).split("\n")[1]?.split(" ")[0];
  expect(firstId([])).toBe("aaa-7000");
  expect(firstId(["019a8d01-aaaa-7000"])).toBe("0-aaaa-7000");
});

test("prints full ids and folders for programs", () => {
  const table = threadTable(threads, { ids: [] });
  expect(table).toContain("019a8d00-aaaa-7000  2 h ago  flint  /a/folder/with/a/long/path/to/it  explain");
});

test("finds the thread of a sub-agent by its id or the end of it, though it is not listed", async () => {
  const child: ChildThread = {
    ...{ id: "019a8d00-cccc-7000-child", turnId: "t", itemId: "i", preview: "look" },
    ...{ createdAt: 1, updatedAt: 1, status: "completed" },
  };
  const parent = { ...thread("019a8d00-aaaa-7000", "delegate"), childThreads: [child] };
  const fake = {
    listThreads: async ({ archived }: { archived?: boolean }) => ({
      data: archived === true ? [] : [parent],
    }),
    call: async (_method: string, { threadId }: { threadId: string }) => ({
      thread: thread(threadId, "look"),
    }),
  };
  // Only these two methods are used here.
  const client = fake as unknown as FlintClient;
  expect((await findThread(client, child.id, "/")).id).toBe(child.id);
  expect((await findThread(client, "-child", "/")).id).toBe(child.id);
  await expect(findThread(client, "other", "/")).rejects.toThrow("No thread");
});

test("`last` is the newest of one's own threads, and one of a task only where there are no others", async () => {
  const [own, task] = [thread("own", "mine"), { ...thread("task", "work"), taskId: "k" }];
  const last = async (...stored: Thread[]) => {
    const listThreads = async ({ ofTasks }: { ofTasks?: boolean }) => ({
      data: stored.filter(({ taskId }) => (taskId !== undefined) === ofTasks),
    });
    // Nothing else is asked of it.
    const client = { listThreads } as unknown as FlintClient;
    return (await findThread(client, "last", "/")).id;
  };
  expect([await last(task, own), await last(task)]).toEqual(["own", "task"]);
});
