import {
  type DriverSession,
  orAborted,
  type SessionSpec,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import { isRecord, type ThreadSettings, type UserInput } from "@flint/protocol";
import { ClientServices } from "./asks/client-services.ts";
import { CANCELLED } from "./asks/permission.ts";
import { Briefing } from "./briefing.ts";
import type { Selectors } from "./models.ts";
import { AcpAgent } from "./process/agent.ts";
import type { AgentServices } from "./process/connection.ts";
import type { AcpAgentOptions } from "./process/launch.ts";
import { RequestRefusal } from "./process/request-refusal.ts";
import { promptBlocks } from "./prompt.ts";
import { SessionNews } from "./session-news.ts";
import { usageEvent } from "./translate/usage.ts";
import { AcpTurn } from "./turn.ts";
import { type JsonObject, objectOf } from "./wire.ts";

/** How long an agent may take to accept further input. */
const STEER_MS = 5_000;
const INTERRUPTED: TurnOutcome = { status: "interrupted" };

/** What a session is made of. */
export interface AcpSessionOptions {
  readonly spec: SessionSpec;
  readonly options: AcpAgentOptions;
  readonly diff: UnifiedDiff;
  /** Told what can be chosen, whenever that is known anew. */
  learned(selectors: Selectors): void;
}

/** A process of the agent, and what it was started for. */
interface Started {
  readonly fits: string;
  readonly agent: Promise<AcpAgent>;
}

/** The agent of one thread. Its process is started anew when it died or no longer fits the thread's settings. */
export class AcpSession implements DriverSession {
  /** Only there if the agent can be steered. */
  steer?: (input: readonly UserInput[]) => Promise<boolean>;
  readonly #options: AcpSessionOptions;
  readonly #services: ClientServices;
  readonly #closing = new AbortController();
  readonly #news = new SessionNews();
  readonly #briefing: Briefing;
  #nativeId: string | undefined;
  #toldId: string | undefined;
  #started: Started | undefined;
  #turn: AcpTurn | undefined;
  #context: TurnContext | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #retire: () => void = () => {};

  private constructor(options: AcpSessionOptions) {
    const { spec, diff } = options;
    this.#options = options;
    this.#nativeId = spec.nativeId;
    this.#toldId = spec.nativeId;
    this.#services = new ClientServices(spec.sandbox, options.options.profile, diff);
    this.#briefing = new Briefing(spec);
  }

  /** Starts the agent. Rejects with a FlintError that says how to set it up. */
  static async open(options: AcpSessionOptions): Promise<AcpSession> {
    const session = new AcpSession(options);
    const agent = await session.#fitting(options.spec.settings);
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
    const agent = await orAborted(this.#fitting(turn.settings), signal, undefined);
    if (agent === undefined || signal.aborted) return INTERRUPTED;
    this.#context = turn;
    this.#introduce(turn, agent);
    try {
      return await this.#converse(turn, signal, agent);
    } finally {
      this.#turn = undefined;
      this.#context = undefined;
      this.#options.learned(agent.selectors);
    }
  }

  /** Tells what the thread does not know about its agent yet. */
  #introduce(turn: TurnContext, { sessionId, notes }: AcpAgent): void {
    if (this.#toldId !== sessionId) turn.emit({ type: "session", nativeId: sessionId });
    this.#toldId = sessionId;
    for (const event of this.#news.untold(notes)) turn.emit(event);
  }

  async #converse(turn: TurnContext, signal: AbortSignal, agent: AcpAgent): Promise<TurnOutcome> {
    const { options, diff } = this.#options;
    const before = this.#news.use;
    this.#turn = new AcpTurn({ turn, signal, agent, options, diff, services: this.#services });
    const prompt = () => this.#briefing.prompt(turn, agent, this.#news.commands);
    const { outcome, answer, isUsable } = await this.#turn.run(prompt);
    const isStopped = outcome.status === "interrupted" && options.profile.stopsForGood;
    if (!isUsable || isStopped) await this.#drop(agent);
    const usage = usageEvent(answer, before, this.#news.use, agent.isFresh);
    if (usage !== undefined && (outcome.status === "completed" || isRecord(answer.usage))) turn.emit(usage);
    return outcome;
  }

  async #steer(input: readonly UserInput[]): Promise<boolean> {
    const turn = this.#context;
    const agent = await this.#started?.agent.catch(() => undefined);
    if (turn === undefined || agent === undefined) return false;
    const blocks = await promptBlocks(input, turn.settings.cwd, agent.abilities);
    // Expected: an agent that no longer takes it. Then it goes into the next turn.
    return agent.steer(blocks, STEER_MS).catch(() => false);
  }

  /** The agent, running and set up as the settings say. */
  async #fitting(settings: ThreadSettings): Promise<AcpAgent> {
    const { cwd, sandboxPolicy, approvalPolicy } = settings;
    const fits = JSON.stringify([cwd, sandboxPolicy, approvalPolicy === "never"]);
    if (this.#started !== undefined && this.#started.fits !== fits) {
      await this.#drop(await this.#started.agent.catch(() => undefined));
    }
    this.#started ??= this.#start(settings, fits);
    return this.#started.agent;
  }

  #start(settings: ThreadSettings, fits: string): Started {
    const { spec, options, learned } = this.#options;
    const { signal } = this.#closing;
    let own: AcpAgent | undefined;
    const services = this.#servicesFor(() => own);
    const forkOf = spec.forkOf?.nativeId;
    const wish = { options, spec, settings, nativeId: this.#nativeId, forkOf, services, signal };
    const agent = AcpAgent.start(wish).then((ready) => {
      own = ready;
      this.#briefing.meet(ready, this.#nativeId !== undefined);
      this.#nativeId = ready.sessionId;
      learned(ready.selectors);
      void ready.closed.then(() => this.#forget(started));
      return ready;
    });
    const started = { fits, agent };
    agent.catch(() => this.#forget(started));
    return started;
  }

  /** What is done for one process of the agent; of an earlier one nothing is heard any more. */
  #servicesFor(own: () => AcpAgent | undefined): AgentServices {
    let isCurrent = true;
    this.#retire();
    this.#retire = () => {
      isCurrent = false;
    };
    return {
      notified: (method, params) => {
        if (isCurrent) this.#notified(method, params, own());
      },
      requested: async (method, params) => {
        if (isCurrent && this.#turn !== undefined) return this.#turn.answer(method, params);
        if (method === "session/request_permission") return CANCELLED;
        throw new RequestRefusal("cancelled", "No turn is running.");
      },
      caughtUp: async () => this.#context?.ready(),
    };
  }

  #notified(method: string, params: JsonObject, agent: AcpAgent | undefined): void {
    const update = objectOf(params.update);
    const isOwn =
      params.sessionId === undefined || agent === undefined || params.sessionId === agent.sessionId;
    if (method !== "session/update" || !isOwn) {
      this.#context?.emit({ type: "extension", method: `acp/${method}`, params });
      return;
    }
    agent?.noteChoices(update);
    this.#news.note(update, this.#turn !== undefined);
    this.#turn?.update(update);
  }

  async #drop(agent: AcpAgent | undefined): Promise<void> {
    this.#started = undefined;
    await agent?.stop();
  }

  #forget(started: Started): void {
    if (this.#started === started) this.#started = undefined;
  }
}
