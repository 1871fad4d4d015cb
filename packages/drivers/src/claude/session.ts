import {
  type Clock,
  type DriverSession,
  orAborted,
  type SessionSpec,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import { FlintError, type ThreadSettings, type UserInput } from "@flint/protocol";
import type { ClaudeWelcome } from "@flint/protocol/claude";
import { agentPaths, CLAUDE_FOLDER } from "../shared/agent-folders.ts";
import type { AgentOptions, AgentProgram } from "../shared/agent-options.ts";
import { BackgroundWork } from "./agent-initiated.ts";
import { UnaskedFrames } from "./agent-initiated-frames.ts";
import { answerAlone } from "./asks/asks.ts";
import { offerable } from "./asks/client-tools.ts";
import { inputBlocks, inputMeta, turnBlocks } from "./input.ts";
import type { NativeSession } from "./process/arguments.ts";
import { claudeEnvironment } from "./process/home.ts";
import { claudeInstructions } from "./process/instructions.ts";
import { LiveClaude, SessionLost } from "./process/process.ts";
import { ClaudeTurn, type TurnFrame } from "./turn.ts";

/** What a session is made of. */
export interface ClaudeSessionOptions {
  readonly agent: AgentOptions;
  readonly program: AgentProgram;
  readonly clock: Clock;
  /** The user's home folder. */
  readonly home: string;
  /** Claude's own folder while it works on the offline model. */
  offlineFolder(): Promise<string>;
  /** Told what Claude says about its models and its account. */
  welcomed(welcome: ClaudeWelcome): void;
}

/** A turn that runs, and where. */
interface Begun {
  readonly live: LiveClaude;
  readonly running: ClaudeTurn;
}

const CLOSED = new FlintError(
  "agentFailed",
  "Claude was ended before the turn was done. Send the prompt again.",
);

/** The Claude of one thread: one process that stays, and a new one on the same conversation when it is gone. */
export class ClaudeSession implements DriverSession {
  readonly #spec: SessionSpec;
  readonly #options: ClaudeSessionOptions;
  readonly #background = new BackgroundWork();
  #session: NativeSession;
  /** The id that the core was told last. */
  #toldId: string | undefined;
  #isAccountGiven = false;
  #live: Promise<LiveClaude> | undefined;
  #turn: ClaudeTurn | undefined;
  /** What Claude does by itself, as long as there is no turn for it. */
  #unasked: UnaskedFrames | undefined;
  #processes = 0;
  #begun: Promise<Begun | undefined> = Promise.resolve(undefined);
  readonly #closing = new AbortController();

  constructor(spec: SessionSpec, options: ClaudeSessionOptions) {
    this.#spec = spec;
    this.#options = options;
    this.#toldId = spec.nativeId;
    const { nativeId, forkOf } = spec;
    this.#session =
      nativeId === undefined
        ? { id: crypto.randomUUID(), isKnown: false, forkOf: forkOf?.nativeId, forkAt: forkOf?.position }
        : { id: nativeId, isKnown: true };
  }

  run(turn: TurnContext): Promise<TurnOutcome> {
    const begun = turn.agentInitiated === undefined ? this.#begin(turn) : this.#join(turn);
    this.#begun = begun.catch(() => undefined);
    return this.#finish(turn, begun);
  }

  async steer(input: readonly UserInput[]): Promise<boolean> {
    const [begun, blocks] = await Promise.all([this.#begun, inputBlocks(input, this.#spec.settings.cwd)]);
    return begun?.running.say(blocks, inputMeta(input)) ?? false;
  }

  isBusy(): boolean {
    return this.#background.isRunning || this.#unasked !== undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#unasked = undefined;
    const live = await this.#live?.catch(() => undefined);
    await live?.connection.stop();
    this.#turn?.died(CLOSED);
  }

  /** Undefined if the turn was stopped before anything was said. */
  async #begin(turn: TurnContext): Promise<Begun | undefined> {
    const live = await orAborted(this.#prepared(turn), turn.signal, undefined);
    if (live === undefined || this.#closing.signal.aborted) return undefined;
    const account = this.#isAccountGiven ? "" : await this.#account();
    const blocks = await turnBlocks(turn, account);
    const running = this.#turnIn(live, turn);
    if (turn.signal.aborted) return undefined;
    if (!running.say(blocks, inputMeta(turn.input))) throw CLOSED;
    this.#isAccountGiven = true;
    this.#turn = running;
    for (const event of this.#background.report()) turn.emit(event);
    const unasked = this.#takeUnasked();
    if (unasked !== undefined) running.join(unasked.frames);
    return { live, running };
  }

  /** Shows what Claude does by itself. Undefined if that is gone. */
  async #join(turn: TurnContext): Promise<Begun | undefined> {
    const live = await this.#live?.catch(() => undefined);
    const unasked = this.#takeUnasked();
    if (live === undefined || unasked === undefined) return undefined;
    const running = this.#turnIn(live, turn);
    this.#turn = running;
    running.join(unasked.frames);
    return { live, running };
  }

  #turnIn({ connection, memory }: LiveClaude, turn: TurnContext): ClaudeTurn {
    return new ClaudeTurn({
      ...{ turn, connection, memory, clock: this.#options.clock },
      offered: offerable(this.#spec),
      session: (nativeId) => this.#tellSession(turn, nativeId),
    });
  }

  #takeUnasked(): UnaskedFrames | undefined {
    const unasked = this.#unasked;
    this.#unasked = undefined;
    return unasked;
  }

  /** What Claude has to be told of the thread, before what the user says now. */
  #account(): Promise<string> {
    const { forkOf } = this.#spec;
    const isCopy = forkOf !== undefined && forkOf.nativeId === this.#session.forkOf;
    return isCopy ? forkOf.handoffSummary() : this.#spec.handoffSummary();
  }

  async #finish(turn: TurnContext, beginning: Promise<Begun | undefined>): Promise<TurnOutcome> {
    const begun = await beginning;
    if (begun === undefined) return { status: "interrupted" };
    const { live, running } = begun;
    const outcome = await running.ended;
    this.#turn = undefined;
    live.memory = running.memory;
    const lines = live.connection.takeBadLines();
    if (lines > 0) turn.emit({ type: "extension", method: "claude/badLines", params: { lines } });
    const isKept = this.#options.agent.processSpan !== "turn";
    const leavesWork = outcome.status !== "completed" && this.#background.isRunning;
    if (!isKept || leavesWork) await live.connection.stop();
    return outcome;
  }

  #tellSession(turn: TurnContext, nativeId: string): void {
    this.#session = { id: nativeId, isKnown: true };
    if (this.#toldId === nativeId) return;
    this.#toldId = nativeId;
    turn.emit({ type: "session", nativeId });
  }

  /** A process that is set to what the turn wants. A session that cannot be copied is told about instead. */
  async #prepared(turn: TurnContext): Promise<LiveClaude> {
    if (this.#session.forkOf === undefined || this.#session.isKnown) return this.#adjusted(turn);
    // Expected: Claude has the session no more, has it in another folder, or cannot copy.
    try {
      return await this.#adjusted(turn);
    } catch (thrown) {
      if (this.#closing.signal.aborted) throw thrown;
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      const message = `Claude could not go on from a copy of its session, so it is told what happened in words. It said: ${reason}`;
      turn.emit({ type: "extension", method: "claude/forkFailed", params: { message } });
      this.#session = { id: crypto.randomUUID(), isKnown: false };
      return this.#adjusted(turn);
    }
  }

  async #adjusted(turn: TurnContext): Promise<LiveClaude> {
    // Expected: Claude no longer knows the conversation. It is told of it anew in the next session.
    try {
      const live = await this.#process(turn);
      await live.adjust(turn.settings);
      return live;
    } catch (thrown) {
      if (!(thrown instanceof SessionLost) || !this.#session.isKnown) throw thrown;
      turn.emit({ type: "session", nativeId: "" });
      const message = `Claude no longer has its session ${this.#session.id}. Send the prompt again: a new session begins with an account of the thread so far.`;
      throw new FlintError("agentFailed", message, {}, { cause: thrown });
    }
  }

  async #process({ settings, outputSchema }: TurnContext): Promise<LiveClaude> {
    const live = await this.#live?.catch(() => undefined);
    if (live?.fits(settings, outputSchema) === true) return live;
    await live?.connection.stop();
    if (this.#closing.signal.aborted) throw CLOSED;
    this.#background.forget();
    this.#unasked = undefined;
    const starting = this.#start(settings, outputSchema);
    this.#live = starting;
    const next = await starting;
    // The tasks belong to the conversation, not to the process.
    if (live !== undefined) next.memory = { ...next.memory, tasks: live.memory.tasks };
    return next;
  }

  async #start(settings: ThreadSettings, outputSchema: TurnContext["outputSchema"]): Promise<LiveClaude> {
    const { agent, program, clock, home } = this.#options;
    const url = await agent.offlineModel?.();
    const offline = url === undefined ? undefined : { url, folder: await this.#options.offlineFolder() };
    const environment = claudeEnvironment(program, offline);
    const { environment: _, ...paths } = await agentPaths([CLAUDE_FOLDER], environment, home);
    this.#processes += 1;
    const own = this.#processes;
    // What an earlier process still says, or its end, has nothing to do with the turn that runs now.
    const isCurrent = () => own === this.#processes;
    const live = await LiveClaude.start({
      process: {
        environment,
        sandbox: this.#spec.sandbox,
        ...paths,
      },
      program: program.command,
      ...{ session: this.#session, settings, outputSchema, clock, trace: agent.trace },
      servers: this.#spec.mcpServers,
      clientTools: offerable(this.#spec),
      instructions: await claudeInstructions(settings),
      stopped: this.#closing.signal,
      frame: (frame) => isCurrent() && this.#frame(frame),
      died: (error) => {
        if (!isCurrent()) return;
        this.#background.forget();
        this.#unasked = undefined;
        this.#turn?.died(error);
      },
    });
    this.#options.welcomed(live.welcome);
    return live;
  }

  #frame(frame: TurnFrame): void {
    this.#background.see(frame);
    if (this.#turn?.isOver === false) this.#turn.take(frame);
    else if (!this.#keepUnasked(frame)) this.#takeAlone(frame);
  }

  /** What comes while there is no turn for it. */
  #takeAlone(frame: TurnFrame): void {
    if (frame.type === "control_request") void this.#answerAlone(frame);
    else this.#background.unasked(frame);
  }

  /** Keeps what Claude does by itself for the turn that it is to have. False if the frame is no part of such work. */
  #keepUnasked(frame: TurnFrame): boolean {
    const { startTurn } = this.#spec;
    if (this.#unasked === undefined) {
      if (startTurn === undefined || !UnaskedFrames.isBegunBy(frame)) return false;
      const work = new UnaskedFrames();
      this.#unasked = work;
      startTurn({
        reason: this.#background.takeReason(),
        isWaiting: () => this.#unasked === work,
        refuse: () => this.#refuse(work),
      });
    }
    const isKept = this.#unasked?.add(frame) ?? true;
    if (!isKept) this.#refuse(this.#unasked);
    return isKept;
  }

  /** Ends work for which there is no turn. */
  #refuse(work: UnaskedFrames | undefined): void {
    if (work === undefined || this.#unasked !== work) return;
    this.#unasked = undefined;
    for (const frame of work.frames) this.#takeAlone(frame);
    // Whether it obeys is seen by what it does.
    const stop = async () => (await this.#live)?.connection.request({ subtype: "interrupt" });
    stop().catch(() => undefined);
  }

  async #answerAlone({ request_id: requestId, request }: Extract<TurnFrame, { type: "control_request" }>) {
    const live = await this.#live?.catch(() => undefined);
    const answer = answerAlone(request);
    if ("refusal" in answer) live?.connection.refuse(requestId, answer.refusal);
    else live?.connection.answer(requestId, answer.response);
  }
}
