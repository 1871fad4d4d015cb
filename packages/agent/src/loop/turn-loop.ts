import { orAborted, type Sandbox, type TurnContext, type TurnOutcome } from "@flint/core/ports";
import { asFlintError, type TurnError, type UserInput } from "@flint/protocol";
import { type Message, ModelFailure } from "../models/model.ts";
import { updatePlanTool } from "../tools/user-tools.ts";
import { CallRunner } from "./call-runner.ts";
import { userMessage } from "./images.ts";
import { type ModelResponse, runModelStep, type TurnReport } from "./model-step.ts";
import { TurnConversation, type TurnSetup } from "./turn-conversation.ts";

/** A turn ends with an error after this many model steps, unless another limit is configured. */
const STEP_LIMIT = 200;

/** Dependencies of a turn. */
export interface TurnLoopOptions {
  readonly turn: TurnContext;
  /** Aborted when the turn is interrupted or the session is closed. */
  readonly signal: AbortSignal;
  readonly report: TurnReport;
  readonly sandbox: Sandbox;
  /** The conversation so far. */
  readonly messages: readonly Message[];
  /** Number of model steps after which the turn ends with an error; 200 if absent. */
  readonly stepLimit?: number | undefined;
  prepare(): Promise<TurnSetup>;
}

/** Runs one turn: asks the model, runs its tool calls and returns their results, until it makes no more calls. */
export class TurnLoop {
  readonly #options: TurnLoopOptions;
  readonly #turn: TurnContext;
  readonly #signal: AbortSignal;
  readonly #report: TurnReport;
  readonly #conversation: TurnConversation;
  readonly #steers: (readonly UserInput[])[] = [];
  #acceptsInput: boolean;
  #window: number | undefined;

  constructor(options: TurnLoopOptions) {
    const { turn, signal, messages, report } = options;
    this.#options = options;
    this.#turn = turn;
    this.#signal = signal;
    this.#report = report;
    this.#conversation = new TurnConversation(messages, { turn, signal, report });
    this.#acceptsInput = turn.kind !== "compact";
  }

