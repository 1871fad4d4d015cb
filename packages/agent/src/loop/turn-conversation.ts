import type { TurnContext, TurnOutcome } from "@flint/core/ports";
import { type Item, type TokenUsage, totalTokens } from "@flint/protocol";
import {
  type Message,
  type Model,
  ModelFailure,
  type ModelPart,
  type ModelRequest,
  tokensInCharacters,
} from "../models/model.ts";
import type { Tool } from "../tools/tool.ts";
import {
  fitContext,
  INTERRUPTED_NOTE,
  splitConversation,
  summaryMessage,
  tokensOf,
  withAllResults,
} from "./conversation.ts";
import { runModelStep } from "./model-step.ts";
import type { TurnReporter } from "./turn-reporter.ts";

/** The share of the context that may be full before the conversation is summed up. */
const FULL = 0.8;

/** The share of the context that stays as it is when the rest is summed up. */
const KEPT = 0.2;

/** All that a turn thinks and works with, once it is known. */
export interface TurnSetup {
  readonly model: Model;
  /** How many tokens the model may see. */
  readonly window: number;
  readonly tools: readonly Tool[];
  readonly instructions: string;
  readonly temperature: number;
  readonly reasoningEffort: string | undefined;
}

/** The turn that a conversation goes on in. */
export interface ConversationContext {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly report: TurnReporter;
}

/** What was said and done so far, kept short enough for the model: in time it is summed up. */
export class TurnConversation {
  readonly #place: ConversationContext;
  #messages: readonly Message[];
  /** What the model said the conversation takes, and how many messages that were. */
  #counted: { readonly tokens: number; readonly messages: number } | undefined;

  constructor(messages: readonly Message[], place: ConversationContext) {
    this.#messages = messages;
    this.#place = place;
  }

  /** Takes what was said and done. */
  add(...messages: readonly Message[]): void {
    this.#messages = [...this.#messages, ...messages];
  }

  /** Takes what the model used for all of it. */
  setUsage(usage: TokenUsage | undefined): void {
    if (usage === undefined) return;
    this.#counted = { tokens: totalTokens(usage), messages: this.#messages.length };
  }

  /** What the next turn begins with. What was not done is said to be undone, so that nobody takes it up by itself. */
  messagesAfter(outcome: TurnOutcome, window: number | undefined): readonly Message[] {
    const whole = withAllResults(this.#messages);
    const last = whole.at(-1);
    const isOpen = last !== undefined && (last.role === "user" || last.role === "tool");
    const closed = outcome.status !== "completed" && isOpen ? [...whole, INTERRUPTED_NOTE] : whole;
    return window === undefined ? closed : fitContext(closed, window);
  }

  /** Asks for the next step; the oldest is left out if there is too much. */
  request(prepared: TurnSetup, changes: Partial<ModelRequest> = {}): ModelRequest {
    const { kind, review, outputSchema } = this.#place.turn;
    const { instructions, temperature, reasoningEffort } = prepared;
    return {
      messages: [{ role: "system", text: instructions }, ...fitContext(this.#messages, roomIn(prepared))],
      tools: descriptionsOf(prepared),
      purpose: kind,
      review,
      outputSchema,
      temperature,
      reasoningEffort,
      ...changes,
    };
  }

  /** Whether it is time to make room. */
  isFull(prepared: TurnSetup): boolean {
    const counted = this.#counted;
    if (counted === undefined) return tokensOf(this.#messages) > FULL * roomIn(prepared);
    const since = tokensOf(this.#messages.slice(counted.messages));
    return (
      counted.tokens + since > FULL * prepared.window && tokensOf(this.#messages) > KEPT * prepared.window
    );
  }

  /** Sums up all but the newest part. If even that fails, the oldest is left out instead. */
  async compactOlder(prepared: TurnSetup): Promise<void> {
    const keep = Math.floor(Math.min(KEPT * prepared.window, tokensOf(this.#messages) / 4));
    const { older, newer } = splitConversation(this.#messages, keep);
    // What is short already would not become shorter.
    if (tokensOf(older) < keep / 2) return;
    // Expected: a model that cannot do that now. The turn itself need not fail for it.
    try {
      // What the turn is about is still being worked on; its own words say it best.
      const asked = newer.some(isUser) ? [] : older.filter(isUser).slice(-1);
      await this.#replace(prepared, older, [...asked, ...newer]);
    } catch (thrown) {
      if (this.#place.signal.aborted || !(thrown instanceof ModelFailure)) throw thrown;
      this.#messages = fitContext(splitConversation(this.#messages, keep * 2).newer, keep * 2);
      this.#counted = undefined;
    }
  }

  /** Puts a summary in the place of the whole conversation. */
  async compact(prepared: TurnSetup): Promise<void> {
    await this.#replace(prepared, this.#messages, []);
  }

  async #replace(prepared: TurnSetup, older: readonly Message[], newer: readonly Message[]): Promise<void> {
    const { turn, signal, report } = this.#place;
    const item: Item<"contextCompaction"> = { type: "contextCompaction", id: report.takeItemId() };
    turn.emit({ type: "item/started", item });
    const summary = await this.#summarise(prepared, older).catch((thrown: unknown) => {
      turn.emit({ type: "item/completed", item });
      throw thrown;
    });
    if (signal.aborted) return;
    turn.emit({ type: "item/completed", item: { ...item, summary } });
    this.#messages = [summaryMessage(summary), ...newer];
    this.#counted = undefined;
  }

  async #summarise(prepared: TurnSetup, older: readonly Message[]): Promise<string> {
    const { turn, signal, report } = this.#place;
    const conversation = withAllResults(fitContext(older, Math.floor(FULL * roomIn(prepared))));
    const messages: Message[] = [{ role: "system", text: prepared.instructions }, ...conversation, SUM_UP];
    const request = this.request(prepared, { messages, purpose: "compact", outputSchema: undefined });
    // Only what it costs and how it is going is told; the text comes with its item.
    const quiet = (part: ModelPart) => {
      if (part.type === "usage" || part.type === "retry") report.part(part);
    };
    const { message } = await runModelStep(prepared.model, request, turn, signal, { part: quiet });
    if (message.text.trim() !== "" || signal.aborted) return message.text;
    throw new ModelFailure({
      message: "The model gave no summary of the conversation.",
      errorInfo: "AgentFailed",
    });
  }
}

/** What asks for a summary. Not the user says it, so it must not look as if they had. */
const SUM_UP: Message = {
  role: "system",
  text: "Sum up the conversation so far, so that you can go on with the work knowing only the summary: what the user wants, what was decided and found out, which files were read and changed and how, what is done and what is left. Be exact with names and paths. Call no tools.",
};

/** The tokens that are there for the conversation. Something always is, however small the context. */
function roomIn(prepared: TurnSetup): number {
  const { window, instructions } = prepared;
  const taken = instructions.length + JSON.stringify(descriptionsOf(prepared)).length;
  return Math.max(window - tokensInCharacters(taken), Math.floor(window / 2));
}

function descriptionsOf({ tools }: TurnSetup): ModelRequest["tools"] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

function isUser({ role }: Message): boolean {
  return role === "user";
}
