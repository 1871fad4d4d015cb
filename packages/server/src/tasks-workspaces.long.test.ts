import { existsSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addTask, setUpTasks, untilPhase, verdict, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

describe("the place of a task", () => {
  confined("is prepared by its set-up command, which knows the task and its ports", async () => {
    const { client, cwd } = await setUpTasks(writes("b.txt", "x\n"));
    const setup = { command: 'echo "$FLINT_TASK_ID $FLINT_PORT_BASE" > ready.txt' };
    const checks = [{ command: "test -s ready.txt" }];
    const { id: taskId } = await addTask(client, cwd, { setup, checks, reviewers: [] });
    expect((await untilPhase(client, taskId, "approving", "asking", "failed")).phase).toBe("approving");
    const { diff } = await client.call("task/diff", { taskId });
    expect(diff).toContain(`+${taskId} 20100`);
  });

  confined("has the same ports for its agents as for its set-up command", async () => {
    const { client, cwd, drivers } = await setUpTasks(writes("b.txt", "x\n"));
    const { id: taskId } = await addTask(client, cwd);
    await untilPhase(client, taskId, "approving", "asking", "failed");
    const received = drivers.map(({ sessions }) => sessions.at(-1)?.settings.task);
    expect(received).toEqual([
      { taskId, portBase: 20_100 },
      { taskId, portBase: 20_100 },
    ]);
  });

  confined("whose set-up fails is not worked in: the user is asked", async () => {
    const { client, cwd, drivers } = await setUpTasks(writes("b.txt", "x\n"));
    const { id } = await addTask(client, cwd, { setup: { command: "echo no network; exit 3" } });
    const { ask } = await untilPhase(client, id, "approving", "asking", "failed");
    expect(ask).toMatchObject({
      reason: "place",
      message: expect.stringContaining("exited with 3. no network"),
    });
    expect(drivers[0]?.turns).toEqual([]);
  });

  confined("gets the ignored files that a trusted .worktreeinclude names, and lists them", async () => {
    const { client, cwd } = await setUpTasks((text, turn, folder) =>
      writes("b.txt", "x\n", folder)(text, turn, folder),
    );
    await writeFile(join(cwd, ".gitignore"), ".env\n");
    await writeFile(join(cwd, ".env"), "KEY=1\n");
    await writeFile(join(cwd, ".worktreeinclude"), ".env\n");
    const before = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, before.id, "approving", "asking", "failed");
    const untrusted = (await client.call("task/read", { taskId: before.id })).events;
    expect(untrusted.find(({ type }) => type === "round/prepared")?.data).not.toHaveProperty("included");
    expect(untrusted.find(({ type }) => type === "task/logged")?.data).toMatchObject({
      level: "warning",
      message: expect.stringContaining(".worktreeinclude is not trusted"),
    });
    const { files } = await client.call("workspace/read", { cwd });
    const listed = files.filter(({ path }) => path === ".worktreeinclude");
    expect(listed).toMatchObject([{ steers: ["tasks"], trusted: false }]);
    await client.call("workspace/trust", { cwd, files: listed });
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    const { events } = await client.call("task/read", { taskId });
    expect(events.find(({ type }) => type === "round/prepared")?.data).toMatchObject({
      included: [".env"],
    });
  });

  confined("is a copy if there is no repository, and the result is a patch", async () => {
    const { client, home } = await setUpTasks(writes("b.txt", "new\n"));
    const cwd = join(home, "notes");
    await mkdir(cwd);
    await writeFile(join(cwd, "a.txt"), "one\n");
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    const { tree } = await client.call("task/diff", { taskId });
    await client.call("task/approve", { taskId, tree });
    const { merged } = await untilPhase(client, taskId, "done", "asking", "failed");
    expect(merged?.note).toContain("git apply");
    expect(await readFile(merged?.ref ?? "", "utf8")).toContain("+new");
  });

  confined("that was removed by hand is made again from the last round", async () => {
    let turns = 0;
    const { client, cwd, git } = await setUpTasks((_text, _turn, folder) => {
      turns += 1;
      writeFileSync(join(folder, `round-${turns}.txt`), "x\n");
      return [{ text: "done" }];
    });
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    const { events } = await client.call("task/read", { taskId });
    const prepared = events.find(({ type }) => type === "round/prepared");
    const { folder } = Object(prepared?.data);
    await git("worktree", "remove", "--force", "--force", String(folder));
    await client.call("task/reject", { taskId, comments: "more" });
    const again = await untilPhase(client, taskId, "approving", "asking", "failed");
    expect(again).toMatchObject({ phase: "approving", attempt: 1, round: 2 });
    const { diff } = await client.call("task/diff", { taskId });
    expect([diff.includes("round-1.txt"), diff.includes("round-2.txt")]).toEqual([true, true]);
  });

  confined("that was removed is not made again for its diff, or to remove the task", async () => {
    const { client, cwd, git, home } = await setUpTasks(writes("b.txt", "x\n"));
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    const worktrees = join(home, "state-worktrees");
    await git("worktree", "remove", "--force", "--force", join(worktrees, `${taskId}-1/tree`));
    expect((await client.call("task/diff", { taskId })).diff).toContain("b.txt");
    expect(existsSync(join(worktrees, `${taskId}-1/tree`))).toBe(false);
    await client.call("task/cancel", { taskId });
    await client.call("task/remove", { taskId });
    expect(await readdir(worktrees)).toEqual([]);
  });

  confined("goes with the task, also if its repository is gone", async () => {
    const { client, cwd, home } = await setUpTasks(writes("b.txt", "x\n"));
    const { id: taskId } = await addTask(client, cwd, { reviewers: [] });
    await untilPhase(client, taskId, "approving", "asking", "failed");
    await client.call("task/cancel", { taskId });
    await rm(cwd, { recursive: true });
    await client.call("task/remove", { taskId });
    expect(await readdir(join(home, "state-worktrees"))).toEqual([]);
    expect((await client.call("task/list", {})).data).toEqual([]);
  });

  confined("of a new attempt is that of the failed one, and its result is the work of both", async () => {
    let turns = 0;
    const { client, cwd, git } = await setUpTasks(
      (_text, _turn, folder) => {
        turns += 1;
        if (turns === 2) return [{ fail: { message: "The agent broke", errorInfo: "AgentFailed" } }];
        writeFileSync(join(folder, `turn-${turns}.txt`), "x\n");
        return [{ text: "done" }];
      },
      () =>
        turns === 1
          ? [verdict("reject", [{ id: "x", severity: "blocker", what: "wrong" }])]
          : [verdict("approve")],
    );
    const { id: taskId } = await addTask(client, cwd);
    const task = await untilPhase(client, taskId, "approving", "asking", "failed");
    expect(task).toMatchObject({ phase: "approving", attempt: 2 });
    const { diff, tree } = await client.call("task/diff", { taskId });
    expect([diff.includes("turn-1.txt"), diff.includes("turn-3.txt")]).toEqual([true, true]);
    await client.call("task/approve", { taskId, tree });
    await untilPhase(client, taskId, "done", "asking", "failed");
    expect(await git("rev-list", "--count", "main..flint/port-it")).toBe("2");
  });
});
