import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { type FakeStep, writeFakeAgent } from "./fake-agents/fake-agent.ts";
import { temporaryFolder } from "./temp.ts";
import { WireClient, type WireError } from "./wire-client.ts";

const ECHO: FakeStep = {
  forever: [{ expect: { id: "$id", method: "$method" } }, { send: { id: "$id", result: "$method" } }],
};

describe("a wire client", () => {
  test("matches answers by id and records everything in order", async () => {
    const client = await start([
      { expect: { method: "one", id: "$one" } },
      { expect: { method: "two", id: "$two" } },
      { send: { id: "$two", result: 2 } },
      { raw: "not json" },
      { send: { id: "$one", method: "a request with the same id" } },
      { send: { id: "$one", result: 1 } },
    ]);
    expect(await Promise.all([client.request("one"), client.request("two", { a: 1 })])).toEqual([1, 2]);
    await client.exited;
    expect(client.lines[1]).toBe("not json");
    expect(client.messages.map((message) => message.id)).toEqual([2, 1, 1]);
  });

  test("rejects with what the server refused", async () => {
    const client = await start([
      { expect: { id: "$id" } },
      { send: { id: "$id", error: { code: -32002, message: "busy", data: { activeTurnId: "t" } } } },
    ]);
    const refused: Partial<WireError> = { code: -32002, data: { activeTurnId: "t" } };
    await expect(client.request("turn/start")).rejects.toMatchObject(refused);
  });

  test("answers the server's own requests", async () => {
    const client = await start([
      { send: { id: "q", method: "ask" } },
      { expect: { id: "q", result: { yes: true } } },
      { send: { id: "r", method: "ask" } },
      { expect: { id: "r", error: { code: -32601 } } },
      { send: { method: "done" } },
    ]);
    client.answer((await client.waitForMethod("ask")).id, { yes: true });
    await client.waitFor((message) => message.id === "r");
    client.answerError("r", { code: -32601, message: "no" });
    await client.waitForMethod("done");
  });

  test("finds earlier messages, and only later ones when asked to", async () => {
    const client = await start([{ send: { method: "ready" } }, ECHO]);
    await client.waitForMethod("ready");
    await client.waitForMethod("ready");
    const later = client.waitForMethod("ready", { after: client.mark, withinMs: 50 });
    await expect(later).rejects.toThrow("ready did not arrive within 0.05 s");
  });

  test("rejects at once when the server ends, with the end of its stderr", async () => {
    const client = await start([{ stderr: "out of lamp oil\n" }, { expect: {} }, { exit: 3 }]);
    const waiting = client.waitForMethod("never");
    client.notify("go");
    await expect(waiting).rejects.toThrow(/code 3, signal null[\s\S]*out of lamp oil/);
    await expect(client.request("more")).rejects.toThrow("The other side ended");
    expect(await client.exited).toEqual({ code: 3, signal: null });
  });

  test("rejects when the program does not exist", async () => {
    const client = WireClient.spawn(["/no/such/program"]);
    await expect(client.waitFor(() => true)).rejects.toThrow("ENOENT");
  });

  test("distinguishes a killed server from one that exited", async () => {
    const client = await start([{ send: { method: "ready" } }, { hang: true }]);
    await client.waitForMethod("ready");
    client.kill("SIGTERM");
    expect(await client.exited).toEqual({ code: null, signal: "SIGTERM" });
  });

  test("closes the input of the server", async () => {
    const client = await start([ECHO]);
    expect(await client.request("hello")).toBe("hello");
    client.end();
    expect(await client.exited).toEqual({ code: 0, signal: null });
  });

  test("sends bytes as they are, and the header where it is set", async () => {
    const output = new PassThrough();
    const input = new PassThrough();
    const client = WireClient.over(output, input, { header: true });
    await client.sendRaw(Uint8Array.of(0xff, 0x0a));
    client.notify("initialized");
    client.answer(1, null);
    expect([...Buffer.from(input.read(2))]).toEqual([0xff, 0x0a]);
    expect(String(input.read())).toBe(
      '{"jsonrpc":"2.0","method":"initialized"}\n{"jsonrpc":"2.0","id":1,"result":null}\n',
    );
  });

  test("joins lines that arrive in pieces, also within a character", async () => {
    const output = new PassThrough();
    const client = WireClient.over(output, new PassThrough());
    const bytes = Buffer.from('{"text":"grün"}\n{"text":"rot"}\n');
    for (const byte of bytes) output.write(Uint8Array.of(byte));
    await client.waitFor((message) => message.text === "rot");
    expect(client.messages).toEqual([{ text: "grün" }, { text: "rot" }]);
    const waiting = client.waitForMethod("never");
    output.destroy();
    await expect(waiting).rejects.toThrow("The other side ended");
  });

  test("reads nothing while it pretends to hang", async () => {
    const output = new PassThrough();
    const client = WireClient.over(output, new PassThrough());
    client.pause();
    output.write('{"a":1}\n');
    await new Promise((resolve) => setImmediate(resolve));
    expect(client.messages).toEqual([]);
    client.resume();
    expect(await client.waitFor(() => true)).toEqual({ a: 1 });
  });
});

async function start(steps: readonly FakeStep[]): Promise<WireClient> {
  const folder = await temporaryFolder();
  return WireClient.spawn(await writeFakeAgent(folder.path, steps));
}
