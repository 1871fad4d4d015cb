import { emptyThread, isDelta, LIMITS, type ThreadState } from "@flint/protocol";
import { connect, type FlintClient, ThreadHandle, webSocketTransport } from "@flint/sdk";
import {
  Gate,
  type Script,
  settled,
  TestClock,
  temporaryFolder,
  testEngine,
  WireClient,
} from "@flint/testkit";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { webSocketLibrary } from "../listeners/web-socket-transport.ts";
import { OpenServer } from "./testing/open-server.ts";

async function open(scripts: readonly Script[], policy: "always" | "unlessTrusted" = "always") {
  const { path: folder } = await temporaryFolder();
  const clock = new TestClock();
  const { engine } = testEngine({ scripts, approvalPolicy: policy });
  const kit = { engine, folder, clock, atEnd: onTestFinished };
  return { clock, server: await OpenServer.start(kit, { protocol: "harness" }) };
}

/** Returns the state that two clients of one thread must agree on. */
function sharedState({ seq, turns, approvals, openItemIds, activeTurnId, usage, thread }: ThreadState) {
  return { seq, turns, approvals, openItemIds, activeTurnId, usage, status: thread.status };
}

/**
 * Returns the state that two clients of one thread must agree on at any moment, before live events have a
 * `seq`.
 */
function liveState({ turns, ...state }: ThreadState) {
  const { seq: _seq, ...rest } = sharedState({ ...state, turns: [] });
  return { ...rest, turns: turns.map(({ status, items }) => ({ status, items })) };
}

/** Resolves when the turn of a thread has ended, as its handle sees it. */
async function ended(handle: ThreadHandle): Promise<void> {
  while (handle.state.turns.at(-1)?.status === "inProgress" || handle.state.turns.length === 0)
    await settled();
}

const POLLING = { timeout: 15_000, interval: 10 };

/** A user who sees the approval and does not answer. */
const UNDECIDED = { onApproval: () => new Promise<never>(() => {}) };

describe("one live thread with two protocols and two kinds of sockets", () => {
  test("an approval answered in one client disappears in the other; first answer wins [S0-1, P26]", async () => {
    const { server } = await open([[{ command: "make", output: ["built\n"] }, { text: "done" }]]);
    const first = await server.client(UNDECIDED);
    const thread = await first.startThread({});
    const socket = await server.socket();
    const harness = WireClient.over(socket, socket, { header: true });
    await harness.request("initialize", {});
    await harness.request("thread.get", { threadId: thread.id });
    const second = await (await server.client(UNDECIDED)).attachThread(thread.id);
    const running = thread.run("go");
    while (second.state.approvals.length === 0) await settled();
    const [approval] = thread.state.approvals;
    const requestId = `${thread.id}.${approval?.id}`;
    expect(await harness.request("approval.respond", { requestId, decision: "once" })).toEqual({ ok: true });
    expect(await running).toMatchObject({ status: "completed", text: "done" });
    await ended(second);
    expect([thread.state.approvals, second.state.approvals]).toEqual([[], []]);
    expect(sharedState(second.state)).toEqual(sharedState(thread.state));
  });

  test("the transports of the SDK connect", async () => {
    const { server } = await open([[{ text: "hi" }]]);
    const { WebSocket: Client } = webSocketLibrary();
    const headers = { Authorization: `Bearer ${server.token}` };
    const webSocket = new Client(`ws://127.0.0.1:${server.port}/flint`, { headers });
    const client = await connect({ transport: webSocketTransport(webSocket) });
    onTestFinished(() => client.close());
    const thread = await client.startThread({});
    expect(await thread.run("go")).toMatchObject({ status: "completed", text: "hi" });
  });

  test("the turn and approval of a client that disappears stay with the others [P26]", async () => {
    const { server } = await open([[{ command: "make", output: ["built\n"] }, { text: "done" }]]);
    const first = await server.client(UNDECIDED);
    const thread = await first.startThread({});
    void thread.run("go").catch(() => undefined);
    while (thread.state.approvals.length === 0) await settled();
    await first.close();
    const other = await (await server.client({ onApproval: () => "accept" })).attachThread(thread.id);
    await ended(other);
    const { status, items } = other.state.turns.at(-1) ?? {};
    expect(status).toBe("completed");
    expect(items?.find(({ type }) => type === "commandExecution")).toMatchObject({ status: "completed" });
  });
});

