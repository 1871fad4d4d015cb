import { FLINT, type Method, type Params, type Thread, type ThreadItem, type Turn } from "@flint/protocol";
import { type Id, memoryPair, Peer, type Transport } from "@flint/rpc";

/** The answer of a server to one method; throw a Refusal to refuse, return NO_ANSWER to stay silent. */
type Answer = (params: Record<string, unknown>) => unknown;

/** An answer that never comes. */
export const NO_ANSWER = Symbol("no answer");

/** An error reply. */
export class Refusal extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(kind: keyof typeof FLINT.errorCodes, message: string, data: unknown = { reason: kind }) {
    super(message);
    this.code = FLINT.errorCodes[kind];
    this.data = data;
  }
}

/** A server played by a test: it answers as scripted and sends the notifications of the test. */
export class FakeServer {
  /** The end for the client. */
  readonly transport: Transport;
  /** Every request and notification, in order. */
  readonly received: { method: string; params: unknown }[] = [];
  readonly #peer: Peer;
  readonly #answers = new Map<string, Answer>();
  readonly #waiting: { method: string; resolve: (params: Record<string, unknown>) => void }[] = [];

  constructor() {
    const [client, server] = memoryPair();
    this.transport = client;
    this.#peer = new Peer(server, {
      header: false,
      lineLimit: 1024 * 1024,
      queueLimit: 1024 * 1024,
      handlers: {
        request: (id, method, params) => this.#onRequest(id, method, params),
        notification: (method, params) => this.#onReceived(method, params),
        bad: () => {},
      },
    });
    this.answer("initialize", () => ({
      agentInfo: { name: "fake", version: "1", provider: "test" },
      capabilities: { streaming: true, configOptions: true, reasoning: true, plans: true, review: false },
    }));
    this.#peer.start();
  }

  /** Answers a method this way from now on. */
  answer<Name extends Method>(method: Name, answer: (params: Params<Name>) => unknown): this {
    // A test server trusts the client it tests to send what the method takes.
    this.#answers.set(method, answer as unknown as Answer);
    return this;
  }

  /** Resolves with the params of the next message of this name. */
  next(method: string): Promise<Record<string, unknown>> {
    return new Promise((resolve) => this.#waiting.push({ method, resolve }));
  }

  notify(method: string, params: unknown): void {
    this.#peer.notify(method, params);
  }

  /** Asks the client and resolves to its answer. */
  ask(method: string, params: unknown): Promise<unknown> {
    return this.#peer.request(method, params);
  }

  /** Writes a line that need not be a message. */
  sayRaw(line: string): void {
    this.#peer.sendLine(line);
  }

  /** Returns the number of times that a method was received. */
  count(method: string): number {
    return this.received.filter((message) => message.method === method).length;
  }

  /** Hangs up. */
  close(): void {
    this.#peer.close();
  }

  #onRequest(id: Id, method: string, params: unknown): void {
    const answer = this.#answers.get(method);
    try {
      if (answer === undefined) throw new Refusal("methodNotFound", `no answer to ${method}`);
      // The client always sends an object.
      const result = answer((params ?? {}) as Record<string, unknown>);
      if (result !== NO_ANSWER) this.#peer.reply(id, result);
    } catch (thrown) {
      // A test throws a refusal to make the server answer with an error.
      if (!(thrown instanceof Refusal)) throw thrown;
      this.#peer.replyError(id, { code: thrown.code, message: thrown.message, data: thrown.data });
    }
    this.#onReceived(method, params);
  }

  #onReceived(method: string, params: unknown): void {
    this.received.push({ method, params });
    const at = this.#waiting.findIndex((waiting) => waiting.method === method);
    // The client always sends an object.
    if (at !== -1) this.#waiting.splice(at, 1)[0]?.resolve(params as Record<string, unknown>);
  }
}

/** A thread as a server describes it. */
export function aThread(id: string, change: Partial<Thread> = {}): Thread {
  return {
    id,
    preview: "",
    modelProvider: "test",
    model: "test/model",
    cwd: "/code",
    createdAt: 1,
    updatedAt: 1,
    archived: false,
    ephemeral: false,
    status: { type: "idle" },
    ...change,
  };
}

/** The settings of a thread. */
export const SETTINGS = {
  model: "test/model",
  cwd: "/code",
  approvalPolicy: "always",
  sandboxPolicy: { type: "readOnly" },
  config: {},
} as const;

/** A turn that runs, unless changed. */
export function aTurn(id: string, change: Partial<Turn> = {}): Turn {
  return { id, status: "inProgress", items: [], ...change };
}

/** Plays a thread whose events carry their positions in its log. */
export class FakeThread {
  readonly id: string;
  readonly #server: FakeServer;
  #seq = 0;

  constructor(server: FakeServer, id: string) {
    this.#server = server;
    this.id = id;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Tells an event of this thread that is in its log. */
  stored(method: string, data: object): void {
    this.#seq += 1;
    this.#server.notify(method, { threadId: this.id, ...data, seq: this.#seq, at: 1000 * this.#seq });
  }

  /** Tells an event that is not in the log. */
  live(method: string, data: object): void {
    this.#server.notify(method, { threadId: this.id, ...data });
  }

  started(): void {
    this.stored("thread/started", { thread: aThread(this.id), settings: SETTINGS });
  }

  turnStarted(turnId: string): void {
    this.stored("turn/started", { turn: aTurn(turnId) });
  }

  /** An agent message, whole. */
  completeMessage(turnId: string, itemId: string, text: string): void {
    const item = { type: "agentMessage", id: itemId, text };
    this.stored("item/started", { turnId, item: { ...item, text: "" } });
    this.live("item/agentMessage/delta", { turnId, itemId, delta: text, offset: 0 });
    this.stored("item/completed", { turnId, item });
  }

  turnCompleted(turnId: string, change: Partial<Turn> = {}): void {
    const items: ThreadItem[] = [];
    const turn = aTurn(turnId, { status: "completed", items, itemsView: "notLoaded", ...change });
    this.stored("turn/completed", { turn });
  }

  /** A turn that sends one message and completes. */
  wholeTurn(turnId: string, text: string): void {
    this.turnStarted(turnId);
    this.completeMessage(turnId, `${turnId}-message`, text);
    this.turnCompleted(turnId);
  }
}
