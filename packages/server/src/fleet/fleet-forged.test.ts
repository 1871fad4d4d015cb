import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { TaskSpec } from "@flint/protocol";
import { RedisStore, type TaskSigner } from "@flint/tasks/fleet";
import { needs, scriptedDriver } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { embed } from "../embed.ts";
import { addToFleet, runGit, setUpFleet } from "../testing/fleet-fixture.ts";
import { signerOf } from "./fleet-service.ts";

const fleetTest = needs("redis", "git");

/** A server of a fleet, and somebody who writes tasks for its user's repository into Redis. */
async function setUp(signer?: (root: string) => Promise<TaskSigner>) {
  const { client, cwd, git, home, fleet } = await setUpFleet(() => []);
  const { spec } = await client.call("task/read", { taskId: await addToFleet(client, cwd) });
  const bare = home.join("remote.git");
  await runGit(home.path, "init", "-q", "--bare", bare);
  await git("push", "-q", bare, "main:refs/heads/main");
  const base = await git("rev-parse", "HEAD");
  const key = await signer?.(home.join("stranger"));
  const forger = await RedisStore.open({
    ...{ url: fleet.redis, namespace: fleet.namespace, version: "0" },
    ...(key && { sign: (id, { spec, by }) => key.sign({ namespace: fleet.namespace, id, by, spec }) }),
  });
  onTestFinished(() => forger.close());
  const prepared = { type: "round/prepared" as const, data: { base, folder: home.join("mine-1") } };
  const forge = async (id?: string, change: Partial<TaskSpec> = {}) => {
    const remote = { url: bare, commit: base, folder: "" };
    const task = { id, spec: { ...spec, remote, ...change }, by: "mallory", waiting: true };
    const state = await forger.add(task);
    await forger.commit({ task: state.id, expect: state.version, events: [prepared] });
    return state.id;
  };
  const refs = () => git("for-each-ref", "--format=%(refname)", "refs/flint");
  return { client, cwd, home, fleet, forger, forge, refs, key };
}

describe("a task that somebody wrote into the Redis of a fleet", () => {
  fleetTest("is shown by a server, which runs no git for it and decides nothing", async () => {
    const { client, forge, refs } = await setUp();
    const taskId = await forge();
    expect((await client.call("task/read", { taskId })).task).toMatchObject({ number: 2, title: "Port it" });
    const refused =
      "Task 2 can only be listed and removed here. The task is not signed. To remove it: flint tasks cancel 2, then flint tasks remove 2.";
    const calls = [
      () => client.call("task/diff", { taskId }),
      () => client.call("task/answer", { taskId, askId: "a", answer: { choice: "continue" } }),
      () => client.call("task/approve", { taskId, tree: null }),
      () => client.call("task/reject", { taskId, comments: "No" }),
      () => client.call("task/steer", { taskId, content: "Go on" }),
      () => client.call("task/suspend", { taskId }),
      () => client.call("task/resume", { taskId }),
      () => client.call("task/merge", { taskId, tree: null }),
      () => client.call("task/retry", { taskId }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(refused);
    expect(await refs()).toBe("");
  });

  fleetTest("is refused if it was signed for another task", async () => {
    const { client, forge, forger, refs } = await setUp();
    const [own] = (await client.call("task/list", {})).data;
    const [added] = await forger.events(own?.id ?? "");
    const state = await forger.read(await forge());
    if (state === undefined || added?.type !== "task/added") throw new Error("There is no task");
    await forger.restore({ ...state, id: "copied" }, [added]);
    await expect(client.call("task/diff", { taskId: "copied" })).rejects.toThrow(
      "signature of the task does not",
    );
    expect(await refs()).toBe("");
  });

  fleetTest("is removed with no folder, though its id is a path", async () => {
    const { client, home, forge, refs } = await setUp();
    for (const name of ["mine-1", "mine-source"]) await mkdir(home.join(name));
    const taskId = await forge("../mine");
    expect((await client.call("task/list", {})).data.map(({ id }) => id)).toContain(taskId);
    await client.call("task/cancel", { taskId });
    await client.call("task/remove", { taskId });
    expect((await client.call("task/list", {})).data).toHaveLength(1);
    expect([existsSync(home.join("mine-1")), existsSync(home.join("mine-source"))]).toEqual([true, true]);
    expect(await refs()).toBe("");
  });

  fleetTest("is worked for by a server that trusts its key, and by no other", async () => {
    const { client, cwd, home, fleet, forge, key } = await setUp(signerOf);
    const { publicKey = "" } = key ?? {};
    const taskId = await forge();
    await expect(client.call("task/diff", { taskId })).rejects.toThrow(
      `signed with ${publicKey}, which is not trusted here. Workers trust keys with --trust, servers with tasks.trust.`,
    );
    const drivers = [scriptedDriver({ id: "alpha", scripts: [] })];
    const root = home.join("second");
    const second = await embed({ root, cwd, drivers, tasks: { fleet: { ...fleet, trusted: [publicKey] } } });
    onTestFinished(() => second.close());
    expect(await second.client.call("task/diff", { taskId })).toEqual({ diff: "", tree: null });
  });
});
