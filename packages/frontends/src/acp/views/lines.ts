import type { ThreadEvent } from "@flint/protocol";
import { encodeNotification } from "@flint/rpc";
import type { Update } from "./update-format.ts";

/** Encodes each event once for all clients of the door that are told the same of it. */
export class Lines {
  #event: ThreadEvent | undefined;
  readonly #made = new Map<string, readonly string[]>();

  /** The lines of an event. All clients are told one after another, so remembering one event is enough. */
  of(
    event: ThreadEvent,
    key: string,
    sessionId: string,
    updates: () => readonly Update[],
  ): readonly string[] {
    if (this.#event !== event) this.#made.clear();
    this.#event = event;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const lines = this.make(sessionId, updates());
    this.#made.set(key, lines);
    return lines;
  }

  /** The lines of updates that are for one client only. */
  make(sessionId: string, updates: readonly Update[]): readonly string[] {
    return updates.map((update) =>
      encodeNotification("session/update", { sessionId, update }, { header: true }),
    );
  }
}
