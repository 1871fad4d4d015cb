import { type ClientSession, Engine } from "@flint/core";
import {
  type Checkpoints,
  type Clock,
  type Driver,
  type DriverSession,
  type LaunchResult,
  type LaunchSpec,
  type McpServerConfig,
  type PolicyRules,
  type Rules,
  type RunningProcess,
  type Sandbox,
  SILENT_WORKSPACES,
  type Store,
  type Workspaces,
} from "@flint/core/ports";
import { MemoryStore } from "@flint/core/store";
import {
  type ApprovalPolicy,
  type Budget,
  type EventType,
  type FlintError,
  METHODS,
  type Method,
  type Params,
  type ParamsInput,
  type Result,
  type Rule,
  type SandboxPolicy,
  type ThreadEvent,
  type Turn,
} from "@flint/protocol";
import { TestClock } from "./clock.ts";
import type { Script } from "./script.ts";
import { ScriptedDriver } from "./scripted-driver.ts";
import { atTestEnd } from "./test-end.ts";

/** How an engine for a test differs from the plain one. */
export interface TestEngineOptions<Time extends Clock = TestClock> {
  /** In memory unless told. Give the same one to a second engine to see what is left after the first. */
  readonly store?: Store;
  /** One scripted driver unless told. */
  readonly driver?: ScriptedDriver;
  /** The scripts of that driver, one for each turn. */
  readonly scripts?: readonly Script[];
  /** More drivers behind that one. */
  readonly otherDrivers?: readonly Driver[];
  /** A clock that the test moves, unless told. */
  readonly clock?: Time;
  readonly rules?: Rules;
  readonly policyRules?: PolicyRules;
  readonly budget?: Budget;
  readonly workspaces?: Workspaces;
  readonly mcpServers?: readonly McpServerConfig[];
  readonly sandbox?: Sandbox;
  /** Nothing is kept of files unless told. */
  readonly checkpoints?: Checkpoints;
  readonly cwd?: string;
  readonly model?: string;
  readonly approvalPolicy?: ApprovalPolicy;
  readonly sandboxPolicy?: SandboxPolicy;
  readonly allowUnconfined?: boolean;
  readonly home?: string;
  readonly approvalTimeoutMs?: number;
  readonly idleMs?: number;
  /** Texts that must be kept out of everything. */
  readonly secrets?: readonly string[];
  /** Which folders there are; all of them unless told. */
  readonly folders?: readonly string[];
}

/** Rules that are gone with the test. */
export class MemoryRules implements Rules {
  readonly #rules = new Map<string, Rule>();

  list(): readonly Rule[] {
    return [...this.#rules.values()];
  }

  add(rule: Rule): void {
    this.#rules.set(rule.id, rule);
  }

  remove(id: string): boolean {
    return this.#rules.delete(id);
  }
}

/** A sandbox that starts nothing: it remembers what it was asked for and pretends that it went well. */
export class FakeSandbox implements Sandbox {
  readonly launches: LaunchSpec[] = [];
  /** What a launch does; a test may replace it. */
  play: (spec: LaunchSpec) => Promise<LaunchResult> = async () => ({
    exitCode: 0,
    durationMs: 0,
    ended: "exited",
  });

  async state() {
    return { available: true, mechanism: "fake" };
  }

  launch(spec: LaunchSpec): Promise<LaunchResult> {
    this.launches.push(spec);
    return this.play(spec);
  }

  async start(): Promise<RunningProcess> {
    throw new Error("This sandbox starts no programs; give the test a real one.");
  }
}

/** A driver with the models and selectors of a scripted one, and sessions that the test writes itself. */
export class BareDriver extends ScriptedDriver {
  readonly #session: Partial<DriverSession> & Pick<DriverSession, "run">;

  constructor(session: Partial<DriverSession> & Pick<DriverSession, "run">) {
    super();
    this.#session = session;
  }

  override async open(): Promise<DriverSession> {
    return { close: async () => undefined, ...this.#session };
  }
}

/** Something that a client got: an event, the answer to a call, or its refusal. */
export type Received =
  | { readonly kind: "told"; readonly event: ThreadEvent }
  | { readonly kind: "answered"; readonly method: Method; readonly result: unknown }
  | { readonly kind: "refused"; readonly method: Method; readonly error: FlintError };

/** An event of this name. */
export type EventOf<Type extends EventType> = Extract<ThreadEvent, { type: Type }>;

/** An engine with everything around it that a test wants to look at. */
export class TestEngine<Time extends Clock = TestClock> {
  readonly engine: Engine;
  readonly clock: Time;
  readonly driver: ScriptedDriver;
  readonly store: Store;
  readonly rules: Rules;
  readonly sandbox: FakeSandbox;

  constructor(options: TestEngineOptions<Time>, clock: Time) {
    const { scripts } = options;
    this.clock = clock;
    this.driver = options.driver ?? new ScriptedDriver(scripts === undefined ? {} : { scripts });
    this.store = options.store ?? new MemoryStore();
    this.rules = options.rules ?? new MemoryRules();
    this.sandbox = new FakeSandbox();
    this.engine = new Engine({
      version: "0.0.0-test",
      store: this.store,
      ephemeralStore: new MemoryStore(),
      drivers: [this.driver, ...(options.otherDrivers ?? [])],
      sandbox: options.sandbox ?? this.sandbox,
      rules: this.rules,
      checkpoints: options.checkpoints,
      policyRules: options.policyRules,
      budget: options.budget,
      mcpServers: options.mcpServers ?? [],
      workspaces: options.workspaces ?? SILENT_WORKSPACES,
      secrets: options.secrets ?? [],
      clock,
      cwd: options.cwd ?? "/work",
      model: options.model,
      approvalPolicy: options.approvalPolicy ?? "unlessTrusted",
      sandboxPolicy: options.sandboxPolicy ?? { type: "workspaceWrite" },
      approvalTimeoutMs: options.approvalTimeoutMs ?? 600_000,
      idleMs: options.idleMs ?? 300_000,
      durability: "none: this is a test",
      allowUnconfined: options.allowUnconfined ?? false,
      home: options.home,
      isFolder: async (path) => options.folders?.includes(path) ?? true,
    });
  }

