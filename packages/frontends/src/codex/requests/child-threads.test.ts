import { PassThrough } from "node:stream";
import type { Item, ThreadItem } from "@flint/protocol";
import { streamTransport } from "@flint/rpc/node";
import { testEngine, WireClient } from "@flint/testkit";
import { expect, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { CLIENT_SCRIPTS, fields } from "../../testing/client-scripts.ts";
import { codexFrontend } from "../frontend.ts";

const { initialize, turnEnd } = CLIENT_SCRIPTS.codex;
const CALL: Item<"toolCall"> = {
  ...{ type: "toolCall", id: "call", tool: "Task", title: "look", status: "inProgress" },
  subAgent: { prompt: "Look around." },
};
const SAID: ThreadItem = { type: "subAgentMessage", id: "said", text: "Found.", parentItemId: "call" };

test("the thread of a sub-agent is listed below its parent, read, resumed, and takes no turn", async () => {
  const emit = (type: "item/started" | "item/completed", item: ThreadItem) => ({ emit: { type, item } });
  const script = [
    ...[emit("item/started", CALL), emit("item/started", SAID), emit("item/completed", SAID)],
    emit("item/completed", { ...CALL, status: "completed", result: "Found." }),
  ];
  const { engine } = testEngine({ scripts: [script] });
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  new ClientConnection(codexFrontend(), engine, streamTransport(toServer, toClient));
  const client = WireClient.over(toClient, toServer);
  await client.request(...initialize);
  const { thread } = fields(await client.request("thread/start", { cwd: "/code" }));
  const { id: parentThreadId } = fields(thread);
  const input = [{ type: "text", text: "go" }];
  await client.request("turn/start", { threadId: parentThreadId, input });
  await client.waitFor((message) => JSON.stringify(message).includes(turnEnd));

  const listed = fields(await client.request("thread/list", { parentThreadId }));
  expect(listed.data).toMatchObject([{ parentThreadId, preview: "Look around.", name: "look" }]);
  const threadId = Reflect.get(fields(Reflect.get(Object(listed.data), 0)), "id");
  const parent = fields(
    await client.request("thread/read", { threadId: parentThreadId, includeTurns: true }),
  );
  expect(JSON.stringify(parent)).toContain(`"agentThreadId":"${threadId}"`);
  const read = fields(await client.request("thread/read", { threadId, includeTurns: true }));
  const items = [{ type: "userMessage" }, { type: "agentMessage", text: "Found." }];
  expect(read.thread).toMatchObject({ id: threadId, parentThreadId, turns: [{ items }] });
  const resumed = fields(await client.request("thread/resume", { threadId, model: "other" }));
  expect(resumed.thread).toMatchObject({ id: threadId, canAcceptDirectInput: false, turns: [{ items }] });
  await expect(client.request("turn/start", { threadId, input })).rejects.toThrow(String(parentThreadId));
  const all = fields(await client.request("thread/list", {}));
  expect(all.data).toMatchObject([{ id: parentThreadId, parentThreadId: null }]);
});
