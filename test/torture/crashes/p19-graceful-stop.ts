import assert from "node:assert/strict";
import { join } from "node:path";
import { descendantsOf, isAlive } from "@flint/testkit";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { milliseconds, none } from "../figures.ts";

type Way = NodeJS.Signals | "end of input";

/** Asks servers to stop while a command runs. */
export const politeStop: TortureCase = {
  id: "P19",
  title: "a polite stop in mid-turn exits cleanly, records the turn and leaves no children",
  async run(context) {
    const ways: readonly Way[] = context.choose(["SIGTERM", "SIGINT", "SIGHUP", "end of input"], ["SIGTERM"]);
    const stops: { ms: number; left: number }[] = [];
    for (const way of ways) stops.push(await stopOnce(context, way));
    return [
      milliseconds("slowest stop", Math.max(...stops.map(({ ms }) => ms)), 5_000),
      none(
        "processes left",
        stops.reduce((sum, { left }) => sum + left, 0),
      ),
    ];
  },
};

async function stopOnce(context: Context, way: Way): Promise<{ ms: number; left: number }> {
  const home = join(await context.folder(), "home");
  const args = ["--approval", "never"];
  const server = await context.start({ kind: "flint", home, args });
  const threadId = await server.startThread();
  const turnId = await server.startTurn(threadId, "run `sleep 300 & sleep 300 & echo up; wait`");
  await server.during(turnId, "item/commandExecution/outputDelta");
  const processes = descendantsOf(server.pid);
  assert(processes.length > 0, "the command runs");
  const startedAt = performance.now();
  if (way === "end of input") server.wire.end();
  else server.wire.kill(way);
  const exit = await server.wire.exited;
  const ms = performance.now() - startedAt;
  const left = processes.filter((process) => isAlive(process)).length;
  assert.deepEqual(exit, { code: 0, signal: null }, `the exit after ${way}`);
  if (way !== "end of input") {
    assert.equal(
      (await server.turnCompleted(turnId)).status,
      "interrupted",
      "a connected client is notified",
    );
  }

  const next = await context.start({ kind: "flint", home, args });
  assert.equal(
    (await next.lastTurn(threadId)).status,
    "interrupted",
    "the log records it before the thread is resumed",
  );
  await next.call("thread/resume", { threadId });
  assert.equal((await next.runTurn(threadId, "hello")).status, "completed");
  await next.stop();
  return { ms, left };
}
