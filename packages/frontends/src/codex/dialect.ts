import { CODEX } from "@flint/protocol/codex";
import type { ServedDialect } from "../desk.ts";
import { type CodexHost, NO_HOST } from "./host/host.ts";
import { CodexService } from "./service.ts";

export type { CodexHost } from "./host/host.ts";

/** The Codex door: what the app-server of Codex speaks, with any agent behind it. */
export function codexDialect(host: CodexHost = NO_HOST): ServedDialect {
  return { vocabulary: CODEX, reading: { params: "any", ids: "plain" }, serve: () => new CodexService(host) };
}
