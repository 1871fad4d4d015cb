import { LIMITS } from "@flint/protocol";
import type { Bench, Figure } from "../../bench.ts";
import { FrontendClient } from "../../processes/frontend-client.ts";
import { FrontendServer } from "../../processes/frontend-server.ts";
import { peakMegabytes } from "../../processes/process-usage.ts";
import type { Order } from "../../programs/order.ts";

const BYTES_PER_MEGABYTE = 1024 * 1024;
const QUEUE_MEGABYTES = LIMITS.clientQueue / BYTES_PER_MEGABYTE;
/** Lines cost more than their characters, and the last turn of the thread is in memory too. */
const MOST_MEGABYTES = 2 * QUEUE_MEGABYTES;

/**
 * Memory that long turns through the Codex front end over a WebSocket leave behind, and that a client that
 * hangs adds.
 */
export const frontendMemory: Figure = {
  name: "frontend-memory",
  async measure(bench: Bench) {
    const deltas = bench.choose(50_000, 5_000);
    const order: Order = { deltas, items: deltas / 1000, perSecond: 0 };
    const server = await FrontendServer.start(bench, "burst");
    const reader = await FrontendClient.open(server.url, "codex");
    const warm = await begin(reader);
    // Warms up the compiler and the long-lived caches.
    for (let turn = 0; turn < 2; turn += 1) await streamTurn(reader, warm, order);
    const read = await begin(reader);
    const before = await server.held();
    for (let turn = 0; turn < TURNS; turn += 1) await streamTurn(reader, read, order);
    const after = await server.held();
    const peak = peakMegabytes(server.process.pid);
    const unread = await begin(reader);
    const hanging = await FrontendClient.open(server.url, "codex");
    await hanging.ask(hanging.script.attach(unread, process.cwd()));
    hanging.hang();
    for (let turn = 0; turn < TURNS; turn += 1) await streamTurn(reader, unread, order);
    const stuck = await server.held();
    const peakStuck = peakMegabytes(server.process.pid);
    for (const client of [reader, hanging]) client.close();
    await server.end();
    return [
      {
        figure: `memory that a turn of ${deltas.toLocaleString("en")} deltas leaves at the codex front end`,
        value: Math.max(0, after - before) / TURNS,
        unit: "MB",
        target: { of: "value", most: 1 },
      },
      { figure: "… peak of the process with a client that reads", value: peak, unit: "MB" },
      {
        figure: `memory for a client that reads nothing of ${TURNS} such turns`,
        value: Math.max(0, stuck - after),
        unit: "MB",
        target: { of: "value", most: MOST_MEGABYTES },
      },
      {
        figure: "… peak of the process",
        value: peakStuck,
        unit: "MB",
        floor: { name: "if it reads", value: peak },
        target: { of: "ratio", most: 1.5 },
      },
    ];
  },
};

/** Together they are several times the queue of a client. */
const TURNS = 5;

async function begin(client: FrontendClient): Promise<string> {
  return String(client.script.threadIdOf(await client.ask(client.script.startThread(process.cwd()))));
}

async function streamTurn(reader: FrontendClient, threadId: string, order: Order): Promise<void> {
  const ended = reader.next(({ method }) => method === "turn/completed");
  reader.send(reader.script.prompt(threadId, JSON.stringify(order)));
  await ended;
}
