import { createServer, type Socket } from "node:net";
import { temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../connect.ts";
import { socketTransport } from "./socket-transport.ts";

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
  const path = (await temporaryFolder()).join("nobody.sock");
  await expect(connect({ transport: socketTransport(path) })).rejects.toMatchObject({
    kind: "closed",
    message: expect.stringContaining("ENOENT"),
  });
});
