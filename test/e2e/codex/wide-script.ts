import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Gate, type Script, type WireClient } from "@flint/testkit";
import { type CodexServerUnderTest, type Fields, fields, turnEnd } from "./server-under-test.ts";

/** A client with the requests that it sent, by their ids. */
export interface Played {
  readonly client: WireClient;
  readonly asked: ReadonlyMap<unknown, string>;
}

type Opener = typeof CodexServerUnderTest;
type AtEnd = (cleanUp: () => Promise<void>) => void;

/** Asks for everything that there is to ask, of an agent that does everything that there is to do. */
export async function playAll(atEnd: AtEnd, opener: Opener): Promise<readonly Played[]> {
  const server = await opener.open(atEnd, { scripts: scriptFor });
  const player = new Player(await server.client(), server.cwd);
  const watcher = new Player(await server.client(), server.cwd);
  await player.threads(watcher);
  await player.work();
  await player.endings();
  await player.goalsAndQueues();
  // Threads with a subscriber are unloaded with the server.
  const { mark } = player.client;
  await server.engine.close();
  await player.client.waitForMethod("thread/closed", { after: mark });
  return [player, watcher];
}

const STEER = new Gate();
const QUEUE = new Gate();

/** A change that the agent shows while it is writing it. */
const WRITTEN = [
  { path: "s.txt", kind: "add", diff: "--- /dev/null\n+++ b/s.txt\n@@ -0,0 +1 @@\n+slowly\n" },
] as const;

const SCRIPTS: Readonly<Record<string, Script>> = {
  work: [
    { reasoning: "Let me see", pieces: 2 },
    {
      emit: {
        type: "limits",
        limits: [{ window: "5 hours", usedPercent: 80, status: "ok", source: "frame" }],
      },
    },
    { emit: { type: "item/started", item: { type: "reasoning", id: "r2" } } },
    { emit: { type: "item/reasoning/summaryTextDelta", itemId: "r2", delta: "In " } },
    { emit: { type: "item/completed", item: { type: "reasoning", id: "r2", summary: "In short" } } },
    { command: "echo 'a' && echo b", output: ["a\n", "b\n"], startsFirst: true },
    {
      fileChange: [
        { path: "n.txt", kind: "add", diff: "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n" },
        {
          path: "m.txt",
          kind: "modify",
          diff: "--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-a\n+b\n",
          movePath: "k.txt",
        },
        { path: "d.txt", kind: "delete", diff: "--- a/d.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n" },
      ],
      startsFirst: true,
    },
    {
      emit: {
        type: "item/started",
        item: { type: "fileChange", id: "f2", changes: [], status: "inProgress" },
      },
    },
    { emit: { type: "item/fileChange/patchUpdated", itemId: "f2", changes: WRITTEN } },
    {
      emit: {
        type: "item/completed",
        item: { type: "fileChange", id: "f2", changes: [...WRITTEN], status: "completed" },
      },
    },
    {
      emit: {
        type: "item/started",
        item: { type: "hookRun", id: "k1", event: "PostToolUse", status: "inProgress" },
      },
    },
    {
      emit: {
        type: "item/completed",
        item: { type: "hookRun", id: "k1", event: "PostToolUse", status: "completed", output: "Noted." },
      },
    },
    { tool: "lookup", arguments: { name: "x" }, result: { found: 1 }, startsFirst: true },
    { clientTool: "door", namespace: "house", arguments: { open: true } },
    {
      emit: {
        type: "item/started",
        item: { type: "mcpToolCall", id: "m1", server: "s", tool: "t", status: "inProgress" },
      },
    },
    { emit: { type: "item/mcpToolCall/progress", itemId: "m1", message: "half" } },
    {
      emit: {
        type: "item/completed",
        item: {
          type: "mcpToolCall",
          id: "m1",
          server: "s",
          tool: "t",
          status: "completed",
          result: "ok",
          durationMs: 1,
        },
      },
    },
    { emit: { type: "item/started", item: { type: "webSearch", id: "w1", query: "lamps" } } },
    { emit: { type: "item/completed", item: { type: "webSearch", id: "w1", query: "lamps" } } },
    { emit: { type: "item/started", item: { type: "plan", id: "p1", text: "" } } },
    { emit: { type: "item/plan/delta", itemId: "p1", delta: "First" } },
    { emit: { type: "item/completed", item: { type: "plan", id: "p1", text: "First" } } },
    {
      emit: {
        type: "item/started",
        item: { type: "agentHandoff", id: "h1", fromAgent: "a", toAgent: "b", missedTurns: 1 },
      },
    },
    {
      emit: {
        type: "item/completed",
        item: { type: "agentHandoff", id: "h1", fromAgent: "a", toAgent: "b", missedTurns: 1 },
      },
    },
    {
      plan: [
        { step: "one", status: "completed" },
        { step: "two", status: "failed" },
      ],
      explanation: "why",
    },
    { emit: { type: "turn/diff/updated", diff: "diff --git a/n.txt b/n.txt\n" } },
    {
      usage: { inputTokens: 5, outputTokens: 2, thinkingTokens: 1, cacheReadTokens: 3 },
      modelContextWindow: 100,
    },
    { emit: { type: "error", error: { message: "again", httpStatusCode: 503 }, willRetry: true } },
    { emit: { type: "model/rerouted", fromModel: "a", toModel: "b", reason: "highRiskCyberActivity" } },
    { emit: { type: "model/rerouted", fromModel: "a", toModel: "b", reason: "busy" } },
    { ask: [{ id: "q", question: "Which?", options: [{ label: "red" }] }] },
    { text: "Done with it.", pieces: 3 },
  ],
  steer: [{ wait: STEER }, { text: "Steered." }],
  queue: [{ wait: QUEUE }, { text: "Over." }],
  fail: [{ fail: { message: "No more lamps.", errorInfo: "UsageLimitExceeded" } }],
};

