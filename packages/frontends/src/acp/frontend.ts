import type { ServedDialect } from "../desk.ts";
import { AcpService } from "./service.ts";
import type { AcpOptions } from "./shared-state.ts";
import { ACP } from "./vocabulary.ts";

export { LOGINS } from "./login.ts";
export type { AcpOptions, LastSessions } from "./shared-state.ts";

/** The Agent Client Protocol, for editors: its first version, and the second for clients that ask for it. */
export function acpDialect(options: AcpOptions = {}): ServedDialect {
  // As the official agents read: an id is a text or a number, and what params are is for each method to say.
  const reading = { params: "any", ids: "plain" } as const;
  return { vocabulary: ACP, reading, serve: () => new AcpService(options) };
}