  /** A new client. */
  connect(): TestClient {
    return new TestClient(this.engine);
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

/** An engine with a scripted agent on a clock that the test moves; closed when the test ends. */
export function testEngine(options?: TestEngineOptions): TestEngine;
export function testEngine<Time extends Clock>(
  options: TestEngineOptions<Time> & { readonly clock: Time },
): TestEngine<Time>;
export function testEngine(options: TestEngineOptions<Clock> = {}): TestEngine<Clock> {
  const made = new TestEngine(options, options.clock ?? new TestClock());
  atTestEnd(
    () => closeAtEnd(made),
    () => undefined,
  );
  return made;
}

/** An agent that does not stop is waited for; on a clock that stands still that would be for ever. */
async function closeAtEnd({ engine, clock }: TestEngine<Clock>): Promise<void> {
  let isClosed = false;
  const closing = engine.close().finally(() => {
    isClosed = true;
  });
  while (clock instanceof TestClock && !isClosed) await clock.advance(1_000);
  await closing;
}

type Waiter = { readonly found: (received: Received) => boolean };

/** A client that remembers, in order, everything it is told and answered. */
export class TestClient {
  readonly session: ClientSession;
  /** Everything that came, events and answers, in the order it came. */
  readonly events: Received[] = [];
  /** Set to true to take nothing more; then say `relieved()` to go on. */
  full = false;
  readonly #waiters = new Set<Waiter>();

  constructor(engine: Engine) {
    this.session = engine.connect({ tell: (event) => this.#tell(event), full: () => this.full });
  }

  /** The events that came, without the answers. */
  get told(): ThreadEvent[] {
    return this.events.flatMap((entry) => (entry.kind === "told" ? [entry.event] : []));
  }

  /** What came, in words: events by name, answers as `<- method`, refusals as `x method`. */
  get order(): string[] {
    return this.events.map((entry) => {
      if (entry.kind === "told") return entry.event.type;
      return `${entry.kind === "answered" ? "<-" : "x"} ${entry.method}`;
    });
  }

  /** The events of one name that came. */
  toldOf<Type extends EventType>(type: Type): EventOf<Type>[] {
    return this.told.filter((event): event is EventOf<Type> => event.type === type);
  }

  /** Calls a method, with its params checked and completed as at any door. */
  async call<Name extends Method>(method: Name, params: ParamsInput<Name>): Promise<Result<Name>> {
    // The schema of a row gives the params of that row; indexing by a generic name has lost which.
    const parsed = METHODS[method].params.parse(params) as Params<Name>;
    const answer: { result?: Result<Name> } = {};
    try {
      await this.session.call(method, parsed, (result) => {
        answer.result = result;
        this.#receive({ kind: "answered", method, result });
      });
    } catch (error) {
      // Every failure of a call is a FlintError, or the test is to fail.
      const refusal = error as FlintError;
      this.#receive({ kind: "refused", method, error: refusal });
      throw error;
    }
    if (answer.result === undefined) throw new Error(`${method} ended without an answer.`);
    return answer.result;
  }

  /** The first event of this name that fits, from the very beginning on, or as soon as it comes. */
  async waitFor<Type extends EventType>(
    type: Type,
    fits: (event: EventOf<Type>) => boolean = () => true,
  ): Promise<EventOf<Type>> {
    const known = this.toldOf(type).find(fits);
    if (known !== undefined) return known;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        found: (received) => {
          if (received.kind !== "told" || received.event.type !== type) return false;
          // Its name was compared above.
          const event = received.event as EventOf<Type>;
          if (!fits(event)) return false;
          resolve(event);
          return true;
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** Starts a thread and gives its id. */
  async startThread(params: ParamsInput<"thread/start"> = {}): Promise<string> {
    return (await this.call("thread/start", params)).thread.id;
  }

  /** Starts a turn with a text and gives its id. */
  async startTurn(
    threadId: string,
    text: string,
    params: Omit<ParamsInput<"turn/start">, "threadId" | "input"> = {},
  ): Promise<string> {
    const { turn } = await this.call("turn/start", { threadId, input: [{ type: "text", text }], ...params });
    if (turn === undefined) throw new Error("The input was queued; no turn was started.");
    return turn.id;
  }

  /** The turn as its end was told. */
  async turnEnd(turnId: string): Promise<Turn> {
    const { data } = await this.waitFor("turn/completed", (event) => event.data.turn.id === turnId);
    return data.turn;
  }

  /** Runs a turn from its beginning to its end. */
  async runTurn(threadId: string, text: string): Promise<Turn> {
    return this.turnEnd(await this.startTurn(threadId, text));
  }

  /** Takes more again, and says so. */
  relieved(): void {
    this.full = false;
    this.session.relieved();
  }

  /** Forgets what came so far. */
  clear(): void {
    this.events.length = 0;
  }

  #tell(event: ThreadEvent): void {
    this.#receive({ kind: "told", event });
  }

  #receive(received: Received): void {
    this.events.push(received);
    for (const waiter of this.#waiters) if (waiter.found(received)) this.#waiters.delete(waiter);
  }
}
