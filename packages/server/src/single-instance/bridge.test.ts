import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { Gate, settled, TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRemote } from "../listeners/remote.ts";
import { HELLO, OpenServer } from "../serve/testing/open-server.ts";
import { bridgeLines, bridgeSocket } from "./bridge.ts";

async function open() {
  const { path: folder } = await temporaryFolder();
  const { engine } = testEngine();
  const kit = { engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  return { folder, server: await OpenServer.start(kit) };
}

function ends() {
  const stopping = new Gate();
  return { input: new PassThrough(), output: new PassThrough(), stop: stopping.opened, stopping };
}

describe("a bridge over a socket", () => {
  test("delivers responses after the end of input", async () => {
    const { server } = await open();
    const { input, output, stop } = ends();
    const bridge = bridgeSocket(await server.socket(), { input, output, stop });
    input.end(HELLO);
    expect(await bridge).toBe("client");
    output.end();
    expect(JSON.parse(await text(output))).toMatchObject({ id: 1, result: {} });
  });

  test("reports that the server closed it", async () => {
    const { server } = await open();
    const { input, output, stop } = ends();
    const bridge = bridgeSocket(await server.socket(), { input, output, stop });
    input.write(HELLO);
    await new Promise((resolve) => output.once("data", resolve));
    await server.listening.withdraw();
    await server.listening.close();
    expect(await bridge).toBe("server");
  });
});

test("a signal closes a bridge from this side", async () => {
  const { server } = await open();
  const { stopping, ...near } = ends();
  const bridge = bridgeSocket(await server.socket(), near);
  stopping.open();
  expect(await bridge).toBe("client");
});

describe("a bridge over a WebSocket", () => {
  async function remote(
    server: OpenServer,
    folder: string,
    changes: Partial<Parameters<typeof connectRemote>[0]> = {},
  ) {
    const url = `ws://127.0.0.1:${server.port}`;
    return connectRemote({
      url,
      protocol: undefined,
      tokenFile: undefined,
      token: undefined,
      folder,
      ...changes,
    });
  }

  test("uses the token of this machine, and carries lines in any chunking", async () => {
    const { server, folder } = await open();
    const reached = await remote(server, folder, { protocol: "harness" });
    if (!reached.ok) throw new Error(reached.reason);
    const { input, output, stop } = ends();
    const bridge = bridgeLines(reached.transport, { input, output, stop });
    input.write('{"jsonrpc":"2.0","id":1,');
    input.write('"method":"initialize"}\nnonsense\n');
    const lines: string[] = [];
    output.on("data", (bytes: Buffer) => {
      lines.push(
        ...bytes
          .toString("utf8")
          .split("\n")
          .filter((line) => line !== ""),
      );
    });
    while (lines.length < 2) await settled();
    // The second line is refused while the first is still being answered.
    const [refusal, answer] = lines.map((line) => JSON.parse(line));
    expect([refusal, answer]).toMatchObject([{ error: { code: -32700 } }, { id: 1, result: {} }]);
    input.end();
    expect(await bridge).toBe("client");
  });

  test("reports why the server rejected it and how to fix it [P28]", async () => {
    const { server, folder } = await open();
    expect(await remote(server, folder, { token: "wrong" })).toMatchObject({
      ok: false,
      reason: expect.stringContaining("--token-file FILE"),
    });
    expect(await remote(server, folder, { url: `ws://127.0.0.1:${server.port}/nowhere` })).toMatchObject({
      reason: expect.stringContaining("does not serve this protocol"),
    });
    expect(await remote(server, folder, { url: "http://127.0.0.1:1" })).toMatchObject({
      reason: expect.stringContaining("must start with ws:// or wss://"),
    });
    expect(await remote(server, folder, { url: "ws://127.0.0.1:1" })).toMatchObject({
      reason: expect.stringContaining("Cannot reach"),
    });
  });

  test("sends no token unencrypted to another machine, and never this machine's own [P28]", async () => {
    const { server, folder } = await open();
    const elsewhere = { url: "ws://flint.invalid:4747" };
    expect(await remote(server, folder, { ...elsewhere, token: "t".repeat(40) })).toMatchObject({
      reason: expect.stringContaining("in clear"),
    });
    // Without one there is nothing to protect; the name leads nowhere.
    expect(await remote(server, folder, elsewhere)).toMatchObject({
      reason: expect.stringContaining("Cannot reach"),
    });
  });
});
