import { WireClient } from "@flint/testkit";
import { environmentIn, FLINT_CODEX } from "./sdk.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
export const TEST_MS = 90_000;
/** Time within which an answer must come. */
export const WAIT = { withinMs: 30_000 };

/** An app server as a client of Codex starts one, but Flint's. */
export function spawnServer(
  workspace: string,
  home: string,
  args: readonly string[] = ["app-server"],
  env: Readonly<Record<string, string>> = {},
): WireClient {
  return WireClient.spawn([FLINT_CODEX, ...args], {
    cwd: workspace,
    env: { ...environmentIn(home), ...env },
  });
}

/** Returns the text of a user as input of a turn. */
export function text(prompt: string) {
  return [{ type: "text", text: prompt }];
}
