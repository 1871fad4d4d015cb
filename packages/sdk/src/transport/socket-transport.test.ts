import { createServer, type Socket } from "node:net";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../connect.ts";
import { rendezvousTransport, socketTransport } from "./socket-transport.ts";

test("a client reaches a server at a unix socket", async () => {
  const path = (await temporaryFolder()).join("flint.sock");
  const capabilities = { streaming: true, configOptions: true, reasoning: true, plans: true, review: true };
  const hello = { agentInfo: { name: "here", version: "1", provider: "test" }, capabilities };
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once("data", () => socket.write(`${JSON.stringify({ id: 0, result: hello })}\n`));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const client = await connect({ transport: socketTransport(path) });
  expect(client.server.agentInfo.name).toBe("here");
  await client.close();
});

test("a socket without a server is reported", async () => {
  const path = (await temporaryFolder()).join("missing.sock");
  await expect(connect({ transport: socketTransport(path) })).rejects.toMatchObject({
    kind: "closed",
    message: expect.stringContaining("ENOENT"),
  });
});

const WELCOME = '{"ok":true,"version":"1"}\n';
const HELLO = { protocol: "flint", cwd: "/code" };

/** A server that says these pieces to its one client, each after the client got something of the one before. */
async function meet(pieces: readonly (Uint8Array | string)[]) {
  const path = (await temporaryFolder()).join("server.sock");
  const greetings: string[] = [];
  const received: Buffer[] = [];
  const left = [...pieces];
  let sayNext = (): void => undefined;
  const server = createServer((socket: Socket) => {
    onTestFinished(() => void socket.destroy());
    sayNext = () => {
      const piece = left.shift();
      if (piece === undefined) socket.end();
      else socket.write(piece);
    };
    socket.on("error", () => undefined);
    socket.once("data", (greeting) => {
      greetings.push(String(greeting));
      sayNext();
    });
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const transport = rendezvousTransport(path, HELLO);
  onTestFinished(() => transport.close());
  const reason = await new Promise<Error | undefined>((closed) => {
    const chunk = (bytes: Uint8Array | string): void => {
      received.push(Buffer.from(bytes));
      sayNext();
    };
    transport.start({ chunk, closed });
  });
  return { greetings, reason, received: Buffer.concat(received).toString() };
}

describe("meeting a server", () => {
  test("sends the protocol and the folder first, and receives only the protocol's messages", async () => {
    const { greetings, received } = await meet([`${WELCOME}{"id":1}\n`, '{"id":2}\n']);
    expect(greetings).toEqual([`${JSON.stringify(HELLO)}\n`]);
    expect(received).toBe('{"id":1}\n{"id":2}\n');
  });

  test("joins a character that was cut between the answer and the first message", async () => {
    const words = Buffer.from(`${WELCOME}{"text":"ä"}\n`);
    const cut = words.indexOf("ä") + 1;
    expect((await meet([words.subarray(0, cut), words.subarray(cut)])).received).toBe('{"text":"ä"}\n');
  });

  test("ends with the reason of a server that refuses", async () => {
    const { reason, received } = await meet(['{"ok":false,"reason":"There is no such protocol."}\n']);
    expect([reason?.message, received]).toEqual(["There is no such protocol.", ""]);
  });

  test.each([
    ["something else", "HTTP/1.1 400 Bad Request\r\n"],
    ["more than any answer without a line", "x".repeat(70_000)],
  ])("ends if another program listens there and answers %s", async (_what, said) => {
    expect((await meet([said])).reason?.message).toBe("it is not a Flint server");
  });
});
