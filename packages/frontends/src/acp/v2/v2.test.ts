import {
  type AgentRequestResponsesByMethod as Answers,
  client,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import { memoryPair, Peer } from "@flint/rpc";
import { Gate, type Step } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ClientConnection } from "../../shared/client-connection.ts";
import { MessageCheck, type WireMessage } from "../testing/schema-check.ts";
import { messageStream, setUpAcp } from "../testing/setup.ts";

type Setup = Awaited<ReturnType<typeof setUpAcp>>;

/** The official client for version 2, with everything it was sent. */
class V2Client {
  readonly updates: SessionUpdate[] = [];
  readonly wire: WireMessage[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly check = new MessageCheck(2);
  readonly #connection;
  readonly #waiting: (() => void)[] = [];

  constructor({ frontend, engine }: Setup, choice = "allow_once") {
    const [ours, theirs] = memoryPair();
    new ClientConnection(frontend, engine, ours);
    const app = client({ name: "test" })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params.update);
        this.#wake();
      })
      .onRequest("session/request_permission", ({ params }) => {
        this.permissions.push(params);
        const option = params.options.find(({ kind }) => kind === choice);
        return { outcome: { outcome: "selected", optionId: option?.optionId ?? "" } };
      });
    this.#connection = app.connect(messageStream(theirs, this.check, this.wire, () => this.#wake()));
    onTestFinished(() => {
      this.#connection.close();
      expect(this.check.problems).toEqual([]);
    });
  }

  request<Method extends keyof Answers>(method: Method, params: object): Promise<Answers[Method]>;
  request(method: string, params: object): Promise<unknown>;
  request(method: string, params: object): Promise<unknown> {
    return this.#connection.agent.request(method, params);
  }

  notify(method: string, params: object): Promise<void> {
    return this.#connection.agent.notify(method, params);
  }

  initialize() {
    return this.request("initialize", {
      protocolVersion: 2,
      info: { name: "test", version: "1" },
      capabilities: {},
    });
  }

  async newSession(cwd: string): Promise<string> {
    return (await this.request("session/new", { cwd })).sessionId;
  }

  prompt(sessionId: string, text: string): Promise<{ messageId: string }> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** Resolves with the first state of this name. */
  async state(name: string): Promise<SessionUpdate> {
    return this.until(() =>
      this.updates.find((update) => update.sessionUpdate === "state_update" && update.state === name),
    );
  }

  async until<Value>(find: () => Value | undefined): Promise<Value> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  get names(): string[] {
    return this.updates.map((update) =>
      update.sessionUpdate === "state_update" ? `${update.state}` : update.sessionUpdate,
    );
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

async function connected(setup: Setup, choice?: string): Promise<V2Client> {
  const acp = new V2Client(setup, choice);
  await acp.initialize();
  return acp;
}

/** The thoughts that a client was sent: the kind of update and its texts. */
function thoughts({ updates }: V2Client): string[][] {
  return updates
    .filter(({ sessionUpdate }) => sessionUpdate.startsWith("agent_thought"))
    .map((update) => {
      const blocks: unknown[] = [Object(update).content].flat();
      return [update.sessionUpdate, ...blocks.map((block) => String(Object(block).text))];
    });
}

describe("ACP version 2", () => {
  test("is used for clients that request it or a later one, and versions below 1 are rejected", async () => {
    const setup = await setUpAcp({});
    const acp = new V2Client(setup);
    expect(await acp.initialize()).toMatchObject({ protocolVersion: 2, info: { name: "flint" } });
    const [ours, theirs] = memoryPair();
    new ClientConnection(setup.frontend, setup.engine, ours);
    const peer = new Peer(theirs, {
      ...{ header: true, lineLimit: 1 << 20, queueLimit: 1 << 20 },
      handlers: { request: () => undefined, notification: () => undefined, bad: () => undefined },
    });
    peer.start();
    const rejection = { code: -32022, data: { requested: 0, supported: [1, 2] } };
    await expect(peer.request("initialize", { protocolVersion: 0 })).rejects.toMatchObject(rejection);
    expect(await peer.request("initialize", { protocolVersion: 7 })).toMatchObject({ protocolVersion: 2 });
    peer.close();
  });

  test("acknowledges a prompt once its message is in the conversation, and reports its end as a state", async () => {
    const setup = await setUpAcp({
      scripts: [
        [
          { reasoning: "hm" },
          { text: "hello" },
          { command: "ls", output: ["x\n"] },
          { plan: [{ step: "a", status: "pending", priority: "high" }] },
        ],
      ],
    });
    const acp = await connected(setup);
    const session = await acp.newSession(setup.path);
    const { messageId } = await acp.prompt(session, "go");
    expect(await acp.state("idle")).toMatchObject({ stopReason: "end_turn" });
    expect(acp.names).toEqual([
      ...["running", "user_message", "session_info_update", "agent_thought_chunk", "agent_message_chunk"],
      ...["requires_action", "terminal_update", "tool_call_update", "running", "tool_call_update"],
      ...[
        "terminal_output_chunk",
        "terminal_update",
        "tool_call_update",
        "plan_update",
        "session_info_update",
        "idle",
      ],
    ]);
    expect(acp.updates.find(({ sessionUpdate }) => sessionUpdate === "user_message")).toMatchObject({
      messageId,
    });
    expect(acp.permissions[0]).toMatchObject({
      title: "ls",
      subject: { type: "command", command: "ls", cwd: setup.path },
    });
    const planned = acp.updates.find(({ sessionUpdate }) => sessionUpdate === "plan_update");
    expect(planned).toMatchObject({ plan: { entries: [{ content: "a", priority: "high" }] } });
    const output = acp.updates.find((update) => update.sessionUpdate === "terminal_output_chunk");
    expect(Buffer.from(Object(output).data, "base64").toString()).toBe("x\n");
  });

  test("sends a thought and its summary in full, streamed or not", async () => {
    const emit = (id: string, type: "item/started" | "item/completed", texts: object): Step => ({
      emit: { type, item: { type: "reasoning", id, ...texts } },
    });
    const both = { summary: "Short", content: "Quite long" };
    const setup = await setUpAcp({
      scripts: [
        [
          emit("pieces", "item/started", {}),
          { emit: { type: "item/reasoning/summaryTextDelta", itemId: "pieces", delta: "Short" } },
          { emit: { type: "item/reasoning/textDelta", itemId: "pieces", delta: "Quite long" } },
          emit("pieces", "item/completed", both),
          emit("half", "item/started", {}),
          { emit: { type: "item/reasoning/textDelta", itemId: "half", delta: "Quite long" } },
          emit("half", "item/completed", both),
        ],
      ],
    });
    const acp = await connected(setup);
    const sessionId = await acp.newSession(setup.path);
    await acp.prompt(sessionId, "go");
    await acp.state("idle");
    expect(thoughts(acp)).toEqual([
      ["agent_thought_chunk", "Short"],
      ["agent_thought_chunk", "Quite long"],
      ["agent_thought_chunk", "Quite long"],
      ["agent_thought", "Short", "Quite long"],
    ]);
    const later = await connected(setup);
    const resumed = { sessionId, cwd: setup.path };
    await later.request("session/resume", { ...resumed, replayFrom: { type: "start" } });
    expect(thoughts(later)).toEqual(Array(2).fill(["agent_thought", "Short", "Quite long"]));
  });

  test("sends a file change as operations and a git patch", async () => {
    const diff = "--- a/w/a.ts\n+++ b/w/a.ts\n@@ -1 +1 @@\n-old\n+new\n";
    const setup = await setUpAcp({
      scripts: [[{ fileChange: [{ path: "/w/a.ts", kind: "modify", diff }] }]],
    });
    const acp = await connected(setup);
    await acp.prompt(await acp.newSession(setup.path), "go");
    await acp.state("idle");
    const content = [
      {
        type: "diff",
        changes: [{ operation: "modify", path: "/w/a.ts" }],
        patch: { format: "git_patch", text: `diff --git a/w/a.ts b/w/a.ts\n${diff}` },
      },
    ];
    expect(acp.permissions[0]).toMatchObject({ subject: { type: "tool_call", toolCall: { content } } });
  });

  test("ends a turn as cancelled after session/cancel, and a failed one with its error", async () => {
    const wait = new Gate();
    const fail = { message: "gone", errorInfo: "AgentFailed" };
    const setup = await setUpAcp({ scripts: [[{ wait }], [{ fail }]] });
    const acp = await connected(setup);
    const sessionId = await acp.newSession(setup.path);
    await acp.prompt(sessionId, "go");
    await wait.reached;
    await acp.notify("session/cancel", { sessionId });
    expect(await acp.state("idle")).toMatchObject({ stopReason: "cancelled" });
    acp.updates.splice(0);
    await acp.prompt(sessionId, "again");
    expect(await acp.state("idle")).toMatchObject({
      stopReason: "error",
      error: { code: -32603, message: "gone" },
    });
  });

  test("resumes a session with or without its history, and sends its state before the response", async () => {
    const setup = await setUpAcp({ scripts: [[{ text: "hello" }, { command: "ls", output: ["x\n"] }]] });
    const first = await connected(setup);
    const sessionId = await first.newSession(setup.path);
    await first.prompt(sessionId, "go");
    await first.state("idle");
    const resumed = { sessionId, cwd: setup.path };
    const second = await connected(setup);
    await second.request("session/resume", { ...resumed, replayFrom: { type: "start" } });
    expect(second.names).toEqual([
      "user_message",
      "agent_message",
      "terminal_update",
      "tool_call_update",
      "idle",
    ]);
    const third = await connected(setup);
    await third.request("session/resume", resumed);
    expect(third.names).toEqual(["idle"]);
    const wrong = third.request("session/resume", { ...resumed, replayFrom: { type: "_mine" } });
    await expect(wrong).rejects.toMatchObject({ code: -32602 });
  });

  test("ends a turn as cancelled before the response to session/close", async () => {
    const wait = new Gate();
    const setup = await setUpAcp({ scripts: [[{ wait }]] });
    const acp = await connected(setup);
    const sessionId = await acp.newSession(setup.path);
    await acp.prompt(sessionId, "go");
    await wait.reached;
    await acp.request("session/close", { sessionId });
    expect(acp.names.at(-1)).toBe("idle");
    expect(acp.updates.at(-1)).toMatchObject({ stopReason: "cancelled" });
  });

  test("has modes as a config option, and no requests that only version 1 has", async () => {
    const setup = await setUpAcp({});
    const acp = await connected(setup);
    const opened = await acp.request("session/new", { cwd: setup.path });
    expect(opened.configOptions?.[0]).toMatchObject({
      configId: "mode",
      category: "mode",
      currentValue: "ask",
    });
    expect(opened.availableCommands?.[0]).toMatchObject({ type: "command", name: "scripted" });
    const { sessionId } = opened;
    const set = { sessionId, configId: "mode", type: "id", value: "auto" };
    const { configOptions } = await acp.request("session/set_config_option", set);
    expect(configOptions[0]).toMatchObject({ currentValue: "auto" });
    for (const method of ["session/load", "session/set_mode", "session/set_model", "authenticate"]) {
      await expect(acp.request(method, { sessionId }), method).rejects.toMatchObject({ code: -32601 });
    }
    expect(await acp.prompt(sessionId, "/mode ask")).toMatchObject({ messageId: expect.any(String) });
    expect(await acp.state("idle")).toMatchObject({ stopReason: "end_turn" });
  });

  test("shares a session with a client of version 1", async () => {
    const setup = await setUpAcp({ scripts: [[{ text: "to both" }]] });
    const second = await connected(setup);
    const sessionId = await second.newSession(setup.path);
    const first = await setup.connect();
    await first.request("session/resume", { sessionId, cwd: setup.path });
    await second.prompt(sessionId, "go");
    await second.state("idle");
    await first.until(() => (first.agentText === "to both" ? true : undefined));
  });
});
