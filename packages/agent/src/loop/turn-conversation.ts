import type { TurnContext, TurnOutcome } from "@flint/core/ports";
import { cutMiddle } from "@flint/core/text";
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
import { runModelStep, type TurnReport } from "./model-step.ts";
import { withNotes, workNotes } from "./work-notes.ts";

/** The share of the context that may be used before the conversation is compacted. */
const FULL = 0.8;

/** The share of the context that stays as it is when the rest is compacted. */
const RETAINED = 0.2;

/** The model and settings of a turn, once they are known. */
export interface TurnSetup {
  readonly model: Model;
  /** The context window in tokens. */
  readonly window: number;
  readonly tools: readonly Tool[];
  readonly instructions: string;
  readonly temperature: number;
  readonly reasoningEffort: string | undefined;
}

/** The turn that a conversation belongs to. */
export interface ConversationContext {
  readonly turn: TurnContext;
  readonly signal: AbortSignal;
  readonly report: TurnReport;
}

/** The conversation of a turn, compacted in time to fit the model's context. */
export class TurnConversation {
  readonly #context: ConversationContext;
  #messages: readonly Message[];
  /** The size that the model reported, and for how many messages. */
  #measured: { readonly tokens: number; readonly messages: number } | undefined;

  constructor(messages: readonly Message[], context: ConversationContext) {
    this.#messages = messages;
    this.#context = context;
  }

  /** Adds messages. */
  add(...messages: readonly Message[]): void {
    this.#messages = [...this.#messages, ...messages];
  }

  /** Records the usage that the model reported for the whole conversation. */
  setUsage(usage: TokenUsage | undefined): void {
    if (usage === undefined) return;
    this.#measured = { tokens: totalTokens(usage), messages: this.#messages.length };
  }

  /** The conversation that the next turn starts with. Calls that did not run get a result that states it. */
  messagesAfter(outcome: TurnOutcome, window: number | undefined): readonly Message[] {
    const whole = withAllResults(this.#messages);
    const last = whole.at(-1);
    const isOpen = last !== undefined && (last.role === "user" || last.role === "tool");
    const closed = outcome.status !== "completed" && isOpen ? [...whole, INTERRUPTED_NOTE] : whole;
    return window === undefined ? closed : fitContext(closed, window);
  }

  /** Builds the request of the next step; the oldest exchanges are left out if it does not fit. */
  request(setup: TurnSetup, changes: Partial<ModelRequest> = {}): ModelRequest {
    const { kind, review, outputSchema, settings } = this.#context.turn;
    const { instructions, temperature, reasoningEffort } = setup;
    return {
      messages: [{ role: "system", text: instructions }, ...fitContext(this.#messages, roomIn(setup))],
      tools: descriptionsOf(setup),
      purpose: kind,
      review,
      outputSchema,
      temperature,
      reasoningEffort,
      summary: settings.summary,
      ...changes,
    };
  }

  /** Reports whether it is time to compact. */
  isFull(setup: TurnSetup): boolean {
    const measured = this.#measured;
    if (measured === undefined) return tokensOf(this.#messages) > FULL * roomIn(setup);
    const since = tokensOf(this.#messages.slice(measured.messages));
    return (
      measured.tokens + since > FULL * setup.window && tokensOf(this.#messages) > RETAINED * setup.window
    );
  }

  /** Compacts all but the newest messages. If that fails, the oldest are left out, but not what they say of the task. */
  async compactOlder(setup: TurnSetup): Promise<void> {
    const keep = Math.floor(Math.min(RETAINED * setup.window, tokensOf(this.#messages) / 4));
    const { older, newer } = splitConversation(this.#messages, keep);
    // A short part would not become shorter.
    if (tokensOf(older) < keep / 2) return;
    // Expected: a model that cannot summarize now. The turn need not fail for that.
    try {
      // The request of this turn is still being worked on, so it stays verbatim.
      const request = newer.some(isUser) ? [] : older.filter(isUser).slice(-1);
      await this.#replace(setup, older, [...request, ...newer]);
    } catch (thrown) {
      if (this.#context.signal.aborted || !(thrown instanceof ModelFailure)) throw thrown;
      this.#leaveOutOlder(keep * 2);
    }
  }

  /** Keeps about so many tokens, with the task, the open plan, the files and the last summary in front of them. */
  #leaveOutOlder(tokens: number): void {
    const { older, newer } = splitConversation(this.#messages, tokens);
    const request = newer.some(isUser) ? [] : older.filter(isUser).slice(-1);
    const dropped = older.filter((message) => !request.includes(message));
    const summary = dropped.findLast(({ role }) => role === "system")?.text ?? LEFT_OUT;
    const text = cutMiddle(withNotes(summary, workNotes(dropped)), tokens, "characters").text;
    const start = dropped.length === 0 ? [] : [summaryMessage(text)];
    this.#messages = fitContext([...start, ...request, ...newer], tokens);
    this.#measured = undefined;
  }

  /** Replaces the whole conversation by a summary. */
  async compact(setup: TurnSetup): Promise<void> {
    await this.#replace(setup, this.#messages, []);
  }

  async #replace(setup: TurnSetup, older: readonly Message[], newer: readonly Message[]): Promise<void> {
    const { turn, signal, report } = this.#context;
    const item: Item<"contextCompaction"> = { type: "contextCompaction", id: report.takeItemId() };
    turn.emit({ type: "item/started", item });
    const written = await this.#summarize(setup, older).catch((thrown: unknown) => {
      turn.emit({ type: "item/completed", item });
      throw thrown;
    });
    if (signal.aborted) return;
    const summary = withNotes(written, workNotes(older.filter((message) => !newer.includes(message))));
    turn.emit({ type: "item/completed", item: { ...item, summary } });
    this.#messages = [summaryMessage(summary), ...newer];
    this.#measured = undefined;
  }

  async #summarize(setup: TurnSetup, older: readonly Message[]): Promise<string> {
    const { turn, signal, report } = this.#context;
    const conversation = withAllResults(fitContext(older, Math.floor(FULL * roomIn(setup))));
    const messages: Message[] = [{ role: "system", text: setup.instructions }, ...conversation, SUMMARIZE];
    const request = this.request(setup, { messages, purpose: "compact", outputSchema: undefined });
    // Only usage and retries are reported; the text comes with its item.
    const quiet = (part: ModelPart) => {
      if (part.type === "usage" || part.type === "retry" || part.type === "limits") report.part(part);
    };
    const { message } = await runModelStep(setup.model, request, turn, signal, { part: quiet });
    if (message.text.trim() !== "" || signal.aborted) return message.text;
    throw new ModelFailure({
      message: "The model returned no summary of the conversation.",
      errorInfo: "AgentFailed",
    });
  }
}

/** Stands for messages that could not be summarized. */
const LEFT_OUT = "The oldest messages were left out.";

/** Asks for a summary. A system message, since the user did not write it. */
const SUMMARIZE: Message = {
  role: "system",
  text: "Summarize the conversation so far, so that you can continue the work knowing only the summary: what the user wants, what was decided and found out, which files were read and changed and how, what is done and what is left. Be exact with names and paths. Call no tools.",
};

/** The tokens left for the conversation, at least half of the context. */
function roomIn(setup: TurnSetup): number {
  const { window, instructions } = setup;
  const used = instructions.length + JSON.stringify(descriptionsOf(setup)).length;
  return Math.max(window - tokensInCharacters(used), Math.floor(window / 2));
}

function descriptionsOf({ tools }: TurnSetup): ModelRequest["tools"] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

function isUser({ role }: Message): boolean {
  return role === "user";
}
