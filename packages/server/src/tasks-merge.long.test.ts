import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect, onTestFinished, vi } from "vitest";
import {
  addTask,
  setUpTasks,
  type TaskFixture,
  untilPhase,
  untilTask,
  verdict,
  writes,
} from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

/** Approves a result as it is. */
async function approve(client: TaskFixture["client"], taskId: string) {
  await untilPhase(client, taskId, "approving", "asking", "failed");
  const { tree } = await client.call("task/diff", { taskId });
  await client.call("task/approve", { taskId, tree });
}

/** Leaves the journal as a server does that is killed between the merge and its report. */
async function forgetMerge(home: string) {
  const path = join(home, "state/tasks/journal.jsonl");
  const lines = (await readFile(path, "utf8")).split("\n");
  const merged = lines.findIndex((line) => line.includes('"type":"task/merged"'));
  expect(merged).toBeGreaterThan(0);
  await writeFile(path, `${lines.slice(0, merged).join("\n")}\n`);
}

describe("a server that was killed right after the merge of a task", () => {
  confined("finds it done and makes no second branch", async () => {
    const { client, cwd, home, git, stop, start } = await setUpTasks(writes("b.txt", "x\n"));
    const { id } = await addTask(client, cwd, { reviewers: [] });
    await approve(client, id);
    const { merged } = await untilPhase(client, id, "done", "asking", "failed");
    const heads = await git("for-each-ref", "refs/heads");
    await stop();
    await forgetMerge(home);
    const again = await untilPhase((await start()).client, id, "done", "asking", "failed");
    expect(again).toMatchObject({ phase: "done", merged });
    expect(await git("for-each-ref", "refs/heads")).toBe(heads);
  });

  confined("opens no second pull request", async () => {
    const gh = [
      "#!/bin/sh",
      '[ "$1" = --version ] && exit 0',
      'if [ "$2" = list ]; then',
      '  echo \'[{"url":"https://example.org/7","state":"OPEN","headRefOid":""}]\'',
      'else echo "$2" >> "$(dirname "$0")/calls"; echo https://example.org/7; fi',
    ].join("\n");
    const setup = await setUpTasks(writes("b.txt", "x\n"), undefined, {}, async (home, git) => {
      await mkdir(join(home, "bin"));
      await writeFile(join(home, "bin/gh"), gh, { mode: 0o755 });
      vi.stubEnv("PATH", `${join(home, "bin")}:${process.env.PATH}`);
      onTestFinished(() => void vi.unstubAllEnvs());
      await git("init", "-q", "--bare", join(home, "remote.git"));
      await git("remote", "add", "origin", join(home, "remote.git"));
    });
    const { client, cwd, home, stop, start } = setup;
    const { id } = await addTask(client, cwd, { reviewers: [], merge: "pr" });
    await approve(client, id);
    const { merged } = await untilPhase(client, id, "done", "asking", "failed");
    expect(merged).toMatchObject({ url: "https://example.org/7" });
    await stop();
    await forgetMerge(home);
    const again = await untilPhase((await start()).client, id, "done", "asking", "failed");
    expect(again).toMatchObject({ phase: "done", merged });
    expect(await readFile(join(home, "bin/calls"), "utf8")).toBe("create\n");
  });
});

