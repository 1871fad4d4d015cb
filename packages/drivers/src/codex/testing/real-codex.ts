import type { Sandbox } from "@flint/core/ports";
import type { AgentOptions } from "../../shared/agent-options.ts";
import type { CodexTiming } from "../process/server.ts";

/** Ends the shared process soon after the last thread, so that a test leaves nothing. */
export const SHORT_LIVED: Partial<CodexTiming> = { keepAlive: 50 };

/** What a driver of the real Codex is given in a test. */
export interface RealCodex {
  readonly program: string | undefined;
  readonly sandbox: Sandbox;
  /** Where the offline model is, asked when Codex is started. */
  url(): string;
  readonly stateFolder: string;
}

/** Options for the real Codex on the offline model, with a home of its own. */
export function realCodex({ program, sandbox, url, stateFolder }: RealCodex): AgentOptions {
  return {
    program: async () => ({ command: [program ?? "codex"], environment: {} }),
    offlineModel: async () => url(),
    stateFolder,
    sandbox,
    version: "0.0.0",
  };
}
