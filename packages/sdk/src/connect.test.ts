import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CLIENT_INFO } from "./client/flint-client.ts";
import { connect } from "./connect.ts";
import { FakeServer, NO_ANSWER } from "./testing/fake-server.ts";

describe("connecting", () => {
  test("sends initialize first and initialized after the answer", async () => {
    const server = new FakeServer();
    const client = await connect({
      transport: server.transport,
      clientInfo: { name: "my-bot", version: "7" },
      capabilities: { experimentalApi: true },
    });
    await client.call("initialize", { clientInfo: CLIENT_INFO });
    expect(server.received.slice(0, 2)).toEqual([
      {
        method: "initialize",
        params: { clientInfo: { name: "my-bot", version: "7" }, capabilities: { experimentalApi: true } },
      },
      { method: "initialized", params: {} },
    ]);
    expect(client.server.agentInfo).toEqual({ name: "fake", version: "1", provider: "test" });
    await client.close();
  });

  test("fails in time when the server does not answer", async () => {
    const server = new FakeServer().answer("initialize", () => NO_ANSWER);
    const connecting = connect({ transport: server.transport, connectTimeoutMs: 5 });
    await expect(connecting).rejects.toMatchObject({ name: "FlintConnectionError", kind: "timedOut" });
  });

  test("is given up by a signal, and a client is closed by it later", async () => {
    const silent = new FakeServer().answer("initialize", () => NO_ANSWER);
    const early = new AbortController();
    const hello = silent.next("initialize");
    const connecting = connect({ transport: silent.transport, signal: early.signal });
    await hello;
    early.abort(new Error("changed my mind"));
    await expect(connecting).rejects.toThrow("changed my mind");

    const late = new AbortController();
    const client = await connect({ transport: new FakeServer().transport, signal: late.signal });
    late.abort();
    expect(await client.closed).toBeUndefined();
  });
});

test("the SDK introduces itself with the version it has", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(CLIENT_INFO.version).toBe(manifest.version);
});