/** The core may give an agent more before the user's prompt, such as the goal of the thread. */
function scriptFor(text: string): Script {
  const found = Object.keys(SCRIPTS).find((prompt) => text.endsWith(prompt));
  return (found === undefined ? undefined : SCRIPTS[found]) ?? [{ text: "Done." }];
}

class Player implements Played {
  readonly client: WireClient;
  readonly asked = new Map<unknown, string>();
  readonly #cwd: string;
  #nextId = 0;
  #threadId = "";

  constructor(client: WireClient, cwd: string) {
    this.client = client;
    this.#cwd = cwd;
    this.asked.set(1, "initialize");
  }

  /** The answer to a request; errors are answers too. */
  async ask(method: string, params: object = {}): Promise<Fields> {
    this.#nextId += 1;
    const id = `request-${this.#nextId}`;
    this.asked.set(id, method);
    this.client.send({ id, method, params });
    const answer = await this.client.waitFor((message) => message.id === id && message.method === undefined);
    return fields(answer.result);
  }

  async threads(watcher: Player): Promise<void> {
    await mkdir(join(this.#cwd, ".flint"));
    await writeFile(join(this.#cwd, ".flint", "config.toml"), 'model = "scripted/swift"\n');
    const opened = await this.ask("thread/start", {
      cwd: this.#cwd,
      sandbox: "danger-full-access",
      dynamicTools: [HOUSE],
    });
    this.#threadId = idOf(opened.thread);
    await this.ask("model/list");
    await this.ask("mcpServerStatus/list");
    await this.ask("account/read");
    await watcher.ask("thread/resume", { threadId: this.#threadId });
  }

  /** A turn that does everything, with answers to all that is asked. */
  async work(): Promise<void> {
    const threadId = this.#threadId;
    await this.ask("thread/settings/update", {
      threadId,
      approvalPolicy: "untrusted",
      model: "scripted/swift",
    });
    const turnId = await this.#turn("work");
    for (const [method, result] of ANSWERS) {
      const { id } = await this.client.waitForMethod(method);
      this.client.answer(id, result);
    }
    await turnEnd(this.client, turnId);
    await this.ask("account/rateLimits/read");
    const steered = await this.#turn("steer");
    await STEER.reached;
    await this.ask("turn/steer", { threadId, expectedTurnId: steered, input: [text("left")] });
    STEER.open();
    await turnEnd(this.client, steered);
  }

  async endings(): Promise<void> {
    const threadId = this.#threadId;
    const failed = await this.#turn("fail");
    await turnEnd(this.client, failed);
    for (const method of ["thread/read", "thread/turns/list", "thread/items/list", "thread/list"]) {
      await this.ask(method, { threadId, includeTurns: true, itemsView: "full" });
    }
    await this.ask("thread/items/list", { threadId, sortDirection: "desc", limit: 2 });
    await this.ask("thread/loaded/list");
    const { thread: fork } = await this.ask("thread/fork", { threadId });
    await this.ask("thread/name/set", { threadId: idOf(fork), name: "A fork" });
    await this.ask("thread/archive", { threadId: idOf(fork) });
    await this.ask("thread/unarchive", { threadId: idOf(fork) });
    await this.ask("thread/delete", { threadId: idOf(fork) });
    await this.ask("thread/revert", { threadId, beforeTurnId: failed });
    await this.ask("thread/rollback", { threadId, numTurns: 1 });
    await this.#ends(() => this.ask("thread/compact/start", { threadId }));
    await this.#ends(() => this.ask("review/start", { threadId, target: { type: "uncommittedChanges" } }));
    await this.#ends(() => this.ask("thread/shellCommand", { threadId, command: "echo hi" }));
    const said = { type: "message", role: "user", content: [{ type: "input_text", text: "Known before" }] };
    await this.ask("thread/inject_items", { threadId, items: [said] });
    await this.ask("experimentalFeature/list", {});
    for (const method of ["hooks/list", "plugin/list", "plugin/installed"]) await this.ask(method, {});
    await this.ask("thread/backgroundTerminals/list", { threadId });
    await this.ask("thread/backgroundTerminals/terminate", { threadId, processId: "none" });
    await this.ask("thread/backgroundTerminals/clean", { threadId });
    const { thread } = await this.ask("thread/start", { ephemeral: true, threadSource: "thread_title" });
    const outputSchema = { type: "object", properties: { title: { type: "string", maxLength: 20 } } };
    await this.ask("turn/start", { threadId: idOf(thread), input: [text("Name it")], outputSchema });
    await this.ask("thread/unsubscribe", { threadId: idOf(thread) });
  }

  async goalsAndQueues(): Promise<void> {
    const threadId = this.#threadId;
    await this.ask("thread/goal/set", { threadId, objective: "win", status: "paused" });
    await this.ask("thread/goal/get", { threadId });
    await this.ask("thread/goal/clear", { threadId });
    const running = await this.#turn("queue");
    await QUEUE.reached;
    const ids: string[] = [];
    for (const prompt of ["first", "second"]) {
      const input = [text(prompt)];
      const { queuedSubmission } = await this.ask("thread/queue/add", {
        threadId,
        input,
        clientUserMessageId: prompt,
      });
      ids.push(idOf(queuedSubmission));
    }
    const [first, second] = ids;
    await this.ask("thread/queue/list", { threadId });
    await this.ask("thread/queue/update", { threadId, queuedSubmissionId: first, input: [text("other")] });
    await this.ask("thread/queue/reorder", { threadId, queuedSubmissionIds: [second, first] });
    await this.ask("thread/queue/delete", { threadId, queuedSubmissionId: second });
    await this.ask("thread/queue/start", { threadId });
    await this.ask("turn/interrupt", { threadId, turnId: running });
    QUEUE.open();
    await turnEnd(this.client, running);
    await this.ask("thread/unsubscribe", { threadId });
  }

  async #turn(prompt: string): Promise<string> {
    const { turn } = await this.ask("turn/start", { threadId: this.#threadId, input: [text(prompt)] });
    return idOf(turn);
  }

  /** Runs what begins a turn, and waits for its end. */
  async #ends(begin: () => Promise<unknown>): Promise<void> {
    const after = this.client.mark;
    await begin();
    await this.client.waitForMethod("turn/completed", { after });
  }
}

/** Tools that the client runs itself. */
const HOUSE = {
  type: "namespace",
  name: "house",
  description: "The house.",
  tools: [{ type: "function", name: "door", description: "Opens it.", inputSchema: { type: "object" } }],
};

const ANSWERS: readonly (readonly [method: string, result: object])[] = [
  ["item/commandExecution/requestApproval", { decision: "accept" }],
  ["item/fileChange/requestApproval", { decision: "acceptForSession" }],
  ["mcpServer/elicitation/request", { action: "accept", content: {}, _meta: null }],
  ["item/tool/call", { success: true, contentItems: [{ type: "inputText", text: "It is open." }] }],
  ["item/tool/requestUserInput", { answers: { q: { answers: ["red"] } } }],
];

function text(prompt: string): object {
  return { type: "text", text: prompt };
}

function idOf(value: unknown): string {
  return String(fields(value).id);
}
