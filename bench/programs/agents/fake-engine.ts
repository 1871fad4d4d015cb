// An agent on a pipe: reads one order per line on stdin and writes one notification per line.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pass } from "node:timers/promises";
import { type Order, PIECE, piecesPerItem, stampedPiece } from "../order.ts";

const LINES_PER_WRITE = 300;
const threadId = randomUUID();
const turnId = randomUUID();

function line(method: string, rest: object): string {
  return `${JSON.stringify({ method, params: { threadId, turnId, ...rest } })}\n`;
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

/** Large writes, so that the reader limits the speed. */
async function streamAtOnce(itemId: string, pieces: number): Promise<void> {
  const one = line("item/agentMessage/delta", { itemId, delta: PIECE });
  for (let left = pieces; left > 0; left -= LINES_PER_WRITE) {
    await write(one.repeat(Math.min(left, LINES_PER_WRITE)));
  }
}

async function streamSlowly(itemId: string, pieces: number, perSecond: number): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < pieces; sent += 1) {
    await pass(Math.max(0, start + (sent * 1000) / perSecond - performance.now()));
    await write(line("item/agentMessage/delta", { itemId, delta: stampedPiece() }));
  }
}

async function carryOut(order: Order): Promise<void> {
  for (const pieces of piecesPerItem(order)) {
    const itemId = randomUUID();
    await write(line("item/started", { item: { type: "agentMessage", id: itemId, text: "" } }));
    if (order.perSecond === 0) await streamAtOnce(itemId, pieces);
    else await streamSlowly(itemId, pieces, order.perSecond);
    const text = PIECE.repeat(pieces);
    await write(line("item/completed", { item: { type: "agentMessage", id: itemId, text } }));
  }
  await write(line("turn/completed", { turn: { id: turnId, status: "completed", items: [] } }));
}

for await (const text of createInterface({ input: process.stdin })) {
  // Only the programs of this folder write orders.
  await carryOut(JSON.parse(text) as Order);
}
