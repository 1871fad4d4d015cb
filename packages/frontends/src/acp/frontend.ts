import type { Client, ClientHandler, Frontend } from "../shared/frontend.ts";
import { AcpClientHandler } from "./client-handler.ts";
import { type AcpOptions, SharedState } from "./shared-state.ts";
import { ACP } from "./vocabulary.ts";

export { LOGINS } from "./login.ts";
export type { AcpOptions, LastSessions } from "./shared-state.ts";

/** The Agent Client Protocol, for editors: its first version, and the second for clients that ask for it. */
export function acpFrontend(options: AcpOptions = {}): Frontend {
  return new AcpFrontend(options);
}

class AcpFrontend implements Frontend {
  readonly vocabulary = ACP;
  readonly initializeFirst = true;
  // As the official agents read: an id is a string or a number, and what params are is for each method to say.
  readonly reading = { params: "any", ids: "plain" } as const;
  readonly #shared: SharedState;

  constructor(options: AcpOptions) {
    this.#shared = new SharedState(options);
  }

  serve(client: Client): ClientHandler {
    return new AcpClientHandler(client, this.#shared);
  }
}
