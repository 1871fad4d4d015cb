import { readFileSync, statSync, writeFileSync } from "node:fs";
import type { Tasks } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { connect } from "@flint/sdk";
import { TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { limitedTokensFile } from "../config/environment.ts";
import { LimitedTokens } from "../listeners/limited-tokens.ts";
import { OpenServer } from "./testing/open-server.ts";

/** A server, its limited tokens, and a client with one that has these rights. */
async function setUp(change?: Promise<void>) {
  const { path: folder } = await temporaryFolder();
  const tasks: Tasks = {
    call: async () => {
      await change;
      // The answer to the only method that waits here.
      if (change !== undefined) return { revision: 1, data: [] } as never;
      throw new FlintError("unsupported", "This server runs no tasks.");
    },
    isWorking: false,
    close: async () => undefined,
  };
  const { engine } = testEngine({ tasks });
  const limitedTokens = new LimitedTokens(limitedTokensFile(folder));
  const kit = { engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  const server = await OpenServer.start(kit, { limitedTokens });
  const clientWith = async (token: string) => {
    const client = await connect({ url: `ws://127.0.0.1:${server.port}/flint`, token });
    onTestFinished(() => client.close());
    return client;
  };
  return { server, limitedTokens, clientWith, path: limitedTokensFile(folder) };
}

const MESSAGE = {
  event_id: "e1",
  type: "session:message",
  id: "c1",
  plan_id: "c1",
  project: "/work",
  status: "sent",
  source: "cli",
  v: 1,
  ts: "2026-01-01T00:00:00Z",
  extra: {},
} as const;

describe("a token that allows only some rights", () => {
  test("is stored as a hash, in a private file, and lets in until it is revoked", async () => {
    const { server, limitedTokens, clientWith, path } = await setUp();
    const token = limitedTokens.create("ci", ["tasks:add"], 5);
    expect(readFileSync(path, "utf8")).not.toContain(token);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(limitedTokens.list()).toEqual([{ name: "ci", rights: ["tasks:add"], createdAt: 5 }]);
    const client = await clientWith(token);
    // This server runs no tasks, so what is allowed gets as far as that.
    await expect(client.call("task/list", {})).rejects.toThrow("runs no tasks");
    await expect(client.call("thread/list", {})).rejects.toThrow("needs the server's own token");
    await expect(client.call("command/exec", { command: ["id"] })).rejects.toThrow(
      "needs the server's own token",
    );
    expect(limitedTokens.revoke("ci")).toBe(true);
    await expect(client.call("task/list", {})).rejects.toThrow("This token was revoked.");
    await expect(server.webSocket("/flint", token)).rejects.toThrow("401");
    expect(limitedTokens.revoke("ci")).toBe(false);
  });

  test("lets in to the Flint protocol alone", async () => {
    const { server, limitedTokens } = await setUp();
    const token = limitedTokens.create("ci", ["tasks:admin"], 0);
    await expect(server.webSocket("/codex", token)).rejects.toThrow("403");
    await expect(server.webSocket("/acp", token)).rejects.toThrow("403");
    await server.webSocket("/flint", token);
  });

  test("is not notified of threads", async () => {
    const { server, limitedTokens, clientWith } = await setUp();
    const limited = await clientWith(limitedTokens.create("ci", ["tasks:admin"], 0));
    const seen: string[] = [];
    limited.subscribe({ event: ({ type }) => void seen.push(type), ended: () => undefined });
    const full = await server.client();
    await full.call("thread/start", {});
    await expect(limited.call("task/list", {})).rejects.toThrow("runs no tasks");
    expect(seen).toEqual([]);
  });

  test("gets no more events of tasks once it was revoked", async () => {
    const { server, limitedTokens, clientWith } = await setUp();
    const revoked = await clientWith(limitedTokens.create("ci", ["tasks:add"], 0));
    const full = await server.client();
    const seen: string[] = [];
    const ended = new Promise<void>((resolve) => {
      const event = ({ type }: { readonly type: string }): void => {
        if (seen.push(type) > 1) resolve();
      };
      revoked.subscribe({ event, ended: () => resolve() });
    });
    await revoked.call("task/subscribe", {});
    await full.call("task/publish", { event: MESSAGE });
    await expect.poll(() => seen).toEqual(["task/event"]);
    limitedTokens.revoke("ci");
    await full.call("task/publish", { event: MESSAGE });
    await ended;
    expect(seen).toEqual(["task/event"]);
  });

  test("gets no answer that it waited for while it was revoked", async () => {
    let happen = () => {};
    const change = new Promise<void>((resolve) => {
      happen = resolve;
    });
    const { limitedTokens, clientWith } = await setUp(change);
    const client = await clientWith(limitedTokens.create("ci", ["tasks:add"], 0));
    const answer = client.call("task/list", { revision: 1, timeoutMs: 60_000 });
    // An answer that needs no task says that the request before it has been read.
    await expect(client.call("thread/list", {})).rejects.toThrow("needs the server's own token");
    limitedTokens.revoke("ci");
    happen();
    await expect(answer).rejects.toThrow("This token was revoked.");
  });

  test("has a name of its own, and counts for nothing if the file is damaged", async () => {
    const { limitedTokens, path } = await setUp();
    const token = limitedTokens.create("ci", ["tasks:add"], 0);
    expect(() => limitedTokens.create("ci", ["tasks:add"], 0)).toThrow("There is a token named ci already");
    writeFileSync(path, "{");
    expect(limitedTokens.rightsOf(token)).toBeUndefined();
    expect(() => limitedTokens.list()).toThrow("cannot be read. Delete it");
  });
});
