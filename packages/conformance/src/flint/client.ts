import type { TestContext } from "../test-context.ts";
import { at, formatValue, NotOffered, stringAt } from "../wire/pattern.ts";
import type { Message, Wire } from "../wire/wire.ts";

const INITIALIZE_PARAMS = { clientInfo: { name: "flint-conformance", version: "1" } } as const;

/** The handshake of a proper client. */
export async function initialize(wire: Wire): Promise<void> {
  await wire.result("initialize", INITIALIZE_PARAMS);
  wire.notify("initialized");
}

/** The connection that most checks share, after its handshake. */
export async function flintWire(trial: TestContext): Promise<Wire> {
  return trial.shared(initialize);
}

/** A further connection to the same server, after its handshake. */
export async function openSecondWire(trial: TestContext): Promise<Wire> {
  const wire = await trial.another();
  await initialize(wire);
  return wire;
}

/** A turn that waits for an approval. */
export interface PendingApproval {
  readonly turnId: string;
  readonly request: Message;
  /** The file that would be made. */
  readonly name: string;
}

/** A thread for one check. */
export class FlintThread {
  readonly wire: Wire;
  readonly id: string;
  readonly #trial: TestContext;

  private constructor(trial: TestContext, wire: Wire, id: string) {
    this.#trial = trial;
    this.wire = wire;
    this.id = id;
  }

  static async start(trial: TestContext, given?: Wire): Promise<FlintThread> {
    const wire = given ?? (await flintWire(trial));
    const started = await wire.result("thread/start", { cwd: trial.cwd, approvalPolicy: "always" });
    return new FlintThread(trial, wire, stringAt(started, "thread", "id"));
  }

  /** Begins a turn and resolves with its id as soon as the request is answered. */
  async begin(text: string): Promise<string> {
    const params = { threadId: this.id, input: [{ type: "text", text }] };
    return stringAt(await this.wire.result("turn/start", params), "turn", "id");
  }

  /** The turn as `turn/completed` brings it. */
  async ended(turnId: string, wire: Wire = this.wire): Promise<unknown> {
    const isEnd = ({ method, params }: Message): boolean =>
      method === "turn/completed" && at(params, "turn", "id") === turnId;
    const end = await wire.waitFor(isEnd, { what: `turn/completed of the turn ${turnId}` });
    return at(end, "params", "turn");
  }

  /** Runs a turn to its end, and resolves with its id. */
  async run(text: string): Promise<string> {
    const turnId = await this.begin(text);
    await this.ended(turnId);
    return turnId;
  }

  /** Begins a turn that needs an approval, and waits for the request. */
  async provoke(): Promise<PendingApproval> {
    const name = this.#trial.name();
    const after = this.wire.mark;
    const prompt = `run \`touch ${name}\``;
    const turnId = await this.begin(prompt);
    const isEither = (message: Message): boolean =>
      at(message, "params", "threadId") === this.id &&
      (message.method === "turn/completed" || ("id" in message && "method" in message));
    const request = await this.wire.waitFor(isEither, { after, what: "a request for approval" });
    if (request.method !== "turn/completed") return { turnId, request, name };
    throw new NotOffered(`the model ended its turn on ${formatValue(prompt)} without asking for anything`);
  }

  /** Stops a turn that a check left running. */
  async stop(turnId: string): Promise<void> {
    await this.wire.result("turn/interrupt", { threadId: this.id });
    await this.ended(turnId);
  }

  /** Asks something about this thread. */
  async result(method: string, params: object = {}): Promise<Message> {
    return this.wire.result(method, { threadId: this.id, ...params });
  }

  /** The methods of the notifications about this thread since a position, without deltas. */
  methodsSince(after: number): string[] {
    const own = this.wire.since(after).filter((message) => at(message, "params", "threadId") === this.id);
    return own.map(({ method }) => String(method)).filter((method) => !/[dD]elta$/.test(method));
  }
}
