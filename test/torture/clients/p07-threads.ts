import assert from "node:assert/strict";
import type { ThreadItem } from "@flint/protocol";
import { scriptText, wordsText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import { count, megabytes, milliseconds, none, quantile } from "../figures.ts";
import { MemoryWatch } from "../memory.ts";
import { ReceivedText } from "../received-text.ts";
import type { TortureServer } from "../server.ts";

const THREADS = 100;
const WORDS = 50;

/** Lets very many threads stream at the same time. */
export const manyThreads: TortureCase = {
  id: "P07",
  title: "a hundred threads stream at once and every delta arrives in order",
  async run(context) {
    const server = await context.start({ kind: "scripted" });
    await server.expectAlive(context.patience);
    const memory = new MemoryWatch(server.pid);
    const starts: number[] = [];
    const threadIds: string[] = [];
    for (let started = 0; started < THREADS; started += 1) {
      const startedAt = performance.now();
      threadIds.push(await server.startThread());
      starts.push(performance.now() - startedAt);
    }
    const startedAt = performance.now();
    const text = scriptText({ words: WORDS, everyMs: 1 });
    const turns = await Promise.all(threadIds.map((threadId) => server.runTurn(threadId, text)));
    const wallMs = performance.now() - startedAt;
    const completed = turns.filter((turn) => turn.status === "completed").length;
    return [
      count("completed", completed),
      none("not completed", THREADS - completed),
      none(
        "texts not whole",
        brokenTexts(
          server,
          turns.flatMap((turn) => turn.items),
        ),
      ),
      milliseconds("thread/start p95", quantile(starts, 0.95), 100),
      milliseconds("wall", wallMs, 15_000),
      megabytes("memory", memory.peak, 400),
    ];
  },
};

/** The streamed text must be what the items say at their end, and that must be all words in order. */
function brokenTexts(server: TortureServer, items: readonly ThreadItem[]): number {
  const received = ReceivedText.of(server.wire.messages);
  assert.equal(received.holes, 0, "holes in the streamed text");
  const whole = items.filter((item) => {
    const isWhole = item.type === "agentMessage" && "text" in item && item.text === wordsText(WORDS);
    return isWhole && received.textOf(item.id) === item.text;
  });
  return THREADS - whole.length;
}