describe("the merged result of a task", () => {
  const MERGED = { base: "target", merge: "squash", reviewers: [] };

  /** A branch to merge into that is not checked out. */
  const setUpTarget = async (...given: Parameters<typeof setUpTasks>) => {
    const setup = await setUpTasks(...given);
    await writeFile(join(setup.cwd, ".gitignore"), "*.tmp\n");
    await setup.git("add", ".");
    await setup.git("commit", "-q", "--amend", "--no-edit");
    await setup.git("branch", "target");
    return setup;
  };

  confined("is set up before it is checked, and reaches its branch", async () => {
    const { client, cwd, git } = await setUpTarget(writes("b.txt", "x\n"));
    const setup = { command: "touch ready.tmp" };
    const checks = [{ command: "test -f ready.tmp && test -f b.txt" }];
    const { id } = await addTask(client, cwd, { ...MERGED, setup, checks });
    await approve(client, id);
    const task = await untilPhase(client, id, "done", "asking", "failed");
    expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "done", round: 1 });
    expect(await git("log", "--format=%s", "target")).toBe("Port it\nfirst");
  });

  confined(
    "waits for the user, even if a reviewer approves, if it brings a file that tools obey",
    async () => {
      const { client, cwd, git } = await setUpTarget(writes(".npmrc", "script-shell=./x\n"));
      const { id: taskId } = await addTask(client, cwd, {
        ...{ ...MERGED, checks: [{ command: "true" }], approvedBy: "reviewer" },
      });
      const task = await untilPhase(client, taskId, "approving", "done", "asking", "failed");
      expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "approving" });
      expect(await git("log", "--format=%s", "target")).toBe("first");
      const { events } = await client.call("task/read", { taskId });
      expect(events.find(({ type }) => type === "task/reviewed")?.data).toMatchObject({
        protectedPaths: [".npmrc"],
      });
      await approve(client, taskId);
      await untilPhase(client, taskId, "done", "asking", "failed");
      expect(await git("log", "--format=%s", "target")).toBe("Port it\nfirst");
    },
  );

  confined("is reviewed and checked in the subfolder that the task was added in", async () => {
    const seen: string[] = [];
    const { client, cwd, git } = await setUpTarget(writes("b.txt", "x\n"), (_text, _turn, folder) => {
      seen.push(folder);
      return [verdict("approve")];
    });
    await mkdir(join(cwd, "sub"));
    await writeFile(join(cwd, "sub/c.txt"), "c\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "second");
    await git("branch", "-q", "-f", "target");
    const checks = [{ command: "test -f b.txt && test -f c.txt" }];
    const { id } = await addTask(client, join(cwd, "sub"), {
      ...{ ...MERGED, setup: { command: "test -f c.txt" }, checks },
      reviewers: [{ model: "beta" }],
    });
    await approve(client, id);
    const task = await untilPhase(client, id, "done", "asking", "failed");
    expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "done", round: 1 });
    expect(seen).toEqual([expect.stringMatching(/-review\/tree\/sub$/)]);
    expect(await git("ls-tree", "-r", "--name-only", "target")).toBe(
      ".gitignore\na.txt\nsub/b.txt\nsub/c.txt",
    );
  });

  confined("goes back to the executor if only the merged files fail a check", async () => {
    const prompts: string[] = [];
    const { client, cwd, git } = await setUpTarget((text, turn, folder) => {
      prompts.push(text);
      return writes(prompts.length === 1 ? "b.txt" : "c.txt", "x\n")(text, turn, folder);
    });
    const checks = [{ name: "pair", command: "test ! -f theirs.txt || test -f c.txt" }];
    const { id } = await addTask(client, cwd, { ...MERGED, checks });
    await untilPhase(client, id, "approving", "asking", "failed");
    await git("checkout", "-q", "target");
    await writeFile(join(cwd, "theirs.txt"), "x\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "theirs");
    await git("checkout", "-q", "main");
    await approve(client, id);
    await untilTask(client, id, ({ round, phase }) => round === 2 && phase === "approving");
    expect(prompts[1]).toContain("pair");
    await approve(client, id);
    await untilPhase(client, id, "done", "asking", "failed");
    expect(await git("log", "--format=%s", "target")).toBe("Port it\ntheirs\nfirst");
  });

  confined("that cannot be set up is not merged: the user is asked", async () => {
    const { client, cwd, git } = await setUpTarget(writes("b.txt", "x\n"));
    const setup = { command: "case $PWD in *-merge/*) echo no network; exit 3;; esac" };
    const { id } = await addTask(client, cwd, { ...MERGED, setup, checks: [{ command: "true" }] });
    await approve(client, id);
    const { ask } = await untilPhase(client, id, "done", "asking", "failed");
    expect(ask?.message).toContain("exited with 3. no network");
    expect(await git("log", "--format=%s", "target")).toBe("first");
  });
});

describe("the result of a task that was done without a merge", () => {
  confined("is merged later as it was shown, also when its worktree is gone", async () => {
    const { client, cwd, git } = await setUpTasks(writes("b.txt", "x\n"));
    await git("branch", "target");
    const given = { reviewers: [], merge: "none", base: "target" };
    const { id: taskId } = await addTask(client, cwd, given);
    await approve(client, taskId);
    const done = await untilPhase(client, taskId, "done", "asking", "failed");
    expect(done).not.toHaveProperty("merged");
    await client.call("task/clean", { taskIds: [taskId] });
    const { tree } = await client.call("task/diff", { taskId });
    await client.call("task/merge", { taskId, tree, merge: "squash" });
    const merged = await untilTask(client, taskId, (task) => task.merged !== undefined);
    expect(merged).toMatchObject({ merge: "squash", merged: { ref: "refs/heads/target" } });
    expect(await git("log", "--format=%s", "target")).toBe("Port it\nfirst");
    await expect(client.call("task/merge", { taskId, tree })).rejects.toThrow("already in refs/heads/target");
  });
});

confined(
  "a task is done again from a round of an earlier attempt, in a worktree with its files",
  async () => {
    let turns = 0;
    const { client, cwd, git } = await setUpTasks((text, turn, folder) => {
      turns += 1;
      return writes(`${turns}.txt`, "x\n")(text, turn, folder);
    });
    const { id: taskId } = await addTask(client, cwd, { reviewers: [], merge: "none" });
    for (const from of [{}, { fromAttempt: 1, fromRound: 1 }]) {
      await approve(client, taskId);
      await untilPhase(client, taskId, "done", "asking", "failed");
      await client.call("task/retry", { taskId, ...from });
    }
    const third = await untilPhase(client, taskId, "approving", "asking", "failed");
    const files = await git("ls-tree", "-r", "--name-only", third.result?.commit ?? "");
    expect([third.attempt, files]).toEqual([3, "1.txt\n3.txt\na.txt"]);
  },
);
