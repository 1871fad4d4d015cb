import type { DriverEvent } from "@flint/core/ports";
import { type BackgroundCommand, isKnownItem, type ThreadItem } from "@flint/protocol";
import { stringField } from "../shared/json.ts";
import type { TurnFrame } from "./turn.ts";

/** Maximum length of the report on an answer for which there was no turn. */
const REPORTED_CHARACTERS = 4_096;
const REASON_CHARACTERS = 500;

/** The number of frames that are buffered for a turn; more come only if no turn can be started. */
const MAX_FRAMES = 5_000;

/** The background work of a Claude process, outside of the turns of the thread. */
export class BackgroundTasks {
  readonly #running = new Map<string, BackgroundCommand>();
  #missedTurns = 0;
  #lastText = "";
  #lastSummary: string | undefined;

  /** Reports whether a background task may still run. */
  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** The tasks that run: commands, and sub-agents by their description. */
  get running(): readonly BackgroundCommand[] {
    return [...this.#running.values()];
  }

  /** Notes the item of a command that went into the background. */
  shown(item: ThreadItem): void {
    if (!isKnownItem(item) || item.type !== "commandExecution") return;
    const processId = stringField(item._meta, "background");
    if (processId === undefined || !this.#running.has(processId)) return;
    const { id: itemId, command, cwd } = item;
    this.#running.set(processId, { processId, itemId, command, cwd });
  }

  /** Notes the tasks that begin or end with a frame. Called with every frame. */
  observe(frame: TurnFrame): void {
    if (frame.type === "user") {
      const task = stringField(frame.tool_use_result, "backgroundTaskId");
      if (task !== undefined) this.#add(task, "");
    }
    if (frame.type !== "system") return;
    const task = stringField(frame, "task_id");
    if (frame.subtype === "task_started" && task !== undefined && frame.is_backgrounded === true) {
      this.#add(task, stringField(frame, "description") ?? "");
    }
    const isEnd = frame.subtype === "task_notification" || hasEnded(frame.patch);
    if (isEnd && task !== undefined) this.#running.delete(task);
    if (frame.subtype === "task_notification") this.#lastSummary = stringField(frame, "summary") ?? "";
  }

  #add(processId: string, command: string): void {
    if (!this.#running.has(processId)) this.#running.set(processId, { processId, command });
  }

  /** Returns the reason Claude begins to work without a prompt. Each reason is returned once. */
  takeReason(): string {
    const summary = this.#lastSummary;
    this.#lastSummary = undefined;
    if (summary === undefined) return "Claude continued without a prompt.";
    return `A background task of Claude has ended. ${summary.slice(0, REASON_CHARACTERS)}`.trim();
  }

  /** Notes a frame of work that Claude initiated and for which there is no turn. */
  missed(frame: TurnFrame): void {
    if (frame.type !== "result") return;
    this.#missedTurns += 1;
    this.#lastText = (frame.result ?? "").slice(0, REPORTED_CHARACTERS);
  }

  /** Reports what happened between the turns, once. */
  takeReport(): readonly DriverEvent[] {
    if (this.#missedTurns === 0) return [];
    const params = { turns: this.#missedTurns, lastText: this.#lastText };
    this.#missedTurns = 0;
    return [{ type: "extension", method: "anthropic/agentInitiatedTurns", params }];
  }

  /** Notes that a task was stopped. */
  ended(processId: string): void {
    this.#running.delete(processId);
  }

  /** Forgets the tasks of a process that has ended. */
  clear(): void {
    this.#running.clear();
  }
}

/** The frames of work that Claude initiated, from the first one until there is a turn to show them in. */
export class AgentInitiatedFrames {
  readonly #frames: TurnFrame[] = [];

  /**
   * Reports whether a frame begins such work: Claude sends one of these at the start of each of its turns.
   */
  static beginWith(frame: TurnFrame): boolean {
    return frame.type === "system" && frame.subtype === "init";
  }

  get frames(): readonly TurnFrame[] {
    return this.#frames;
  }

  /** False if the buffer is full. */
  add(frame: TurnFrame): boolean {
    if (this.#frames.length >= MAX_FRAMES) return false;
    this.#frames.push(frame);
    return true;
  }
}

function hasEnded(patch: unknown): boolean {
  const status = stringField(patch, "status");
  return status !== undefined && status !== "running" && status !== "pending";
}
