import type { WebAccess } from "@flint/agent";
import {
  BackgroundCommands,
  builtInTools,
  type CallItem,
  clientTool,
  FileVersions,
  instructionsFor,
  messagesOf,
  type Tool,
  type ToolSource,
  TurnLoop,
  type TurnReport,
  type TurnSetup,
} from "@flint/agent/loop";
import type { Message, Model, ModelPart } from "@flint/agent/model";
import {
  type DriverSession,
  type SessionSpec,
  stoppableTurn,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import type { BackgroundCommand, PlanEntry, ThreadSettings, UserInput } from "@flint/protocol";
import {
  beginTurn,
  endTurn,
  type Step,
  showPlan,
  step,
  type TranslateState,
  takeCallItem,
  takeItemId,
} from "./translate.ts";

/** The agent's choices that follow from the settings of a thread. */
export interface NativeChoices {
  /** The model to run on. Throws or rejects with a FlintError that explains how to set one up. */
  modelOf(settings: ThreadSettings): Promise<Model> | Model;
  temperatureOf(settings: ThreadSettings): number;
  contextLengthOf(settings: ThreadSettings): number;
  reasoningEffortOf(settings: ThreadSettings): string | undefined;
  readonly web: WebAccess;
  /** Number of model steps after which a turn stops, to be continued. */
  readonly stepLimit?: number | undefined;
  /** Sources of further tools. They are closed with the session. */
  readonly sources: readonly ToolSource[];
}

/** The agent of one thread. The conversation is in memory, as far as the model can see it. */
export class NativeSession implements DriverSession {
  readonly #spec: SessionSpec;
  readonly #choices: NativeChoices;
  readonly #closing = new AbortController();
  readonly #background = new BackgroundCommands();
  readonly #tools: readonly Tool[];
  /** Missing tool sources that were reported; each is reported again only if it was available in between. */
  readonly #reportedMissing = new Set<string>();
  #messages: readonly Message[] | undefined;
  /** The latest turn, once the conversation before it is known. */
  #loop: Promise<TurnLoop> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(spec: SessionSpec, choices: NativeChoices) {
    this.#spec = spec;
    this.#choices = choices;
    const { web } = choices;
    const own = builtInTools({ web, background: this.#background, fileVersions: new FileVersions() });
    // Of two tools with the same name the first one is used, so a client cannot replace a built-in tool.
    this.#tools = [...own, ...(spec.clientTools ?? []).map(clientTool)];
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    this.#loop = this.#begin(turn);
    const running = this.#finish(turn, this.#loop);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const loop = await this.#loop?.catch(() => undefined);
    return loop?.steer(input) ?? false;
  }

  isBusy(): boolean {
    return this.#background.running.length > 0;
  }

  async backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    return this.#background.running.map(({ id, command, cwd, itemId }) => ({
      ...{ processId: id, command, cwd, itemId },
    }));
  }

  async stopBackgroundCommand(processId: string): Promise<boolean> {
    const found = this.#background.running.find(({ id }) => id === processId);
    await found?.stop();
    return found !== undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#background.stopAll();
    await Promise.allSettled(this.#choices.sources.map((source) => source.close()));
  }

  async #begin(turn: TurnContext): Promise<TurnLoop> {
    this.#messages ??= await this.#history(turn.turnId);
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    const stoppable = stoppableTurn(turn, signal);
    return new TurnLoop({
      turn: stoppable,
      signal,
      report: new TurnTranslator(stoppable),
      sandbox: this.#spec.sandbox,
      messages: this.#messages,
      stepLimit: this.#choices.stepLimit,
      prepare: () => this.#prepare(turn, signal),
    });
  }

  async #finish(turn: TurnContext, begun: Promise<TurnLoop>): Promise<TurnOutcome> {
    const loop = await begun;
    const outcome = await loop.run();
    this.#messages = loop.messagesAfter(outcome);
    if (outcome.status === "interrupted" || turn.signal.aborted) await this.#background.stopAll();
    if (outcome.status === "failed") await this.#background.stopStartedIn(turn.turnId);
    return outcome;
  }

  async #prepare(turn: TurnContext, signal: AbortSignal): Promise<TurnSetup> {
    const { settings, kind } = turn;
    const choices = this.#choices;
    const [model, offered] = await Promise.all([
      choices.modelOf(settings),
      Promise.all(choices.sources.map((source) => source.tools(signal))),
    ]);
    if (!signal.aborted) this.#reportMissing(turn);
    const contextLength = choices.contextLengthOf(settings);
    const window = Math.min(contextLength, model.contextWindow ?? contextLength);
    return {
      model,
      window,
      tools: [...this.#tools, ...offered.flat()],
      instructions: await instructionsFor({ settings, kind, window, now: new Date() }),
      temperature: choices.temperatureOf(settings),
      reasoningEffort: choices.reasoningEffortOf(settings),
    };
  }

  /** Warns about missing tools, which would otherwise only show in what the agent cannot do. */
  #reportMissing(turn: TurnContext): void {
    const missing = new Map(this.#choices.sources.flatMap((source) => [...(source.missing?.() ?? [])]));
    for (const name of this.#reportedMissing) if (!missing.has(name)) this.#reportedMissing.delete(name);
    for (const [name, message] of missing) {
      if (this.#reportedMissing.has(name)) continue;
      this.#reportedMissing.add(name);
      turn.emit({ type: "error", error: { message, errorInfo: "Other" }, willRetry: true });
    }
  }

  /** The conversation before this turn; the running turn may be stored already. */
  async #history(turnId: string): Promise<readonly Message[]> {
    const turns = await this.#spec.history();
    return messagesOf(turns.filter((turn) => turn.id !== turnId));
  }
}

/** Emits what happens in one turn as driver events, in order, and hands out the ids of its items. */
export class TurnTranslator implements TurnReport {
  readonly #turn: TurnContext;
  #state: TranslateState;

  constructor(turn: TurnContext) {
    this.#turn = turn;
    this.#state = beginTurn(turn.turnId, turn.settings.cwd);
  }

  /** Reports usage with this context size from now on. */
  setWindow(modelContextWindow: number): void {
    this.#state = { ...this.#state, modelContextWindow };
  }

  /** Reports one part of a model's response. */
  part(part: ModelPart): void {
    this.#advance(step(this.#state, part));
  }

  /** Reports the whole plan as it is now; the id is for its item if this is the first plan of the turn. */
  plan(itemId: string, explanation: string, entries: readonly PlanEntry[]): void {
    this.#advance(showPlan(this.#state, itemId, explanation, entries));
  }

  /** Completes whatever is still open. */
  end(): void {
    this.#advance(endTurn(this.#state));
  }

  /** Returns an id for an item that is reported elsewhere. */
  takeItemId(): string {
    const [state, id] = takeItemId(this.#state);
    this.#state = state;
    return id;
  }

  /** Returns the item of a call: a new id, or that of the file change that started while the model wrote the call. */
  itemOfCall(callId: string): CallItem {
    const [state, item] = takeCallItem(this.#state, callId);
    this.#state = state;
    return item;
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#turn.emit(event);
  }
}
