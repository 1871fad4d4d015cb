import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FakeStep, writeFakeAgent } from "@flint/testkit";
import type { Measurements, TortureCase } from "../case.ts";
import type { Context } from "../context.ts";
import { count, megabytes } from "../figures.ts";
import { MemoryWatch } from "../memory.ts";

const PIECE = 16 * 1024;
const TEXT = "x".repeat(PIECE);
const MEGABYTES = 200;
/** Limit on the additional memory of a server compared with before the flood, in MB. */
const LINE = 250;
const TURN_MS = 300_000;

/** Builds the steps by which an agent sends a text of so many pieces in so many messages. */
type Flood = (messages: number, pieces: number) => readonly FakeStep[];

const send = (value: object, repeat = 1): FakeStep => ({ send: value, repeat });

const claude: Flood = (messages, pieces) => {
  const event = (body: object): object => ({ type: "stream_event", event: body });
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } };
  const init = { type: "system", subtype: "init", session_id: "a-session", tools: [], model: "m" };
  const welcome = { subtype: "success", request_id: "$request", response: { models: [] } };
  return [
    { expect: { type: "control_request", request_id: "$request", request: { subtype: "initialize" } } },
    send({ type: "control_response", response: welcome }),
    { expect: { type: "user", uuid: "$prompt" } },
    send(init),
    send({ type: "user", message: { role: "user", content: "hello" }, uuid: "$prompt", isReplay: true }),
    ...Array.from({ length: messages }, (_, index) => [
      send(event({ type: "message_start", message: { id: `m${index}` } })),
      send(event(delta), pieces),
      send(event({ type: "message_stop" })),
    ]).flat(),
    send({ type: "result", subtype: "success", is_error: false, result: "Well." }),
  ];
};

const codex: Flood = (messages, pieces) => {
  const thread = { id: "thread-1", preview: "", cwd: "/", turns: [] };
  const turn = { id: "turn-1", status: "inProgress", items: [] };
  const place = { threadId: thread.id, turnId: turn.id };
  return [
    { expect: { id: "$initialize", method: "initialize" } },
    send({ id: "$initialize", result: { userAgent: "flint/0.166.0 (fake)" } }),
    { expect: { id: "$new", method: "thread/start" } },
    send({ id: "$new", result: { thread, model: "m" } }),
    { expect: { id: "$turn", method: "turn/start" } },
    send({ id: "$turn", result: { turn } }),
    send({ method: "turn/started", params: { threadId: thread.id, turn } }),
    ...Array.from({ length: messages }, (_, index) => {
      const item = { type: "agentMessage", id: `m${index}`, text: "" };
      return [
        send({ method: "item/started", params: { ...place, item } }),
        send(
          { method: "item/agentMessage/delta", params: { ...place, itemId: item.id, delta: TEXT } },
          pieces,
        ),
        send({ method: "item/completed", params: { ...place, item: { ...item, text: TEXT } } }),
      ];
    }).flat(),
    send({
      method: "turn/completed",
      params: { threadId: thread.id, turn: { ...turn, status: "completed" } },
    }),
    // The server is asked for its models to see that it is alive, and asks Codex for its own.
    { expect: { id: "$models", method: "model/list" } },
    send({ id: "$models", result: { data: [], nextCursor: null } }),
  ];
};

const acp: Flood = (messages, pieces) => {
  const update = (body: object, repeat = 1): FakeStep =>
    send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s1", update: body } }, repeat);
  const content = { type: "text", text: TEXT };
  return [
    { expect: { id: "$initialize", method: "initialize" } },
    send({ jsonrpc: "2.0", id: "$initialize", result: { protocolVersion: 1, agentCapabilities: {} } }),
    { expect: { id: "$new", method: "session/new" } },
    send({ jsonrpc: "2.0", id: "$new", result: { sessionId: "s1" } }),
    { expect: { id: "$prompt", method: "session/prompt" } },
    ...Array.from({ length: messages }, (_, index) => [
      update({ sessionUpdate: "agent_message_chunk", content }, pieces),
      update({ sessionUpdate: "tool_call", toolCallId: `t${index}`, title: "look", kind: "think" }),
      update({ sessionUpdate: "tool_call_update", toolCallId: `t${index}`, status: "completed" }),
    ]).flat(),
    send({ jsonrpc: "2.0", id: "$prompt", result: { stopReason: "end_turn" } }),
  ];
};

const FLOODS: Readonly<Record<string, Flood>> = { claude, codex, "flooding-acp": acp };

/** Lets each kind of agent send 200 MB of text in one turn, as one message and as many. */
export const floodingAgents: readonly TortureCase[] = Object.entries(FLOODS).flatMap(([agent, flood]) =>
  [1, 20].map(
    (messages): TortureCase => ({
      id: "P25",
      title: `${agent} that sends 200 MB of text in ${messages === 1 ? "one message" : `${messages} messages`} costs a bounded amount of memory`,
      run: (context) => floodOf(context, agent, flood, messages),
    }),
  ),
);

async function floodOf(
  context: Context,
  agent: string,
  flood: Flood,
  messages: number,
): Promise<Measurements> {
  const total = (MEGABYTES * 1024 * 1024) / PIECE;
  const folder = await context.folder();
  const home = join(folder, "home");
  await mkdir(home, { mode: 0o700 });
  const command = await writeFakeAgent(folder, flood(messages, Math.ceil(total / messages)));
  const configuration = `[agents.${agent}]\ncommand = ${JSON.stringify(command)}\n`;
  await writeFile(join(home, "config.toml"), configuration, { mode: 0o600 });
  const server = await context.start({ kind: "flint", home, cwd: folder, args: ["--allow-unconfined"] });
  const threadId = await server.startThread({
    ...{ model: `${agent}/default`, approvalPolicy: "never", sandbox: { type: "dangerFullAccess" } },
  });
  const memory = new MemoryWatch(server.pid);
  const turn = await server.turnCompleted(await server.startTurn(threadId, "go"), TURN_MS);
  assert.equal(turn.status, "completed", turn.error?.message);
  const { growth } = memory;
  await server.expectAlive(context.patience);
  await server.stop();
  return [count(`${agent}, messages`, messages), megabytes("+", growth, LINE)];
}
