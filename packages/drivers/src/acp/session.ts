import {
  type DriverEvent,
  type DriverSession,
  orAborted,
  type SessionSpec,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import { loadUnifiedDiff, type UnifiedDiff } from "@flint/host/files";
import { type Cost, isRecord, listOf, stringOf, type ThreadSettings, type UserInput } from "@flint/protocol";
import { withEstimate } from "../shared/agent.ts";
import { type JsonObject, objectOf } from "../shared/json.ts";
import type { Selectors } from "./models.ts";
import { AcpAgent } from "./process/agent.ts";
import { type AgentHandlers, RequestRefusal } from "./process/connection.ts";
import type { AcpAgentOptions } from "./process/launch.ts";
import { PromptBuilder, promptBlocks } from "./prompt.ts";
import { ClientRequests } from "./requests/client-requests.ts";
import { CANCELLED } from "./requests/permissions.ts";
import { completingDiffs } from "./translate/tool-item.ts";
import { type ContextUsage, contextUsage, costSoFar, usageEvent } from "./translate/usage.ts";
import { extensionOf, ofProvider } from "./translate.ts";
import { AcpTurn } from "./turn.ts";

/** Time within which an agent must accept further input. */
const STEER_MS = 5_000;
const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** Options of a session. */
export interface AcpSessionOptions {
  readonly spec: SessionSpec;
  readonly options: AcpAgentOptions;
  /** Called with the agent's selectors whenever they may have changed. */
  selectorsChanged(selectors: Selectors): void;
}

/** A process of the agent, and the settings that it was started with. */
interface StartedAgent {
  readonly settings: string;
  readonly agent: Promise<AcpAgent>;
}

/** The agent of one thread. Another process is started when one died or no longer fits the thread's settings. */
export class AcpSession implements DriverSession {
  /** Only set if the agent can be steered. */
  steer?: (input: readonly UserInput[]) => Promise<boolean>;
  readonly #options: AcpSessionOptions;
  readonly #diff: UnifiedDiff;
  readonly #requests: ClientRequests;
  readonly #closing = new AbortController();
  readonly #updates: SessionUpdates;
  readonly #prompts: PromptBuilder;
  #nativeId: string | undefined;
  /** The session id that the core knows. */
  #reportedId: string | undefined;
  #started: StartedAgent | undefined;
  #turn: AcpTurn | undefined;
  #context: TurnContext | undefined;
  #running: Promise<unknown> = Promise.resolve();
  /** Detaches the handlers of the process before. */
  #detach: () => void = () => {};

  private constructor(options: AcpSessionOptions, diff: UnifiedDiff) {
    const { spec } = options;
    this.#options = options;
    this.#diff = diff;
    this.#nativeId = spec.nativeId;
    this.#reportedId = spec.nativeId;
    this.#requests = new ClientRequests(spec.sandbox, options.options.profile, diff);
    this.#prompts = new PromptBuilder(spec);
    this.#updates = new SessionUpdates(spec.nativeCost);
  }

  /** Starts the agent. Rejects with a FlintError that explains how to set it up. */
  static async open(options: AcpSessionOptions): Promise<AcpSession> {
    const exact = await loadUnifiedDiff();
    const { profile } = options.options;
    const diff = profile.sendsPartialDiffs ? completingDiffs(exact, options.spec.settings.cwd) : exact;
    const session = new AcpSession(options, diff);
    const agent = await session.#fittingAgent(options.spec.settings);
    if (agent.canSteer) session.steer = (input) => session.#steer(input);
    return session;
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    const running = this.#run(turn);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    const agent = await this.#started?.agent.catch(() => undefined);
    await agent?.stop();
  }

  async #run(turn: TurnContext): Promise<TurnOutcome> {
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    if (signal.aborted) return INTERRUPTED;
    const agent = await orAborted(this.#fittingAgent(turn.settings), signal, undefined);
    if (agent === undefined || signal.aborted) return INTERRUPTED;
    this.#context = turn;
    this.#report(turn, agent);
    try {
      return await this.#runWith(agent, turn, signal);
    } finally {
      this.#turn = undefined;
      this.#context = undefined;
      this.#options.selectorsChanged(agent.selectors);
    }
  }

  /** Emits what the thread does not know about its agent yet. */
  #report(turn: TurnContext, { sessionId, warnings }: AcpAgent): void {
    if (this.#reportedId !== sessionId) turn.emit({ type: "session", nativeId: sessionId });
    this.#reportedId = sessionId;
    const { provider } = this.#options.options.profile;
    for (const event of this.#updates.take(warnings)) turn.emit(ofProvider(event, provider));
  }

  async #runWith(agent: AcpAgent, turn: TurnContext, signal: AbortSignal): Promise<TurnOutcome> {
    const { options } = this.#options;
    const diff = this.#diff;
    this.#updates.beginTurn();
    this.#turn = new AcpTurn({ turn, signal, agent, options, diff, requests: this.#requests });
    const prompt = () => this.#prompts.prompt(turn, agent, this.#updates.commands);
    const { outcome, response, isUsable } = await this.#turn.run(prompt);
    const hasEnded = outcome.status === "interrupted" && options.profile.cancelEndsProcess;
    if (!isUsable || hasEnded) await this.#drop(agent);
    const { before, usage: after } = this.#updates;
    const usage = usageEvent(response, before, after, agent.isFresh);
    if (usage !== undefined && (outcome.status === "completed" || isRecord(response.usage)))
      turn.emit(withEstimate(usage, options.prices?.configured(turn.settings.model)));
    // For a session that is resumed later: its agent counts on from here.
    if (after.cost !== undefined && after.cost.amount !== before.cost?.amount)
      turn.emit({ type: "session", nativeId: agent.sessionId, cost: after.cost });
    return outcome;
  }

  async #steer(input: readonly UserInput[]): Promise<boolean> {
    const turn = this.#context;
    const agent = await this.#started?.agent.catch(() => undefined);
    if (turn === undefined || agent === undefined) return false;
    const blocks = await promptBlocks(input, turn.settings.cwd, agent.capabilities);
    // Expected: an agent that no longer takes it. Then it goes into the next turn.
    return agent.steer(blocks, STEER_MS).catch(() => false);
  }

  /** The running agent, or another process of it if a setting has changed that a process has from its start. */
  async #fittingAgent(settings: ThreadSettings): Promise<AcpAgent> {
    const { cwd, sandboxPolicy, approvalPolicy } = settings;
    const fixed = JSON.stringify([cwd, sandboxPolicy, approvalPolicy === "never"]);
    if (this.#started !== undefined && this.#started.settings !== fixed) {
      await this.#drop(await this.#started.agent.catch(() => undefined));
    }
    this.#started ??= this.#start(settings, fixed);
    return this.#started.agent;
  }

  #start(settings: ThreadSettings, fixed: string): StartedAgent {
    const { spec, options, selectorsChanged } = this.#options;
    const { signal } = this.#closing;
    let started: AcpAgent | undefined;
    const handlers = this.#handlersFor(() => started);
    const forkOf = spec.forkOf?.nativeId;
    const start = { options, spec, settings, nativeId: this.#nativeId, forkOf, handlers, signal };
    const agent = AcpAgent.start(start).then((ready) => {
      started = ready;
      this.#prompts.started(ready, this.#nativeId !== undefined);
      this.#updates.restarted();
      this.#nativeId = ready.sessionId;
      selectorsChanged(ready.selectors);
      void ready.closed.then(() => this.#forget(entry));
      return ready;
    });
    const entry = { settings: fixed, agent };
    agent.catch(() => this.#forget(entry));
    return entry;
  }

  /** The handlers of one process. What an earlier process still sends is ignored. */
  #handlersFor(agent: () => AcpAgent | undefined): AgentHandlers {
    let isCurrent = true;
    this.#detach();
    this.#detach = () => {
      isCurrent = false;
    };
    return {
      notification: (method, params) => {
        if (isCurrent) this.#onNotification(method, params, agent());
      },
      request: async (method, params) => {
        if (isCurrent && this.#turn !== undefined) return this.#turn.answer(method, params);
        if (method === "session/request_permission") return CANCELLED;
        throw new RequestRefusal("cancelled", "No turn is running.");
      },
      ready: async () => this.#context?.ready(),
    };
  }

  #onNotification(method: string, params: JsonObject, agent: AcpAgent | undefined): void {
    const update = objectOf(params.update);
    const isOwn =
      params.sessionId === undefined || agent === undefined || params.sessionId === agent.sessionId;
    if (method !== "session/update" || !isOwn) {
      const { provider } = this.#options.options.profile;
      this.#context?.emit({ type: "extension", method: `${provider}/${method}`, params });
      return;
    }
    agent?.noteUpdate(update);
    this.#updates.note(update, this.#turn !== undefined);
    const { before, usage } = this.#updates;
    const cost = costSoFar(before, usage, agent?.isFresh === true);
    if (update.sessionUpdate === "usage_update" && cost !== undefined) this.#context?.emit(cost);
    this.#turn?.update(update);
  }

  async #drop(agent: AcpAgent | undefined): Promise<void> {
    this.#started = undefined;
    await agent?.stop();
  }

  #forget(entry: StartedAgent): void {
    if (this.#started === entry) this.#started = undefined;
  }
}

