import { PassThrough } from "node:stream";
import { streamTransport } from "@flint/rpc/node";
import { testEngine, WireClient } from "@flint/testkit";
import { expect, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { CLIENT_SCRIPTS, fields } from "../../testing/client-scripts.ts";
import { codexFrontend } from "../frontend.ts";

const { initialize, startThread, threadIdOf, prompt, turnEnd } = CLIENT_SCRIPTS.codex;

test("thread/list has the requested order, by creation or by last use", async () => {
  const { engine, clock } = testEngine();
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  await client.request(...initialize);
  const use = async (threadId: string) => {
    const after = client.mark;
    await client.request(...prompt(threadId, "go"));
    await client.waitFor((message) => JSON.stringify(message).includes(turnEnd), { after });
    // The times of a thread are in seconds.
    await clock.advance(1_000);
  };
  const start = async () => {
    const threadId = String(threadIdOf(fields(await client.request(...startThread("/work")))));
    await use(threadId);
    return threadId;
  };
  const [older, newer] = [await start(), await start()];
  await use(older);
  const list = async (sortKey: string, sortDirection: string) => {
    const { data } = fields(await client.request("thread/list", { sortKey, sortDirection }));
    return Array.isArray(data) ? data.map((thread) => fields(thread).id) : data;
  };
  expect(await list("created_at", "desc")).toEqual([newer, older]);
  expect(await list("created_at", "asc")).toEqual([older, newer]);
  expect(await list("updated_at", "desc")).toEqual([older, newer]);
  expect(await list("updated_at", "asc")).toEqual([newer, older]);
});
