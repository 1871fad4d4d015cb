import { type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import { Encoder, type Notification } from "../shared/encoder.ts";
import type { Client, ClientHandler, Frontend } from "../shared/frontend.ts";
import { AcpClientHandler } from "./client-handler.ts";
import { type FrontendServices, type LastSessions, MemoryLastSessions } from "./client-state.ts";
import type { Login } from "./login.ts";
import { ACP } from "./vocabulary.ts";

export type { LastSessions } from "./client-state.ts";
export type { Login } from "./login.ts";

/** Options of the ACP front end that a user can configure. */
export interface AcpOptions {
  /** True if the first new session of a client in a folder continues the last one of that kind of client there. */
  readonly autoResume?: boolean | undefined;
  /** The store of the last sessions; in memory if absent. */
  readonly lastSessions?: LastSessions;
  /** Runs commands that nothing confines in terminals of the client, where it has them. Off if absent. */
  readonly clientTerminal?: boolean | undefined;
  /** Reads and writes files through the client, where it does both. Off if absent. */
  readonly clientFs?: boolean | undefined;
  readonly clock?: Clock;
  /** The agents that users can log in to; none if absent. Flint itself has no accounts. */
  readonly logins?: readonly Login[];
}

/** The Agent Client Protocol for editors: version 1, and version 2 for clients that request it. */
export function acpFrontend(options: AcpOptions = {}): Frontend {
  return new AcpFrontend(options);
}

class AcpFrontend implements Frontend {
  readonly vocabulary = ACP;
  readonly initializeFirst = true;
  // As the official agents read: an id is a string or a number, and each method decides what its params are.
  readonly reading = { params: "any", ids: "plain" } as const;
  readonly #shared: FrontendServices;

  constructor(options: AcpOptions) {
    const { autoResume = false, lastSessions = new MemoryLastSessions(), logins = [] } = options;
    const { clientTerminal: terminal = false, clientFs: fs = false, clock = SYSTEM_CLOCK } = options;
    const encoder = new Encoder<Notification>(ACP.header);
    this.#shared = { encoder, autoResume, lastSessions, logins, clock, use: { terminal, fs } };
  }

  serve(client: Client): ClientHandler {
    return new AcpClientHandler(client, this.#shared);
  }
}
