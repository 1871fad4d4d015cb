import { PassThrough } from "node:stream";
import { LIMITS } from "@flint/protocol";
import { settled } from "@flint/testkit";
import { expect, test } from "vitest";
import { Redaction } from "../failure.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** A transport over streams that the test holds in its hands. */
async function open(): Promise<{
  streams: Record<"stdin" | "stdout" | "stderr", PassThrough>;
  transport: StdioTransport;
  got: unknown[];
}> {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  let exit = (_: { exitCode: number }) => {};
  const exited = new Promise<{ exitCode: number }>((resolve) => {
    exit = resolve;
  });
  const stop = async () => {
    for (const stream of Object.values(streams)) stream.end();
    exit({ exitCode: 0 });
  };
  const redaction = new Redaction({ type: "stdio", name: "s", command: "c", args: [], env: {} });
  const transport = new StdioTransport({ ...streams, exited, stop }, redaction);
  const got: unknown[] = [];
  transport.onmessage = (message) => void got.push(message);
  await transport.start();
  return { streams, transport, got };
}

test("counts and ignores lines that are not messages", async () => {
  const { streams, transport, got } = await open();
  const garbage = ["hello", "{}", "[1]", "null", '{"id":{},"result":{}}', '{"id":1,"result":7}', '"\ud800"'];
  streams.stdout.write(`${garbage.join("\n")}\n{"jsonrpc":"2.0","method":"notifications/a"}\r\n`);
  streams.stdout.write(Buffer.from([0xff, 10]));
  await settled();
  expect(got).toEqual([{ jsonrpc: "2.0", method: "notifications/a" }]);
  expect(transport.ignoredLines).toBe(8);
  expect(transport.diagnostics).toBe("8 lines of its output were not messages.");
  await transport.close();
});

test("fails a request whose response exceeds the limit", async () => {
  const { streams, transport, got } = await open();
  await transport.send({ jsonrpc: "2.0", id: 4, method: "tools/list" });
  streams.stdout.write(`{"id":4,"result":${"[".repeat(1000)}${"]".repeat(1000)}}\n`);
  await settled();
  expect(got).toMatchObject([{ id: 4, error: { message: expect.stringContaining("nested deeper") } }]);
  await transport.close();
});

test("fails pending requests once when a line exceeds the limit", async () => {
  const { streams, transport, got } = await open();
  await transport.send({ jsonrpc: "2.0", id: 1, method: "a" });
  await transport.send({ jsonrpc: "2.0", id: 2, method: "b" });
  streams.stdout.write('{"id":1,"result":{}}\n');
  streams.stdout.write(Buffer.alloc(LIMITS.line + 1, "x"));
  streams.stdout.write("\n");
  await settled();
  expect(got).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { code: -32000 } },
  ]);
  await transport.close();
});

test("delivers messages from before the exit, and sends nothing afterwards", async () => {
  const { streams, transport, got } = await open();
  let closes = 0;
  transport.onclose = () => {
    closes += 1;
  };
  streams.stdout.end('{"method":"notifications/last"}');
  await transport.close();
  await transport.close();
  expect(got).toEqual([{ jsonrpc: "2.0", method: "notifications/last" }]);
  expect(closes).toBe(1);
  await expect(transport.send({ jsonrpc: "2.0", method: "a" })).rejects.toThrow("exited");
});

test("stops sending to a server that does not read", async () => {
  const { transport } = await open();
  const text = "x".repeat(9 * 1024 * 1024);
  const message = { jsonrpc: "2.0" as const, method: "a", params: { text } };
  await transport.send(message);
  await transport.send(message);
  await expect(transport.send(message)).rejects.toThrow("does not read");
  await transport.close();
});
