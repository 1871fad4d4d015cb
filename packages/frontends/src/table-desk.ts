import {
  FlintError,
  lazy,
  type Params,
  type RequestRow,
  type Result,
  type ThreadEvent,
} from "@flint/protocol";
import { encodeNotification, RemoteError, type RpcError } from "@flint/rpc";
import type { Desk, DeskClient, DoorService } from "./desk.ts";
import type { CoreCall, Dialect, Outbound } from "./dialect.ts";
import type { Encoded } from "./encoded.ts";
import { problemsOf } from "./problems.ts";

type AskMessage = Extract<Outbound, { kind: "ask" }>;
type Place = Params<"thread/attach">;

/** A door that is all tables: each request is one call of the core, each event says by itself what it becomes. */
export class TableService implements DoorService {
  readonly #dialect: Dialect;
  #event: ThreadEvent | undefined;
  #encoded: readonly Encoded[] = [];

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  open(client: DeskClient): Desk {
    return new TableDesk(this.#dialect, client, (event) => this.#encode(event));
  }

  /** What an event becomes. All clients of the door are told one after another, so remembering one event is enough. */
  #encode(event: ThreadEvent): readonly Encoded[] {
    if (this.#event === event) return this.#encoded;
    this.#encoded = this.#dialect.outbound(event).map((message) => this.#encodeOne(message));
    this.#event = event;
    return this.#encoded;
  }

  #encodeOne(message: Outbound): Encoded {
    if (message.kind !== "tell") return message;
    const { header } = this.#dialect.vocabulary;
    return { kind: "line", line: encodeNotification(message.method, message.params, { header }) };
  }
}

/** The desk of a client at such a door. */
class TableDesk implements Desk {
  readonly #dialect: Dialect;
  readonly #client: DeskClient;
  readonly #encode: (event: ThreadEvent) => readonly Encoded[];
  readonly #asks = new Map<string, AbortController>();
  #initialized = false;

  constructor(dialect: Dialect, client: DeskClient, encode: (event: ThreadEvent) => readonly Encoded[]) {
    this.#dialect = dialect;
    this.#client = client;
    this.#encode = encode;
  }

  async request(method: string, params: unknown, reply: (answer: unknown) => void): Promise<void> {
    await this.#call(this.#understand(method, params), reply);
  }

  notification(): void {
    // These doors take nothing that needs no answer.
  }

  tell(event: ThreadEvent): void {
    for (const message of this.#encode(event)) {
      if (message.kind === "line") this.#client.sendLine(message.line);
      else if (message.kind === "ask") void this.#ask(message);
      else this.#settle(message.key);
    }
  }

  refusal(error: FlintError): RpcError {
    const code = this.#dialect.vocabulary.errorCodes[error.kind];
    return { code, message: error.message, data: { ...error.data, reason: error.kind } };
  }

  #understand(method: string, params: unknown): CoreCall {
    const { vocabulary, initializeFirst, inbound } = this.#dialect;
    const isInitialize = method === "initialize";
    if (initializeFirst && !isInitialize && !this.#initialized) {
      throw new FlintError("notInitialized", `Send "initialize" before ${JSON.stringify(shorten(method))}.`);
    }
    if (initializeFirst && isInitialize && this.#initialized) {
      throw new FlintError("alreadyInitialized", "This connection is initialized already; open another one.");
    }
    const row = Object.hasOwn(vocabulary.requests, method) ? vocabulary.requests[method] : undefined;
    const toCall = Object.hasOwn(inbound, method) ? inbound[method] : undefined;
    if (row === undefined || toCall === undefined) {
      const message = `Unknown method ${JSON.stringify(shorten(method))}. The ${vocabulary.name} door knows: ${Object.keys(vocabulary.requests).join(", ")}.`;
      throw new FlintError("methodNotFound", message);
    }
    const call = toCall(parseParams(row, method, params));
    // From here on, not from the answer on: a client may send what follows in the same breath.
    if (isInitialize) this.#initialized = true;
    return call;
  }

  async #call(call: CoreCall, respond: (answer: unknown) => void): Promise<void> {
    const { method, params, answer } = call;
    // A core call holds a method with its own params and result; the union has lost which belongs to which.
    const mapped = answer as (result: Result<typeof method>) => unknown;
    const placeIn = call.follow as ((result: Result<typeof method>) => Place) | undefined;
    let following: (() => Promise<void>) | undefined;
    await this.#client.call(method, params as Params<typeof method>, (result) => {
      const place = placeIn?.(result);
      const reply = lazy(() => respond(mapped(result)));
      if (place === undefined || this.#client.follows(place.threadId)) reply();
      else following = () => this.#follow(place, reply);
    });
    await following?.();
  }

  /** Follows a thread, and replies before anything is told of it: what comes after the answer is not missed. */
  async #follow(place: Place, reply: () => void): Promise<void> {
    try {
      await this.#client.call("thread/attach", place, reply);
    } catch {
      // A thread that another process has open can be read and not followed.
      reply();
    }
  }

  /** Asks the client once for each open question; whoever answers first, here or elsewhere, has answered. */
  async #ask(ask: AskMessage): Promise<void> {
    if (this.#asks.has(ask.key)) return;
    const settled = new AbortController();
    this.#asks.set(ask.key, settled);
    try {
      const answer = await this.#client.ask(ask.method, ask.params, { signal: settled.signal });
      if (this.#asks.delete(ask.key)) await this.#call(ask.answered(answer), () => undefined);
    } catch (error) {
      await this.#notAnswered(ask, error);
    }
  }

  /** A client that cannot answer leaves it to the others; if there are none, nobody says yes. */
  async #notAnswered(ask: AskMessage, error: unknown): Promise<void> {
    const waiting = this.#asks.delete(ask.key);
    if (!waiting || !(error instanceof RemoteError) || !this.#client.alone(ask.threadId)) return;
    try {
      await this.#call(ask.refused(`The client cannot answer: ${error.message}`), () => undefined);
    } catch {
      // It was answered or ended in the meantime; then this answer is not needed.
    }
  }

  #settle(key: string): void {
    const asked = this.#asks.get(key);
    this.#asks.delete(key);
    asked?.abort(new Error("answered elsewhere"));
  }
}

/** Checks what a request takes. Throws a FlintError that names the fields. */
export function parseParams(row: RequestRow, method: string, params: unknown): never {
  const parsed = row.params.safeParse(params ?? {});
  // What comes out fits the row, and the row belongs to the handler that gets it.
  if (parsed.success) return parsed.data as never;
  const problems = problemsOf(parsed.error.issues).slice(0, 5);
  const texts = problems.map(({ field, text }) => (field === "" ? text : `${field}: ${text}`));
  throw new FlintError("invalidParams", `Wrong params for ${method}: ${texts.join("; ")}`, {
    field: problems[0]?.field,
  });
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
