import { isRecord } from "@flint/protocol";
import type { TestContext } from "../test-context.ts";
import { at, expectFit, Failed, formatValue, NotOffered, stringAt, UUID } from "../wire/pattern.ts";
import { errorOf, type Message, resultOf, type Wire } from "../wire/wire.ts";

/** The name by which the checks introduce themselves. */
export const CLIENT = { name: "flint-conformance", version: "1" } as const;

/** Codex's answer to an unknown method. Its number is the one of every refusal. */
export const UNKNOWN_METHOD = { code: -32600, message: /^Invalid request: unknown variant `/ } as const;

const INITIALIZE_PARAMS = { clientInfo: CLIENT, capabilities: { experimentalApi: true } } as const;

/** The connection that most checks share, after its handshake. */
export async function codexWire(trial: TestContext): Promise<Wire> {
  return trial.shared(initialize);
}

/** A further connection to the same server, after its handshake. */
export async function openSecondWire(trial: TestContext): Promise<Wire> {
  const wire = await trial.another();
  await initialize(wire);
  return wire;
}

/** The handshake of a proper client. */
export async function initialize(wire: Wire): Promise<void> {
  await wire.result("initialize", INITIALIZE_PARAMS);
  wire.notify("initialized");
}

/** Asks for what not every server has; a method that is unknown there is "not offered" and no failure. */
export async function offered(wire: Wire, method: string, params?: unknown): Promise<Message> {
  const answer = await wire.ask(method, params);
  refuseUnknown(method, answer);
  return resultOf(method, answer);
}

function refuseUnknown(method: string, answer: Message): void {
  const { error } = answer;
  if (!isRecord(error)) return;
  const unknown = error.code === -32601 || UNKNOWN_METHOD.message.test(String(error.message));
  if (unknown) throw new NotOffered(`the server does not know ${method}`);
}

/** A thread for one check, on one connection. */
export class CodexThread {
  readonly wire: Wire;
  readonly id: string;
  /** The whole answer to thread/start. */
  readonly started: Message;

  private constructor(wire: Wire, started: Message) {
    this.wire = wire;
    this.started = started;
    this.id = stringAt(started, "thread", "id");
  }

  /** Starts a thread that asks before it does anything. */
  static async start(trial: TestContext, wire: Wire, sandbox = "read-only"): Promise<CodexThread> {
    const params = { cwd: trial.cwd, approvalPolicy: "untrusted", sandbox };
    const started = await wire.result("thread/start", params);
    expectFit("thread/start", started, { thread: { id: UUID } });
    return new CodexThread(wire, started);
  }

  /** Begins a turn and resolves with its id as soon as the request is answered. */
  async begin(text: string): Promise<string> {
    const answer = await this.wire.result("turn/start", { threadId: this.id, input: input(text) });
    return stringAt(answer, "turn", "id");
  }

  /** Waits for the end of a turn and resolves with it. */
  async ended(turnId: string, wire: Wire = this.wire): Promise<Message> {
    const isEnd = (message: Message): boolean => endOf(message) === turnId;
    const end = await wire.waitFor(isEnd, { what: `turn/completed of the turn ${turnId}` });
    const turn = at(end, "params", "turn");
    if (isRecord(turn)) return turn;
    throw new Failed(`turn/completed has no turn: ${formatValue(end)}`);
  }

  /** Waits for the end of a turn in which nothing is allowed that may be asked for on the way. */
  async endedWithout(turnId: string): Promise<void> {
    for (let after = 0; ; ) {
      const mark = after;
      const message = await this.wire.waitFor(
        (one) => endOf(one) === turnId || ("id" in one && threadOf(one) === this.id),
        { after: mark, what: `turn/completed of the turn ${turnId}` },
      );
      if (endOf(message) === turnId) return;
      this.wire.answer(message.id, { decision: "decline" });
      after = this.wire.messages.indexOf(message) + 1;
    }
  }

  /** Runs a turn to its end, and resolves with its id. */
  async run(text: string): Promise<string> {
    const turnId = await this.begin(text);
    await this.ended(turnId);
    return turnId;
  }

  /** Begins a turn that needs an approval, and waits for the request. */
  async provoke(prompt: string, request = "item/commandExecution/requestApproval"): Promise<PendingApproval> {
    const after = this.wire.mark;
    const turnId = await this.begin(prompt);
    const about = (message: Message): boolean => at(message, "params", "threadId") === this.id;
    const isAnswer = (message: Message): boolean =>
      about(message) && (message.method === "turn/completed" || ("id" in message && "method" in message));
    const message = await this.wire.waitFor(isAnswer, {
      after,
      what: `a request for approval after ${formatValue(prompt)}`,
    });
    if (message.method === request) return { id: message.id, turnId, request: message };
    if (message.method === "turn/completed") {
      throw new NotOffered(`the model ended its turn on ${formatValue(prompt)} without asking for anything`);
    }
    await this.wire.result("turn/interrupt", { threadId: this.id, turnId });
    throw new NotOffered(`${formatValue(prompt)} led to ${String(message.method)} and not to ${request}`);
  }

  /** Stops a turn that a check left running. */
  async stop(turnId: string): Promise<void> {
    await this.wire.result("turn/interrupt", { threadId: this.id, turnId });
    await this.ended(turnId);
  }

  /** Asks something about this thread. */
  async result(method: string, params: object = {}): Promise<Message> {
    return offered(this.wire, method, { threadId: this.id, ...params });
  }

  /** Asks something about this thread that has to be refused; a method the server lacks is "not offered". */
  async expectError(method: string, params: object, message: RegExp): Promise<void> {
    const answer = await this.wire.ask(method, { threadId: this.id, ...params });
    if (!message.test("unknown variant")) refuseUnknown(method, answer);
    errorOf(method, answer, { code: -32600, message });
  }

  /** Waits for a notification about this thread. */
  async notification(method: string, after = 0, wire: Wire = this.wire): Promise<Message> {
    const fits = (message: Message): boolean => message.method === method && threadOf(message) === this.id;
    const message = await wire.waitFor(fits, { after, what: `${method} of the thread` });
    return isRecord(message.params) ? message.params : {};
  }
}

/** A turn that waits for an approval. */
export interface PendingApproval {
  /** The id of the server's request. */
  readonly id: unknown;
  readonly turnId: string;
  readonly request: Message;
}

/** The turn whose end a message reports. */
function endOf({ method, params }: Message): unknown {
  return method === "turn/completed" ? at(params, "turn", "id") : undefined;
}

/** The thread that a notification or request is about. */
export function threadOf({ params }: Message): unknown {
  return at(params, "threadId") ?? at(params, "thread", "id");
}

/** Text as the input of a turn. */
export function input(text: string): readonly object[] {
  return [{ type: "text", text }];
}

/** Notifications that may come at any time, or not at all, without a client missing them. */
export const OPTIONAL_NOTIFICATIONS = [
  "account/rateLimits/updated",
  "account/updated",
  "configWarning",
  "deprecationNotice",
  "mcpServer/startupStatus/updated",
  "remoteControl/status/changed",
  "skills/changed",
  "thread/goal/cleared",
  "thread/goal/updated",
  "thread/readState/changed",
  "thread/settings/updated",
  "turn/diff/updated",
  "turn/plan/updated",
  "warning",
] as const;

/**
 * Returns the messages about a thread from a position on, as short words in order; streamed pieces are left
 * out.
 */
export function messageOrder(wire: Wire, threadId: string, mark: number): string[] {
  return wire
    .since(mark)
    .filter((message) => threadOf(message) === threadId && typeof message.method === "string")
    .filter(
      ({ method }) =>
        !OPTIONAL_NOTIFICATIONS.some((free) => free === method) &&
        !/[dD]elta$|summaryPartAdded$/.test(String(method)),
    )
    .map(step);
}

function step({ method, params }: Message): string {
  if (method === "thread/status/changed") return `status ${statusWords(at(params, "status"))}`;
  if (method === "item/started" || method === "item/completed") {
    return `${method} ${String(at(params, "item", "type"))}`;
  }
  if (method === "turn/completed") return `${method} ${String(at(params, "turn", "status"))}`;
  return String(method);
}

function statusWords(status: unknown): string {
  const flags = at(status, "activeFlags");
  return [at(status, "type"), ...(Array.isArray(flags) ? flags : [])].join(" ");
}

/** Fails the check unless the wanted steps are all there in this order; others may lie between them. */
export function expectOrder(came: readonly string[], requested: readonly string[]): void {
  let place = 0;
  for (const want of requested) {
    const found = came.indexOf(want, place);
    if (found === -1) {
      const after = requested[requested.indexOf(want) - 1];
      const where = after === undefined ? "" : ` after “${after}”`;
      throw new Failed(`“${want}” should come${where}; the order was: ${came.join(", ")}`);
    }
    place = found + 1;
  }
}

/** Fails the check unless these are the steps, no more and no fewer. */
export function expectSteps(came: readonly string[], requested: readonly string[]): void {
  const same = came.length === requested.length && came.every((step, place) => step === requested[place]);
  if (!same)
    throw new Failed(`the order should be ${formatValue(requested, 900)}, but was ${formatValue(came, 900)}`);
}

/** A thread of its own for a check, on the connection that most of them share. */
export async function startThread(trial: TestContext): Promise<CodexThread> {
  return CodexThread.start(trial, await codexWire(trial));
}
