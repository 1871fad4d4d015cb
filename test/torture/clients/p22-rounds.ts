import assert from "node:assert/strict";
import { join } from "node:path";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, milliseconds, none } from "../figures.ts";
import { pathsBelow } from "../log-files.ts";
import type { TortureServer } from "../server.ts";

const LONG = 5_000;

/** Starts and kills servers on one store, again and again. */
export const rounds: TortureCase = {
  id: "P22",
  title: "many kill and start rounds lose no thread and leave no temporary file",
  async run(context) {
    const home = join(await context.folder(), "home");
    const amount = context.choose(30, 8);
    const threadIds: string[] = [];
    const starts: number[] = [];
    let missing = 0;
    for (let round = 0; round < amount; round += 1) {
      const { server, ms } = await startTimed(context, home);
      starts.push(ms);
      missing += await missingFrom(server, threadIds);
      threadIds.push(...(await liveAndDie(server, round)));
    }
    const { server, ms } = await startTimed(context, home);
    starts.push(ms);
    missing += await missingFrom(server, threadIds);
    for (const threadId of threadIds) await server.call("thread/resume", { threadId });
    await server.stop();
    const temporary = pathsBelow(home).filter((path) => path.endsWith(".tmp"));
    return [
      count("rounds", amount),
      milliseconds("slowest start", Math.max(...starts), 2_000),
      none("threads missing", missing),
      none("temporary files", temporary.length),
    ];
  },
};

async function startTimed(context: Context, home: string): Promise<{ server: TortureServer; ms: number }> {
  const startedAt = performance.now();
  const server = await context.start({ kind: "scripted", home });
  return { server, ms: performance.now() - startedAt };
}

/** Makes a thread with a complete turn and a running one, and one without any; is killed at a moment that differs. */
async function liveAndDie(server: TortureServer, round: number): Promise<string[]> {
  const used = await server.startThread();
  const turn = await server.runTurn(used, scriptText({ text: "complete" }));
  assert.equal(turn.status, "completed");
  const after = server.wire.mark;
  await server.startTurn(used, scriptText({ words: LONG, everyMs: 1 }));
  let pieces = 0;
  await server.wire.waitFor(
    ({ method }) => {
      if (method === "item/agentMessage/delta") pieces += 1;
      return pieces > round * 3;
    },
    { after },
  );
  const unused = await server.startThread();
  await server.crash();
  return [used, unused];
}

async function missingFrom(server: TortureServer, threadIds: readonly string[]): Promise<number> {
  const { data } = await server.call("thread/list", { limit: 200 });
  const listed = new Set(data.map(({ id }) => id));
  return threadIds.filter((threadId) => !listed.has(threadId)).length;
}
