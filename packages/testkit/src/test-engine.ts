import { type AgentPermissions, Engine, type SettingsLocks } from "@flint/core";
import {
  type Checkpoints,
  type Clock,
  type Driver,
  type DriverSession,
  type LaunchResult,
  type LaunchSpec,
  type McpServerConfig,
  NO_WORKSPACE_CONFIG,
  type PolicyRules,
  type ProjectRules,
  type Rules,
  type RunningProcess,
  type Sandbox,
  type Store,
  type Tasks,
  type Workspaces,
} from "@flint/core/ports";
import { MemoryStore } from "@flint/host/store";
import type { ApprovalPolicy, Budget, Rule, SandboxPolicy } from "@flint/protocol";
import { TestClock } from "./clock.ts";
import type { Script } from "./scripted/script.ts";
import { ScriptedDriver } from "./scripted/scripted-driver.ts";
import { atTestEnd } from "./temp.ts";
import { TestClient } from "./test-client.ts";

/** Differences of a test's engine from the plain one. */
export interface TestEngineOptions<Time extends Clock = TestClock> {
  /** In memory by default. Give the same one to a second engine to see what is left after the first. */
  readonly store?: Store;
  /** One scripted driver by default. */
  readonly driver?: ScriptedDriver;
  /** The scripts of that driver, one for each turn. */
  readonly scripts?: readonly Script[];
  /** More drivers behind that one. */
  readonly otherDrivers?: readonly Driver[];
  /** A clock that the test moves, by default. */
  readonly clock?: Time;
  readonly rules?: Rules;
  readonly policyRules?: PolicyRules;
  readonly budget?: Budget;
  readonly workspaces?: Workspaces;
  /** None by default, as on a server that runs no tasks. */
  readonly tasks?: Tasks;
  readonly mcpServers?: readonly McpServerConfig[];
  readonly sandbox?: Sandbox;
  /** No file contents are stored by default. */
  readonly checkpoints?: Checkpoints;
  readonly cwd?: string;
  readonly model?: string;
  readonly approvalPolicy?: ApprovalPolicy;
  readonly sandboxPolicy?: SandboxPolicy;
  readonly allowUnconfined?: boolean;
  readonly agentPermissions?: ReadonlyMap<string, AgentPermissions>;
  readonly locks?: SettingsLocks;
  /** A notice for the first client about the server. */
  readonly notice?: string;
  readonly home?: string;
  readonly approvalTimeoutMs?: number;
  readonly silenceTimeoutMs?: number;
  readonly idleMs?: number;
  readonly backgroundMs?: number;
  /** Strings that must be redacted everywhere. */
  readonly secrets?: readonly string[];
  /** The folders that exist; all of them by default. */
  readonly folders?: readonly string[];
  /** Returns the target of a path; each is its own by default. */
  readonly realPath?: (path: string) => string;
}

/** Rules that are gone with the test. */
export class MemoryRules implements Rules {
  readonly #rules = new Map<string, Rule>();
  readonly #replaced = new Set<string>();

  list(): readonly Rule[] {
    return [...this.#rules.values()];
  }

  forProject(project: string): ProjectRules {
    const mine = this.list().filter((rule) => rule.project === project);
    return {
      applying: mine.filter(({ id }) => !this.#replaced.has(id)),
      replaced: mine.filter(({ id }) => this.#replaced.has(id)),
    };
  }

  /** Pretends that another folder has taken the place of this one: its rules do not apply any more. */
  replaceFolder(project: string): void {
    for (const { id } of this.forProject(project).applying) this.#replaced.add(id);
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
  /** Plays a launch; a test may replace it. */
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

  /** Returns what it denied to an ended command; a test may set it. */
  denials?: NonNullable<Sandbox["denials"]>;

  /** Files that it cannot keep commands from creating; a test may set it. */
  unprotectedFiles?: NonNullable<Sandbox["unprotectedFiles"]>;

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
      tasks: options.tasks,
      mcpServers: options.mcpServers ?? [],
      workspaces: options.workspaces ?? NO_WORKSPACE_CONFIG,
      secrets: options.secrets ?? [],
      clock,
      cwd: options.cwd ?? "/code",
      model: options.model,
      approvalPolicy: options.approvalPolicy ?? "unlessTrusted",
      sandboxPolicy: options.sandboxPolicy ?? { type: "workspaceWrite" },
      approvalTimeoutMs: options.approvalTimeoutMs ?? 600_000,
      silenceTimeoutMs: options.silenceTimeoutMs,
      idleTimeoutMs: options.idleMs ?? 300_000,
      backgroundTimeoutMs: options.backgroundMs ?? 86_400_000,
      durability: "none: this is a test",
      allowUnconfined: options.allowUnconfined ?? false,
      agentPermissions: options.agentPermissions,
      locks: options.locks,
      home: options.home,
      notice: options.notice,
      isFolder: async (path) => options.folders?.includes(path) ?? true,
      realPath: options.realPath ?? ((path) => path),
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
