import { Lines } from "./views/lines.ts";

/** Remembers which session a kind of client used last in a folder. */
export interface LastSessions {
  find(client: string, folder: string): string | undefined;
  note(client: string, folder: string, sessionId: string): void;
}

/** How the door differs from the usual one. */
export interface AcpOptions {
  /** Whether the first new session of a client in a folder goes on with the last one that its kind had there. */
  readonly autoResume?: boolean | undefined;
  /** Where the last sessions are kept; in memory unless told. */
  readonly lastSessions?: LastSessions;
}

/** What all clients of the door share. */
export class SharedState {
  readonly lines = new Lines();
  /** Changed by any client, for all of them. */
  autoResume: boolean;
  readonly lastSessions: LastSessions;

  constructor({ autoResume = false, lastSessions = new RememberedSessions() }: AcpOptions) {
    this.autoResume = autoResume;
    this.lastSessions = lastSessions;
  }
}

/** Forgets with the server. */
class RememberedSessions implements LastSessions {
  readonly #sessions = new Map<string, string>();

  find(client: string, folder: string): string | undefined {
    return this.#sessions.get(JSON.stringify([client, folder]));
  }

  note(client: string, folder: string, sessionId: string): void {
    this.#sessions.set(JSON.stringify([client, folder]), sessionId);
  }
}
