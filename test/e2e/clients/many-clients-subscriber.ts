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
import { fields } from "../../../packages/frontends/src/testing/client-scripts.ts";
import type { OpenServer } from "../../../packages/server/src/serve/testing/open-server.ts";

/** A connection to the server that can be cut at any byte. */
export interface Connection {
  send(text: string): void;
  /** Passes on every chunk that arrives, and reports the end of the connection. */
  listen(piece: (bytes: Buffer) => void, lost: () => void): void;
  cut(): void;
}

/** Connects to the unix socket of a server. */
export async function socketConnection(server: OpenServer): Promise<Connection> {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  return {
    send: (text) => void socket.write(text),
    listen: (piece, lost) => void socket.on("data", piece).once("close", lost),
    cut: () => void socket.destroy(),
  };
}

/** Connects over a WebSocket; each message ends with a newline, so that it can be cut in the middle too. */
export async function webSocketConnection(server: OpenServer): Promise<Connection> {
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

const CLIENT_INFO = { clientInfo: { name: "subscriber", version: "1" } };

/** A minimal client that reduces the events of a thread and resumes the subscription from its last position. */
export class ThreadSubscriber {
  /** The thread as this client received it. */
  state: ThreadState;
  /** True if the server could not resume from this client's position. */
  wasTruncated = false;
  readonly #open: () => Promise<Connection>;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #connection: Connection | undefined;
  #closed: Promise<void> = Promise.resolve();
  #text = Buffer.alloc(0);
  /** Number of bytes that are read before the connection is cut. */
  #bytesLeft = Number.POSITIVE_INFINITY;
  #epoch: string | undefined;
  #nextId = 1;

  constructor(threadId: string, open: () => Promise<Connection>) {
    this.state = emptyThread(threadId);
    this.#open = open;
  }

  /** Connects and attaches from the last position; the first time from the current state. */
  async attach(): Promise<void> {
    this.#bytesLeft = Number.POSITIVE_INFINITY;
    this.#text = Buffer.alloc(0);
    const connection = await this.#open();
    this.#connection = connection;
    this.#closed = new Promise((resolve) =>
      connection.listen((bytes) => this.#onBytes(connection, bytes), resolve),
    );
    await this.request("initialize", CLIENT_INFO);
    const threadId = this.state.thread.id;
    const position = this.#epoch === undefined ? {} : { afterSeq: this.state.seq, epoch: this.#epoch };
    await this.request("thread/attach", { threadId, ...position });
  }

  /** Cuts the connection after this many bytes, even in the middle of a message. */
  disconnectAfter(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  /** Resolves when everything sent before now has arrived, or the connection is lost. */
  async received(): Promise<void> {
    await Promise.race([this.#closed, this.request("model/list", {})]);
  }

  async disconnect(): Promise<void> {
    this.#connection?.cut();
    await this.#closed;
  }

  request(method: string, params: object): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      this.#answers.set(id, (result) => {
        if (method === "thread/attach") this.#onAttached(METHODS[method].result.parse(result));
        resolve(result);
      });
      this.#connection?.send(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  #onBytes(connection: Connection, bytes: Buffer): void {
    if (connection !== this.#connection || this.#bytesLeft <= 0) return;
    const taken = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= taken.length;
    this.#text = Buffer.concat([this.#text, taken]);
    for (let end = this.#text.indexOf("\n"); end !== -1; end = this.#text.indexOf("\n")) {
      const text = this.#text.subarray(0, end).toString();
      this.#text = this.#text.subarray(end + 1);
      this.#onMessage(fields(JSON.parse(text)));
    }
    if (this.#bytesLeft <= 0) connection.cut();
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
    const attached = { thread, settings, seq, turns, approvals, questions, queue, usage };
    this.state = { ...emptyThread(thread.id), ...attached, activeTurnId: active?.id };
  }
}

function eventOf(method: string, params: unknown): ThreadEvent | undefined {
  if (!isEventType(method)) return undefined;
  const { seq, at, ...data } = fields(params);
  const event = { type: method, data: EVENTS[method].data.parse(data), at: at ?? 0 };
  // The schema of exactly this name has parsed the data; the union cannot follow a computed name.
  return (typeof seq === "number" ? { ...event, seq } : event) as ThreadEvent;
}

/** Translates an approval request into the event that it stands for. */
function questionOf(params: unknown): ThreadEvent {
  const { threadId, turnId, approvalId, requestedAtMs, expiresAtMs, ...rest } = fields(params);
  const { suggestions, agent, project, ...action } = rest;
  const offered = { agent, project, ...(suggestions === undefined ? {} : { suggestions }) };
  const approval = { id: approvalId, turnId, action: { kind: "command", ...action }, ...offered };
  const data = { threadId, approval: { ...approval, requestedAtMs, expiresAtMs } as Approval };
  return { type: "approval/requested", data: EVENTS["approval/requested"].data.parse(data), at: 0 };
}
