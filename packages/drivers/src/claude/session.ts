import {
  type Clock,
  type DriverSession,
  orAborted,
  type SessionSpec,
  type TurnContext,
  type TurnOutcome,
} from "@flint/core/ports";
import {
  type BackgroundCommand,
  errorMessage,
  FlintError,
  type ThreadSettings,
  type UserInput,
} from "@flint/protocol";
import type { ClaudeInitializeResult } from "@flint/protocol/claude";
import type { AgentOptions, AgentProgram } from "../shared/agent.ts";
import { steeringOf } from "../shared/folders/project-files.ts";
import { agentServers } from "../shared/mcp-servers.ts";
import { AgentInitiatedFrames, BackgroundTasks } from "./agent-initiated.ts";
import { clientToolsOf } from "./client-tools.ts";
import { answerOutsideTurn } from "./control-requests.ts";
import { claudeLaunch, type SessionReference } from "./process/launch.ts";
import { ClaudeProcess, SessionNotFound } from "./process/process.ts";
import { inputBlocks, inputMeta, turnBlocks } from "./prompt.ts";
import { ClaudeTurn, type TurnFrame } from "./turn.ts";

/** Options of a session. */
export interface ClaudeSessionOptions {
  readonly agent: AgentOptions;
  readonly program: AgentProgram;
  readonly clock: Clock;
  /** The user's home folder. */
  readonly home: string;
  /** Claude's own folder while it works on the offline model. */
  offlineFolder(): Promise<string>;
  /** Called with the models and the account that Claude reports. */
  initialized(result: ClaudeInitializeResult): void;
}

/** A turn that runs, and the process that runs it. */
interface RunningTurn {
  readonly process: ClaudeProcess;
  readonly running: ClaudeTurn;
}

const CLOSED = new FlintError(
  "agentFailed",
  "Claude was stopped before the turn was done. Send the prompt again.",
);

/** Claude in one thread: a process that stays between turns. If it is gone, another one resumes the conversation. */
export class ClaudeSession implements DriverSession {
  readonly #spec: SessionSpec;
  readonly #options: ClaudeSessionOptions;
  readonly #background = new BackgroundTasks();
  #session: SessionReference;
  /** The session id that the core knows. */
  #reportedId: string | undefined;
  /** The commands of the process that the core knows. */
  #reportedCommands: ClaudeInitializeResult["commands"];
  #isSummarySent = false;
  #process: Promise<ClaudeProcess> | undefined;
  #turn: ClaudeTurn | undefined;
  /** The work that Claude initiated itself, as long as there is no turn for it. */
  #initiated: AgentInitiatedFrames | undefined;
  #processes = 0;
  /** Resolves once it is known which session Claude goes on with. */
  #changed: Promise<void> = Promise.resolve();
  #begun: Promise<RunningTurn | undefined> = Promise.resolve(undefined);
  readonly #closing = new AbortController();

  constructor(spec: SessionSpec, options: ClaudeSessionOptions) {
    this.#spec = spec;
    this.#options = options;
    this.#reportedId = spec.nativeId;
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
    return begun?.running.steer(blocks, inputMeta(input)) ?? false;
  }

  canGrant(): boolean {
    return this.#turn?.canGrant === true;
  }

  isBusy(): boolean {
    return this.#background.isRunning || this.#initiated !== undefined;
  }

  async backgroundCommands(): Promise<readonly BackgroundCommand[]> {
    return this.#background.running;
  }

  async stopBackgroundCommand(processId: string): Promise<boolean> {
    const process = await this.#process?.catch(() => undefined);
    const isRunning = this.#background.running.some((task) => task.processId === processId);
    if (process === undefined || !isRunning) return false;
    await process.connection.request({ subtype: "stop_task", task_id: processId });
    this.#background.ended(processId);
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#initiated = undefined;
    const process = await this.#process?.catch(() => undefined);
    await process?.connection.stop();
    this.#turn?.died(CLOSED);
  }

