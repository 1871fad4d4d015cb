import type { CodexThreadStatus } from "@flint/protocol/codex";
import type { Encoded } from "../../shared/encoder.ts";
import type { OutgoingNotification } from "../events/events.ts";
import type { Stage } from "./stage.ts";

/** A notification that is ready to be sent. */
export type Line = Encoded<OutgoingNotification>;

/** A status is sent when it changes. Several events imply the same one, and a client may know it from an answer. */
export class StatusChanges implements Stage<Line> {
  readonly #known = new Map<string, string>();

  pass(line: Line): readonly Line[] {
    const { status } = line.notification;
    return status === undefined || this.learn(status.threadId, status.status) ? [line] : [];
  }

  /** Notes what the client learns of a thread. False if it knew. A thread that failed stays so until a turn starts. */
  learn(threadId: string, { type, activeFlags = [] }: CodexThreadStatus): boolean {
    const before = this.#known.get(threadId) ?? "idle";
    const now = [type, ...activeFlags].join(" ");
    if (now === before || (now === "idle" && before === "systemError")) return false;
    // Clients assume that a thread is idle, so that need not be kept.
    if (now === "idle") this.#known.delete(threadId);
    else this.#known.set(threadId, now);
    return true;
  }

  forget(): void {
    // A client that comes back to a thread still knows what it did.
  }
}
