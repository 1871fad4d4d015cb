import type {
  Account,
  Driver,
  DriverSession,
  McpServerConfig,
  McpServerStatus,
  SessionSpec,
  TurnContext,
  TurnOutcome,
} from "@flint/core/ports";
import {
  type ClientTool,
  type ConfigOption,
  type ConfigValues,
  inputText,
  type Model,
  mintId,
  type ThreadSettings,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import type { Script } from "./script.ts";
import { ScriptPlayer, type TurnRecord } from "./script-player.ts";

/** The options with which a scripted agent was opened, and the calls since. */
export interface SessionRecord {
  readonly threadId: string;
  readonly settings: ThreadSettings;
  readonly nativeId: string | undefined;
  readonly history: readonly Turn[];
  readonly handoffSummary: string;
  /** The session that it could have been copied from, and the summary of what the copy lacks. */
  readonly forkOf:
    | { readonly nativeId: string; readonly position?: string | undefined; readonly handoffSummary: string }
    | undefined;
  readonly mcpServers: readonly McpServerConfig[];
  readonly clientTools: readonly ClientTool[];
  readonly turns: TurnRecord[];
  closes: number;
}

/** Chooses the script of a turn by the text of its input. */
export type ScriptChoice = (text: string, turn: TurnContext) => Script;

/** Differences of a scripted driver from the plain one, which echoes its input. */
export interface ScriptedOptions {
  readonly id?: string;
  readonly models?: readonly Model[];
  /** The selectors; by default `thinking`, which makes `effort` appear when it is on. */
  readonly selectors?: (model: string, values: ConfigValues) => readonly ConfigOption[];
  /** One script for each turn in order, or a choice by input. Without it the agent repeats its input. */
  readonly scripts?: readonly Script[] | ScriptChoice;
  /** Reported by the first turn of a session that was not opened with one. */
  readonly nativeId?: string;
  /** True if each turn reports the position of the session after it: the id of the turn. */
  readonly reportsPositions?: boolean;
  /** Handling of a steer. `absent`: the agent has no such feature. */
  readonly steering?: "accepts" | "refuses" | "absent";
  /** Makes every `open` reject. */
  readonly openFails?: Error;
  /** Waited for by every `open`. */
  readonly openWaits?: () => Promise<void>;
  /** A session whose agent died stays dead and rejects every further turn. */
  readonly staysDead?: boolean;
  readonly account?: Account;
  readonly mcpServers?: readonly McpServerStatus[];
  /** Names the items; fresh ids by default. */
  readonly nextId?: () => string;
}

/** A real driver whose agents do what their scripts say and remember what they were given. */
export class ScriptedDriver implements Driver {
  readonly id: string;
  /** It only pretends to write. */
  readonly asksFirst: boolean = true;
  readonly asksToWrite: boolean = true;
  /** Every session that was opened, oldest first. */
  readonly sessions: SessionRecord[] = [];
  declare readonly account?: () => Promise<Account>;
  declare readonly mcpServers?: () => Promise<readonly McpServerStatus[]>;
  readonly #options: ScriptedOptions;
  readonly #scripts: Script[];

  constructor(options: ScriptedOptions = {}) {
    const { account, mcpServers, scripts } = options;
    this.id = options.id ?? "scripted";
    this.#options = options;
    this.#scripts = Array.isArray(scripts) ? [...scripts] : [];
    if (account !== undefined) this.account = async () => account;
    if (mcpServers !== undefined) this.mcpServers = async () => mcpServers;
  }

  /** Every turn of every session, in the order they began per session. */
  get turns(): readonly TurnRecord[] {
    return this.sessions.flatMap((session) => session.turns);
  }

  /** Adds scripts for the turns to come. */
  enqueue(...scripts: readonly Script[]): void {
    this.#scripts.push(...scripts);
  }

  async models(): Promise<readonly Model[]> {
    return this.#options.models ?? scriptedModels(this.id);
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return (this.#options.selectors ?? scriptedSelectors)(model, values);
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    await this.#options.openWaits?.();
    if (this.#options.openFails !== undefined) throw this.#options.openFails;
    const { threadId, settings, nativeId, mcpServers, clientTools = [] } = spec;
    const history = await spec.history();
    const handoffSummary = await spec.handoffSummary();
    const forkOf = spec.forkOf && {
      ...spec.forkOf,
      handoffSummary: await spec.forkOf.handoffSummary(),
    };
    const turns: TurnRecord[] = [];
    const opened = { threadId, settings, nativeId, history, handoffSummary, forkOf, mcpServers, clientTools };
    const record = { ...opened, turns, closes: 0 };
    this.sessions.push(record);
    return new ScriptedSession(record, this.#options, (turn) => this.#choose(turn));
  }

  #choose(turn: TurnContext): Script {
    const { scripts } = this.#options;
    const text = inputText(turn.input);
    if (typeof scripts === "function") return scripts(text, turn);
    const next = this.#scripts.shift();
    if (next !== undefined) return next;
    if (scripts === undefined) return [{ text: `You said: ${text}` }];
    throw new Error(`The scripted driver has no script left for "${text}"; give it one with enqueue().`);
  }
}

/** A driver whose agents do what their scripts say. */
export function scriptedDriver(options: ScriptedOptions = {}): ScriptedDriver {
  return new ScriptedDriver(options);
}

class ScriptedSession implements DriverSession {
  declare readonly steer?: (input: readonly UserInput[]) => Promise<boolean>;
  readonly #record: SessionRecord;
  readonly #options: ScriptedOptions;
  readonly #choose: (turn: TurnContext) => Script;
  readonly #closing = new AbortController();
  #player: ScriptPlayer | undefined;
  #dead = false;

  constructor(record: SessionRecord, options: ScriptedOptions, choose: (turn: TurnContext) => Script) {
    this.#record = record;
    this.#options = options;
    this.#choose = choose;
    if (options.steering !== "absent") this.steer = async (input) => this.#steered(input);
  }

  async run(turn: TurnContext): Promise<TurnOutcome> {
    if (this.#dead) throw new Error("The scripted agent of this session died in an earlier turn.");
    const record = turnRecord(turn);
    this.#record.turns.push(record);
    this.#reportNativeId(turn);
    const script = this.#choose(turn);
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const player = new ScriptPlayer(turn, record, signal, this.#options.nextId ?? mintId);
    this.#player = player;
    const outcome = await player.play(script).finally(() => {
      this.#dead = this.#options.staysDead === true && record.rejection !== undefined;
    });
    const isReported = this.#options.reportsPositions === true && outcome.status === "completed";
    if (isReported) turn.emit({ type: "position", position: turn.turnId });
    return outcome;
  }

  async close(): Promise<void> {
    this.#record.closes += 1;
    this.#closing.abort();
  }

  #steered(input: readonly UserInput[]): boolean {
    if (this.#options.steering === "refuses") return false;
    return this.#player?.steer(input) ?? false;
  }

  #reportNativeId(turn: TurnContext): void {
    const { nativeId } = this.#options;
    if (nativeId === undefined || this.#record.nativeId !== undefined || this.#record.turns.length > 1)
      return;
    turn.emit({ type: "session", nativeId });
  }
}

function turnRecord(turn: TurnContext): TurnRecord {
  const { turnId, kind, input, settings, review, outputSchema, signal } = turn;
  const given = { turnId, kind, input, settings, review, outputSchema, signal };
  return {
    ...given,
    steers: [],
    decisions: [],
    answers: [],
    toolResults: [],
    outcome: undefined,
    rejection: undefined,
  };
}

/** The models of a scripted driver: a default one and another. */
export function scriptedModels(driverId: string): readonly Model[] {
  return [
    { id: `${driverId}/steady`, displayName: "Steady", isDefault: true },
    { id: `${driverId}/swift`, displayName: "Swift", description: "Answers sooner.", isDefault: false },
  ];
}

/** Two selectors, of which the second is there only while the first is on. */
export function scriptedSelectors(_model: string, values: ConfigValues): readonly ConfigOption[] {
  const thinking: ConfigOption = {
    type: "boolean",
    id: "thinking",
    name: "Thinking",
    options: [
      { id: "true", name: "On" },
      { id: "false", name: "Off" },
    ],
    value: values.thinking ?? "false",
  };
  if (thinking.value !== "true") return [thinking];
  const effort: ConfigOption = {
    type: "select",
    id: "effort",
    name: "Effort",
    category: "thought_level",
    options: [
      { id: "low", name: "Low" },
      { id: "high", name: "High" },
    ],
    value: values.effort ?? "low",
  };
  return [thinking, effort];
}
