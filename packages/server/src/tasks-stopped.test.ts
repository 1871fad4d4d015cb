import { readFile } from "node:fs/promises";
import { needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addTask, setUpTasks, untilPhase, writes } from "./testing/task-fixture.ts";

const confined = needs("bwrap", "git");

describe("a command of a task that the sandbox stopped", () => {
  confined("says that it had no network, and which option allows it", async () => {
    const { client, cwd } = await setUpTasks(writes("b.txt", "x\n"));
    const checks = [{ name: "fetch", command: "echo Could not resolve host: example.org; exit 6" }];
    const { id } = await addTask(client, cwd, { checks, rounds: 1 });
    const { findings } = await untilPhase(client, id, "asking", "approving", "failed");
    const what =
      "fetch exited with 6. The sandbox has no network for it. Add the task with --network all (network: all in a file) to allow it.";
    expect(findings).toMatchObject([{ what }]);
    const setup = { command: "echo Could not resolve host: example.org; exit 6" };
    const { id: second } = await addTask(client, cwd, { setup });
    const { ask } = await untilPhase(client, second, "asking", "approving", "failed");
    expect(ask?.message).toContain("Add the task with --network all");
  });

  confined("says which file it could not write", async () => {
    const { client, cwd, home } = await setUpTasks(writes("b.txt", "x\n"));
    const checks = [{ name: "build", command: `echo x > ${home}/outside` }];
    const { id } = await addTask(client, cwd, { checks, rounds: 1 });
    const { findings } = await untilPhase(client, id, "asking", "approving", "failed");
    expect(findings[0]?.what).toContain(`The sandbox does not let commands write ${home}/outside.`);
    await expect(readFile(`${home}/outside`)).rejects.toThrow("ENOENT");
  });

  confined("says nothing of the sandbox if it failed by itself", async () => {
    const { client, cwd } = await setUpTasks(writes("b.txt", "x\n"));
    const { id } = await addTask(client, cwd, { checks: [{ name: "test", command: "exit 3" }], rounds: 1 });
    const { findings } = await untilPhase(client, id, "asking", "approving", "failed");
    expect(findings).toMatchObject([{ what: "test exited with 3" }]);
  });
});
