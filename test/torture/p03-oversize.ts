import assert from "node:assert/strict";
import { LIMITS } from "@flint/protocol";
import type { WireMessage } from "@flint/testkit";
import type { TortureCase } from "./case.ts";
import { megabytes, milliseconds } from "./figures.ts";
import { MemoryWatch } from "./memory.ts";
import type { TortureServer } from "./server.ts";

const HUGE = 50_000_000;
const PIECE = 1_000_000;

/** Sends lines of 50 MB in three forms, and a prompt that fits into a line but not into a turn. */
export const oversize: TortureCase = {
  id: "P03",
  title: "a line or prompt over its limit is refused at once, and the error states the limit",
  async run(context) {
    const server = await context.start({ kind: "flint" });
    await server.expectAlive(context.patience);
    const threadId = await server.startThread();
    const memory = new MemoryWatch(server.pid);
    const prompt = { threadId, input: [{ type: "text", text: "@" }] };
    const garbageMs = await refusedMs(server, "@");
    const unknownMs = await refusedMs(server, '{"id":801,"method":"no/such","params":{"p":"@"}}');
    const promptMs = await refusedMs(
      server,
      JSON.stringify({ id: 802, method: "turn/start", params: prompt }),
    );
    const longMs = await longPromptMs(server, threadId);
    const { growth } = memory;
    await server.expectAlive(context.patience);
    return [
      milliseconds("garbage", garbageMs, 1_000),
      milliseconds("unknown method", unknownMs, 1_000),
      milliseconds("prompt", promptMs, 1_000),
      milliseconds("long prompt", longMs, 1_000),
      megabytes("memory +", growth, 80),
    ];
  },
};

/** Only the garbage, for a quick look. */
export const oversizeGarbage: TortureCase = {
  ...oversize,
  title: "a line of 50 MB is refused at once, and the error states the limit",
  async run(context) {
    const server = await context.start({ kind: "flint" });
    await server.expectAlive(context.patience);
    const memory = new MemoryWatch(server.pid);
    const garbageMs = await refusedMs(server, "@");
    const { growth } = memory;
    await server.expectAlive(context.patience);
    return [milliseconds("garbage", garbageMs, 1_000), megabytes("memory +", growth, 80)];
  },
};

/** Sends a line in which "@" stands for 50 MB, and measures how long after its end the refusal comes. */
async function refusedMs(server: TortureServer, template: string): Promise<number> {
  const [start = "", end = ""] = template.split("@");
  const after = server.wire.mark;
  await server.wire.sendRaw(start);
  const piece = Buffer.alloc(PIECE, "x");
  for (let sent = 0; sent < HUGE; sent += PIECE) await server.wire.sendRaw(piece);
  const endedAt = performance.now();
  await server.wire.sendRaw(`${end}\n`);
  const refusal = await server.wire.waitFor((message) => "error" in message, { after });
  const milliseconds = performance.now() - endedAt;
  expectLimits(refusal);
  return milliseconds;
}

function expectLimits({ error }: WireMessage): void {
  const { data } = error as { data: { limit?: number; promptLimit?: number } };
  assert.equal(data.limit, LIMITS.line, "the error states the limit of a line");
  assert.equal(data.promptLimit, LIMITS.prompt, "the error states the limit of a prompt");
}

async function longPromptMs(server: TortureServer, threadId: string): Promise<number> {
  const startedAt = performance.now();
  const refused = server.startTurn(threadId, "x".repeat(2 * LIMITS.prompt));
  await assert.rejects(refused, (error: { code?: number; data?: { limit?: number } }) => {
    assert.equal(error.code, -32602);
    assert.equal(error.data?.limit, LIMITS.prompt, "the error states the limit of a prompt");
    return true;
  });
  return performance.now() - startedAt;
}
