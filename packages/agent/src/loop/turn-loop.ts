import { orAborted, type Sandbox, type TurnContext, type TurnOutcome } from "@flint/core/ports";
import { asFlintError, type TurnError, type UserInput } from "@flint/protocol";
import { type Message, ModelFailure } from "../models/model.ts";
import { updatePlanTool } from "../tools/user-tools.ts";
import { CallRunner } from "./call-runner.ts";
import { userMessage } from "./images.ts";
import { type ModelResponse, runModelStep } from "./model-step.ts";
import { TurnConversation, type TurnSetup } from "./turn-conversation.ts";
import type { TurnReporter } from "./turn-reporter.ts";

/** A model that never comes to an end is stopped here. */
const STEP_LIMIT = 200;

/** What a turn begins with. */
export interface TurnLoopOptions {
  readonly turn: TurnContext;
  /** Aborted when the turn is to stop or the session is closed. */
  readonly signal: AbortSignal;
  readonly report: TurnReporter;
  readonly sandbox: Sandbox;
  /** The conversation so far. */
  readonly messages: readonly Message[];
  prepare(): Promise<TurnSetup>;
}

/** One turn: the model is asked, what it wants is done, it is told what came of it, until it wants nothing more. */
export class TurnLoop {
  readonly #beginning: TurnLoopOptions;
  readonly #turn: TurnContext;
  readonly #signal: AbortSignal;
  readonly #report: TurnReporter;
  readonly #conversation: TurnConversation;
  readonly #steers: (readonly UserInput[])[] = [];
  #takesInput: boolean;
  #window: number | undefined;

  constructor(beginning: TurnLoopOptions) {
    const { turn, signal, messages, report } = beginning;
    this.#beginning = beginning;
    this.#turn = turn;
    this.#signal = signal;
    this.#report = report;
    this.#conversation = new TurnConversation(messages, { turn, signal, report });
    this.#takesInput = turn.kind !== "compact";
  }