  /** Adds input to the next step; false if there will be none. */
  steer(input: readonly UserInput[]): boolean {
    if (this.#acceptsInput) this.#steers.push(input);
    return this.#acceptsInput;
  }

  /** Runs the turn to its end. Never rejects: a failure is an outcome, and the session stays usable. */
  async run(): Promise<TurnOutcome> {
    // Expected: any failure of a model.
    try {
      if (this.#signal.aborted) return { status: "interrupted" };
      // Added first, so that it stays in the conversation even if the turn fails.
      if (this.#turn.kind !== "compact") await this.#addUser(this.#turn.input);
      // A slow MCP server or model must not keep a turn from being interrupted.
      const setup = await orAborted(this.#options.prepare(), this.#signal, undefined);
      if (setup === undefined) return { status: "interrupted" };
      this.#window = setup.window;
      this.#report.setWindow(setup.window);
      return await (this.#turn.kind === "compact" ? this.#compact(setup) : this.#work(setup));
    } catch (thrown) {
      return this.#signal.aborted ? { status: "interrupted" } : { status: "failed", error: errorOf(thrown) };
    } finally {
      this.#acceptsInput = false;
    }
  }

  /** The conversation that the next turn starts with. */
  messagesAfter(outcome: TurnOutcome): readonly Message[] {
    return this.#conversation.messagesAfter(outcome, this.#window);
  }

  async #compact(setup: TurnSetup): Promise<TurnOutcome> {
    await this.#turn.ready();
    if (!this.#signal.aborted) await this.#conversation.compact(setup);
    return { status: this.#signal.aborted ? "interrupted" : "completed" };
  }

  async #work(setup: TurnSetup): Promise<TurnOutcome> {
    const plan = updatePlanTool((...shown) => this.#report.plan(...shown));
    const withPlan = { ...setup, tools: [...setup.tools, plan] };
    const calls = this.#callRunner(withPlan);
    const { stepLimit = STEP_LIMIT } = this.#options;
    let hasContinued = false;
    for (let count = 0; count < stepLimit; count += 1) {
      const response = await this.#step(withPlan);
      if (response === undefined) return { status: "interrupted" };
      const { messages, ended } = await calls.run(response.message.calls);
      this.#conversation.add(...messages);
      if (this.#signal.aborted) return { status: "interrupted" };
      if (ended !== undefined) return ended;
      if (response.message.calls.length > 0 || this.#steers.length > 0) continue;
      const problem = problemOf(response, hasContinued);
      if (problem !== undefined) return { status: "failed", error: problem };
      if (response.reason !== "length") return this.#complete();
      hasContinued = true;
      this.#conversation.add(CONTINUE);
    }
    const steps = stepLimit === 1 ? "one step" : `${stepLimit} steps`;
    const message = `The agent was stopped after ${steps}. Send "continue".`;
    return { status: "failed", error: { message, errorInfo: "TurnLimitReached" } };
  }

  #callRunner({ tools, window }: TurnSetup): CallRunner {
    const { turn, sandbox } = this.#options;
    return new CallRunner(tools, { turn, signal: this.#signal, sandbox, report: this.#report, window });
  }

  #complete(): TurnOutcome {
    this.#acceptsInput = false;
    this.#report.end();
    return { status: "completed" };
  }

  /** Asks the model once, after a compaction if the context is full. Undefined if the turn was interrupted. */
  async #step(setup: TurnSetup): Promise<ModelResponse | undefined> {
    const conversation = this.#conversation;
    for (const input of this.#steers.splice(0)) await this.#addUser(input);
    // The core may hold the turn here, for its log or because a budget is exhausted.
    await this.#turn.ready();
    if (!this.#signal.aborted && conversation.isFull(setup)) await conversation.compactOlder(setup);
    if (this.#signal.aborted) return undefined;
    // Expected: a provider that finds the conversation too long, although it should fit.
    const response = await this.#ask(setup).catch(async (thrown: unknown) => {
      if (this.#signal.aborted || !isTooLong(thrown)) throw thrown;
      this.#report.part({ type: "retry", error: thrown.error });
      await conversation.compactOlder(setup);
      return this.#ask(setup);
    });
    if (this.#signal.aborted) return undefined;
    conversation.add(response.message);
    conversation.setUsage(response.usage);
    return response;
  }

  #ask(setup: TurnSetup): Promise<ModelResponse> {
    const request = this.#conversation.request(setup);
    return runModelStep(setup.model, request, this.#turn, this.#signal, this.#report);
  }

  async #addUser(input: readonly UserInput[]): Promise<void> {
    this.#conversation.add(await userMessage(input, this.#turn.settings.cwd));
  }
}

/** Asks for the rest of a response. A system message, since the user did not write it. */
const CONTINUE: Message = {
  role: "system",
  text: "Your answer was cut off because it was too long. Continue exactly where it stopped.",
};

function isTooLong(thrown: unknown): thrown is ModelFailure {
  return thrown instanceof ModelFailure && thrown.error.errorInfo === "ContextWindowExceeded";
}

/** Returns the reason a response without calls does not end the turn well; undefined if it does. */
function problemOf({ reason }: ModelResponse, hasContinued: boolean): TurnError | undefined {
  if (reason === "filtered") {
    const message = "The model provider withheld the answer. Rephrase the request, or choose another model.";
    return { message, errorInfo: "Refused" };
  }
  if (reason !== "length" || !hasContinued) return undefined;
  const message =
    'The answer was cut off twice by the output limit of the model. Ask for less, or say "go on".';
  return { message, errorInfo: "OutputLimitReached" };
}

function errorOf(thrown: unknown): TurnError {
  if (thrown instanceof ModelFailure) return thrown.error;
  const { kind, message } = asFlintError(thrown);
  return { message, errorInfo: kind === "sandboxUnavailable" ? "SandboxError" : "AgentFailed" };
}
