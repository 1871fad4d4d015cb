import type { FlintClient, ThreadHandle, TurnOptions } from "@flint/sdk";
import { Gate, type Script, scriptedDriver, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { embed } from "./embed.ts";

const gate = new Gate();
const SCRIPTS: readonly Script[] = [
  [{ text: "done" }],
  [{ fail: { message: "The model is gone." } }],
  [{ wait: gate }],
];

async function start(root: string) {
  const drivers = [scriptedDriver({ id: "alpha", scripts: [...SCRIPTS] })];
  const server = await embed({ root, cwd: root, drivers });
  onTestFinished(() => server.close());
  return server;
}

/** Asks for three turns that end in three ways, each with an id of its own. */
async function runAll(thread: ThreadHandle) {
  const stop = new AbortController();
  const run = (clientId: string, more: TurnOptions = {}) =>
    thread.run("go", { clientId, allowFailure: true, ...more }).then(({ turn, status, text }) => {
      return { id: turn.id, status, text, error: turn.error?.message };
    });
  const [completed, failed] = [await run("one"), await run("two")];
  const stopped = run("three", { signal: stop.signal });
  await Promise.race([gate.reached, stopped]);
  stop.abort();
  return [completed, failed, await stopped];
}

const resumed = (client: FlintClient, id: string) => client.resumeThread(id);

describe("a turn that is run again with its clientId", () => {
  test("has the outcome of the first time, also after a restart", async () => {
    const { path } = await temporaryFolder();
    const before = await start(path);
    const thread = await before.client.startThread({ cwd: path, model: "alpha" });
    const first = await runAll(thread);
    expect(first).toMatchObject([
      { status: "completed", text: "done" },
      { status: "failed", error: "The model is gone." },
      { status: "interrupted" },
    ]);
    expect(await runAll(thread)).toEqual(first);
    const failing = thread.run("go", { clientId: "two" });
    await expect(failing).rejects.toMatchObject({ name: "TurnFailedError", message: "The model is gone." });
    await before.close();
    const after = await start(path);
    expect(await runAll(await resumed(after.client, thread.id))).toEqual(first);
  });

  test("has all of its outcome where another client has seen its beginning", async () => {
    const { path } = await temporaryFolder();
    const answer = new Gate();
    const drivers = [scriptedDriver({ id: "alpha", scripts: [[{ text: "first" }, { wait: answer }]] })];
    const server = await embed({ root: path, cwd: path, drivers });
    onTestFinished(() => server.close());
    const thread = await server.client.startThread({ cwd: path, model: "alpha" });
    const first = thread.run("go", { clientId: "one" });
    await answer.reached;
    const other = await server.connect();
    onTestFinished(() => other.close());
    const handle = await other.resumeThread(thread.id);
    const again = handle.run("go", { clientId: "one" });
    await other.models();
    answer.open();
    expect((await again).text).toBe("first");
    expect((await again).turn.id).toBe((await first).turn.id);
  });
});
