import type { DriverEvent } from "@flint/core/ports";
import { isRecord, textField } from "./fields.ts";
import type { TurnFrame } from "./turn.ts";

/** How much is told of what Claude said when nobody had asked. */
const MOST_CHARACTERS = 4_096;
const MOST_REASON = 500;

/** What a process of Claude does beside the turns that it is asked for. */
export class BackgroundWork {
  readonly #tasks = new Set<string>();
  #turns = 0;
  #text = "";
  #latestEnd: string | undefined;

  /** Whether something that was put into the background may still run. */
  get isRunning(): boolean {
    return this.#tasks.size > 0;
  }

  /** Looks at every frame for what begins and ends in the background. */
  see(frame: TurnFrame): void {
    if (frame.type === "user") {
      const task = textField(frame.tool_use_result, "backgroundTaskId");
      if (task !== undefined) this.#tasks.add(task);
    }
    if (frame.type !== "system") return;
    const task = textField(frame, "task_id");
    if (frame.subtype === "task_started" && task !== undefined && frame.is_backgrounded === true) {
      this.#tasks.add(task);
    }
    const isEnd = frame.subtype === "task_notification" || isEnded(frame.patch);
    if (isEnd && task !== undefined) this.#tasks.delete(task);
    if (frame.subtype === "task_notification") this.#latestEnd = textField(frame, "summary") ?? "";
  }

  /** Why Claude begins to work now, when nobody asked it to; told once. */
  takeReason(): string {
    const ended = this.#latestEnd;
    this.#latestEnd = undefined;
    if (ended === undefined) return "Claude goes on by itself.";
    return `A task in the background of Claude has ended. ${ended.slice(0, MOST_REASON)}`.trim();
  }

  /** A frame of work that Claude began by itself, and for which there is no turn. */
  unasked(frame: TurnFrame): void {
    if (frame.type !== "result") return;
    this.#turns += 1;
    this.#text = (frame.result ?? "").slice(0, MOST_CHARACTERS);
  }

  /** What happened between the turns, told once. */
  report(): readonly DriverEvent[] {
    if (this.#turns === 0) return [];
    const params = { turns: this.#turns, lastText: this.#text };
    this.#turns = 0;
    return [{ type: "extension", method: "claude/unaskedTurns", params }];
  }

  /** The process is gone, and with it everything that it started. */
  forget(): void {
    this.#tasks.clear();
  }
}

function isEnded(patch: unknown): boolean {
  const status = textField(isRecord(patch) ? patch : undefined, "status");
  return status !== undefined && status !== "running" && status !== "pending";
}
