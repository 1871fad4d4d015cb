import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect, onTestFinished, vi } from "vitest";
import { addTask, setUpTasks, type TaskFixture, untilPhase, writes } from "./testing/task-fixture.ts";

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
