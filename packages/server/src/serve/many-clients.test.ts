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

/** What two clients of one thread must agree on. */
function picture({ seq, turns, approvals, openItemIds, activeTurnId, usage, thread }: ThreadState) {
  return { seq, turns, approvals, openItemIds, activeTurnId, usage, status: thread.status };
}

/** What two clients of one thread must agree on at any moment; what was told live has a number later. */
function shown({ turns, ...state }: ThreadState) {
  const { seq: _seq, ...rest } = picture({ ...state, turns: [] });
  return { ...rest, turns: turns.map(({ status, items }) => ({ status, items })) };
}

/** Resolves when the turn of a thread has ended, as its handle sees it. */
async function ended(handle: ThreadHandle): Promise<void> {
  while (handle.state.turns.at(-1)?.status === "inProgress" || handle.state.turns.length === 0)
    await settled();
}

const PATIENCE = { timeout: 15_000, interval: 10 };

/** Somebody who looks at the question and does not answer. */
const UNDECIDED = { onApproval: () => new Promise<never>(() => {}) };

describe("one live thread behind two doors and two kinds of sockets", () => {
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
    expect(picture(second.state)).toEqual(picture(thread.state));
  });

  test("programs get in with the transports of the SDK", async () => {
    const { server } = await open([[{ text: "hi" }]]);
    const { WebSocket: Client } = webSocketLibrary();
    const headers = { Authorization: `Bearer ${server.token}` };
    const webSocket = new Client(`ws://127.0.0.1:${server.port}/flint`, { headers });
    const client = await connect({ transport: webSocketTransport(webSocket) });
    onTestFinished(() => client.close());
    const thread = await client.startThread({});
    expect(await thread.run("go")).toMatchObject({ status: "completed", text: "hi" });
  });

  test("a client that vanishes leaves its turn and its approval to the others [P26]", async () => {
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

describe("a client whose connection is cut at any moment", () => {
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
    const gated = steps.flatMap((step, place) => [{ wait: gates[place] ?? last }, step]);
    // What an open item shows was told piece by piece, and nothing later sets it right.
    const open = { command: "sleep", asks: false, output: lines, until: last } as const;
    return { gates, last, script: [...gated, open, { text: "over" }] };
  }

  test("hears after attaching again exactly what an uninterrupted one hears", async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 14 }), {
      minLength: steps.length,
      maxLength: steps.length,
    });
    const property = fc.asyncProperty(cuts, async (given) => {
      const { gates, last, script } = gatedScript();
      const { server } = await open([script]);
      const client = await server.client();
      const steady = await client.startThread({});
      const cutter = new Cutter(server, steady.id);
      await cutter.attach();
      const heard = hear(client, steady.id);
      const running = steady.run("go");
      for (const [place, gate] of gates.entries()) await cutter.cutAfter(given[place] ?? 0, gate);
      await last.reached;
      const whole = { aggregatedOutput: lines.join("") };
      await expect.poll(() => steady.state.turns.at(-1)?.items.at(-1), PATIENCE).toMatchObject(whole);
      await expect.poll(() => shown(cutter.state), PATIENCE).toEqual(shown(steady.state));
      last.open();
      expect((await running).status).toBe("completed");
      await expect.poll(() => picture(cutter.state), PATIENCE).toEqual(picture(steady.state));
      expect(cutter.heard).toEqual(heard);
    });
    await fc.assert(property, { numRuns: 10 });
  });
});

/** The numbered events that a client is told of a thread from now on, but for pieces of text, which come in any cut. */
function hear(client: FlintClient, threadId: string, heard: string[] = []): string[] {
  client.subscribe({
    threadId,
    event: (event) => {
      const isPiece = event.type === "unknown" || isDelta(event);
      if (!isPiece && event.seq !== undefined) heard.push(`${event.seq} ${event.type}`);
    },
    ended: () => undefined,
  });
  return heard;
}

/** Follows a thread and loses its connection again and again. */
class Cutter {
  readonly heard: string[] = [];
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

  /** Connects, and goes on from where it was. */
  async attach(): Promise<void> {
    const before = this.#handle;
    const client = await this.#server.client();
    hear(client, this.#threadId, this.heard);
    const handle = new ThreadHandle(client, this.state);
    await handle.attach(before?.cursor ?? {});
    this.#client = client;
    this.#handle = handle;
  }

  /** Lets the agent go on, and loses the connection after so many changes, or when no more come for a while. */
  async cutAfter(changes: number, gate: Gate): Promise<void> {
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
  test("costs no more than its queue, is cut off after a while, and attaches again without loss", async () => {
    const gate = new Gate();
    const flood = { deltas: 60, size: 80_000 };
    const { server, clock } = await open([[flood, flood, flood, { text: "over" }, { wait: gate }]]);
    const steady = await (await server.client()).startThread({});
    const webSocket = await server.webSocket();
    const told: { id?: number; result?: { epoch?: string; seq?: number } }[] = [];
    webSocket.on("message", (data) => told.push(JSON.parse(String(data))));
    webSocket.send(
      JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "slow", version: "1" } } }),
    );
    webSocket.send(JSON.stringify({ id: 2, method: "thread/attach", params: { threadId: steady.id } }));
    while (!told.some(({ id }) => id === 2)) await settled();
    const { epoch, seq: afterSeq } = told.find(({ id }) => id === 2)?.result ?? {};
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
