import type { DriverSession, SessionSpec, TurnContext, TurnOutcome } from "@flint/core/ports";
import { asFlintError, type Item, inputText, type ThreadSettings, type UserInput } from "@flint/protocol";
import { CUT_SHORT, fitContext, messagesOf, summaryMessage } from "./models/conversation.ts";
import type { Message, Model, ModelPart, ModelRequest, ToolCall } from "./models/model.ts";
import { SHELL } from "./tools/shell.ts";
import { failed, INTERRUPTED, type Tool, type ToolOutcome } from "./tools/tool.ts";
import { WRITE_FILE } from "./tools/write-file.ts";
import { beginTurn, endTurn, type Step, step, type TranslateState, takeItemId } from "./translate.ts";

/** What the settings of a thread mean for the agent. */
export interface NativeChoices {
  modelOf(settings: ThreadSettings): Model;
  temperatureOf(settings: ThreadSettings): number;
  contextLengthOf(settings: ThreadSettings): number;
}

/** A model that never comes to an end is stopped here. */
const STEP_LIMIT = 50;

/** How many parts are reported before the log is waited for. */
const PARTS_PER_WAIT = 16;

const TOOLS: readonly Tool[] = [SHELL, WRITE_FILE];

type Question = Extract<ModelPart, { type: "question" }>;

/** The agent of one thread. It keeps the conversation itself, as far as the model can see it. */
export class NativeSession implements DriverSession {
  readonly #spec: SessionSpec;
  readonly #choices: NativeChoices;
  readonly #closing = new AbortController();
  #messages: readonly Message[] | undefined;
  /** The latest turn, once what was said before it is known. */
  #loop: Promise<TurnLoop> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(spec: SessionSpec, choices: NativeChoices) {
    this.#spec = spec;
    this.#choices = choices;
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    this.#loop = this.#begin(turn);
    const running = this.#finish(this.#loop);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const loop = await this.#loop?.catch(() => undefined);
    return loop?.steer(inputText(input)) ?? false;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #begin(turn: TurnContext): Promise<TurnLoop> {
    this.#messages ??= await this.#remembered(turn.turnId);
    const signal = AbortSignal.any([turn.signal, this.#closing.signal]);
    return new TurnLoop(turn, signal, this.#spec, this.#choices, this.#messages);
  }

  async #finish(begun: Promise<TurnLoop>): Promise<TurnOutcome> {
    const loop = await begun;
    const outcome = await loop.run();
    this.#messages = loop.remembered(outcome);
    return outcome;
  }

  /** The turns before this one; the running turn may be among them already. */
  async #remembered(turnId: string): Promise<readonly Message[]> {
    const turns = await this.#spec.history();
    return messagesOf(turns.filter((turn) => turn.id !== turnId));
  }
}

/** One turn: the model is asked, what it wants is done, it is told what came of it, until it wants nothing more. */
class TurnLoop {
  readonly #turn: TurnContext;
  readonly #signal: AbortSignal;
  readonly #spec: SessionSpec;
  readonly #choices: NativeChoices;
  readonly #contextLength: number;
  readonly #messages: Message[];
  readonly #steers: string[] = [];
  #state: TranslateState;
  #takesInput: boolean;

  constructor(
    turn: TurnContext,
    signal: AbortSignal,
    spec: SessionSpec,
    choices: NativeChoices,
    messages: readonly Message[],
  ) {
    this.#turn = turn;
    this.#signal = signal;
    this.#spec = spec;
    this.#choices = choices;
    this.#contextLength = choices.contextLengthOf(turn.settings);
    this.#messages = [...messages];
    this.#state = beginTurn(turn.turnId, this.#contextLength);
    this.#takesInput = turn.kind !== "compact";
  }