  /** Takes input for the next step; false if there will be none. */
  steer(input: readonly UserInput[]): boolean {
    if (this.#takesInput) this.#steers.push(input);
    return this.#takesInput;
  }

  /** Runs to the end. Never rejects: a failure is an outcome, and the session stays usable. */
  async run(): Promise<TurnOutcome> {
    // Expected: whatever a model can fail with.
    try {
      if (this.#signal.aborted) return { status: "interrupted" };
      // First of all: what was asked is remembered even if nothing can be done about it.
      if (this.#turn.kind !== "compact") await this.#hear(this.#turn.input);
      // A server of tools or a model that is slow to come must not hold a turn that is to stop.
      const prepared = await orAborted(this.#beginning.prepare(), this.#signal, undefined);
      if (prepared === undefined) return { status: "interrupted" };
      this.#window = prepared.window;
      this.#report.setWindow(prepared.window);
      return await (this.#turn.kind === "compact" ? this.#sumUp(prepared) : this.#work(prepared));
    } catch (thrown) {
      return this.#signal.aborted ? { status: "interrupted" } : { status: "failed", error: errorOf(thrown) };
    } finally {
      this.#takesInput = false;
    }
  }

  /** The conversation that the next turn begins with. */
  messagesAfter(outcome: TurnOutcome): readonly Message[] {
    return this.#conversation.messagesAfter(outcome, this.#window);
  }

  async #sumUp(prepared: TurnSetup): Promise<TurnOutcome> {
    await this.#turn.ready();
    if (!this.#signal.aborted) await this.#conversation.compact(prepared);
    return { status: this.#signal.aborted ? "interrupted" : "completed" };
  }

  async #work(prepared: TurnSetup): Promise<TurnOutcome> {
    const plan = updatePlanTool((...shown) => this.#report.plan(...shown));
    const equipped = { ...prepared, tools: [...prepared.tools, plan] };
    const calls = this.#callRunner(equipped);
    let hasGoneOn = false;
    for (let count = 0; count < STEP_LIMIT; count += 1) {
      const answer = await this.#step(equipped);
      if (answer === undefined) return { status: "interrupted" };
      const { messages, ended } = await calls.run(answer.message.calls);
      this.#conversation.add(...messages);
      if (this.#signal.aborted) return { status: "interrupted" };
      if (ended !== undefined) return ended;
      if (answer.message.calls.length > 0 || this.#steers.length > 0) continue;
      const problem = problemOf(answer, hasGoneOn);
      if (problem !== undefined) return { status: "failed", error: problem };
      if (answer.reason !== "length") return this.#complete();
      hasGoneOn = true;
      this.#conversation.add(GO_ON);
    }
    const message = `The agent was stopped after ${STEP_LIMIT} steps. Say "go on" if it should do more.`;
    return { status: "failed", error: { message, errorInfo: "Other" } };
  }

  #callRunner({ tools, window }: TurnSetup): CallRunner {
    const { turn, sandbox } = this.#beginning;
    return new CallRunner(tools, { turn, signal: this.#signal, sandbox, report: this.#report, window });
  }

  #complete(): TurnOutcome {
    this.#takesInput = false;
    this.#report.end();
    return { status: "completed" };
  }

  /** Asks the model once, with room made before if there is little. Undefined if the turn is to stop. */
  async #step(prepared: TurnSetup): Promise<ModelResponse | undefined> {
    const conversation = this.#conversation;
    for (const input of this.#steers.splice(0)) await this.#hear(input);
    // The core may hold the turn here, for its log or because a budget is used up.
    await this.#turn.ready();
    if (!this.#signal.aborted && conversation.isFull(prepared)) await conversation.compactOlder(prepared);
    if (this.#signal.aborted) return undefined;
    // Expected: a conversation that the model finds too long, although it should not be.
    const answer = await this.#ask(prepared).catch(async (thrown: unknown) => {
      if (this.#signal.aborted || !isTooLong(thrown)) throw thrown;
      this.#report.part({ type: "retry", error: thrown.error });
      await conversation.compactOlder(prepared);
      return this.#ask(prepared);
    });
    if (this.#signal.aborted) return undefined;
    conversation.add(answer.message);
    conversation.setUsage(answer.usage);
    return answer;
  }

  #ask(prepared: TurnSetup): Promise<ModelResponse> {
    const request = this.#conversation.request(prepared);
    return runModelStep(prepared.model, request, this.#turn, this.#signal, this.#report);
  }

  async #hear(input: readonly UserInput[]): Promise<void> {
    this.#conversation.add(await userMessage(input, this.#turn.settings.cwd));
  }
}

/** What asks for the rest of an answer. Not the user says it, so it must not look as if they had. */
const GO_ON: Message = {
  role: "system",
  text: "Your answer was cut off because it was too long. Go on exactly where it stopped.",
};

function isTooLong(thrown: unknown): thrown is ModelFailure {
  return thrown instanceof ModelFailure && thrown.error.errorInfo === "ContextWindowExceeded";
}

/** Why an answer without calls is no good end, if so. */
function problemOf({ reason }: ModelResponse, hasGoneOn: boolean): TurnError | undefined {
  if (reason === "filtered") {
    const message =
      "The provider of the model withheld the answer. Ask in other words, or choose another model.";
    return { message, errorInfo: "Other" };
  }
  if (reason !== "length" || !hasGoneOn) return undefined;
  const message =
    'The answer was cut off twice, because the model may not write more at once. Ask for less, or say "go on".';
  return { message, errorInfo: "Other" };
}

function errorOf(thrown: unknown): TurnError {
  if (thrown instanceof ModelFailure) return thrown.error;
  const { kind, message } = asFlintError(thrown);
  return { message, errorInfo: kind === "sandboxUnavailable" ? "SandboxError" : "AgentFailed" };
}
