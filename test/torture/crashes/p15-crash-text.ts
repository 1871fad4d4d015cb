import assert from "node:assert/strict";
import { join } from "node:path";
import type { EventData, Item, Turn } from "@flint/protocol";
import { scriptText, wordsText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, milliseconds } from "../figures.ts";
import type { TortureServer } from "../server.ts";

const LONG = 5_000;
// Long enough that text which is kept too late, also by the measure of a short run, is missed.
const STREAMED_MS = 700;
const LATER_MS = 41;
const FIRST_ANSWER = "an answer that was complete";

/** The length of the text that had arrived at a time. */
type Arrival = { readonly at: number; readonly length: number };

/** Kills servers while text streams. */
export const crashText: TortureCase = {
  id: "P15",
  title: "a killed server loses nothing older than the flush window and ends the turn as interrupted",
  async run(context) {
    const home = join(await context.folder(), "home");
    const runs = context.choose(10, 2);
    let oldestLostMs = 0;
    for (let run = 0; run < runs; run += 1) {
      const lostMs = await crashOnce(context, home, STREAMED_MS + run * LATER_MS);
      oldestLostMs = Math.max(oldestLostMs, lostMs);
    }
    return [count("runs", runs), milliseconds("oldest text lost", oldestLostMs, 150)];
  },
};

/** Kills a server after so long, and gives the age of the oldest text that is not there afterwards. */
async function crashOnce(context: Context, home: string, afterMs: number): Promise<number> {
  const server = await context.start({ kind: "scripted", home });
  const threadId = await server.startThread();
  const turnId = await server.startTurn(
    threadId,
    scriptText({ text: FIRST_ANSWER }, { words: LONG, everyMs: 3 }),
  );
  const arrivals = await streamFor(server, afterMs);
  const killedAt = performance.now();
  await server.crash();

  const next = await context.start({ kind: "scripted", home });
  await next.call("thread/resume", { threadId });
  const turn = await next.lastTurn(threadId);
  assert.equal(turn.id, turnId);
  const length = expectCutOff(turn);
  const after = await next.runTurn(threadId, scriptText({ text: "the next turn" }));
  assert.equal(after.status, "completed", "the next turn completes");
  await next.stop();
  const lost = arrivals.find((arrival) => arrival.length > length);
  return lost === undefined ? 0 : killedAt - lost.at;
}

/** Takes text for a while; gives when how much of it was here. */
async function streamFor(server: TortureServer, milliseconds: number): Promise<Arrival[]> {
  const arrivals: Arrival[] = [];
  await server.wire.waitFor(({ method, params }) => {
    if (method !== "item/agentMessage/delta") return false;
    const { delta, offset } = params as EventData<"item/agentMessage/delta">;
    if (delta === FIRST_ANSWER) return false;
    const arrival = { at: performance.now(), length: offset + delta.length };
    arrivals.push(arrival);
    return arrival.at - (arrivals[0]?.at ?? arrival.at) >= milliseconds;
  });
  return arrivals;
}

/** Fails unless the turn is as it must be after a crash; gives how much of the streamed text is there. */
function expectCutOff(turn: Turn): number {
  assert.equal(turn.status, "interrupted");
  const [question, complete, partial] = turn.items;
  assert.equal(question?.type, "userMessage");
  assert.deepEqual({ ...complete, id: "" }, { type: "agentMessage", id: "", text: FIRST_ANSWER });
  assert.equal(partial?.type, "agentMessage");
  // Known by its type; an extension never has the type of a known item.
  const message = partial as Item<"agentMessage">;
  assert.equal(message.partial, true, "the text that was cut off is marked");
  assert(wordsText(LONG).startsWith(message.text), "what is there is what was said");
  return message.text.length;
}
