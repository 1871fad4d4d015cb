import type { Clock, DriverEvent, TurnContext, TurnOutcome } from "@flint/core/ports";
import type { ClientTool, FlintError } from "@flint/protocol";
import type { ClaudeFrame, ClaudeFrameOf, ClaudeInputBlock } from "@flint/protocol/claude";
import { answerAsk } from "./asks/asks.ts";
import type { ClaudeConnection } from "./process/connection.ts";
import { concernsFiles, fileChangesIn } from "./translate/file-changes.ts";
import { outcomeOf } from "./translate/outcome.ts";
import {
  beginTurn,
  type FileChanges,
  type Memory,
  type Step,
  type TranslateState,
} from "./translate/state.ts";
import { abandonTurn, declineTool, showTool, step } from "./translate.ts";

/** How long Claude may take to stop after it was asked to; then its process is ended. */
const INTERRUPT_MS = 800;
/** What is left to a process that did not hear that it should stop. */
const KILL_MS = 100;

/** How long to wait for the answer to what was said so late that Claude answers it separately. */
const FOLLOW_UP_MS = 2_000;

/** After how much streamed text the log is given the time to catch up. */
const READY_CHARACTERS = 65_536;

/** A frame, as a turn gets them. */
export type TurnFrame = Exclude<ClaudeFrame, ClaudeFrameOf<"control_response">>;

/** What a turn works with. */
export interface ClaudeTurnOptions {
  readonly turn: TurnContext;
  readonly connection: ClaudeConnection;
  readonly clock: Clock;
  readonly memory: Memory;
  /** The tools that the client offers. */
  readonly offered: readonly ClientTool[];
  /** Told once, at the beginning, which of its own sessions Claude works on. */
  session(nativeId: string): void;
}

/** One turn of a process that did others before and will do more. Ends exactly once, whatever Claude does. */
export class ClaudeTurn {
  /** How it ended. */
  readonly ended: Promise<TurnOutcome>;
  readonly #options: ClaudeTurnOptions;
  /** What was said and not yet taken up. */
  readonly #said = new Set<string>();
  /** Frames that wait for a look at the files. */
  readonly #waiting: TurnFrame[] = [];
  readonly #cancelled = new Set<string>();
  #end: (outcome: TurnOutcome) => void = () => undefined;
  #state: TranslateState;
  #isLooking = false;
  #isBegun = false;
  /** Whether it goes on with work that Claude had begun by itself. */
  #isJoined = false;
  #isOver = false;
  #complaint: string | undefined;
  /** The latest message of the conversation, by Claude's own name for it. */
  #position: string | undefined;
  #characters = 0;
  #cancelWait: (() => void) | undefined;

