import type { Price, PriceList } from "@flint/agent/prices";
import type { Clock, DriverEvent, TurnContext, TurnOutcome } from "@flint/core/ports";
import type { ClientTool, FlintError, Permission, ThreadItem } from "@flint/protocol";
import type { ClaudeFrame, ClaudeFrameOf, ClaudeInputBlock } from "@flint/protocol/claude";
import { withEstimate } from "../shared/agent.ts";
import { grantedCommandLine } from "../shared/permissions.ts";
import { answerControlRequest } from "./control-requests.ts";
import { claudePrice } from "./models.ts";
import type { ClaudeConnection } from "./process/connection.ts";
import { concernsFiles, fileChangesIn } from "./translate/file-changes.ts";
import { outcomeOf } from "./translate/result.ts";
import {
  beginTurn,
  type FileChanges,
  type ProcessMemory,
  type Step,
  type TranslateState,
} from "./translate/state.ts";
import { abandonTurn, declineTool, showTool, step } from "./translate.ts";

/** Time within which Claude must stop after an interrupt; then its process is stopped. */
const INTERRUPT_MS = 800;
/** Time within which a process that ignored an interrupt must exit. */
const KILL_MS = 100;

/** The time to wait for the answer to a message that came too late for the running answer. */
const FOLLOW_UP_MS = 2_000;

/** Amount of streamed text after which the log gets the time to catch up. */
const READY_CHARACTERS = 65_536;

/** A frame of a turn. */
export type TurnFrame = Exclude<ClaudeFrame, ClaudeFrameOf<"control_response">>;

/** Dependencies of a turn. */
export interface ClaudeTurnOptions {
  readonly turn: TurnContext;
  readonly connection: ClaudeConnection;
  readonly clock: Clock;
  readonly memory: ProcessMemory;
  readonly clientTools: readonly ClientTool[];
  readonly prices: PriceList | undefined;
  /** The id of the prompt that was sent, or undefined for a turn that continues work which Claude initiated. */
  readonly promptId: string | undefined;
  /** Called once, at the beginning, with the id of Claude's own session. */
  session(nativeId: string): void;
  /** Called with each item that is complete. */
  completed?(item: ThreadItem): void;
}

/** One turn of a process that runs many. Ends exactly once, whatever Claude does. */
export class ClaudeTurn {
  /** Resolves with how the turn ended. */
  readonly ended: Promise<TurnOutcome>;
  readonly #options: ClaudeTurnOptions;
  /** The ids of the user messages that Claude has not begun to work on. */
  readonly #unread = new Set<string>();
  /** Frames that wait until the files of an earlier one have been read. */
  readonly #waiting: TurnFrame[] = [];
  readonly #cancelledRequests = new Set<string>();
  /** Aborted with the turn: what was granted once ends with it. Made for the first grant, because most turns have none. */
  #over: AbortController | undefined;
  #end: (outcome: TurnOutcome) => void = () => undefined;
  #state: TranslateState;
  #isReadingFiles = false;
  #hasBegun = false;
  /** True if Claude still works on what it initiated itself. */
  #isAgentInitiated = false;
  #isOver = false;
  /** Claude's own id of the session. */
  #sessionId: string | undefined;
  #reportedError: string | undefined;
  /** The latest message of the conversation, by Claude's own id. */
  #position: string | undefined;
  #characters = 0;
  /** Claude's name of the model that answers; messages of sub-agents are not streamed. */
  #model: string | undefined;
  /** The same for the sub-agent that wrote last. */
  #subAgentModel: string | undefined;
  #cancelFollowUp: (() => void) | undefined;
  #cancelKill: (() => void) | undefined;