describe("a client that loses its connection at any moment", () => {
  const lines = Array.from({ length: 40 }, (_, number) => `line ${number}\n`);
  const steps: Script = [
    { reasoning: "let me think about that for a moment", pieces: 12 },
    { text: "first I look", pieces: 6 },
    { command: "make", asks: false, output: lines },
    { deltas: 70, size: 20 },
    { usage: { inputTokens: 7, outputTokens: 3 } },
    { text: "then I say what I saw", pieces: 9 },
  ];

  /** Each step waits until the client is back; the last one stays open until the end. */
  function gatedScript() {
    const gates = steps.map(() => new Gate());
    const last = new Gate();
    const gated = steps.flatMap((step, index) => [{ wait: gates[index] ?? last }, step]);
    // The content of an open item was streamed in deltas, and no later event corrects it.
    const open = { command: "sleep", asks: false, output: lines, until: last } as const;
    return { gates, last, script: [...gated, open, { text: "over" }] };
  }

  test("receives exactly the events of an uninterrupted client after attaching again", async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 14 }), {
      minLength: steps.length,
      maxLength: steps.length,
    });
    const property = fc.asyncProperty(cuts, async (given) => {
      const { gates, last, script } = gatedScript();
      const { server } = await open([script]);
      const client = await server.client();
      const steady = await client.startThread({});
      const reconnecting = new ReconnectingClient(server, steady.id);
      await reconnecting.attach();
      const received = record(client, steady.id);
      const running = steady.run("go");
      for (const [index, gate] of gates.entries())
        await reconnecting.disconnectAfter(given[index] ?? 0, gate);
      await last.reached;
      const whole = { aggregatedOutput: lines.join("") };
      await expect.poll(() => steady.state.turns.at(-1)?.items.at(-1), POLLING).toMatchObject(whole);
      await expect.poll(() => liveState(reconnecting.state), POLLING).toEqual(liveState(steady.state));
      last.open();
      expect((await running).status).toBe("completed");
      await expect.poll(() => sharedState(reconnecting.state), POLLING).toEqual(sharedState(steady.state));
      expect(reconnecting.received).toEqual(received);
    });
    await fc.assert(property, { numRuns: 10 });
  });
});

/** Records the events with a `seq` that a client receives, except deltas, which may be split differently. */
function record(client: FlintClient, threadId: string, received: string[] = []): string[] {
  client.subscribe({
    threadId,
    event: (event) => {
      const isUnnumbered = event.type === "unknown" || isDelta(event);
      if (!isUnnumbered && event.seq !== undefined) received.push(`${event.seq} ${event.type}`);
    },
    ended: () => undefined,
  });
  return received;
}

/** Subscribes to a thread and loses its connection repeatedly. */
class ReconnectingClient {
  readonly received: string[] = [];
  readonly #server: OpenServer;
  readonly #threadId: string;
  #client: FlintClient | undefined;
  #handle: ThreadHandle | undefined;

  constructor(server: OpenServer, threadId: string) {
    this.#server = server;
    this.#threadId = threadId;
  }

  get state(): ThreadState {
    return this.#handle?.state ?? emptyThread(this.#threadId);
  }

  /** Connects and attaches at its last position. */
  async attach(): Promise<void> {
    const before = this.#handle;
    const client = await this.#server.client();
    record(client, this.#threadId, this.received);
    const handle = new ThreadHandle(client, this.state);
    await handle.attach(before?.cursor ?? {});
    this.#client = client;
    this.#handle = handle;
  }

  /** Opens the gate of the agent, and reconnects after a number of changes, or when there are none for a while. */
  async disconnectAfter(changes: number, gate: Gate): Promise<void> {
    await gate.reached;
    gate.open();
    let state = this.state;
    for (let [seen, quiet] = [0, 0]; seen < changes && quiet < 50; quiet += 1) {
      await settled();
      if (this.state !== state) [seen, quiet] = [seen + 1, 0];
      state = this.state;
    }
    await this.#client?.close();
    await this.attach();
  }
}

describe("a client that stops reading", () => {
  test("uses no more memory than its queue, is disconnected after a while, and attaches again without loss", async () => {
    const gate = new Gate();
    const flood = { deltas: 60, size: 80_000 };
    const { server, clock } = await open([[flood, flood, flood, { text: "over" }, { wait: gate }]]);
    const steady = await (await server.client()).startThread({});
    const webSocket = await server.webSocket();
    const messages: { id?: number; result?: { epoch?: string; seq?: number } }[] = [];
    webSocket.on("message", (data) => messages.push(JSON.parse(String(data))));
    webSocket.send(
      JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "slow", version: "1" } } }),
    );
    webSocket.send(JSON.stringify({ id: 2, method: "thread/attach", params: { threadId: steady.id } }));
    while (!messages.some(({ id }) => id === 2)) await settled();
    const { epoch, seq: afterSeq } = messages.find(({ id }) => id === 2)?.result ?? {};
    webSocket.pause();
    const running = steady.run("go");
    await gate.reached;
    expect(server.listening.size).toBe(2);
    await clock.advance(LIMITS.stalledMilliseconds);
    while (server.listening.size > 1) await settled();
    gate.open();
    expect((await running).status).toBe("completed");
    const again = new ThreadHandle(await server.client(), { ...steady.state, seq: 0, turns: [] });
    await again.attach({ afterSeq, epoch });
    await ended(again);
    expect(again.state.turns).toEqual(steady.state.turns);
  });
});