  /** Sends the prompt. Undefined if the turn was stopped before that. */
  async #begin(turn: TurnContext): Promise<RunningTurn | undefined> {
    const process = await orAborted(this.#preparedProcess(turn), turn.signal, undefined);
    if (process === undefined || this.#closing.signal.aborted) return undefined;
    const blocks = await turnBlocks(turn, this.#isSummarySent ? "" : await this.#handoffSummary());
    if (turn.signal.aborted) return undefined;
    if (process.connection.isClosed) throw CLOSED;
    const promptId = process.connection.sendUserMessage(blocks, inputMeta(turn.input));
    this.#isSummarySent = true;
    const running = this.#startTurn(process, turn, promptId);
    for (const message of await process.connection.sessions.takeProblems())
      turn.emit({ type: "warning", message, reason: "agent" });
    for (const event of this.#background.takeReport()) turn.emit(event);
    const initiated = this.#takeInitiated();
    if (initiated !== undefined) running.join(initiated.frames);
    return { process, running };
  }

  /** Continues what Claude does without a prompt. Undefined if that has ended with its process. */
  async #join(turn: TurnContext): Promise<RunningTurn | undefined> {
    const process = await this.#process?.catch(() => undefined);
    const initiated = this.#takeInitiated();
    if (process === undefined || initiated === undefined) return undefined;
    const running = this.#startTurn(process, turn, undefined);
    running.join(initiated.frames);
    return { process, running };
  }

  #startTurn(process: ClaudeProcess, turn: TurnContext, promptId: string | undefined): ClaudeTurn {
    const { connection, memory } = process;
    const running = new ClaudeTurn({
      ...{ turn, connection, memory, clock: this.#options.clock, promptId },
      prices: this.#options.agent.prices,
      clientTools: clientToolsOf(this.#spec),
      session: (nativeId) =>
        nativeId === this.#session.id
          ? this.#reportSession(turn, nativeId)
          : this.#changeSession(turn, nativeId),
      completed: (item) => this.#background.shown(item),
    });
    this.#turn = running;
    this.#reportCommands(process, turn);
    return running;
  }

  /** Reports the slash commands of a process, once. */
  #reportCommands({ initialized }: ClaudeProcess, turn: TurnContext): void {
    const { commands } = initialized;
    if (commands === undefined || commands === this.#reportedCommands) return;
    this.#reportedCommands = commands;
    turn.emit({
      type: "commands",
      commands: commands.map(({ name, description, argumentHint: hint }) => ({
        name,
        ...(description ? { description } : {}),
        ...(hint ? { hint } : {}),
      })),
    });
  }

  #takeInitiated(): AgentInitiatedFrames | undefined {
    const initiated = this.#initiated;
    this.#initiated = undefined;
    return initiated;
  }

  /** Returns the part of the thread that Claude's own session lacks. */
  #handoffSummary(): Promise<string> {
    const { forkOf } = this.#spec;
    const isCopy = forkOf !== undefined && forkOf.nativeId === this.#session.forkOf;
    return isCopy ? forkOf.handoffSummary() : this.#spec.handoffSummary();
  }

  async #finish(turn: TurnContext, begun: Promise<RunningTurn | undefined>): Promise<TurnOutcome> {
    const { process, running } = (await begun) ?? {};
    if (process === undefined || running === undefined) return { status: "interrupted" };
    const outcome = await running.ended;
    await this.#changed;
    this.#turn = undefined;
    process.memory = running.memory;
    const lines = process.connection.takeMalformedLines();
    if (lines > 0) turn.emit({ type: "extension", method: "anthropic/badLines", params: { lines } });
    void process.connection.sessions.publish();
    const endsWithTurn = this.#options.agent.processSpan === "turn";
    const leavesTasks = outcome.status !== "completed" && this.#background.isRunning;
    if (endsWithTurn || leavesTasks) await process.connection.stop();
    return outcome;
  }

