import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addTask, setUpTasks, untilPhase, verdict, type Work, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

/** An executor that changes something in each turn. */
function busy(): Work {
  let turns = 0;
  return (_text, _turn, folder) => {
    turns += 1;
    writeFileSync(join(folder, "b.txt"), `turn ${turns}\n`);
    return [{ text: "done" }];
  };
}

describe("a task comes to the user instead of going on for ever", () => {
  confined("when a check never ends", async () => {
    const { client, cwd } = await setUpTasks(busy());
    const checks = [{ command: "sleep 3600", timeoutSeconds: 1 }];
    const { id } = await addTask(client, cwd, { checks, reviewers: [], rounds: 2 });
    const task = await untilPhase(client, id, "asking", "failed", "approving");
    expect(task.ask).toMatchObject({ reason: "rounds" });
    expect(task.findings.at(-1)).toMatchObject({ what: "sleep 3600 did not end in time" });
  });

  confined("when the reviewer always rejects", async () => {
    let reviews = 0;
    const { client, cwd } = await setUpTasks(busy(), () => {
      reviews += 1;
      return [verdict("reject", [{ id: "x", severity: "blocker", what: `problem ${reviews}` }])];
    });
    const { id } = await addTask(client, cwd, { rounds: 2 });
    const task = await untilPhase(client, id, "asking", "failed", "approving");
    expect(task).toMatchObject({ round: 2, ask: { reason: "rounds" } });
    expect(reviews).toBe(2);
  });

  confined("when the reviewer answers nonsense, after it was asked once more", async () => {
    let reviews = 0;
    const { client, cwd } = await setUpTasks(busy(), () => {
      reviews += 1;
      return [{ text: "I like turtles." }];
    });
    const { id } = await addTask(client, cwd);
    const { ask } = await untilPhase(client, id, "asking", "failed", "approving");
    expect(ask).toMatchObject({ reason: "cannotJudge", message: expect.stringContaining("turtles") });
    expect(reviews).toBe(2);
  });

  confined("when its base does not exist", async () => {
    const { client, cwd } = await setUpTasks(busy());
    const { id } = await addTask(client, cwd, { base: "release-9" });
    const { ask } = await untilPhase(client, id, "asking", "failed", "approving");
    expect(ask).toMatchObject({ reason: "place", message: expect.stringContaining("no commit release-9") });
  });

  confined("when its folder does not exist", async () => {
    const { client, cwd } = await setUpTasks(busy());
    const { id } = await addTask(client, join(cwd, "none"));
    const { ask } = await untilPhase(client, id, "asking", "failed", "approving");
    expect(ask).toMatchObject({ reason: "place", message: expect.stringContaining("does not exist") });
  });
});

confined("a task in a repository with unfinished work leaves that work alone", async () => {
  const { client, cwd, git } = await setUpTasks(writes("b.txt", "x\n"));
  writeFileSync(join(cwd, "a.txt"), "unfinished\n");
  const { id: taskId } = await addTask(client, cwd, { reviewers: [], merge: "squash" });
  await untilPhase(client, taskId, "approving", "asking", "failed");
  const { diff, tree } = await client.call("task/diff", { taskId });
  expect(diff).not.toContain("unfinished");
  await client.call("task/approve", { taskId, tree });
  expect((await untilPhase(client, taskId, "done", "asking", "failed")).phase).toBe("done");
  expect(await git("status", "--porcelain")).toBe("M a.txt");
});
