import type { DriverEvent } from "@flint/core/ports";
import { type ContextUse, contextUse } from "./translate/usage.ts";
import { extensionOf } from "./translate.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "./wire.ts";

/** How many kinds of news are kept until there is a turn to tell them in. */
const KEPT = 20;
/** What is about the session and not about a turn. */
const OF_SESSION = new Set([
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "notice",
]);

/** What an agent says about its session, also between turns. Of each kind the latest is kept. */
export class SessionNews {
  readonly #untold = new Map<string, JsonObject>();
  readonly #toldNotes = new Set<string>();
  #use: ContextUse = {};
  #commands: readonly string[] = [];

  /** How full the context is, and what the session cost. */
  get use(): ContextUse {
    return this.#use;
  }

  /** The names of the commands that a prompt can begin with. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  /** Takes an update; one that comes between turns and is about the session is told in the next turn. */
  note(update: JsonObject, isInTurn: boolean): void {
    const kind = stringOf(update.sessionUpdate) ?? "";
    if (kind === "usage_update") this.#use = contextUse(this.#use, update);
    if (kind === "available_commands_update") {
      this.#commands = listOf(update.availableCommands).flatMap(
        (each) => stringOf(objectOf(each).name) ?? [],
      );
    }
    if (isInTurn || !OF_SESSION.has(kind) || this.#untold.size >= KEPT) return;
    this.#untold.set(kind, update);
  }

  /** What nobody was told yet, with what has to be said about how the agent was set up. */
  untold(notes: readonly string[]): readonly DriverEvent[] {
    const updates = [...this.#untold.values()];
    this.#untold.clear();
    const fresh = notes.filter((note) => !this.#toldNotes.has(note));
    for (const note of fresh) this.#toldNotes.add(note);
    const warnings = fresh.map((title) => ({ sessionUpdate: "notice", severity: "warning", title }));
    return [...warnings, ...updates].map(extensionOf);
  }
}