  /** Claude can begin another session. One that is not its own is not what the thread goes on with. */
  #changeSession(turn: TurnContext, nativeId: string): void {
    const change = async () => {
      const process = await this.#process;
      if ((await process?.connection.sessions.claim(nativeId)) === true) this.#reportSession(turn, nativeId);
    };
    // Expected: the process could not be started, or the disk is full.
    this.#changed = this.#changed.then(change).catch(() => undefined);
  }

  #reportSession(turn: TurnContext, nativeId: string): void {
    this.#session = { id: nativeId, isKnown: true };
    if (this.#reportedId === nativeId) return;
    this.#reportedId = nativeId;
    turn.emit({ type: "session", nativeId });
  }

  /** A process with the settings of the turn. A session that cannot be copied is replaced by a summary of it. */
  async #preparedProcess(turn: TurnContext): Promise<ClaudeProcess> {
    if (this.#session.forkOf === undefined || this.#session.isKnown) return this.#adjustedProcess(turn);
    // Expected: Claude no longer has the session, has it for another folder, or cannot copy it.
    try {
      return await this.#adjustedProcess(turn);
    } catch (thrown) {
      if (this.#closing.signal.aborted) throw thrown;
      const reason = errorMessage(thrown);
      const message = `Claude could not continue from a copy of its session, so it gets a summary of the thread instead. Its error: ${reason}`;
      turn.emit({ type: "extension", method: "anthropic/forkFailed", params: { message } });
      this.#session = { id: crypto.randomUUID(), isKnown: false };
      return this.#adjustedProcess(turn);
    }
  }

  /** The process of this session, with the settings of the turn applied. */
  async #adjustedProcess(turn: TurnContext): Promise<ClaudeProcess> {
    // Expected: Claude no longer has the conversation. The next session begins with a summary of it.
    try {
      const process = await this.#runningOrNewProcess(turn);
      await process.adjust(turn.settings);
      return process;
    } catch (thrown) {
      if (!(thrown instanceof SessionNotFound) || !this.#session.isKnown) throw thrown;
      turn.emit({ type: "session", nativeId: "" });
      const message = `Claude no longer has its session ${this.#session.id}. Send the prompt again: a new session starts with a summary of the thread.`;
      throw new FlintError("agentFailed", message, {}, { cause: thrown });
    }
  }

  /** The running process, or another one if a setting has changed that a process has from its start. */
  async #runningOrNewProcess({ settings, outputSchema }: TurnContext): Promise<ClaudeProcess> {
    const process = await this.#process?.catch(() => undefined);
    if (process?.fits(settings, outputSchema) === true) return process;
    await process?.connection.stop();
    if (this.#closing.signal.aborted) throw CLOSED;
    this.#background.clear();
    this.#initiated = undefined;
    const starting = this.#startProcess(settings, outputSchema);
    this.#process = starting;
    const next = await starting;
    // The tasks belong to the conversation, not to the process.
    if (process !== undefined) next.memory = { ...next.memory, tasks: process.memory.tasks };
    return next;
  }

  async #startProcess(
    settings: ThreadSettings,
    outputSchema: TurnContext["outputSchema"],
  ): Promise<ClaudeProcess> {
    const { agent, program, clock, home } = this.#options;
    const url = await agent.offlineModel?.();
    const offline = url === undefined ? undefined : { url, folder: await this.#options.offlineFolder() };
    const { sandbox } = this.#spec;
    const session = this.#session;
    const steering = await steeringOf(this.#spec);
    const { stepLimit } = agent;
    const given = { program, session, settings, sandbox, steering, home, offline, stepLimit };
    const { threadId } = this.#spec;
    const launch = await claudeLaunch({ ...given, threadId, stateFolder: agent.stateFolder });
    this.#processes += 1;
    const number = this.#processes;
    // The last frames of an earlier process, and its end, do not concern the turn that runs now.
    const isCurrent = () => number === this.#processes;
    const process = await ClaudeProcess.start({
      ...{ launch, session, settings, outputSchema, clock, trace: agent.trace },
      mcpServers: (broker) => agentServers({ spec: this.#spec, settings, broker }),
      clientTools: clientToolsOf(this.#spec),
      signal: this.#closing.signal,
      frame: (frame) => isCurrent() && this.#onFrame(frame),
      unreadableResult: (reason) => isCurrent() && this.#turn?.unreadableResult(reason),
      died: (error) => isCurrent() && this.#onDeath(error),
    });
    this.#options.initialized(process.initialized);
    return process;
  }

  #onDeath(error: FlintError): void {
    this.#background.clear();
    this.#initiated = undefined;
    this.#turn?.died(error);
  }

  #onFrame(frame: TurnFrame): void {
    this.#background.observe(frame);
    if (this.#turn?.isOver === false) this.#turn.receive(frame);
    else if (!this.#bufferInitiated(frame)) this.#onFrameOutsideTurn(frame);
  }

  #onFrameOutsideTurn(frame: TurnFrame): void {
    if (frame.type === "control_request") void this.#answerOutsideTurn(frame);
    else this.#background.missed(frame);
  }

  /** Buffers the frames of work that Claude initiated, and requests a turn for it. False if the frame is not part of any. */
  #bufferInitiated(frame: TurnFrame): boolean {
    const { startTurn } = this.#spec;
    if (this.#initiated === undefined) {
      if (startTurn === undefined || !AgentInitiatedFrames.beginWith(frame)) return false;
      const work = new AgentInitiatedFrames();
      this.#initiated = work;
      startTurn({
        reason: this.#background.takeReason(),
        isWaiting: () => this.#initiated === work,
        refuse: () => this.#refuseInitiated(work),
      });
    }
    const isBuffered = this.#initiated?.add(frame) ?? true;
    if (!isBuffered) this.#refuseInitiated(this.#initiated);
    return isBuffered;
  }

  /** Interrupts work for which there is no turn. */
  #refuseInitiated(work: AgentInitiatedFrames | undefined): void {
    if (work === undefined || this.#initiated !== work) return;
    this.#initiated = undefined;
    for (const frame of work.frames) this.#onFrameOutsideTurn(frame);
    // The frames that follow show if it has an effect.
    const stop = async () => (await this.#process)?.connection.request({ subtype: "interrupt" });
    stop().catch(() => undefined);
  }

  async #answerOutsideTurn({
    request_id: requestId,
    request,
  }: Extract<TurnFrame, { type: "control_request" }>): Promise<void> {
    const process = await this.#process?.catch(() => undefined);
    const answer = answerOutsideTurn(request);
    if ("error" in answer) process?.connection.respondError(requestId, answer.error);
    else process?.connection.respond(requestId, answer.response);
  }
}