  constructor(options: ClaudeTurnOptions) {
    const { turn, memory, promptId } = options;
    this.#options = options;
    this.#state = beginTurn(turn.turnId, turn.settings.cwd, memory);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    if (promptId !== undefined) this.#unread.add(promptId);
    turn.signal.addEventListener("abort", () => this.#interrupt(), { once: true });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Reports whether a command can be run with more than the sandbox allows. */
  get canGrant(): boolean {
    return this.#options.connection.broker !== undefined;
  }

  /** State that carries over to the next turn. */
  get memory(): ProcessMemory {
    return this.#state.memory;
  }

  /** Adds input to the running turn. False if it takes no more. */
  steer(content: readonly ClaudeInputBlock[], meta?: Readonly<Record<string, unknown>>): boolean {
    const { turn, connection } = this.#options;
    if (this.#isOver || turn.signal.aborted || connection.isClosed) return false;
    this.#unread.add(connection.sendUserMessage(content, meta));
    return true;
  }

  /** Continues work that Claude initiated, from its first frame on. A prompt that was sent before joins it. */
  join(frames: readonly TurnFrame[]): void {
    this.#hasBegun = true;
    this.#isAgentInitiated = true;
    for (const frame of frames) this.receive(frame);
  }

  /** Handles what Claude writes, in order. */
  receive(frame: TurnFrame): void {
    if (this.#isOver) return;
    if (this.#isReadingFiles) this.#waiting.push(frame);
    else this.#handle(frame);
  }

  /** Ends the turn, because the process has ended. */
  died({ message }: FlintError): void {
    if (!this.#isOver) this.#advance(abandonTurn(this.#state));
    if (this.#options.turn.signal.aborted) this.#finish({ status: "interrupted" });
    else this.#finish({ status: "failed", error: { message, errorInfo: "AgentFailed" } });
  }

  /** Ends the turn as failed: Claude is done with it, but how it ended cannot be read. */
  unreadableResult(reason: string): void {
    if (this.#isOver) return;
    this.#advance(abandonTurn(this.#state));
    const message = `Claude reported the end of the turn in a form that Flint cannot read (${reason}). Its work is shown above; its version may be unsupported, see \`flint doctor\`.`;
    this.#finish({ status: "failed", error: { message, errorInfo: "AgentFailed" } });
  }

  #handle(frame: TurnFrame): void {
    const { tools } = this.#state;
    if (concernsFiles(frame, tools)) void this.#handleWithFiles(frame, tools);
    else this.#apply(frame);
  }

  /** Frames that come meanwhile wait, so that everything stays in order. */
  async #handleWithFiles(frame: TurnFrame, tools: TranslateState["tools"]): Promise<void> {
    this.#isReadingFiles = true;
    const changes = await fileChangesIn(frame, tools, this.#options.turn.settings.cwd);
    this.#isReadingFiles = false;
    this.#apply(frame, changes);
    while (!this.#isReadingFiles) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#handle(next);
    }
  }

  #apply(frame: TurnFrame, changes?: FileChanges): void {
    if (this.#isOver) return;
    if (frame.type === "stream_event") {
      this.#applyStreamed(frame);
      return;
    }
    if (frame.type === "control_request") {
      void this.#answer(frame);
      return;
    }
    if (frame.type === "control_cancel_request") {
      this.#cancelledRequests.add(frame.request_id);
      return;
    }
    if (frame.type === "user" && frame.isReplay === true) this.#onReplay(frame.uuid);
    if (frame.type === "system" && frame.subtype === "init") this.#onInit(frame.session_id);
    if (frame.type === "assistant") this.#reportedError = frame.error ?? this.#reportedError;
    // Until Claude begins to work on the prompt, it may still work on something that it initiated.
    if (!this.#hasBegun) return;
    this.#position = positionOf(frame) ?? this.#position;
    this.#subAgentModel = subAgentModelOf(frame) ?? this.#subAgentModel;
    this.#advance(step(this.#state, frame, changes));
    if (frame.type === "result") this.#onResult(frame);
  }

  /** Most frames are such events. */
  #applyStreamed(frame: ClaudeFrameOf<"stream_event">): void {
    if (!this.#hasBegun) return;
    const { event } = frame;
    if (event.type === "message_start") this.#model = event.message?.model ?? this.#model;
    this.#advance(step(this.#state, frame));
  }

  #onInit(sessionId: string | undefined): void {
    this.#hasBegun = true;
    this.#cancelFollowUp?.();
    if (sessionId !== undefined) {
      this.#sessionId = sessionId;
      this.#options.session(sessionId);
    }
    // The interrupt came before there was anything to interrupt; its time limit still runs.
    if (this.#options.turn.signal.aborted) this.#sendInterrupt();
  }

  /** Claude replays a user message when it begins to work on it. */
  #onReplay(uuid = ""): void {
    if (!this.#unread.delete(uuid)) return;
    this.#hasBegun = true;
    this.#isAgentInitiated = false;
  }

  #onResult(frame: ClaudeFrameOf<"result">): void {
    const isStructured = this.#options.turn.outputSchema !== undefined;
    const outcome = outcomeOf(frame, { error: this.#reportedError, isStructured });
    // Work of Claude without its model, such as a slash command, is not replayed.
    const isLocal = frame.num_turns === 0;
    const isLast = this.#unread.size === 0 || isLocal || outcome.status === "interrupted";
    const finish = () => this.#finish(outcome);
    // Claude begins with the prompt once it is done with its own work.
    if (this.#isAgentInitiated && !isLast) return;
    if (isLast) finish();
    else this.#cancelFollowUp = this.#options.clock.after(FOLLOW_UP_MS, finish);
  }

  async #answer({ request_id: requestId, request }: ClaudeFrameOf<"control_request">): Promise<void> {
    const { turn, connection, clientTools } = this.#options;
    const answer = await answerControlRequest(request, turn, {
      clientTools,
      itemOf: (toolUse, changes) => {
        this.#advance(showTool(this.#state, toolUse, changes));
        return this.#state.tools.get(toolUse.id ?? "")?.itemId ?? turn.turnId;
      },
      knownItem: (toolUseId) => this.#state.tools.get(toolUseId)?.itemId,
      openItem: () => {
        const open = [...this.#state.tools.values()].findLast(({ isDone }) => !isDone);
        return open?.itemId ?? turn.turnId;
      },
      decline: (toolUseId) => {
        this.#state = declineTool(this.#state, toolUseId);
      },
      grant: this.#grant(),
    });
    if (this.#cancelledRequests.delete(requestId)) return;
    if ("error" in answer) connection.respondError(requestId, answer.error);
    else connection.respond(requestId, answer.response);
  }

  #grant() {
    const { turn, connection } = this.#options;
    const { broker } = connection;
    if (broker === undefined) return undefined;
    this.#over ??= new AbortController();
    const signal = AbortSignal.any([turn.signal, this.#over.signal]);
    return (command: string, cwd: string, needs: Permission) =>
      grantedCommandLine(broker, turn, needs, { argv: ["bash", "-c", command], cwd, signal });
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#emit(event);
  }

  #emit(event: DriverEvent): void {
    const { turn, connection } = this.#options;
    if (!("delta" in event)) {
      const marked = event.type === "item/completed" ? this.#withSession(event) : event;
      if (event.type === "item/completed") this.#options.completed?.(event.item);
      turn.emit(event.type === "usage" ? withEstimate(event, this.#price(event)) : marked);
      return;
    }
    turn.emit(event);
    this.#characters += event.delta.length;
    if (this.#characters < READY_CHARACTERS) return;
    this.#characters = 0;
    void connection.pausedFor(turn.ready());
  }

  /** An answer names the session of Claude that it belongs to, for clients that use Claude's own tools as well. */
  #withSession(event: Extract<DriverEvent, { item: ThreadItem }>): DriverEvent {
    const sdkSessionId = this.#sessionId;
    if (event.item.type !== "agentMessage" || sdkSessionId === undefined) return event;
    return { ...event, item: { ...event.item, _meta: { ...event.item._meta, sdkSessionId } } };
  }

  #price({ parentItemId }: Extract<DriverEvent, { type: "usage" }>): Price | undefined {
    const { prices } = this.#options;
    const model = parentItemId === undefined ? this.#model : this.#subAgentModel;
    return prices === undefined || model === undefined ? undefined : claudePrice(prices, model);
  }

  #interrupt(): void {
    if (this.#isOver) return;
    this.#sendInterrupt();
    const { clock, connection } = this.#options;
    this.#cancelFollowUp?.();
    this.#cancelKill = clock.after(INTERRUPT_MS, () => {
      void connection.stop(KILL_MS).then(() => this.#finish({ status: "interrupted" }));
    });
  }

  #sendInterrupt(): void {
    // The frames that follow show if it has an effect.
    this.#options.connection.request({ subtype: "interrupt" }).catch(() => undefined);
  }

  #finish(outcome: TurnOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over?.abort();
    this.#cancelFollowUp?.();
    this.#cancelKill?.();
    // The conversation of a turn that was cut off may end in the middle of something.
    if (outcome.status === "completed" && this.#position !== undefined) {
      this.#emit({ type: "position", position: this.#position });
    }
    this.#end(outcome);
  }
}

/** The model of a sub-agent's message, which may be another one than that of the conversation. */
function subAgentModelOf(frame: TurnFrame): string | undefined {
  if (frame.type !== "assistant" || frame.parent_tool_use_id == null) return undefined;
  return frame.message.model;
}

/** The id of a message of the conversation itself; those of sub-agents do not count. */
function positionOf(frame: TurnFrame): string | undefined {
  if (frame.type !== "assistant" && frame.type !== "user") return undefined;
  return (frame.parent_tool_use_id ?? null) === null ? frame.uuid : undefined;
}
