import type { DriverEvent } from "@flint/core/ports";
import { type JsonObject, listOf, objectOf, stringOf } from "../shared/json.ts";
import { type ContextUsage, contextUsage } from "./translate/usage.ts";
import { extensionOf } from "./translate.ts";

/** How many kinds of updates are kept until there is a turn to emit them in. */
const MAX_KINDS = 20;
/** Updates that are about the session and not about a turn. */
const OF_SESSION = new Set([
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "notice",
]);

/** What an agent reports about its session, also between turns. Of each kind the latest update is kept. */
export class SessionUpdates {
  readonly #pending = new Map<string, JsonObject>();
  readonly #emittedWarnings = new Set<string>();
  #usage: ContextUsage = {};
  #commands: readonly string[] = [];

  /** How full the context is, and what the session cost. */
  get usage(): ContextUsage {
    return this.#usage;
  }

  /** The names of the slash commands. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** Notes an update. One about the session that comes between turns is kept for the next turn. */
  note(update: JsonObject, isInTurn: boolean): void {
    const kind = stringOf(update.sessionUpdate) ?? "";
    if (kind === "usage_update") this.#usage = contextUsage(this.#usage, update);
    if (kind === "available_commands_update") {
      const commands = listOf(update.availableCommands);
      this.#commands = commands.flatMap((command) => stringOf(objectOf(command).name) ?? []);
    }
    if (isInTurn || !OF_SESSION.has(kind) || this.#pending.size >= MAX_KINDS) return;
    this.#pending.set(kind, update);
  }

  /** The updates that were kept, after the warnings that were not emitted before. */
  take(warnings: readonly string[]): readonly DriverEvent[] {
    const updates = [...this.#pending.values()];
    this.#pending.clear();
    const fresh = warnings.filter((warning) => !this.#emittedWarnings.has(warning));
    for (const warning of fresh) this.#emittedWarnings.add(warning);
    const notices = fresh.map((title) => ({ sessionUpdate: "notice", severity: "warning", title }));
    return [...notices, ...updates].map(extensionOf);
  }
}
