import { isKnownItem, type TaskEventData } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";

type LogEntry = TaskEventData<"task/logged">;

const MAX_MESSAGE = 2000;
/** An agent that retries for hours must not fill the log. */
const MAX_TROUBLES = 50;

/**
 * Selects the events of a role's turns for the log of its task: the reasons for actions, and the problems
 * that the agent had.
 */
export class TurnLog {
  readonly #role: "executor" | "reviewer";
  #last = "";
  #troubles = 0;

  constructor(role: "executor" | "reviewer") {
    this.#role = role;
  }

  /** The entry that an event becomes; most become none. What was just said is not said again. */
  of(event: AgentEvent): LogEntry | undefined {
    const entry = entryOf(event);
    if (entry === undefined) return undefined;
    const message = entry.message.trim().slice(0, MAX_MESSAGE);
    if (message === "" || message === this.#last) return undefined;
    if (entry.level !== undefined) this.#troubles += 1;
    if (this.#troubles > MAX_TROUBLES && entry.level !== undefined) return undefined;
    this.#last = message;
    return { ...entry, role: this.#role, message };
  }
}

const LOGGED_WARNINGS: ReadonlySet<string | undefined> = new Set([
  ...["deprecation", "configuration"],
  ...["budgetCheckedLate", "budgetOverrun", "budgetCurrency"],
]);

function entryOf(event: AgentEvent): LogEntry | undefined {
  switch (event.type) {
    case "item/completed": {
      const { threadId, item } = event.data;
      if (!isKnownItem(item) || item.type !== "reasoning") return undefined;
      return { message: item.summary ?? item.content ?? "", threadId };
    }
    case "model/rerouted": {
      const { fromModel, toModel, reason, threadId } = event.data;
      return {
        message: `works with ${toModel} instead of ${fromModel}: ${reason}`,
        level: "warning",
        threadId,
      };
    }
    case "error": {
      const { error, willRetry, threadId } = event.data;
      const message = willRetry ? `${error.message} (the agent tries again)` : error.message;
      return { message, level: willRetry ? "warning" : "error", threadId };
    }
    case "warning":
      // Warnings of the agent itself and of limits; all others of Flint are for the user who chose the settings.
      if (!LOGGED_WARNINGS.has(event.data.reason)) return undefined;
      return { message: event.data.message, level: "warning", threadId: event.data.threadId };
    default:
      return undefined;
  }
}
