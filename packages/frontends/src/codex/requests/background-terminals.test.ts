import { PassThrough } from "node:stream";
import type { BackgroundCommand } from "@flint/protocol";
import { streamTransport } from "@flint/rpc/node";
import { BareDriver, testEngine, WireClient } from "@flint/testkit";
import { expect, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { CLIENT_SCRIPTS, fields } from "../../testing/client-scripts.ts";
import { codexFrontend } from "../frontend.ts";

const { initialize, turnEnd } = CLIENT_SCRIPTS.codex;

test("a Codex client lists, terminates and cleans the commands that any agent left running", async () => {
  let running: BackgroundCommand[] = ["1", "2", "3"].map((processId) => ({
    ...{ processId, command: `sleep ${processId}`, cwd: "/code", itemId: `item-${processId}` },
  }));
  const driver = new BareDriver({
    run: async () => ({ status: "completed" }),
    backgroundCommands: async () => running,
    stopBackgroundCommand: async (stopped) => {
      running = running.filter(({ processId }) => processId !== stopped);
      return true;
    },
  });
  const { engine } = testEngine({ driver });
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  await client.request(...initialize);
  const { id: threadId } = fields(fields(await client.request("thread/start", { cwd: "/code" })).thread);
  await client.request("turn/start", { threadId, input: [{ type: "text", text: "go" }] });
  await client.waitFor((message) => JSON.stringify(message).includes(turnEnd));

  const list = () => client.request("thread/backgroundTerminals/list", { threadId });
  const [first] = running;
  expect(await list()).toEqual({
    data: ["1", "2", "3"].map((processId) => ({
      ...{ ...first, processId, command: `sleep ${processId}`, itemId: `item-${processId}` },
      ...{ osPid: null, cpuPercent: null, rssKb: null },
    })),
    nextCursor: null,
  });
  const terminate = (processId: string) =>
    client.request("thread/backgroundTerminals/terminate", { threadId, processId });
  expect(await terminate("2")).toEqual({ terminated: true });
  expect(await terminate("2")).toEqual({ terminated: false });
  expect(running.map(({ processId }) => processId)).toEqual(["1", "3"]);
  expect(await client.request("thread/backgroundTerminals/clean", { threadId })).toEqual({});
  expect(await list()).toEqual({ data: [], nextCursor: null });
});
