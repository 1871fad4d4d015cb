import { codexDrift } from "@flint/drivers";
import { CODEX_VERSION } from "@flint/protocol/codex";
import type { FlintClient } from "@flint/sdk";

/** What was found about one thing. `absent`: Flint works without it. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "absent" | "problem";
  readonly detail: string;
  /** The line that changes it. */
  readonly wayOut?: string;
}

/** Looks at one thing. Never rejects. */
export type Check = (cwd: string) => Promise<readonly Finding[]>;

/** What an error says. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** More than this says no more. */
const MOST_FINDINGS = 20;

/**
 * Each word that Flint speaks to Codex and that this one knows no more, or knows otherwise. The program prints its words
 * confined: it writes one folder of its own and reaches no network. One that cannot print them is no fault; older ones
 * could not.
 */
export async function driftFindings(
  client: FlintClient,
  program: readonly string[],
): Promise<readonly Finding[]> {
  const changes = await codexDrift(program, async ({ command, folder, timeoutMs }) => {
    const sandboxPolicy = { type: "workspaceWrite" as const };
    const asked = { command: [...command], cwd: folder, sandboxPolicy, timeoutMs };
    const { exitCode, stdout, stderr } = await client.call("command/exec", asked);
    return { exitCode, said: `${stdout}${stderr}` };
  }).catch(() => undefined);
  if (changes === undefined) {
    const detail = `its words cannot be compared with those of ${CODEX_VERSION}, which Flint was made for`;
    return [{ name: "codex", state: "absent", detail }];
  }
  return changes.slice(0, MOST_FINDINGS).map(
    (change): Finding => ({
      ...{ name: "codex", state: "problem", detail: change },
      wayOut: `Flint was made for Codex ${CODEX_VERSION}: npm install -g @openai/codex@${CODEX_VERSION}`,
    }),
  );
}
