import type { Clock } from "@flint/core/ports";
import type { Encoder, Notification } from "../shared/encoder.ts";
import type { ClientCapabilities } from "./capabilities.ts";
import type { EditorUse } from "./editor/host.ts";
import type { Login } from "./login.ts";
import type { ProtocolVersion } from "./protocol-version.ts";

/** The facts known about a client once it has sent `initialize`. */
export interface InitializedClient {
  readonly version: ProtocolVersion;
  readonly capabilities: ClientCapabilities;
  /** The name that the client gave itself. */
  readonly name: string;
}

/** Services shared by all clients of the front end. */
export interface FrontendServices {
  readonly encoder: Encoder<Notification>;
  readonly lastSessions: LastSessions;
  /** The login methods that clients are offered. */
  readonly logins: readonly Login[];
  /** The work that the user lets clients do themselves. */
  readonly use: EditorUse;
  readonly clock: Clock;
  /** Any client may change it, for all of them. */
  autoResume: boolean;
}

/** Records which session each kind of client used last in a folder. A kind of client is its name. */
export interface LastSessions {
  find(client: string, folder: string): string | undefined;
  note(client: string, folder: string, sessionId: string): void;
}

/** Last sessions until the server stops. */
export class MemoryLastSessions implements LastSessions {
  readonly #sessions = new Map<string, string>();

  find(client: string, folder: string): string | undefined {
    return this.#sessions.get(JSON.stringify([client, folder]));
  }

  note(client: string, folder: string, sessionId: string): void {
    this.#sessions.set(JSON.stringify([client, folder]), sessionId);
  }
}
