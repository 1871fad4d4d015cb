import type { BackgroundCommand } from "@flint/protocol";
import { BareDriver, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

const BUILD = { processId: "1", command: "make", cwd: "/code" };
const SERVER = { processId: "2", command: "npm start", cwd: "/code" };

/** A thread whose agent left two commands running. */
async function leftRunning() {
  let running: BackgroundCommand[] = [BUILD, SERVER];
  const driver = new BareDriver({
    run: async () => ({ status: "completed" }),
    isBusy: () => running.length > 0,
    backgroundCommands: async () => running,
    stopBackgroundCommand: async (processId) => {
      const before = running.length;
      running = running.filter((command) => command.processId !== processId);
      return running.length < before;
    },
  });
  const server = testEngine({ driver, idleMs: 1_000 });
  const client = server.connect();
  const threadId = await client.startThread();
  await client.runTurn(threadId, "build it");
  return { server, client, threadId };
}

test("background commands are listed and stopped by any client, one or all of them", async () => {
  const { server, threadId } = await leftRunning();
  const other = server.connect();
  const list = async () => (await other.call("thread/backgroundCommands/list", { threadId })).data;
  expect(await list()).toEqual([BUILD, SERVER]);
  const stop = (processId?: string) =>
    other.call("thread/backgroundCommands/stop", {
      threadId,
      ...(processId === undefined ? {} : { processId }),
    });
  expect(await stop("1")).toEqual({ stopped: ["1"] });
  expect(await stop("1")).toEqual({ stopped: [] });
  expect(await list()).toEqual([SERVER]);
  expect(await stop()).toEqual({ stopped: ["2"] });
  expect(await list()).toEqual([]);
});

test("a thread that is not loaded has no background commands, and an unknown one is an error", async () => {
  const { server, client, threadId } = await leftRunning();
  await client.call("thread/backgroundCommands/stop", { threadId });
  await client.call("thread/unsubscribe", { threadId });
  await server.clock.advance(5_000);
  expect((await client.call("thread/loaded/list", {})).data).toEqual([]);
  expect(await client.call("thread/backgroundCommands/list", { threadId })).toEqual({ data: [] });
  expect(await client.call("thread/backgroundCommands/stop", { threadId })).toEqual({ stopped: [] });
  const unknown = client.call("thread/backgroundCommands/list", { threadId: "no-such-thread" });
  await expect(unknown).rejects.toMatchObject({ kind: "threadNotFound" });
});
