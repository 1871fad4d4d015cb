import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { addTask, setUpTasks, untilPhase } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");
const SIZE = "8m";

/** Makes a folder a disk of its own, with what is in it. False where mounting is not permitted. */
function mountSmall(path: string): boolean {
  const copy = `${path}-copy`;
  mkdirSync(path, { recursive: true });
  cpSync(path, copy, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "tmpfs", path], { stdio: "pipe" });
  } catch (error) {
    // Only root may mount. A machine that promises to allow it must do so.
    if (process.env.FLINT_TEST_REQUIRE?.split(",").includes("mount")) throw error;
    return false;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", path]));
  cpSync(copy, path, { recursive: true });
  return true;
}

function fillUp(path: string): void {
  for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size; smaller pieces may still fit.
    }
  }
}

describe("a disk that becomes full during a turn has the task ask, and go on when there is room", () => {
  const folders = [
    ["the threads", "state/threads"],
    ["the worktrees", "state-worktrees"],
    ["the objects of the repository", "repo/.git"],
  ] as const;
  for (const [what, place] of folders)
    confined(`with ${what}`, async ({ skip }) => {
      let [disk, isMounted, turns] = ["", false, 0];
      const { client, cwd, stop, start } = await setUpTasks(
        (_text, _turn, folder) => {
          turns += 1;
          writeFileSync(join(folder, `${turns}.txt`), "x".repeat(20_000));
          if (turns === 1) fillUp(join(disk, "filler"));
          return [{ text: "done ".repeat(2000) }];
        },
        undefined,
        { disk: { minFreeMb: 1 } },
        async (home) => {
          disk = join(home, place);
          isMounted = mountSmall(disk);
        },
      );
      if (!isMounted) skip("A small disk cannot be mounted.");
      const { id: taskId } = await addTask(client, cwd, { reviewers: [], executors: [{ model: "alpha" }] });
      const { ask, attempt } = await untilPhase(client, taskId, "asking", "failed", "approving");
      expect(ask).toMatchObject({
        reason: "place",
        message: expect.stringMatching(/disk is full|Out of diskspace|No space left/),
      });
      expect(attempt).toBe(1);
      // Tasks that were acknowledged meanwhile are there after a restart.
      const { number } = await addTask(client, cwd, { reviewers: [], notBefore: Date.now() + 3_600_000 });
      await stop();
      rmSync(join(disk, "filler"));
      const { client: again } = await start();
      expect((await again.call("task/list", {})).data.map((task) => task.number)).toContain(number);
      await again.call("task/answer", { taskId, askId: ask?.id ?? "", answer: { choice: "continue" } });
      await untilPhase(again, taskId, "approving", "asking", "failed");
      const { task } = await again.call("task/read", { taskId });
      expect([task.phase, task.ask?.message]).toEqual(["approving", undefined]);
      expect((await again.call("task/diff", { taskId })).diff).toContain("1.txt");
    });
});
