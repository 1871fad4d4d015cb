import { readFileSync } from "node:fs";

/** A real agent's program, the program or module of a real client, a browser, or a newer Node to run one on. */
export type RealAgent =
  | "claude"
  | "codex"
  | "codex-acp"
  | "claude-agent-acp"
  | "acpx"
  | "codex-sdk"
  | "chromium"
  | "node24";

/** What the setup of the tests found, by the name of the part. */
const FOUND = new URL("../../../node_modules/.cache/flint/found.json", import.meta.url);

/** The program of a real agent, if the setup of the tests found or fetched it (`FLINT_TEST_AGENTS=1 npm test`). */
export function agentProgram(name: RealAgent): string | undefined {
  try {
    const found: Readonly<Record<string, { readonly path?: string }>> = JSON.parse(
      readFileSync(FOUND, "utf8"),
    );
    return found[name]?.path;
  } catch {
    // Without a setup nothing was found.
    return undefined;
  }
}
