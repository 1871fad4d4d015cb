import { existsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FlintClient } from "@flint/sdk";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addTask, setUpTasks, untilPhase, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

/** A task that is done: its result is approved and is a branch. */
async function finished(client: FlintClient, cwd: string): Promise<string> {
  const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
  await untilPhase(client, taskId, "approving", "asking", "failed");
  const { tree } = await client.call("task/diff", { taskId });
  await client.call("task/approve", { taskId, tree });
  expect((await untilPhase(client, taskId, "done", "asking", "failed")).phase).toBe("done");
  return taskId;
}

describe("cleaning up after tasks", () => {
  confined("removes the worktree of a task that is done, and keeps its result", async () => {
    const { client, cwd, home, git } = await setUpTasks(writes("b.txt", "x\n"));
    const taskId = await finished(client, cwd);
    const folder = join(home, "state-worktrees", `${taskId}-1`);
    const before = await client.call("task/clean", { dryRun: true });
    expect(before.data).toMatchObject([{ taskId, phase: "done" }]);
    expect(before.data[0]).not.toHaveProperty("kept");
    expect(before.data[0]?.bytes).toBeGreaterThan(0);
    expect(existsSync(folder)).toBe(true);
    await client.call("task/clean", {});
    expect(await readdir(join(home, "state-worktrees"))).toEqual([]);
    expect((await git("worktree", "list")).split("\n")).toHaveLength(1);
    expect((await client.call("task/diff", { taskId })).diff).toContain("b.txt");
    expect((await client.call("task/clean", {})).data).toEqual([]);
  });

  confined("keeps what is not finished, even if it is named and forced", async () => {
    const { client, cwd, home } = await setUpTasks(writes("b.txt", "x\n"));
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    const { data } = await client.call("task/clean", { taskIds: [taskId], force: true });
    expect(data).toMatchObject([{ taskId, kept: "not finished" }]);
    expect(existsSync(join(home, "state-worktrees", `${taskId}-1`))).toBe(true);
  });

  confined("keeps a cancelled task until it is named", async () => {
    const { client, cwd } = await setUpTasks(writes("b.txt", "x\n"));
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    await client.call("task/cancel", { taskId });
    expect((await client.call("task/clean", {})).data).toMatchObject([{ taskId, kept: "cancelled" }]);
    const { data } = await client.call("task/clean", { taskIds: [taskId] });
    expect(data[0]).not.toHaveProperty("kept");
    await client.call("task/retry", { taskId });
    expect((await untilPhase(client, taskId, "approving", "asking", "failed")).phase).toBe("approving");
  });

  confined("keeps a worktree with a change that is in no commit, unless it is forced", async () => {
    const { client, cwd, home } = await setUpTasks(writes("b.txt", "x\n"));
    const taskId = await finished(client, cwd);
    const folder = join(home, "state-worktrees", `${taskId}-1`);
    await writeFile(join(folder, "tree", "late.txt"), "only here\n");
    const kept = await client.call("task/clean", { taskIds: [taskId] });
    expect(kept.data).toMatchObject([{ taskId, kept: "changes in no commit" }]);
    expect(existsSync(join(folder, "tree", "late.txt"))).toBe(true);
    await client.call("task/clean", { taskIds: [taskId], force: true });
    expect(existsSync(folder)).toBe(false);
  });

  confined("keeps a worktree whose repository is gone, because its work may be nowhere else", async () => {
    const { client, cwd, home } = await setUpTasks(writes("b.txt", "x\n"));
    const taskId = await finished(client, cwd);
    await rm(cwd, { recursive: true });
    expect((await client.call("task/clean", {})).data).toMatchObject([{ kept: "changes in no commit" }]);
    await client.call("task/clean", { force: true });
    expect(existsSync(join(home, "state-worktrees", `${taskId}-1`))).toBe(false);
  });

  confined("happens automatically once a task has been done for the days that are set", async () => {
    const { client, cwd, home, stop, start } = await setUpTasks(writes("b.txt", "x\n"), undefined, {
      disk: { keepDays: 0 },
    });
    const taskId = await finished(client, cwd);
    // Stopping waits for what is being removed.
    await stop();
    expect(await readdir(join(home, "state-worktrees"))).toEqual([]);
    const { client: again } = await start();
    expect((await again.call("task/diff", { taskId })).diff).toContain("b.txt");
  });

  confined("removes the oldest worktrees first if there are too many", async () => {
    const { client, cwd, home, stop } = await setUpTasks(writes("b.txt", "x\n"), undefined, {
      disk: { maxWorktrees: 1 },
    });
    const first = await finished(client, cwd);
    const second = await finished(client, cwd);
    await stop();
    const names = await readdir(join(home, "state-worktrees"));
    expect([names.includes(`${first}-1`), names.includes(`${second}-1`)]).toEqual([false, true]);
  });
});

confined("a task asks before it works on a disk that is almost full", async () => {
  const { client, cwd, drivers } = await setUpTasks(writes("b.txt", "x\n"), undefined, {
    disk: { minFreeMb: 1e12 },
  });
  const { id } = await addTask(client, cwd, { reviewers: [] });
  const { ask } = await untilPhase(client, id, "approving", "asking", "failed");
  expect(ask).toMatchObject({ reason: "place", message: expect.stringContaining("almost full") });
  expect(ask?.message).toContain("flint tasks clean --dry-run");
  expect(drivers[0]?.turns).toEqual([]);
});
