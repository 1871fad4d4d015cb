import assert from "node:assert/strict";
import { LIMITS } from "@flint/protocol";
import type { WireMessage } from "@flint/testkit";
import type { Measurements, TortureCase } from "./case.ts";
import type { Context } from "./context.ts";
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
    const input = { threadId, input: [{ type: "text", text: "@" }] };
    return [
      ...(await measure(context, server, "garbage", "@")),
      ...(await measure(
        context,
        server,
        "unknown method",
        '{"id":801,"method":"no/such","params":{"p":"@"}}',
      )),
      ...(await measure(
        context,
        server,
        "prompt",
        JSON.stringify({ id: 802, method: "turn/start", params: input }),
      )),
      ...(await longPrompt(server, threadId)),
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
    return measure(context, server, "garbage", "@");
  },
};

/** Sends a line in which "@" stands for 50 MB, and measures how long after its end the refusal comes. */
async function measure(
  context: Context,
  server: TortureServer,
  name: string,
  template: string,
): Promise<Measurements> {
  const [start = "", end = ""] = template.split("@");
  const memory = new MemoryWatch(server.pid);
  const after = server.wire.mark;
  await server.wire.sendRaw(start);
  const piece = Buffer.alloc(PIECE, "x");
  for (let sent = 0; sent < HUGE; sent += PIECE) await server.wire.sendRaw(piece);
  const endedAt = performance.now();
  await server.wire.sendRaw(`${end}\n`);
  const refusal = await server.wire.waitFor((message) => "error" in message, { after });
  const refusedMs = performance.now() - endedAt;
  expectLimits(refusal);
  await server.expectAlive(context.patience);
  return [milliseconds(`${name} in`, refusedMs, 1_000), megabytes("+", memory.growth, 80)];
}

function expectLimits({ error }: WireMessage): void {
  const { data } = error as { data: { limit?: number; promptLimit?: number } };
  assert.equal(data.limit, LIMITS.line, "the error states the limit of a line");
  assert.equal(data.promptLimit, LIMITS.prompt, "the error states the limit of a prompt");
}

async function longPrompt(server: TortureServer, threadId: string): Promise<Measurements> {
  const startedAt = performance.now();
  const refused = server.startTurn(threadId, "x".repeat(2 * LIMITS.prompt));
  await assert.rejects(refused, (error: { code?: number; data?: { limit?: number } }) => {
    assert.equal(error.code, -32602);
    assert.equal(error.data?.limit, LIMITS.prompt, "the error states the limit of a prompt");
    return true;
  });
  return [milliseconds("long prompt in", performance.now() - startedAt, 1_000)];
}
