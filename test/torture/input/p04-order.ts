import assert from "node:assert/strict";
import { mintId, type Turn } from "@flint/protocol";
import type { WireMessage } from "@flint/testkit";
import { scriptText } from "../../server/script-text.ts";
import type { TortureCase } from "../case.ts";
import { count } from "../figures.ts";
import type { TortureServer } from "../server.ts";

const CODES = {
  notInitialized: -32000,
  threadNotFound: -32001,
  turnInProgress: -32002,
  notRunning: -32003,
  invalidRequest: -32600,
  methodNotFound: -32601,
};
const HELLO = { clientInfo: { name: "torture", version: "1" } };

/** Sends proper requests at the wrong time. */
export const order: TortureCase = {
  id: "P04",
  title: "requests out of order get the documented code, and ids come back with their type",
  async run(context) {
    const server = await context.start({ kind: "scripted", initialize: false });
    let checked = 0;
    const expectCode = async (id: unknown, method: string, params: object, code: number): Promise<void> => {
      const { error } = await answerTo(server, id, method, params);
      assert.equal((error as { code?: number } | undefined)?.code, code, `${method} with id ${String(id)}`);
      checked += 1;
    };
    await expectCode(1, "model/list", {}, CODES.notInitialized);
    await expectCode("early", "thread/start", {}, CODES.notInitialized);
    await server.initialize();
    await expectCode(3, "initialize", HELLO, CODES.invalidRequest);
    await expectCode("three", "no/such", {}, CODES.methodNotFound);
    await expectCode(9_007_199_254_740_991, "toString", {}, CODES.methodNotFound);
    const unknown = mintId();
    await expectCode("", "thread/resume", { threadId: unknown }, CODES.threadNotFound);
    await expectCode(0, "thread/read", { threadId: unknown }, CODES.threadNotFound);
    const threadId = await server.startThread();
    await expectCode(-1, "turn/interrupt", { threadId }, CODES.notRunning);
    const input = [{ type: "text", text: scriptText({ words: 5_000, everyMs: 5 }) }];
    const { result } = await answerTo(server, "turn", "turn/start", { threadId, input });
    await expectCode("1", "turn/start", { threadId, input }, CODES.turnInProgress);
    await server.call("turn/interrupt", { threadId });
    assert.equal((await server.turnCompleted((result as { turn: Turn }).turn.id)).status, "interrupted");
    await server.expectAlive(context.patience);
    await expectPipelined(await context.start({ kind: "flint", initialize: false }));
    return [count("requests", checked)];
  },
};

/** The one answer to a request with this very id. */
async function answerTo(
  server: TortureServer,
  id: unknown,
  method: string,
  params: object,
): Promise<WireMessage> {
  const after = server.wire.mark;
  server.wire.send({ id, method, params });
  return server.wire.waitFor((message) => message.id === id && !("method" in message), { after });
}

/** A client may send initialize and continue without waiting for the answer. */
async function expectPipelined(server: TortureServer): Promise<void> {
  const initialize = { id: "hello", method: "initialize", params: HELLO };
  const start = { id: "start", method: "thread/start", params: {} };
  await server.wire.sendRaw(`${JSON.stringify(initialize)}\n${JSON.stringify(start)}\n`);
  for (const id of ["hello", "start"]) {
    const answer = await server.wire.waitFor((message) => message.id === id);
    assert("result" in answer, `the answer to ${id}: ${JSON.stringify(answer)}`);
  }
}
