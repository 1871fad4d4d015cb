import assert from "node:assert/strict";
import { LIMITS } from "@flint/protocol";
import type { WireMessage } from "@flint/testkit";
import type { Measurements, TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { megabytes, milliseconds } from "../figures.ts";
import { MemoryWatch } from "../memory.ts";
import type { TortureServer } from "../server.ts";

const HUGE = 50_000_000;
const PIECE = 1_000_000;

/** Sends lines of 50 MB in three forms, and a prompt that fits into a line but not into a turn. */
export const oversize: TortureCase = {
  id: "P03",
  title: "a line or prompt over its limit is refused at once, and the error states the limit",
  async run(context) {
    const input = [{ type: "text", text: "@" }];
    return [
      ...(await measure(context, "garbage", () => "@")),
      ...(await measure(context, "unknown method", () => '{"id":801,"method":"no/such","params":{"p":"@"}}')),
      ...(await measure(context, "prompt", (threadId) =>
        JSON.stringify({ id: 802, method: "turn/start", params: { threadId, input } }),
      )),
    ];
  },
};

/** Only the garbage, for a quick look. */
export const oversizeGarbage: TortureCase = {
  ...oversize,
  title: "a line of 50 MB is refused at once, and the error states the limit",
  run: (context) => measure(context, "garbage", () => "@"),
};

/** Sends a server a line in which "@" stands for 50 MB. */
async function measure(
  context: Context,
  name: string,
  template: (threadId: string) => string,
): Promise<Measurements> {
  const server = await context.start({ kind: "flint" });
  await server.expectAlive(context.patience);
  const threadId = await server.startThread();
  const memory = new MemoryWatch(server.pid);
  const refusedMs = await sendHuge(server, template(threadId));
  const { growth } = memory;
  await expectLongPromptRefused(server, threadId);
  await server.expectAlive(context.patience);
  await server.stop();
  return [milliseconds(name, refusedMs, 1_000), megabytes("+", growth, 80)];
}

/** Returns the time between the end of the line and its refusal. */
async function sendHuge(server: TortureServer, template: string): Promise<number> {
  const [start = "", end = ""] = template.split("@");
  const after = server.wire.mark;
  await server.wire.sendRaw(start);
  const piece = Buffer.alloc(PIECE, "x");
  for (let sent = 0; sent < HUGE; sent += PIECE) await server.wire.sendRaw(piece);
  const endedAt = performance.now();
  await server.wire.sendRaw(`${end}\n`);
  const refusal = await server.wire.waitFor((message) => "error" in message, { after });
  const refusedMs = performance.now() - endedAt;
  expectLimits(refusal);
  return refusedMs;
}

function expectLimits({ error }: WireMessage): void {
  const { data } = error as { data: { limit?: number; promptLimit?: number } };
  assert.equal(data.limit, LIMITS.line, "the error states the limit of a line");
  assert.equal(data.promptLimit, LIMITS.prompt, "the error states the limit of a prompt");
}

async function expectLongPromptRefused(server: TortureServer, threadId: string): Promise<void> {
  const refused = server.startTurn(threadId, "x".repeat(2 * LIMITS.prompt));
  await assert.rejects(refused, (error: { code?: number; data?: { limit?: number } }) => {
    assert.equal(error.code, -32602);
    assert.equal(error.data?.limit, LIMITS.prompt, "the error states the limit of a prompt");
    return true;
  });
}
