import {
  type Approval,
  EVENTS,
  emptyThread,
  isEventType,
  METHODS,
  type Result,
  reduceThread,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import { fields } from "../../packages/frontends/src/testing/client-scripts.ts";
import type { OpenServer } from "../../packages/server/src/serve/testing/open-server.ts";

/** A way to the server that can be lost at any byte. */
export interface Line {
  send(text: string): void;
  /** Gives every piece that arrives, and says when no more will. */
  listen(piece: (bytes: Buffer) => void, lost: () => void): void;
  cut(): void;
}

/** A line over the unix socket of a server. */
export async function socketLine(server: OpenServer): Promise<Line> {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  return {
    send: (text) => void socket.write(text),
    listen: (piece, lost) => void socket.on("data", piece).once("close", lost),
    cut: () => void socket.destroy(),
  };
}

/** A line over a WebSocket; each message comes with an end of line, so that it can be lost in its middle too. */
export async function webSocketLine(server: OpenServer): Promise<Line> {
  const webSocket = await server.webSocket("/flint");
  return {
    send: (text) => webSocket.send(text.trimEnd()),
    listen: (piece, lost) => {
      webSocket.on("message", (data) => piece(Buffer.from(`${String(data)}\n`)));
      webSocket.once("close", lost);
    },
    cut: () => webSocket.terminate(),
  };
}

const HELLO = { clientInfo: { name: "follower", version: "1" } };

/** The least client that knows what a thread is: it folds what it is told, and takes up the thread where it stood. */
export class ThreadFollower {
  /** The thread as this client was told it. */
  state: ThreadState;
  /** Whether the server said that it cannot go on from where this client stood. */
  wasTruncated = false;
  readonly #open: () => Promise<Line>;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #line: Line | undefined;
  #lost: Promise<void> = Promise.resolve();
  #text = Buffer.alloc(0);
  /** How many bytes are still heard; after them the connection is lost. */
  #left = Number.POSITIVE_INFINITY;
  #epoch: string | undefined;
  #nextId = 1;

  constructor(threadId: string, open: () => Promise<Line>) {
    this.state = emptyThread(threadId);
    this.#open = open;
  }

  /** Connects and goes on from where it stands; the first time from the present state. */
  async attach(): Promise<void> {
    this.#left = Number.POSITIVE_INFINITY;
    this.#text = Buffer.alloc(0);
    const line = await this.#open();
    this.#line = line;
    this.#lost = new Promise((resolve) => line.listen((bytes) => this.#hear(line, bytes), resolve));
    await this.request("initialize", HELLO);
    const threadId = this.state.thread.id;
    const place = this.#epoch === undefined ? {} : { afterSeq: this.state.seq, epoch: this.#epoch };
    await this.request("thread/attach", { threadId, ...place });
  }

  /** Loses the connection after so many bytes, wherever in a message that is. */
  loseAfter(bytes: number): void {
    this.#left = bytes;
  }

  /** Resolves when the connection is lost, or everything that was told before now has arrived. */
  async heard(): Promise<void> {
    await Promise.race([this.#lost, this.request("model/list", {})]);
  }

  async lose(): Promise<void> {
    this.#line?.cut();
    await this.#lost;
  }

  request(method: string, params: object): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      this.#answers.set(id, (result) => {
        if (method === "thread/attach") this.#onAttached(METHODS[method].result.parse(result));
        resolve(result);
      });
      this.#line?.send(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  #hear(line: Line, bytes: Buffer): void {
    if (line !== this.#line || this.#left <= 0) return;
    const taken = bytes.subarray(0, this.#left);
    this.#left -= taken.length;
    this.#text = Buffer.concat([this.#text, taken]);
    for (let end = this.#text.indexOf("\n"); end !== -1; end = this.#text.indexOf("\n")) {
      const text = this.#text.subarray(0, end).toString();
      this.#text = this.#text.subarray(end + 1);
      this.#onMessage(fields(JSON.parse(text)));
    }
    if (this.#left <= 0) line.cut();
  }

  #onMessage({ id, method, params, result }: ReturnType<typeof fields>): void {
    if (typeof method !== "string") {
      this.#answers.get(Number(id))?.(result);
      return;
    }
    const event = id === undefined ? eventOf(method, params) : questionOf(params);
    if (event !== undefined) this.state = reduceThread(this.state, event);
  }

  #onAttached(answer: Result<"thread/attach">): void {
    const { thread, settings, seq, turns, approvals, questions, queue, usage, truncated } = answer;
    this.wasTruncated ||= truncated;
    if (this.#epoch !== undefined && !truncated) return;
    this.#epoch = answer.epoch;
    const active = turns.findLast(({ status }) => status === "inProgress");
    const told = { thread, settings, seq, turns, approvals, questions, queue, usage };
    this.state = { ...emptyThread(thread.id), ...told, activeTurnId: active?.id };
  }
}

function eventOf(method: string, params: unknown): ThreadEvent | undefined {
  if (!isEventType(method)) return undefined;
  const { seq, at, ...data } = fields(params);
  const event = { type: method, data: EVENTS[method].data.parse(data), at: at ?? 0 };
  // The schema of exactly this name has parsed the data; the union cannot follow a computed name.
  return (typeof seq === "number" ? { ...event, seq } : event) as ThreadEvent;
}

/** A request for an approval is the event that says it is open, in other words. */
function questionOf(params: unknown): ThreadEvent {
  const { threadId, turnId, approvalId, requestedAtMs, expiresAtMs, suggestions, ...action } = fields(params);
  const offered = suggestions === undefined ? {} : { suggestions };
  const approval = { id: approvalId, turnId, action: { kind: "command", ...action }, ...offered };
  const data = { threadId, approval: { ...approval, requestedAtMs, expiresAtMs } as Approval };
  return { type: "approval/requested", data: EVENTS["approval/requested"].data.parse(data), at: 0 };
}
