import { describe, expect, test } from "vitest";
import { type Answering, SmallServer } from "../testing/small-server.ts";
import { Wire } from "./wire.ts";

async function wireTo(answering: Answering, options: { header?: boolean; timeoutMs?: number } = {}) {
  const channel = await new SmallServer(answering).connect();
  return new Wire(channel, { header: false, timeoutMs: 5_000, ...options });
}

const echo: Answering = (line) => [{ method: "received" }, { id: line?.id, result: { said: line?.method } }];

describe("the wire of a check", () => {
  test("records everything that went either way, in order", async () => {
    const wire = await wireTo(echo);
    expect(await wire.result("hello", { a: 1 })).toEqual({ said: "hello" });
    expect(wire.entries.map(({ direction, text }) => `${direction} ${text}`)).toEqual([
      'sent {"id":1,"method":"hello","params":{"a":1}}',
      'came {"method":"received"}',
      'came {"id":1,"result":{"said":"hello"}}',
    ]);
    expect(wire.since(1)).toEqual([{ id: 1, result: { said: "hello" } }]);
  });

  test("has the jsonrpc field where the protocol has it, and no params where none are given", async () => {
    const wire = await wireTo(echo, { header: true });
    await wire.result("hello");
    expect(wire.entries[0]?.text).toBe('{"jsonrpc":"2.0","id":1,"method":"hello"}');
  });

  test("fails a check on a refusal it did not expect, and on a result where it expected a refusal", async () => {
    const refusing = await wireTo((line) => [{ id: line?.id, error: { code: -1, message: "no" } }]);
    await expect(refusing.result("x")).rejects.toThrow('x was refused: {"code":-1,"message":"no"}');
    await expect(refusing.expectError("x", {}, { code: -2 })).rejects.toThrow(
      "the refusal of x.code should be -2, but is -1",
    );
    expect(await refusing.expectError("x", {}, { code: -1 })).toMatchObject({ message: "no" });
    const wire = await wireTo(echo);
    await expect(wire.expectError("x", {}, {})).rejects.toThrow("x should be refused, but the answer is");
  });

  test("waits no longer than its timeout, and reports for what", async () => {
    const wire = await wireTo(() => [], { timeoutMs: 20 });
    await expect(wire.result("x")).rejects.toThrow("an answer to the request 1 did not arrive within 0.02 s");
    await expect(wire.waitForMethod("turn/completed")).rejects.toThrow(
      "turn/completed did not arrive within",
    );
  });

  test("stops waiting immediately when the server exits", async () => {
    const wire = await wireTo(() => ["close"]);
    await expect(wire.result("x")).rejects.toThrow("did not arrive: it hung up");
    await expect(wire.result("y")).rejects.toThrow("did not arrive: it hung up");
    expect(wire.open).toBe(false);
  });

  test("finds messages received earlier and keeps malformed lines", async () => {
    const wire = await wireTo(() => ["garbage", { method: "event", params: { n: 1 } }]);
    wire.sendText("not json");
    await wire.waitForMethod("event");
    expect(await wire.waitForMethod("event")).toEqual({ method: "event", params: { n: 1 } });
    expect(wire.entries.map(({ message }) => message)).toEqual([
      undefined,
      undefined,
      { method: "event", params: { n: 1 } },
    ]);
  });
});