  /** Takes input for the next step; false if there will be none. */
  steer(text: string): boolean {
    if (this.#takesInput) this.#steers.push(text);
    return this.#takesInput;
  }

  async run(): Promise<TurnOutcome> {
    // Expected: whatever a model can fail with. It is the outcome of the turn, the session stays usable.
    try {
      return this.#turn.kind === "compact" ? await this.#compact() : await this.#work();
    } catch (thrown) {
      if (this.#signal.aborted) return { status: "interrupted" };
      return { status: "failed", error: { message: asFlintError(thrown).message, errorInfo: "AgentFailed" } };
    } finally {
      this.#takesInput = false;
    }
  }

  /** The conversation that the next turn begins with. */
  remembered(outcome: TurnOutcome): readonly Message[] {
    const said = this.#messages.at(-1);
    const isWhole = outcome.status === "completed" || said === undefined || said.role === "system";
    return fitContext(isWhole ? this.#messages : this.#withoutOpenWork(), this.#contextLength);
  }

  /** What was asked stays; half of an answer would be taken for unfinished work. */
  #withoutOpenWork(): Message[] {
    const finished = this.#messages.findLastIndex(
      (message) => message.role === "assistant" && message.calls.length === 0,
    );
    const asked = this.#messages.slice(finished + 1).filter((message) => message.role === "user");
    const before = this.#messages.slice(0, finished + 1);
    return asked.length === 0 ? before : [...before, ...asked, CUT_SHORT];
  }

  async #work(): Promise<TurnOutcome> {
    this.#messages.push({ role: "user", text: inputText(this.#turn.input) });
    for (let count = 0; count < STEP_LIMIT; count += 1) {
      for (const text of this.#steers.splice(0)) this.#messages.push({ role: "user", text });
      const { calls, questions } = await this.#ask();
      for (const call of calls) {
        const ended = this.#settle(call, await this.#call(call));
        if (ended !== undefined) return ended;
      }
      for (const question of questions) await this.#question(question);
      if (this.#signal.aborted) return { status: "interrupted" };
      if (calls.length + questions.length === 0 && this.#steers.length === 0) return this.#complete();
    }
    const message = `The agent was stopped after ${STEP_LIMIT} steps. Say "go on" if it should do more.`;
    return { status: "failed", error: { message, errorInfo: "Other" } };
  }

  #complete(): TurnOutcome {
    this.#takesInput = false;
    this.#advance(endTurn(this.#state));
    return { status: "completed" };
  }

  /** One step of the model: everything it says is told as it comes, what it wants is collected. */
  async #ask(): Promise<{ readonly calls: readonly ToolCall[]; readonly questions: readonly Question[] }> {
    const calls: ToolCall[] = [];
    const questions: Question[] = [];
    let text = "";
    for await (const part of this.#parts()) {
      this.#advance(step(this.#state, part));
      if (part.type === "text-delta") text += part.text;
      if (part.type === "question") questions.push(part);
      if (part.type === "tool-call") calls.push({ callId: part.callId, tool: part.tool, input: part.input });
    }
    const asked = questions.map(({ callId }) => ({ callId, tool: "ask_user", input: {} }));
    this.#messages.push({ role: "assistant", text, calls: [...calls, ...asked] });
    return { calls, questions };
  }

  async *#parts(): AsyncIterable<ModelPart> {
    if (this.#signal.aborted) return;
    let count = 0;
    for await (const part of this.#choices
      .modelOf(this.#turn.settings)
      .stream(this.#request(), this.#signal)) {
      if (this.#signal.aborted) return;
      yield part;
      count += 1;
      if (count % PARTS_PER_WAIT === 0) await this.#turn.ready();
    }
  }

  #request(): ModelRequest {
    const { settings, kind, review, outputSchema } = this.#turn;
    const { developerInstructions } = settings;
    const instructions: Message[] =
      developerInstructions === undefined ? [] : [{ role: "system", text: developerInstructions }];
    return {
      messages: [...instructions, ...fitContext(this.#messages, this.#contextLength)],
      tools: TOOLS.map(({ name, description }) => ({ name, description })),
      purpose: kind,
      review,
      outputSchema,
      temperature: this.#choices.temperatureOf(settings),
    };
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#turn.emit(event);
  }

  #takeItemId(): string {
    const [state, id] = takeItemId(this.#state);
    this.#state = state;
    return id;
  }

  async #call(call: ToolCall): Promise<ToolOutcome> {
    if (this.#signal.aborted) return INTERRUPTED;
    const tool = TOOLS.find(({ name }) => name === call.tool);
    if (tool === undefined) return failed(`There is no tool ${call.tool}.`);
    const itemId = this.#takeItemId();
    return tool.run(call.input, {
      turn: this.#turn,
      signal: this.#signal,
      sandbox: this.#spec.sandbox,
      itemId,
    });
  }

  #settle({ callId, tool }: ToolCall, outcome: ToolOutcome): TurnOutcome | undefined {
    if ("ended" in outcome) return outcome.ended;
    this.#messages.push({ role: "tool", callId, tool, ...outcome.result });
    return undefined;
  }

  async #question({ callId, questions }: Question): Promise<void> {
    if (this.#signal.aborted) return;
    const item: Item<"toolCall"> = {
      type: "toolCall",
      id: this.#takeItemId(),
      tool: "ask_user",
      title: "Asks the user",
      arguments: { questions },
      status: "inProgress",
    };
    this.#turn.emit({ type: "item/started", item });
    const answers = await this.#turn.ask(item.id, questions);
    if (this.#signal.aborted) return;
    const texts = Object.values(answers).flatMap((answer) => answer.answers);
    const status = texts.length === 0 ? "failed" : "completed";
    // A secret answer is for the model only; the item is kept and shown.
    const isSecret = questions.some((question) => question.secret === true);
    this.#turn.emit({
      type: "item/completed",
      item: { ...item, status, ...(isSecret ? {} : { result: answers }) },
    });
    const result = { status: texts.length === 0 ? "failed" : "done", text: texts.join("\n") } as const;
    this.#messages.push({ role: "tool", callId, tool: "ask_user", ...result });
  }

  /** Puts a summary in the place of the whole conversation. */
  async #compact(): Promise<TurnOutcome> {
    const item: Item<"contextCompaction"> = { type: "contextCompaction", id: this.#takeItemId() };
    this.#turn.emit({ type: "item/started", item });
    let summary = "";
    for await (const part of this.#parts()) {
      if (part.type === "text-delta") summary += part.text;
      if (part.type === "usage") this.#advance(step(this.#state, part));
    }
    if (this.#signal.aborted) return { status: "interrupted" };
    this.#turn.emit({ type: "item/completed", item: { ...item, summary } });
    this.#messages.splice(0, this.#messages.length, summaryMessage(summary));
    return { status: "completed" };
  }
}