  constructor(options: ClaudeTurnOptions) {
    const { turn, memory } = options;
    this.#options = options;
    this.#state = beginTurn(turn.turnId, turn.settings.cwd, memory);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What is to be remembered for the next turn. */
  get memory(): Memory {
    return this.#state.memory;
  }

  /** Begins it, or adds to it while it runs. False if it takes no more. */
  say(content: readonly ClaudeInputBlock[], meta?: Readonly<Record<string, unknown>>): boolean {
    const { turn, connection } = this.#options;
    if (this.#isOver || turn.signal.aborted || connection.isOver) return false;
    if (this.#said.size === 0 && !this.#isBegun) this.#heedStop();
    this.#said.add(connection.say(content, meta));
    return true;
  }

  /** Takes over work that Claude began by itself, from its first frame on. What was said before this joins it. */
  join(frames: readonly TurnFrame[]): void {
    if (this.#said.size === 0) this.#heedStop();
    this.#isBegun = true;
    this.#isJoined = true;
    for (const frame of frames) this.take(frame);
  }

  /** Takes what Claude writes, in order. */
  take(frame: TurnFrame): void {
    if (this.#isOver) return;
    if (this.#isLooking) this.#waiting.push(frame);
    else this.#handle(frame);
  }

  /** The process is gone. */
  died({ message }: FlintError): void {
    if (!this.#isOver) this.#advance(abandonTurn(this.#state));
    if (this.#options.turn.signal.aborted) this.#finish({ status: "interrupted" });
    else this.#finish({ status: "failed", error: { message, errorInfo: "AgentFailed" } });
  }

  #handle(frame: TurnFrame): void {
    const { tools } = this.#state;
    if (concernsFiles(frame, tools)) void this.#look(frame, tools);
    else this.#apply(frame);
  }

  /** What comes meanwhile waits, so that everything stays in order. */
  async #look(frame: TurnFrame, tools: TranslateState["tools"]): Promise<void> {
    this.#isLooking = true;
    const changes = await fileChangesIn(frame, tools, this.#options.turn.settings.cwd);
    this.#isLooking = false;
    this.#apply(frame, changes);
    while (!this.#isLooking) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#handle(next);
    }
  }

  #apply(frame: TurnFrame, changes?: FileChanges): void {
    if (this.#isOver) return;
    switch (frame.type) {
      case "control_request":
        void this.#answer(frame);
        return;
      case "control_cancel_request":
        this.#cancelled.add(frame.request_id);
        return;
      case "user":
        if (frame.isReplay === true) this.#takenUp(frame.uuid);
        break;
      case "system":
        if (frame.subtype === "init") this.#begun(frame.session_id);
        break;
      case "assistant":
        this.#complaint = frame.error ?? this.#complaint;
        break;
      default:
    }
    // Before Claude takes up what was said, it may still work on something that nobody asked for.
    if (!this.#isBegun) return;
    this.#position = positionIn(frame) ?? this.#position;
    this.#advance(step(this.#state, frame, changes));
    if (frame.type === "result") this.#result(frame);
  }

  #begun(sessionId: string | undefined): void {
    this.#isBegun = true;
    this.#cancelWait?.();
    if (sessionId !== undefined) this.#options.session(sessionId);
    // It was told to stop before it had anything to stop.
    if (this.#options.turn.signal.aborted) this.#sendInterrupt();
  }

  #takenUp(uuid = ""): void {
    if (!this.#said.delete(uuid)) return;
    this.#isBegun = true;
    this.#isJoined = false;
  }

  #result(frame: ClaudeFrameOf<"result">): void {
    const isStructured = this.#options.turn.outputSchema !== undefined;
    const outcome = outcomeOf(frame, { error: this.#complaint, isStructured });
    // What Claude does without its model, such as a command that begins with a slash, is not told back.
    const isLocal = frame.num_turns === 0;
    const isLast = this.#said.size === 0 || isLocal || outcome.status === "interrupted";
    const finish = () => this.#finish(outcome);
    // What the user said is still to be taken up, when Claude is done with its own work.
    if (this.#isJoined && !isLast) return;
    if (isLast) finish();
    else this.#cancelWait = this.#options.clock.after(FOLLOW_UP_MS, finish);
  }

  async #answer({ request_id: requestId, request }: ClaudeFrameOf<"control_request">): Promise<void> {
    const { turn, connection, offered } = this.#options;
    const answer = await answerAsk(request, turn, {
      offered,
      itemOf: (toolUse, changes) => {
        this.#advance(showTool(this.#state, toolUse, changes));
        return this.#state.tools.get(toolUse.id ?? "")?.itemId ?? turn.turnId;
      },
      openItem: () => {
        const open = [...this.#state.tools.values()].findLast(({ isDone }) => !isDone);
        return open?.itemId ?? turn.turnId;
      },
      declined: (toolUseId) => {
        this.#state = declineTool(this.#state, toolUseId);
      },
    });
    if (this.#cancelled.delete(requestId)) return;
    if ("refusal" in answer) connection.refuse(requestId, answer.refusal);
    else connection.answer(requestId, answer.response);
  }

  #advance([state, events]: Step): void {
    this.#state = state;
    for (const event of events) this.#emit(event);
  }

  #emit(event: DriverEvent): void {
    const { turn, connection } = this.#options;
    turn.emit(event);
    if (!("delta" in event)) return;
    this.#characters += event.delta.length;
    if (this.#characters < READY_CHARACTERS) return;
    this.#characters = 0;
    void connection.pausedFor(turn.ready());
  }

  #heedStop(): void {
    this.#options.turn.signal.addEventListener("abort", () => this.#interrupt(), { once: true });
  }

  #interrupt(): void {
    if (this.#isOver) return;
    this.#sendInterrupt();
    const { clock, connection } = this.#options;
    this.#cancelWait?.();
    this.#cancelWait = clock.after(INTERRUPT_MS, () => {
      void connection.stop(KILL_MS).then(() => this.#finish({ status: "interrupted" }));
    });
  }

  #sendInterrupt(): void {
    // Whether it obeys is seen by what it does.
    this.#options.connection.request({ subtype: "interrupt" }).catch(() => undefined);
  }

  #finish(outcome: TurnOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelWait?.();
    // After a turn that was cut off, the conversation may end in the middle of something.
    if (outcome.status === "completed" && this.#position !== undefined) {
      this.#emit({ type: "position", position: this.#position });
    }
    this.#end(outcome);
  }
}

/** The name of a message of the conversation itself; what a sub-agent says has its own. */
function positionIn(frame: TurnFrame): string | undefined {
  if (frame.type !== "assistant" && frame.type !== "user") return undefined;
  return (frame.parent_tool_use_id ?? null) === null ? frame.uuid : undefined;
}