/** Maximum number of kinds of updates that are buffered until there is a turn to emit them in. */
const MAX_KINDS = 20;
/** Updates that are about the session and not about a turn. */
const OF_SESSION = new Set([
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "notice",
]);

/**
 * The updates that an agent reports about its session, also between turns. Between turns the latest update of
 * each kind is buffered.
 */
export class SessionUpdates {
  readonly #pending = new Map<string, JsonObject>();
  readonly #emittedWarnings = new Set<string>();
  #before: ContextUsage = {};
  #usage: ContextUsage;
  /** True if the process has not reported a cost yet. */
  #isFirstCost = true;
  #commands: readonly string[] = [];

  /** `cost` is what a resumed session is known to have cost. */
  constructor(cost?: Cost) {
    this.#usage = cost === undefined ? {} : { cost };
  }

  /** Usage as it was known before the running turn. */
  get before(): ContextUsage {
    return this.#before;
  }

  /** Notes that a turn begins. */
  beginTurn(): void {
    this.#before = this.#usage;
  }

  /** Notes that another process of the agent continues the session. */
  restarted(): void {
    this.#isFirstCost = true;
  }

  /** Fill level of the context, and the cost of the session. */
  get usage(): ContextUsage {
    return this.#usage;
  }

  /** The names of the slash commands. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** Notes an update. One about the session that comes between turns is buffered for the next turn. */
  note(update: JsonObject, isInTurn: boolean): void {
    const kind = stringOf(update.sessionUpdate) ?? "";
    if (kind === "usage_update") this.#noteUsage(contextUsage(this.#usage, update));
    if (kind === "available_commands_update") {
      const commands = listOf(update.availableCommands);
      this.#commands = commands.flatMap((command) => stringOf(objectOf(command).name) ?? []);
    }
    if (isInTurn || !OF_SESSION.has(kind) || this.#pending.size >= MAX_KINDS) return;
    this.#pending.set(kind, update);
  }

  #noteUsage(usage: ContextUsage): void {
    const known = this.#usage.cost?.amount ?? 0;
    if (usage.cost !== undefined && usage.cost !== this.#usage.cost) {
      // A process that starts below what the session has cost counts from zero.
      const { currency, amount } = usage.cost;
      if (this.#isFirstCost && amount < known)
        this.#before = { ...this.#before, cost: { amount: 0, currency } };
      this.#isFirstCost = false;
    }
    this.#usage = usage;
  }

  /** The buffered updates, after the warnings that were not emitted before. */
  take(warnings: readonly string[]): readonly DriverEvent[] {
    const updates = [...this.#pending.values()];
    this.#pending.clear();
    const fresh = warnings.filter((warning) => !this.#emittedWarnings.has(warning));
    for (const warning of fresh) this.#emittedWarnings.add(warning);
    const notices = fresh.map((title) => ({ sessionUpdate: "notice", severity: "warning", title }));
    return [...notices, ...updates].map(extensionOf);
  }
}
