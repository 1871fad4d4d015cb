import { Gate, type Script, settled, TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { idleShutdown } from "./listening.ts";
import { OpenServer } from "./testing/open-server.ts";

const MINUTE = 60_000;

/** A server that ends after ten minutes without clients; whether it would have ended by now is asked with `hasEnded`. */
async function open(scripts: readonly Script[] = []) {
  const { path: folder } = await temporaryFolder();
  const made = testEngine({ scripts });
  // The times of connections are their own.
  const server = await OpenServer.start({
    engine: made.engine,
    folder,
    clock: new TestClock(),
    atEnd: onTestFinished,
  });
  const clock = new TestClock();
  let hasEnded = false;
  void idleShutdown(server.listening, made.engine, clock, 10 * MINUTE).then(() => {
    hasEnded = true;
  });
  const pass = async (minutes: number) => {
    await clock.advance(minutes * MINUTE);
    for (let turn = 0; turn < 20; turn += 1) await settled();
    return hasEnded;
  };
  return { made, server, pass };
}

test("exits after the idle time without a client", async () => {
  const { pass } = await open();
  expect([await pass(9.9), await pass(0.2)]).toEqual([false, true]);
});

test("restarts the idle time when the last client disconnects", async () => {
  const { server, pass } = await open();
  expect(await pass(9)).toBe(false);
  const client = await server.client();
  expect(await pass(30)).toBe(false);
  await client.close();
  await server.listening.empty();
  expect([await pass(9), await pass(10)]).toEqual([false, true]);
});

test("counts a client that connected and disconnected meanwhile", async () => {
  const { server, pass } = await open();
  expect(await pass(9)).toBe(false);
  await (await server.client()).close();
  await server.listening.empty();
  expect([await pass(2), await pass(7), await pass(5)]).toEqual([false, false, true]);
});

test("stays while a turn is running without a client", async () => {
  const gate = new Gate();
  const { made, pass } = await open([[{ wait: gate }]]);
  const client = made.connect();
  const { thread } = await client.call("thread/start", {});
  await client.call("turn/start", { threadId: thread.id, input: [{ type: "text", text: "go on" }] });
  expect(await pass(30)).toBe(false);
  const ended = client.waitFor("turn/completed");
  gate.open();
  await ended;
  expect(await pass(10)).toBe(true);
});
